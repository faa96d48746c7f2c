//! A month whose games have all ended is packed, and nobody who reads can tell.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use plybook_core::{Seq, Uuid};
use plybook_store::{
    Append, Error, FeedCursor, FeedRow, Filter, Form, GameKey, Heading, Month, NewEntry, PackedMonth, Partitions, Postgres,
    PostgresOptions, RequestKey, State, Store, StoredEntry, Summary, TenantId,
};
use plybook_tests::patience::until;
use plybook_tests::postgres::{TestDatabase, database};

use super::foreign::book;
use super::partitions::key_in;
use super::{move_state, new_entry, new_game, open_game, play_to, request, stored};

fn month() -> Month {
    "2026-08".parse().unwrap()
}

async fn partitions(database: &TestDatabase) -> Partitions {
    Partitions::open(&PostgresOptions::new(&database.url)).await.unwrap()
}

/// A month with games of several lengths, all over, and one game that is being played now.
async fn over(database: &TestDatabase, store: &Postgres) -> (Vec<GameKey>, GameKey) {
    assert_eq!(partitions(database).await.make(&[month()]).await.unwrap(), [month()]);
    let (mut games, now) = (Vec::new(), open_game(store).await);
    for length in [2, 3, 30] {
        let key = key_in(month());
        store.create(new_game(key, request(0))).await.unwrap();
        play_to(store, key, length - 1).await;
        play_to_from(store, now, 1).await;
        move_state(store, key, length, State::Closed).await;
        games.push(key);
    }
    // Evidence is as long as it is: to the edge of a value, and over several.
    for length in [1, 1_000, 1_001, 2_500] {
        let key = key_in(month());
        store.import(book(key, length)).await.unwrap();
        games.push(key);
    }
    (games, now)
}

async fn play_to_from(store: &Postgres, key: GameKey, more: u32) {
    let head = store.last(key).await.unwrap().unwrap().seq.0;
    for seq in head + 1..=head + more {
        assert_eq!(store.append(new_entry(key, seq, request(1))).await.unwrap(), Append::Stored);
    }
}

/// All that can be read of games.
#[derive(Debug, PartialEq)]
struct Readings {
    books: Vec<Vec<StoredEntry>>,
    lasts: Vec<Option<StoredEntry>>,
    requests: Vec<Option<(StoredEntry, [u8; 32])>>,
    lists: Vec<Summary>,
    headings: Vec<Heading>,
    feed: Vec<FeedRow>,
    feed_end: Option<FeedCursor>,
}

async fn readings(store: &Postgres, games: &[GameKey]) -> Readings {
    let (mut books, mut lasts, mut requests) = (Vec::new(), Vec::new(), Vec::new());
    for key in games {
        let mut book: Vec<StoredEntry> = Vec::new();
        loop {
            let page = store.entries(*key, book.last().map_or(Seq::ZERO, |last| last.seq), 700).await.unwrap();
            if page.is_empty() {
                break;
            }
            book.extend(page);
        }
        assert_eq!(store.history(*key, Seq(1), 2).await.unwrap(), book.iter().skip(1).take(2).cloned().collect::<Vec<_>>());
        for entry in book.iter().step_by(book.len().div_ceil(5)).chain(book.last()) {
            requests.push(store.find_request(*key, entry.request_id).await.unwrap());
        }
        requests.push(store.find_request(*key, Uuid::new_v4()).await.unwrap());
        lasts.push(store.last(*key).await.unwrap());
        books.push(book);
    }
    let lists = store.list(TenantId::DEFAULT, &Filter::default(), None, 100).await.unwrap();
    let ids: Vec<Uuid> = games.iter().map(|key| key.game).collect();
    let mut headings = store.headings(TenantId::DEFAULT, &ids).await.unwrap();
    headings.sort_by_key(|heading| heading.game);
    let feed = feed(store, None, 700).await;
    Readings { books, lasts, requests, lists, headings, feed, feed_end: store.feed_end(TenantId::DEFAULT).await.unwrap() }
}

async fn feed(store: &Postgres, mut after: Option<FeedCursor>, limit: u32) -> Vec<FeedRow> {
    let mut rows = Vec::new();
    loop {
        let page = store.feed(TenantId::DEFAULT, after.as_ref(), limit).await.unwrap();
        let Some(last) = page.rows.last() else { return rows };
        after = Some(last.cursor);
        rows.extend(page.rows);
    }
}

