//! `plybook play` with a clock, offers and leaving: what one terminal does the other sees at once.

use super::House;
use super::seat::Seat;

#[test]
fn a_draw_offered_at_one_terminal_is_accepted_at_the_other() {
    let house = House::open();
    let (mut first, game) = Seat::first(&house, &["--as", "X", "--clock", "2h+3s"]);
    first.shows(&format!("--game {game} --as O\n")).shows("X 1:5");
    let mut second = Seat::open(&house, &["--game", &game, "--as", "O"]);
    first.types("b2");
    second.shows("O to move.\n").types("draw");
    first.shows("O offers X a draw. Answer: accept, or decline.\n").types("decline");
    second.shows("X declined the draw.\n").types("a1");
    first.shows("X to move.\n").shows("O played a1.\n").types("draw");
    second.shows("X offers O a draw. Answer: accept, or decline.\n").types("accept");
    for shown in [first.ended(), second.ended()] {
        assert!(shown.contains("A draw: ") && shown.contains("The game is closed."), "{shown}");
    }
    let watched = house.run("watch", &[&game, "--from-start"], "").ok();
    watched.says(": O offers X a draw.\n").says(": X declined the draw.\n").says("X 2:00:00 <\n");
}

#[test]
fn moves_go_back_by_agreement() {
    let house = House::open();
    let (mut first, game) = Seat::first(&house, &["--as", "X", "--undo", "agreement"]);
    let mut second = Seat::open(&house, &["--game", &game, "--as", "O"]);
    first.types("b2");
    second.shows("O to move.\n").types("undo 1");
    first.shows("O asks X to take back the move of entry 2 and what follows it. Answer: accept, or decline.\n").types("accept");
    second.shows("Everybody agreed, and the last move went back.\nWaiting for X.\n");
    first.types("a1");
    second.shows("X played a1.\n").types("resign");
    for shown in [first.ended(), second.ended()] {
        assert!(shown.contains("O resigned.\nX wins: resigned.\n"), "{shown}");
    }
}

#[test]
fn a_game_is_broken_off_early_and_played_again_with_the_seats_changed() {
    let house = House::open();
    let players = ["--player", "ann", "--player", "bob"];
    let ran = house.play(&players, "abort rematch quit").ok();
    let ran = ran.says("> abort\n").says("X broke the game off.\nNo result: ").says("\nrematch\n\nGame ");
    ran.says("X (bob) to move.\n");
    let ran = house.play(&["--player", "ann"], "a1 b1 abort resign").ok();
    ran.says("[ABORT_NOT_ALLOWED]\nA game that goes on is left with \"resign\".\n").says("X resigned.\nO wins: resigned.\n");
}

#[test]
fn a_hint_names_a_move_and_the_threats() {
    let house = House::open();
    let ran = house.play(&[], "a1 b1 a2 b2 hint quit").ok();
    ran.says("3 [X!] O!").says("X would win at once with a3.\nO would win at once with b3.\nX might play a3: wins at once (");
}

#[test]
fn clocks_and_tables_that_make_no_sense_are_refused() {
    let house = House::open();
    let cases: [(&[&str], &str); 9] = [
        (&["--clock", "5"], "--clock: \"5\" is a time without a unit"),
        (&["--clock", "hourglass:5m"], "a clock is written 5m"),
        (&["--clock", "5m", "--if-expired", "skip"], "--clock: a seat that has used up all its time would be skipped for ever"),
        (&["--if-expired", "skip"], "--clock"),
        (&["--fallback", "random"], "--fallback: it moves only where"),
        (&["--bot", "nobody"], "nobody"),
        (&["--bot", "mcts@"], "--bot: \"mcts@\" is not of the form"),
        (&["--bot", "random", "--bot", "random", "--bot", "random", "--seats", "2"], "--bot: the table has 2 seats, but 3 bots are named"),
        (&["--as", "Z"], "--as: nobody at the table has the mark \"Z\""),
    ];
    for (args, because) in cases {
        house.run("play", args, "a1\n").fails(2, because);
    }
}
