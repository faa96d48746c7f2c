//! Who is at the table and who is away, as the calling service reports it.
//!
//! Invariants: a grace runs only while somebody else is there to wait: where everybody is away nothing is lost, and
//! whoever is still away when somebody comes back has the whole grace again. Nobody is judged absent without an
//! entry that says since when.

use std::fmt;

use crate::limits;
use crate::packing::{Damaged, Packer, Unpacker};
use crate::scan;
use crate::seat::{Seat, SeatSet};
use crate::time::Time;

/// What becomes of a seat that is away for longer than the grace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IfAway {
    /// It leaves the game.
    Forfeit,
    /// Whoever is there may have the game end in a draw, once all others are away for so long.
    ClaimDraw,
    /// Whoever is there may have it leave, or have the draw.
    ClaimWin,
}

impl IfAway {
    const WORDS: [(&'static str, IfAway); 3] =
        [("forfeit", IfAway::Forfeit), ("claim_draw", IfAway::ClaimDraw), ("claim_win", IfAway::ClaimWin)];
}

/// How long a seat may be away, and what then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AbsencePolicy {
    /// Milliseconds, 1 to [`limits::GRACE_MS_MAX`].
    pub grace_ms: u64,
    /// What then.
    pub then: IfAway,
}

impl AbsencePolicy {
    /// Reads what is printed.
    pub(crate) fn parse(text: &str) -> Result<AbsencePolicy, scan::Why> {
        let (grace, word) = text.split_once(' ').ok_or_else(|| format!("{text:?} is no policy of absence"))?;
        let then = IfAway::WORDS.iter().find(|(known, _)| *known == word).map(|(_, then)| *then);
        let then = then.ok_or_else(|| format!("{word:?} does not become of a seat that is away"))?;
        Ok(AbsencePolicy { grace_ms: scan::number(grace)?, then })
    }

    /// Whether a header may have it.
    pub fn check(&self) -> Result<(), String> {
        if (1..=limits::GRACE_MS_MAX).contains(&self.grace_ms) {
            return Ok(());
        }
        Err(format!("a grace has 1 to {} milliseconds", limits::GRACE_MS_MAX))
    }
}

/// As in a header: `60000 forfeit`.
impl fmt::Display for AbsencePolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = IfAway::WORDS.iter().find(|(_, then)| *then == self.then).map_or("", |(word, _)| word);
        write!(f, "{} {word}", self.grace_ms)
    }
}

/// A seat that is away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Away {
    /// Since when.
    pub since: Time,
    /// From when the grace runs; nothing while nobody is there to wait.
    pub counts_from: Option<Time>,
}

/// Why somebody may not claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClaimRefusal {
    /// The game's policy gives no such claim.
    #[error("the game's policy gives no such claim")]
    Policy,
    /// The seat that claims is a bot's, or is away itself.
    #[error("who claims must be at the table")]
    NotThere,
    /// Nobody is away, or not everybody else, where that is asked.
    #[error("the others are not away")]
    NobodyAway,
    /// The grace is not over.
    #[error("the grace runs until {until}")]
    Grace {
        /// Its last moment.
        until: Time,
    },
}

impl ClaimRefusal {
    /// The word in the contract.
    pub const fn code(self) -> &'static str {
        match self {
            ClaimRefusal::Policy => "POLICY",
            ClaimRefusal::NotThere => "NOT_THERE",
            ClaimRefusal::NobodyAway => "NOBODY_AWAY",
            ClaimRefusal::Grace { .. } => "GRACE",
        }
    }
}

/// Who is away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Presence {
    policy: AbsencePolicy,
    /// Those who can be away: at the table, and no bots.
    people: SeatSet,
    away: Vec<Option<Away>>,
    reports: u32,
}

impl Presence {
    /// Everybody is there.
    pub fn new(policy: AbsencePolicy, seats: u8, people: SeatSet) -> Presence {
        Presence { policy, people, away: vec![None; usize::from(seats)], reports: 0 }
    }

    /// Since when a seat is away, if it is.
    pub fn away(&self, seat: Seat) -> Option<Away> {
        self.away[seat.index()]
    }

    /// How often somebody was reported away or back.
    pub const fn reports(&self) -> u32 {
        self.reports
    }

    /// The last moment of the grace of a seat that is away, where it runs.
    pub fn grace_until(&self, seat: Seat) -> Option<Time> {
        let from = self.away(seat)?.counts_from?;
        Some(Time::from_unix_ms(from.unix_ms().saturating_add(self.policy.grace_ms)))
    }

    /// The next seat to leave by itself, and the last moment of its grace.
    pub fn due(&self) -> Option<(Time, Seat)> {
        if self.policy.then != IfAway::Forfeit {
            return None;
        }
        self.people.iter().filter_map(|seat| Some((self.grace_until(seat)?, seat))).min()
    }

