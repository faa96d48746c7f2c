//! `plybook replay`: books looked through as text and at a terminal, forks, and books that are wrong.

use std::time::Duration;

use plybook_core::entropy::IfAbsent;
use plybook_core::header::UndoBy;
use plybook_core::{Book, Digest};
use plybook_tests::golden;
use plybook_tests::table::{Table, table};

use super::terminal::Terminal;
use super::{House, Ran, run};

fn print(file: &str, more: &[&str]) -> Ran {
    run(&[&["replay", "--print", file], more].concat(), "")
}

/// A game with an undo: two moves taken back, and another way on.
fn taken_back() -> Table {
    table().mnk(3, 3, 3).with_players(&[("X", "ann"), ("O", "")]).play("b2 a1 c3").undo(2).play("a2")
}

#[test]
fn every_entry_is_printed_with_board_mover_and_time() {
    let house = House::open();
    let file = house.file("game.ply", &taken_back().book().print());
    let ran = print(&file, &[]).ok();
    let steps: Vec<&str> = ran.out.split("\n\n").collect();
    assert_eq!(steps.len(), 6, "{}", ran.out);
    assert!(
        steps[0].starts_with("Entry 1 of 6, game 12345678-9abc-4def-8123-456789abcdef of mnk@1\nThe game was created.\nX to move.\n"),
        "{}",
        steps[0]
    );
    assert!(steps[0].ends_with("2026-01-01T00:00:00.000Z, by anonymous\nseat 0 X (ann), seat 1 O"), "{}", steps[0]);
    assert_eq!(
        steps[3].split_once('\n').unwrap().1,
        "X played c3.\nO to move.\n3  .  . [X]\n2  .  X  .\n1  O  .  .\n   a  b  c\n\
         2026-01-01T00:00:03.000Z, seat 0 X (ann), by anonymous\ntaken back by entry 5"
    );
    assert_eq!(
        steps[4].split_once('\n').unwrap().1,
        "O took back 2 moves: a1 of entry 3 and what was played after it.\nO to move.\n3  .  . [.]\n2  .  X  .\n1 [.] .  .\n   a  b  c\n\
         2026-01-01T00:00:04.000Z, seat 1 O, by anonymous"
    );
    assert_eq!(print(&file, &["--at", "5"]).ok().out.trim_end(), steps[4]);
    print(&file, &["--at", "7"]).fails(2, "the book has 6 entries; there is no entry 7");
    print(&file, &["--at", "0"]).fails(2, "0");
}

#[test]
fn every_golden_is_shown_to_its_end() {
    for golden in golden::all().into_iter().filter(|golden| !golden.name.starts_with("hermits")) {
        let file = golden::folder().join(format!("{}.ply", golden.name));
        let ran = print(file.to_str().unwrap(), &[]).ok();
        let last = golden.book.links().len();
        assert!(ran.out.contains(&format!("\n\nEntry {last} of {last}, ")), "{}", golden.name);
        assert!(ran.out.contains("it reveals the seed, which is the one committed to"), "{}", golden.name);
        assert_eq!(ran.out.contains("\ndice: draw "), golden.book.print().contains(" throw="), "{}", golden.name);
        assert!(!ran.out.contains("WRONG"), "{}", golden.name);
    }
}

#[test]
fn dice_come_with_their_proof() {
    let house = House::open();
    let show = |table: &Table, at: &str| print(&house.file("game.ply", &table.book().print()), &["--at", at]);
    let open = table().snakes(30, &[]).roll(2);
    show(&open, "3")
        .ok()
        .says("dice: draw 1 by seat 1 shows ")
        .says("; the seed is not revealed, so nothing shows yet whose chance it was");
    let mut closed = open;
    while closed.position().to_move().is_some() {
        closed = closed.roll(1);
    }
    show(&closed, "3").ok().says("; the seed gives the same faces");
    let mut joint = table().snakes(12, &[]).joint(60, IfAbsent::Abort).commit(1);
    show(&joint, "2").ok().says("O committed to a nonce.\nX may join until 2026-01-01T00:01:00.000Z.");
    joint = joint.commit(0).reveal(0).reveal(1);
    while joint.position().to_move().is_some() {
        joint = joint.roll(1);
    }
    show(&joint, "5").ok().says("O revealed its nonce, 16 bytes.\nX to move.");
    show(&joint, "6").ok().says("dice: draw 0 by seat 0 shows").says("; the seed and the seats' nonces give the same faces");

    // Whoever loads a die and writes the digests anew is told at the throw.
    let honest = table().snakes(30, &[]).roll(1);
    let face = honest.book().lines()[0].text.split("throw=").nth(1).unwrap().split(' ').next().unwrap().to_owned();
    let mut loaded = table().snakes(30, &[]).throw(if face == "6" { &[1] } else { &[6] });
    while loaded.position().to_move().is_some() {
        loaded = loaded.roll(1);
    }
    show(&loaded, "2")
        .fails(1, "the book is wrong: entry 2: dice: draw 0 by seat 0 shows")
        .says(&format!("; WRONG: the seed gives {face}"));
}

