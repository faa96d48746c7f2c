//! K in a row on a small grid, solved: tic-tac-toe and its relatives, misère too.
//!
//! A score is positive where the seat to move wins, and one more than the cells that are then still
//! vacant; negative where it loses, counted alike; 0 is a draw. So a seat that wins hurries, and one
//! that loses does not.
//!
//! Invariant: lines are masks, and all that the search asks of the rules is whether a seat's pieces
//! hold a line through the cell just taken. `early_draw` changes no score: it ends games that nobody
//! can win any more.

mod lines;
mod search;

use plybook_core::{Action, Board, Cell, Content, Params, Position};

use lines::Lines;
use search::{Pieces, Search};

use super::{Best, Halt};
use crate::meter::Meter;
use crate::score::Score;

/// Most cells of a board.
pub const CELLS_MAX: u32 = 32;

/// Whether games with these parameters, of two seats, are solved: on a board of at most [`CELLS_MAX`]
/// cells. Such a board has no lines that are not known here.
pub(super) fn knows(params: &Params, board: &Board) -> bool {
    board.len() <= CELLS_MAX && Lines::of(board.rows(), board.cols(), params.int("k"), params.text("win")).is_some()
}

/// One position with what was found out about it and those after it.
#[derive(Debug)]
pub struct Solver {
    search: Search,
    pieces: Pieces,
    /// Vacant cells but the last, ascending; and the last.
    moves: Vec<Cell>,
    last: Cell,
}

impl Solver {
    /// For a game in progress that [`super::Solver::knows`].
    pub(super) fn of(params: &Params, position: &Position, nodes: u64) -> Option<Solver> {
        let board = position.board();
        let to_move = position.to_move()?;
        let lines = Lines::of(board.rows(), board.cols(), params.int("k"), params.text("win"))?;
        let of = |own: bool| {
            let pieces = board.occupied().filter(|(_, content)| (*content == Content::of(to_move)) == own);
            pieces.fold(0, |bits, (cell, _)| bits | 1 << cell.0)
        };
        let pieces = Pieces { own: of(true), theirs: of(false) };
        let search = Search::new(lines, params.flag("misere"), nodes);
        let mut moves: Vec<Cell> = cells(search.vacant(pieces)).collect();
        let last = moves.pop()?;
        Some(Solver { search, pieces, moves, last })
    }

    /// What the position is worth to the seat that moves.
    pub fn value(&mut self, meter: &mut Meter<'_>) -> Result<i32, Halt> {
        self.search.value(self.pieces, meter)
    }

    /// A best move; among equals the first cell.
    pub fn best(&mut self, meter: &mut Meter<'_>) -> Result<Best, Halt> {
        let score = self.value(meter)?;
        for cell in &self.moves {
            if self.search.reaches(self.pieces, 1 << cell.0, score, meter)? {
                return Ok(Best { action: Action::Place(*cell), score });
            }
        }
        Ok(Best { action: Action::Place(self.last), score })
    }

    /// Every vacant cell with its score.
    pub fn scores(&mut self, meter: &mut Meter<'_>) -> Result<Vec<(Action, i32)>, Halt> {
        let mut scores = Vec::new();
        for cell in self.moves.iter().chain([&self.last]) {
            scores.push((Action::Place(*cell), self.search.score(self.pieces, 1 << cell.0, meter)?));
        }
        Ok(scores)
    }

    /// The cells that are no longer vacant at the end were plies.
    pub(super) const fn rated(&self, score: i32) -> Score {
        let plies = (self.moves.len() as u32 + 2).saturating_sub(score.unsigned_abs());
        match score {
            1.. => Score::win_in(plies),
            0 => Score::EVEN,
            _ => Score::loss_in(plies),
        }
    }
}

fn cells(bits: u32) -> impl Iterator<Item = Cell> {
    (0..u32::BITS).filter(move |bit| bits & 1 << bit != 0).map(Cell)
}
