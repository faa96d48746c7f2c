//! `plybook play --joint`: the seats played here join by themselves, and nobody can choose the dice.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdout, Stdio};

use plybook_core::Time;
use plybook_proto::v1;
use plybook_tests::injected::over_sqlite;

use super::{House, command, ended, run, send};

const RACE: [&str; 4] = ["--ruleset", "snakes_and_ladders", "--param", "size=12"];

fn rolls() -> String {
    "roll\n".repeat(2_000)
}

/// A game for one terminal of several, and what it prints.
struct Terminal {
    child: Child,
    out: BufReader<ChildStdout>,
    shown: String,
}

impl Terminal {
    fn open(house: &House, args: &[&str], input: &str) -> Terminal {
        Terminal::at(&house.node.url(), args, input)
    }

    fn at(url: &str, args: &[&str], input: &str) -> Terminal {
        let mut child = command(&[&["play", "--server", url], args].concat()).stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        Terminal { child, out, shown: String::new() }
    }

    /// Reads on until this is shown.
    #[track_caller]
    fn shows(&mut self, text: &str) -> &mut Terminal {
        while !self.shown.contains(text) {
            assert_ne!(self.out.read_line(&mut self.shown).unwrap(), 0, "{text:?} is not shown: {}", self.shown);
        }
        self
    }

    fn game(&mut self) -> String {
        self.shows("\n");
        self.shown.lines().next().unwrap().strip_prefix("Game ").unwrap().to_owned()
    }

    /// All that it showed, once it ended well.
    #[track_caller]
    fn ended(mut self) -> String {
        self.out.read_to_string(&mut self.shown).unwrap();
        ended(self.child).ok();
        self.shown
    }
}

/// Exported and checked without a server.
#[track_caller]
fn verified(house: &House, game: &str) {
    let file = house.path().join("joint.ply");
    let file = file.to_str().unwrap();
    house.run("export", &[game, "-o", file], "").ok();
    run(&["verify", file], "").ok().says("a nonce of every seat, each committed to before any was revealed");
}

#[test]
fn all_seats_join_at_one_keyboard() {
    let house = House::open();
    let ran = house.run("play", &[&RACE[..], &["--joint", "3600", "--seats", "3"]].concat(), &rolls()).ok();
    let ran = ran.says(" revealed its nonce.\nX to move.\n").says("The game is closed.");
    let game = ran.game();
    verified(&house, &game);
    let watched = house.run("watch", &[&game, "--from-start"], "").ok();
    let watched = watched.says("Entry 1.\nWaiting for X and O and A to commit to a nonce until 20");
    let watched = ["X", "O", "A"].iter().fold(watched, |watched, mark| {
        watched.says(&format!(": {mark} committed to a nonce.\n")).says(&format!(": {mark} revealed its nonce.\n"))
    });
    watched.says("Waiting for X and O and A to reveal their nonces until 20").says(" to reveal its nonce until 20");
}

#[test]
fn two_terminals_hold_a_nonce_each() {
    let house = House::open();
    let mut first = Terminal::open(&house, &[&RACE[..], &["--seat", "0", "--joint", "3600"]].concat(), &rolls());
    let game = first.game();
    first.shows("X committed to a nonce.\nWaiting for O to commit to a nonce until 20");
    let second = Terminal::open(&house, &["--game", &game, "--seat", "1"], &rolls());
    for shown in [first.ended(), second.ended()] {
        assert!(shown.contains(" revealed its nonce.\n") && shown.contains(" wins: "), "{shown}");
    }
    verified(&house, &game);
}

#[test]
fn who_leaves_before_the_end_of_joining_comes_back_with_the_nonce() {
    let house = House::open();
    let mut first = Terminal::open(&house, &[&RACE[..], &["--seat", "0", "--joint", "3600"]].concat(), "");
    let game = first.game();
    first.shows("X committed to a nonce.\n");
    send("INT", &first.child);
    let left = first.ended();
    let on = format!("\nInterrupted; go on with: plybook play --server {} --game {game} --seat 0 --nonce 0:", house.node.url());
    let nonce = left.split(&on).nth(1).unwrap_or_else(|| panic!("{left}")).trim();
    assert_eq!(nonce.len(), 64, "{left}");

    // Without it, this program cannot reveal what the other committed to.
    let mut without = Terminal::open(&house, &["--game", &game, "--seat", "0"], "");
    without.shows("Seat 0 has committed to a nonce that is not known here");
    send("INT", &without.child);
    assert!(!without.ended().contains("--nonce"));

    let first = Terminal::open(&house, &["--game", &game, "--seat", "0", "--nonce", &format!("0:{nonce}")], &rolls());
    let second = Terminal::open(&house, &["--game", &game, "--seat", "1"], &rolls());
    assert!(first.ended().contains(" wins: ") && second.ended().contains(" wins: "));
    verified(&house, &game);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_seat_that_does_not_come_loses_by_the_policy() {
    let local = over_sqlite().await.start().await;
    local.clock.set(Time::parse("2026-11-30T12:00:00.000Z").unwrap());
    let url = format!("http://{}", local.address());
    let args = [&RACE[..], &["--seat", "0", "--joint", "60", "--if-absent", "forfeit"]].concat();
    let (game, first) = tokio::task::spawn_blocking(move || {
        let mut first = Terminal::at(&url, &args, "");
        let game = first.game();
        first.shows("X committed to a nonce.\nWaiting for O to commit to a nonce until 2026-11-30T12:01:00.000Z.\n");
        (game, first)
    })
    .await
    .unwrap();
    local.clock.set(Time::parse("2026-11-30T12:01:00.001Z").unwrap());
    local.wire().await.open(&game).await.close().await;
    let shown = tokio::task::spawn_blocking(|| first.ended()).await.unwrap();
    assert!(shown.contains("O did not join in time.\nX wins: absent.\nThe game is closed."), "{shown}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_step_takes_five_minutes_unless_another_time_is_named() {
    let house = House::open();
    let game = house.run("play", &[&RACE[..], &["--joint"]].concat(), "").ok().says("The input ended; go on with: ").game();
    let asked = house.client().game(&game, None).await.unwrap().joint_entropy.unwrap();
    assert_eq!((asked.step_time.unwrap().seconds, asked.if_absent()), (300, v1::IfAbsent::Abort));
}

#[tokio::test(flavor = "multi_thread")]
async fn joint_arguments_that_make_no_sense_are_refused() {
    let house = House::open();
    let cases: [(&[&str], &str); 6] = [
        (&["--joint"], "throws no dice"),
        (&["--ruleset", "snakes_and_ladders", "--joint", "0"], "step_time"),
        (&["--ruleset", "snakes_and_ladders", "--joint", "2592001"], "step_time"),
        (&["--ruleset", "snakes_and_ladders", "--if-absent", "abort"], "--joint"),
        (&["--game", "x", "--nonce", "0:12"], "--nonce: it is SEAT:HEX"),
        (&["--nonce", "0:12"], "--game"),
    ];
    for (args, because) in cases {
        house.run("play", args, "roll\n").fails(2, because);
    }
    assert_eq!(house.games().await.len(), 0);
}
