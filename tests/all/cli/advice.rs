//! `plybook suggest` and `plybook analyze`: for people and for machines.

use serde_json::{Value, json};

use super::House;

#[test]
fn a_suggestion_is_a_sentence_and_an_object() {
    let house = House::open();
    let game = house.play(&[], "a1 b2 a2 quit").ok().game();
    let ran = house.run("suggest", &[&game], "").ok();
    assert!(ran.out.starts_with("O might play a3: a draw (perfect@1 after entry 4, "), "{ran:?}");
    let ran = house.run("suggest", &[&game, "--at", "1", "--strategy", "mcts@1", "--nodes", "300"], "").ok();
    assert!(
        ran.out.starts_with("X might play ") && ran.out.contains(": looks ") && ran.out.contains("(mcts@1 after entry 1, 30"),
        "{ran:?}"
    );

    let object: Value = serde_json::from_str(&house.run("suggest", &[&game, "--json"], "").ok().out).unwrap();
    let keys = ["action", "cells", "head_seq", "nodes", "score", "seat_to_move", "strategy"];
    assert_eq!(object.as_object().unwrap().keys().collect::<Vec<_>>(), keys);
    assert_eq!((&object["action"], &object["cells"], &object["head_seq"]), (&json!("a3"), &json!([0]), &json!(4)));
    assert_eq!((&object["score"], &object["strategy"]), (&json!({ "draw": {}, "exact": true }), &json!("perfect@1")));
}

#[test]
fn strategies_are_listed() {
    let house = House::open();
    let ran = house.run("suggest", &["--list"], "").ok();
    assert_eq!(ran.out.lines().count(), 6);
    ran.says("perfect@1     2000000 to 200000000").says("connect_four, mnk, othello").says("every game");
    let ran = house.run("suggest", &["--list", "--json"], "").ok();
    let objects: Vec<Value> = ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(
        objects.iter().map(|one| one["id"].as_str().unwrap()).collect::<Vec<_>>(),
        ["heuristic", "mcts", "minimax", "perfect", "random"]
    );
    assert!(objects.iter().all(|one| one["is_default"] == true && one["version"] == 1));
}

#[test]
fn an_analysis_is_a_board_a_table_and_an_object() {
    let house = House::open();
    let game = house.play(&[], "a1 b2 a2 quit").ok().game();
    let ran = house.run("analyze", &[&game], "").ok();
    let board = "3 [= ] L2  L2\n2  X   O   L2\n1  X   L2  L2\n   a   b   c\nO to move after entry 4. This is exact, ";
    assert!(ran.out.starts_with(board), "{}", ran.out);
    let ran = ran.says("  a3        a draw\n").says("loses in 2 plies").says("X would win at once with a3.");
    assert!(!ran.out.contains("O would win"), "{}", ran.out);
    house.run("analyze", &[&game, "--actions", "2"], "").ok().says("  (and 4 that are no better)");

    let object: Value = serde_json::from_str(&house.run("analyze", &[&game, "--json", "--actions", "1"], "").ok().out).unwrap();
    let keys = ["actions", "exact", "head_seq", "left_out", "nodes", "seat_to_move", "threats"];
    assert_eq!(object.as_object().unwrap().keys().collect::<Vec<_>>(), keys);
    assert_eq!(object["actions"], json!([{ "action": "a3", "cells": [0], "score": { "draw": {}, "exact": true } }]));
    let threats = json!([{ "seat": 0, "threats": [{ "action": "a3", "cells": [0] }] }, { "seat": 1, "threats": [] }]);
    assert_eq!((&object["threats"], &object["left_out"], &object["exact"]), (&threats, &json!(5), &json!(true)));

    // On a track there is no map, and dice decide.
    let race = house.play(&["--ruleset", "snakes_and_ladders"], "quit").ok().game();
    house
        .run("analyze", &[&race, "--nodes", "300"], "")
        .ok()
        .says("X: off the board")
        .says("As far as the nodes reach, ")
        .says("  roll      looks ");
    let four = house.play(&["--ruleset", "connect_four"], "4 1 4 1 4 1 quit").ok().game();
    house
        .run("analyze", &[&four, "--nodes", "3000"], "")
        .ok()
        .says("[W1]")
        .says("X would win at once with 4.")
        .says("O would win at once with 1.");
}

#[test]
fn advice_that_cannot_be_given_is_told() {
    let house = House::open();
    let over = house.play(&[], "a1 b1 a2 b2 a3").ok().game();
    house.run("suggest", &[&over], "").fails(1, "GAME_FINISHED");
    house.run("analyze", &[&over], "").fails(1, "GAME_FINISHED");
    house.run("analyze", &[&over, "--at", "5"], "").ok().says("[W1]");
    house.run("suggest", &[&over, "--strategy", "stockfish"], "").fails(1, "UNKNOWN_STRATEGY");
    house.run("suggest", &[&over, "--strategy", "mcts@0"], "").fails(2, "NAME@VERSION");
    house.run("analyze", &[&over, "--nodes", "5000001"], "").fails(1, "advice_nodes_max");
    house.run("suggest", &["nothing"], "").fails(2, "game_id");
    house.run("suggest", &[], "").fails(2, "required");
    house.run("suggest", &["--list", &over], "").fails(2, "cannot be used with");
}
