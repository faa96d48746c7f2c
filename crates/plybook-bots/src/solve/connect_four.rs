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
use plybook_core::{Action, Params, Position};

use frame::{Discs, Frame};
use search::Search;

use super::{Best, Halt};
use crate::meter::Meter;

/// One position with what was found out about it and those after it.
#[derive(Debug)]
pub struct Solver {
    search: Search,
    discs: Discs,
}

impl Solver {
    /// For a game in progress of two seats with four in a row and without `pop_out`, whose board
    /// with a spare row has at most 64 cells; for others there is none.
    pub fn of(params: &Params, position: &Position, nodes: u64) -> Option<Solver> {
        let frame = Frame::new(position.board().rows(), position.board().cols())?;
        if position.seats() != 2 || params.int("k") != 4 || params.flag("pop_out") {
            return None;
        }
        let discs = frame.read(position.board(), position.to_move()?);
        Some(Solver { search: Search::new(frame, nodes), discs })
    }

    /// What the position is worth to the seat that moves.
    pub fn value(&mut self, meter: &mut Meter<'_>) -> Result<i32, Halt> {
        self.search.value(self.discs, meter)
    }

    /// A best move; among equals the one nearest to the centre, the left one of two.
    pub fn best(&mut self, meter: &mut Meter<'_>) -> Result<Best, Halt> {
        let value = self.value(meter)?;
        let moves = self.moves();
        for (column, place) in &moves {
            if self.reaches(*place, value, meter)? {
                return Ok(Best { action: Action::Drop(*column), score: value });
            }
        }
        unreachable!("a move of {} reaches the value {value}", moves.len())
    }

    /// Every column that is not full, with its score.
    pub fn scores(&mut self, meter: &mut Meter<'_>) -> Result<Vec<(Action, i32)>, Halt> {
        let mut scores = Vec::new();
        for (column, place) in self.moves() {
            let score = match self.search.at_once(self.discs, place) {
                Some(score) => score,
                None => -self.search.value(self.discs.after(place), meter)?,
            };
            scores.push((Action::Drop(column), score));
        }
        scores.sort_unstable();
        Ok(scores)
    }

    fn reaches(&mut self, place: u64, score: i32, meter: &mut Meter<'_>) -> Result<bool, Halt> {
        match self.search.at_once(self.discs, place) {
            Some(won) => Ok(won >= score),
            None => self.search.is_at_most(self.discs.after(place), -score, meter),
        }
    }

    /// The columns that are not full with the cell where a disc comes to lie, centre first.
    fn moves(&self) -> Vec<(Column, u64)> {
        let frame = self.search.frame();
        let playable = frame.playable(self.discs.all);
        let columns = frame.centre_first().into_iter().map(|column| (Column(column), playable & frame.column(column)));
        columns.filter(|(_, place)| *place != 0).collect()
    }
}