#[test]
fn a_wrong_book_is_shown_up_to_there() {
    let house = House::open();
    let whole = taken_back().book().print();
    let digest_of_4 = Book::parse(&whole).unwrap().links()[3].digest.to_string();
    let wrong = |name: &str, text: String, shown: usize, because: &str| {
        let ran = print(&house.file(name, &text), &[]).fails(1, &format!("the book is wrong: {because}"));
        assert_eq!(ran.out.matches(&format!(" of {shown}, game ")).count(), shown, "{name}: {}", ran.out);
        let last = ran.out.split("\n\n").last().unwrap().to_owned();
        assert!(last.starts_with(&format!("After entry {shown}, ")) && last.contains(&format!("\nWRONG: {because}")), "{name}: {last}");
        last
    };
    let last = wrong("line.ply", whole.replacen("move c3", "move c2", 1), 3, "entry 4: the digest is ");
    assert!(last.contains("it reads: 4 2026-01-01T00:00:03.000Z 0:anonymous move c2 ply=3"), "{last}");
    assert!(last.contains("\n3  .  .  .\n2  .  X  .\n1 [O] .  .\n"), "the board before it: {last}");
    wrong("digest.ply", whole.replacen(&digest_of_4, &Digest([7; 32]).to_string(), 1), 3, "entry 4: the digest is ");
    wrong("trailer.ply", whole.replacen("\nend 6 ", "\nend 7 ", 1), 6, "the end of the file: the trailer is not that of 6 entries");
    let cut = &whole[..whole.find("5 2026").unwrap()];
    wrong("cut.ply", cut.to_owned(), 4, "entry 5: is missing: the file ends too early");
    let last = wrong("more.ply", whole.replacen("5 2026", "\x1b[2J5 2026", 1), 4, "entry 5: ");
    assert!(last.contains("it reads: \u{fffd}[2J5 2026") && !last.contains('\x1b'), "{last}");

    // Well formed, and refused by the rules.
    let mut illegal = Book::new(taken_back().header());
    taken_back().book().lines()[..2].iter().for_each(|link| illegal.push(link.text.clone()));
    illegal.push("4 2026-01-01T00:00:03.000Z 0:anonymous move a1 ply=3 cells=0>1:6 next=1");
    illegal.push("5 2026-01-01T00:00:04.000Z 1:anonymous move a2 ply=4 cells=0>2:3 next=0");
    wrong("illegal.ply", illegal.print(), 3, "entry 4: the move is illegal: ");

    let none = house.file("none.ply", &whole.replacen("plybook 1", "plybook 2", 1));
    print(&none, &[]).fails(1, "there is nothing to show, the header is wrong");
    print("no-such-file.ply", &[]).fails(2, "neither a file nor the id of a game");
}

#[test]
fn without_its_rules_a_book_is_shown_without_boards() {
    let house = House::open();
    let mut header = table().header();
    header.ruleset.version = 9;
    let mut book = Book::new(header);
    book.push("2 2026-01-01T00:00:01.000Z 0:anonymous move b2 ply=1 cells=0>1:4 next=1");
    let file = house.file("later.ply", &book.print());
    print(&file, &["--at", "2"]).ok().says("X played b2.\n(no board: ruleset mnk@9 is not in this build");
}

