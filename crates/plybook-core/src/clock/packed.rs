//! Clocks and banks in few bytes, for snapshots.
//!
//! Invariant: what is unpacked under the same header is equal to what was packed.

use super::{Bank, Clock, ClockPolicy};
use crate::packing::{Damaged, Packer, Unpacker};
use crate::seat::Seat;
use crate::time::Time;

impl Clock {
    pub(crate) fn pack(&self, out: &mut Packer) {
        out.number(self.since.unix_ms());
        out.number(self.running.map_or(0, |seat| seat.0 + 1));
        out.number(self.credited_ms);
        pack_banks(&self.banks, out);
    }

    /// `policy` and `seats` are the header's.
    pub(crate) fn unpack(policy: ClockPolicy, seats: u8, from: &mut Unpacker<'_>) -> Result<Clock, Damaged> {
        let since = Time::from_unix_ms(from.long()?);
        let running = from.number::<u8>()?.checked_sub(1).map(Seat);
        let credited_ms = from.long()?;
        let banks = unpack_banks(seats, from)?;
        if running.is_some_and(|seat| seat.0 >= seats) || credited_ms > policy.credit_ms.unwrap_or(0) {
            return Err(Damaged);
        }
        Ok(Clock { policy, banks, since, running, credited_ms })
    }
}

/// The time of every seat, in seat order.
pub(crate) fn pack_banks(banks: &[Bank], out: &mut Packer) {
    for bank in banks {
        out.number(bank.ms);
        out.number(bank.periods);
    }
}

/// Of so many seats.
pub(crate) fn unpack_banks(seats: u8, from: &mut Unpacker<'_>) -> Result<Vec<Bank>, Damaged> {
    (0..seats).map(|_| Ok(Bank { ms: from.long()?, periods: from.number()? })).collect()
}
