//! Exact solvers: what a position is worth under best play, for the games that have one.
//!
//! | module | positions |
//! | --- | --- |
//! | [`connect_four`] | two seats, four in a row, no pop-out, boards of 64 bits with a spare row |
//! | [`mnk`] | two seats, every win rule, misère too, boards of at most 32 cells |
//! | [`othello`] | boards of 4, 6 and 8 with at most 24 vacant cells |
//!
//! A score is the seat's that moves: positive where it wins, negative where it loses, 0 for a draw;
//! each module says what its size means. A search costs nodes, and a solver that runs out of them
//! answers nothing rather than something uncertain.
//!
//! Invariant: an answer is a function of ruleset, parameters and position. Whether there is one
//! depends on the nodes allowed besides, and on nothing else as long as nobody stops it.

pub mod connect_four;
pub mod mnk;
pub mod othello;
mod table;

use plybook_core::Action;

use crate::meaning::Counted;
use crate::meter::Meter;
use crate::score::Score;
use crate::view::View;

/// Why a search has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Halt {
    /// It would take more nodes than allowed.
    #[error("the position takes more nodes than allowed")]
    OverBudget,
    /// Nobody wants the answer any more.
    #[error("the search was stopped")]
    Stopped,
}

/// Nodes that no solver has: at most, and at least half of the budget is a solver's.
const KEPT_MOST: u64 = 50_000;

/// What a solver may spend of so many nodes: the rest is kept for a search that needs no end.
pub(crate) fn share(nodes: u64) -> u64 {
    nodes - KEPT_MOST.min(nodes / 2)
}

/// Pays for one node, if there is one left.
#[inline]
fn pay(meter: &mut Meter<'_>) -> Result<(), Halt> {
    if meter.is_empty() {
        return Err(Halt::OverBudget);
    }
    meter.spend(1).map_err(|_| Halt::Stopped)
}

/// A best move, proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Best {
    /// The move; among equals the first in the solver's fixed order.
    pub action: Action,
    /// What it is worth to the seat that makes it.
    pub score: i32,
}

/// A position that one of the solvers knows how to search.
#[derive(Debug)]
pub enum Solver {
    /// Connect Four.
    ConnectFour(connect_four::Solver),
    /// K in a row on a small grid.
    Mnk(mnk::Solver),
    /// The end of a game of Othello.
    Othello(othello::Solver),
}

impl Solver {
    /// Whether there is a solver for games of this kind, size and number of seats. Some of their
    /// positions may still be too far from the end.
    pub fn knows(view: &View<'_>) -> bool {
        let (params, board) = (view.params(), view.position().board());
        view.position().seats() == 2
            && match (view.ruleset().name.as_str(), view.ruleset().version) {
                ("connect_four", 1 | 2) => connect_four::knows(params, board),
                ("mnk", 1) => mnk::knows(params, board),
                ("othello", 1) => othello::knows(board),
                _ => false,
            }
    }

    /// The solver for a position of such a game; nothing where the game is over or the end too far.
    /// `nodes` is what its searches will be allowed, and fixes the size of its table.
    pub fn of(view: &View<'_>, nodes: u64) -> Option<Solver> {
        if !Solver::knows(view) {
            return None;
        }
        let (params, position) = (view.params(), view.position());
        match view.ruleset().name.as_str() {
            "connect_four" => connect_four::Solver::of(position, nodes).map(Solver::ConnectFour),
            "mnk" => mnk::Solver::of(params, position, nodes).map(Solver::Mnk),
            "othello" => othello::Solver::of(position, othello::Vacant::Nobody, nodes).map(Solver::Othello),
            _ => None,
        }
    }

    /// How a solver's score compares with those of other strategies.
    pub fn rated(&self, score: i32) -> Score {
        match self {
            Solver::ConnectFour(solver) => solver.rated(score),
            Solver::Mnk(solver) => solver.rated(score),
            Solver::Othello(_) => othello::rated(score),
        }
    }

    /// What the sizes of these scores count.
    pub const fn counted(&self) -> Counted {
        match self {
            Solver::ConnectFour(_) | Solver::Mnk(_) => Counted::Plies,
            Solver::Othello(_) => Counted::Points,
        }
    }

    /// A best move.
    pub fn best(&mut self, meter: &mut Meter<'_>) -> Result<Best, Halt> {
        match self {
            Solver::ConnectFour(solver) => solver.best(meter),
            Solver::Mnk(solver) => solver.best(meter),
            Solver::Othello(solver) => solver.best(meter),
        }
    }

    /// Every legal move with its score, in ascending order of column or cell.
    pub fn scores(&mut self, meter: &mut Meter<'_>) -> Result<Vec<(Action, i32)>, Halt> {
        match self {
            Solver::ConnectFour(solver) => solver.scores(meter),
            Solver::Mnk(solver) => solver.scores(meter),
            Solver::Othello(solver) => solver.scores(meter),
        }
    }
}
