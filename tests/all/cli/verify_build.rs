//! `plybook verify --database --against-build`, and both verdicts as the command tells them.

use std::fmt::Write as _;

use plybook_core::receipt::SignedHead;
use plybook_core::{Book, Receipt, Seq};
use plybook_server::signing::SigningKey;
use plybook_tests::injected::{Local, over, over_postgres, over_sqlite};
use plybook_tests::wire::Wire;
use plybook_tests::{careless, node, postgres};
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, SqliteConnection};

use super::{Ran, run};

fn verify(args: &[&str]) -> Ran {
    run(&[&["verify"], args].concat(), "")
}

fn objects(ran: &Ran) -> Vec<Value> {
    ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// What a build with a bug wrote: entry 4 takes the cell of entry 3.
async fn accepted_once(careless: &Local) -> String {
    let mut game = careless.wire().await.game().await;
    game.play("a1 b1 b1 c2").await;
    game.id
}

async fn sound(wire: &Wire, ruleset: &str) -> String {
    wire.game().of(ruleset).await.id
}

/// A file with two verdicts, its tampered twin with one, and one of rules that are not here.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_has_both_verdicts() {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let careless = over_sqlite().await.registry(careless::registry()).start().await;
    let id = accepted_once(&careless).await;
    let text = careless.wire().await.book(&id).await;
    let book = Book::parse(&text).unwrap();
    let whole = put("whole.ply", &text);
    let ran = verify(&[&whole]).fails(1, "1 of 1 did not verify");
    let ran = ran.says("whole.ply: ILLEGAL NOW: entry 4: the move is illegal: CELL_OCCUPIED: a piece stands on b1 already\n");
    let ran = ran.says("  then: the book is whole: 5 entries, each chained to the one before, not signed: so whoever wrote it");
    let ran = ran.says("  now: mnk@1 as this build has it refuses entry 4; entries 1 to 3 before it are right\n");
    ran.says(&format!("  head digest {}\n", book.digest())).says("a book written anew from its first entry would pass as well");

    let told = &objects(&verify(&["--json", &whole]).fails(1, "1 of 1"))[0];
    let accepted = json!({
        "ruleset": "mnk@1", "entries": 5, "head_digest": book.digest().to_string(), "signed": false, "key_id": null,
    });
    assert_eq!((&told["verdict"], &told["entry"], &told["rule"]), (&"illegal_now".into(), &4.into(), &"CELL_OCCUPIED".into()));
    assert_eq!((&told["verified"], &told["accepted"]), (&false.into(), &accepted));

    let twin = put("twin.ply", &text.replacen("move c2", "move c3", 1));
    let told = objects(&verify(&["--json", &twin]).fails(1, "1 of 1"));
    assert_eq!((&told[0]["verdict"], &told[0]["entry"], &told[0]["accepted"]), (&"broken".into(), &4.into(), &Value::Null));
    verify(&[&twin]).fails(1, "1 of 1").says("WRONG: entry 4: the move is illegal").says("entry 5: the digest is");

    let later = put("later.ply", &plybook_tests::forgery::forged(&text, "mnk@1", "mnk@9"));
    let ran = verify(&[&later]).fails(1, "1 of 1").says("later.ply: UNSUPPORTED: entry 1: ruleset mnk@9 is not in this build");
    assert!(!ran.says("  then: the book is whole: 5 entries").out.contains("now:"));
}

/// A receipt says that it was the server who accepted; one of another book says that it never did.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_kept_says_who_accepted() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let key = SigningKey::from_seed(&[3; 32]).unwrap();
    let careless = over_sqlite().await.registry(careless::registry()).start().await;
    let id = accepted_once(&careless).await;
    let book = Book::parse(&careless.wire().await.book(&id).await).unwrap();
    let receipt = |digest| {
        let head = SignedHead { game: book.header().game, seq: Seq(4), digest };
        Receipt::new(head, key.sign(&head)).to_string() + "\n"
    };
    let mut public = String::new();
    writeln!(public, "{}", key.public().print()).unwrap();
    std::fs::write(path("whole.ply"), book.print()).unwrap();
    std::fs::write(path("node.pub"), public).unwrap();
    std::fs::write(path("kept"), receipt(book.links()[3].digest)).unwrap();
    std::fs::write(path("other"), receipt(book.links()[2].digest)).unwrap();
    let with =
        |receipt: &str| verify(&[&path("whole.ply"), "--public-key", &path("node.pub"), "--receipt", &path(receipt)]).fails(1, "1 of 1");
    with("kept").says("ILLEGAL NOW: entry 4").says(&format!("entry 4: holds; signed by key {}", key.public().id()));
    with("other").says("WRONG: entry 4").says("and it is not what was kept of it").says("other, entry 4: WRONG");
}

