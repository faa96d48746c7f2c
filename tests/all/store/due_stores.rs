//! What each store promises alone of the queue of what is due: on Postgres what a claim reads, whom it waits for and
//! what a role may; in a file, that it leaves the writer alone.

use std::time::{Duration, Instant};

use plybook_core::{Time, Uuid};
use plybook_store::{Arms, Claimed, DueChange, NewEntry, Postgres, PostgresOptions, Sqlite, SqliteOptions, Store, TenantId};
use plybook_tests::patience::{NEVER, PATIENCE};
use plybook_tests::postgres::{TestDatabase, database};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Executor as _};

use super::due::{LONG, armed_game, arming, future, ms, time};
use super::{new_entry, new_key, open_game, request};

/// So many rows of this tenant, all of them due from the first on or none of them.
async fn fill(database: &TestDatabase, tenant: u32, rows: u32, first: &str) {
    database
        .execute(&format!(
            "INSERT INTO due (tenant_id, game_id, kind, due_at, armed_for)
             SELECT {tenant}, gen_random_uuid(), kind, at, at
             FROM generate_series(1, {rows} / 2) AS n, unnest(ARRAY['time', 'bot']) AS kind,
                 LATERAL (SELECT timestamptz '{first}' + n * interval '1 second') AS t (at)"
        ))
        .await;
}

/// Everything that asks the queue, each more often than it takes to settle on a plan.
async fn use_it(store: &Postgres) {
    let key = open_game(store).await;
    let mut seq = 1;
    for _ in 0..20 {
        let claimed = store.claim_due(16, LONG).await.unwrap();
        assert_eq!(claimed.len(), 16);
        for (at, one) in claimed.iter().enumerate() {
            assert!(store.settle_due(one, (at % 2 == 0).then(|| future(1))).await.unwrap());
        }
        assert!(store.next_due().await.unwrap().is_some());
        assert_eq!(store.list_due(TenantId::DEFAULT, ms(u64::MAX), None, 10).await.unwrap().len(), 10);
        seq += 2;
        store.append(arming(key, seq - 1, Arms { time: Some(future(9)), bot: Some(future(9)) })).await.unwrap();
        assert_eq!(store.due_of(key).await.unwrap().len(), 2);
        store.append(NewEntry { due: DueChange::Disarm, ..new_entry(key, seq, request(1)) }).await.unwrap();
    }
}

/// Sessions report what they did when they end, which `close` does not wait for.
async fn reported(database: &TestDatabase, deleted: u32) {
    let deadline = Instant::now() + PATIENCE;
    let seen = format!("SELECT 'seen' FROM pg_stat_user_tables WHERE relname = 'due' AND n_tup_del >= {deleted}");
    while database.column(&seen).await.is_empty() {
        assert!(Instant::now() < deadline, "the statistics never came");
    }
}

/// Also while the database knows nothing of a table that has filled, and in an outage of which everything is due.
#[tokio::test]
async fn the_queue_is_never_scanned_whole() {
    let database = database().await;
    fill(&database, 1, 20_000, "2100-01-01").await;
    fill(&database, 2, 30_000, "2001-01-01").await;
    let scans = async || database.column("SELECT seq_scan::text FROM pg_stat_user_tables WHERE relname = 'due'").await;
    for (round, analyze) in [(1, false), (2, true)] {
        if analyze {
            database.execute("ANALYZE due").await;
        }
        let before = scans().await;
        let store = database.store().await;
        use_it(&store).await;
        store.close().await;
        // Half of what was claimed, and each time both rows of the game.
        reported(&database, round * 20 * (8 + 2)).await;
        assert_eq!(scans().await, before, "round {round}");
    }
    let plan = database
        .column("EXPLAIN SELECT ctid FROM due WHERE due_at <= now() ORDER BY due_at LIMIT 64 FOR UPDATE SKIP LOCKED")
        .await
        .join("\n");
    assert!(plan.contains("due_soonest"), "{plan}");
    // Forty claims of 16 rows and forty looks for the first one go by it, and pass what was there before them at most.
    let read = database.column("SELECT idx_tup_read::text FROM pg_stat_user_indexes WHERE indexrelname = 'due_soonest'").await;
    assert!(read[0].parse::<u32>().unwrap() < 50_000, "{read:?} is what it costs to read them all once");
}

/// A page of one tenant passes over nothing of another's, nor over bots.
#[tokio::test]
async fn a_tenants_list_reads_its_own_rows_alone() {
    let database = database().await;
    fill(&database, 2, 10_000, "2001-01-01").await;
    fill(&database, 1, 100, "2100-01-01").await;
    database.execute("ANALYZE due").await;
    let store = database.store().await;
    assert_eq!(store.list_due(TenantId::DEFAULT, ms(u64::MAX), None, 100).await.unwrap().len(), 50);
    store.close().await;
    let read = "SELECT idx_tup_read::text FROM pg_stat_user_indexes WHERE indexrelname = 'due_of_tenant' AND idx_scan > 0";
    let deadline = Instant::now() + PATIENCE;
    let rows = loop {
        if let [rows] = &database.column(read).await[..] {
            break rows.clone();
        }
        assert!(Instant::now() < deadline, "the statistics never came");
    };
    assert_eq!(rows, "50");
}

