//! A database as the first release left it: this build brings its schema up and goes on with its games.

use plybook_core::verify::verify;
use plybook_core::{Book, Digest};
use plybook_rulesets::Registry;
use plybook_store::{Sqlite, SqliteOptions, Store};
use plybook_tests::injected::{Local, over, over_postgres};
use plybook_tests::postgres::{TestDatabase, database, empty_database};
use plybook_tests::table::{SEED, Table, table};
use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Executor, SqlSafeStr};

const POSTGRES: &str = include_str!("../../../migrations/postgres/0001_books.sql");
const SQLITE: &str = include_str!("../../../migrations/sqlite/0001_books.sql");

/// The schema of the first release, and no later step.
fn first(text: &'static str) -> Migrator {
    Migrator::with_migrations(vec![Migration::new(1, "books".into(), MigrationType::Simple, text.into_sql_str(), false)])
}

/// A game that the first release had under way: three throws of two seats.
fn under_way() -> Table {
    table().snakes(40, &[]).seed_of_the_service().roll(3)
}

/// How one of the two databases writes bytes.
type Bytes = fn(&[u8]) -> String;

/// The rows of a book, as the first release inserted them.
fn rows(book: &Book, bytes: Bytes, created: &str) -> Vec<String> {
    let header = book.header();
    let game = bytes(header.game.as_bytes());
    let request = |number: u8| bytes(&[number; 16]);
    let hash = bytes(&Digest::of(b"a request").0);
    let (ruleset, version) = (&header.ruleset.name, header.ruleset.version);
    let mut rows =
        vec![format!("INSERT INTO game VALUES (1, {game}, {}, {hash}, '{ruleset}', {version}, 'active', {created})", request(1))];
    rows.extend(header.seats.iter().map(|place| format!("INSERT INTO game_player VALUES (1, '{}', {game})", place.player)));
    rows.push(format!("INSERT INTO game_seed VALUES (1, {game}, {})", bytes(&SEED)));
    for (seq, link) in (1u8..).zip(book.links()) {
        rows.push(format!(
            "INSERT INTO book_entry (tenant_id, game_id, seq, request_id, request_hash, digest, line)
             VALUES (1, {game}, {seq}, {}, {hash}, {}, '{}')",
            request(seq),
            bytes(&link.digest.0),
            link.text
        ));
    }
    rows
}

/// The game goes on from where it stood, and its book verifies from the first entry on.
async fn goes_on(local: &Local, book: &Book) {
    let wire = local.wire().await;
    let id = book.header().game.to_string();
    let begun = book.print();
    assert_eq!(wire.book(&id).await, begun);
    let mut game = wire.open(&id).await;
    while game.to_move.is_some() {
        game.play("roll").await;
    }
    let whole = wire.book(&id).await;
    let entries = begun.split("end ").next().unwrap();
    assert!(whole.starts_with(entries), "what was written stays");
    let report = verify(&whole, &Registry::standard()).unwrap();
    assert!(report.outcome.is_some() && report.entries > 4, "{report:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sqlite_file_of_the_first_release_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let options = SqliteOptions::new(folder.path().join("books.db"));
    let table = under_way();
    let mut file = SqliteConnectOptions::new().filename(&options.path).create_if_missing(true).connect().await.unwrap();
    first(SQLITE).run(&mut file).await.unwrap();
    let bytes: Bytes = |bytes| format!("x'{}'", hex::encode(bytes));
    for row in rows(table.book(), bytes, &format!("'{}'", table.header().created)) {
        file.execute(AssertSqlSafe(row)).await.unwrap();
    }
    sqlx::Connection::close(file).await.unwrap();

    let store = Sqlite::open(&options).await.unwrap();
    store.ready().await.unwrap();
    let local = over(std::sync::Arc::new(store)).start().await;
    goes_on(&local, table.book()).await;
}

/// As a node of the first release says it.
async fn inserts(database: &TestDatabase, table: &Table) {
    let bytes: Bytes = |bytes| match bytes.len() {
        16 => format!("'{}'", hex::encode(bytes)),
        _ => format!("'\\x{}'", hex::encode(bytes)),
    };
    for row in rows(table.book(), bytes, &format!("'{}'", table.header().created)) {
        database.execute(&row).await;
    }
}

/// Migrations expand before they contract: a node of the first release plays on after a later one has migrated.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_first_release_says_still_holds_after_every_later_migration() {
    let database = database().await;
    let table = under_way();
    inserts(&database, &table).await;
    goes_on(&over_postgres(&database).await.start().await, table.book()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_postgres_database_of_the_first_release_goes_on() {
    let database = empty_database().await;
    let table = under_way();
    first(POSTGRES).run(&mut database.connect().await).await.unwrap();
    inserts(&database, &table).await;

    let store = database.store().await;
    store.migrate().await.unwrap();
    store.ready().await.unwrap();
    store.close().await;
    let local = over_postgres(&database).await.start().await;
    goes_on(&local, table.book()).await;
}
