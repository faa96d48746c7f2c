//! Connect Four, solved: bitboards, alpha-beta by null windows, and a table.
//!
//! The technique is the one that Pascal Pons published in "Solving Connect 4: how to build a perfect
//! AI" (blog.gamesolver.org); the representation goes back to John Tromp's Fhourstones. A score is
//! positive where the seat to move wins, and one more than the discs it then has left to play; it is
//! negative where it loses, counted by the other seat's discs; 0 is a draw.
//!
//! Invariant: a position is searched only where the seat to move cannot win at once, and no move
//! that lets the other seat win at once is tried.

mod frame;
mod search;

use plybook_core::action::Column;
use plybook_core::{Action, Board, Params, Position};

use frame::{Discs, Frame};
use search::Search;

use super::{Best, Halt};
use crate::meter::Meter;
use crate::score::Score;

/// Whether games with these parameters, of two seats, are solved: four in a row, without `pop_out`, on
/// a board that has at most 64 cells with a spare row.
pub(super) fn knows(params: &Params, board: &Board) -> bool {
    params.int("k") == 4 && !params.flag("pop_out") && Frame::new(board.rows(), board.cols()).is_some()
}

/// A column, and the cell where a disc comes to lie.
type Move = (Column, u64);

/// One position with what was found out about it and those after it.
#[derive(Debug)]
pub struct Solver {
    search: Search,
    discs: Discs,
    /// The moves nearest to the centre, the left one of two first; and the last of them.
    moves: Vec<Move>,
    last: Move,
}

impl Solver {
    /// For a game in progress that [`super::Solver::knows`].
    pub(super) fn of(position: &Position, nodes: u64) -> Option<Solver> {
        let frame = Frame::new(position.board().rows(), position.board().cols())?;
        let discs = frame.read(position.board(), position.to_move()?);
        let playable = frame.playable(discs.all);
        let columns = frame.centre_first().into_iter().map(|column| (Column(column), playable & frame.column(column)));
        let mut moves: Vec<Move> = columns.filter(|(_, place)| *place != 0).collect();
        let last = moves.pop()?;
        Some(Solver { search: Search::new(frame, nodes), discs, moves, last })
    }

    /// What the position is worth to the seat that moves.
    pub fn value(&mut self, meter: &mut Meter<'_>) -> Result<i32, Halt> {
        self.search.value(self.discs, meter)
    }

    /// A best move; among equals the one nearest to the centre, the left one of two.
    pub fn best(&mut self, meter: &mut Meter<'_>) -> Result<Best, Halt> {
        let score = self.value(meter)?;
        for (column, place) in self.moves.clone() {
            if self.reaches(place, score, meter)? {
                return Ok(Best { action: Action::Drop(column), score });
            }
        }
        Ok(Best { action: Action::Drop(self.last.0), score })
    }

    /// Every column that is not full, with its score.
    pub fn scores(&mut self, meter: &mut Meter<'_>) -> Result<Vec<(Action, i32)>, Halt> {
        let mut scores = Vec::new();
        for (column, place) in self.moves.iter().chain([&self.last]) {
            let score = match self.search.at_once(self.discs, *place) {
                Some(score) => score,
                None => -self.search.value(self.discs.after(*place), meter)?,
            };
            scores.push((Action::Drop(*column), score));
        }
        scores.sort_unstable();
        Ok(scores)
    }

    fn reaches(&mut self, place: u64, score: i32, meter: &mut Meter<'_>) -> Result<bool, Halt> {
        match self.search.at_once(self.discs, place) {
            Some(found) => Ok(found >= score),
            None => self.search.is_at_most(self.discs.after(place), -score, meter),
        }
    }

    /// A win with the n-th of the seat's own discs from here is as many plies away as discs fall until
    /// then.
    pub(super) const fn rated(&self, score: i32) -> Score {
        let vacant = self.search.vacant(self.discs);
        match score {
            1.. => Score::win_in(2 * (vacant.div_ceil(2) + 1).saturating_sub(score.unsigned_abs()) - 1),
            0 => Score::EVEN,
            _ => Score::loss_in(2 * (vacant / 2 + 1).saturating_sub(score.unsigned_abs())),
        }
    }
}
