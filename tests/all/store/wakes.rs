//! Hints between nodes: they arrive, not at home, and come back after the line was cut.

use std::time::Duration;

use plybook_core::{Seq, Uuid};
use plybook_store::{GameKey, News, Postgres, Store, TenantId, Wake};
use plybook_tests::patience::PATIENCE;
use plybook_tests::postgres::database;
use tokio::sync::mpsc::Receiver;
use tokio::time::timeout;

use super::sqlite_in;

fn hint(seq: u32) -> Wake {
    Wake { key: GameKey { tenant: TenantId::DEFAULT, game: Uuid::now_v7() }, seq: Seq(seq) }
}

/// Publishes a fresh hint over and over, as hints may be lost, until it is heard; passes over others.
async fn hears(from: &Postgres, ear: &mut Receiver<News>) -> Wake {
    let sent = hint(2);
    let heard = async {
        loop {
            from.publish(sent);
            while let Ok(heard) = timeout(Duration::from_millis(50), ear.recv()).await {
                if heard.expect("the ear stays open") == News::Entry(sent) {
                    return;
                }
            }
        }
    };
    timeout(PATIENCE, heard).await.expect("a hint reaches the other node");
    sent
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hint_reaches_another_node() {
    let database = database().await;
    let (one, two) = (database.store().await, database.store().await);
    let mut ear = two.wakes();
    hears(&one, &mut ear).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hints_arrive_in_both_directions_and_not_at_home() {
    let database = database().await;
    let (one, two) = (database.store().await, database.store().await);
    let (mut ear_one, mut ear_two) = (one.wakes(), two.wakes());
    hears(&two, &mut ear_one).await;
    let own = hears(&one, &mut ear_two).await;
    // NOTIFYs come in order: had its own hint come home, it would stand before this one.
    let last = hint(9);
    two.publish(last);
    loop {
        let heard = timeout(PATIENCE, ear_one.recv()).await.expect("the hint arrives").unwrap();
        assert_ne!(heard, News::Entry(own));
        if heard == News::Entry(last) {
            break;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_listener_costs_hints_and_nothing_else() {
    let database = database().await;
    let (one, two) = (database.store().await, database.store().await);
    let mut ear = two.wakes();
    hears(&one, &mut ear).await;
    for _ in 0..3 {
        assert!(database.kill_listeners().await >= 1);
        hears(&one, &mut ear).await;
    }
}

/// Nothing is published here: all that can be heard is that the listener came, and came back.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_listener_that_comes_back_tells_that_it_was_away() {
    let database = database().await;
    let store = database.store().await;
    let mut ear = store.wakes();
    for _ in 0..4 {
        assert_eq!(timeout(PATIENCE, ear.recv()).await.expect("it tells"), Some(News::MayHaveMissed));
        assert!(timeout(Duration::from_millis(100), ear.recv()).await.is_err(), "once");
        assert!(database.kill_listeners().await >= 1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_notifier_costs_hints_and_nothing_else() {
    let database = database().await;
    let (one, two) = (database.store().await, database.store().await);
    let mut ear = two.wakes();
    hears(&one, &mut ear).await;
    assert!(database.kill_all().await >= 2);
    hears(&one, &mut ear).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn closing_hands_out_what_is_queued() {
    let database = database().await;
    let (one, two) = (database.store().await, database.store().await);
    let mut ear = two.wakes();
    hears(&one, &mut ear).await;
    let hints: Vec<Wake> = (0..500).map(|_| hint(3)).collect();
    for &hint in &hints {
        one.publish(hint);
    }
    one.close().await;
    let mut missing: std::collections::HashSet<Uuid> = hints.iter().map(|hint| hint.key.game).collect();
    while !missing.is_empty() {
        let heard = timeout(PATIENCE, ear.recv()).await.unwrap_or_else(|_| panic!("{} hints are missing", missing.len()));
        if let News::Entry(wake) = heard.unwrap() {
            missing.remove(&wake.key.game);
        }
    }
}

/// More hints than any queue holds: publishing neither waits nor keeps them. There is one thread: who
/// waited here for them to be sent would wait for ever.
#[tokio::test]
async fn a_storm_of_hints_is_thinned_out() {
    let database = database().await;
    let (one, two) = (database.store().await, database.store().await);
    let mut ear = two.wakes();
    hears(&one, &mut ear).await;
    for seq in 0..100_000 {
        one.publish(hint(seq));
    }
    hears(&one, &mut ear).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_ear_closes_with_the_store_and_not_before() {
    let database = database().await;
    let folder = tempfile::tempdir().unwrap();
    let stores: [super::AnyStore; 2] = [sqlite_in(folder.path()).await, std::sync::Arc::new(database.store().await)];
    for store in stores {
        let mut ear = store.wakes();
        store.publish(hint(2));
        while let Ok(heard) = timeout(Duration::from_millis(100), ear.recv()).await {
            assert_eq!(heard, Some(News::MayHaveMissed), "nobody else is there, and the ear is open");
        }
        store.close().await;
        assert_eq!(timeout(PATIENCE, ear.recv()).await.expect("the ear closes"), None);
    }
}
