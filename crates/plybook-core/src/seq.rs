//! Numbers of entries.
//!
//! Invariant: entries of a game are numbered 1, 2, 3 … without a gap, and a number is never reused.

use std::fmt;

/// The number of an entry, from 1; 0 stands before the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Seq(pub u32);

impl Seq {
    /// Before any entry: where a reader of everything begins.
    pub const ZERO: Seq = Seq(0);
    /// The creation of a game.
    pub const FIRST: Seq = Seq(1);

    /// The number after this one.
    #[must_use]
    pub const fn next(self) -> Seq {
        Seq(self.0 + 1)
    }
}

impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
