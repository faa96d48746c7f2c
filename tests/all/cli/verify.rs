//! `plybook verify`: files checked without a server.

use plybook_tests::golden;
use serde_json::Value;

use super::{House, Ran, run};

fn verify(args: &[&str]) -> Ran {
    run(&[&["verify"], args].concat(), "")
}

#[test]
fn a_game_that_was_exported_verifies_without_the_server() {
    let house = House::open();
    let game = house.play(&["--ruleset", "snakes_and_ladders", "--param", "size=12"], &["roll"; 60].join(" ")).ok().game();
    let file = house.path().join("game.ply");
    let file = file.to_str().unwrap();
    house.run("export", &[&game, "-o", file], "").ok();
    house.node.signal("STOP");
    let told = verify(&[file]).ok().says("verified").says("won by seat").says("the service chose the seed alone");
    told.says("only a signature whose public key is given, a receipt or a head digest taken earlier shows that").says(&game);
    house.node.signal("CONT");
}

#[test]
fn each_file_gets_its_verdict_and_one_wrong_one_fails_the_command() {
    let house = House::open();
    let book = |name: &str| golden::folder().join(name).to_str().unwrap().to_owned();
    let (right, other) = (book("othello.ply"), book("mnk.ply"));
    verify(&[&right, &other]).ok();
    let text = std::fs::read_to_string(&right).unwrap();
    let wrong = house.file("wrong.ply", &text.replacen(" 0:", " 1:", 1));
    let binary = house.path().join("binary.ply");
    std::fs::write(&binary, [b'a', b'\n', 0xff, 0xfe]).unwrap();
    let binary = binary.to_str().unwrap();
    let ran = verify(&[&right, &wrong, binary, "no-such-file.ply", &other]).fails(1, "3 of 5 did not verify");
    let ran = ran.says("wrong.ply: WRONG: line ").says("entry 2: the digest is").says("line 2: is not UTF-8").says("cannot be read");
    assert_eq!(ran.out.matches(": verified").count(), 2, "{ran:#?}");
}

#[test]
fn machines_read_one_object_a_line() {
    let house = House::open();
    let right = golden::folder().join("snakes_and_ladders-two_dice.ply");
    let wrong = house.file("wrong.ply", "plybook 2\n");
    let ran = verify(&["--json", right.to_str().unwrap(), &wrong]).fails(1, "1 of 2");
    let lines: Vec<Value> = ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2);
    let golden = golden::all().into_iter().find(|golden| golden.name == "snakes_and_ladders-two_dice").unwrap();
    assert_eq!(lines[0]["verified"], true);
    assert_eq!(lines[0]["entries"], golden.book.links().len());
    assert_eq!(lines[0]["head_digest"], golden.book.digest().to_string());
    assert_eq!(lines[0]["winners"], serde_json::json!([0]));
    assert_eq!((&lines[1]["verified"], &lines[1]["entry"], &lines[1]["line"]), (&Value::from(false), &Value::from(1), &Value::from(1)));
}

#[test]
fn what_makes_no_sense_is_told() {
    verify(&[]).fails(2, "required");
}

/// No more is read than a book can have, whatever the name leads to.
#[test]
fn what_is_larger_than_any_book_is_not_read() {
    let house = House::open();
    let hollow = house.path().join("hollow.ply");
    std::fs::File::create(&hollow).unwrap().set_len(600 << 20).unwrap();
    verify(&[hollow.to_str().unwrap()]).fails(1, "1 of 1 did not verify").says("larger than any book");
}
