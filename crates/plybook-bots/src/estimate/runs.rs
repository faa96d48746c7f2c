//! Runs around a cell, on boards too large for a list of lines.
//!
//! Invariant: a glance costs the same on every board: it reaches as far as runs are long, and no
//! further than [`REACH`].

use std::collections::BTreeSet;

use plybook_core::change::CellChange;
use plybook_core::{Action, Board, Cell, Play, Seat};

use super::{is_misere, run_length};
use crate::view::View;

/// Longest run that is followed.
const REACH: usize = 8;
/// So many of the latest moves are looked around.
const LATEST: usize = 64;
/// So many cells further than a piece is near.
const NEAR: i32 = 2;
const DIRECTIONS: [(i32, i32); 4] = [(0, 1), (1, 0), (1, 1), (1, -1)];

/// What a glance has to know of the game.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Runs {
    reach: usize,
    misere: bool,
    /// Whether pieces are placed wherever a cell is vacant, so that near cells can be named.
    places: bool,
}

impl Runs {
    pub(super) fn of(view: &View<'_>) -> Runs {
        let places = view.ruleset().name != "connect_four";
        Runs { reach: run_length(view).min(REACH), misere: is_misere(view), places }
    }

    /// What a piece of `seat` on `cell` would join or cut.
    pub(super) fn rank(&self, board: &Board, cell: Cell, seat: Seat) -> i64 {
        let (row, col) = board.place(cell);
        let mut rank = 0;
        for (down, right) in DIRECTIONS {
            for way in [-1, 1] {
                let at = |step: usize| board.at(row + way * down * step as i32, col + way * right * step as i32).owner();
                let Some(owner) = at(1) else { continue };
                let run = (2..=self.reach).take_while(|step| at(*step) == Some(owner)).count();
                rank += (if owner == seat { 4 } else { 3 }) << (2 * run);
            }
        }
        if self.misere { -rank } else { rank }
    }

    /// The vacant cells near the latest pieces; nothing where pieces fall or none stands.
    pub(super) fn near(&self, play: &Play) -> Option<Vec<Action>> {
        let board = play.position().board();
        let latest = play.standing().iter().rev().take(LATEST).flat_map(|standing| standing.changes.cells());
        let around = |change: &CellChange| {
            let (row, col) = board.place(change.cell);
            let steps = (-NEAR..=NEAR).flat_map(|down| (-NEAR..=NEAR).map(move |right| (down, right)));
            steps.filter_map(|(down, right)| board.cell(row + down, col + right)).collect::<Vec<_>>()
        };
        let near: BTreeSet<Cell> = latest.flat_map(around).filter(|cell| board.get(*cell).is_nothing()).collect();
        (self.places && !near.is_empty()).then(|| near.into_iter().map(Action::Place).collect())
    }
}
