//! Appends that travel together over Postgres: each gets the answer that it would have got alone.

use std::pin::Pin;

use futures::future::join_all;
use futures::{FutureExt as _, StreamExt as _, stream};
use plybook_core::{Digest, Seq};
use plybook_store::{
    APPENDS_QUEUE, Append, Arms, DueChange, Error, GameKey, NewEntry, Postgres, PostgresOptions, RequestKey, State, Store, StoredEntry,
};
use plybook_tests::patience::{NEVER, PATIENCE, until};
use plybook_tests::postgres::{TestDatabase, database};
use sqlx::Executor as _;
use sqlx::postgres::PgConnection;

use super::due::{arming, future, time};
use super::{new_entry, open_game, play_to, request, stored};

type Answer = Result<Append, Error>;
type Asking<'s> = Pin<Box<dyn Future<Output = Answer> + Send + 's>>;

/// A node that waits for as long as a test holds it up.
async fn patient(database: &TestDatabase) -> Postgres {
    let options = PostgresOptions { acquire_timeout: PATIENCE, statement_timeout: NEVER, ..PostgresOptions::new(&database.url) };
    Postgres::connect(&options).await.unwrap()
}

/// While this lasts, nothing is stored.
async fn hold(database: &TestDatabase) -> PgConnection {
    let mut holder = database.connect().await;
    holder.execute("BEGIN; LOCK TABLE book_entry IN EXCLUSIVE MODE").await.unwrap();
    holder
}

/// Appends that have been taken in, or refused.
fn ask<'s>(appends: impl IntoIterator<Item = (&'s Postgres, NewEntry)>) -> Vec<Asking<'s>> {
    let asking = appends.into_iter().map(|(store, entry)| {
        let mut append = Box::pin(async move { store.append(entry).await }) as Asking<'s>;
        match append.as_mut().now_or_never() {
            Some(answer) => Box::pin(async move { answer }) as Asking<'s>,
            None => append,
        }
    });
    asking.collect()
}

async fn games(store: &Postgres, many: usize) -> Vec<GameKey> {
    join_all((0..many).map(|_| open_game(store))).await
}

/// What may come of an append; the third entry of its game is known.
#[derive(Clone, Copy, Debug)]
enum May {
    Store,
    StoreOnce,
    Reuse,
    Conflict,
    Fail,
}

impl May {
    fn be(self, answer: &Answer, entry: &NewEntry, third: &StoredEntry) -> bool {
        match (self, answer) {
            (May::Store | May::StoreOnce, Ok(Append::Stored))
            | (May::Conflict, Ok(Append::Conflict))
            | (May::Fail, Err(Error::Failed(_))) => true,
            (May::StoreOnce, Ok(Append::Repeated(found))) => *found == stored(entry),
            (May::Reuse, Ok(Append::Reused(found))) => found == third,
            _ => false,
        }
    }
}

