//! `plybook play`: whole games through a pipe, refusals in words, two terminals at one game.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::Stdio;

use super::{House, command, ended, send};

/// Ends as it should, with the last board and who won.
#[track_caller]
fn plays(args: &[&str], moves: &str, end: &str) {
    House::open().play(args, moves).ok().says(end).says("The game is closed.");
}

#[test]
fn a_whole_game_of_mnk() {
    plays(&[], "b2 a1 a2 c2 a3 c1 c3 b3 b1", "3  X  O  X\n2  X  X  O\n1  O  X  O\n   a  b  c\nX played b1.\nA draw: board full.\n");
    let three = ["--seats", "3", "--mark", "red", "--mark", "blue", "--mark", "green", "--param", "cols=4"];
    plays(&three, "a1 b1 c1 a2 b2 d1 a3", "red wins: line.\n");
}

#[test]
fn a_whole_game_of_gomoku() {
    let picture = "h8  i8\n";
    let house = House::open();
    let ran = house.play(&["--ruleset", "gomoku"], "h8 h9 i8 i9 j8 j9 k8 k9 l8").ok();
    assert!(!ran.out.contains(picture));
    ran.says(" 8  .  .  .  .  .  .  . [X][X][X][X][X] .  .  .\n").says("X wins: line.\n");
}

#[test]
fn a_whole_game_of_connect_four() {
    let args = ["--ruleset", "connect_four", "--player", "ann", "--player", "bob"];
    plays(&args, "4 4 5 5 6 6 7", "  .  .  .  O  O  O  .\n  .  .  . [X][X][X][X]\n  1  2  3  4  5  6  7\nX played 7.\nX wins: line.\n");
    let pop_out = ["--ruleset", "connect_four", "--param", "pop_out=true", "--param", "cols=4", "--param", "rows=2", "--param", "k=2"];
    plays(&pop_out, "1 3 1^ 4", "O wins: line.\n");
}

#[test]
fn a_whole_game_of_othello() {
    plays(&["--ruleset", "othello"], "e6 f4 e3 f6 g5 d6 e7 f5 c5", "X wins: most discs.\n");
}

#[test]
fn a_whole_game_of_snakes_and_ladders() {
    let args = ["--ruleset", "snakes_and_ladders", "--param", "size=12", "--param", "jumps=3,7,9,2", "--param", "finish=reach"];
    // Each throw moves on by one at least; the one snake can be met again and again, but not for ever.
    let house = House::open();
    let ran = house.play(&args, &vec!["roll"; 2_000].join(" ")).ok();
    assert!(ran.out.contains("X threw ") && ran.out.contains("X: square ") && ran.out.contains(" wins: "), "{ran:?}");
    ran.says("O: off the board").says("The game is closed.");
}

#[test]
fn refusals_are_told_in_words_and_the_game_goes_on() {
    let house = House::open();
    let ran = house.play(&["--undo", "none"], "b2 b2 z9 undo legal help a1 quit").ok();
    ran.says("O> b2\nRefused: a piece stands on b2 already [ILLEGAL_MOVE, CELL_OCCUPIED]\n")
        .says("O> z9\nRefused: \"z9\" is not an action of this game [INVALID_ACTION]\n")
        .says("[UNDO_NOT_ALLOWED, POLICY]\nThis game was created with a policy that does not allow it.\n")
        .says("\na3 b3 c3 a2 c2 a1 b1 c1\n")
        .says("pop out")
        .says("O played a1.\nX to move.\n")
        .says(&format!("The game stays as it is; go on with: plybook play --server {} --game ", house.node.url()));
    let four = ["--ruleset", "connect_four", "--param", "rows=2", "--param", "k=7"];
    house.play(&four, "1 1 1 8 quit").ok().says("[ILLEGAL_MOVE, COLUMN_FULL]").says("[INVALID_ACTION]");
    house.play(&["--ruleset", "othello"], "a1 quit").ok().says("[ILLEGAL_MOVE, NO_CAPTURE]");
    let snakes = ["--ruleset", "snakes_and_ladders"];
    house.play(&snakes, "roll undo quit").ok().says("[UNDO_NOT_ALLOWED, CHANCE_REVEALED]\nThe dice have been seen.\n");
}

#[test]
fn moves_are_taken_back() {
    let house = House::open();
    let ran = house.run("play", &[], "a1\nb1\nundo\n# two at once\nb2\nundo 2\nboard\nquit\n").ok();
    ran.says("X> undo\n3  .  .  .\n2  .  .  .\n1 [X] .  .\n   a  b  c\nO took the last move back.\nO to move.\n")
        .says("O> b2\n")
        .says("X> undo 2\n3  .  .  .\n2  .  .  .\n1  .  .  .\n   a  b  c\nO took 2 moves back.\nX to move.\nX> board\n3  .");
}

#[test]
fn more_moves_than_stand_are_not_taken_back_in_part() {
    let house = House::open();
    let ran = house.run("play", &[], "a1\nb1\nundo 3\nundo 0\nb2\nquit\n").ok();
    ran.says("X> undo 3\nRefused: no such move stands [NOTHING_TO_UNDO]\n")
        .says("X> undo 0\nRefused: \"undo 0\" is not an action of this game [INVALID_ACTION]\n")
        .says("2  . [X] .\n1  X  O  .\n");
    house.run("play", &["--undo", "agreement"], "undo\nquit\n").ok().says("[NOTHING_TO_UNDO]\n");
}

