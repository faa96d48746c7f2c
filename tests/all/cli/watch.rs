//! `plybook watch`: one picture an entry, to the end.

use std::io::{BufRead as _, BufReader, Read as _};

use super::{House, command, ended, send};

#[test]
fn a_game_is_watched_from_its_start() {
    let house = House::open();
    let game = house.play(&[], "a1 b1 undo b2 a2 c3 a3").ok().game();
    let ran = house.run("watch", &[&game, "--from-start"], "").ok();
    let seen: Vec<&str> = ran.out.lines().filter(|line| line.starts_with("Entry ")).collect();
    let expected = [
        "Entry 1.",
        "Entry 2: X played a1.",
        "Entry 3: O played b1.",
        "Entry 4: the move of entry 3 was taken back.",
        "Entry 5: O played b2.",
        "Entry 6: X played a2.",
        "Entry 7: O played c3.",
        "Entry 8: X played a3.",
    ];
    assert_eq!(seen, expected);
    ran.says("3 [X] .  O\n2 [X] O  .\n1 [X] .  .\n   a  b  c\nEntry 8: X played a3.\nX wins: line.\n").says("The game is closed.");
}

#[test]
fn a_watcher_sees_moves_as_they_are_made() {
    let house = House::open();
    let game = house.play(&["--ruleset", "connect_four"], "4 4 quit").ok().game();
    let url = house.node.url();
    let mut watcher = command(&["watch", "--server", &url, &game]).spawn().unwrap();
    let mut out = BufReader::new(watcher.stdout.take().unwrap());
    let mut shown = String::new();
    while !shown.contains("Entry 3.") {
        assert_ne!(out.read_line(&mut shown).unwrap(), 0, "{shown}");
    }
    house.run("play", &["--game", &game], "5\n5\n6\n6\n7\n").ok();
    out.read_to_string(&mut shown).unwrap();
    assert!(watcher.wait().unwrap().success());
    let seen: Vec<&str> = shown.lines().filter_map(|line| line.strip_prefix("Entry ")?.split([':', '.']).next()).collect();
    assert_eq!(seen, ["3", "4", "5", "6", "7", "8"]);
    assert!(shown.contains("  .  .  . [X][X][X][X]\n  1  2  3  4  5  6  7\nEntry 8: X played 7.\nX wins: line.\n"), "{shown}");
}

#[test]
fn a_watcher_interrupted_ends_quietly() {
    let house = House::open();
    let game = house.play(&[], "a1 quit").ok().game();
    let url = house.node.url();
    for signal in ["INT", "TERM"] {
        let mut watcher = command(&["watch", "--server", &url, &game]).spawn().unwrap();
        let mut out = BufReader::new(watcher.stdout.take().unwrap());
        let mut shown = String::new();
        while !shown.contains("O to move.\n") {
            assert_ne!(out.read_line(&mut shown).unwrap(), 0, "{shown}");
        }
        send(signal, &watcher);
        let ran = ended(watcher).ok();
        assert_eq!(ran.err, "");
        let mut rest = String::new();
        out.read_to_string(&mut rest).unwrap();
        assert_eq!(rest.trim(), "");
    }
}
