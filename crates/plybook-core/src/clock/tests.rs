//! Each pace to the millisecond, by hand.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use super::*;
use crate::limits::{BYO_YOMI_PERIODS_MAX, CLOCK_DAYS_MAX, CLOCK_MS_MAX};
use crate::packing::{Packer, Unpacker};

const START: Time = Time::from_unix_ms(1_000_000_000_000);
const ME: Seat = Seat(0);

/// What happens in a turn.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// Nothing: somebody looks.
    Look,
    Move,
    Pass,
    Credit(u64),
    Expire,
    /// An undo that is given the banks of the start.
    Undo,
    /// An undo that is given none.
    UndoBlind,
}
use Event::{Credit, Expire, Look, Move, Pass, Undo, UndoBlind};

/// One seat plays on its own, turn after turn. Each row: the time since its turn began, what happens
/// then, and what it has left after that, in milliseconds and periods.
#[track_caller]
fn check(policy: &str, rows: &[(u64, Event, (u64, u32))]) {
    let mut clock = Clock::new(ClockPolicy::parse(policy).unwrap(), 1, START, Some(ME));
    let first = clock.banks().to_vec();
    for (row, (after, event, left)) in rows.iter().enumerate() {
        let mut at = later(clock.since(), *after);
        match event {
            Look => {}
            Move => clock.moved(at, Some(ME)),
            Pass => clock.passed(at, Some(ME)),
            Credit(ms) => clock.credit(*ms),
            Expire => {
                assert_eq!(clock.deadline(), Some(at), "{policy}, row {row}: it expires at its deadline");
                clock.expired(Some(ME));
            }
            Undo => clock.undone(at, Some(&first), Some(ME)),
            UndoBlind => clock.undone(at, None, Some(ME)),
        }
        let remaining = clock.remaining(ME, at);
        assert_eq!((remaining.ms, remaining.periods), *left, "{policy}, row {row}: {event:?} after {after} ms");
        if clock.remaining_ms(ME, at) > 0 {
            at = later(at, clock.remaining_ms(ME, at));
            assert_eq!(clock.deadline(), Some(at), "{policy}, row {row}");
        }
    }
}

#[test]
fn each_move_has_its_time() {
    check(
        "per_move 30000 skip restore credit 5000",
        &[
            (0, Look, (30_000, 0)),
            (29_999, Look, (1, 0)),
            (30_000, Look, (0, 0)),
            (30_001, Look, (0, 0)),
            (30_000, Move, (30_000, 0)),
            (30_000, Expire, (30_000, 0)),
            (1, Pass, (30_000, 0)),
            (30_000, Credit(4_000), (4_000, 0)),
            (34_000, Credit(4_000), (1_000, 0)),
            (35_000, Expire, (30_000, 0)),
            (20_000, Undo, (30_000, 0)),
        ],
    );
    check(
        "correspondence 3 forfeit keep",
        &[(0, Look, (259_200_000, 0)), (259_199_999, Move, (259_200_000, 0)), (1, Look, (259_199_999, 0))],
    );
    check("correspondence 3 forfeit keep", &[(1_000, Move, (259_200_000, 0)), (259_200_000, Expire, (0, 0))]);
}

#[test]
fn an_increment_is_for_a_move() {
    check(
        "fischer 60000 3000 skip keep credit 1000",
        &[
            (10_000, Look, (50_000, 0)),
            (10_000, Move, (53_000, 0)),
            (1, Move, (55_999, 0)),
            (999, Pass, (55_000, 0)),
            (5_000, UndoBlind, (50_000, 0)),
            (0, Move, (53_000, 0)),
            (0, Credit(1_000), (54_000, 0)),
            // What is credited stands still; what is not used of it is gone.
            (400, Look, (53_600, 0)),
            (400, Move, (56_000, 0)),
            (56_000, Look, (0, 0)),
            (56_000, Credit(600), (600, 0)),
            (56_600, Expire, (3_000, 0)),
            (3_000, Move, (3_000, 0)),
        ],
    );
    check("fischer 5000 0 bot restore", &[(5_000, Expire, (0, 0)), (0, Expire, (0, 0))]);
    check("fischer 5000 2000 forfeit restore", &[(1_000, Move, (6_000, 0)), (6_000, Expire, (0, 0))]);
}