#[test]
fn a_finished_game_is_reopened_and_closed() {
    let ran = House::open().play(&["--undo-after-end"], "a1 b1 a2 b2 a3 undo c3 b3 close").ok();
    ran.says("X wins: line. It may be reopened: undo; or closed for good: close.\n")
        .says("O wins: line. It may be reopened")
        .says("> close\n")
        .says("O wins: line.\nThe game is closed.");
}

#[test]
fn the_input_may_end_and_go_on_later() {
    let house = House::open();
    let ran = house.run("play", &[], "a1\nb1").ok().says("The input ended; go on with: plybook play --server http://");
    let game = ran.game();
    house.run("play", &["--game", &game], "a2\nb2\na3\n").ok().says("X wins: line.\n");
    house.run("play", &["--game", &game], "").ok().says("X wins: line.\n").says("The game is closed.");
    house.run("play", &["--game", &game, "--seat", "2"], "").fails(2, "there is no seat 2");
}

#[test]
fn two_terminals_play_one_game() {
    let house = House::open();
    let url = house.node.url();
    let args = ["play", "--server", &url, "--seat", "0", "--param", "rows=4"];
    let mut first = command(&args).stdin(Stdio::piped()).spawn().unwrap();
    first.stdin.take().unwrap().write_all(b"a1\na2\na3\n").unwrap();
    let mut out = BufReader::new(first.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    let game = line.trim().strip_prefix("Game ").unwrap().to_owned();

    // The other one comes once this one waits, and not before.
    let mut rest = String::new();
    while !rest.ends_with("Waiting for O.\n") {
        assert_ne!(out.read_line(&mut rest).unwrap(), 0, "{rest}");
    }
    let second = house.run("play", &["--game", &game, "--seat", "1"], "b1\nb2\nb4\n").ok();
    out.read_to_string(&mut rest).unwrap();
    assert!(first.wait().unwrap().success());
    assert!(rest.contains(&format!("Seat 1 plays with: plybook play --server {url} --game {game} --seat 1")), "{rest}");
    let (board, end) = ("3 [X] .  .\n2 [X] O  .\n1 [X] O  .\n   a  b  c\n", "X played a3.\nX wins: line.\nThe game is closed.");
    assert!(rest.contains(&format!("{board}{end}")), "{rest}");
    assert!(rest.contains("X played a1.\nWaiting for O.\n"), "{rest}");
    // X's last move may come before O's is drawn: then one board shows both.
    second.says(board).says(end).says("X played a1.\nO to move.\n");
}

#[test]
fn a_line_that_is_no_text_is_refused_and_the_game_goes_on() {
    let house = House::open();
    let url = house.node.url();
    let mut child = command(&["play", "--server", &url]).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"a1\nb\xff\nb1\r\nquit\n").unwrap();
    ended(child).ok().says("O> \nRefused: the line is not text (UTF-8), so nothing was done.\nO> b1").says("O played b1.\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn arguments_that_make_no_sense_are_refused_before_anything_is_created() {
    let house = House::open();
    let four = ["--player", "a", "--player", "b", "--player", "c", "--player", "d"];
    let cases: [(&[&str], &str); 12] = [
        (&[&["--seats", "3"], &four[..]].concat(), "--player: the table has 3 seats, but 4 players are named"),
        (&["--seats", "2", "--mark", "A", "--mark", "B", "--mark", "C"], "--mark: the table has 2 seats, but 3 marks are given"),
        (&["--seat", "5"], "--seat: the table has 2 seats; there is no seat 5"),
        (&["--seats", "3", "--seat", "3"], "--seat: the table has 3 seats; there is no seat 3"),
        (&["--seats", "0"], "seats"),
        (&["--seats", "4000000000"], "seats"),
        (&["--param", "foo=1"], "--param: foo is no parameter of mnk"),
        (&["--param", "rows"], "--param: \"rows\" is not of the form NAME=VALUE"),
        (&["--param", "rows=0"], "rows"),
        (&["--mark", "A", "--mark", "A"], "mark"),
        (&["--mark", "much too long for a mark"], "mark"),
        (&["--game", "none"], "game_id"),
    ];
    for (args, because) in cases {
        house.run("play", args, "a1\n").fails(2, because);
    }
    assert_eq!(house.games().await.len(), 0);
}

#[test]
fn a_player_interrupted_is_told_how_to_go_on() {
    let house = House::open();
    let url = house.node.url();
    for signal in ["INT", "TERM"] {
        let mut child = command(&["play", "--server", &url]).stdin(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(b"a1\n").unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut shown = String::new();
        while !shown.contains("O to move.\n") {
            assert_ne!(out.read_line(&mut shown).unwrap(), 0, "{shown}");
        }
        send(signal, &child);
        out.read_to_string(&mut shown).unwrap();
        ended(child).ok();
        let game = shown.lines().next().unwrap().strip_prefix("Game ").unwrap();
        assert!(shown.ends_with(&format!("\nInterrupted; go on with: plybook play --server {url} --game {game}\n")), "{shown}");
        house.run("play", &["--game", game], "b1\n").ok().says("O played b1.\n");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_game_has_the_default_version_or_the_one_named() {
    let house = House::open();
    for (ruleset, version) in [("connect_four", 1), ("connect_four@1", 1), ("connect_four@2", 2)] {
        let game = house.play(&["--ruleset", ruleset], "4 quit").ok().game();
        let game = house.client().game(&game, None).await.unwrap();
        assert_eq!(game.ruleset.unwrap().version, version, "{ruleset}");
    }
    for ruleset in ["connect_four@3", "connect_four@", "connect_four@01", "chess@1"] {
        house.play(&["--ruleset", ruleset], "4").fails(2, "there is no");
    }
}