    /// The seats whose grace is over.
    pub fn overdue(&self, at: Time) -> SeatSet {
        self.people.iter().filter(|seat| self.grace_until(*seat).is_some_and(|until| at > until)).collect()
    }

    /// Whether `seat` may have everybody leave whose grace is over; answers whom.
    pub fn check_claim_win(&self, seat: Seat, at: Time) -> Result<SeatSet, ClaimRefusal> {
        if self.policy.then != IfAway::ClaimWin {
            return Err(ClaimRefusal::Policy);
        }
        let others = self.others(seat)?;
        match (self.overdue(at), self.first_grace(others)) {
            (overdue, Some(until)) if overdue.is_empty() => Err(ClaimRefusal::Grace { until }),
            (overdue, None) if overdue.is_empty() => Err(ClaimRefusal::NobodyAway),
            (overdue, _) => Ok(overdue),
        }
    }

    /// Whether `seat` may end the game in a draw, since all others are away for too long.
    pub fn check_claim_draw(&self, seat: Seat, at: Time) -> Result<(), ClaimRefusal> {
        if self.policy.then == IfAway::Forfeit {
            return Err(ClaimRefusal::Policy);
        }
        let others = self.others(seat)?;
        if others.is_empty() || others.iter().any(|other| self.away(other).is_none()) {
            return Err(ClaimRefusal::NobodyAway);
        }
        match others.iter().filter_map(|other| self.grace_until(other)).max() {
            Some(until) if at <= until => Err(ClaimRefusal::Grace { until }),
            _ => Ok(()),
        }
    }

    fn others(&self, seat: Seat) -> Result<SeatSet, ClaimRefusal> {
        let there = self.people.contains(seat) && self.away(seat).is_none();
        if there { Ok(self.people.without(seat)) } else { Err(ClaimRefusal::NotThere) }
    }

    fn first_grace(&self, seats: SeatSet) -> Option<Time> {
        seats.iter().filter_map(|seat| self.grace_until(seat)).min()
    }

    /// A seat is reported away.
    pub(crate) fn leaves(&mut self, seat: Seat, at: Time) {
        self.reports += 1;
        self.away[seat.index()] = Some(Away { since: at, counts_from: None });
        self.count(at);
    }

    /// A seat is there: by a report, or because it acted.
    pub(crate) fn is_back(&mut self, seat: Seat, at: Time, reported: bool) {
        self.reports += u32::from(reported);
        self.away[seat.index()] = None;
        self.count(at);
    }

    /// Only these people are at the table from now on.
    pub(crate) fn remain(&mut self, people: SeatSet, at: Time) {
        self.people = people;
        for seat in (0..self.away.len()).map(|seat| Seat(seat as u8)).filter(|seat| !people.contains(*seat)) {
            self.away[seat.index()] = None;
        }
        self.count(at);
    }

    /// The game goes on after its end: who is away has the whole grace again, since none ran meanwhile.
    pub(crate) fn begin_again(&mut self, at: Time) {
        self.away.iter_mut().flatten().for_each(|away| away.counts_from = None);
        self.count(at);
    }

    /// Graces run while somebody is there, and not otherwise.
    fn count(&mut self, at: Time) {
        let somebody = self.people.iter().any(|seat| self.away[seat.index()].is_none());
        for away in self.away.iter_mut().flatten() {
            away.counts_from = if somebody { away.counts_from.or(Some(at)) } else { None };
        }
    }

    pub(crate) fn pack(&self, out: &mut Packer) {
        out.number(self.reports);
        for away in &self.away {
            let counts = away.and_then(|away| away.counts_from);
            out.number(u8::from(away.is_some()) + u8::from(counts.is_some()));
            away.iter().map(|away| away.since).chain(counts).for_each(|time| out.number(time.unix_ms()));
        }
    }

    /// `policy` and `people` are the game's.
    pub(crate) fn unpack(policy: AbsencePolicy, seats: u8, people: SeatSet, from: &mut Unpacker<'_>) -> Result<Presence, Damaged> {
        let reports = from.number()?;
        let away = (0..seats).map(|_| unpack_away(from)).collect::<Result<_, _>>()?;
        Ok(Presence { policy, people, away, reports })
    }
}

fn unpack_away(from: &mut Unpacker<'_>) -> Result<Option<Away>, Damaged> {
    let times = match from.byte()? {
        times @ 0..=2 => times,
        _ => return Err(Damaged),
    };
    let mut time = || Ok(Time::from_unix_ms(from.long()?));
    if times == 0 {
        return Ok(None);
    }
    Ok(Some(Away { since: time()?, counts_from: if times == 2 { Some(time()?) } else { None } }))
}