#[test]
fn a_delay_is_given_back() {
    check(
        "bronstein 10000 2000 skip keep credit 500",
        &[
            (1_999, Look, (8_001, 0)),
            (1_999, Move, (10_000, 0)),
            (2_000, Move, (10_000, 0)),
            (2_001, Move, (9_999, 0)),
            (2_000, Pass, (9_999, 0)),
            (2_999, UndoBlind, (9_000, 0)),
            // The time is up when the stock is used up, although a move would have given time back.
            (8_999, Look, (1, 0)),
            (9_000, Move, (2_000, 0)),
            (2_000, Expire, (2_000, 0)),
            (1_500, Credit(500), (1_000, 0)),
            (2_500, Expire, (2_000, 0)),
        ],
    );
    check("bronstein 1000 5000 skip keep", &[(1_000, Move, (1_000, 0)), (1_000, Expire, (1_000, 0))]);
    check("bronstein 1000 0 bot keep", &[(400, Move, (600, 0)), (600, Expire, (0, 0))]);
}

#[test]
fn a_period_is_lost_beyond_its_end() {
    check(
        "byo_yomi 10000 3000 3 skip keep credit 700",
        &[
            (9_999, Look, (1, 3)),
            (10_000, Look, (0, 3)),
            (10_001, Look, (2_999, 2)),
            (13_000, Look, (0, 2)),
            (13_001, Look, (2_999, 1)),
            (19_000, Look, (0, 0)),
            (4_000, Move, (6_000, 3)),
            (6_001, Move, (0, 3)),
            (3_000, Move, (0, 3)),
            (3_001, Move, (0, 2)),
            (1, Pass, (0, 2)),
            (0, Credit(700), (700, 2)),
            (3_700, Move, (0, 2)),
            (6_000, Expire, (0, 1)),
            (3_000, Move, (0, 1)),
            (3_000, Expire, (0, 1)),
            (2_999, UndoBlind, (0, 1)),
        ],
    );
    check("byo_yomi 10000 3000 3 bot keep", &[(16_001, Move, (0, 1))]);
    check("byo_yomi 10000 3000 3 bot keep", &[(16_000, Move, (0, 2))]);
    check("byo_yomi 0 3000 1 forfeit keep", &[(0, Look, (0, 1)), (1, Look, (2_999, 0)), (3_000, Move, (0, 1)), (3_000, Expire, (0, 0))]);
}

#[test]
fn an_undo_restores_or_keeps() {
    check(
        "fischer 60000 3000 forfeit restore",
        &[(10_000, Move, (53_000, 0)), (20_000, Undo, (60_000, 0)), (7_000, Undo, (60_000, 0)), (7_000, UndoBlind, (53_000, 0))],
    );
    // What was used stays used; what the moves that go had earned does not stay.
    check("fischer 60000 3000 forfeit keep", &[(10_000, Move, (53_000, 0)), (20_000, Undo, (33_000, 0))]);
    check(
        "fischer 60000 3000 forfeit keep",
        &[(1_000, Move, (62_000, 0)), (0, Undo, (60_000, 0)), (1_000, Move, (62_000, 0)), (500, Undo, (60_000, 0))],
    );
    check("bronstein 9000 2000 forfeit restore", &[(5_000, Move, (6_000, 0)), (1, Undo, (9_000, 0))]);
    check("bronstein 9000 2000 forfeit keep", &[(5_000, Move, (6_000, 0)), (2_001, Undo, (5_999, 0))]);
    check("byo_yomi 100 50 3 bot restore", &[(160, Move, (0, 2)), (60, Undo, (100, 3))]);
    check("byo_yomi 100 50 3 bot keep", &[(160, Move, (0, 2)), (60, Undo, (0, 1))]);
    check("per_move 100 bot keep", &[(60, Move, (100, 0)), (60, Undo, (100, 0)), (100, Expire, (100, 0))]);
}

