//! What only the embedded store promises.

use std::path::Path;
use std::time::{Duration, Instant};

use plybook_core::Seq;
use plybook_store::{Error, Filter, Sqlite, SqliteOptions, Store};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{AssertSqlSafe, ConnectOptions, Executor, Row};

use super::{open_game, play_to};
use plybook_tests::patience::{NEVER, PATIENCE};

async fn past_the_store(path: &Path) -> SqliteConnection {
    SqliteConnectOptions::new().filename(path).connect().await.unwrap()
}

#[tokio::test]
async fn books_survive_closing_and_opening() {
    let folder = tempfile::tempdir().unwrap();
    let options = SqliteOptions::new(folder.path().join("books.db"));
    let store = Sqlite::open(&options).await.unwrap();
    let key = open_game(&store).await;
    play_to(&store, key, 3).await;
    let book = store.entries(key, Seq::ZERO, 10).await.unwrap();
    store.close().await;
    let store = Sqlite::open(&options).await.unwrap();
    assert_eq!(store.entries(key, Seq::ZERO, 10).await.unwrap(), book);
    assert_eq!(store.path(), options.path);
}

#[tokio::test]
async fn the_database_refuses_to_change_what_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("books.db");
    let store = Sqlite::open(&SqliteOptions::new(&path)).await.unwrap();
    let key = open_game(&store).await;
    play_to(&store, key, 3).await;
    let book = store.entries(key, Seq::ZERO, 10).await.unwrap();

    let mut connection = past_the_store(&path).await;
    for sql in [
        "UPDATE book_entry SET line = 'x' WHERE seq = 2",
        "UPDATE book_entry SET request_id = zeroblob(16) WHERE seq = 2",
        "DELETE FROM book_entry WHERE seq = 3",
        "DELETE FROM book_entry",
        "REPLACE INTO book_entry SELECT * FROM book_entry WHERE seq = 3",
        "INSERT OR REPLACE INTO book_entry (tenant_id, game_id, seq, request_id, request_hash, digest, line)
         SELECT tenant_id, game_id, seq, randomblob(16), request_hash, digest, 'x' FROM book_entry WHERE seq = 3",
        "UPDATE game_seed SET seed = zeroblob(32)",
        "DELETE FROM game_seed",
    ] {
        let refusal = connection.execute(AssertSqlSafe(sql)).await.expect_err(sql).to_string();
        assert!(refusal.contains("never changes"), "{sql}: {refusal}");
    }
    assert_eq!(store.entries(key, Seq::ZERO, 10).await.unwrap(), book);
}

#[tokio::test]
async fn the_file_keeps_a_write_ahead_log() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("books.db");
    let _store = Sqlite::open(&SqliteOptions::new(&path)).await.unwrap();
    let mode: String = past_the_store(&path).await.fetch_one("PRAGMA journal_mode").await.unwrap().get(0);
    assert_eq!(mode, "wal");
}

#[tokio::test]
async fn a_newer_schema_is_refused_in_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let options = SqliteOptions::new(folder.path().join("books.db"));
    let store = Sqlite::open(&options).await.unwrap();
    let newer = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) VALUES (9999, 'x', true, x'00', 0)";
    past_the_store(&options.path).await.execute(newer).await.unwrap();
    for error in [store.ready().await.unwrap_err(), Sqlite::open(&options).await.unwrap_err()] {
        assert!(matches!(&error, Error::Config(why) if why.contains("newer plybook")), "{error:?}");
    }
}

#[tokio::test]
async fn a_file_that_cannot_be_is_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("no/such/folder/books.db");
    let error = Sqlite::open(&SqliteOptions::new(&missing)).await.unwrap_err();
    assert!(matches!(&error, Error::Config(why) if why.contains("no/such/folder")), "{error:?}");

    let other = folder.path().join("letter.txt");
    std::fs::write(&other, "Dear reader, ".repeat(1_000)).unwrap();
    let error = Sqlite::open(&SqliteOptions::new(&other)).await.unwrap_err();
    assert!(matches!(&error, Error::Corrupt(why) if why.contains("letter.txt")), "{error:?}");
}

#[tokio::test]
async fn a_missing_entry_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("books.db");
    let store = Sqlite::open(&SqliteOptions::new(&path)).await.unwrap();
    let key = open_game(&store).await;
    play_to(&store, key, 5).await;
    past_the_store(&path).await.execute("DROP TRIGGER book_entry_is_never_deleted; DELETE FROM book_entry WHERE seq = 3").await.unwrap();
    for after in [Seq::ZERO, Seq(2)] {
        let answer = store.entries(key, after, 10).await;
        assert!(matches!(answer, Err(Error::Missing { game, seq: Seq(3) }) if game == key.game), "{answer:?}");
    }
    assert_eq!(store.entries(key, Seq(3), 10).await.unwrap().len(), 2);
}

