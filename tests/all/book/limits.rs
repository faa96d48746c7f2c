//! One over each limit of the core, and exactly at it.

use plybook_core::entry::read_format_1;
use plybook_core::entry::{Act, Step};
use plybook_core::game::{Ask, State};
use plybook_core::header::{Place, UndoBy, check_place};
use plybook_core::limits::{ENTRIES_MAX, LINE_BYTES_MAX, NOTATION_BYTES_MAX, PRESENCE_REPORTS_MAX};
use plybook_core::presence::IfAway;
use plybook_core::{Action, Header, Seat, Seq, Time};
use plybook_tests::deal::Deal;
use plybook_tests::random::Random;
use plybook_tests::table::table;

#[test]
fn a_game_has_so_many_entries_and_no_more() {
    let mut table = table().mnk(3, 3, 3);
    while table.game().head().seq.0 < ENTRIES_MAX - 1 {
        table = table.play("b2").undo(1);
    }
    table.play("b2").refuses("a1", "LIMIT_EXCEEDED").refuses_undo(1, "LIMIT_EXCEEDED").ply(1);
}

/// Or its seed would never be revealed.
#[test]
fn a_game_that_ends_with_its_last_entry_can_still_be_closed() {
    let mut table = table().mnk(3, 3, 1).undo_after_end();
    while table.game().head().seq.0 < ENTRIES_MAX - 1 {
        table = table.play("b2").undo(1);
    }
    table.play("b2").wins(0).refuses_undo(1, "LIMIT_EXCEEDED").close().closed();
}

/// A game that goes on at its last entry can be ended, by somebody and by its own time, and so its seed is revealed.
#[test]
fn a_game_that_goes_on_at_its_last_entry_can_be_ended() {
    let mut table = table().mnk(3, 3, 3).seats(3).clock("per_move 1000000 skip keep").absence(5_000, IfAway::Forfeit);
    while table.game().head().seq.0 < ENTRIES_MAX - 3 {
        table = table.play("b2").undo(1);
    }
    table = table.play("b2").away(2).away(1);
    assert_eq!(table.game().head().seq.0, ENTRIES_MAX);
    for act in [Act::Resign, Act::Draw(Step::Offer), Act::Back] {
        table = table.refuses_act(1, act, "LIMIT_EXCEEDED");
    }
    table = table.refuses_ask(None, Ask::Act(Act::Remove(Seat(0))), "LIMIT_EXCEEDED");
    let (seed, mut game) = (table.the_seed(), table.game().clone());
    let late = Time::from_unix_ms(game.head().time.unix_ms() + 4_001);
    let settled = game.settle(late, &[], &seed).unwrap();
    assert!(settled.to_string().contains(" -:plybook forfeit 2 void=yes reason=abandoned seed="), "{settled}");
    game.apply(&settled).unwrap();
    assert_eq!((game.state(), game.settle(late, &[], &seed)), (State::Closed, None));
    table.aborts(1).because("aborted").closed();
}

#[test]
fn a_game_has_so_many_reports_of_presence() {
    let mut table = table().mnk(6, 6, 5).absence(1_000_000_000, IfAway::ClaimWin);
    for _ in 0..PRESENCE_REPORTS_MAX / 2 {
        table = table.away(1).back(1);
    }
    table.refuses_act(1, Act::Away, "LIMIT_EXCEEDED").refuses_act(0, Act::Away, "LIMIT_EXCEEDED").play("a1 b1");
    // Who is away by then can still come back.
    let mut odd = plybook_tests::table::table().mnk(6, 6, 5).absence(1_000_000_000, IfAway::ClaimWin).away(0);
    for _ in 0..PRESENCE_REPORTS_MAX / 2 - 1 {
        odd = odd.away(1).back(1);
    }
    odd.away(1).refuses_act(1, Act::Away, "PRESENCE_UNCHANGED").back(1).refuses_act(1, Act::Away, "LIMIT_EXCEEDED").back(0);
}

#[test]
fn a_game_has_so_many_undos() {
    let table = table().mnk(6, 6, 5).undo_limit(2).play("a1").undo(1).play("a1 b1").undo(2).play("a1").refuses_undo(1, "USED_UP");
    assert_eq!(table.game().undos(), 2);
    let table = plybook_tests::table::table().mnk(6, 6, 5).undo_by(UndoBy::Agreement).undo_limit(1).play("a1 b1").offers_undo(0, 1);
    table.accepts_undo(1).play("b2").refuses_act(0, Act::Undo(Step::Offer, Seq(5)), "USED_UP");
}