/// Waits until the server remembers so many refusals.
fn remembers(house: &House, game: &str, refusals: usize) {
    for _ in 0..600 {
        if house.run("refusals", &[game, "--json"], "").ok().out.lines().count() >= refusals {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("{refusals} refusals are never remembered");
}

#[test]
fn refused_requests_stand_beside_the_entry_that_was_the_head() {
    let house = House::open();
    let game = house.play(&[], "b2 b2 z9 a1 quit").ok().game();
    remembers(&house, &game, 2);
    let ran = house.run("replay", &["--print", &game], "").ok();
    let steps: Vec<&str> = ran.out.split("\n\n").collect();
    assert_eq!(steps.len(), 3);
    let beside: Vec<usize> = steps.iter().map(|step| step.matches("\nrefused here: ").count()).collect();
    assert_eq!(beside, [0, 2, 0], "{}", ran.out);
    let first = steps[1].find("seat 1, by anonymous: move b2, decided on entry 2: ILLEGAL_MOVE, CELL_OCCUPIED: ").unwrap();
    let second = steps[1].find("seat 1, by anonymous: move z9, decided on entry 2: INVALID_ACTION, ").unwrap();
    assert!(first < second, "oldest first: {}", steps[1]);
    // A file tells of no refusals, and the server is not asked.
    let file = house.path().join("game.ply");
    house.run("export", &[&game, "-o", file.to_str().unwrap()], "").ok();
    house.node.signal("STOP");
    let told = print(file.to_str().unwrap(), &[]).ok();
    house.node.signal("CONT");
    assert!(!told.out.contains("refused here") && told.out.contains("Entry 3 of 3"), "{}", told.out);
    house.run("replay", &["--print", "01900000-0000-7000-8000-000000000000"], "").fails(1, "GAME_NOT_FOUND");
}

#[test]
fn a_fork_is_made_played_and_verified_against_its_origin() {
    let house = House::open();
    let game = house.play(&["--undo", "free"], "b2 a1 b3 undo c3 b1 quit").ok().game();
    let ran = house.run("replay", &["--fork", "6", &game], "").ok();
    let ran = ran.says(&format!("It begins with 3 moves of game {game}, as they stood at entry 6, and has a seed of its own."));
    let fork = ran.game();
    ran.says(&format!("Go on with: plybook play --server {} --game {fork}", house.node.url()));
    house.run("replay", &["--fork", "2", &game], "").ok().says("It begins with 1 move of game ");
    house.run("play", &["--game", &fork], "a3\nundo\nundo\nc2\nquit\n").ok().says("UNDO_NOT_ALLOWED, GIVEN");

    let ply = |name: &str, game: &str| {
        let file = house.path().join(name).to_str().unwrap().to_owned();
        house.run("export", &[game, "-o", &file], "").ok();
        file
    };
    let (of, forked) = (ply("of.ply", &game), ply("fork.ply", &fork));
    let verify = |args: &[&str]| run(&[&["verify"], args].concat(), "");
    let digest = Book::parse(&std::fs::read_to_string(&of).unwrap()).unwrap().links()[5].digest;
    let told = format!("a fork: 3 moves were given by entry 6 (digest {digest}) of game {game}, ");
    verify(&[&forked]).ok().says(&format!("{told}whose book proves them and their dice"));
    verify(&[&forked, "--origin", &of]).ok().says(&format!("{told}and that book, which was compared, has them"));
    verify(&["--json", &forked, "--origin", &of]).ok().says(&format!("\"origin_game_id\":\"{game}\"")).says("\"origin_entry\":6");
    verify(&[&forked, "--origin", &forked])
        .fails(1, "1 of 1")
        .says("fork.ply: WRONG ORIGIN: it follows from itself, but it was forked from game");
    verify(&[&of, "--origin", &of]).fails(1, "1 of 1").says("WRONG ORIGIN: it follows from itself, but the game is no fork");
    verify(&[&forked, "--origin", "no-such-file"]).fails(1, "--origin no-such-file");
    let damaged = house.file("damaged.ply", &std::fs::read_to_string(&of).unwrap().replacen("b2", "b1", 1));
    verify(&[&forked, "--origin", &damaged]).fails(1, "--origin ");

    // The given moves are told as such, here and in the file.
    house
        .run("replay", &["--print", "--at", "1", &fork], "")
        .ok()
        .says(&format!("forked from game {game} at entry 6, and begins with the 3 moves"));
    let given = "O played a1: given, a move of the game that this one was forked from.\n";
    print(&forked, &["--at", "3"]).ok().says(given);
    house.run("replay", &["--fork", "2", &forked], "").fails(2, "a file is no game of a server; import it first");
    house.run("replay", &["--fork", "99", &game], "").fails(1, "CURSOR_BEYOND_HEAD");
}

/// Given throws prove nothing of the fork's seed.
#[test]
fn given_dice_are_told_as_the_other_games() {
    let house = House::open();
    let game = house.play(&["--ruleset", "snakes_and_ladders", "--param", "size=20"], "roll roll roll quit").ok().game();
    let fork = house.run("replay", &["--fork", "3", &game], "").ok().game();
    house.run("play", &["--game", &fork], &"roll\n".repeat(300)).ok().says("The game is closed.");
    let at = |entry: &str| house.run("replay", &["--print", "--at", entry, &fork], "").ok();
    at("3").says("; thrown in the game that this one was forked from, so this game's seed says nothing of it");
    at("4").says("dice: draw 2 by seat ").says("; the seed gives the same faces");
}

#[test]
fn a_long_game_is_entered_anywhere() {
    let moves = 20_000;
    let mut table = table().mnk(1000, 1000, 1000);
    for cell in 0..moves {
        let notation = table.game().rules().write_action(plybook_core::Action::Place(plybook_core::Cell(cell)));
        table = table.play(&notation);
    }
    let house = House::open();
    let file = house.file("long.ply", &table.book().print());
    for at in [1, 512, 513, 514, 19_999, 20_001] {
        let ran = print(&file, &["--at", &at.to_string()]).ok().says(&format!("Entry {at} of 20001, "));
        ran.says(&format!("(a part of a board of 1000 rows and 1000 columns; {} cells are occupied)", at - 1));
    }
    let mut terminal = Terminal::run(&["replay", &file, "--at", "20001"]);
    terminal.shows("Entry 20001 of 20001");
    for (keys, at) in [("\x1b[D", 20_000), ("\x1b[A", 19_990), ("\x1b[H", 1), ("g12345\r", 12_345), ("\x1b[D", 12_344), ("\x1b[F", 20_001)]
    {
        terminal.types(keys).shows(&format!("Entry {at} of 20001"));
    }
    terminal.types("q").ended(0);
}

#[test]
fn at_a_terminal_keys_step_through_the_book() {
    let house = House::open();
    let table = table().gomoku(15).undo_by(UndoBy::Free).play("h8 h9 i8 i9 j8 j9 k8 k9").undo(1).play("g8 l8");
    let file = house.file("game.ply", &table.book().print());
    let mut terminal = Terminal::run(&["replay", &file]);
    terminal.shows("Entry 1 of 12, game ").shows("q: quit");
    terminal.types("\x1b[C").shows("Entry 2 of 12").shows("X played h8.").shows("[X]");
    terminal.types("\x1b[B").shows("Entry 12 of 12").shows("X wins: line.");
    terminal.types("\x1b[A").shows("Entry 2 of 12");
    terminal.types("g").shows("go to entry: _");
    terminal.types("10").shows("go to entry: 10_");
    terminal.types("\r").shows("Entry 10 of 12").shows("O took back k9 of entry 9.");
    terminal.types("\x1b[D\x1b[D").shows("Entry 8 of 12");
    terminal.types("\x1b[F").shows("Entry 12 of 12");
    terminal.types("\x1b[H").shows("Entry 1 of 12");
    terminal.types("q").ended(0);
}

#[test]
fn the_terminal_is_given_back_however_it_ends() {
    let house = House::open();
    let file = house.file("game.ply", &taken_back().book().print());
    let mut terminal = Terminal::run(&["replay", &file, "--at", "6"]);
    terminal.shows("Entry 6 of 6").types("\x03").ended(130);
    for (signal, code) in [("TERM", 130), ("INT", 130)] {
        let mut terminal = Terminal::run(&["replay", &file]);
        terminal.shows("Entry 1 of 6").signal(signal);
        terminal.ended(code);
    }
    // A wrong book is looked through like any other; what is wrong is the last step.
    let wrong = house.file("wrong.ply", &taken_back().book().print().replacen("move c3", "move c2", 1));
    let mut terminal = Terminal::run(&["replay", &wrong]);
    terminal.shows("Entry 1 of 3").types("\x1b[F").shows("After entry 3, ").shows("WRONG: entry 4: ").types("q").ended(0);
}

#[test]
fn small_terminals_show_what_fits() {
    let house = House::open();
    let moves: String = (0..40).map(|at| format!("{}{} ", char::from(b'a' + at % 26), 26 - at / 26)).collect();
    let file = house.file("game.ply", &table().mnk(26, 26, 26).play(&moves).book().print());
    let mut terminal = Terminal::sized((12, 40), &["replay", &file, "--at", "41"]);
    terminal.shows("Entry 41 of 41").shows("[O]").shows("(a part of a board of 26 rows and 26 ");
    terminal.types("q").ended(0);
    let mut tiny = Terminal::sized((2, 5), &["replay", &file]);
    tiny.shows("\x1b[?1049h").types("q").ended(0);
}

#[test]
fn what_is_no_terminal_is_told() {
    let house = House::open();
    let file = house.file("game.ply", &taken_back().book().print());
    run(&["replay", &file], "").fails(2, "this is no terminal; --print writes the entries as text");
    run(&["replay"], "").fails(2, "required");
}
