//! A run: pieces of one seat side by side in one of four directions.
//!
//! Invariant: a run is measured outwards from one cell, less than 2K cells in each direction,
//! whatever the board's size. What is found is always the whole run: where K or more end the game,
//! each half was shorter than K before the cell between them changed.

use plybook_core::outcome::CellRun;
use plybook_core::{Board, Cell, Content};

/// Row and column steps towards higher cell numbers: along a row, along a column, and both diagonals.
pub(super) const DIRECTIONS: [(i32, i32); 4] = [(0, 1), (1, 0), (1, 1), (1, -1)];

/// How long a run has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Length {
    /// K or more.
    AtLeast(u32),
    /// K, and a longer run does not count.
    Exactly(u32),
}

impl Length {
    /// K.
    pub(crate) const fn k(self) -> u32 {
        match self {
            Length::AtLeast(k) | Length::Exactly(k) => k,
        }
    }

    /// How far it is worth to look to one side of a cell, when the other side holds `beyond` of its
    /// kind: far enough to see the whole run, or that it is too long.
    const fn reach(self, beyond: u32) -> u32 {
        match self {
            Length::AtLeast(k) => k - 1,
            Length::Exactly(k) => k.saturating_sub(beyond),
        }
    }

    const fn is_met_by(self, count: u32) -> bool {
        match self {
            Length::AtLeast(k) => count >= k,
            Length::Exactly(k) => count == k,
        }
    }
}

/// Adds to `found` every run through `cell` that is long enough and not there yet.
pub(crate) fn find_runs(board: &Board, cell: Cell, length: Length, found: &mut Vec<CellRun>) {
    let content = board.get(cell);
    if content.is_nothing() {
        return;
    }
    for (down, right) in DIRECTIONS {
        let back = arm(board, cell, (-down, -right), content, length.reach(0));
        let ahead = arm(board, cell, (down, right), content, length.reach(back));
        let count = back + 1 + ahead;
        if !length.is_met_by(count) {
            continue;
        }
        let step = (down * i32::from(board.cols()) + right) as u32;
        let run = if count == 1 { CellRun::one(cell) } else { CellRun { first: Cell(cell.0 - back * step), step, count } };
        if !found.contains(&run) {
            found.push(run);
        }
    }
}

/// How many cells beside `cell` hold the same content, one after another; `most` at most.
fn arm(board: &Board, cell: Cell, (down, right): (i32, i32), content: Content, most: u32) -> u32 {
    let (mut row, mut col) = board.place(cell);
    for count in 0..most {
        (row, col) = (row + down, col + right);
        if board.cell(row, col).is_none_or(|beside| board.get(beside) != content) {
            return count;
        }
    }
    most
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use plybook_core::diagram;

    use super::{Cell, CellRun, Length, find_runs};

    #[track_caller]
    fn check(text: &str, cell: u32, length: Length, runs: &[(u32, u32, u32)]) {
        let board = diagram::read(text, &["X", "O"]).unwrap();
        let mut found = Vec::new();
        find_runs(&board, Cell(cell), length, &mut found);
        let wanted: Vec<CellRun> =
            runs.iter().map(|(first, step, count)| CellRun { first: Cell(*first), step: *step, count: *count }).collect();
        assert_eq!(found, wanted);
    }

    #[test]
    fn runs_join_both_halves_in_every_direction() {
        check("XXX.\nOX..\n..X.", 1, Length::AtLeast(3), &[(0, 1, 3)]);
        check("XXX.\nOX..\n..X.", 5, Length::AtLeast(3), &[(0, 5, 3)]);
        check("..X.\n.X..\nX...", 5, Length::AtLeast(3), &[(2, 3, 3)]);
        check(".X..\n.X..\n.X..", 9, Length::AtLeast(3), &[(1, 4, 3)]);
        check("XX.XX", 2, Length::AtLeast(1), &[]);
        check("XXXXX", 2, Length::AtLeast(3), &[(0, 1, 5)]);
    }

    #[test]
    fn longer_runs_are_not_exact() {
        check("XXXX.", 1, Length::Exactly(3), &[]);
        check("XXX.O", 1, Length::Exactly(3), &[(0, 1, 3)]);
        check("XXXXXXXXX", 4, Length::Exactly(3), &[]);
    }

    #[test]
    fn runs_do_not_go_around_the_edge() {
        check(".XX\nX..", 1, Length::AtLeast(3), &[]);
        check("..X\nX..\nX..", 3, Length::AtLeast(3), &[]);
    }

    #[test]
    fn a_run_of_one_is_named_once() {
        check("X.\n..", 0, Length::AtLeast(1), &[(0, 0, 1)]);
    }
}
