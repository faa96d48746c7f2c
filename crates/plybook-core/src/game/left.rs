//! A seat that has left a game.
//!
//! Invariant: nobody leaves twice, and nobody comes back.

use crate::entry::Act;
use crate::packing::{Damaged, Packer, Unpacker};
use crate::seat::Seat;
use crate::seq::Seq;

/// Why a seat left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// It resigned.
    Resigned,
    /// The service was asked to take it out.
    Removed,
    /// Its time ran out.
    Timeout,
    /// It was away for too long.
    Absent,
}

impl Why {
    const ALL: [Why; 4] = [Why::Resigned, Why::Removed, Why::Timeout, Why::Absent];

    /// Why those leave whom this act makes leave.
    pub(super) const fn of(act: Act) -> Why {
        match act {
            Act::Resign => Why::Resigned,
            Act::Remove(_) => Why::Removed,
            Act::Timeout(_) => Why::Timeout,
            _ => Why::Absent,
        }
    }
}

/// A seat that has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Left {
    /// The seat.
    pub seat: Seat,
    /// Why.
    pub why: Why,
    /// By which entry.
    pub seq: Seq,
}

impl Left {
    pub(super) fn pack(self, out: &mut Packer) {
        out.number(self.seat.0);
        out.number(self.why as u8);
        out.number(self.seq.0);
    }

    pub(super) fn unpack(seats: u8, from: &mut Unpacker<'_>) -> Result<Left, Damaged> {
        let seat = from.byte().ok().filter(|seat| *seat < seats).map(Seat).ok_or(Damaged)?;
        let why = *Why::ALL.get(usize::from(from.byte()?)).ok_or(Damaged)?;
        Ok(Left { seat, why, seq: Seq(from.number()?) })
    }
}
