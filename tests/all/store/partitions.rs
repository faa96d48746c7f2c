//! Months with partitions of their own, and that a game costs its own month alone.

use plybook_core::{Seq, Time, Uuid};
use plybook_store::{
    Append, Arms, Create, DueChange, Error, Filter, GameKey, Month, NewEntry, Partition, Partitions, PostgresOptions, State, Store,
    TenantId,
};
use plybook_tests::patience::until;
use plybook_tests::postgres::{TestDatabase, database};

use super::{new_entry, new_game, open_game, play_to, request};

async fn partitions(database: &TestDatabase) -> Partitions {
    Partitions::open(&PostgresOptions::new(&database.url)).await.unwrap()
}

fn this_month() -> Month {
    Month::of_game(Uuid::now_v7())
}

/// Some game of this month.
pub(super) fn key_in(month: Month) -> GameKey {
    let id = month.first_id().as_u128() | (Uuid::new_v4().as_u128() & u128::from(u64::MAX)) | 0x7 << 76;
    GameKey { tenant: TenantId::DEFAULT, game: Uuid::from_u128(id) }
}

#[tokio::test]
async fn months_get_partitions_ahead_once() {
    let database = database().await;
    let mut partitions = partitions(&database).await;
    let next = this_month().next();
    assert_eq!(partitions.ahead(2).await.unwrap(), [next, next.next()]);
    assert_eq!(partitions.ahead(2).await.unwrap(), []);
    assert_eq!(partitions.ahead(3).await.unwrap(), [next.next().next()]);
    let months: Vec<Option<Month>> = partitions.list().await.unwrap().iter().map(|partition| partition.month).collect();
    assert_eq!(months, [Some(next), Some(next.next()), Some(next.next().next()), None]);
    assert_eq!(
        database.column("SELECT conname::text FROM pg_constraint WHERE conname = 'book_entry_rest_ahead'").await,
        <[&str; 0]>::default()
    );
}

#[tokio::test]
async fn a_partition_is_like_the_first_one() {
    let database = database().await;
    let month = partitions(&database).await.ahead(1).await.unwrap()[0];
    let store = database.store().await;
    let key = key_in(month);
    store.create(new_game(key, request(1))).await.unwrap();
    play_to(&store, key, 3).await;
    let table = format!("book_entry_{}", month.to_string().replace('-', "_"));
    let rows = "SELECT tableoid::regclass || ' ' || count(*) FROM book_entry GROUP BY tableoid ORDER BY 1";
    assert_eq!(database.column(rows).await, [format!("{table} 3")]);
    for sql in [format!("DELETE FROM {table}"), format!("UPDATE {table} SET line = 'x'"), format!("TRUNCATE {table}")] {
        let refusal = database.try_execute(&sql).await.expect_err(&sql);
        assert_eq!(refusal.as_database_error().unwrap().code().unwrap(), "23001", "{sql}: {refusal}");
    }
    for of in [
        "SELECT regexp_replace(pg_get_indexdef(indexrelid), 'INDEX .* USING', 'INDEX USING') FROM pg_index WHERE indrelid =",
        "SELECT conname || pg_get_constraintdef(oid) FROM pg_constraint WHERE contype = 'c' AND conrelid =",
        "SELECT concat_ws(' ', attname, attnotnull, attcollation, pg_get_expr(adbin, adrelid)) FROM pg_attribute
         LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum WHERE attnum > 0 AND attrelid =",
        "SELECT array_to_string(reloptions, ',') FROM pg_class WHERE oid =",
    ] {
        let [first, new] = ["book_entry_rest", &table].map(|table| format!("{of} '{table}'::regclass ORDER BY 1"));
        let (first, new) = (database.column(&first).await, database.column(&new).await);
        assert!(!first.is_empty(), "{of}");
        assert_eq!(first, new, "{of}");
    }
}

#[tokio::test]
async fn a_month_that_began_elsewhere_is_refused() {
    let database = database().await;
    let mut partitions = partitions(&database).await;
    let next = this_month().next();
    let key = key_in(next.next());
    database.store().await.create(new_game(key, request(1))).await.unwrap();
    let refusal = partitions.ahead(3).await.unwrap_err();
    assert!(
        matches!(&refusal, Error::Config(why) if why.contains(&next.next().to_string()) && why.contains(&key.game.to_string())),
        "{refusal}"
    );
    // The one before it was made, and nothing stands in anybody's way.
    let months: Vec<Option<Month>> = partitions.list().await.unwrap().iter().map(|partition| partition.month).collect();
    assert_eq!(months, [Some(next), None]);
    play_to(&database.store().await, key, 2).await;
}

