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

use plybook_core::{Action, Board, Cell, Position};

use discs::{Discs, Frame};
use search::Search;

use super::{Best, Halt};
use crate::meter::Meter;
use crate::score::Score;

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

/// Whether games on this board are solved, once their end is near enough: sides of 4, 6 and 8.
pub(super) fn knows(board: &Board) -> bool {
    Frame::new(board).is_some()
}

/// The more discs the better.
pub(super) const fn rated(score: i32) -> Score {
    match score {
        1.. => Score::win_by(score.unsigned_abs()),
        0 => Score::EVEN,
        _ => Score::win_by(score.unsigned_abs()).for_other(),
    }
}

/// A move, and what it leads to, seen by the other seat.
type Move = (Action, Discs);

/// One position with what was found out about it and those after it.
#[derive(Debug)]
pub struct Solver {
    search: Search,
    discs: Discs,
    /// Moves but the last, by ascending cell; and the last.
    moves: Vec<Move>,
    last: Move,
}

impl Solver {
    /// For a game in progress on a board of side 4, 6 or 8 with at most [`VACANT_MAX`] vacant cells;
    /// for others there is none. `nodes` is what its searches will be allowed, and fixes the size of
    /// its table.
    pub fn of(position: &Position, counting: Vacant, nodes: u64) -> Option<Solver> {
        let frame = Frame::new(position.board())?;
        let discs = frame.read(position.board(), position.to_move()?);
        if frame.vacant(discs).count_ones() > VACANT_MAX {
            return None;
        }
        let lead = |place: u64| (Action::Place(Cell(frame.cell(place))), discs.after(place, discs.turned(place)));
        let mut moves: Vec<Move> = discs::bits(frame.moves(discs)).map(lead).collect();
        let last = moves.pop()?;
        Some(Solver { search: Search::new(frame, counting, nodes), discs, moves, last })
    }

    /// What the position is worth to the seat that moves.
    pub fn value(&mut self, meter: &mut Meter<'_>) -> Result<i32, Halt> {
        self.search.value(self.discs, meter)
    }

    /// A best move; among equals the first cell.
    pub fn best(&mut self, meter: &mut Meter<'_>) -> Result<Best, Halt> {
        let score = self.value(meter)?;
        for (action, after) in &self.moves {
            if self.search.is_at_most(*after, -score, meter)? {
                return Ok(Best { action: *action, score });
            }
        }
        Ok(Best { action: self.last.0, score })
    }

    /// Every legal move with its score.
    pub fn scores(&mut self, meter: &mut Meter<'_>) -> Result<Vec<(Action, i32)>, Halt> {
        let mut scores = Vec::new();
        for (action, after) in self.moves.iter().chain([&self.last]) {
            scores.push((*action, -self.search.value(*after, meter)?));
        }
        Ok(scores)
    }
}
