//! Who left a game, and by which entry.
//!
//! Invariant: it is what the rules make of an entry, and not what the entry's words are.

use std::fmt;

use crate::entry::{Act, Body, Entry, Incident};
use crate::seat::{Seat, SeatSet};
use crate::seq::Seq;

/// A seat that left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Left {
    /// The seat.
    pub seat: Seat,
    /// The entry.
    pub seq: Seq,
    /// How.
    pub how: How,
}

/// How a seat leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// It resigned.
    Resigned,
    /// The service took it out.
    Removed,
    /// Its time ran out.
    Timeout,
    /// It was away for too long.
    Absent,
}

impl How {
    /// The name, for machines: the reason that the game's outcome has where nobody else is left.
    pub const fn name(self) -> &'static str {
        match self {
            How::Resigned => "resigned",
            How::Removed => "removed",
            How::Timeout => "timeout",
            How::Absent => "absent",
        }
    }
}

impl Left {
    /// The seats that left by this entry, with who is at the table before it and after it.
    pub(super) fn by(entry: &Entry, before: SeatSet, after: SeatSet) -> impl Iterator<Item = Left> {
        let how = match &entry.body {
            Body::Incident(Incident { act: Act::Resign, .. }) => How::Resigned,
            Body::Incident(Incident { act: Act::Remove(_), .. }) => How::Removed,
            Body::Incident(Incident { act: Act::Timeout(_), .. }) => How::Timeout,
            _ => How::Absent,
        };
        let seq = entry.seq;
        before.iter().filter(move |seat| !after.contains(*seat)).map(move |seat| Left { seat, seq, how })
    }
}

/// In words: `seat 0 resigned (entry 7)`.
impl fmt::Display for Left {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let how = match self.how {
            How::Resigned => "resigned",
            How::Removed => "was removed",
            How::Timeout => "ran out of time",
            How::Absent => "was away for too long",
        };
        write!(f, "seat {} {how} (entry {})", self.seat, self.seq)
    }
}
