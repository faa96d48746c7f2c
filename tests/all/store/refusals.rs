//! Refused requests: what is kept of them, in what order, and for how long.

use plybook_core::{Seq, Time, Uuid};
use plybook_store::refused::{ASKED_BYTES_MAX, DETAIL_BYTES_MAX};
use plybook_store::{Error, GameKey, Refused, Store, StoredRefusal, TenantId};
use plybook_tests::postgres::database;

use super::{AnyStore, new_entry, new_key, on_both_stores, open_game, play_to, request};

on_both_stores![
    a_refusal_reads_back_as_it_was_told,
    pages_of_refusals_come_newest_first_and_meet,
    a_game_keeps_its_newest,
    a_batch_greater_than_all_that_is_kept,
    many_rows_are_one_batch,
    no_game_and_another_tenants_game_keep_nothing,
    the_oldest_are_forgotten_a_few_at_a_time,
    a_number_is_not_given_twice,
    what_is_too_long_is_refused_with_its_batch,
    refusals_take_no_request_id_and_change_no_book,
];

/// The number of a refusal is its age in this tests' texts.
pub(super) fn refused(key: GameKey, number: u32) -> Refused {
    Refused {
        key,
        at: Time::from_unix_ms(1_795_989_123_000 + u64::from(number)),
        principal: "ann".to_owned(),
        seat: Some(1),
        asked: format!("move {number}"),
        request_id: Uuid::new_v4(),
        expected: Seq(number),
        head: Seq(7),
        reason: "ILLEGAL_MOVE".to_owned(),
        detail: "CELL_OCCUPIED: a piece stands there".to_owned(),
    }
}

fn several(key: GameKey, numbers: impl IntoIterator<Item = u32>) -> Vec<Refused> {
    numbers.into_iter().map(|number| refused(key, number)).collect()
}

/// All that is kept of a game, newest first.
async fn kept(store: &dyn Store, key: GameKey) -> Vec<StoredRefusal> {
    store.refusals(key, None, 10_000).await.unwrap()
}

async fn numbers(store: &dyn Store, key: GameKey) -> Vec<u32> {
    kept(store, key).await.into_iter().map(|stored| stored.refused.expected.0).collect()
}

async fn a_refusal_reads_back_as_it_was_told(store: AnyStore) {
    let key = open_game(&*store).await;
    let plain = refused(key, 1);
    let wide = Refused {
        at: Time::from_unix_ms(253_402_300_799_999),
        seat: None,
        asked: "é".repeat(ASKED_BYTES_MAX / 2),
        expected: Seq(u32::MAX),
        head: Seq(u32::MAX),
        detail: "\"\\{'✓".repeat(DETAIL_BYTES_MAX / 7),
        ..refused(key, 2)
    };
    let short = Refused { at: Time::from_unix_ms(0), detail: String::new(), ..refused(key, 0) };
    store.remember(&[plain.clone(), wide.clone(), short.clone()], 10).await.unwrap();
    let kept: Vec<_> = kept(&*store, key).await.into_iter().map(|stored| stored.refused).collect();
    assert_eq!(kept, [short, wide, plain]);
}

async fn pages_of_refusals_come_newest_first_and_meet(store: AnyStore) {
    let (key, other) = (open_game(&*store).await, open_game(&*store).await);
    for at in 0..4 {
        let both = several(key, [2 * at, 2 * at + 1]).into_iter().chain(several(other, [99]));
        store.remember(&both.collect::<Vec<_>>(), 100).await.unwrap();
    }
    let (mut seen, mut before): (Vec<u32>, _) = (Vec::new(), None);
    loop {
        let page = store.refusals(key, before, 3).await.unwrap();
        let Some(last) = page.last() else { break };
        assert!(page.len() <= 3);
        before = Some(last.number);
        seen.extend(page.iter().map(|stored| stored.refused.expected.0));
    }
    assert_eq!(seen, [7, 6, 5, 4, 3, 2, 1, 0]);
}

async fn a_game_keeps_its_newest(store: AnyStore) {
    let (key, other) = (open_game(&*store).await, open_game(&*store).await);
    store.remember(&several(other, 0..3), 5).await.unwrap();
    for first in [0, 4, 8] {
        store.remember(&several(key, first..first + 4), 5).await.unwrap();
    }
    assert_eq!(numbers(&*store, key).await, [11, 10, 9, 8, 7]);
    assert_eq!(numbers(&*store, other).await, [2, 1, 0], "another game's are not counted with them");
    // Another node, told to keep fewer.
    store.remember(&several(key, [12]), 2).await.unwrap();
    assert_eq!(numbers(&*store, key).await, [12, 11]);
}