/// Whoever was killed between two of its steps is made good by whoever comes next.
#[tokio::test]
async fn what_was_broken_off_is_taken_up() {
    let database = database().await;
    let next = this_month().next();
    database
        .execute(&format!(
            "ALTER TABLE book_entry_rest ADD CONSTRAINT book_entry_rest_ahead CHECK (game_id < '{}') NOT VALID",
            next.first_id()
        ))
        .await;
    assert_eq!(partitions(&database).await.ahead(1).await.unwrap(), [next]);
    let later = key_in(next.next());
    assert_eq!(database.store().await.create(new_game(later, request(1))).await.unwrap(), Create::Created);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn months_are_made_beside_appends_and_open_transactions() {
    let database = database().await;
    let store = database.store().await;
    let key = open_game(&store).await;
    // Whoever reads holds up the attaching, and not for ever.
    let reader = plybook_tests::held::Held::over(&database, "SELECT count(*) FROM book_entry").await;
    let mut ahead = partitions(&database).await;
    let ahead = tokio::spawn(async move { ahead.ahead(3).await.unwrap().len() });
    let mut seq = 1;
    let mut append = async || {
        seq += 1;
        assert_eq!(store.append(new_entry(key, seq, request(1))).await.unwrap(), Append::Stored);
    };
    // It asks for its lock and gives way, several times over, and appends pass in between.
    let waits =
        "SELECT pid::text FROM pg_locks WHERE relation = 'book_entry_rest'::regclass AND mode = 'AccessExclusiveLock' AND NOT granted";
    for _ in 0..2 {
        until("somebody waits for the table", async || !database.column(waits).await.is_empty()).await;
        append().await;
    }
    reader.release().await;
    while !ahead.is_finished() {
        append().await;
    }
    assert_eq!(ahead.await.unwrap(), 3);
    append().await;
    assert_eq!(store.entries(key, Seq::ZERO, 10_000).await.unwrap().len(), seq as usize);
}

#[tokio::test]
async fn a_list_tells_what_there_is() {
    let database = database().await;
    let mut partitions = partitions(&database).await;
    let month = partitions.ahead(1).await.unwrap()[0];
    let store = database.store().await;
    open_game(&store).await;
    for last in [State::Finished, State::Closed, State::Closed] {
        let key = key_in(month);
        store.create(new_game(key, request(1))).await.unwrap();
        play_to(&store, key, 4).await;
        super::move_state(&store, key, 5, last).await;
    }
    let list = partitions.list().await.unwrap();
    let told: Vec<_> = list.iter().map(|Partition { month, rows, games, open, .. }| (*month, *rows, *games, *open)).collect();
    assert_eq!(told, [(Some(month), 15, 3, 1), (None, 1, 1, 1)]);
    assert!(list.iter().all(|partition| partition.bytes > 0));
}

/// Each of these calls, over and over until its plan is a settled one, begins scans in the partition of its game and in
/// no other one: whatever statement the store sends for it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_for_one_game_looks_into_one_partition() {
    type Call = (&'static str, fn(plybook_store::Postgres, GameKey, u32) -> futures::future::BoxFuture<'static, ()>);
    macro_rules! calls {
        ($($name:literal: |$store:ident, $key:ident, $round:ident| $call:expr;)+) => {
            [$(($name, |$store, $key, $round| Box::pin(async move { $call; $store.close().await; }))),+]
        };
    }
    let calls: [Call; 10] = calls![
        "append": |store, key, _first| for seq in 2..12 { store.append(new_entry(key, seq, request(1))).await.unwrap(); };
        "append and change": |store, key, first| for seq in first..first + 10 {
            let due = if seq % 2 == 0 { DueChange::Arm(Arms { time: Some(Time::from_unix_ms(9)), bot: None }) } else { DueChange::Disarm };
            let state = Some(if seq % 3 == 0 { State::Finished } else { State::Active });
            store.append(NewEntry { state, due, ..new_entry(key, seq, request(1)) }).await.unwrap();
        };
        "append in conflict": |store, key, _first| for _ in 0..10 { store.append(new_entry(key, 3, request(1))).await.unwrap(); };
        "appends together": |store, key, first| {
            let appends = (0..10).map(|_| store.append(new_entry(key, first, request(1))));
            futures::future::join_all(appends).await
        };
        "entries": |store, key, _first| for _ in 0..10 { store.entries(key, Seq(3), 100).await.unwrap(); };
        "last": |store, key, _first| for _ in 0..10 { store.last(key).await.unwrap(); };
        "find_request": |store, key, _first| for _ in 0..10 { store.find_request(key, Uuid::new_v4()).await.unwrap(); };
        "state and seed": |store, key, _first| for _ in 0..10 { store.state(key).await.unwrap(); store.seed(key).await.unwrap(); };
        "list": |store, key, _first| for _ in 0..10 { store.list(key.tenant, &Filter::default(), Some(Month::of_game(key.game).next().first_id()), 1).await.unwrap(); };
        "create": |store, key, _first| for _ in 0..10 { store.create(new_game(key_in(Month::of_game(key.game)), request(1))).await.unwrap(); };
    ];
    let database = database().await;
    partitions(&database).await.ahead(3).await.unwrap();
    let months = [this_month(), this_month().next(), this_month().next().next(), this_month().next().next().next()];
    let games = months.map(key_in);
    for key in games {
        database.store().await.create(new_game(key, request(0))).await.unwrap();
    }
    let key = games[2];
    let own = format!("book_entry_{}", months[2].to_string().replace('-', "_"));
    for (name, call) in calls {
        let before = scans(&database).await;
        let head = database.store().await.last(key).await.unwrap().unwrap().seq.0;
        call(database.store().await, key, head + 1).await;
        let after = scans(&database).await;
        let touched: Vec<&String> =
            before.iter().zip(&after).filter(|(before, after)| before != after).map(|(_, after)| &after.0).collect();
        assert!(touched.iter().all(|table| **table == own), "{name} looks into {touched:?}");
    }
}

/// How many scans of each partition and its indexes there were, once everybody who made some has reported them.
async fn scans(database: &TestDatabase) -> Vec<(String, String)> {
    let sessions = "SELECT pid::text FROM pg_stat_activity
                    WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'";
    until("every session has ended", async || database.column(sessions).await.is_empty()).await;
    let counts = "SELECT relname || ' ' || seq_scan + coalesce(idx_scan, 0) FROM pg_stat_user_tables
                  WHERE relname LIKE 'book\\_entry\\_%' ORDER BY relname";
    let counts = database.column(counts).await;
    assert_eq!(counts.len(), 4);
    counts.iter().map(|line| line.split_once(' ').map(|(table, count)| (table.to_owned(), count.to_owned())).unwrap()).collect()
}