/// A row that is held, by an append or another claimer, is passed over.
#[tokio::test]
async fn a_claim_waits_for_nobody() {
    let database = database().await;
    let store = database.store().await;
    let held = armed_game(&store, time(ms(1))).await;
    let free = armed_game(&store, time(ms(2))).await;
    let mut holder = database.connect().await;
    holder.execute("BEGIN; SELECT * FROM due ORDER BY due_at LIMIT 1 FOR UPDATE").await.unwrap();
    let claimed = store.claim_due(10, LONG).await.unwrap();
    assert_eq!(claimed.iter().map(|one| one.key.game).collect::<Vec<_>>(), [free]);
    holder.execute("ROLLBACK").await.unwrap();
    let claimed = store.claim_due(10, LONG).await.unwrap();
    assert_eq!(claimed.iter().map(|one| one.key.game).collect::<Vec<_>>(), [held]);
}

/// What a claim does without waiting for the disk, an append on the same session does not.
#[tokio::test]
async fn an_append_after_a_claim_waits_for_the_disk() {
    let database = database().await;
    database
        .execute(
            "CREATE TABLE seen (setting text);
             CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS
                 $$ BEGIN INSERT INTO seen VALUES (current_setting('synchronous_commit')); RETURN NULL; END $$;
             CREATE TRIGGER see AFTER INSERT ON book_entry FOR EACH ROW EXECUTE FUNCTION see()",
        )
        .await;
    let store = Postgres::connect(&PostgresOptions { max_connections: 1, ..PostgresOptions::new(&database.url) }).await.unwrap();
    let key = armed_game(&store, time(ms(1))).await;
    let claimed = store.claim_due(1, LONG).await.unwrap();
    store.append(new_entry(key, 2, request(1))).await.unwrap();
    assert!(store.settle_due(&claimed[0], Some(ms(1))).await.unwrap());
    store.append(arming(key, 3, time(ms(0)))).await.unwrap();
    store.beat(Uuid::new_v4(), LONG).await.unwrap();
    store.append(NewEntry { due: DueChange::Disarm, ..new_entry(key, 4, request(1)) }).await.unwrap();
    assert_eq!(database.column("SELECT setting FROM seen").await, ["on"; 4]);
}

#[tokio::test]
async fn the_servers_role_arms_claims_settles_and_beats() {
    let database = database().await;
    database.execute("CREATE ROLE plybook_sweeper LOGIN; SELECT plybook_grant('plybook_sweeper')").await;
    let url = database.url.replace("//plybook@", "//plybook_sweeper@");
    let store = Postgres::connect(&PostgresOptions::new(&url)).await.unwrap();
    let key = armed_game(&store, time(ms(5))).await;
    store.append(arming(key, 2, Arms { time: Some(ms(4)), bot: Some(ms(4)) })).await.unwrap();
    let claimed: Vec<Claimed> = store.claim_due(10, LONG).await.unwrap();
    assert_eq!(claimed.len(), 2);
    for (one, next) in claimed.iter().zip([None, Some(future(1))]) {
        assert!(store.settle_due(one, next).await.unwrap());
    }
    store.append(NewEntry { due: DueChange::Disarm, ..new_entry(key, 3, request(1)) }).await.unwrap();
    assert_eq!(store.due_of(key).await.unwrap(), []);
    assert_eq!(store.beat(Uuid::new_v4(), LONG).await.unwrap(), None);
    database.execute("UPDATE heartbeat SET beat_at = now() - interval '1 hour'").await;
    let outage = store.beat(Uuid::new_v4(), Duration::from_secs(60)).await.unwrap().unwrap();
    assert_eq!(store.outages(ms(0), Time::from_unix_ms(u64::MAX), 10).await.unwrap(), [outage]);
    let forbidden = [
        "UPDATE due SET kind = 'bot'",
        "TRUNCATE due",
        "DELETE FROM heartbeat",
        "INSERT INTO heartbeat (single) VALUES (true)",
        "UPDATE outage SET to_at = now()",
        "TRUNCATE outage",
        "DROP TABLE due",
    ];
    database.forbids("plybook_sweeper", &forbidden).await;
}

/// A kind that no build knows is a fault of somebody's, and told as that.
#[tokio::test]
async fn the_database_knows_the_kinds() {
    let database = database().await;
    let insert = |kind: &str| {
        format!("INSERT INTO due (tenant_id, game_id, kind, due_at, armed_for) VALUES (1, '{}', '{kind}', now(), now())", new_key().game)
    };
    database.execute(&insert("time")).await;
    let refusal = database.try_execute(&insert("tea")).await.unwrap_err();
    assert_eq!(refusal.as_database_error().unwrap().constraint(), Some("due_kind_is_known"));
}

/// The writer is the one that moves wait for, and a sweeper looks several times a second.
#[tokio::test]
async fn a_look_that_finds_nothing_leaves_the_files_writer_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("books.db");
    let store = Sqlite::open(&SqliteOptions { busy_timeout: NEVER, ..SqliteOptions::new(&path) }).await.unwrap();
    armed_game(&store, time(future(1))).await;
    let mut other = SqliteConnectOptions::new().filename(&path).connect().await.unwrap();
    other.execute("BEGIN IMMEDIATE").await.unwrap();
    let claimed = tokio::time::timeout(PATIENCE, store.claim_due(10, LONG)).await.expect("it needs no lock").unwrap();
    assert_eq!(claimed, []);
    other.execute("ROLLBACK").await.unwrap();
}
