//! `plybook tail`: every entry of every game, a line each.

use std::io::{BufRead as _, BufReader, Read as _};

use serde_json::Value;

use super::{House, command, ended, run, send};

/// Every line's words from the game's number on.
fn told(out: &str) -> Vec<String> {
    out.lines().map(|line| line.split_whitespace().skip(2).collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn every_entry_is_a_line() {
    let house = House::open();
    let one = house.play(&["--player", "ann", "--player", "bob"], "a1 b1 undo b2 a2 c3 a3").ok().game();
    let two = house.play(&["--ruleset", "connect_four"], "4 quit").ok().game();
    let ran = house.run("tail", &["--until-head"], "").ok();
    let expected = [
        "1 mnk@1 was created for ann, bob",
        "2 X played a1",
        "3 O played b1",
        "4 the move of entry 3 was taken back",
        "5 O played b2",
        "6 X played a2",
        "7 O played c3",
        "8 X played a3. X wins: line.",
        "1 connect_four@1 was created for -, -",
        "2 X played 4",
    ];
    assert_eq!(told(&ran.out), expected);
    for (number, line) in ran.out.lines().enumerate() {
        let (time, game) = (line.split_whitespace().next().unwrap(), line.split_whitespace().nth(1).unwrap());
        assert!(plybook_core::Time::parse(time).is_some() && game == if number < 8 { &one } else { &two }, "{line}");
    }
    assert_eq!(told(&house.run("tail", &["--until-head", "--state", "closed", "--state", "finished"], "").ok().out), expected[7..8]);
    assert_eq!(told(&house.run("tail", &["--until-head", "--ruleset", "connect_four"], "").ok().out), expected[8..]);
    assert_eq!(told(&house.run("tail", &["--until-head", "--player", "bob"], "").ok().out), expected[..8]);
    assert_eq!(house.run("tail", &["--until-head", "--from-now"], "").ok().out, "");
}

#[test]
fn every_entry_is_an_object() {
    let house = House::open();
    let game = house.play(&[], "a1 b1 a2 b2 a3").ok().game();
    let ran = house.run("tail", &["--until-head", "--json"], "").ok();
    let objects: Vec<Value> = ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(objects.iter().map(|object| object["seq"].as_u64().unwrap()).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6]);
    let (second, last) = (&objects[1], &objects[5]);
    assert!(objects.iter().all(|object| object["game_id"] == game && object["resume_token"].as_str().unwrap().len() > 20));
    assert_eq!((&second["kind"], &second["seat_to_move"], &second["outcome"]), (&"move_made".into(), &1.into(), &Value::Null));
    assert_eq!((&last["outcome"]["winners"][0], &last["outcome"]["reason"]), (&0.into(), &"line".into()));
    assert_eq!(last["revealed_seed"].as_str().unwrap().len(), 64);
    let book = String::from_utf8(std::fs::read(house.path().join(export(&house, &game))).unwrap()).unwrap();
    assert!(book.contains(second["line"].as_str().unwrap()), "{second}");
}

fn export(house: &House, game: &str) -> String {
    let file = house.path().join("game.ply");
    house.run("export", &[game, "--output", file.to_str().unwrap()], "").ok();
    "game.ply".to_owned()
}

#[test]
fn it_goes_on_where_it_was_stopped() {
    let house = House::open();
    let file = house.path().join("token");
    let kept = ["--resume-file", file.to_str().unwrap()];
    house.play(&[], "a1 quit").ok();
    assert_eq!(told(&house.run("tail", &[&kept[..], &["--until-head"]].concat(), "").ok().out).len(), 2);
    assert_eq!(house.run("tail", &[&kept[..], &["--until-head"]].concat(), "").ok().out, "");
    // Stopped by a signal while it waits.
    let game = house.play(&[], "b2 quit").ok().game();
    let url = house.node.url();
    let mut tail = command(&[&["tail", "--server", &url], &kept[..]].concat()).spawn().unwrap();
    let mut out = BufReader::new(tail.stdout.take().unwrap());
    let mut shown = String::new();
    for _ in 0..2 {
        out.read_line(&mut shown).unwrap();
    }
    assert_eq!(told(&shown), ["1 mnk@1 was created for -, -", "2 X played b2"]);
    house.play(&["--game", &game], "a1 quit").ok();
    let mut third = String::new();
    out.read_line(&mut third).unwrap();
    assert_eq!(told(&third), ["3 O played a1"]);
    send("INT", &tail);
    assert_eq!(ended(tail).ok().err, "");
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "");
    house.play(&["--game", &game], "c3 quit").ok();
    let again = house.run("tail", &[&kept[..], &["--until-head", "--from-now"]].concat(), "").ok();
    assert_eq!(told(&again.out), ["4 X played c3"], "what the file says counts for more");
}

#[test]
fn what_cannot_work_is_said() {
    let house = House::open();
    house.play(&[], "a1 quit").ok();
    let file = house.file("token", "not a token at all\n");
    house.run("tail", &["--resume-file", &file], "").fails(2, "is no file of plybook tail");
    let file = house.file("token", "00\n");
    house.run("tail", &["--resume-file", &file], "").fails(2, "remove it to begin again");
    let kept = house.path().join("kept");
    house.run("tail", &["--until-head", "--resume-file", kept.to_str().unwrap()], "").ok();
    house.run("tail", &["--ruleset", "mnk", "--resume-file", kept.to_str().unwrap()], "").fails(2, "RESUME_TOKEN_INVALID");
    let nowhere = house.path().join("no/folder");
    let ran = house.run("tail", &["--until-head", "--resume-file", nowhere.to_str().unwrap()], "").fails(1, "cannot be written");
    assert_eq!(ran.out, "", "before anything is printed");
    let device = house.path().join("device");
    std::os::unix::fs::symlink("/dev/null", &device).unwrap();
    house.run("tail", &["--until-head", "--resume-file", device.to_str().unwrap()], "").fails(2, "is no regular file");
    run(&["tail", "--state", "over"], "").fails(2, "--state");
}
