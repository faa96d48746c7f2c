//! An Othello board as bits: row by row from the top left, eight to a row whatever the side.
//!
//! Invariant: cells off a smaller board are never a seat's, so a line that leaves the board meets
//! nothing, as at the edge of the word.

use plybook_core::{Board, Content, Seat};

/// Every column but the leftmost, where a step to the right cannot come to.
const NOT_LEFT: u64 = 0xFEFE_FEFE_FEFE_FEFE;
/// Every column but the rightmost.
const NOT_RIGHT: u64 = 0x7F7F_7F7F_7F7F_7F7F;
/// The inner discs that a line to the left or right can turn over.
const INNER: u64 = NOT_LEFT & NOT_RIGHT;

/// Who has which cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Discs {
    /// The seat that moves.
    pub(super) own: u64,
    /// The other seat.
    pub(super) theirs: u64,
}

impl Discs {
    /// Seen by the other seat.
    #[inline]
    pub(super) const fn swapped(self) -> Discs {
        Discs { own: self.theirs, theirs: self.own }
    }

    /// After the seat that moves took `place` and turned over `turned`: seen by the other seat.
    #[inline]
    pub(super) const fn after(self, place: u64, turned: u64) -> Discs {
        Discs { own: self.theirs & !turned, theirs: self.own | place | turned }
    }

    /// Where the seat could move if its discs outflank, in the word.
    #[inline]
    const fn reach(self) -> u64 {
        let (own, inner) = (self.own, self.theirs & INNER);
        up(own, inner, 1)
            | down(own, inner, 1)
            | up(own, inner, 7)
            | down(own, inner, 7)
            | up(own, inner, 9)
            | down(own, inner, 9)
            | up(own, self.theirs, 8)
            | down(own, self.theirs, 8)
    }

    /// The discs that a disc of the seat that moves on `place` turns over.
    #[inline]
    pub(super) const fn turned(self, place: u64) -> u64 {
        let (own, inner) = (self.own, self.theirs & INNER);
        line_up(own, inner, place, 1)
            | line_down(own, inner, place, 1)
            | line_up(own, inner, place, 7)
            | line_down(own, inner, place, 7)
            | line_up(own, inner, place, 9)
            | line_down(own, inner, place, 9)
            | line_up(own, self.theirs, place, 8)
            | line_down(own, self.theirs, place, 8)
    }
}

/// Cells beyond a run of `theirs` that begins next to one of `own`, toward greater bits.
#[inline]
const fn up(own: u64, theirs: u64, step: u32) -> u64 {
    let mut run = own << step & theirs;
    run |= run << step & theirs;
    let pairs = theirs & theirs << step;
    run |= run << (2 * step) & pairs;
    run |= run << (2 * step) & pairs;
    run << step
}

/// The same toward smaller bits.
#[inline]
const fn down(own: u64, theirs: u64, step: u32) -> u64 {
    let mut run = own >> step & theirs;
    run |= run >> step & theirs;
    let pairs = theirs & theirs >> step;
    run |= run >> (2 * step) & pairs;
    run |= run >> (2 * step) & pairs;
    run >> step
}

/// The run of `theirs` from `place` to one of `own`, toward greater bits; empty where it ends
/// otherwise.
#[inline]
const fn line_up(own: u64, theirs: u64, place: u64, step: u32) -> u64 {
    let mut run = place << step & theirs;
    run |= run << step & theirs;
    run |= run << step & theirs;
    run |= run << step & theirs;
    run |= run << step & theirs;
    run |= run << step & theirs;
    if run << step & own == 0 { 0 } else { run }
}

/// The same toward smaller bits.
#[inline]
const fn line_down(own: u64, theirs: u64, place: u64, step: u32) -> u64 {
    let mut run = place >> step & theirs;
    run |= run >> step & theirs;
    run |= run >> step & theirs;
    run |= run >> step & theirs;
    run |= run >> step & theirs;
    run |= run >> step & theirs;
    if run >> step & own == 0 { 0 } else { run }
}

/// A board's measures.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    side: u32,
    /// Every cell.
    pub(super) board: u64,
    /// The corners.
    pub(super) corners: u64,
    /// The board's four quarters: in each, the last disc is worth having.
    pub(super) quarters: [u64; 4],
}

impl Frame {
    /// Nothing where the board does not fit.
    pub(super) fn new(board: &Board) -> Option<Frame> {
        let side = u32::from(board.rows());
        if board.rows() != board.cols() || !matches!(side, 4 | 6 | 8) {
            return None;
        }
        let rectangle = |rows: std::ops::Range<u32>, cols: std::ops::Range<u32>| {
            rows.flat_map(|row| cols.clone().map(move |col| row * 8 + col)).fold(0u64, |bits, bit| bits | 1 << bit)
        };
        let (half, last) = (side / 2, side - 1);
        Some(Frame {
            side,
            board: rectangle(0..side, 0..side),
            corners: [0, last, last * 8, last * 9].iter().fold(0, |bits, bit| bits | 1 << bit),
            quarters: [
                rectangle(0..half, 0..half),
                rectangle(0..half, half..side),
                rectangle(half..side, 0..half),
                rectangle(half..side, half..side),
            ],
        })
    }

    /// The discs on a board, seen by `to_move`.
    pub(super) fn read(&self, board: &Board, to_move: Seat) -> Discs {
        let mut discs = Discs { own: 0, theirs: 0 };
        for (cell, content) in board.occupied() {
            let place = 1 << (cell.0 / self.side * 8 + cell.0 % self.side);
            if content == Content::of(to_move) {
                discs.own |= place;
            } else {
                discs.theirs |= place;
            }
        }
        discs
    }

    /// The number of a cell on the board.
    pub(super) const fn cell(&self, place: u64) -> u32 {
        let bit = place.trailing_zeros();
        bit / 8 * self.side + bit % 8
    }

    /// Cells without a disc.
    #[inline]
    pub(super) const fn vacant(&self, discs: Discs) -> u64 {
        self.board & !(discs.own | discs.theirs)
    }

    /// Where the seat to move may move.
    #[inline]
    pub(super) const fn moves(&self, discs: Discs) -> u64 {
        discs.reach() & self.vacant(discs)
    }
}

/// Each bit alone, from the least.
#[inline]
pub(super) fn bits(mut bits: u64) -> impl Iterator<Item = u64> {
    std::iter::from_fn(move || {
        let lowest = bits & bits.wrapping_neg();
        bits ^= lowest;
        (lowest != 0).then_some(lowest)
    })
}
