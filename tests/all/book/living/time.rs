//! Clocks in games, to the millisecond: what an undo does to them, what an outage gives back, who has been away for how long.

use plybook_core::entry::{Act, Body};
use plybook_core::game::{Ask, Due};
use plybook_core::header::UndoBy;
use plybook_core::presence::IfAway;
use plybook_core::{Entry, Rejection, Seat, Time};
use plybook_tests::table::{START, Table, table};

fn clocked(text: &str) -> Table {
    table().mnk(6, 6, 5).clock(text)
}

fn at(ms: u64) -> Time {
    Time::from_unix_ms(START.unix_ms() + ms)
}

/// 10.000 s, 5.000 s and 3.000 s were thought; then the third move is taken back 2.500 s into the fourth turn.
fn taken_back(text: &str) -> Table {
    let table = clocked(text).after(10_000).play("a1").after(5_000).play("b1").after(3_000).play("a2");
    table.after(2_500).undo(1).turn(0)
}

#[test]
fn scenario_20_after_an_undo_the_clocks_are_as_their_rule_says_to_the_millisecond() {
    taken_back("fischer 60000 1000 forfeit restore").times(&[51_000, 56_000], Some(0));
    taken_back("fischer 60000 1000 forfeit keep").times(&[49_000, 53_500], Some(0));
    taken_back("bronstein 60000 4000 forfeit restore").times(&[54_000, 59_000], Some(0));
    taken_back("bronstein 60000 4000 forfeit keep").times(&[54_000, 59_000], Some(0));
    taken_back("byo_yomi 8000 2000 5 forfeit restore").times(&[10_000, 13_000], Some(0));
    taken_back("byo_yomi 8000 2000 5 forfeit keep").times(&[8_000, 10_500], Some(0));
    taken_back("per_move 30000 forfeit keep").times(&[30_000, 30_000], Some(0));
    taken_back("correspondence 1 forfeit restore").times(&[86_400_000, 86_400_000], Some(0));
}

#[test]
fn scenario_20_after_an_undo_to_the_beginning_the_clock_still_runs_out() {
    for (rule, left) in [("restore", 5_000), ("keep", 3_950)] {
        let game = clocked(&format!("fischer 5000 100 forfeit {rule}")).after(1_100).play("a1").after(700).play("b1").after(50).undo(2);
        let (deadline, due) = game.ply(0).turn(0).game().due().unwrap();
        assert_eq!((deadline, due), (at(1_100 + 700 + 50 + left), Due::Turn(Seat(0))), "{rule}");
    }
    let game = clocked("per_move 1000 forfeit keep").after(999).play("a1").after(1_000).undo(1).ply(0);
    assert_eq!(game.game().due(), Some((at(2_999), Due::Turn(Seat(0)))));
    game.times_out(0).wins(1).because("timeout").closed();
}

/// An entry at the deadline is in time, and one a millisecond later is not, however it is written.
#[test]
fn a_move_at_the_deadline_is_in_time_and_one_later_is_not() {
    let mut game = clocked("per_move 1000 forfeit keep");
    let request = game.requested(Some(Seat(0)), Ask::MoveText("a1".to_owned()));
    let refused = game.tries(&request, at(1_001)).unwrap_err();
    assert_eq!(refused, Rejection::Unsettled { deadline: at(1_000) });
    let mut book = game.game().clone();
    let entry = game.tries(&request, at(1_000)).unwrap();
    book.clone().apply(&entry).unwrap();
    let why = book.apply(&Entry { time: at(1_001), ..entry }).unwrap_err().why;
    assert!(why.contains("nothing settles it"), "{why}");
}

/// Nobody is told that a game goes on, or might be reopened, behind a deadline that has ended that.
#[test]
fn no_refusal_is_spoken_before_a_deadline_is_settled() {
    let at_the_deadline = |mut table: Table, ask: Ask| {
        let request = table.requested(Some(Seat(0)), ask);
        let (deadline, _) = table.game().due().unwrap();
        let refused = table.tries(&request, Time::from_unix_ms(deadline.unix_ms() + 1)).unwrap_err();
        assert_eq!(refused, Rejection::Unsettled { deadline });
        table.tries(&request, deadline).unwrap_err()
    };
    assert_eq!(at_the_deadline(clocked("per_move 1000 forfeit keep"), Ask::Close), Rejection::NotFinished);
    let over = table().undo_after_end().close_after(5_000).play("a1 a2 b1 b2 c1");
    let refused = at_the_deadline(over, Ask::MoveText("c3".to_owned()));
    assert!(matches!(refused, Rejection::Finished { closed: false, .. }), "{refused:?}");
}

