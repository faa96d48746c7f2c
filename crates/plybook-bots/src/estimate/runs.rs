//! Runs around a cell, on boards too large for a list of lines.
//!
//! Invariant: a glance costs the same on every board: it reaches as far as runs are long, and no
//! further than [`REACH`].

use std::collections::BTreeMap;

use plybook_core::{Action, Board, Cell, Content, Seat};

use super::{is_misere, run_length};
use crate::view::View;

/// Longest run that is followed.
const REACH: usize = 8;
/// So many cells further than a piece is near.
const NEAR: i32 = 2;
/// Beyond so many pieces at the beginning, near cells are not told apart.
const PIECES_MOST: usize = 10_000;
const DIRECTIONS: [(i32, i32); 4] = [(0, 1), (1, 0), (1, 1), (1, -1)];

/// What a glance has to know of the game.
#[derive(Clone, Debug)]
pub(crate) struct Runs {
    reach: usize,
    misere: bool,
    /// A vacant board of the same size, for coordinates.
    board: Board,
    /// How many pieces each cell is near to, itself included; nothing where pieces fall, or where they
    /// are too many.
    near: Option<BTreeMap<Cell, u32>>,
}

impl Runs {
    pub(super) fn of(view: &View<'_>) -> Runs {
        let board = view.position().board();
        let pieces: Vec<(Cell, Content)> = board.occupied().take(PIECES_MOST + 1).collect();
        let near = (view.ruleset().name != "connect_four" && pieces.len() <= PIECES_MOST).then(BTreeMap::new);
        let vacant = Board::new(board.rows(), board.cols());
        let mut runs = Runs { reach: run_length(view).min(REACH), misere: is_misere(view), board: vacant, near };
        for (cell, content) in pieces {
            runs.change(cell, Content::NOTHING, content);
        }
        runs
    }

    pub(super) fn change(&mut self, cell: Cell, before: Content, after: Content) {
        let Some(near) = &mut self.near else { return };
        let (row, col) = self.board.place(cell);
        let steps = (-NEAR..=NEAR).flat_map(|down| (-NEAR..=NEAR).map(move |right| (down, right)));
        for cell in steps.filter_map(|(down, right)| self.board.cell(row + down, col + right)) {
            let pieces = near.entry(cell).or_insert(0);
            *pieces = *pieces + u32::from(!after.is_nothing()) - u32::from(!before.is_nothing());
            if *pieces == 0 {
                near.remove(&cell);
            }
        }
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

    /// The vacant cells near pieces; nothing where there is none, and where cells are not told apart.
    pub(super) fn near(&self, board: &Board) -> Option<Vec<Action>> {
        let cells = self.near.as_ref()?.keys();
        let vacant: Vec<Action> = cells.filter(|cell| board.get(**cell).is_nothing()).map(|cell| Action::Place(*cell)).collect();
        (!vacant.is_empty()).then_some(vacant)
    }
}