/// Counts by verdict and by ruleset, over either store: games that were accepted and are illegal now stop a deploy.
async fn counts_before_a_deploy(database: &str, careless: &Local, wire: &Wire) -> String {
    verify(&["--database", database, "--against-build"]).ok().says("0 games, 0 right entries");
    let first = sound(wire, "othello").await;
    let (mnk, _) = (sound(wire, "mnk").await, sound(wire, "mnk").await);
    let ran = verify(&["--database", database, "--against-build"]).ok();
    ran.says("mnk@1: 2 verified\nothello@1: 1 verified\n3 games, 3 right entries: 3 verified, 0 illegal now, 0 broken");
    let bad = accepted_once(careless).await;
    let ran = verify(&["--database", database, "--against-build"]).fails(1, "1 of 4 games did not verify under this build");
    let line =
        format!("game {bad}: ILLEGAL NOW: entry 4: the move is illegal: CELL_OCCUPIED: a piece stands on b1 already; then: accepted, ");
    ran.says(&line)
        .says("the book is whole with 5 entries\nmnk@1: 2 verified, 1 illegal now\nothello@1: 1 verified\n4 games, 6 right entries");
    let told = objects(&verify(&["--database", database, "--against-build", "--json"]).fails(1, "1 of 4"));
    assert_eq!(told.len(), 5);
    assert_eq!(
        (&told[0]["game_id"], &told[0]["verdict"], &told[0]["ruleset"]),
        (&bad.clone().into(), &"illegal_now".into(), &"mnk@1".into())
    );
    assert_eq!((&told[0]["entry"], &told[0]["rule"], &told[0]["accepted"]["entries"]), (&4.into(), &"CELL_OCCUPIED".into(), &5.into()));
    assert_eq!((&told[1]["verdict"], &told[2]["game_id"], &told[3]["game_id"]), (&"verified".into(), &mnk.into(), &first.into()));
    let counts = |verified, illegal_now| json!({ "verified": verified, "illegal_now": illegal_now, "broken": 0, "unsupported": 0, "unreadable": 0, "evidence": 0 });
    assert_eq!(told[4]["rulesets"], json!({ "mnk@1": counts(2, 1), "othello@1": counts(1, 0) }));
    assert_eq!((&told[4]["illegal_now"], &told[4]["verified"], &told[4]["games"]), (&1.into(), &3.into(), &4.into()));
    // Without the flag the verdict is the same.
    verify(&["--database", database]).fails(1, "1 of 4 games did not verify").says(&line).says("3 verified, 1 illegal now, 0 broken");
    bad
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_is_counted_before_a_deploy() {
    let careless = over_sqlite().await.registry(careless::registry()).start().await;
    let careful = over(careless.store.inner()).start().await;
    counts_before_a_deploy(careless.file().to_str().unwrap(), &careless, &careful.wire().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_is_counted_before_a_deploy() {
    let database = postgres::database().await;
    let careless = over_postgres(&database).await.registry(careless::registry()).start().await;
    let node = node::over(&database.url).start();
    let bad = counts_before_a_deploy(&database.url, &careless, &node.wire().await).await;
    // The same game with a changed row is told as broken.
    let sql = format!("UPDATE book_entry SET line = replace(line, 'c2', 'c3') WHERE game_id = '{bad}' AND seq = 5");
    database.execute(&format!("ALTER TABLE book_entry DISABLE TRIGGER USER; {sql}; ALTER TABLE book_entry ENABLE TRIGGER USER")).await;
    let ran = verify(&["--database", &database.url, "--against-build"]).fails(1, "1 of 4");
    ran.says(&format!("game {bad}: BROKEN: entry 4: ")).says("mnk@1: 2 verified, 1 broken");
}

/// Words name twenty; machines are told all.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twenty_games_are_named_and_the_others_counted() {
    let careless = over_sqlite().await.registry(careless::registry()).start().await;
    for _ in 0..23 {
        accepted_once(&careless).await;
    }
    let file = careless.file();
    let file = file.to_str().unwrap();
    let ran = verify(&["--database", file, "--against-build"]).fails(1, "23 of 23 games");
    assert_eq!(ran.out.matches(": ILLEGAL NOW: ").count(), 20, "{ran:#?}");
    ran.says("\n… and 3 more, which --json names\nmnk@1: 23 illegal now\n23 games");
    let told = objects(&verify(&["--database", file, "--against-build", "--json"]).fails(1, "23 of 23"));
    assert_eq!(told.iter().filter(|told| told["verdict"] == "illegal_now").count(), 23);
    let ran = verify(&["--database", file]).fails(1, "23 of 23 games");
    assert_eq!(ran.out.matches(": ILLEGAL NOW: ").count(), 23);
}

/// Before a deploy the schema is still that of the build before: it is read, and left as it is.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_oldest_schema_is_read_and_left_alone() {
    let mut local = over_sqlite().await.start().await;
    sound(&local.wire().await, "mnk").await;
    local.drain().await;
    let file = local.file();
    let written = std::fs::read(&file).unwrap();
    let told = verify(&["--database", file.to_str().unwrap(), "--against-build"]).ok();
    told.says("mnk@1: 1 verified");
    assert_eq!(std::fs::read(&file).unwrap(), written, "nothing is migrated");
    // Older than the first release, and newer than this build: both are told, and nothing is walked.
    for (version, why) in [(0, "is older than schema"), (1_000_000, "is newer than schema")] {
        let mut behind = SqliteConnection::connect(&format!("sqlite://{}", file.display())).await.unwrap();
        behind.execute("DELETE FROM _sqlx_migrations WHERE version > (SELECT min(version) FROM _sqlx_migrations)").await.unwrap();
        behind.execute(AssertSqlSafe(format!("UPDATE _sqlx_migrations SET version = {version}"))).await.unwrap();
        behind.close().await.unwrap();
        verify(&["--database", file.to_str().unwrap(), "--against-build"]).fails(2, why);
    }
}

#[test]
fn what_makes_no_sense_is_told() {
    verify(&["--against-build", "game.ply"]).fails(2, "cannot be used with");
    verify(&["--against-build"]).fails(2, "--database");
}
