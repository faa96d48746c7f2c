//! `plybook migrate`: forwards, one process at a time, beside a build that plays on; looking changes nothing.

use plybook_tests::node::{self, Node};
use plybook_tests::patience::until;
use plybook_tests::postgres::{TestDatabase, database, empty_database};
use plybook_tests::wire::connect;

use super::{Ran, command, ended, run};

fn migrate(database: &str, flags: &[&str]) -> Ran {
    run(&[&["migrate", "--database", database], flags].concat(), "")
}

async fn applied(database: &TestDatabase) -> Vec<String> {
    database.column("SELECT version || ' ' || description FROM _sqlx_migrations ORDER BY version").await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn processes_that_migrate_at_once_take_turns() {
    let wanted = applied(&database().await).await;
    for _ in 0..3 {
        let empty = empty_database().await;
        let started: Vec<_> = (0..4).map(|_| command(&["migrate", "--database", &empty.url]).spawn().unwrap()).collect();
        for child in started {
            tokio::task::block_in_place(|| ended(child)).ok();
        }
        assert_eq!(applied(&empty).await, wanted, "each once");
    }
}

/// The lock is the database's own, and whoever waits for it has done nothing yet.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_migration_waits_for_the_one_under_way() {
    let empty = empty_database().await;
    let noted = "CREATE TABLE _sqlx_migrations (version bigint PRIMARY KEY, description text NOT NULL, success boolean NOT NULL,
        installed_on timestamptz NOT NULL DEFAULT now(), checksum bytea NOT NULL, execution_time bigint NOT NULL)";
    empty.execute(noted).await;
    let mut holder = empty.connect().await;
    sqlx::query("BEGIN").execute(&mut holder).await.unwrap();
    sqlx::query("LOCK TABLE _sqlx_migrations IN SHARE MODE").execute(&mut holder).await.unwrap();
    let children: Vec<_> = (0..2).map(|_| command(&["migrate", "--database", &empty.url]).spawn().unwrap()).collect();
    let waiting = "SELECT count(*)::text FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
                   AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
    until("one of them waits", async || empty.column(waiting).await == ["1"]).await;
    sqlx::query("ROLLBACK").execute(&mut holder).await.unwrap();
    for child in children {
        tokio::task::block_in_place(|| ended(child)).ok();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn looking_changes_nothing() {
    let empty = empty_database().await;
    let tables = "SELECT relname::text FROM pg_class WHERE relnamespace = 'public'::regnamespace";
    tokio::task::block_in_place(|| {
        migrate(&empty.url, &["--status"]).ok().says("0001 books").says("pending").says("run `plybook migrate`");
        migrate(&empty.url, &["--dry-run"]).ok().says("CREATE TABLE book_entry (");
    });
    assert_eq!(empty.column(tables).await, [""; 0]);
    tokio::task::block_in_place(|| {
        migrate(&empty.url, &[]).ok();
        migrate(&empty.url, &["--dry-run"]).ok().says("nothing is to be done");
        let status = migrate(&empty.url, &["--status"]).ok().says("applied").says("this plybook serves this schema");
        assert!(!status.out.contains("pending"), "{status:?}");
    });

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("books.db");
    migrate(file.to_str().unwrap(), &["--status"]).fails(2, "cannot open");
    assert!(!file.exists());
    migrate(file.to_str().unwrap(), &[]).ok();
    migrate(file.to_str().unwrap(), &["--status"]).ok().says("0001 books").says("this plybook serves this schema");
}

const LATER: &str = "ALTER TABLE game ADD COLUMN mood text NOT NULL DEFAULT 'calm'; CREATE TABLE spectator (name text);
    INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) VALUES (9999, 'expand: moods', true, '', 0)";

async fn plays(node: &Node) {
    let wire = connect(node.address()).await;
    let mut game = wire.game().await;
    game.play("b2 a1 c3").await;
    wire.proves(&game.id).await;
    let listed = wire.games().list_games(plybook_proto::v1::ListGamesRequest::default()).await.unwrap().into_inner();
    assert!(listed.games.iter().any(|listed| listed.game_id == game.id));
}

/// The build that stands in for the one before is this one: a later build has migrated, and says that it may go on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_build_goes_on_beside_a_later_expansion_and_stops_at_a_contraction() {
    let database = database().await;
    let running = node::over(&database.url).start();
    plays(&running).await;
    database.execute(LATER).await;
    plays(&running).await;
    let started = node::over(&database.url).start();
    plays(&started).await;
    tokio::task::block_in_place(|| {
        migrate(&database.url, &[]).ok();
        migrate(&database.url, &["--status"]).ok().says("of a later plybook").says("serves this schema");
        run(&["verify", "--database", &database.url], "").ok();
    });
    drop((running, started));

    database.execute("UPDATE _sqlx_migrations SET description = 'contract: no moods' WHERE version = 9999").await;
    let serve = ["serve", "--listen", "127.0.0.1:0", "--database", &database.url];
    tokio::task::block_in_place(|| {
        run(&serve, "").fails(2, "schema 9999 is newer");
        migrate(&database.url, &[]).fails(2, "schema 9999 is newer");
        migrate(&database.url, &["--status"]).fails(2, "schema 9999 is newer").says("not of this plybook");
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_schema_that_no_build_made_is_refused_in_words() {
    for (change, why) in [
        ("UPDATE _sqlx_migrations SET success = false WHERE version = 1", "schema 1 was begun and not finished"),
        ("UPDATE _sqlx_migrations SET checksum = '' WHERE version = 1", "brought to schema 1 by another plybook"),
    ] {
        let database = database().await;
        database.execute(change).await;
        tokio::task::block_in_place(|| {
            run(&["serve", "--listen", "127.0.0.1:0", "--database", &database.url], "").fails(2, why);
            migrate(&database.url, &[]).fails(2, why);
            migrate(&database.url, &["--status"]).fails(2, why);
        });
    }
    let strange = empty_database().await;
    strange.execute("CREATE TABLE game (score int)").await;
    tokio::task::block_in_place(|| {
        run(&["serve", "--listen", "127.0.0.1:0", "--database", &strange.url], "").fails(2, "no Plybook schema");
        migrate(&strange.url, &[]).fails(1, "already exists");
    });
    assert_eq!(strange.column("SELECT relname::text FROM pg_class WHERE relname = 'book_entry'").await, [""; 0], "all or nothing");
}
