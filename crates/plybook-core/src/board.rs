//! Where the pieces are: one flat array.
//!
//! Invariant: a board knows no rules, and a read off the board answers [`Content::NOTHING`].

use crate::seat::Seat;

/// A cell's number: row by row from the top left on a grid, the square's number on a track.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cell(pub u32);

impl Cell {
    /// Position in arrays that hold one value a cell.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// What stands on a cell, as a small code that the ruleset reads; 0 is nothing.
///
/// Where a cell holds one piece at most, the code is 1 + the owner's seat ([`Content::of`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Content(pub u8);

impl Content {
    /// A vacant cell, and every cell off the board.
    pub const NOTHING: Content = Content(0);

    /// One piece of `seat`.
    pub const fn of(seat: Seat) -> Content {
        Content(seat.0 + 1)
    }

    /// The owner, where a cell holds one piece at most.
    pub const fn owner(self) -> Option<Seat> {
        if self.0 == 0 { None } else { Some(Seat(self.0 - 1)) }
    }

    /// Whether nothing stands there.
    pub const fn is_nothing(self) -> bool {
        self.0 == 0
    }
}

/// A rectangle of cells; a track is a rectangle of one row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Board {
    rows: u16,
    cols: u16,
    cells: Vec<Content>,
}

impl Board {
    /// A vacant board. Both sides are at least 1.
    pub fn new(rows: u16, cols: u16) -> Board {
        assert!(rows > 0 && cols > 0, "a board has cells");
        Board { rows, cols, cells: vec![Content::NOTHING; rows as usize * cols as usize] }
    }

    /// A vacant track with squares 0 to `last`; square 0 is off the board.
    pub fn track(last: u16) -> Board {
        assert!(last < u16::MAX, "a track's squares are numbered in 16 bits");
        Board::new(1, last + 1)
    }

    /// Rows, from 1.
    pub const fn rows(&self) -> u16 {
        self.rows
    }

    /// Columns, from 1.
    pub const fn cols(&self) -> u16 {
        self.cols
    }

    /// Number of cells.
    pub const fn len(&self) -> u32 {
        self.rows as u32 * self.cols as u32
    }

    /// Never true; here because a type with `len` has it.
    pub const fn is_empty(&self) -> bool {
        false
    }

    /// The cell at a row and column counted from the top left, if it is on the board.
    pub fn cell(&self, row: i32, col: i32) -> Option<Cell> {
        let on = (0..i32::from(self.rows)).contains(&row) && (0..i32::from(self.cols)).contains(&col);
        on.then(|| Cell(row as u32 * u32::from(self.cols) + col as u32))
    }

    /// Row and column of a cell, counted from the top left.
    pub fn place(&self, cell: Cell) -> (i32, i32) {
        let cols = u32::from(self.cols);
        ((cell.0 / cols) as i32, (cell.0 % cols) as i32)
    }

    /// Whether the board has this cell.
    pub fn has(&self, cell: Cell) -> bool {
        cell.0 < self.len()
    }

    /// What stands on a cell; nothing if it is off the board.
    pub fn get(&self, cell: Cell) -> Content {
        probe::count_read();
        self.cells.get(cell.index()).copied().unwrap_or(Content::NOTHING)
    }

    /// What stands at a row and column; nothing off the board.
    pub fn at(&self, row: i32, col: i32) -> Content {
        match self.cell(row, col) {
            Some(cell) => self.get(cell),
            None => {
                probe::count_read();
                Content::NOTHING
            }
        }
    }

    /// Puts `content` on a cell that the board has.
    pub fn set(&mut self, cell: Cell, content: Content) {
        assert!(self.has(cell), "cell {} is on the board", cell.0);
        self.cells[cell.index()] = content;
    }

    /// Every occupied cell, in order. A scan: never on the path of a move.
    pub fn occupied(&self) -> impl Iterator<Item = (Cell, Content)> {
        let occupied = |(_, content): &(usize, &Content)| !content.is_nothing();
        self.cells.iter().enumerate().filter(occupied).map(|(i, content)| (Cell(i as u32), *content))
    }
}

/// Counts board reads on this thread, so that tests can bound what a move costs.
pub mod probe {
    #[cfg(feature = "probe")]
    use std::cell::Cell as Counter;

    #[cfg(feature = "probe")]
    thread_local!(static READS: Counter<u64> = const { Counter::new(0) });

    #[inline]
    pub(super) fn count_read() {
        #[cfg(feature = "probe")]
        READS.with(|reads| reads.set(reads.get() + 1));
    }

    /// Board reads on this thread while `work` ran.
    #[cfg(feature = "probe")]
    pub fn reads_during<T>(work: impl FnOnce() -> T) -> (T, u64) {
        let before = READS.with(Counter::get);
        let result = work();
        (result, READS.with(Counter::get) - before)
    }
}
