//! A game at one of its entries in a few bytes, so that a long book need not be folded from its header.
//!
//! Invariants: a snapshot is a cache: it restores to exactly the game that folding gives, or not at all;
//! damage, another format or release, and another game are told apart. It carries the position whole but only the
//! last [`SNAPSHOT_TAIL`] standing moves: below that floor the way back is not known until the game is
//! lengthened. Snapshots are due so often that folding from the nearest one never comes to a floor.
//!
//! The SHA-256 at its end finds damage. It is no signature: whoever can write to the store can write a
//! snapshot that restores. What proves a game is its book, which is why verification reads no snapshot.

use std::sync::Arc;

use crate::board::{Cell, Content};
use crate::change::{CellChange, Changes, Passed, Register, RegisterChange};
use crate::digest::Digest;
use crate::entropy::Joining;
use crate::game::living::Living;
use crate::game::{Game, Head};
use crate::header::{Entropy, Header};
use crate::limits::{HISTORY_STEP, SNAPSHOT_BYTES_MAX, SNAPSHOT_TAIL, UNDO_PLIES_MAX};
use crate::packing::{Damaged, Packer, Unpacker};
use crate::play::{Play, Standing};
use crate::position::Position;
use crate::position::packed::{pack_outcome, unpack_outcome};
use crate::rules::Rules;
use crate::seat::Seat;
use crate::seq::Seq;
use crate::time::Time;

/// The form of the bytes. It changes with every change to what is packed or how.
pub const FORMAT: u16 = 2;

/// The release that writes and reads them. What an earlier one has accepted by a mistake in its rules, the
/// next one is to find out, so it begins with none of the other's positions.
const BUILD: &str = env!("CARGO_PKG_VERSION");

const MAGIC: &[u8; 16] = b"plybook-snapshot";
const SUM_BYTES: usize = 32;
/// So far below the last snapshot's standing moves one more is due: an undo from here, and from anywhere
/// above, stays on its tail, with the one move more that is looked at ([`Game::decide`]).
const DESCENT: u32 = (SNAPSHOT_TAIL - UNDO_PLIES_MAX - 1) as u32;

/// Why bytes do not restore.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadSnapshot {
    /// They are not what was written.
    #[error("the snapshot is damaged")]
    Damaged,
    /// Another build wrote them.
    #[error("the snapshot has format {0}, not {FORMAT}")]
    Format(u16),
    /// Another release wrote them: its rules may have had a mistake that this one has not.
    #[error("the snapshot is of another release than {BUILD}")]
    Build,
    /// They are of another game, or of the same under other rules.
    #[error("the snapshot is of another game")]
    OtherGame,
}

impl From<Damaged> for BadSnapshot {
    fn from(_: Damaged) -> BadSnapshot {
        BadSnapshot::Damaged
    }
}

impl Game {
    /// Whether a snapshot is due of this very entry: after every [`HISTORY_STEP`] entries, and after an
    /// undo that came far below the last one. A function of the book, so the same on every node.
    pub fn snapshot_is_due(&self) -> bool {
        self.due.0 == self.head.seq && self.head.seq > Seq::FIRST
    }

    pub(super) fn note_due(&mut self) {
        let (seq, ply) = (self.head.seq, self.play.position().ply());
        if seq.0.is_multiple_of(HISTORY_STEP) || ply.saturating_add(DESCENT) < self.due.1 {
            self.due = (seq, ply);
        }
    }

    /// Where the way back has to be picked up ([`Game::lengthen`]) before so many of the last standing
    /// moves are known; nothing where they are, or where there are no more.
    pub fn way_back_needed(&self, moves: usize) -> Option<Seq> {
        if self.standing.len() < moves { self.below } else { None }
    }

    /// Takes over the way back from the same game as it was at entry [`Game::way_back_needed`]; false
    /// where it is not that.
    #[must_use]
    pub fn lengthen(&mut self, earlier: &Game) -> bool {
        let fits = self.below == Some(earlier.head.seq)
            && earlier.play.position().ply() as usize == self.play.floor()
            && earlier.header.game == self.header.game;
        if fits {
            self.play.lengthen(&earlier.play);
            self.standing.splice(0..0, earlier.standing.iter().copied());
            self.living.banks.splice(0..0, earlier.living.banks.iter().cloned());
            self.below = earlier.below;
        }
        fits
    }

