//! The feed over Postgres, where transactions commit in another order than they began. Most of it on a cluster of a test's own:
//! whoever writes on a cluster hides entries from every database of it.

use plybook_core::Uuid;
use plybook_store::{Error, FeedCursor, FeedRow, Postgres, Store, TenantId};
use plybook_tests::held::Held;
use plybook_tests::postgres::{TestDatabase, database, own};

use super::{move_state, open_game, play_to};

const ME: TenantId = TenantId::DEFAULT;

async fn page(store: &Postgres, after: Option<&FeedCursor>) -> (Vec<(Uuid, u32)>, Option<FeedCursor>, Option<u64>) {
    let page = store.feed(ME, after, 1000).await.unwrap();
    let last = page.rows.last().map(|row| row.cursor).or(after.copied());
    (page.rows.iter().map(|row| (row.key.game, row.entry.seq.0)).collect(), last, page.hidden_by)
}

/// An entry of another game, in a transaction that stays open.
async fn late(database: &TestDatabase, store: &Postgres) -> (Held, Uuid) {
    let key = open_game(store).await;
    (Held::before_entry(database, &key.game.to_string(), 2).await, key.game)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_commits_before_an_older_transaction_is_shown_after_it() {
    let cluster = own::cluster().await;
    let database = cluster.database().await;
    let store = database.store().await;
    let (held, slow) = late(&database, &store).await;
    let quick = open_game(&store).await;
    play_to(&store, quick, 3).await;
    let (seen, at, hidden_by) = page(&store, None).await;
    assert_eq!(seen, [(slow, 1)], "what is behind the open transaction waits");
    assert!(hidden_by.is_some());
    let again = page(&store, at.as_ref()).await;
    assert_eq!((again.0, again.2), (vec![], hidden_by), "and what it waits for is the same");
    held.commit().await;
    let (seen, at, hidden_by) = page(&store, at.as_ref()).await;
    assert_eq!(seen, [(slow, 2), (quick.game, 1), (quick.game, 2), (quick.game, 3)], "the older transaction comes first");
    assert_eq!((hidden_by, page(&store, at.as_ref()).await.0), (None, vec![]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_rolled_back_is_not_shown_and_hides_nothing_any_more() {
    let cluster = own::cluster().await;
    let database = cluster.database().await;
    let store = database.store().await;
    let (held, slow) = late(&database, &store).await;
    let quick = open_game(&store).await;
    held.release().await;
    assert_eq!(page(&store, None).await.0, [(slow, 1), (quick.game, 1)]);
}

/// A transaction id belongs to the cluster and not to the database.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_writer_in_another_database_hides_entries_and_is_named() {
    let cluster = own::cluster().await;
    let database = cluster.database().await;
    database.execute("CREATE DATABASE other").await;
    let other = TestDatabase { url: database.url.replace("/postgres?", "/other?") };
    let store = database.store().await;
    assert_eq!(page(&store, None).await.2, None);
    other.execute("CREATE TABLE elsewhere (n int)").await;
    let held = Held::over(&other, "SET application_name = 'a long job'; INSERT INTO elsewhere VALUES (1)").await;
    let quick = open_game(&store).await;
    let (seen, at, hidden_by) = page(&store, None).await;
    assert!(seen.is_empty() && hidden_by.is_some());
    let holder = store.feed_holder().await.unwrap().expect("somebody holds the horizon");
    assert_eq!((&*holder.name, &*holder.database, &*holder.state), ("a long job", "other", "idle in transaction"));
    assert!(holder.pid.is_some() && holder.open_seconds.is_some());
    held.release().await;
    assert_eq!(page(&store, at.as_ref()).await.0, [(quick.game, 1)]);
    assert_eq!(store.feed_holder().await.unwrap(), None);
}

/// Who only reads holds nothing up.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_hides_nothing() {
    let cluster = own::cluster().await;
    let database = cluster.database().await;
    let store = database.store().await;
    let key = open_game(&store).await;
    let held = Held::over(&database, "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM book_entry").await;
    play_to(&store, key, 2).await;
    assert_eq!(page(&store, None).await.0, [(key.game, 1), (key.game, 2)]);
    held.release().await;
}

/// All that is there, once nobody hides it.
async fn all(store: &Postgres) -> Vec<FeedRow> {
    loop {
        let page = store.feed(ME, None, 1000).await.unwrap();
        if page.hidden_by.is_none() {
            return page.rows;
        }
    }
}

/// Books that were dumped and read back into a cluster whose transaction ids begin anew, as this one's seem to.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn books_restored_from_another_cluster_begin_a_new_epoch() {
    let database = database().await;
    let store = database.store().await;
    let key = open_game(&store).await;
    play_to(&store, key, 4).await;
    database
        .execute(
            "CREATE TEMP TABLE dump AS SELECT * FROM book_entry;
             ALTER TABLE book_entry DISABLE TRIGGER USER;
             ALTER TABLE book_entry_rest DISABLE TRIGGER USER;
             DELETE FROM book_entry;
             INSERT INTO book_entry (tenant_id, game_id, seq, request_id, request_hash, digest, line, xid, epoch)
             SELECT tenant_id, game_id, seq, request_id, request_hash, digest, line, ((xid::text::bigint) + 1000000000000)::text::xid8, epoch
             FROM dump;
             ALTER TABLE book_entry ENABLE TRIGGER USER;
             ALTER TABLE book_entry_rest ENABLE TRIGGER USER",
        )
        .await;
    let refused = store.feed(ME, None, 10).await;
    assert!(matches!(&refused, Err(Error::Config(why)) if why.contains("plybook migrate")), "{refused:?}");
    let started = database.store().await;
    let refused = started.ready().await;
    assert!(matches!(&refused, Err(Error::Config(why)) if why.contains("plybook migrate")), "no node starts: {refused:?}");
    store.migrate().await.unwrap();
    started.ready().await.unwrap();
    let restored = all(&store).await;
    assert_eq!(restored.iter().map(|row| row.entry.seq.0).collect::<Vec<_>>(), [1, 2, 3, 4]);
    let left_at = restored[1].cursor;
    move_state(&store, key, 5, plybook_store::State::Active).await;
    let next = open_game(&store).await;
    store.migrate().await.unwrap();
    loop {
        let (seen, ..) = page(&store, Some(&left_at)).await;
        if seen.len() == 4 {
            assert_eq!(seen, [(key.game, 3), (key.game, 4), (key.game, 5), (next.game, 1)], "what is new comes behind what was restored");
            break;
        }
    }
    assert_eq!(database.column("SELECT DISTINCT epoch::text FROM book_entry ORDER BY 1").await, ["1", "2"], "an epoch begins once");
}

/// A book that went back to an earlier state has lost the entry at which the feed was left.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cursor_into_what_was_lost_has_expired() {
    let database = database().await;
    let store = database.store().await;
    let key = open_game(&store).await;
    play_to(&store, key, 4).await;
    let whole = all(&store).await;
    database
        .execute(
            "ALTER TABLE book_entry DISABLE TRIGGER USER; ALTER TABLE book_entry_rest DISABLE TRIGGER USER;
             DELETE FROM book_entry WHERE seq >= 3;
             ALTER TABLE book_entry ENABLE TRIGGER USER; ALTER TABLE book_entry_rest ENABLE TRIGGER USER",
        )
        .await;
    play_to_from(&store, key, 3, 5).await;
    for lost in &whole[2..] {
        assert!(matches!(store.feed(ME, Some(&lost.cursor), 10).await, Err(Error::Expired)));
    }
    assert!(store.feed(ME, Some(&whole[1].cursor), 10).await.is_ok());
}

