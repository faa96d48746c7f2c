//! `plybook refusals`: what was asked in vain, for people and for machines.

use std::time::Duration;

use serde_json::Value;

use super::{House, Ran};

/// Runs the command until it prints so many lines.
fn printed(house: &House, args: &[&str], lines: usize) -> Ran {
    for _ in 0..600 {
        let ran = house.run("refusals", args, "").ok();
        if ran.out.lines().count() >= lines {
            return ran;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("{lines} lines are never printed");
}

#[test]
fn refusals_are_a_table_and_objects() {
    let house = House::open();
    let game = house.play(&[], "b2 b2 castles undo undo").ok().game();
    let ran = printed(&house, &[&game], 4);
    let lines: Vec<Vec<&str>> = ran.out.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0], ["TIME", "ACTOR", "SEAT", "ASKED", "EXPECTED", "HEAD", "REASON", "WHY"]);
    // Newest first; each begins with its time.
    assert_eq!(lines[1][1..8].join(" "), "anonymous 0 undo 3 3 NOTHING_TO_UNDO no");
    assert_eq!(lines[2][1..7].join(" "), "anonymous 1 move castles 2 2");
    assert_eq!(lines[3][1..].join(" "), "anonymous 1 move b2 2 2 ILLEGAL_MOVE CELL_OCCUPIED: a piece stands on b2 already");
    let at = |line: &str, word: &str| line.find(word).unwrap();
    let (head, last) = (ran.out.lines().next().unwrap(), ran.out.lines().last().unwrap());
    assert_eq!((at(head, "ASKED"), at(head, "WHY")), (at(last, "move"), at(last, "CELL_OCCUPIED")), "columns stand in line:\n{}", ran.out);
    assert!(ran.out.lines().skip(1).all(|line| plybook_core::Time::parse(line.split(' ').next().unwrap()).is_some()));

    let objects: Vec<Value> = printed(&house, &["--json", &game], 3).out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(objects.len(), 3);
    let first = objects[2].as_object().unwrap();
    let keys = ["actor", "asked", "detail", "expected_seq", "head_seq", "reason", "refuse_time", "request_id", "seat"];
    assert_eq!(first.keys().collect::<Vec<_>>(), keys);
    assert_eq!((first["asked"].as_str(), first["seat"].as_u64(), first["head_seq"].as_u64()), (Some("move b2"), Some(1), Some(2)));
    assert_eq!(first["reason"], "ILLEGAL_MOVE");
}

#[test]
fn a_game_that_refused_nothing_prints_nothing() {
    let house = House::open();
    let game = house.play(&[], "b2 quit").ok().game();
    let ran = house.run("refusals", &[&game], "").ok();
    assert_eq!((ran.out.as_str(), ran.err.trim()), ("", "no refused request of this game is remembered"));
    house.run("refusals", &["01900000-0000-7000-8000-000000000000"], "").fails(1, "GAME_NOT_FOUND");
    house.run("refusals", &["nothing"], "").fails(2, "game_id");
}

#[test]
fn more_than_a_page_is_printed_whole() {
    let house = House::open_with(&["--refusals-per-game", "450"]);
    let moves = (0..430).map(|number| format!("z{number}")).collect::<Vec<_>>().join(" ");
    let game = house.play(&[], &format!("{moves} quit")).ok().game();
    let ran = printed(&house, &[&game], 431);
    assert!(ran.out.lines().nth(1).unwrap().contains("move z429") && ran.out.lines().last().unwrap().contains("move z0 "));
    assert_eq!(ran.out.lines().filter(|line| line.starts_with("TIME")).count(), 1);
}
