//! `plybook play` with a clock, offers and leaving: what one terminal does the other sees at once.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use super::{House, command, ended};

/// One terminal of several at one table, whose keyboard stays open.
struct Seat {
    child: Child,
    keyboard: Option<ChildStdin>,
    out: BufReader<ChildStdout>,
    shown: String,
}

impl Seat {
    fn open(house: &House, args: &[&str]) -> Seat {
        let url = house.node.url();
        let mut child = command(&[&["play", "--server", &url], args].concat()).stdin(Stdio::piped()).spawn().unwrap();
        let (keyboard, out) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        Seat { child, keyboard, out, shown: String::new() }
    }

    /// A new game, whose id is known.
    fn first(house: &House, args: &[&str]) -> (Seat, String) {
        let mut seat = Seat::open(house, args);
        seat.shows("\n");
        let game = seat.shown.lines().next().unwrap().strip_prefix("Game ").unwrap().to_owned();
        (seat, game)
    }

    fn types(&mut self, line: &str) -> &mut Seat {
        self.keyboard.as_mut().unwrap().write_all(format!("{line}\n").as_bytes()).unwrap();
        self
    }

    /// Reads on until this is shown.
    #[track_caller]
    fn shows(&mut self, text: &str) -> &mut Seat {
        while !self.shown.contains(text) {
            assert_ne!(self.out.read_line(&mut self.shown).unwrap(), 0, "{text:?} is not shown: {}", self.shown);
        }
        self
    }

    /// All that it showed, once it ended well.
    #[track_caller]
    fn ended(mut self) -> String {
        self.shows("The game is closed.");
        drop(self.keyboard.take());
        self.out.read_to_string(&mut self.shown).unwrap();
        ended(self.child).ok();
        self.shown
    }
}

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
