//! Whose time runs, and how much of it is left.
//!
//! Invariants: a clock is a function of its policy and of the times of the entries, in whole
//! milliseconds; at most one seat's time runs, and no other seat's is touched but by an undo. Entries'
//! times never go back; what would be less than nothing is nothing, and a deadline after the last
//! moment of the year 9999 is that moment.
//!
//! An entry *at* a deadline is in time, a later one is not. The clock does not enforce it: the game
//! settles a deadline that has passed, with [`Clock::expired`], before anything later happens.
//!
//! What a turn costs is the pace's to say ([`Pace`]):
//!
//! | pace | a turn that took *t* | more for a move | a time that ran out leaves |
//! | --- | --- | --- | --- |
//! | per move, correspondence | nothing: the next has its whole time again | | the whole time |
//! | Fischer | *t* | the increment | the increment |
//! | Bronstein | *t* less the delay, where it is more | | the lesser of the delay and what there was |
//! | byo-yomi | main time, then each period that it went beyond | | the last period |
//!
//! Time that the service was out is no time of the seat's as far as it is credited: it stands still for
//! so long in this turn, and what is not used of it is gone with the turn.

mod pace;
mod packed;
mod policy;
#[cfg(test)]
mod tests;

pub use pace::{Bank, Pace, Remaining};
pub(crate) use packed::{pack_banks, unpack_banks};
pub use policy::{ClockPolicy, ClockUndo, IfExpired};

use crate::seat::Seat;
use crate::time::Time;

/// The time of every seat at one entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clock {
    policy: ClockPolicy,
    /// What each seat's next turn begins with; of the running seat, what its turn began with.
    banks: Vec<Bank>,
    /// When the present turn began.
    since: Time,
    running: Option<Seat>,
    /// Of the present turn.
    credited_ms: u64,
}

impl Clock {
    /// Everybody has their whole time, and that of `first` runs from `at`. Nobody's does where it is
    /// none: seats have yet to join, or a bot moves.
    pub fn new(policy: ClockPolicy, seats: u8, at: Time, first: Option<Seat>) -> Clock {
        Clock { policy, banks: vec![policy.pace.full(); usize::from(seats)], since: at, running: first, credited_ms: 0 }
    }

    /// What the header says.
    pub const fn policy(&self) -> &ClockPolicy {
        &self.policy
    }

    /// What each seat's turn begins with, in seat order: to be kept beside a move, as it is before the
    /// move, for an undo that goes back by it.
    pub fn banks(&self) -> &[Bank] {
        &self.banks
    }

    /// When the present turn began, or when time stopped.
    pub const fn since(&self) -> Time {
        self.since
    }

    /// The seat whose time runs.
    pub const fn running(&self) -> Option<Seat> {
        self.running
    }

    /// What the present turn was given back so far.
    pub const fn credited_ms(&self) -> u64 {
        self.credited_ms
    }

    /// The last moment at which the running seat is in time.
    pub fn deadline(&self) -> Option<Time> {
        let seat = self.running?;
        let ms = self.policy.pace.total_ms(self.banks[seat.index()].into());
        Some(later(self.since, ms.saturating_add(self.credited_ms)))
    }

    /// What a seat has left at this moment, of its time and of what was credited.
    pub fn remaining(&self, seat: Seat, at: Time) -> Remaining {
        let bank = self.banks[seat.index()];
        if self.running != Some(seat) {
            return bank.into();
        }
        let left = self.policy.pace.left(bank, self.used(at));
        let spare = self.credited_ms.saturating_sub(elapsed(self.since, at));
        Remaining { ms: left.ms.saturating_add(spare), ..left }
    }

    /// [`Clock::remaining`] as one number.
    pub fn remaining_ms(&self, seat: Seat, at: Time) -> u64 {
        self.policy.pace.total_ms(self.remaining(seat, at))
    }

    /// The running seat has moved; the time of `next` runs, which may be the same seat's.
    pub fn moved(&mut self, at: Time, next: Option<Seat>) {
        self.charge(self.used(at));
        self.earn();
        self.hand_over(at, next);
    }

