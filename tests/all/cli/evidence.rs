//! `plybook import` of books as evidence, and `plybook compare`.

use std::fs;

use plybook_tests::forgery::forged;
use plybook_tests::table::table;
use serde_json::Value;

use super::{House, Ran, run};

fn compare(args: &[&str]) -> Ran {
    run(&[&["compare"], args].concat(), "")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_book_is_kept_as_it_is_and_comes_out_as_it_came_in() {
    let (from, to) = (House::open(), House::open());
    let game = from.play(&["--player", "ann", "--player", "bob"], "a1 b1 undo b2 a2 c3 a3").ok().game();
    let file = from.path().join("game.ply");
    let file = file.to_str().unwrap();
    from.run("export", &[&game, "-o", file], "").ok();
    let report = to.path().join("report.jsonl");
    let args = [file, "--report", report.to_str().unwrap()];
    to.import(&args).ok().says("1 game: 1 imported (6 moves), 0 refused, in ");
    let first = fs::read_to_string(&report).unwrap();
    to.import(&args).ok().says("1 game: 0 imported (0 moves), 1 was there already, 0 refused, in ");
    assert_eq!(fs::read_to_string(&report).unwrap(), first);
    let told: Value = serde_json::from_str(&first).unwrap();
    assert_eq!((&told["game_id"], &told["entries"], &told["verdict"]), (&game.as_str().into(), &8.into(), &"imported".into()));
    assert_eq!((&told["outcome"]["winners"], told.get("doubt")), (&serde_json::json!([0]), None));

    assert_eq!(to.run("export", &[&game], "").ok().out, fs::read_to_string(file).unwrap());
    assert!(to.games().await[0].foreign.is_some());
    to.run("watch", &[&game, "--from-start"], "").ok().says("The game is closed");
    from.import(&[file]).fails(1, "GAME_EXISTS").fails(1, "is there: this server's own, or one that was imported from another file");
    compare(&["--server", &to.node.url(), file, &game]).ok().says("The books are equal: 8 entries.");
}

/// A game that is not over, on a server where it never will be.
#[test]
fn a_foreign_game_is_watched_to_its_last_entry() {
    let house = House::open();
    let file = house.file("open.ply", &table().play("b2 a1").book().print());
    house.import(&[&file]).ok();
    let id = table().header().game.to_string();
    house.run("watch", &[&id, "--from-start"], "").ok().says("Entry 3: O played a1.");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_of_books_is_imported_and_repeating_is_harmless() {
    let house = House::open();
    let folder = house.path().join("evidence");
    fs::create_dir(&folder).unwrap();
    for number in 1..=500 {
        let book = table().id(number).play("b2 a1").book().print();
        fs::write(folder.join(format!("{number}.ply")), book).unwrap();
    }
    fs::write(folder.join("notes.md"), "about these games").unwrap();
    let folder = folder.to_str().unwrap();
    house.import(&[folder]).ok().says("500 games: 500 imported (1000 moves), 0 refused, in ");
    house.import(&[folder]).ok().says("500 games: 0 imported (0 moves), 500 were there already, 0 refused, in ");
    let games = house.games().await;
    assert!(games.len() == 500 && games.iter().all(|game| game.foreign.is_some()));
    let empty = house.path().join("empty");
    fs::create_dir(&empty).unwrap();
    house.import(&[empty.to_str().unwrap()]).fails(2, "this folder holds no file whose extension is a format's");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_book_is_refused_and_what_no_rules_accept_is_kept_and_told() {
    let house = House::open();
    let file = table().play("b2 a1").book().print();
    let flipped = house.file("flipped.ply", &file.replacen("move a1", "move c1", 1));
    house.import(&[&flipped]).fails(1, "(entry 3): the digest is");
    let short = house.file("short.ply", file.rsplit_once("end ").unwrap().0);
    let ran = house.import(&[&short]).fails(1, "the file ends too early");
    assert_eq!(ran.err.matches("short.ply").count(), 1, "a book has no other name in its file: {ran:#?}");
    assert_eq!(house.games().await.len(), 0);

    let illegal = forged(&file, "move a1 ply=2 cells=0>2:6", "move b2 ply=2 cells=0>2:4");
    let illegal = house.file("illegal.ply", &illegal);
    let ran = house.import(&[&illegal]).ok().says("1 game: 1 imported (2 moves)");
    assert!(ran.err.contains("kept as it is, but it does not verify: entry 3: the move is illegal: CELL_OCCUPIED"), "{ran:?}");
    assert!(ran.err.contains("; the book is whole, so whoever wrote it accepted that"), "{ran:?}");
    let other = forged(&file, &table().header().game.to_string(), "00000000-0000-0000-0000-000000000007");
    let unknown = house.file("unknown.ply", &forged(&other, "ruleset mnk@1", "ruleset mnk@9"));
    let ran = house.import(&[&unknown]).ok().says("1 game: 1 imported (2 moves)");
    assert!(ran.err.contains("it was not checked: the server has not the rules that it names"), "{ran:?}");
    let ours = house.file("ours.ply", &file);
    house.import(&[&ours]).fails(1, "GAME_EXISTS");
}

#[test]
fn books_that_part_are_shown_with_both_boards() {
    let house = House::open();
    let left = house.file("left.ply", &table().play("b2 a1 c3").book().print());
    let right = house.file("right.ply", &table().play("b2 c1 c3").book().print());
    let ran = compare(&[&left, &right]).fails(1, "the books differ");
    let ran = ran.says("The books have 2 entries in common and part at entry 3:").says("The games part at move 2.");
    let ran = ran.says("left.ply, entry 3, O played a1:\n3  .  .  .\n2  .  X  .\n1 [O] .  .\n   a  b  c");
    ran.says("right.ply, entry 3, O played c1:\n3  .  .  .\n2  .  X  .\n1  .  . [O]\n   a  b  c");

    let told = compare(&["--json", &left, &right]).fails(1, "the books differ").out;
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!((&told["equal"], &told["common_entries"], &told["first_different_seq"]), (&false.into(), &2.into(), &3.into()));
    assert_eq!(told["first_different_move"], serde_json::json!({ "ply": 2, "left_seq": 3, "right_seq": 3 }));
    compare(&[&left, &left]).ok().says("The books are equal: 4 entries.");

    let shorter = house.file("shorter.ply", &table().play("b2 a1").book().print());
    compare(&[&left, &shorter]).fails(1, "the books differ").says("(it ends before)").says("shorter.ply: it ends before.");
    let dropped = house.file("dropped.ply", &table().connect_four(6, 7, 4).id(5).play("4 3").book().print());
    compare(&[&left, &dropped]).fails(1, "the books differ").says("The headers differ:").says("dropped.ply, entry 2, X played 4:");
    let undone = house.file("undone.ply", &table().play("b2 a1 c3").undo(1).play("c3").book().print());
    compare(&[&left, &undone])
        .fails(1, "the books differ")
        .says("The same moves stand in both.")
        .says("the move of entry 4 was taken back");
    let illegal = forged(&fs::read_to_string(&left).unwrap(), "move a1 ply=2 cells=0>2:6", "move b2 ply=2 cells=0>2:4");
    let illegal = house.file("illegal.ply", &illegal);
    compare(&[&left, &illegal]).fails(1, "the books differ").says("There is no board: entry 3: the move is illegal");
}

#[test]
fn what_cannot_be_compared_is_told() {
    let house = House::open();
    let left = house.file("left.ply", &table().play("b2 a1 c3").book().print());
    compare(&[&left, "nowhere.ply"]).fails(2, "nowhere.ply is neither a file nor the id of a game");
    let letter = house.file("letter.ply", "Dear Sir or Madam");
    compare(&[&left, &letter]).fails(2, "letter.ply is no book: line 1");
    house.run("compare", &[&left, "01900000-0000-7000-8000-000000000000"], "").fails(1, "GAME_NOT_FOUND");
    compare(&[&left]).fails(2, "RIGHT");
}
