//! `plybook import --replay` of `.ply`: a book goes out of one server and is played again in another.

use plybook_core::{Book, Game};
use plybook_proto::v1;
use plybook_rulesets::Registry;
use sha2::{Digest as _, Sha256};

use super::{House, games};

fn fold(text: &str) -> Game {
    let book = Book::parse(text).unwrap();
    let mut game = Game::new(book.header().clone(), Registry::standard().rules_of(book.header()).unwrap());
    for link in book.lines() {
        game.apply_line(&link.text, link.digest).unwrap();
    }
    game
}

/// Everything of a line but who and when.
fn without_times(text: &str) -> Vec<String> {
    let lines = Book::parse(text).unwrap();
    let facts = |line: &str| line.splitn(4, ' ').last().unwrap().to_owned();
    lines.lines().iter().map(|link| facts(&link.text)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_book_is_played_again_with_its_dice_undos_and_end() {
    let (from, to) = (House::open(), House::open());
    let snakes = ["--ruleset", "snakes_and_ladders", "--param", "size=20", "--undo-over-throw", "--undo-after-end"];
    let dice = from.play(&snakes, &format!("roll roll undo {} close", vec!["roll"; 400].join(" "))).ok();
    let seats = ["--player", "ann", "--player", "bob", "--mark", "A", "--mark", "B", "--undo", "own"];
    let placed = from.play(&seats, "a1 undo b1 a2 b2 c1 b3").ok();
    let unfinished = from.play(&["--ruleset", "othello"], "f5 d6 quit").ok();
    let mut files = Vec::new();
    for (name, ran) in [("dice", dice), ("placed", placed), ("unfinished", unfinished)] {
        files.push(from.path().join(format!("{name}.ply")).to_str().unwrap().to_owned());
        from.run("export", &[&ran.game(), "-o", files.last().unwrap()], "").ok();
    }
    let all: Vec<&str> = files.iter().map(String::as_str).collect();
    let all = [&["--replay"], &all[..]].concat();
    to.import(&all).ok().says("3 games: 3 imported (");
    to.import(&all).ok().says("3 games: 0 imported (0 moves), 3 were there already, ");

    let imported = to.games().await;
    assert_eq!(imported.len(), 3);
    for file in files {
        let original = std::fs::read_to_string(&file).unwrap();
        let game = fold(&original);
        let same = |candidate: &&v1::Game| candidate.ruleset.as_ref().unwrap().id == game.header().ruleset.name;
        let id = &imported.iter().find(same).unwrap().game_id;
        let copy = to.run("export", &[id], "").ok().out;
        assert_eq!(without_times(&copy), without_times(&original), "{file}");
        let copied = fold(&copy);
        assert_eq!(copied.position_digest(), game.position_digest());
        assert_eq!(
            (&copied.header().params, &copied.header().seats, copied.header().undo),
            (&game.header().params, &game.header().seats, game.header().undo)
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_book_that_cannot_be_played_again_is_refused_whole() {
    let house = House::open();
    let game = house.play(&["--ruleset", "snakes_and_ladders"], "roll quit").ok().game();
    let secret = house.path().join("secret.ply");
    house.run("export", &[&game, "-o", secret.to_str().unwrap()], "").ok();
    let before = house.games().await.len();
    house.import(&["--replay", secret.to_str().unwrap()]).fails(1, "entry 2 throws dice, and the seed is not revealed");

    let game = house.play(&[], "a1 b1 a2 quit").ok().game();
    let text = house.run("export", &[&game], "").ok().out;
    let flipped = house.file("flipped.ply", &text.replacen("move b1", "move c1", 1));
    house.import(&["--replay", &flipped]).fails(1, "(entry 3): the digest is");
    let short = house.file("short.ply", text.rsplit_once("end ").unwrap().0);
    house.import(&["--replay", &short]).fails(1, "the file ends too early");
    let illegal = house.file("illegal.ply", &sealed(&text.replacen("move b1 ply=2 cells=0>2:7", "move a1 ply=2 cells=0>2:6", 1)));
    house.import(&["--replay", &illegal]).fails(1, "entry 3: the move is illegal: CELL_OCCUPIED");
    let later = house.file("later.ply", &sealed(&text.replacen("ruleset mnk@1", "ruleset mnk@9", 1)));
    house.import(&["--replay", &later]).fails(1, "ruleset mnk@9 is not in this build");
    assert_eq!(games(&house.client()).await.len(), before + 1);
}

/// The file with the digests that its lines ask for: a forger can do that much.
fn sealed(text: &str) -> String {
    let mut sealed = String::new();
    let mut digest: Vec<u8> = Vec::new();
    let mut pending: Vec<&str> = Vec::new();
    let mut count = 0;
    for line in text.lines() {
        if line.starts_with("= ") {
            let body = pending.join("\n");
            digest = Sha256::digest([digest.as_slice(), body.as_bytes()].concat()).to_vec();
            sealed.push_str(&format!("{body}\n= {}\n", hex(&digest)));
            pending.clear();
            count += 1;
        } else if line.starts_with("end ") {
            sealed.push_str(&format!("end {count} {}\n", hex(&digest)));
        } else {
            pending.push(line);
        }
    }
    sealed
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
