//! The end of a game of Othello, solved.
//!
//! A score is the difference of discs at the end, seen by the seat to move. The ruleset counts
//! vacant cells for nobody; published values and tournaments count them for the winner, so a solver
//! is told which it is ([`Vacant`]).
//!
//! Invariant: a seat that cannot move is skipped, and the game ends at once when neither can, as in
//! the ruleset.

mod discs;
mod search;

use plybook_core::{Action, Cell, Position};

use discs::{Discs, Frame};
use search::Search;

use super::{Best, Halt};
use crate::meter::Meter;

/// Most vacant cells at which a search is tried.
pub const VACANT_MAX: u32 = 24;

/// For whom the cells that are vacant at the end count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vacant {
    /// For nobody: as the ruleset counts.
    Nobody,
    /// For whoever has more discs: as published end games are scored.
    Winner,
}

/// One position with what was found out about it and those after it.
#[derive(Debug)]
pub struct Solver {
    search: Search,
    frame: Frame,
    discs: Discs,
}

impl Solver {
    /// For a game in progress on a board of side 4, 6 or 8 with at most [`VACANT_MAX`] vacant cells;
    /// for others there is none.
    pub fn of(position: &Position, vacant: Vacant, nodes: u64) -> Option<Solver> {
        let frame = Frame::new(position.board())?;
        let discs = frame.read(position.board(), position.to_move()?);
        let few = frame.vacant(discs).count_ones() <= VACANT_MAX;
        few.then(|| Solver { search: Search::new(frame, vacant, nodes), frame, discs })
    }

    /// What the position is worth to the seat that moves.
    pub fn value(&mut self, meter: &mut Meter<'_>) -> Result<i32, Halt> {
        self.search.value(self.discs, meter)
    }

    /// A best move; among equals the first cell.
    pub fn best(&mut self, meter: &mut Meter<'_>) -> Result<Best, Halt> {
        let score = self.value(meter)?;
        let moves: Vec<(Action, Discs)> = self.moves().collect();
        for (action, after) in &moves {
            if self.search.is_at_most(*after, -score, meter)? {
                return Ok(Best { action: *action, score });
            }
        }
        unreachable!("a move of {} reaches the score {score}", moves.len())
    }

    /// Every legal move with its score.
    pub fn scores(&mut self, meter: &mut Meter<'_>) -> Result<Vec<(Action, i32)>, Halt> {
        let moves: Vec<(Action, Discs)> = self.moves().collect();
        moves.into_iter().map(|(action, after)| Ok((action, -self.search.value(after, meter)?))).collect()
    }

    /// Every legal move with what it leads to, seen by the other seat.
    fn moves(&self) -> impl Iterator<Item = (Action, Discs)> + use<> {
        let (frame, discs) = (self.frame, self.discs);
        discs::bits(frame.moves(discs)).map(move |place| (Action::Place(Cell(frame.cell(place))), discs.after(place, discs.turned(place))))
    }
}