    /// The turn goes to another seat without a move: its seat has left.
    pub fn passed(&mut self, at: Time, next: Option<Seat>) {
        self.charge(self.used(at));
        self.hand_over(at, next);
    }

    /// The running seat has let its time pass, and that of `next` runs from the deadline on; nobody's
    /// where a bot moves instead. A seat that leaves for it has nothing left; one that stays has what it
    /// would have had by moving at the deadline. Nothing happens where no time runs.
    pub fn expired(&mut self, next: Option<Seat>) {
        let (Some(seat), Some(deadline)) = (self.running, self.deadline()) else { return };
        let bank = self.banks[seat.index()];
        match self.policy.if_expired {
            IfExpired::Forfeit => self.banks[seat.index()] = Bank::default(),
            IfExpired::Skip | IfExpired::Bot => {
                self.charge(self.policy.pace.total_ms(bank.into()));
                self.earn();
            }
        }
        self.hand_over(deadline, next);
    }

    /// Time runs again, for `seat`: everybody has joined, or a bot has moved.
    pub fn resumed(&mut self, at: Time, seat: Seat) {
        self.passed(at, Some(seat));
    }

    /// Gives the running seat time back in this turn, as much of `ms` as [`Clock::credit_left`] allows.
    pub fn credit(&mut self, ms: u64) {
        self.credited_ms = self.credited_ms.saturating_add(ms.min(self.credit_left()));
    }

    /// What the present turn may still be given back; nothing where no time runs.
    pub fn credit_left(&self) -> u64 {
        let most = self.policy.credit_ms.filter(|_| self.running.is_some()).unwrap_or(0);
        most.saturating_sub(self.credited_ms)
    }

    /// Moves were taken back, and the time of `next` runs. `restored` are the banks as they were before
    /// the first of those moves ([`Clock::banks`]); none where nobody knows them.
    ///
    /// Under [`ClockUndo::Restore`] they are so again. Under [`ClockUndo::Keep`] the running seat is charged
    /// for its turn, and nobody has more than they had then: a move that was taken back has earned no
    /// increment, or moving and undoing in turns would make time.
    ///
    /// # Panics
    /// Where `restored` is not of as many seats.
    pub fn undone(&mut self, at: Time, restored: Option<&[Bank]>, next: Option<Seat>) {
        self.passed(at, next);
        let Some(restored) = restored else { return };
        assert_eq!(restored.len(), self.banks.len(), "a bank a seat");
        for (bank, then) in self.banks.iter_mut().zip(restored) {
            *bank = match self.policy.on_undo {
                ClockUndo::Restore => *then,
                ClockUndo::Keep => Bank { ms: bank.ms.min(then.ms), periods: bank.periods.min(then.periods) },
            };
        }
    }

    /// The game is over, and not by a move of the running seat ([`Clock::moved`] to nobody).
    pub fn stopped(&mut self, at: Time) {
        self.passed(at, None);
    }

    /// Of the running seat's own time in this turn.
    fn used(&self, at: Time) -> u64 {
        elapsed(self.since, at).saturating_sub(self.credited_ms)
    }

    fn charge(&mut self, used: u64) {
        if let Some(seat) = self.running {
            let bank = &mut self.banks[seat.index()];
            *bank = self.policy.pace.charged(*bank, used);
        }
    }

    fn earn(&mut self) {
        if let Some(seat) = self.running {
            let bank = &mut self.banks[seat.index()];
            *bank = self.policy.pace.earned(*bank);
        }
    }

    fn hand_over(&mut self, at: Time, next: Option<Seat>) {
        self.since = at;
        self.running = next;
        self.credited_ms = 0;
    }
}

const fn later(time: Time, ms: u64) -> Time {
    Time::from_unix_ms(time.unix_ms().saturating_add(ms))
}

const fn elapsed(from: Time, to: Time) -> u64 {
    to.unix_ms().saturating_sub(from.unix_ms())
}