/// Nothing is hidden by somebody who still writes.
async fn settled(store: &Postgres) {
    until("all is shown", async || store.feed(TenantId::DEFAULT, None, 1).await.unwrap().hidden_by.is_none()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_packed_month_reads_as_it_did() {
    let database = database().await;
    let store = database.store().await;
    let (games, now) = over(&database, &store).await;
    settled(&store).await;
    let before = readings(&store, &games).await;
    let entries = before.books.iter().map(Vec::len).sum::<usize>() as u64;
    let mut partitions = partitions(&database).await;
    assert_eq!(partitions.pack(month()).await.unwrap(), PackedMonth { games: games.len() as u64, entries });
    assert_eq!(database.column("SELECT DISTINCT tableoid::regclass::text FROM book_entry").await, ["book_entry_rest"]);
    let same = async |store: &Postgres| {
        let after = readings(store, &games).await;
        assert!(after.feed == before.feed, "the feed of {} is another: {}", before.feed.len(), after.feed.len());
        assert_eq!(after, before);
    };
    same(&store).await;
    same(&database.pooled_store().await).await;
    // From every place on, also from one in another game, the feed goes on as it did.
    for place in (0..before.feed.len()).step_by(97).chain([before.feed.len() - 1]) {
        assert!(feed(&store, Some(before.feed[place].cursor), 1_500).await == before.feed[place + 1..], "behind {place}");
    }
    // Games that are being played go on, and so does the feed.
    play_to_from(&store, now, 3).await;
    settled(&store).await;
    let new = feed(&store, before.feed_end, 2).await;
    assert_eq!(new.iter().map(|row| (row.key, row.entry.seq.0)).collect::<Vec<_>>(), [(now, 5), (now, 6), (now, 7)]);

    let list = partitions.list().await.unwrap();
    let told: Vec<_> = list.iter().map(|row| (row.month, row.form, row.rows, row.games, row.open)).collect();
    assert_eq!(told, [(Some(month()), Form::PackedAndKept, entries, games.len() as u64, 0), (None, Form::Table, 7, 1, 1)]);
    assert_eq!(partitions.drop(month()).await.unwrap(), PackedMonth { games: games.len() as u64, entries });
    assert_eq!(partitions.list().await.unwrap()[0].form, Form::Packed);
    assert_eq!(readings(&store, &games).await.books, before.books);
    for again in [partitions.pack(month()).await, partitions.make(&[month()]).await.map(|_| PackedMonth::default())] {
        assert!(matches!(again, Err(Error::Config(_))), "{again:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_of_packed_games_are_answered_for_ever() {
    let database = database().await;
    let store = database.store().await;
    let key = key_in(month());
    partitions(&database).await.make(&[month()]).await.unwrap();
    store.create(new_game(key, request(0))).await.unwrap();
    let entries = play_to(&store, key, 4).await;
    move_state(&store, key, 5, State::Closed).await;
    partitions(&database).await.pack(month()).await.unwrap();
    for store in [database.store().await, database.pooled_store().await] {
        assert_eq!(store.append(entries[1].clone()).await.unwrap(), Append::Repeated(stored(&entries[1])));
        let reused = NewEntry { request: RequestKey { hash: [9; 32], ..entries[1].request }, ..entries[1].clone() };
        assert_eq!(store.append(reused).await.unwrap(), Append::Reused(stored(&entries[1])));
        for seq in [2, 5, 6, 9] {
            assert_eq!(store.append(new_entry(key, seq, request(1))).await.unwrap(), Append::Conflict, "{seq}");
        }
        // Together with others, in one batch.
        let others = [open_game(&store).await, open_game(&store).await];
        let appends = others.iter().map(|other| new_entry(*other, 2, request(1))).chain([entries[0].clone()]);
        let answers = futures::future::join_all(appends.map(|entry| store.append(entry))).await;
        let answers: Vec<Append> = answers.into_iter().map(Result::unwrap).collect();
        assert_eq!(answers, [Append::Stored, Append::Stored, Append::Repeated(stored(&entries[0]))]);
    }
    for sql in [
        "DELETE FROM packed_book",
        "UPDATE packed_feed SET first_seq = 2",
        "TRUNCATE packed_book",
        "DELETE FROM packed_month",
        "DELETE FROM packed_feed",
    ] {
        let refusal = database.try_execute(sql).await.expect_err(sql);
        assert_eq!(refusal.as_database_error().unwrap().code().unwrap(), "23001", "{sql}: {refusal}");
    }
    database.execute("CREATE ROLE plybook_reader LOGIN; SELECT plybook_grant('plybook_reader')").await;
    let url = database.url.replace("//plybook@", "//plybook_reader@");
    let store = Postgres::connect(&PostgresOptions::new(&url)).await.unwrap();
    assert_eq!(store.entries(key, Seq::ZERO, 10).await.unwrap().len(), 5);
    settled(&store).await;
    assert_eq!(feed(&store, None, 10).await.len(), 13);
}

#[tokio::test]
async fn a_month_that_cannot_be_packed_is_left_as_it_is() {
    let database = database().await;
    let store = database.store().await;
    let mut partitions = partitions(&database).await;
    let refused = async |partitions: &mut Partitions, month: Month, words: &str| {
        let refusal = partitions.pack(month).await.unwrap_err();
        assert!(matches!(&refusal, Error::Config(why) if why.contains(words)), "{refusal}");
    };
    refused(&mut partitions, month(), "no partition").await;
    let next = partitions.ahead(1).await.unwrap()[0];
    refused(&mut partitions, next, "not over").await;
    partitions.make(&[month()]).await.unwrap();
    refused(&mut partitions, month(), "no games").await;
    let key = key_in(month());
    store.create(new_game(key, request(0))).await.unwrap();
    play_to(&store, key, 3).await;
    move_state(&store, key, 4, State::Finished).await;
    refused(&mut partitions, month(), "1 of its 1 games").await;
    move_state(&store, key, 5, State::Closed).await;
    // A book with a hole is not put away as if it had none.
    database.execute("ALTER TABLE book_entry DISABLE TRIGGER USER; DELETE FROM book_entry WHERE seq = 3").await;
    assert!(matches!(partitions.pack(month()).await, Err(Error::Missing { seq: Seq(3), .. })));
    assert_eq!(database.column("SELECT count(*)::text FROM packed_month").await, ["0"]);
    assert_eq!(store.last(key).await.unwrap().unwrap().seq, Seq(5));
    let drop = partitions.drop(month()).await;
    assert!(matches!(drop, Err(Error::Config(_))), "{drop:?}");
}

/// What an attempt that was killed has left is nobody's.
#[tokio::test]
async fn a_month_is_packed_again_from_the_beginning() {
    let database = database().await;
    let store = database.store().await;
    partitions(&database).await.make(&[month()]).await.unwrap();
    let key = key_in(month());
    store.create(new_game(key, request(0))).await.unwrap();
    move_state(&store, key, 2, State::Closed).await;
    let first = month().first_id();
    database
        .execute(&format!(
            "INSERT INTO packed_book SELECT 1, '{}', 1, 2, '{first}', 'half';
             INSERT INTO packed_book SELECT 1, gen_random_uuid(), 1, 2, '{first}', 'half';
             INSERT INTO packed_feed SELECT 1, '{first}', 1, '3'::xid8, '{first}', 1, 1, '4'::xid8, '{first}', 1, 'half'",
            key.game
        ))
        .await;
    assert_eq!(store.entries(key, Seq::ZERO, 9).await.unwrap().len(), 2);
    settled(&store).await;
    assert_eq!(feed(&store, None, 9).await.len(), 2);
    // Nor does it stand in for a book that was lost.
    let lost = new_game(key_in(month()), request(0));
    database.execute(&format!("INSERT INTO packed_book SELECT 1, '{}', 1, 1, '{first}', 'half'", lost.key.game)).await;
    assert_eq!(store.entries(lost.key, Seq::ZERO, 9).await.unwrap(), []);
    assert_eq!(store.last(lost.key).await.unwrap(), None);
    assert_eq!(store.find_request(lost.key, lost.request.id).await.unwrap(), None);
    assert_eq!(store.headings(TenantId::DEFAULT, &[lost.key.game]).await.unwrap(), []);
    partitions(&database).await.pack(month()).await.unwrap();
    assert_eq!(store.entries(key, Seq::ZERO, 9).await.unwrap().len(), 2);
    assert_eq!(feed(&store, None, 9).await.len(), 2);
}

/// Whoever reads while it happens sees each entry once, before and after and in between.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_notices_the_packing() {
    let database = database().await;
    let store = database.store().await;
    let (games, _) = over(&database, &store).await;
    settled(&store).await;
    let before = Arc::new(readings(&store, &games).await);
    let over = Arc::new(AtomicBool::new(false));
    let readers: Vec<_> = (0..2)
        .map(|reader| {
            let (url, before, over, games) = (database.url.clone(), Arc::clone(&before), Arc::clone(&over), games.clone());
            tokio::spawn(async move {
                let store = Postgres::connect(&PostgresOptions::new(&url)).await.unwrap();
                let mut rounds = 0;
                while !over.load(Ordering::Relaxed) || rounds < 2 {
                    if reader == 0 {
                        assert!(feed(&store, None, 150).await == before.feed);
                    }
                    for (key, book) in games.iter().zip(&before.books) {
                        assert!(store.entries(*key, Seq::ZERO, 3_000).await.unwrap() == *book);
                    }
                    rounds += 1;
                }
            })
        })
        .collect();
    partitions(&database).await.pack(month()).await.unwrap();
    over.store(true, Ordering::Relaxed);
    for reader in readers {
        reader.await.unwrap();
    }
    assert_eq!(*before, readings(&store, &games).await);
}