/// Ten high columns are filled and then popped: one undo of a hundred pops would change every cell.
#[test]
fn an_undo_that_fits_on_no_line_is_refused() {
    let mut random = Random::new(26);
    let mut table = Deal::of("connect_four").with("rows", 128).with("cols", 10).with("k", 128).with("pop_out", true).table();
    while table.position().ply() < 1250 {
        let pops = table.position().ply() >= 1150;
        let legal = table.game().play().legal();
        let wanted: Vec<Action> = legal.iter().copied().filter(|action| matches!(action, Action::Pop(_)) == pops).collect();
        let notation = table.game().rules().write_action(*random.pick(&wanted));
        table = table.play(&notation).goes_on();
        assert!(table.last_line().len() <= LINE_BYTES_MAX, "a move fits on a line");
    }
    table.refuses_undo(100, "LIMIT_EXCEEDED").undo(10).undo(10).ply(1230);
}

#[test]
fn a_long_notation_is_refused_before_it_is_read() {
    let long = "1".repeat(NOTATION_BYTES_MAX + 1);
    let shown = table().refuses(&long, "INVALID_ACTION").refuses(&"1".repeat(NOTATION_BYTES_MAX), "INVALID_ACTION");
    shown.refuses_ask(Some(Seat(0)), Ask::MoveText(String::new()), "INVALID_ACTION");
}

#[test]
fn a_header_and_a_line_have_so_many_bytes() {
    let fits = Deal::of("snakes_and_ladders").table().header();
    let bytes = fits.to_string().len();
    let jumps = |pairs: i64| -> Vec<i64> { (0..pairs).flat_map(|pair| [2 + pair, 9_000 + pair]).collect() };
    let laid = |pairs: i64| {
        let jumps = jumps(pairs);
        let table = Deal::of("snakes_and_ladders").with("size", 9_999).with("jumps", &jumps[..]).table();
        let player = "\"".repeat(64);
        table.with_players(&["A", "B", "C", "D", "E", "F", "G", "H"].map(|mark| (mark, player.as_str()))).header().to_string()
    };
    assert!(bytes < LINE_BYTES_MAX);
    assert!(laid(1).len() <= LINE_BYTES_MAX && Header::parse(&laid(1)).is_ok());
    let long = laid(100);
    assert!(long.len() > LINE_BYTES_MAX);
    let why = Header::parse(&long).unwrap_err().why;
    assert!(why.contains("longer than 2400 bytes"), "{why}");
    let line = format!("2 2026-01-01T00:00:00.000Z 0:a move b2 ply=1 cells=0>1:{} next=1", "1,".repeat(1200));
    assert!(read_format_1(&line).unwrap_err().why.contains("longer than 2400 bytes"));
}

#[track_caller]
fn place(mark: &str, player: &str, why: Option<&str>) {
    let taken = [Place { mark: "X".to_owned(), player: String::new() }];
    let found = check_place(&Place { mark: mark.to_owned(), player: player.to_owned() }, &taken).err();
    match (&found, why) {
        (None, None) => {}
        (Some(found), Some(why)) => assert!(found.contains(why), "{found}"),
        _ => panic!("{mark:?} {player:?}: {found:?}"),
    }
}

#[test]
fn marks_and_players_are_held_against_their_limits() {
    place("O", "", None);
    place("●", "Ann \"the first\" \\ ü", None);
    place(&"m".repeat(16), &"p".repeat(64), None);
    place(&"m".repeat(17), "", Some("1 to 16 bytes"));
    place("", "", Some("1 to 16 bytes"));
    place("O", &"p".repeat(65), Some("at most 64 bytes"));
    place("O", "line\nend", Some("control characters"));
    place("O", "\u{2028}", Some("control characters"));
    place("O", "\u{85}", Some("control characters"));
    place("O O", "", Some("no spaces"));
    place("\u{a0}", "", Some("no spaces"));
    place("\u{7}", "", Some("no spaces or control"));
    place(".", "", Some("full stop"));
    place("X", "", Some("is taken"));
}
