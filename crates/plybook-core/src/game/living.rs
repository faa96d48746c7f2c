//! What a live game has besides its moves: who is still at the table, whose time runs, what is offered.
//!
//! Invariants: seats only ever leave, also while moves are taken back; where nothing of a game's terms asks for
//! it, nothing here changes anything.

use crate::clock::{Bank, Clock, pack_banks, unpack_banks};
use crate::entropy::Joining;
use crate::game::left::{Left, Why};
use crate::header::Header;
use crate::offers::Offers;
use crate::packing::{Damaged, Packer, Unpacker};
use crate::presence::Presence;
use crate::seat::{Seat, SeatSet};
use crate::seq::Seq;
use crate::time::Time;

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Living {
    /// The seats that have not left.
    pub(super) live: SeatSet,
    /// Those that have, in the order in which they did.
    pub(super) left: Vec<Left>,
    pub(super) offers: Offers,
    pub(super) presence: Option<Presence>,
    pub(super) clock: Option<Clock>,
    /// What every seat had before each of the standing moves that are known: an undo leaves nobody more than that.
    pub(super) banks: Vec<Vec<Bank>>,
    /// How often moves were taken back.
    pub(super) undos: u32,
    /// Times that ran out in a row, without a move.
    pub(super) idle: u32,
    /// Whether the fallback moves for the seat to move, whose time ran out.
    pub(super) stand_in: bool,
    /// When the game was finished, where it is and may be reopened.
    pub(super) ended: Option<Time>,
}

impl Living {
    pub(super) fn new(header: &Header, joining: Option<&Joining>, first: Option<Seat>) -> Living {
        let (seats, terms) = (header.seat_count(), &header.terms);
        let live = SeatSet::all(seats);
        let first = first.filter(|_| joining.is_none());
        Living {
            live,
            left: Vec::new(),
            offers: Offers::new(seats),
            presence: terms.absence.map(|policy| Presence::new(policy, seats, people(header, live))),
            clock: terms.clock.map(|policy| Clock::new(policy, seats, header.created, first)),
            banks: Vec::new(),
            undos: 0,
            idle: 0,
            stand_in: false,
            ended: None,
        }
    }

    /// Notes what every seat has, before a move stands.
    pub(super) fn keep_banks(&mut self) {
        if let Some(clock) = &self.clock {
            self.banks.push(clock.banks().to_vec());
        }
    }

    /// A move was given at `at`: it costs no time and earns none. No time runs while seats have yet to join.
    pub(super) fn given(&mut self, at: Time, next: Option<Seat>) {
        if let Some(clock) = self.clock.as_mut().filter(|clock| clock.running().is_some()) {
            clock.passed(at, next);
        }
    }

    /// A move was made at `at`.
    pub(super) fn moved(&mut self, header: &Header, seat: Seat, at: Time, next: Option<Seat>) {
        let stood_in = std::mem::take(&mut self.stand_in);
        self.idle = 0;
        // A bot was offered nothing, so its move answers nothing.
        self.offers.turn_over(seat, header.terms.bot(seat).is_none());
        self.ended = next.is_none().then_some(at);
        match (&mut self.clock, next) {
            (Some(clock), Some(next)) if stood_in => clock.resumed(at, next),
            (Some(clock), next) => clock.moved(at, next),
            (None, _) => {}
        }
    }

    /// Moves were taken back, so that the first `standing` of those known stand.
    pub(super) fn undone(&mut self, standing: usize, at: Time, next: Seat) {
        self.undos += 1;
        self.idle = 0;
        self.stand_in = false;
        if let (Some(_), Some(presence)) = (self.ended.take(), &mut self.presence) {
            presence.begin_again(at);
        }
        self.offers.lapse();
        if let Some(clock) = &mut self.clock {
            let banks = self.banks.get(standing).map(Vec::as_slice);
            clock.undone(at, banks, Some(next));
            self.banks.truncate(standing);
        }
    }

    /// These seats leave, by the entry `seq`.
    pub(super) fn leave(&mut self, header: &Header, leavers: SeatSet, why: Why, (seq, at): (Seq, Time)) {
        self.live = leavers.iter().fold(self.live, SeatSet::without);
        self.left.extend(leavers.iter().map(|seat| Left { seat, why, seq }));
        self.offers.lapse();
        let people = people(header, self.live);
        if let Some(presence) = &mut self.presence {
            presence.remain(people, at);
        }
    }

    /// About how much memory the times before each move take, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.banks.first().map_or(0, |banks| self.banks.len() * (size_of::<Vec<Bank>>() + size_of_val(banks.as_slice())))
    }

    /// Knows what every seat had before the last `moves` only.
    pub(super) fn shortened(&self, moves: usize) -> Living {
        let forgotten = self.banks.len().saturating_sub(moves);
        Living { banks: self.banks[forgotten..].to_vec(), ..self.clone() }
    }

    pub(super) fn pack(&self, first: usize, out: &mut Packer) {
        out.count(self.left.len());
        self.left.iter().for_each(|left| left.pack(out));
        self.offers.pack(out);
        out.number(self.undos);
        out.number(self.idle);
        out.number(self.stand_in);
        out.number(self.ended.map_or(0, Time::unix_ms));
        if let Some(presence) = &self.presence {
            presence.pack(out);
        }
        if let Some(clock) = &self.clock {
            clock.pack(out);
            self.banks.iter().skip(first).for_each(|banks| pack_banks(banks, out));
        }
    }

    /// `standing` is how many standing moves come with it.
    pub(super) fn unpack(header: &Header, standing: usize, from: &mut Unpacker<'_>) -> Result<Living, Damaged> {
        let (seats, terms) = (header.seat_count(), &header.terms);
        let left: Vec<Left> = (0..from.count()?).map(|_| Left::unpack(seats, from)).collect::<Result<_, _>>()?;
        let live = left.iter().fold(SeatSet::all(seats), |live, left| live.without(left.seat));
        let offers = Offers::unpack(seats, from)?;
        let (undos, idle, stand_in) = (from.number()?, from.number()?, from.byte()? != 0);
        let ended = Some(from.long()?).filter(|ms| *ms > 0).map(Time::from_unix_ms);
        let people = people(header, live);
        let presence = terms.absence.map(|policy| Presence::unpack(policy, seats, people, from)).transpose()?;
        let clock = terms.clock.map(|policy| Clock::unpack(policy, seats, from)).transpose()?;
        let kept = if clock.is_some() { standing } else { 0 };
        let banks = (0..kept).map(|_| unpack_banks(seats, from)).collect::<Result<_, _>>()?;
        Ok(Living { live, left, offers, presence, clock, banks, undos, idle, stand_in, ended })
    }
}

/// The seats at the table that are no bots.
pub(super) fn people(header: &Header, live: SeatSet) -> SeatSet {
    header.terms.bot_seats().iter().fold(live, SeatSet::without)
}
