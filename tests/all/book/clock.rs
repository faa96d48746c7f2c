//! Clocks against one that ticks, and what holds of all of them.
//!
//! The core reckons with whole turns at once. The clock here is the thing on the table: it falls by a
//! millisecond each millisecond, and does something when it is pressed.

use plybook_core::clock::{Clock, ClockPolicy, ClockUndo, IfExpired, Pace};
use plybook_core::limits::{BYO_YOMI_PERIODS_MAX, CLOCK_DAYS_MAX, CLOCK_MS_MAX};
use plybook_core::{Seat, Time};
use plybook_tests::random::{Random, repeat};

const START: Time = Time::from_unix_ms(1_700_000_000_000);

fn after(time: Time, ms: u64) -> Time {
    Time::from_unix_ms(time.unix_ms() + ms)
}

/// Not further than `most`, and often at an end.
fn number(random: &mut Random, least: u64, most: u64) -> u64 {
    match random.below(8) {
        0 => least,
        1 => most,
        _ => least + random.below(most - least + 1),
    }
}

/// Policies whose times are `most` at most.
fn policy(random: &mut Random, most: u64) -> ClockPolicy {
    let periods_max = BYO_YOMI_PERIODS_MAX.min(u32::try_from(most).unwrap_or(u32::MAX));
    let pace = match random.below(5) {
        0 => Pace::PerMove { ms: number(random, 1, most) },
        1 => Pace::Fischer { total_ms: number(random, 1, most), increment_ms: number(random, 0, most) },
        2 => Pace::Bronstein { total_ms: number(random, 1, most), delay_ms: number(random, 0, most) },
        3 => {
            let periods = number(random, 1, periods_max.into()) as u32;
            Pace::ByoYomi { main_ms: number(random, 0, most), period_ms: number(random, 1, most), periods }
        }
        _ => Pace::Correspondence { days: number(random, 1, CLOCK_DAYS_MAX.into()) as u32 },
    };
    let expiries: &[IfExpired] =
        if pace.renews() { &[IfExpired::Skip, IfExpired::Bot, IfExpired::Forfeit] } else { &[IfExpired::Bot, IfExpired::Forfeit] };
    let credit_ms = random.once_in(2).then(|| number(random, 1, most));
    ClockPolicy { pace, if_expired: *random.pick(expiries), on_undo: *random.pick(&[ClockUndo::Restore, ClockUndo::Keep]), credit_ms }
}

/// The clock on the table: one seat's.
#[derive(Clone, Debug)]
struct Ticking {
    pace: Pace,
    /// Stock, main time, or the turn's time.
    ms: u64,
    /// Periods that have not begun.
    periods: u32,
    /// Of the period that runs; none in main time.
    period: Option<u64>,
    /// Ticks of this turn.
    ticks: u64,
    /// Ticks that it yet stands still.
    still: u64,
    fallen: bool,
}

impl Ticking {
    fn new(pace: Pace) -> Ticking {
        let (ms, periods) = match pace {
            Pace::PerMove { ms } => (ms, 0),
            Pace::Fischer { total_ms, .. } | Pace::Bronstein { total_ms, .. } => (total_ms, 0),
            Pace::ByoYomi { main_ms, periods, .. } => (main_ms, periods),
            Pace::Correspondence { days } => (u64::from(days) * 24 * 3_600_000, 0),
        };
        Ticking { pace, ms, periods, period: None, ticks: 0, still: 0, fallen: false }
    }

    fn tick(&mut self) {
        if self.still > 0 {
            self.still -= 1;
            return;
        }
        self.ticks += 1;
        if self.ms > 0 {
            self.ms -= 1;
        } else if let Pace::ByoYomi { period_ms, .. } = self.pace {
            if self.period.is_none_or(|left| left == 0) {
                if self.periods == 0 {
                    self.fallen = true;
                    return;
                }
                self.periods -= 1;
                self.period = Some(period_ms);
            }
            self.period = self.period.map(|left| left - 1);
        } else {
            self.fallen = true;
        }
    }

    /// The turn is over.
    fn press(&mut self, moved: bool) {
        match self.pace {
            Pace::PerMove { .. } | Pace::Correspondence { .. } => self.ms = Ticking::new(self.pace).ms,
            Pace::Fischer { increment_ms, .. } => self.ms += if moved { increment_ms } else { 0 },
            Pace::Bronstein { delay_ms, .. } => self.ms += delay_ms.min(self.ticks),
            // The period that ran begins anew.
            Pace::ByoYomi { .. } => self.periods += u32::from(self.period.take().is_some()),
        }
        (self.ticks, self.still) = (0, 0);
    }