async fn play_to_from(store: &Postgres, key: plybook_store::GameKey, from: u32, to: u32) {
    for seq in from..=to {
        move_state(store, key, seq, plybook_store::State::Active).await;
    }
}

/// Whatever the statistics say, and however many entries are hidden: the index of the feed from the cursor on, and no sort.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_is_a_range_of_the_feeds_index() {
    let cluster = own::cluster().await;
    let database = cluster.database().await;
    let store = database.store().await;
    let key = open_game(&store).await;
    database
        .execute(&format!(
            "INSERT INTO book_entry (tenant_id, game_id, seq, request_id, request_hash, digest, line)
             SELECT 1, '{}', n, gen_random_uuid(), sha256('x'), sha256(n::text::bytea), 'a line of some length that is not much shorter than a move'
             FROM generate_series(2, 30000) n",
            key.game
        ))
        .await;
    let game = key.game;
    for analyzed in [false, true] {
        if analyzed {
            database.execute("ANALYZE book_entry").await;
        }
        for after in [0, 200, 29_000] {
            // In one transaction, whose counts are its own.
            let mut connection = database.connect().await;
            sqlx::raw_sql("BEGIN").execute(&mut connection).await.unwrap();
            let page =
                "SELECT count(*) FROM plybook_feed(1, (SELECT epoch FROM book_entry WHERE tenant_id = 1 AND game_id = $1 AND seq = 2),
                            (SELECT xid::text FROM book_entry WHERE tenant_id = 1 AND game_id = $1 AND seq = 2), $1, $2, '\\x', 500)";
            let rows: i64 = sqlx::query_scalar(page).bind(game).bind(after).fetch_one(&mut connection).await.unwrap();
            assert_eq!(rows, 500);
            let read: Vec<(i64, i64, i64)> = sqlx::query_as(
                "SELECT coalesce(pg_stat_get_xact_tuples_fetched(oid), 0)::bigint, coalesce(pg_stat_get_xact_numscans(oid), 0)::bigint,
                        coalesce(pg_stat_get_xact_tuples_returned(oid), 0)::bigint
                 FROM pg_class WHERE relname = 'book_entry_rest'",
            )
            .fetch_all(&mut connection)
            .await
            .unwrap();
            let [(fetched, seq_scans, returned)] = read[..] else { panic!("{read:?}") };
            assert!(fetched <= 520 && seq_scans == 0 && returned == 0, "after {after}, analyzed {analyzed}: {read:?}");
        }
    }
}
