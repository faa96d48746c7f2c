//! One over each limit of the core, and exactly at it.

use plybook_core::entry::read_format_1;
use plybook_core::game::Ask;
use plybook_core::header::{Place, check_place};
use plybook_core::limits::{ENTRIES_MAX, LINE_BYTES_MAX, NOTATION_BYTES_MAX};
use plybook_core::{Action, Header, Seat};
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