#[test]
fn one_seat_runs_at_a_time() {
    let policy = ClockPolicy::parse("fischer 60000 1000 bot keep credit 2000").unwrap();
    let at = |ms| later(START, ms);
    let left = |clock: &Clock, ms| [0, 1, 2].map(|seat| clock.remaining_ms(Seat(seat), at(ms)));
    let mut clock = Clock::new(policy, 3, START, None);
    assert_eq!((clock.deadline(), clock.credit_left(), left(&clock, 90_000)), (None, 0, [60_000; 3]), "nobody has joined");
    clock.credit(500);
    clock.expired(Some(Seat(2)));
    assert_eq!(clock, Clock::new(policy, 3, START, None), "nobody's time can be credited or expire");
    clock.resumed(at(5_000), Seat(1));
    assert_eq!((clock.running(), clock.deadline()), (Some(Seat(1)), Some(at(65_000))));
    clock.moved(at(7_000), Some(Seat(2)));
    clock.credit(1_500);
    assert_eq!((clock.credit_left(), clock.deadline()), (500, Some(at(68_500))));
    clock.credit(1_500);
    assert_eq!((clock.credit_left(), clock.credited_ms(), clock.deadline()), (0, 2_000, Some(at(69_000))));
    clock.expired(None);
    assert_eq!((clock.since(), clock.running(), clock.credit_left()), (at(69_000), None, 0), "a bot moves");
    assert_eq!(left(&clock, 80_000), [60_000, 59_000, 1_000]);
    clock.resumed(at(80_000), Seat(0));
    assert_eq!(clock.credit_left(), 2_000, "every turn has its own");
    clock.passed(at(80_500), Some(Seat(1)));
    clock.stopped(at(81_000));
    assert_eq!((clock.running(), clock.deadline(), left(&clock, 99_000)), (None, None, [59_500, 58_500, 1_000]));
    clock.undone(at(99_000), None, Some(Seat(2)));
    assert_eq!((clock.deadline(), left(&clock, 99_400)), (Some(at(100_000)), [59_500, 58_500, 600]));
}

#[test]
fn time_ends_with_the_year_9999() {
    let end = Time::from_unix_ms(u64::MAX);
    for pace in [
        Pace::PerMove { ms: u64::MAX },
        Pace::Fischer { total_ms: u64::MAX, increment_ms: u64::MAX },
        Pace::Bronstein { total_ms: u64::MAX, delay_ms: 1 },
        Pace::ByoYomi { main_ms: u64::MAX, period_ms: u64::MAX, periods: u32::MAX },
        Pace::ByoYomi { main_ms: 0, period_ms: 0, periods: u32::MAX },
        Pace::Correspondence { days: u32::MAX },
    ] {
        let policy = ClockPolicy { pace, if_expired: IfExpired::Bot, on_undo: ClockUndo::Keep, credit_ms: Some(u64::MAX) };
        for start in [Time::from_unix_ms(0), START, end] {
            let mut clock = Clock::new(policy, 1, start, Some(ME));
            clock.credit(u64::MAX);
            assert_eq!(clock.deadline(), Some(end), "{pace}");
            clock.moved(end, Some(ME));
            clock.moved(start, Some(ME));
            clock.expired(Some(ME));
            clock.moved(end, Some(ME));
            assert!(clock.deadline() >= Some(start), "{pace}");
        }
    }
    let policy = ClockPolicy::parse("per_move 1000 skip keep").unwrap();
    let mut clock = Clock::new(policy, 1, Time::from_unix_ms(end.unix_ms() - 400), Some(ME));
    assert_eq!(clock.deadline(), Some(end));
    clock.expired(Some(ME));
    assert_eq!((clock.since(), clock.deadline(), clock.remaining_ms(ME, end)), (end, Some(end), 1_000));
}

#[track_caller]
fn refused(text: &str, why: &str) {
    assert_eq!(ClockPolicy::parse(text), Err(why.to_owned()), "{text:?}");
}

#[test]
fn policies_are_checked() {
    let most = CLOCK_MS_MAX;
    for text in [
        format!("per_move {most} skip restore credit {most}"),
        format!("fischer {most} {most} skip keep credit 1"),
        format!("bronstein {most} {most} skip keep"),
        format!("byo_yomi {most} {most} {BYO_YOMI_PERIODS_MAX} skip keep"),
        format!("correspondence {CLOCK_DAYS_MAX} skip keep"),
        "per_move 1 forfeit restore".to_owned(),
        "fischer 1 0 bot restore".to_owned(),
        "bronstein 1 0 forfeit restore".to_owned(),
        "byo_yomi 0 1 1 skip restore".to_owned(),
        "correspondence 1 bot restore".to_owned(),
    ] {
        assert_eq!(ClockPolicy::parse(&text).unwrap().to_string(), text);
    }
    refused("per_move 0 bot keep", "the time for a move is 1 to 31622400000 ms, not 0");
    refused("per_move 31622400001 bot keep", "the time for a move is 1 to 31622400000 ms, not 31622400001");
    refused("fischer 0 5 bot keep", "the total time is 1 to 31622400000 ms, not 0");
    refused("fischer 5 31622400001 bot keep", "the increment is 0 to 31622400000 ms, not 31622400001");
    refused("bronstein 0 5 bot keep", "the total time is 1 to 31622400000 ms, not 0");
    refused("bronstein 5 31622400001 bot keep", "the delay is 0 to 31622400000 ms, not 31622400001");
    refused("byo_yomi 31622400001 5 1 bot keep", "the main time is 0 to 31622400000 ms, not 31622400001");
    refused("byo_yomi 5 0 1 bot keep", "a period is 1 to 31622400000 ms, not 0");
    refused("byo_yomi 5 5 0 bot keep", "the number of periods is 1 to 100, not 0");
    refused("byo_yomi 5 5 101 bot keep", "the number of periods is 1 to 100, not 101");
    refused("correspondence 0 bot keep", "the time for a move is 1 to 366 days, not 0");
    refused("correspondence 367 bot keep", "the time for a move is 1 to 366 days, not 367");
    refused("per_move 5 bot keep credit 0", "the credit is 1 to 31622400000 ms, not 0");
    let ever = "a seat that has used up all its time would be skipped for ever: its turns need time of their own";
    refused("fischer 5 0 skip keep", ever);
    refused("bronstein 5 0 skip keep", ever);
}