    /// A copy that knows no more of the way back than a snapshot carries.
    #[must_use]
    pub fn shortened(&self) -> Game {
        let forgotten = self.standing.len().saturating_sub(SNAPSHOT_TAIL);
        let below = forgotten.checked_sub(1).map_or(self.below, |last| Some(self.standing[last]));
        Game {
            header: Arc::clone(&self.header),
            play: self.play.shortened(SNAPSHOT_TAIL),
            standing: self.standing[forgotten..].to_vec(),
            below,
            due: self.due,
            head: self.head,
            decided: self.decided,
            joining: self.joining.clone(),
            broken_off: self.broken_off.clone(),
            living: self.living.shortened(SNAPSHOT_TAIL),
            closed: self.closed,
        }
    }

    /// The game in bytes; nothing where the way back is not known as far as a snapshot carries it, or where
    /// they are too many.
    pub fn snapshot(&self) -> Option<Vec<u8>> {
        if self.way_back_needed(SNAPSHOT_TAIL).is_some() {
            return None;
        }
        let mut out = Packer::default();
        out.raw(MAGIC);
        out.raw(&FORMAT.to_be_bytes());
        out.raw(&self.header.digest().0);
        out.text(&self.header.ruleset.to_string());
        out.text(BUILD);
        out.number(self.head.seq.0);
        out.raw(&self.head.digest.0);
        out.number(self.head.time.unix_ms());
        out.number(self.decided.0);
        out.number(self.closed);
        out.number(self.due.0.0);
        out.number(self.due.1);
        if let Some(joining) = &self.joining {
            joining.pack(&mut out);
        }
        match &self.broken_off {
            Some(outcome) => pack_outcome(outcome, &mut out),
            None => out.number(0u8),
        }
        self.play.position().pack(&mut out);
        self.pack_tail(&mut out);
        let sum = Digest::of(&out.bytes);
        out.raw(&sum.0);
        (out.bytes.len() <= SNAPSHOT_BYTES_MAX).then_some(out.bytes)
    }

    fn pack_tail(&self, out: &mut Packer) {
        let first = self.standing.len().saturating_sub(SNAPSHOT_TAIL);
        let mut last = first.checked_sub(1).map_or(self.below, |last| Some(self.standing[last])).unwrap_or(Seq::ZERO);
        out.number(last.0);
        out.count(self.standing.len() - first);
        for (seq, standing) in self.standing[first..].iter().zip(&self.play.standing()[first..]) {
            out.number(seq.0 - last.0);
            last = *seq;
            pack_standing(standing, out);
        }
        pack_registers(self.play.passed().registers(), out);
        self.living.pack(first, out);
    }

    /// The game that these bytes were made of. That its head is an entry of the book is for the caller to
    /// see.
    pub fn restore(header: Header, rules: Arc<dyn Rules>, bytes: &[u8]) -> Result<Game, BadSnapshot> {
        let mut from = Unpacker::new(bytes);
        if from.raw()? != *MAGIC {
            return Err(BadSnapshot::Damaged);
        }
        let format = u16::from_be_bytes(from.raw()?);
        if format != FORMAT {
            return Err(BadSnapshot::Format(format));
        }
        let (packed, sum) = bytes.split_last_chunk::<SUM_BYTES>().ok_or(BadSnapshot::Damaged)?;
        if bytes.len() > SNAPSHOT_BYTES_MAX || Digest::of(packed).0 != *sum {
            return Err(BadSnapshot::Damaged);
        }
        let mut from = Unpacker::new(packed.get(MAGIC.len() + size_of::<u16>()..).ok_or(BadSnapshot::Damaged)?);
        if from.digest()? != header.digest() || from.text()? != header.ruleset.to_string() {
            return Err(BadSnapshot::OtherGame);
        }
        if from.text()? != BUILD {
            return Err(BadSnapshot::Build);
        }
        Ok(Game::unpack(header, rules, &mut from)?)
    }

