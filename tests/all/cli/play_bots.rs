//! `plybook play` against bots and against the clock, at a keyboard and at a terminal.
//!
//! Invariant: what a bot chooses and when is the server's affair; no test depends on it.

use super::seat::Seat;
use super::terminal::Terminal;
use super::{House, Ran, run};

/// Every cell of three rows: of a line that is refused, the next one is tried, and after the last the board is full.
const EVERY_CELL: &str = "b2 a1 c3 a3 c1 a2 c2 b1 b3";
/// A game against a bot that lasts for longer than any test.
const LONG: [&str; 8] = ["--bot", "random", "--param", "rows=9", "--param", "cols=9", "--param", "k=9"];
/// A bot that thinks for longer than any test lasts, and a server that lets it.
const SLOW: [&str; 6] = ["--ruleset", "connect_four", "--bot", "perfect", "--nodes", "200000000"];
const PATIENT: [&str; 2] = ["--bot-nodes-max", "200000000"];

/// The command that leads back into the game, as whoever left was told it.
#[track_caller]
fn way_back(shown: &str) -> Vec<&str> {
    let (_, told) = shown.rsplit_once("go on with: plybook ").unwrap_or_else(|| panic!("no way back is told: {shown}"));
    told.lines().next().unwrap().split_whitespace().collect()
}

/// A closed game's book holds, and so does every choice of its bots.
#[track_caller]
fn holds(house: &House, ran: &Ran) {
    let book = house.run("export", &[&ran.game()], "").ok().out;
    run(&["verify", "--bots", &house.file("bots.ply", &book)], "").ok().says(", chosen again: the same\n");
}

#[test]
fn a_person_plays_a_bot_to_the_end() {
    let house = House::open();
    let ran = house.play(&["--bot", "minimax", "--clock", "2h+3s", "--player", "ann"], EVERY_CELL).ok();
    let ran = ran.says("O is a bot: minimax@1, 50000 nodes a move\n").says("X (ann) to move.\nX> b2\n");
    let ran = ran.says("\nO played ").says("O 2:00:0").says("The game is closed.");
    assert!(!ran.out.contains("X wins") && !ran.out.contains("No result"), "nobody beats it on so small a board: {ran:#?}");
    assert!(!ran.out.contains("O>"), "nobody is asked for a bot's move: {ran:#?}");
    holds(&house, &ran);
}

#[test]
fn a_bot_that_begins_begins_by_itself() {
    let house = House::open();
    for seat in [["--as", "O"], ["--seat", "1"]] {
        let ran = house.play(&[&seat[..], &["--bot", "random"]].concat(), "undo resign").ok();
        let ran = ran.says("X is a bot: random@1").says("X played ").says("O> undo\nRefused: ").says("[NOTHING_TO_UNDO]\n");
        holds(&house, &ran.says("O> resign\n").says("O resigned.\nX wins: resigned.\n"));
    }
}

#[test]
fn bots_take_the_seats_that_are_left() {
    let house = House::open();
    let args = ["--bot", "heuristic", "--bot", "random", "--param", "cols=5", "--param", "rows=5", "--clock", "byo-yomi:10m+5x30s"];
    let ran = house.play(&args, "b2 resign rematch quit").ok();
    let ran = ran.says("O is a bot: heuristic@1, ").says("A is a bot: random@1, 1 nodes a move\n").says(" A 10:00 + 5 x 0:30\n");
    ran.says("X> b2\n").says("O played ").says("A played ").says("X> resign\n").says("X resigned.\n");
}

#[test]
fn against_a_bot_an_undo_leads_back_to_ones_own_choice() {
    let house = House::open();
    // Of c1 and c2 the bot has one at most, and with three moves nobody has won.
    let args = ["--bot", "heuristic", "--param", "rows=4", "--param", "cols=4", "--param", "k=4"];
    let ran = house.run("play", &args, "b2\nundo\na1\nc1\nc2\nundo 2\nquit\n").ok();
    let ran = ran.says(
        "X> undo\n4  .  .  .  .\n3  .  .  .  .\n2  .  .  .  .\n1  .  .  .  .\n   a  b  c  d\nX took 2 moves back.\nX to move.\nX> a1\n",
    );
    assert_eq!(ran.out.matches("X took 2 moves back.\nX to move.\n").count(), 1, "{ran:#?}");
    ran.says("X> undo 2\n").says("X took 4 moves back.\nX to move.\nX> quit\n");
}

#[test]
fn a_hint_against_a_bot_plays_nothing() {
    let house = House::open();
    let ran = house.play(&["--bot", "random"], "b2 hint hint quit").ok();
    assert_eq!(ran.out.matches("X> hint\n").count(), 2, "{ran:#?}");
    assert_eq!(ran.out.matches("X might play ").count(), 2, "{ran:#?}");
    assert_eq!(ran.out.matches(" played ").count(), 2, "{ran:#?}");
}

