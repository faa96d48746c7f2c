//! How a game ended.
//!
//! Invariant: an outcome has winners, is a draw, or is void; nothing in between can be written down.

use std::borrow::Cow;
use std::fmt;

use crate::board::Cell;
use crate::seat::{Seat, SeatSet};

/// Who won, if anybody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Winners {
    /// These seats, at least one.
    Seats(SeatSet),
    /// Nobody: the game was played to its end.
    Draw,
    /// Nobody, and nobody lost: the game was broken off and has no result.
    Void,
}

/// The ruleset's word for why a game ended: `[a-z][a-z0-9_]*`, 32 bytes at most.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason(Cow<'static, str>);

impl Reason {
    /// A reason that a ruleset names.
    pub const fn new(word: &'static str) -> Reason {
        Reason(Cow::Borrowed(word))
    }

    /// A reason read from a book.
    pub fn parse(word: &str) -> Option<Reason> {
        let fits = word.len() <= 32
            && word.starts_with(|c: char| c.is_ascii_lowercase())
            && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
        fits.then(|| Reason(Cow::Owned(word.to_owned())))
    }

    /// The word.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A run of cells that helped to decide a game: `first`, then `step` further, `count` in all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CellRun {
    /// Its lowest cell.
    pub first: Cell,
    /// Distance in cell numbers; 0 for a run of one.
    pub step: u32,
    /// Number of cells, from 1.
    pub count: u32,
}

impl CellRun {
    /// One cell.
    pub const fn one(cell: Cell) -> CellRun {
        CellRun { first: cell, step: 0, count: 1 }
    }

    /// The cells, ascending.
    pub fn cells(self) -> impl Iterator<Item = Cell> {
        (0..self.count).map(move |i| Cell(self.first.0 + i * self.step))
    }
}

/// How a game ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Who won.
    pub winners: Winners,
    /// Why.
    pub reason: Reason,
    /// The cells that decided it, for highlighting.
    pub lines: Vec<CellRun>,
}

impl Outcome {
    /// `seat` alone won.
    pub fn win(seat: Seat, reason: Reason) -> Outcome {
        Outcome::wins(SeatSet::only(seat), reason)
    }

    /// `seats`, at least one, won together.
    pub fn wins(seats: SeatSet, reason: Reason) -> Outcome {
        assert!(!seats.is_empty(), "somebody won");
        Outcome { winners: Winners::Seats(seats), reason, lines: Vec::new() }
    }

    /// Nobody won.
    pub fn draw(reason: Reason) -> Outcome {
        Outcome { winners: Winners::Draw, reason, lines: Vec::new() }
    }

    /// The game has no result.
    pub fn void(reason: Reason) -> Outcome {
        Outcome { winners: Winners::Void, reason, lines: Vec::new() }
    }

    /// Whether the game was broken off without a result.
    pub const fn is_void(&self) -> bool {
        matches!(self.winners, Winners::Void)
    }

    /// The same with deciding cells.
    #[must_use]
    pub fn through(mut self, lines: Vec<CellRun>) -> Outcome {
        self.lines = lines;
        self
    }

    /// The winning seats; empty for a draw and for a game without a result.
    pub const fn winning_seats(&self) -> SeatSet {
        match self.winners {
            Winners::Seats(seats) => seats,
            Winners::Draw | Winners::Void => SeatSet::EMPTY,
        }
    }
}