async fn a_batch_greater_than_all_that_is_kept(store: AnyStore) {
    let (key, other) = (open_game(&*store).await, open_game(&*store).await);
    store.remember(&several(key, 0..2), 3).await.unwrap();
    let mixed: Vec<Refused> = (2..12).flat_map(|number| [refused(key, number), refused(other, number)]).collect();
    store.remember(&mixed, 3).await.unwrap();
    for key in [key, other] {
        assert_eq!(numbers(&*store, key).await, [11, 10, 9]);
    }
    store.remember(&several(key, [20]), 0).await.unwrap();
    assert!(kept(&*store, key).await.is_empty(), "nothing is to be kept");
    store.remember(&[], 3).await.unwrap();
}

async fn many_rows_are_one_batch(store: AnyStore) {
    let key = open_game(&*store).await;
    store.remember(&several(key, 0..1_201), 2_000).await.unwrap();
    assert_eq!(numbers(&*store, key).await, (0..1_201).rev().collect::<Vec<_>>());
}

async fn no_game_and_another_tenants_game_keep_nothing(store: AnyStore) {
    let key = open_game(&*store).await;
    let (nobodys, foreign) = (new_key(), GameKey { tenant: TenantId(2), ..key });
    store.remember(&[refused(nobodys, 0), refused(key, 1), refused(foreign, 2), refused(key, 3)], 10).await.unwrap();
    assert_eq!(numbers(&*store, key).await, [3, 1], "the others of the batch are kept");
    for key in [nobodys, foreign] {
        assert!(kept(&*store, key).await.is_empty());
    }
}

async fn the_oldest_are_forgotten_a_few_at_a_time(store: AnyStore) {
    let (key, other) = (open_game(&*store).await, open_game(&*store).await);
    store.remember(&several(key, [0, 2, 4, 6]), 10).await.unwrap();
    store.remember(&several(other, [5, 3, 1]), 10).await.unwrap();
    let older_than = |number: u32| refused(key, number).at;
    assert_eq!(store.forget_refusals(older_than(0), 10).await.unwrap(), 0, "its own time is not older");
    assert_eq!(store.forget_refusals(older_than(5), 3).await.unwrap(), 3);
    assert_eq!((numbers(&*store, key).await, numbers(&*store, other).await), (vec![6, 4], vec![3, 5]));
    assert_eq!(store.forget_refusals(older_than(5), 3).await.unwrap(), 2);
    assert_eq!((numbers(&*store, key).await, numbers(&*store, other).await), (vec![6], vec![5]));
}

async fn a_number_is_not_given_twice(store: AnyStore) {
    let key = open_game(&*store).await;
    store.remember(&several(key, 0..3), 10).await.unwrap();
    let last = kept(&*store, key).await[0].number;
    assert_eq!(store.forget_refusals(Time::from_unix_ms(u64::MAX), 10).await.unwrap(), 3);
    store.remember(&several(key, [3]), 10).await.unwrap();
    assert!(kept(&*store, key).await[0].number > last);
}

async fn what_is_too_long_is_refused_with_its_batch(store: AnyStore) {
    let key = open_game(&*store).await;
    let good = refused(key, 0);
    for bad in [
        Refused { detail: "d".repeat(DETAIL_BYTES_MAX + 1), ..good.clone() },
        Refused { asked: "a".repeat(ASKED_BYTES_MAX + 1), ..good.clone() },
        Refused { principal: "p".repeat(65), ..good.clone() },
        Refused { reason: String::new(), ..good.clone() },
    ] {
        let error = store.remember(&[good.clone(), bad], 10).await.unwrap_err();
        assert!(matches!(error, Error::Failed(_)), "{error:?}");
    }
    assert!(kept(&*store, key).await.is_empty());
}

/// A refused id is free: the same request may be accepted later, as it was before refusals were remembered.
async fn refusals_take_no_request_id_and_change_no_book(store: AnyStore) {
    let key = open_game(&*store).await;
    play_to(&*store, key, 3).await;
    let book = store.entries(key, Seq::ZERO, 10).await.unwrap();
    let again = request(1);
    store.remember(&[Refused { request_id: again.id, ..refused(key, 0) }], 10).await.unwrap();
    assert_eq!(store.entries(key, Seq::ZERO, 10).await.unwrap(), book);
    assert_eq!(store.append(new_entry(key, 4, again)).await.unwrap(), plybook_store::Append::Stored);
    assert_eq!(kept(&*store, key).await.len(), 1);
}