#[test]
fn bots_alone_are_watched_to_the_end() {
    let house = House::open();
    let ran = house.run("play", &["--seats", "2", "--bot", "minimax", "--bot", "random", "--fallback", "heuristic"], "").ok();
    let ran = ran.says("X is a bot: minimax@1, ").says("O is a bot: random@1, ").says("X played ").says("O played ");
    assert!(!ran.out.contains("> ") && !ran.out.contains("O wins"), "{ran:#?}");
    holds(&house, &ran.says("The game is closed."));
}

#[test]
fn a_bot_takes_its_revenge_with_the_seats_changed() {
    let house = House::open();
    let ran = house.play(&["--bot", "minimax", "--player", "ann"], "draw abort rematch resign rematch quit").ok();
    let ran = ran.says("[OFFER_NOT_ALLOWED, NOBODY_TO_ANSWER]\nBots agree to nothing").says("X> abort\n").says("No result: aborted.\n");
    let ran = ran.says(", the rematch\nX is a bot: minimax@1, ").says("X played ").says("O (ann) to move.\nO> resign\n");
    let ran = ran.says("X wins: resigned.\n").says(", the rematch\nO is a bot: minimax@1, ").says("X (ann) to move.\nX> quit\n");
    assert_eq!(way_back(&ran.out)[5..], ["--as", "X"], "{ran:#?}");
}

#[test]
fn whoever_left_a_bot_comes_back_as_told() {
    let house = House::open();
    let ran = house.play(&["--bot", "minimax", "--as", "O"], "quit").ok().says("O> quit\nThe game stays as it is; ");
    let ran = run(&way_back(&ran.out), "b1\nb2\nquit\n").ok().says("X played ").says("O to move.\n").says("O played b");
    run(&way_back(&ran.out), "resign\n").ok().says("X wins: resigned.\n");
    let game = way_back(&ran.out)[4];
    house.run("play", &["--game", game, "--as", "X"], "").fails(2, "a bot plays seat 0; `plybook watch` shows how");
}

#[test]
fn a_flag_that_falls_is_seen_while_the_keyboard_is_silent() {
    let house = House::open();
    let (seat, _) = Seat::first(&house, &["--bot", "random", "--clock", "1s"]);
    let shown = seat.ended();
    assert!(shown.contains("    X   0.0\n") && shown.contains("X's time ran out.\nO wins: timeout.\nThe game is closed."), "{shown}");
}

#[test]
fn a_flag_that_falls_at_one_keyboard_is_seen_at_the_other() {
    let house = House::open();
    let (first, game) = Seat::first(&house, &["--as", "X", "--clock", "2s/move"]);
    let second = Seat::open(&house, &["--game", &game, "--as", "O"]);
    for shown in [first.ended(), second.ended()] {
        assert!(shown.contains("X's time ran out.\nO wins: timeout.\nThe game is closed."), "{shown}");
    }
}

#[test]
fn a_stand_in_moves_for_whoever_lets_the_time_pass() {
    let house = House::open();
    let args = ["--clock", "1s/move", "--if-expired", "bot", "--fallback", "random"];
    let (mut seat, game) = Seat::first(&house, &[&args, &LONG[..]].concat());
    seat.shows("X's time ran out; a bot makes this move.\n").shows(", by the hand of a stand-in.\n").types("resign");
    seat.ended();
    let ran = house.run("watch", &[&game, "--from-start"], "").ok();
    ran.says(": X's time ran out; a bot makes this move.\n");
}

#[test]
fn a_turn_is_lost_with_its_time() {
    let house = House::open();
    let (mut seat, _) = Seat::first(&house, &[&["--clock", "1s/move", "--if-expired", "skip"], &LONG[..]].concat());
    seat.shows("X's time ran out, and the turn with it.\n").types("resign");
    seat.ended();
}

#[test]
fn at_a_terminal_the_key_that_interrupts_leaves_it_whole_and_tells_the_way_back() {
    let house = House::open_with(&PATIENT);
    let url = house.node.url();
    let mut terminal = Terminal::run(&[&["play", "--server", &url], &SLOW[..]].concat());
    terminal.shows("X to move.").shows("X> ").types("4\r").shows("O (perfect) is thinking …");
    // Its thought ends with the undo; the next one with the game.
    terminal.types("undo\r").shows("X took the last move back.").shows("X> ").types("3\r").shows("O (perfect) is thinking …");
    terminal.types("5\r").shows("[NOT_YOUR_TURN]").types("\x03").shows("Interrupted; go on with: ").left(0);
    let shown = terminal.text();

    let back = way_back(&shown);
    assert_eq!(back[5..], ["--as", "X"], "{shown}");
    let mut terminal = Terminal::run(&back);
    terminal.shows("  .  . [X] .  .  .  .").shows("O (perfect) is thinking …").types("resign\r").shows("O wins: resigned.");
    terminal.shows("rematch, or Enter to leave> ").types("\r").left(0);
}

#[test]
fn at_a_terminal_a_flag_that_falls_ends_the_prompt() {
    let house = House::open();
    let url = house.node.url();
    let mut terminal = Terminal::run(&["play", "--server", &url, "--bot", "random", "--clock", "2s"]);
    // Half a move is typed already.
    terminal.shows("Game ").types("b");
    terminal.shows("X's time ran out.").shows("O wins: timeout.").shows("rematch, or Enter to leave> ").types("\r").left(0);
}