/// Appends to a game of three entries: alone, twice, beside one with an answered request, beside stale ones; and one
/// that the database refuses.
fn cases(at: usize, key: GameKey, third: &NewEntry) -> Vec<(NewEntry, May)> {
    let good = new_entry(key, 4, request(1));
    match at {
        0..145 => vec![(good, May::Store)],
        145..195 => vec![(good.clone(), May::StoreOnce), (good, May::StoreOnce)],
        195..245 => {
            let reuse = NewEntry { request: RequestKey { hash: [9; 32], ..third.request }, ..good.clone() };
            vec![(good, May::Store), (reuse, May::Reuse)]
        }
        245..295 => {
            let other = NewEntry { previous: Digest([5; 32]), ..new_entry(key, 4, request(1)) };
            vec![(good, May::Store), (new_entry(key, 3, request(1)), May::Conflict), (other, May::Conflict)]
        }
        _ => vec![(NewEntry { line: "poison".to_owned(), ..good }, May::Fail)],
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn appends_of_the_same_batches_get_answers_of_their_own() {
    let database = database().await;
    database.execute("ALTER TABLE book_entry_rest ADD CONSTRAINT no_poison CHECK (line <> 'poison')").await;
    let nodes = [patient(&database).await, patient(&database).await];
    let mut appends = Vec::new();
    for (at, key) in games(&nodes[0], 300).await.into_iter().enumerate() {
        let third = play_to(&nodes[0], key, 3).await.remove(1);
        appends.extend(cases(at, key, &third).into_iter().map(|(entry, may)| (entry, may, stored(&third))));
    }
    assert_eq!(appends.len(), 500);
    let before = nodes.each_ref().map(|node| node.appends().entries);

    let mut holder = hold(&database).await;
    // Copies of an append meet in one queue and in two.
    let asking = ask(appends.iter().enumerate().map(|(at, (entry, ..))| (&nodes[(at + at / 9) % 2], entry.clone())));
    holder.execute("ROLLBACK").await.unwrap();
    let answers = join_all(asking).await;

    for ((entry, may, third), answer) in appends.iter().zip(&answers) {
        assert!(may.be(answer, entry, third), "{may:?} {entry:?}: {answer:?}");
    }
    let count = |what: fn(&Answer) -> bool| answers.iter().filter(|&answer| what(answer)).count();
    assert_eq!(count(|answer| matches!(answer, Ok(Append::Stored))), 295);
    assert_eq!(count(|answer| matches!(answer, Ok(Append::Repeated(_)))), 50);
    let heads =
        "SELECT seq || ' ' || count(*) FROM (SELECT max(seq) AS seq FROM book_entry GROUP BY game_id) AS head GROUP BY seq ORDER BY 1";
    assert_eq!(database.column(heads).await, ["3 5", "4 295"]);
    for (node, before) in nodes.iter().zip(before) {
        let counts = node.appends();
        assert!(counts.entries - before >= 200, "{counts:?}");
        assert!(counts.sizes[6..].iter().sum::<u64>() > 0, "some travelled together: {counts:?}");
        assert!(counts.taken_apart > 0, "{counts:?}");
        assert_eq!(counts.refused, 0, "{counts:?}");
    }
}

/// Whether keys that are taken are expected; see `Care` in the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Keys {
    Free,
    Taken,
}

impl Keys {
    /// From now on, for longer than a test takes.
    async fn expected_by(self, store: &Postgres) {
        if self == Keys::Taken {
            let key = open_game(store).await;
            let second = play_to(store, key, 2).await.remove(0);
            let copy = NewEntry { request: second.request, ..new_entry(key, 3, request(1)) };
            assert_eq!(store.append(copy).await.unwrap(), Append::Repeated(stored(&second)));
        }
    }
}

#[tokio::test]
async fn what_hangs_on_an_entry_is_done_for_those_that_are_stored() {
    let database = database().await;
    for keys in [Keys::Free, Keys::Taken] {
        for together in [true, false] {
            what_hangs_on_an_entry(&database, keys, together).await;
        }
    }
}

/// On one thread all have entered before the first is written.
async fn what_hangs_on_an_entry(database: &TestDatabase, expected: Keys, together: bool) {
    let store = database.store().await;
    expected.expected_by(&store).await;
    let keys = games(&store, 40).await;
    for key in &keys {
        store.append(arming(*key, 2, time(future(9)))).await.unwrap();
    }
    let batches = store.appends().batches;
    let appends = keys.iter().enumerate().map(|(at, key)| {
        let entry = new_entry(*key, if at % 8 < 4 { 3 } else { 2 }, request(1));
        store.append(match at % 4 {
            0 => NewEntry { state: Some(State::Finished), due: DueChange::Disarm, ..entry },
            1 => {
                NewEntry { state: Some(State::Closed), due: DueChange::Arm(Arms { time: Some(future(4)), bot: Some(future(5)) }), ..entry }
            }
            2 => NewEntry { due: DueChange::Arm(Arms { time: Some(future(99)), bot: None }), ..entry },
            _ => entry,
        })
    });
    let answers: Vec<Answer> = if together { join_all(appends).await } else { stream::iter(appends).then(|append| append).collect().await };
    for (at, answer) in answers.into_iter().enumerate() {
        assert_eq!(answer.unwrap(), if at % 8 < 4 { Append::Stored } else { Append::Conflict }, "{at}");
    }
    assert_eq!(store.appends().batches - batches, if together { 1 } else { 40 }, "{:?}", store.appends());
    for (at, key) in keys.iter().enumerate() {
        let (state, due) = match at % 8 {
            0 => (State::Finished, vec![]),
            1 => (State::Closed, vec![future(5), future(4)]),
            _ => (State::Active, vec![future(9)]),
        };
        assert_eq!(store.state(*key).await.unwrap(), Some(state), "{at}");
        let found: Vec<_> = store.due_of(*key).await.unwrap().into_iter().map(|due| due.at).collect();
        assert_eq!(found, due, "{at} {expected:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_append_beyond_the_queue_is_refused_by_its_limit() {
    let database = database().await;
    let options =
        PostgresOptions { appends_queue: 3, acquire_timeout: PATIENCE, statement_timeout: NEVER, ..PostgresOptions::new(&database.url) };
    let store = Postgres::connect(&options).await.unwrap();
    let key = open_game(&store).await;
    let mut holder = hold(&database).await;
    // Of one game, so at most one a batch: two under way, and three that wait.
    let entries: Vec<_> = (0..6).map(|_| new_entry(key, 2, request(1))).collect();
    let asking = ask(entries.iter().map(|entry| (&store, entry.clone())));
    holder.execute("ROLLBACK").await.unwrap();
    let answers = join_all(asking).await;
    let refused: Vec<_> = answers.iter().filter(|answer| matches!(answer, Err(Error::Busy { limit: APPENDS_QUEUE, most: 3 }))).collect();
    assert!(!refused.is_empty(), "{answers:?}");
    assert_eq!(store.appends().refused, refused.len() as u64);
    assert!(refused.len() <= 3, "{answers:?}");
    assert_eq!(answers.iter().filter(|answer| matches!(answer, Ok(Append::Stored))).count(), 1, "{answers:?}");
    let last = store.last(key).await.unwrap().unwrap().seq;
    assert_eq!(last, Seq(2));
    assert_eq!(store.append(new_entry(key, 3, request(1))).await.unwrap(), Append::Stored, "there is room again");
}

/// Callers go away, the node is closed: what was taken in is in the book.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_taken_in_is_written() {
    let database = database().await;
    let store = patient(&database).await;
    let keys = games(&store, 100).await;
    let mut holder = hold(&database).await;
    drop(ask(keys.iter().map(|key| (&store, new_entry(*key, 2, request(1))))));
    let closing = tokio::spawn(async move { store.close().await });
    holder.execute("ROLLBACK").await.unwrap();
    until("everything is written", async || database.column("SELECT count(*)::text FROM book_entry WHERE seq = 2").await == ["100"]).await;
    closing.await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_connection_leaves_its_whole_batch_unknown() {
    let database = database().await;
    let store = patient(&database).await;
    let entries: Vec<_> = games(&store, 100).await.into_iter().map(|key| new_entry(key, 2, request(1))).collect();
    let mut holder = hold(&database).await;
    let mut answers = Box::pin(join_all(ask(entries.iter().map(|entry| (&store, entry.clone())))));
    let answers = loop {
        let killed =
            "SELECT pg_terminate_backend(pid)::text FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
        tokio::select! {
            answers = &mut answers => break answers,
            _ = database.column(killed) => {}
        }
    };
    assert!(answers.iter().all(|answer| matches!(answer, Err(Error::Unavailable(_)))), "{answers:?}");
    holder.execute("ROLLBACK").await.unwrap();
    for entry in entries {
        let again = store.append(entry.clone()).await;
        assert!(matches!(again, Ok(Append::Stored)), "{again:?}");
    }
}

/// Batches of everything that an append can be, more often than it takes to settle on a plan.
async fn use_it(store: &Postgres) {
    for expected in [Keys::Free, Keys::Taken] {
        expected.expected_by(store).await;
        use_it_as_it_is(store).await;
    }
    store.close().await;
}

async fn use_it_as_it_is(store: &Postgres) {
    for _ in 0..8 {
        let keys = games(store, 12).await;
        for seq in 2..5 {
            let entries: Vec<_> = keys.iter().map(|key| new_entry(*key, seq, request(1))).collect();
            for round in 0..2 {
                let answers = join_all(entries.iter().map(|entry| store.append(entry.clone()))).await;
                assert!(answers.iter().all(|answer| matches!((answer, round), (Ok(Append::Stored), 0) | (Ok(Append::Repeated(_)), 1))));
            }
        }
        let changes = keys.iter().enumerate().map(|(at, key)| match at % 2 {
            0 => arming(*key, 5, time(future(9))),
            _ => NewEntry { state: Some(State::Finished), due: DueChange::Disarm, ..new_entry(*key, 5, request(1)) },
        });
        assert!(join_all(changes.map(|entry| store.append(entry))).await.iter().all(|answer| matches!(answer, Ok(Append::Stored))));
    }
}

/// Scans of these tables so far, once sessions have reported: they do when they end, which `close` does not wait for.
async fn scans(database: &TestDatabase, tables: &str, inserted: u32) -> Vec<String> {
    let seen = format!("SELECT 'seen' FROM pg_stat_user_tables WHERE relname = 'book_entry_rest' AND n_tup_ins >= {inserted}");
    until("the statistics come", async || !database.column(&seen).await.is_empty()).await;
    database.column(&format!("SELECT relname || ' ' || seq_scan FROM pg_stat_user_tables WHERE {tables} ORDER BY 1")).await
}

/// Over partitions of which nothing is known because they are empty, and over full ones.
#[tokio::test]
async fn batches_never_scan_all_books() {
    let database = database().await;
    database
        .execute("CREATE TABLE book_entry_2127 PARTITION OF book_entry FOR VALUES FROM ('04810000-0000-0000-0000-000000000000') TO ('04820000-0000-0000-0000-000000000000')")
        .await;
    // With statistics of a table that fits a page, which autovacuum may take at any time, a scan is the right plan.
    for table in ["book_entry_2127", "book_entry_rest", "game", "due"] {
        database.execute(&format!("ALTER TABLE {table} SET (autovacuum_enabled = off)")).await;
    }
    let books = "relname LIKE 'book_entry_%'";
    // The partition was made by looking into the other one.
    let before = scans(&database, books, 0).await;
    use_it(&database.store().await).await;
    assert_eq!(scans(&database, books, 962).await, before);

    database
        .execute(
            "INSERT INTO game (tenant_id, id, request_id, request_hash, ruleset, ruleset_version, created_at)
             SELECT 1, overlay(gen_random_uuid()::text PLACING 'ff' FROM 1)::uuid, gen_random_uuid(), sha256('r'), 'mnk', 1, now()
             FROM generate_series(1, 20000);
             INSERT INTO due (tenant_id, game_id, kind, due_at, armed_for)
             SELECT 1, id, 'time', timestamptz '2100-01-01', timestamptz '2100-01-01' FROM game WHERE request_hash = sha256('r');
             INSERT INTO book_entry (tenant_id, game_id, seq, request_id, request_hash, digest, line)
             SELECT 1, id, seq, gen_random_uuid(), sha256('r'), sha256('d'), 'line'
             FROM game, generate_series(1, 3) AS seq WHERE game.request_hash = sha256('r')",
        )
        .await;
    let all = "relname IN ('book_entry_rest', 'game', 'due')";
    for statistics in ["", "ANALYZE"] {
        database.execute(statistics).await;
        let before = scans(&database, all, 60_962).await;
        use_it(&database.store().await).await;
        assert_eq!(scans(&database, all, if statistics.is_empty() { 61_924 } else { 62_886 }).await, before, "{statistics}");
    }
}

/// However long its book is and however many games there are, and though nothing is known of a partition that is new.
#[tokio::test]
async fn an_append_looks_at_the_entry_before_and_at_no_other() {
    let database = database().await;
    let store = database.store().await;
    let keys = games(&store, 13).await;
    play_to(&store, keys[0], 100).await;
    for seq in 2..=100 {
        let answers = join_all(keys[1..].iter().map(|key| store.append(new_entry(*key, seq, request(1))))).await;
        assert!(answers.iter().all(|answer| matches!(answer, Ok(Append::Stored))), "{answers:?}");
    }
    store.close().await;
    scans(&database, "true", 1300).await;
    let read = database.column("SELECT idx_tup_fetch::text FROM pg_stat_user_tables WHERE relname = 'book_entry_rest'").await;
    let read: u32 = read[0].parse().unwrap();
    assert!(read <= 1300, "{read} entries for 1287 appends");
    let feeds =
        "SELECT idx_scan::text FROM pg_stat_user_indexes WHERE indexrelname = 'book_entry_rest_tenant_id_epoch_xid_game_id_seq_idx'";
    assert_eq!(database.column(feeds).await, ["0"], "looks into the feed's index");
}

/// Requests that another node answered come again, at a place that is free.
#[tokio::test]
async fn of_keys_that_are_taken_one_fails_a_statement() {
    let database = database().await;
    let store = database.store().await;
    let keys = games(&store, 20).await;
    let mut copies = Vec::new();
    for key in &keys {
        let third = play_to(&store, *key, 3).await.remove(1);
        copies.push((NewEntry { request: third.request, ..new_entry(*key, 4, request(1)) }, stored(&third)));
    }
    let (alone, together) = copies.split_at(4);
    for (copy, third) in alone {
        assert_eq!(store.append(copy.clone()).await.unwrap(), Append::Repeated(third.clone()));
    }
    let answers = join_all(together.iter().map(|(copy, _)| store.append(copy.clone()))).await;
    for (answer, (_, third)) in answers.into_iter().zip(together) {
        assert_eq!(answer.unwrap(), Append::Repeated(third.clone()));
    }
    store.close().await;
    scans(&database, "true", 60).await;
    let failed = "SELECT xact_rollback::text FROM pg_stat_database WHERE datname = current_database()";
    until("the statistics come", async || database.column(failed).await != ["0"]).await;
    assert_eq!(database.column(failed).await, ["1"]);
}

/// Each caller that waits holds one, so all of them together are what the caches of the machine must hold.
#[tokio::test]
async fn an_append_that_waits_is_small() {
    let database = database().await;
    let store = database.store().await;
    let key = open_game(&store).await;
    let append = store.append(new_entry(key, 2, request(1)));
    assert!(size_of_val(&*append) <= 1024, "{} bytes", size_of_val(&*append));
    assert_eq!(append.await.unwrap(), Append::Stored);
}