/// What writes refusals waits for no disk, and the sessions that it borrows wait as before.
#[tokio::test]
async fn refusals_are_committed_without_waiting() {
    let database = database().await;
    database
        .execute(
            "CREATE TABLE seen (number int GENERATED ALWAYS AS IDENTITY, told text);
             CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                 INSERT INTO seen (told) VALUES (TG_TABLE_NAME || ' ' || current_setting('synchronous_commit')); RETURN NULL; END $$;
             CREATE CONSTRAINT TRIGGER see_refusal AFTER INSERT OR DELETE ON refusal DEFERRABLE INITIALLY DEFERRED
                 FOR EACH ROW EXECUTE FUNCTION see();
             CREATE TRIGGER see_entry AFTER INSERT ON book_entry FOR EACH ROW EXECUTE FUNCTION see()",
        )
        .await;
    let options = plybook_store::PostgresOptions { max_connections: 1, ..plybook_store::PostgresOptions::new(&database.url) };
    let store = plybook_store::Postgres::connect(&options).await.unwrap();
    let key = open_game(&store).await;
    store.remember(&several(key, [1]), 10).await.unwrap();
    play_to(&store, key, 2).await;
    assert_eq!(store.forget_refusals(Time::from_unix_ms(u64::MAX), 10).await.unwrap(), 1);
    play_to(&store, open_game(&store).await, 2).await;
    let told = database.column("SELECT told FROM seen ORDER BY number").await;
    let on = "book_entry_rest on";
    assert_eq!(told, [on, "refusal off", on, "refusal off", on, on]);
}

/// Nodes that prune the same games from both ends wait for each other at most.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_that_remember_at_once_never_deadlock() {
    let database = database().await;
    let nodes = [database.store().await, database.store().await].map(std::sync::Arc::new);
    let mut keys = Vec::new();
    for _ in 0..4 {
        keys.push(open_game(&*nodes[0]).await);
    }
    let mut running = Vec::new();
    for (number, node) in nodes.iter().enumerate() {
        for worker in 0..2 {
            let (node, mut keys) = (std::sync::Arc::clone(node), keys.clone());
            if number == 1 {
                keys.reverse();
            }
            running.push(tokio::spawn(async move {
                for round in 0..40 {
                    let batch: Vec<Refused> = keys.iter().flat_map(|key| several(*key, 0..5)).collect();
                    node.remember(&batch, 10).await.unwrap();
                    if worker == 1 && round % 8 == 7 {
                        node.forget_refusals(Time::from_unix_ms(u64::MAX), 7).await.unwrap();
                    }
                }
            }));
        }
    }
    for run in running {
        run.await.unwrap();
    }
    for key in keys {
        nodes[0].remember(&[refused(key, 77)], 10).await.unwrap();
        let kept = kept(&*nodes[1], key).await;
        assert!(kept.len() <= 10 && kept[0].refused.expected == Seq(77), "{} are kept", kept.len());
    }
}

/// A batch, a page and a step of forgetting cost what they hold, however many games have refusals.
#[tokio::test]
async fn refusals_are_never_scanned_whole() {
    let database = database().await;
    let store = database.store().await;
    let mut keys = Vec::new();
    for _ in 0..3 {
        keys.push(open_game(&store).await);
    }
    database
        .execute(
            "INSERT INTO game (tenant_id, id, request_id, request_hash, ruleset, ruleset_version, created_at)
             SELECT 1, gen_random_uuid(), gen_random_uuid(), sha256(''), 'mnk', 1, now() FROM generate_series(1, 2000);
             INSERT INTO refusal (tenant_id, game_id, refused_at, principal, asked, request_id, expected_seq, head_seq, reason, detail)
             SELECT 1, id, timestamptz '2026-01-01' + n * interval '1 second', 'ann', 'close', id, 1, 1, 'STALE_SEQ', ''
             FROM game, generate_series(1, 20) AS n",
        )
        .await;
    database.execute("ANALYZE game").await;
    database.execute("ANALYZE refusal").await;
    const SCANS: &str = "SELECT relname || ' ' || seq_scan FROM pg_stat_user_tables WHERE relname IN ('game', 'refusal') ORDER BY relname";
    let written = |rows: u32| format!("SELECT 'seen' FROM pg_stat_user_tables WHERE relname = 'refusal' AND n_tup_ins >= {rows}");
    let reported = async |rows: u32| {
        let deadline = std::time::Instant::now() + plybook_tests::patience::PATIENCE;
        while database.column(&written(rows)).await.is_empty() {
            assert!(std::time::Instant::now() < deadline, "the statistics never came");
        }
    };
    reported(40_000).await;
    let before = database.column(SCANS).await;
    for _ in 0..20 {
        let batch: Vec<Refused> = keys.iter().flat_map(|key| several(*key, 0..20)).collect();
        store.remember(&batch, 30).await.unwrap();
        store.refusals(keys[0], Some(i64::MAX), 50).await.unwrap();
        assert_eq!(store.forget_refusals(Time::from_unix_ms(1_795_000_000_000), 500).await.unwrap(), 500);
    }
    store.close().await;
    reported(41_200).await;
    assert_eq!(database.column(SCANS).await, before);
    let kept = database.column("SELECT count(*)::text FROM refusal WHERE refused_at > '2026-11-01'").await;
    assert_eq!(kept, ["90"], "thirty of each game");
}