    fn unpack(header: Header, rules: Arc<dyn Rules>, from: &mut Unpacker<'_>) -> Result<Game, Damaged> {
        let head = Head { seq: Seq(from.number()?), digest: from.digest()?, time: Time::from_unix_ms(from.long()?) };
        let (decided, closed) = (Seq(from.number()?), from.byte()? != 0);
        let due = (Seq(from.number()?), from.number()?);
        let seats = header.seat_count();
        let joining = match header.entropy {
            Entropy::Service => None,
            Entropy::Joint(rule) => Some(Joining::unpack(rule, header.digest(), seats, from)?),
        };
        let broken_off = unpack_outcome(seats, from)?;
        let position = Position::unpack(&rules.setup(), seats, from)?;
        let below = Some(Seq(from.number()?)).filter(|below| *below > Seq::ZERO);
        let (mut standing, mut seqs) = (Vec::new(), Vec::new());
        let mut last = below.unwrap_or(Seq::ZERO);
        for _ in 0..from.count()? {
            let step: u32 = from.number()?;
            last = last.0.checked_add(step).filter(|_| step > 0).map(Seq).ok_or(Damaged)?;
            seqs.push(last);
            standing.push(Arc::new(unpack_standing(from)?));
        }
        let passed = Passed::recorded(unpack_registers(from)?);
        let living = Living::unpack(&header, standing.len(), from)?;
        from.end()?;
        let play = Play::restored(rules, position, standing, passed).ok_or(Damaged)?;
        let game = Game { header: Arc::new(header), play, standing: seqs, below, due, head, decided, joining, broken_off, living, closed };
        let whole = game.way_back_needed(SNAPSHOT_TAIL).is_none() && below.is_none() == (game.play.floor() == 0);
        let numbered = last <= head.seq && decided <= head.seq && due.0 <= head.seq;
        if whole && numbered { Ok(game) } else { Err(Damaged) }
    }
}

fn pack_standing(standing: &Standing, out: &mut Packer) {
    let passed = standing.passed().registers();
    let flags = u64::from(!passed.is_empty()) << 1 | u64::from(standing.threw);
    out.number(u64::from(standing.seat.0) << 2 | flags);
    out.count(standing.changes.cells().len());
    for change in standing.changes.cells() {
        out.number(change.cell.0);
        out.bytes.extend([change.before.0, change.after.0]);
    }
    pack_registers(standing.changes.registers(), out);
    if !passed.is_empty() {
        pack_registers(passed, out);
    }
}

fn unpack_standing(from: &mut Unpacker<'_>) -> Result<Standing, Damaged> {
    let seat_and_flags: u16 = from.number()?;
    let seat = u8::try_from(seat_and_flags >> 2).map(Seat).map_err(|_| Damaged)?;
    let count = from.count()?;
    let cell = |_| Ok(CellChange { cell: Cell(from.number()?), before: Content(from.byte()?), after: Content(from.byte()?) });
    let cells = (0..count).map(cell).collect::<Result<_, _>>()?;
    let registers = unpack_registers(from)?;
    let passed = if seat_and_flags & 2 == 2 { unpack_registers(from)? } else { Vec::new() };
    Ok(Standing::made(seat, Changes::recorded(cells, registers), seat_and_flags & 1 == 1, Passed::recorded(passed)))
}

fn pack_registers(registers: &[RegisterChange], out: &mut Packer) {
    out.count(registers.len());
    for change in registers {
        out.number(change.register.0);
        out.number(change.before);
        out.number(change.after);
    }
}

fn unpack_registers(from: &mut Unpacker<'_>) -> Result<Vec<RegisterChange>, Damaged> {
    let count = from.count()?;
    let register = |_| Ok(RegisterChange { register: Register(from.number()?), before: from.number()?, after: from.number()? });
    (0..count).map(register).collect()
}

#[cfg(test)]
mod tests;
