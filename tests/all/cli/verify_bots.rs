//! `plybook verify --bots`: what bots moved is chosen again.

use std::io::{BufRead as _, BufReader};

use plybook_core::entry::Act;
use plybook_core::game::{Ask, Hand};
use plybook_core::header::{Principal, UndoBy};
use plybook_core::verify::verify as whole;
use plybook_core::{Book, Seat, Terms, Time, Uuid};
use plybook_rulesets::Registry;
use plybook_store::sqlite::SqliteOptions;
use plybook_store::{Arms, Create, GameKey, NewGame, RequestKey, Sqlite, Store, TenantId};
use plybook_tests::bot_book::{BotBook, bot, bots};
use plybook_tests::forgery::forged;
use plybook_tests::table::{SEED, Table, table, tester};
use serde_json::{Value, json};

use super::{Ran, command, ended, run, send};

/// More than any game of these tests has.
const ALL: usize = 1_000;

fn verify(args: &[&str]) -> Ran {
    run(&[&["verify"], args].concat(), "")
}

fn objects(ran: &Ran) -> Vec<Value> {
    ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Connect Four between two searchers, whose choices depend on their budgets.
fn laid() -> Table {
    table().of("connect_four").terms(bots(&[(0, "minimax@1 3000"), (1, "mcts@1 2000")], "random@1 1"))
}

fn played(table: Table) -> BotBook {
    BotBook::of(table.header()).goes_on(ALL)
}

struct Files(tempfile::TempDir);

impl Files {
    fn new() -> Files {
        Files(tempfile::tempdir().unwrap())
    }

    fn put(&self, name: &str, text: &str) -> String {
        let path = self.0.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

#[test]
fn a_book_that_bots_played_is_what_they_choose() {
    let files = Files::new();
    let played = played(laid());
    let moves = played.book.lines().len();
    assert!(played.game.outcome().is_some() && moves >= 7, "they play to the end");
    let file = files.put("true.ply", &played.book.print());
    let ran = verify(&["--bots", &file]).ok().says("true.ply: verified\n");
    let ran = ran.says(&format!("  bots: {moves} moves by bots, chosen again: the same\n"));
    assert!(ran.err.starts_with(&format!("{moves} moves by bots chosen again, ")), "how fast is told: {ran:#?}");
    let told = &objects(&verify(&["--bots", "--json", &file]).ok())[0];
    assert_eq!((&told["verdict"], &told["bots"]), (&"verified".into(), &"same".into()));
    assert_eq!((&told["bot_moves"], &told["fallback_moves"]), (&moves.into(), &0.into()));
    // Unasked, nothing is claimed of them.
    let told = &objects(&verify(&["--json", &file]).ok())[0];
    assert_eq!((&told["bots"], &told["bot_moves"]), (&Value::Null, &Value::Null));
    verify(&[&file]).ok().says("  bots: whether they choose what the book says was not asked: --bots does\n");
}

#[test]
fn every_strategy_and_dice_are_chosen_again() {
    let files = Files::new();
    let all = bots(&[(0, "heuristic@1 500"), (1, "perfect@1 3000")], "random@1 1");
    let mnk = files.put("mnk.ply", &played(table().terms(all)).book.print());
    let race = table().snakes(20, &[4, 14, 17, 7]).seats(3);
    let race = race.terms(bots(&[(0, "random@1 1"), (1, "mcts@1 300"), (2, "heuristic@1 300")], "random@1 1"));
    let race = files.put("race.ply", &played(race).book.print());
    let ran = verify(&["--bots", &mnk, &race]).ok();
    assert_eq!(ran.out.matches(", chosen again: the same\n").count(), 2, "{ran:#?}");
}

/// A bot that looks ahead sees who has left; the report says who, how and when.
#[test]
fn bots_go_on_when_a_seat_has_left() {
    let files = Files::new();
    let three = bots(&[(0, "minimax@1 2000"), (1, "heuristic@1 500"), (2, "mcts@1 500")], "random@1 1");
    let mut game = BotBook::of(table().mnk(5, 5, 4).seats(3).terms(three).header()).goes_on(4);
    game.ask(tester(), None, Ask::Act(Act::Remove(Seat(1))));
    let game = game.goes_on(ALL);
    let file = files.put("left.ply", &game.book.print());
    let ran = verify(&["--bots", &file]).ok().says(", chosen again: the same\n").says("  left: seat 1 was removed (entry 6)\n");
    ran.says("  times: every time is as the service's clock told it; no book proves times\n");
    let told = &objects(&verify(&["--json", &file]).ok())[0];
    assert_eq!(told["left"], json!([{ "seat": 1, "entry": 6, "how": "removed" }]));
}

/// Only the bots tell: the rules, the digests and the seed have nothing against it.
#[test]
fn a_move_that_no_bot_chose_is_found_by_bots_and_by_nothing_else() {
    let files = Files::new();
    for at in [0, 3, 6] {
        let forged = BotBook::of(laid().header()).goes_on(at).another();
        let (seq, seat) = (forged.game.head().seq, at % 2);
        let claims = forged.book.lines().last().unwrap().text.split(' ').nth(4).unwrap().to_owned();
        let before = BotBook::of(laid().header()).goes_on(at);
        let strategy = ["minimax@1 3000", "mcts@1 2000"][seat];
        let chooses = before.game.rules().write_action(before.chosen(&bot(strategy)));
        let book = forged.goes_on(ALL).book;
        let file = files.put("forged.ply", &book.print());
        verify(&[&file]).ok().says("forged.ply: verified\n");
        let why = format!("seat {seat}, bot {strategy}, claims to choose {claims}, but it chooses {chooses}");
        let ran = verify(&["--bots", &file]).fails(1, "1 of 1 did not verify");
        ran.says(&format!("forged.ply: BOT DIFFERS: it follows from itself, but entry {seq}: {why}\n"));
        let told = &objects(&verify(&["--bots", "--json", &file]).fails(1, "1 of 1"))[0];
        assert_eq!((&told["verified"], &told["verdict"], &told["bots"]), (&false.into(), &"bot_differs".into(), &"bot_differs".into()));
        assert_eq!((&told["entry"], &told["seat"], &told["by"]), (&seq.0.into(), &seat.into(), &"bot".into()));
        assert_eq!((&told["claims"], &told["chooses"], &told["why"]), (&claims.into(), &chooses.into(), &why.into()));
    }
}

#[test]
fn a_header_that_pins_other_bots_is_found() {
    let files = Files::new();
    let text = played(laid()).book.print();
    let with = |from: &str, to: &str| {
        let file = files.put("other.ply", &forged(&text, from, to));
        verify(&[&file]).ok();
        verify(&["--bots", &file]).fails(1, "1 of 1 did not verify")
    };
    with("mcts@1 2000", "mcts@1 1").says("BOT DIFFERS: it follows from itself, but entry ").says("seat 1, bot mcts@1 1, claims");
    with("minimax@1 3000", "random@1 3000").says("seat 0, bot random@1 3000, claims to choose ");
    let known = "known are heuristic@1, mcts@1, minimax@1, perfect@1, random@1";
    let unknown = with("minimax@1", "minimax@9");
    unknown.says(&format!("BOT UNKNOWN: it follows from itself, but entry 2: seat 0, bot: there is no strategy minimax@9; {known}"));
    let file = files.put("other.ply", &forged(&text, "mcts@1", "oracle@1"));
    let told = &objects(&verify(&["--bots", "--json", &file]).fails(1, "1 of 1"))[0];
    assert_eq!((&told["verdict"], &told["entry"], &told["strategy"]), (&"bot_unknown".into(), &3.into(), &"oracle@1".into()));
}

/// A bot moves again after an undo; a fallback moves for a bot that fails and for a person whose time ran out.
#[test]
fn fallbacks_are_chosen_again_as_such_and_counted() {
    let files = Files::new();
    let clock = plybook_core::clock::ClockPolicy::parse("per_move 60000 bot restore").unwrap();
    let terms = Terms { clock: Some(clock), ..bots(&[(1, "minimax@1 500")], "heuristic@1 200") };
    let laid = table().mnk(5, 5, 5).undo_by(UndoBy::Free).terms(terms);
    let game = || BotBook::of(laid.header());
    let mut mixed = game().person("a1").hand(Hand::Bot).person("b1").hand(Hand::Fallback);
    let undo = Ask::Undo(None);
    mixed.ask(tester(), Some(Seat(0)), undo);
    let mixed = mixed.person("c1").goes_on(1).waits_ms(60_001);
    let mixed = mixed.hand(Hand::Fallback).goes_on(1);
    let open = mixed.book.print();
    let mut over = mixed;
    over.ask(tester(), Some(Seat(0)), Ask::Act(Act::Resign));
    let file = files.put("mixed.ply", &over.book.print());
    verify(&["--bots", &file]).ok().says("bots: 3 moves by bots and 2 moves by the fallback, chosen again: the same\n");
    let told = &objects(&verify(&["--bots", "--json", &file]).ok())[0];
    assert_eq!((&told["bot_moves"], &told["fallback_moves"], &told["state"]), (&3.into(), &2.into(), &"closed".into()));
    assert_eq!(told["left"], json!([{ "seat": 0, "entry": over.game.head().seq.0, "how": "resigned" }]));

    // What the bot itself would have chosen there is another move than the fallback's.
    let as_bot = files.put("as_bot.ply", &forged_at(&over.book, 5, "plybook/fallback", "plybook/bot"));
    verify(&[&as_bot]).ok();
    verify(&["--bots", &as_bot]).fails(1, "1 of 1").says("entry 5: seat 1, bot minimax@1 500, claims to choose");

    // Without the seed nothing is claimed.
    let file = files.put("open.ply", &open);
    let not = "bots: the seed is not revealed yet, so 3 moves by bots and 2 moves by the fallback cannot be chosen again\n";
    verify(&["--bots", &file]).ok().says(not);
    let told = &objects(&verify(&["--bots", "--json", &file]).ok())[0];
    assert_eq!((&told["bots"], &told["fallback_moves"], &told["verified"]), (&"not_revealed".into(), &2.into(), &true.into()));
    let nobody = files.put("people.ply", &table().play("b2 a1 c3").book().print());
    verify(&["--bots", &nobody]).ok().says("  bots: none moved\n");
}

fn forged_at(book: &Book, seq: usize, from: &str, to: &str) -> String {
    let mut forged = Book::new(book.header().clone());
    for (at, link) in book.lines().iter().enumerate() {
        forged.push(if at + 2 == seq { link.text.replacen(from, to, 1) } else { link.text.clone() });
    }
    assert_ne!(forged.print(), book.print(), "{from:?} is in entry {seq}");
    forged.print()
}

/// Bots that would choose for days stop at once.
#[test]
fn long_choices_are_stopped() {
    let files = Files::new();
    let open = BotBook::of(table().gomoku(15).terms(bots(&[(1, "mcts@1 1000000000")], "random@1 1")).header());
    let mut game = open.person("h8");
    let (seat, legal) = (game.game.to_move(), game.game.play().legal());
    let principal = Principal::bot();
    game.ask(principal, seat, Ask::Move(legal[0]));
    game.ask(tester(), None, Ask::Act(Act::Abort));
    assert!(whole(&game.book.print(), &Registry::standard()).is_ok());
    let (short, long) = (files.put("short.ply", &played(laid()).book.print()), files.put("long.ply", &game.book.print()));
    for signal in ["INT", "TERM"] {
        let mut running = command(&["verify", "--bots", &short, &long]).spawn().unwrap();
        let mut out = BufReader::new(running.stdout.take().unwrap());
        let mut told = String::new();
        while !told.contains("head digest") {
            assert_ne!(out.read_line(&mut told).unwrap(), 0, "{told}");
        }
        send(signal, &running);
        let ran = ended(running);
        assert_eq!(ran.code, 130, "{ran:#?}");
        assert!(ran.err.contains("interrupted: ") && ran.err.contains(" moves by bots were chosen again"), "{ran:#?}");
    }
}

async fn store(store: &dyn Store, id: u128, text: &str) -> Uuid {
    let book = Book::parse(text).unwrap();
    let header = book.header();
    let game = NewGame {
        key: GameKey { tenant: TenantId::DEFAULT, game: header.game },
        request: RequestKey { id: Uuid::from_u128(id), hash: [0; 32] },
        header: header.to_string(),
        digest: header.digest(),
        seed: plybook_core::Seed::new(SEED),
        created: header.created,
        ruleset: header.ruleset.name.clone(),
        ruleset_version: header.ruleset.version,
        players: Vec::new(),
        given: book.lines().to_vec(),
        arms: Arms::default(),
    };
    assert_eq!(store.create(game).await.unwrap(), Create::Created);
    header.game
}

/// Ids that are numbered by time, as the walk goes.
fn id(number: u128) -> u128 {
    (u128::from(Time::from_unix_ms(1_767_225_600_000).unix_ms()) << 80 | 7 << 76 | 2 << 62) + number
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_is_asked_about_its_bots() {
    let files = Files::new();
    let path = files.0.path().join("books.db");
    let file = path.to_str().unwrap();
    let books = Sqlite::open(&SqliteOptions::new(&path)).await.unwrap();
    let of = |number: u128| BotBook::of(laid().id(id(number)).header());
    let moves = {
        let right = of(1).goes_on(ALL).book;
        store(&books, 1, &right.print()).await;
        right.lines().len()
    };
    let wrong = store(&books, 2, &of(2).goes_on(2).another().goes_on(ALL).book.print()).await;
    let unknown = store(&books, 3, &forged(&of(3).goes_on(ALL).book.print(), "minimax@1", "minimax@9")).await;
    store(&books, 4, &of(4).goes_on(3).book.print()).await;
    store(&books, 5, &table().id(id(5)).play("b2 a1").book().print()).await;
    books.close().await;

    verify(&["--database", file]).ok().says("5 games").says(": 5 verified, 0 illegal now, 0 broken");
    let ran = verify(&["--database", file, "--bots"]).fails(1, "2 of 5 games did not verify");
    let ran = ran.says(&format!("game {unknown}: BOT UNKNOWN: entry 2: seat 0, bot: there is no strategy minimax@9"));
    let ran = ran.says(&format!("game {wrong}: BOT DIFFERS: entry 4: seat 0, bot minimax@1 3000, claims to choose "));
    ran.says(": 3 verified, ").says(", 1 whose bots differ, 1 by strategies that it has not");
    let told = objects(&verify(&["--database", file, "--bots", "--json", "--against-build"]).fails(1, "2 of 5"));
    let verdicts: Vec<&str> = told[..5].iter().map(|told| told["verdict"].as_str().unwrap()).collect();
    assert_eq!(verdicts, ["verified", "verified", "bot_unknown", "bot_differs", "verified"]);
    let bots: Vec<&Value> = told[..5].iter().map(|told| &told["bots"]).collect();
    assert_eq!(bots, [&json!("same"), &json!("not_revealed"), &json!("bot_unknown"), &json!("bot_differs"), &json!("same")]);
    assert_eq!((&told[4]["bot_moves"], &told[0]["bot_moves"], &told[1]["bot_moves"]), (&moves.into(), &0.into(), &3.into()));
    assert_eq!((&told[5]["bot_differs"], &told[5]["bot_unknown"], &told[5]["verified"]), (&1.into(), &1.into(), &3.into()));
    assert_eq!(told[5]["rulesets"]["connect_four@1"]["bot_differs"], 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_walk_with_long_choices_is_stopped() {
    let files = Files::new();
    let path = files.0.path().join("books.db");
    let books = Sqlite::open(&SqliteOptions::new(&path)).await.unwrap();
    let long = BotBook::of(table().gomoku(15).id(id(1)).terms(bots(&[(0, "mcts@1 1000000000")], "random@1 1")).header());
    let mut long = long;
    let legal = long.game.play().legal();
    long.ask(Principal::bot(), Some(Seat(0)), Ask::Move(legal[0]));
    long.ask(tester(), None, Ask::Act(Act::Abort));
    let first = store(&books, 1, &long.book.print()).await;
    // Newer, so told before it.
    let quick = store(&books, 2, &table().id(id(2)).play("b2").book().print()).await;
    books.close().await;
    let mut running = command(&["verify", "--database", path.to_str().unwrap(), "--bots", "--json"]).spawn().unwrap();
    let mut out = BufReader::new(running.stdout.take().unwrap());
    let mut told = String::new();
    while !told.contains(&quick.to_string()) {
        assert_ne!(out.read_line(&mut told).unwrap(), 0, "{told}");
    }
    send("INT", &running);
    let ran = ended(running).fails(1, &format!("stopped before the end: go on with --resume-after {quick}"));
    assert!(!ran.err.contains(&first.to_string()), "{ran:#?}");
}