#[tokio::test]
async fn a_game_that_lost_entries_stays_in_its_list() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("books.db");
    let store = Sqlite::open(&SqliteOptions::new(&path)).await.unwrap();
    let (beheaded, gone) = (open_game(&store).await, open_game(&store).await);
    play_to(&store, beheaded, 2).await;
    past_the_store(&path).await.execute("DROP TRIGGER book_entry_is_never_deleted; DELETE FROM book_entry WHERE seq = 1").await.unwrap();
    let list = store.list(beheaded.tenant, &Filter::default(), None, 10).await.unwrap();
    let found: Vec<_> = list.iter().map(|summary| (summary.game, summary.header.is_some(), summary.last.is_some())).collect();
    assert_eq!(found, [(gone.game, false, false), (beheaded.game, false, true)]);
}

#[tokio::test]
async fn a_game_has_the_version_and_the_time_of_its_header() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("books.db");
    let store = Sqlite::open(&SqliteOptions::new(&path)).await.unwrap();
    open_game(&store).await;
    let row = past_the_store(&path).await.fetch_one("SELECT ruleset_version, created_at FROM game").await.unwrap();
    assert_eq!((row.get::<u32, _>(0), row.get::<&str, _>(1)), (3, "2026-11-29T21:52:03.456Z"));
}

/// A check that would stand in a later version's way can only be dropped by rebuilding the table.
#[tokio::test]
async fn the_file_leaves_room_for_later_versions() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("books.db");
    let store = Sqlite::open(&SqliteOptions::new(&path)).await.unwrap();
    open_game(&store).await;
    let mut connection = past_the_store(&path).await;
    connection.execute("UPDATE game SET state = 'adjourned'").await.unwrap();
    let longer = "INSERT INTO book_entry (tenant_id, game_id, seq, request_id, request_hash, digest, line)
        SELECT tenant_id, game_id, 2, randomblob(16), request_hash, digest, hex(zeroblob(5000)) FROM book_entry";
    connection.execute(longer).await.unwrap();
}

fn patient(path: &Path) -> SqliteOptions {
    SqliteOptions { busy_timeout: NEVER, ..SqliteOptions::new(path) }
}

/// Processes that find no file all make it, and all find it made.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_new_file_opened_by_many_at_once_is_made_once() {
    for _ in 0..10 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new.db");
        let opened = futures::future::join_all((0..6).map(|_| {
            let options = patient(&path);
            tokio::spawn(async move { Sqlite::open(&options).await.map(drop) })
        }));
        for opened in opened.await {
            opened.unwrap().unwrap();
        }
    }
}

/// To turn the log on beside another writer is answered "busy" at once, and beside a reader after SQLite's own waiting.
#[tokio::test]
async fn a_busy_file_is_waited_for_while_there_is_time() {
    for hold in ["BEGIN IMMEDIATE", "BEGIN; SELECT count(*) FROM other"] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("held.db");
        let mut holder = SqliteConnectOptions::new().filename(&path).create_if_missing(true).connect().await.unwrap();
        holder.execute("CREATE TABLE other (x)").await.unwrap();
        holder.execute(hold).await.unwrap();

        let time = Duration::from_millis(300);
        let began = Instant::now();
        let error = Sqlite::open(&SqliteOptions { busy_timeout: time, ..SqliteOptions::new(&path) }).await.unwrap_err();
        assert!(matches!(&error, Error::Unavailable(why) if why.contains("held.db")), "{hold}: {error:?}");
        assert!(began.elapsed() >= time, "{hold}: it gave up after {:?}", began.elapsed());

        let options = patient(&path);
        let waiting = tokio::spawn(async move { Sqlite::open(&options).await });
        // However little of this the other task is given: it must not have given up.
        tokio::time::sleep(time).await;
        assert!(!waiting.is_finished(), "{hold}");
        holder.execute("COMMIT").await.unwrap();
        waiting.await.unwrap().unwrap().ready().await.unwrap();
    }
}

#[tokio::test]
async fn what_is_no_waiting_matter_is_told_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let letter = folder.path().join("letter.txt");
    std::fs::write(&letter, "Dear reader, ".repeat(1_000)).unwrap();
    let other = folder.path().join("other.db");
    let mut owner = SqliteConnectOptions::new().filename(&other).create_if_missing(true).connect().await.unwrap();
    owner.execute("CREATE TABLE game (x)").await.unwrap();
    for path in [folder.path().join("no/such/folder.db"), letter, other] {
        let options = SqliteOptions { busy_timeout: NEVER, ..SqliteOptions::new(&path) };
        let answer = tokio::time::timeout(PATIENCE, Sqlite::open(&options)).await.expect("it waits for nobody");
        assert!(matches!(answer, Err(Error::Config(_) | Error::Corrupt(_) | Error::Failed(_))), "{}: {answer:?}", path.display());
    }
}

/// Who finds the schema made takes no lock, so a long write of another process keeps nobody out.
#[tokio::test]
async fn a_file_is_opened_while_another_process_writes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("books.db");
    drop(Sqlite::open(&patient(&path)).await.unwrap());
    let mut writer = past_the_store(&path).await;
    writer.execute("BEGIN IMMEDIATE; UPDATE game SET state = state").await.unwrap();
    let store = tokio::time::timeout(PATIENCE, Sqlite::open(&patient(&path))).await.expect("it needs no lock").unwrap();
    store.ready().await.unwrap();
    writer.execute("ROLLBACK").await.unwrap();
}