    /// This clock, at which a turn began, had it stood still for so long and gone on then.
    fn replayed(&self, still: u64, ticks: u64) -> Ticking {
        let mut ticking = Ticking { still, ..self.clone() };
        (0..ticks).for_each(|_| ticking.tick());
        ticking
    }

    fn left(&self) -> (u64, u32) {
        (self.ms + self.still + self.period.unwrap_or(0), self.periods)
    }
}

#[test]
fn a_clock_goes_as_one_that_ticks() {
    let mut expiries = 0;
    repeat(2_000, |random| {
        let policy = policy(random, 40);
        let seats = 1 + random.below(3) as u8;
        let mut table: Vec<Ticking> = (0..seats).map(|_| Ticking::new(policy.pace)).collect();
        let mut now = START;
        let mut seat = Seat(random.below(seats.into()) as u8);
        let mut clock = Clock::new(policy, seats, now, Some(seat));
        for _ in 0..20 {
            let begun = table[seat.index()].clone();
            for _ in 0..random.below(60) {
                let mut ticked = table[seat.index()].clone();
                ticked.tick();
                assert_eq!(ticked.fallen, after(now, 1) > clock.deadline().unwrap(), "{policy}");
                if ticked.fallen {
                    break;
                }
                table[seat.index()] = ticked;
                now = after(now, 1);
                for (seat, ticking) in table.iter().enumerate() {
                    let left = clock.remaining(Seat(seat as u8), now);
                    assert_eq!((left.ms, left.periods), ticking.left(), "{policy}");
                }
                if random.once_in(30) && clock.credit_left() > 0 {
                    clock.credit(1 + random.below(clock.credit_left()));
                    table[seat.index()] = begun.replayed(clock.credited_ms(), now.unix_ms() - clock.since().unix_ms());
                }
            }
            let next = Seat(random.below(seats.into()) as u8);
            if clock.deadline() == Some(now) && policy.if_expired != IfExpired::Forfeit && random.once_in(2) {
                clock.expired(Some(next));
                table[seat.index()].press(true);
                expiries += 1;
            } else if random.once_in(6) {
                clock.passed(now, Some(next));
                table[seat.index()].press(false);
            } else {
                clock.moved(now, Some(next));
                table[seat.index()].press(true);
            }
            assert_eq!((clock.running(), clock.since(), clock.credited_ms()), (Some(next), now, 0));
            seat = next;
        }
    });
    assert!(expiries > 100 || std::env::var_os("PLYBOOK_RANDOM").is_some(), "{expiries}: times do run out");
}

/// Any event that a game has while time runs, at a time that is in time.
fn step(random: &mut Random, clock: &mut Clock, seats: u8) -> Time {
    let deadline = clock.deadline().unwrap();
    let at = after(clock.since(), number(random, 0, deadline.unix_ms() - clock.since().unix_ms()));
    let next = Some(Seat(random.below(seats.into()) as u8));
    match random.below(5) {
        0 => clock.passed(at, next),
        1 => clock.expired(next),
        2 => {
            clock.stopped(at);
            clock.resumed(after(at, random.below(1_000)), Seat(random.below(seats.into()) as u8));
        }
        3 => clock.undone(at, None, next),
        _ => clock.moved(at, next),
    }
    clock.since()
}

fn all_left(clock: &Clock, at: Time, seats: u8) -> Vec<u64> {
    (0..seats).map(|seat| clock.remaining_ms(Seat(seat), at)).collect()
}

#[test]
fn time_that_passes_is_the_running_seats() {
    repeat(3_000, |random| {
        let most = *random.pick(&[100, CLOCK_MS_MAX]);
        let policy = policy(random, most);
        let seats = 1 + random.below(8) as u8;
        let mut clock = Clock::new(policy, seats, START, Some(Seat(random.below(seats.into()) as u8)));
        for _ in 0..30 {
            if random.once_in(3) {
                clock.credit(random.below(CLOCK_MS_MAX));
            }
            let (seat, since, deadline) = (clock.running().unwrap(), clock.since(), clock.deadline().unwrap());
            let begun = all_left(&clock, since, seats);
            assert_eq!(deadline, after(since, begun[seat.index()]), "{policy}");
            let at = after(since, number(random, 0, begun[seat.index()]));
            let mut expected = begun.clone();
            expected[seat.index()] -= at.unix_ms() - since.unix_ms();
            assert_eq!(all_left(&clock, at, seats), expected, "{policy}: what passed is charged, and to nobody else");
            assert_eq!(clock.remaining_ms(seat, after(deadline, 1 + random.below(1_000))), 0, "{policy}: never below nothing");
            step(random, &mut clock, seats);
        }
    });
}

