//! `plybook verify --database`: every game of a store, under the rules of the binary at hand.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures::{StreamExt as _, stream};
use plybook_core::Uuid;
use plybook_tests::forgery::forged;
use plybook_tests::injected::over_sqlite;
use plybook_tests::node;
use plybook_tests::postgres::{self, TestDatabase};
use plybook_tests::table::table;
use plybook_tests::wire::Wire;
use serde_json::Value;
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, SqliteConnection};

use super::{House, Ran, command, run};

fn verify(database: &str, args: &[&str]) -> Ran {
    run(&[&["verify", "--database", database], args].concat(), "")
}

fn objects(ran: &Ran) -> Vec<Value> {
    ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn file_of(house: &House) -> String {
    house.path().join("books.db").to_str().unwrap().to_owned()
}

/// Five games, oldest first, of which the first four are to be damaged.
async fn five(wire: &Wire) -> Vec<String> {
    let mut ids = Vec::new();
    for _ in 0..5 {
        let mut game = wire.game().await;
        game.play("a1 b2 c3 a3").await;
        ids.push(game.id);
    }
    ids
}

/// What somebody does who may do everything: a changed move, a lost row, another seed, a newer ruleset.
fn damages(ids: &[String], blob: fn(&str) -> String) -> String {
    let id = |n: usize| blob(&ids[n]);
    let zeros = if blob("").starts_with("x'") { "zeroblob(32)" } else { "decode(repeat('00', 32), 'hex')" };
    format!(
        "UPDATE book_entry SET line = replace(line, 'c3', 'c2') WHERE game_id = {} AND seq = 4;
         DELETE FROM book_entry WHERE game_id = {} AND seq = 3;
         UPDATE game_seed SET seed = {zeros} WHERE game_id = {};
         DELETE FROM book_entry WHERE game_id = {};",
        id(0),
        id(1),
        id(2),
        id(3),
    )
}

async fn damage_postgres(database: &TestDatabase, ids: &[String]) {
    let tables = ["book_entry", "game_seed"];
    let switch = |how: &str| tables.map(|table| format!("ALTER TABLE {table} {how} TRIGGER USER;")).concat();
    let sql = damages(ids, |id| format!("'{id}'"));
    database.execute(&format!("{}{sql}{}", switch("DISABLE"), switch("ENABLE"))).await;
}

async fn damage_sqlite(file: &str, ids: &[String]) {
    let mut behind = SqliteConnection::connect(&format!("sqlite://{file}")).await.unwrap();
    let triggers = ["book_entry_is_never_updated", "book_entry_is_never_deleted", "game_seed_is_never_updated"];
    let drop: String = triggers.iter().map(|trigger| format!("DROP TRIGGER {trigger};")).collect();
    let sql = damages(ids, |id| format!("x'{}'", id.replace('-', "")));
    behind.execute(AssertSqlSafe(format!("{drop}{sql}"))).await.unwrap();
    behind.close().await.unwrap();
}

/// Each damage is named by its game and entry, newest first; what is sound is only counted.
fn names_what_is_wrong(database: &str, ids: &[String]) {
    let ran = verify(database, &[]).fails(1, "4 of 5 games did not verify").says("1 verified, 0 illegal now, 4 broken, 0 by rules");
    let told: Vec<&str> = ran.out.lines().filter(|line| line.starts_with("game ")).collect();
    assert_eq!(told.len(), 4, "{ran:#?}");
    for (line, (id, why)) in told.iter().zip([
        (&ids[3], "entry 1: it is missing"),
        (&ids[2], "entry 1: the stored seed is not the one committed to"),
        (&ids[1], "entry 3: it is missing"),
        (&ids[0], "entry 4: "),
    ]) {
        assert!(line.starts_with(&format!("game {id}: BROKEN: {why}")), "{line}");
    }
    let ran = verify(database, &["--json"]).fails(1, "4 of 5");
    let objects = objects(&ran);
    let verdicts: Vec<&str> = objects[..5].iter().map(|object| object["verdict"].as_str().unwrap()).collect();
    assert_eq!(verdicts, ["verified", "broken", "broken", "broken", "broken"]);
    assert_eq!(objects[4]["entry"], 4);
    let counts = serde_json::json!({
        "games": 5, "verified": 1, "illegal_now": 0, "broken": 4, "unsupported": 0, "unreadable": 0, "evidence": 0, "entries": 10,
        "finished": true,
        "last_game": ids[0],
    });
    assert_eq!(objects[5], counts);
    // What came after the damaged ones is sound.
    verify(database, &["--resume-after", &ids[1]]).fails(1, "1 of 1 games did not verify");
    verify(database, &["--resume-after", &ids[0]]).ok().says("0 games");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_damaged_row_of_a_file_is_found() {
    let house = House::open();
    let ids = five(&plybook_tests::wire::connect(house.node.address()).await).await;
    verify(&file_of(&house), &[]).ok().says("5 games, 25 right entries: 5 verified, 0 illegal now, 0 broken");
    damage_sqlite(&file_of(&house), &ids).await;
    names_what_is_wrong(&file_of(&house), &ids);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_damaged_row_of_postgres_is_found() {
    let database = postgres::database().await;
    let node = node::over(&database.url).start();
    let ids = five(&node.wire().await).await;
    let ran = command(&["verify", "--database"]).env("PLYBOOK_DATABASE", &database.url).output().unwrap();
    assert!(ran.status.success() && String::from_utf8_lossy(&ran.stdout).contains("5 verified"), "{ran:?}");
    damage_postgres(&database, &ids).await;
    names_what_is_wrong(&database.url, &ids);
}

/// Moves go on being made while the walk reads; every game verifies up to where it is, and nobody is held up.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_walk_runs_beside_traffic() {
    let house = House::open();
    let database = postgres::database().await;
    let over_postgres = node::over(&database.url).start();
    for (address, database) in [(house.node.address(), file_of(&house)), (over_postgres.address(), database.url.clone())] {
        let wire = plybook_tests::wire::connect(address).await;
        let (stop, playing) = (Arc::new(AtomicBool::new(false)), wire.game().mnk(19, 19, 19).await);
        let traffic = tokio::spawn({
            let (stop, mut game, mut made) = (Arc::clone(&stop), playing, 0u16);
            async move {
                while !stop.load(Ordering::SeqCst) && made < 300 {
                    let cell = format!("{}{}", char::from(b'a' + (made % 19) as u8), 1 + made / 19);
                    game.play(&cell).await;
                    made += 1;
                }
                game.head
            }
        });
        let mut entries = Vec::new();
        for _ in 0..5 {
            let database = database.clone();
            let ran = tokio::task::spawn_blocking(move || verify(&database, &["--json"])).await.unwrap().ok();
            let counts = objects(&ran).pop().unwrap();
            assert_eq!((&counts["games"], &counts["verified"]), (&1.into(), &1.into()));
            entries.push(counts["entries"].as_u64().unwrap());
        }
        stop.store(true, Ordering::SeqCst);
        let head = traffic.await.unwrap();
        assert!(entries.is_sorted() && entries[0] < entries[4] && entries[4] <= head, "{entries:?} of {head}");
    }
}

/// Ctrl-C names the game to go on after; both walks together visit every game once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_walk_that_was_stopped_goes_on_where_it_was() {
    const GAMES: usize = 800;
    let house = House::open();
    let wire = plybook_tests::wire::connect(house.node.address()).await;
    let created = stream::iter(0..GAMES).map(|_| async { wire.game().await.id }).buffer_unordered(16);
    let all: BTreeSet<String> = created.collect().await;
    let file = file_of(&house);
    let mut walk = command(&["verify", "--database", &file, "--json"]).spawn().unwrap();
    let mut lines = BufReader::with_capacity(1, walk.stdout.take().unwrap()).lines();
    let first = lines.next().unwrap().unwrap();
    // Nobody reads on meanwhile, so it cannot come to its end: a pipe holds less than its games.
    let sent = Command::new("kill").args(["-INT", &walk.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let mut told: Vec<Value> = [Ok(first)].into_iter().chain(lines).map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect();
    let output = walk.wait_with_output().unwrap();
    let counts = told.pop().unwrap();
    let last = counts["last_game"].as_str().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(1) && said.contains(&format!("go on with --resume-after {last}")), "{said}");
    assert_eq!((&counts["finished"], counts["games"].as_u64()), (&false.into(), Some(told.len() as u64)));
    let rest = objects(&verify(&file, &["--json", "--resume-after", last]).ok());
    let visited: Vec<&str> = told.iter().chain(&rest[..rest.len() - 1]).map(|object| object["game_id"].as_str().unwrap()).collect();
    assert_eq!(visited.len(), GAMES, "{} before, {} after", told.len(), rest.len() - 1);
    assert_eq!(visited.iter().map(|id| (*id).to_owned()).collect::<BTreeSet<_>>(), all);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_game_by_rules_that_this_build_has_not_is_counted_apart() {
    let database = postgres::database().await;
    let node = node::over(&database.url).start();
    let game = node.wire().await.game().await;
    let header = database.column(&format!("SELECT line FROM book_entry WHERE game_id = '{}'", game.id)).await.pop().unwrap();
    let later = header.replace("ruleset mnk@1", "ruleset mnk@9");
    let digest = plybook_core::Digest::of(later.as_bytes());
    let sql = format!("UPDATE book_entry SET line = '{later}', digest = decode('{digest}', 'hex') WHERE game_id = '{}'", game.id);
    database.execute(&format!("ALTER TABLE book_entry DISABLE TRIGGER USER; {sql}; ALTER TABLE book_entry ENABLE TRIGGER USER")).await;
    let ran = verify(&database.url, &[]).fails(1, "1 of 1 games did not verify");
    ran.says(": UNSUPPORTED: entry 1: ruleset mnk@9 is not in this build").says("0 broken, 1 by rules that plybook");
}

/// Looking makes no file, and brings none up to date.
#[test]
fn what_makes_no_sense_is_told_and_nothing_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("no-such.db");
    verify(missing.to_str().unwrap(), &[]).fails(2, "cannot open");
    assert!(!missing.exists());
    let empty = folder.path().join("empty.db");
    std::fs::write(&empty, "").unwrap();
    verify(empty.to_str().unwrap(), &[]).fails(2, "run `plybook migrate`");
    assert_eq!(std::fs::read(&empty).unwrap(), b"");
    verify("mysql://localhost/plybook", &[]).fails(2, "neither postgres");
    verify("x.db", &["--resume-after", "yesterday"]).fails(2, "is no game's id");
    verify("x.db", &["game.ply"]).fails(2, "cannot be used with");
    verify("x.db", &["--public-key", "node.pub"]).fails(2, "cannot be used with");
    run(&["verify", "--resume-after", "x", "game.ply"], "").fails(2, "cannot be used with");
    run(&["verify", "--resume-after", "x"], "").fails(2, "--database");
}

/// Evidence stays as it came: what its players did wrong is told, and is no fault of the database or the binary. What
/// was done to its rows since is.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_imported_book_that_no_rules_accept_is_told_and_stands_in_nobodys_way() {
    let house = House::open();
    let wire = plybook_tests::wire::connect(house.node.address()).await;
    let file = |id: u128| table().id(id).play("b2 a1 c3").book().print();
    let illegal = forged(&file(3), "move a1 ply=2 cells=0>2:6", "move b2 ply=2 cells=0>2:4");
    let unknown = forged(&file(2), "ruleset mnk@1", "ruleset mnk@9");
    let boards = forged(&file(1), "param cols 3", "param cols 0");
    for book in [&file(4), &illegal, &unknown, &boards] {
        wire.import(book).await.unwrap();
    }
    for how in [&[][..], &["--against-build"]] {
        let ran = verify(&file_of(&house), how).ok().says(" 1 verified, 0 illegal now, 0 broken, 0 by rules");
        let ran = ran.says("4 games, 6 right entries: ").says(", 3 kept as evidence that does not verify");
        let told = |id: u128| format!("game {}: EVIDENCE: ", Uuid::from_u128(id));
        ran.says(&format!("{}entry 3: the move is illegal", told(3))).says(&told(2)).says(&format!("{}entry 1: ", told(1)));
    }
    let objects = objects(&verify(&file_of(&house), &["--json"]).ok());
    let verdicts: Vec<&str> = objects[..4].iter().map(|object| object["verdict"].as_str().unwrap()).collect();
    assert_eq!(verdicts, ["verified", "evidence", "evidence", "evidence"]);
    assert_eq!((&objects[1]["entry"], &objects[4]["evidence"]), (&3.into(), &3.into()));

    let mut behind = SqliteConnection::connect(&format!("sqlite://{}", file_of(&house))).await.unwrap();
    let changed = |id: u128| {
        let id = Uuid::from_u128(id).simple();
        format!("UPDATE book_entry SET line = replace(line, 'c3', 'c2') WHERE game_id = x'{id}' AND seq = 4;")
    };
    let drop = "DROP TRIGGER book_entry_is_never_updated;";
    behind.execute(AssertSqlSafe(format!("{drop}{}{}", changed(4), changed(3)))).await.unwrap();
    behind.close().await.unwrap();
    let ran = verify(&file_of(&house), &[]).fails(1, "2 of 4 games did not verify");
    for (id, at) in [(4, 4), (3, 3)] {
        assert!(ran.out.contains(&format!("game {}: BROKEN: entry {at}: ", Uuid::from_u128(id))), "{ran:?}");
    }
}

/// Every tenant's games, or one's; and the walk goes on where it ended, whoever the game belongs to.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_games_of_every_tenant_are_walked() {
    let mut local = over_sqlite().await.auth(plybook_tests::keyring::keys_alone()).start().await;
    let mut games = Vec::new();
    for tenant in ["one", "other"] {
        let wire = local.service(tenant).await;
        let mut ids = [wire.game().await.id, wire.game().await.id];
        // The order of ids is that of the walk, also of two from the same millisecond.
        ids.sort();
        games.push(ids);
    }
    local.drain().await;
    let file = local.file();
    let walked = |args: &[&str]| -> Vec<String> {
        let told = objects(&verify(file.to_str().unwrap(), &[&["--json"], args].concat()).ok());
        told.iter().filter_map(|told| told["game_id"].as_str().map(str::to_owned)).collect()
    };
    let [[first, second], [third, fourth]] = [&games[0], &games[1]].map(|games| games.clone());
    assert_eq!(walked(&[]), [&second, &first, &fourth, &third].map(String::clone));
    assert_eq!(walked(&["--tenant", "other"]), [&fourth, &third].map(String::clone));
    assert_eq!(walked(&["--resume-after", &second]), [&first, &fourth, &third].map(String::clone));
    assert_eq!(walked(&["--resume-after", &fourth]), std::slice::from_ref(&third));
    verify(file.to_str().unwrap(), &["--tenant", "nobody"]).fails(2, "there is no tenant \"nobody\"");
}