#[test]
fn policies_are_read_in_one_way() {
    refused("", "\"\" is none of per_move, fischer, bronstein, byo_yomi, correspondence");
    refused("sand 5 bot keep", "\"sand\" is none of per_move, fischer, bronstein, byo_yomi, correspondence");
    refused("per_move", "the time for a move is missing");
    refused("fischer 5", "the increment is missing");
    refused("fischer 5 bot keep", "\"bot\" is not a number");
    refused("per_move 05 bot keep", "\"05\" is not a number");
    refused("per_move +5 bot keep", "\"+5\" is not a number");
    refused("per_move 99999999999999999999 bot keep", "99999999999999999999 is too large");
    refused("byo_yomi 5 5 4294967296 bot keep", "4294967296 is too large");
    refused("per_move 5", "what happens when time is over is missing");
    refused("per_move 5 win keep", "\"win\" is none of forfeit, skip, bot");
    refused("per_move 5 bot", "what an undo does to the clocks is missing");
    refused("per_move 5 bot redo", "\"redo\" is none of restore, keep");
    refused("per_move  5 bot keep", "\"\" is not a number");
    refused("per_move 5 bot keep ", "\"\" is not \"credit\"");
    refused("per_move 5 bot keep credit", "the credit is missing");
    refused("per_move 5 bot keep credit 5 ", "something follows the clock");
    refused("per_move 5 bot keep\n", "\"keep\\n\" is none of restore, keep");
}

#[test]
fn what_is_packed_unpacks() {
    let policy = ClockPolicy::parse("byo_yomi 500 30 3 skip restore credit 400").unwrap();
    let mut clock = Clock::new(policy, 3, START, Some(Seat(2)));
    for step in 0..4 {
        let mut out = Packer::default();
        clock.pack(&mut out);
        let mut from = Unpacker::new(&out.bytes);
        assert_eq!(Clock::unpack(policy, 3, &mut from), Ok(clock.clone()), "step {step}");
        assert_eq!(from.end(), Ok(()));
        for length in 0..out.bytes.len() {
            assert!(Clock::unpack(policy, 3, &mut Unpacker::new(&out.bytes[..length])).is_err(), "cut to {length}");
        }
        match step {
            0 => clock.credit(399),
            1 => clock.moved(later(START, 975), Some(Seat(0))),
            _ => clock.expired(None),
        }
    }
    let mut out = Packer::default();
    pack_banks(clock.banks(), &mut out);
    assert_eq!(unpack_banks(3, &mut Unpacker::new(&out.bytes)).as_deref(), Ok(clock.banks()));
}

#[test]
fn what_no_clock_packs_is_damaged() {
    let policy = ClockPolicy::parse("per_move 500 skip restore credit 400").unwrap();
    let unpack = |numbers: &[u64]| {
        let mut out = Packer::default();
        numbers.iter().for_each(|number| out.number(*number));
        Clock::unpack(policy, 2, &mut Unpacker::new(&out.bytes))
    };
    assert!(unpack(&[5, 2, 400, 500, 0, 500, 0]).is_ok());
    assert!(unpack(&[5, 3, 400, 500, 0, 500, 0]).is_err(), "there is no seat 2");
    assert!(unpack(&[5, 256, 400, 500, 0, 500, 0]).is_err(), "no seat is 255");
    assert!(unpack(&[5, 2, 401, 500, 0, 500, 0]).is_err(), "more than the credit");
    assert!(unpack(&[5, 2, 400, 500, 1 << 32, 500, 0]).is_err(), "more periods than a number holds");
}