/// Whoever writes a timeout before or after its time, or of another seat, is refused.
#[test]
fn a_timeout_stands_at_its_deadline_alone() {
    let mut game = clocked("per_move 1000 forfeit keep");
    let mut before = game.game().clone();
    let entry = game.settle_at(at(50_000), &[]).unwrap();
    for time in [0, 999, 1_001].map(at) {
        before.clone().apply(&Entry { time, ..entry.clone() }).unwrap_err();
    }
    let mut other = entry.clone();
    if let Body::Incident(incident) = &mut other.body {
        incident.act = Act::Timeout(Seat(1));
    }
    before.clone().apply(&other).unwrap_err();
    before.apply(&entry).unwrap();
}

/// An outage that begins a millisecond before the deadline puts it off by its whole length, in one entry.
#[test]
fn an_outage_is_credited_in_one_entry() {
    let credited = |outages: &[(u64, u64)], now: u64| {
        let mut game = clocked("per_move 1000 forfeit keep credit 5000");
        let outages: Vec<(Time, Time)> = outages.iter().map(|(from, to)| (at(*from), at(*to))).collect();
        let mut lines = Vec::new();
        while let Some(entry) = game.settle_at(at(now), &outages) {
            lines.push(entry.to_string().split(' ').skip(1).take(4).collect::<Vec<_>>().join(" "));
        }
        lines
    };
    let is = |lines: Vec<String>, want: &[&str]| {
        let want: Vec<String> = want.iter().map(|line| format!("2026-01-01T00:00:0{line}")).collect();
        assert_eq!(lines, want);
    };
    is(credited(&[], 9_000), &["1.000Z -:plybook timeout 0"]);
    is(credited(&[(999, 3_999)], 3_000), &["1.000Z -:plybook credit 3000"]);
    is(credited(&[(999, 3_999)], 9_000), &["1.000Z -:plybook credit 3000", "4.000Z -:plybook timeout 0"]);
    // Behind the deadline there was nothing left to lose.
    is(credited(&[(1_000, 3_999)], 9_000), &["1.000Z -:plybook timeout 0"]);
    // One outage leads to the next; what overlaps counts once, what is before the turn not at all.
    is(
        credited(&[(2_100, 2_500), (900, 2_000), (100, 300), (1_500, 2_000)], 9_000),
        &["1.000Z -:plybook credit 1700", "2.700Z -:plybook timeout 0"],
    );
    is(credited(&[(0, 100_000)], 9_000), &["1.000Z -:plybook credit 5000", "6.000Z -:plybook timeout 0"]);
}

/// What was given cost nobody time and earned nobody any; a clock begins with the fork.
#[test]
fn given_moves_cost_no_time() {
    let origin = table().mnk(6, 6, 5).play("a1 b1 c1");
    let fork = table().fork(&origin, 4).clock("fischer 5000 300 forfeit restore").times(&[5_000, 5_000], Some(1));
    fork.after(1_000).play("d1").times(&[5_000, 4_300], Some(0)).times_out(0).wins(1);
}

/// No time runs while the fallback moves in somebody's place, and its move earns nothing.
#[test]
fn a_stand_in_has_all_the_time_there_is() {
    let game = clocked("fischer 1000 200 bot restore").times_out(0).times(&[200, 1_000], None);
    assert_eq!(game.game().due(), None);
    let game = game.after(3_600_000).bots_move(1).times(&[200, 1_000], Some(1)).after(500).play("f6");
    game.times(&[200, 700], Some(0)).times_out(0).times(&[200, 700], None).undo_by_seat(1, 1).times(&[200, 1_000], Some(1));
}

/// A game that is finished is left in peace; once it is reopened, who is away has the whole grace again.
#[test]
fn a_reopened_game_waits_for_who_is_away_as_if_it_had_just_gone() {
    let game =
        table().undo_after_end().undo_by(UndoBy::Free).absence(1_000, IfAway::Forfeit).play("a1 a2 b1 b2").after(0).away(1).after(900);
    let game = game.play("c1").wins(0);
    assert_eq!(game.game().due(), None);
    let game = game.after(3_600_000).undo(1);
    assert_eq!(game.game().due().unwrap().0, Time::from_unix_ms(game.game().head().time.unix_ms() + 1_000));
    game.is_forfeited(1).wins(0).because("absent");
}

/// Scenario 65: everybody is gone for an hour, nothing is lost, and whoever comes first waits for the others.
#[test]
fn scenario_65_when_all_are_away_nothing_is_lost() {
    let game = table().mnk(6, 6, 5).seats(3).absence(60_000, IfAway::Forfeit).play("a1").away(0).away(2).away(1);
    assert_eq!(game.game().due(), None);
    let game = game.after(3_600_000).back(2).live(&[0, 1, 2]);
    let back = game.game().head().time.unix_ms();
    assert_eq!(game.game().due(), Some((Time::from_unix_ms(back + 60_000), Due::Presence(Seat(0)))));
    // Acting is being there.
    game.after(60_000).play("b1").is_forfeited(0).live(&[1, 2]).turn(2).play("c1").turn(1);
}