#[test]
fn a_stock_is_what_is_used_of_it_and_what_is_left() {
    repeat(2_000, |random| {
        let total_ms = number(random, 1, 10_000);
        let (increment_ms, delay_ms) = (random.below(500), random.below(500));
        for pace in [Pace::Fischer { total_ms, increment_ms }, Pace::Bronstein { total_ms, delay_ms }] {
            let policy = ClockPolicy { pace, if_expired: IfExpired::Bot, on_undo: ClockUndo::Keep, credit_ms: Some(300) };
            let mut clock = Clock::new(policy, 2, START, Some(Seat(0)));
            let (mut used, mut given) = ([0, 0], [0, 0]);
            for _ in 0..20 {
                clock.credit(random.below(400));
                let (seat, since, credited) = (clock.running().unwrap(), clock.since(), clock.credited_ms());
                let at = after(since, number(random, 0, clock.remaining_ms(seat, since)));
                let turn = (at.unix_ms() - since.unix_ms()).saturating_sub(credited);
                let moves = random.once_in(2);
                let next = Some(Seat(random.below(2) as u8));
                if moves {
                    clock.moved(at, next)
                } else {
                    clock.passed(at, next)
                }
                used[seat.index()] += turn;
                given[seat.index()] += match pace {
                    Pace::Fischer { .. } if moves => increment_ms,
                    Pace::Bronstein { .. } => delay_ms.min(turn),
                    _ => 0,
                };
                let left: Vec<u64> = clock.banks().iter().map(|bank| bank.ms).collect();
                assert_eq!(left, [0, 1].map(|seat| total_ms + given[seat] - used[seat]), "{policy}");
            }
        }
    });
}

#[test]
fn an_undo_leads_back() {
    repeat(3_000, |random| {
        let policy = policy(random, 1_000);
        let seats = 1 + random.below(8) as u8;
        let mut clock = Clock::new(policy, seats, START, Some(Seat(random.below(seats.into()) as u8)));
        for _ in 0..random.below(5) {
            step(random, &mut clock, seats);
        }
        let before = clock.clone();
        for _ in 0..random.below(10) {
            clock.credit(random.below(100));
            step(random, &mut clock, seats);
        }
        if random.once_in(3) {
            clock.stopped(clock.since());
        }
        let at = clock.deadline().unwrap_or(after(clock.since(), 5_000));
        clock.undone(at, Some(before.banks()), before.running());
        let back = before.running().unwrap();
        match policy.on_undo {
            ClockUndo::Restore => {
                let left = |clock: &Clock| all_left(clock, clock.since(), seats);
                assert_eq!((left(&clock), clock.running(), clock.since()), (left(&before), Some(back), at), "{policy}");
                assert_eq!((clock.banks(), clock.credited_ms()), (before.banks(), 0), "{policy}");
            }
            ClockUndo::Keep => {
                let more = clock.banks().iter().zip(before.banks()).any(|(now, then)| now.ms > then.ms || now.periods > then.periods);
                assert!(!more, "{policy}: nobody has gained");
                assert_eq!((clock.running(), clock.since(), clock.credited_ms()), (Some(back), at, 0), "{policy}");
            }
        }
    });
}

#[test]
fn a_seat_that_is_skipped_has_time_again() {
    repeat(2_000, |random| {
        let policy = ClockPolicy { if_expired: IfExpired::Skip, ..policy(random, 1_000) };
        if policy.check().is_err() {
            return;
        }
        let mut clock = Clock::new(policy, 2, START, Some(Seat(0)));
        for _ in 0..20 {
            if random.once_in(2) {
                step(random, &mut clock, 2);
            }
            let seat = clock.running().unwrap();
            clock.expired(Some(Seat(1 - seat.0)));
            assert!(clock.remaining_ms(seat, clock.since()) > 0, "{policy}");
        }
    });
}

#[test]
fn policies_print_and_parse() {
    repeat(5_000, |random| {
        let policy = policy(random, CLOCK_MS_MAX);
        let text = policy.to_string();
        assert_eq!(policy.check(), Ok(()), "{text}");
        assert_eq!(ClockPolicy::parse(&text), Ok(policy), "{text}");
        let mut words: Vec<&str> = text.split(' ').collect();
        let at = random.below(words.len() as u64) as usize;
        match random.below(3) {
            0 => {
                words[at] = *random.pick(&["0", "00", "", "-1", "skip", "keep", "fischer", "credit", "31622400001", "18446744073709551616"])
            }
            1 => drop(words.remove(at)),
            _ => words.insert(at, *random.pick(&["5", "", "forfeit", "credit"])),
        }
        let damaged = words.join(" ");
        if let Ok(read) = ClockPolicy::parse(&damaged) {
            assert_eq!(read.to_string(), damaged, "what is read prints the same");
            assert_eq!(read.check(), Ok(()), "{damaged}");
        }
    });
}
