//! A real standby that serves history: however far it lags, and wherever it is, answers are the first database's.

use plybook_core::Seq;
use plybook_store::{Error, FeedCursor, FeedRow, GameKey, Postgres, PostgresOptions, ReplicaCounts, Store, StoredEntry, TenantId};
use plybook_tests::patience::until;
use plybook_tests::postgres::{TestDatabase, own, standby};

use super::{open_game, play_to};

async fn store(first: &TestDatabase, read: &str) -> Postgres {
    let options = PostgresOptions { max_connections: 8, read_url: Some(read.to_owned()), ..PostgresOptions::new(&first.url) };
    Postgres::connect(&options).await.unwrap()
}

async fn book(store: &Postgres, key: GameKey) -> Vec<StoredEntry> {
    store.entries(key, Seq::ZERO, 1_000).await.unwrap()
}

/// The whole feed, by pages of so many.
async fn feed(store: &Postgres, limit: u32) -> Vec<FeedRow> {
    let (mut rows, mut after): (Vec<FeedRow>, Option<FeedCursor>) = (Vec::new(), None);
    loop {
        let page = store.feed_history(TenantId::DEFAULT, after.as_ref(), limit).await.unwrap();
        let Some(last) = page.rows.last() else { return rows };
        after = Some(last.cursor);
        rows.extend(page.rows);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn history_comes_from_a_standby_and_what_it_lacks_from_the_first_database() {
    let first = own::cluster().await;
    let database = first.database().await;
    let mut standby = standby::of(&first).await;
    let plain = database.store().await;
    let store = store(&database, &standby.database.url).await;
    let key = open_game(&store).await;
    play_to(&store, key, 20).await;
    standby.catch_up().await;
    let mut counts = ReplicaCounts::default();
    let mut counted = |served, passed_on| {
        counts = ReplicaCounts { served: counts.served + served, passed_on: counts.passed_on + passed_on };
        assert_eq!(store.replica(), counts);
    };

    // What is known to be there comes from the standby, the head never does.
    assert_eq!(store.history(key, Seq(3), 10).await.unwrap(), book(&plain, key).await[3..13]);
    counted(1, 0);
    assert_eq!(store.last(key).await.unwrap().unwrap().seq, Seq(20));
    assert_eq!(store.entries(key, Seq(3), 10).await.unwrap().len(), 10);
    counted(0, 0);

    // It lags: nothing is missing.
    standby.pause().await;
    play_to_from(&store, key, 21, 25).await;
    for (after, limit, served) in [(Seq(19), 6, 0), (Seq(22), 3, 0), (Seq(25), 3, 0), (Seq(10), 10, 1)] {
        let wanted: Vec<StoredEntry> = book(&plain, key).await.into_iter().skip(after.0 as usize).take(limit as usize).collect();
        assert_eq!(store.history(key, after, limit).await.unwrap(), wanted, "{limit} after {after}");
        counted(served, 1 - served);
    }
    let later = open_game(&store).await;
    assert_eq!(store.history(later, Seq::ZERO, 1).await.unwrap().len(), 1, "a game that the standby has never heard of");
    counted(0, 1);

    // The feed's beginning from the standby, its end from the first database: each entry once.
    until("nothing is hidden any more", async || plain.feed(TenantId::DEFAULT, None, 1_000).await.unwrap().rows.len() == 26).await;
    let whole = plain.feed(TenantId::DEFAULT, None, 1_000).await.unwrap().rows;
    assert_eq!(feed(&store, 6).await, whole);
    let served = store.replica().served - counts.served;
    assert!((1..=3).contains(&served), "of the 20 entries that it has three pages are whole: {served}");

    let asked = store.replica();
    for _ in 0..10 {
        assert_eq!(store.feed_history(TenantId::DEFAULT, Some(&whole[25].cursor), 6).await.unwrap().rows, []);
    }
    let in_vain = store.replica().passed_on - asked.passed_on;
    assert!(in_vain <= 4, "the tail is asked of the first database at once: {in_vain}");

    // It goes away, and comes back.
    standby.stop();
    assert_eq!(store.history(key, Seq(3), 10).await.unwrap(), book(&plain, key).await[3..13]);
    assert_eq!(feed(&store, 6).await, whole);
    standby.start().await;
    standby.catch_up().await;
    let before = store.replica().served;
    until("it is asked again", async || {
        assert_eq!(store.history(key, Seq(3), 10).await.unwrap().len(), 10);
        store.replica().served > before
    })
    .await;
}

async fn play_to_from(store: &Postgres, key: GameKey, first: u32, last: u32) {
    for seq in first..=last {
        store.append(super::new_entry(key, seq, super::request(1))).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_standby_that_is_not_there_costs_nothing_but_a_moment() {
    let database = plybook_tests::postgres::database().await;
    let nobody = plybook_tests::ports::Nobody::new();
    let store = store(&database, &format!("postgres://plybook@127.0.0.1:{}/x", nobody.address().port())).await;
    let key = open_game(&store).await;
    play_to(&store, key, 4).await;
    assert_eq!(store.history(key, Seq::ZERO, 4).await.unwrap(), book(&store, key).await);
    assert_eq!(feed(&store, 2).await.len(), 4);
    assert_eq!(store.replica().served, 0);
    let nonsense = PostgresOptions { read_url: Some("books.db".to_owned()), ..PostgresOptions::new(&database.url) };
    assert!(matches!(Postgres::connect(&nonsense).await, Err(Error::Config(_))), "an address that is none is told at once");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whole_pages_of_another_database_are_never_taken_for_ours() {
    let (database, other) = (plybook_tests::postgres::database().await, plybook_tests::postgres::database().await);
    let stranger = other.store().await;
    play_to(&stranger, open_game(&stranger).await, 20).await;
    until("the other one has whole pages", async || stranger.feed(TenantId::DEFAULT, None, 20).await.unwrap().rows.len() == 20).await;
    let store = store(&database, &other.url).await;
    let key = open_game(&store).await;
    play_to(&store, key, 4).await;
    until("all is shown", async || feed(&store, 2).await.len() == 4).await;
    assert!(feed(&store, 2).await.iter().all(|row| row.key == key));
    assert_eq!(store.replica().served, 0);
}
