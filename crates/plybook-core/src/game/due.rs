//! What happens by time: which deadline a game has, and the entry that settles one which has passed.
//!
//! Invariants: an entry at a deadline is in time and a later one is not; what settles a deadline has the deadline's
//! own time, so that it is the same whoever settles it and whenever; nothing is appended behind a deadline that is
//! not settled.

use crate::clock::IfExpired;
use crate::dice::Seed;
use crate::entry::{Act, Actor, Body, Entry, Incident};
use crate::game::{Game, State};
use crate::header::Principal;
use crate::limits;
use crate::seat::Seat;
use crate::time::Time;

/// What a deadline is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// Seats do their part in joining.
    Joining,
    /// The seat to move moves.
    Turn(Seat),
    /// A seat that is away comes back.
    Presence(Seat),
    /// A finished game is reopened.
    Reopening,
}

impl Game {
    /// The next deadline, and what it is of; nothing where no time runs.
    pub fn due(&self) -> Option<(Time, Due)> {
        let living = &self.living;
        match self.state() {
            State::Closed => None,
            State::Finished => {
                let window = self.header.terms.close_after_ms?;
                Some((Time::from_unix_ms(living.ended?.unix_ms().saturating_add(window)), Due::Reopening))
            }
            State::Active => {
                if let Some(joining) = self.waits_for() {
                    return Some((joining.deadline(), Due::Joining));
                }
                let turn = living.clock.as_ref().and_then(|clock| clock.deadline()).zip(self.to_move());
                let turn = turn.map(|(deadline, seat)| (deadline, Due::Turn(seat)));
                let away = living.presence.as_ref().and_then(|presence| presence.due());
                let away = away.map(|(until, seat)| (until, Due::Presence(seat)));
                // Where both are over at the same moment, the seat to move had its time first.
                turn.into_iter().chain(away).min_by_key(|(deadline, _)| *deadline)
            }
        }
    }

    /// The deadline that has passed by `now`, if one has.
    pub fn overdue(&self, now: Time) -> Option<(Time, Due)> {
        self.due().filter(|(deadline, _)| now > *deadline)
    }

    /// The entry that has to stand before anything else is appended at `now`; nothing where no deadline has
    /// passed. `outages` are the times, from and to, in which no node was there: they are credited to the seat to
    /// move as far as the clock's policy has it.
    pub fn settle(&mut self, now: Time, outages: &[(Time, Time)], seed: &Seed) -> Option<Entry> {
        let (deadline, due) = self.overdue(now)?;
        let body = match due {
            Due::Joining => Body::Absent(self.absence(now)?.0),
            Due::Turn(seat) => {
                let credit = self.credit_due(outages);
                let act = if credit > 0 { Act::Credit(credit) } else { Act::Timeout(seat) };
                Body::Incident(Incident { act, verdict: self.verdict_after(act, None, deadline) })
            }
            Due::Presence(seat) => {
                let act = Act::Forfeit(seat);
                Body::Incident(Incident { act, verdict: self.verdict_after(act, None, deadline) })
            }
            Due::Reopening => Body::Close,
        };
        let actor = Actor { seat: None, by: Principal::service() };
        Some(self.entry(actor, deadline, body, seed))
    }

    /// Milliseconds of these outages that fell into the turn and are not credited yet. An outage that a deadline falls
    /// into puts it off by all of its length, and so maybe into the next one: all at once, so that one entry
    /// credits what there is to credit.
    fn credit_due(&self, outages: &[(Time, Time)]) -> u64 {
        let Some((clock, deadline)) = self.living.clock.as_ref().and_then(|clock| Some((clock, clock.deadline()?))) else { return 0 };
        if self.head.seq.0 >= limits::ENTRIES_MAX {
            return 0;
        }
        let own_time = deadline.unix_ms().saturating_sub(clock.credited_ms());
        let mut outages = outages.to_vec();
        outages.sort_unstable();
        let (mut over, mut out) = (clock.since().unix_ms(), 0u64);
        for (from, to) in outages {
            // Outages that overlap were the same one for so long.
            let from = from.unix_ms().max(over);
            if from >= own_time.saturating_add(out) {
                break;
            }
            out = out.saturating_add(to.unix_ms().saturating_sub(from));
            over = over.max(to.unix_ms());
        }
        out.saturating_sub(clock.credited_ms()).min(clock.credit_left())
    }

    /// Whether an entry of this kind, by the service, settles the deadline that there is now.
    pub(super) fn settles(&self, act: Act, at: Time) -> Result<(), String> {
        let Some((deadline, due)) = self.due() else { return Err("no time runs".to_owned()) };
        let fits = match (act, due) {
            (Act::Timeout(seat), Due::Turn(whose)) | (Act::Forfeit(seat), Due::Presence(whose)) => seat == whose,
            (Act::Credit(ms), Due::Turn(_)) => {
                let left = self.living.clock.as_ref().map_or(0, |clock| clock.credit_left());
                (1..=left).contains(&ms)
            }
            _ => false,
        };
        match fits && at == deadline {
            true => Ok(()),
            false => Err(format!("the next deadline is {deadline}, and what settles it is another entry")),
        }
    }

    /// What the clock's policy does with a seat whose time ran out.
    pub(super) fn if_expired(&self) -> IfExpired {
        self.living.clock.as_ref().map_or(IfExpired::Forfeit, |clock| clock.policy().if_expired)
    }
}
