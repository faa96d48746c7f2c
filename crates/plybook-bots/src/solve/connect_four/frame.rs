//! A Connect Four board as bits: column by column from the left, each from the bottom, with one
//! spare bit on top.
//!
//! Invariant: spare bits are never set in a set of discs, so a line that is shifted out of its
//! column or off the board meets nothing.

use plybook_core::{Board, Content, Seat};

/// Most columns: with one row, each takes two bits.
pub(super) const COLUMNS_MAX: usize = 32;

/// Discs on a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Discs {
    /// Of the seat that moves.
    pub(super) own: u64,
    /// Of both.
    pub(super) all: u64,
}

impl Discs {
    /// After the seat that moves put a disc on `place`: seen by the other seat.
    #[inline]
    pub(super) const fn after(self, place: u64) -> Discs {
        Discs { own: self.own ^ self.all, all: self.all | place }
    }

    /// Different for different positions: in each column, the discs of one seat on top of as many
    /// ones as there are discs.
    #[inline]
    pub(super) const fn key(self) -> u64 {
        self.own + self.all
    }
}

/// A board's measures.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    rows: u32,
    cols: u32,
    /// Bits a column takes.
    stride: u32,
    /// The lowest cell of every column.
    bottom: u64,
    /// Every cell.
    board: u64,
}

impl Frame {
    /// Nothing where the board does not fit.
    pub(super) fn new(rows: u16, cols: u16) -> Option<Frame> {
        let (rows, cols) = (u32::from(rows), u32::from(cols));
        let stride = rows + 1;
        if stride * cols > u64::BITS {
            return None;
        }
        let bottom = (0..cols).fold(0, |bits, column| bits | 1 << (column * stride));
        let board = (0..cols).fold(0, |bits, column| bits | ((1u64 << rows) - 1) << (column * stride));
        Some(Frame { rows, cols, stride, bottom, board })
    }

    /// The discs on a board, seen by `to_move`.
    pub(super) fn read(&self, board: &Board, to_move: Seat) -> Discs {
        let mut discs = Discs { own: 0, all: 0 };
        for (cell, content) in board.occupied() {
            let (row, column) = (cell.0 / self.cols, cell.0 % self.cols);
            let place = 1 << (column * self.stride + self.rows - 1 - row);
            discs.all |= place;
            if content == Content::of(to_move) {
                discs.own |= place;
            }
        }
        discs
    }

    /// Number of cells.
    pub(super) const fn cells(&self) -> u32 {
        self.rows * self.cols
    }

    /// Columns from the centre outwards, the left one of two first.
    pub(super) fn centre_first(&self) -> Vec<u32> {
        let mut columns: Vec<u32> = (0..self.cols).collect();
        columns.sort_by_key(|column| (2 * column + 1).abs_diff(self.cols));
        columns
    }

    /// Every cell of a column.
    pub(super) const fn column(&self, column: u32) -> u64 {
        ((1 << self.rows) - 1) << (column * self.stride)
    }

    /// Where a disc would come to lie, in every column that is not full.
    #[inline]
    pub(super) const fn playable(&self, all: u64) -> u64 {
        (all + self.bottom) & self.board
    }

    /// Vacant cells, within reach or not, on which one more disc makes four in a row.
    #[inline]
    pub(super) const fn completing(&self, discs: u64, all: u64) -> u64 {
        let mut cells = discs << 1 & discs << 2 & discs << 3;
        // Fewer columns have vertical lines only, and their stride would shift beyond the word.
        if self.cols >= 4 {
            cells |= across(discs, self.stride) | across(discs, self.stride - 1) | across(discs, self.stride + 1);
        }
        cells & self.board & !all
    }

    /// Playable cells after which the other seat cannot win at once; `discs` are such that the seat
    /// to move cannot either.
    #[inline]
    pub(super) const fn safe(&self, discs: Discs) -> u64 {
        let playable = self.playable(discs.all);
        let theirs = self.completing(discs.own ^ discs.all, discs.all);
        let forced = playable & theirs;
        // Two cells to block cannot both be blocked, and a disc below theirs lets them complete.
        let below = !(theirs >> 1);
        match forced.count_ones() {
            0 => playable & below,
            1 => forced & below,
            _ => 0,
        }
    }

    /// The key of the position's mirror image, from its key.
    #[inline]
    pub(super) const fn mirrored(&self, key: u64) -> u64 {
        let column = u64::MAX >> (u64::BITS - self.stride);
        let (mut rest, mut image, mut n) = (key, 0u64, 0);
        while n < self.cols {
            image = image << (self.stride % 64) | rest & column;
            rest >>= self.stride % 64;
            n += 1;
        }
        image
    }
}

/// Cells that make four in a row with three in one direction and its opposite.
#[inline]
const fn across(discs: u64, step: u32) -> u64 {
    let before = discs << step & discs << (2 * step);
    let behind = discs >> step & discs >> (2 * step);
    before & (discs << (3 * step) | discs >> step) | behind & (discs >> (3 * step) | discs << step)
}

#[cfg(test)]
mod tests {
    use super::Frame;

    #[test]
    fn columns_go_from_the_centre_outwards() {
        let order = |cols| Frame::new(1, cols).map(|frame| frame.centre_first());
        assert_eq!(order(7), Some(vec![3, 2, 4, 1, 5, 0, 6]));
        assert_eq!(order(4), Some(vec![1, 2, 0, 3]));
        assert_eq!(order(1), Some(vec![0]));
        assert_eq!(order(33), None);
    }

    #[test]
    fn every_board_that_fits_has_its_cells() {
        for rows in 1..=63 {
            for cols in 1..=(64 / (rows + 1)) {
                let Some(frame) = Frame::new(rows, cols) else { panic!("{rows} rows and {cols} columns fit") };
                assert_eq!(frame.board.count_ones(), u32::from(rows * cols));
                assert_eq!(frame.playable(0), frame.bottom);
                assert_eq!(frame.playable(frame.board), 0);
                assert_eq!(frame.completing(0, 0), 0);
                assert_eq!(frame.mirrored(frame.board), frame.board);
                assert_eq!(frame.mirrored(frame.mirrored(frame.column(0))), frame.column(0));
            }
            assert!(Frame::new(rows, 64 / (rows + 1) + 1).is_none());
        }
        assert!(Frame::new(64, 1).is_none());
        assert!(Frame::new(1000, 1000).is_none());
    }
}
