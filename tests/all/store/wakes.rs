//! Hints between nodes, the same over every bus: they arrive, not at home, and come back after the line was cut.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use plybook_core::{Seq, Uuid};
use plybook_store::wake::SITE_DEFAULT;
use plybook_store::{GameKey, NatsOptions, NatsWakes, News, TenantId, Wake, Wakes};
use plybook_tests::bus::{self, Site};
use plybook_tests::nats;
use plybook_tests::patience::PATIENCE;
use tokio::sync::mpsc::Receiver;
use tokio::time::timeout;

/// Runs each behaviour once over either bus.
macro_rules! over_both_buses {
    ($($behaviour:ident),+ $(,)?) => {
        mod over_postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $behaviour() {
                super::$behaviour(&plybook_tests::bus::Site::over_postgres().await).await;
            })+
        }
        mod over_nats {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $behaviour() {
                super::$behaviour(&plybook_tests::bus::Site::over_nats().await).await;
            })+
        }
    };
}
pub(crate) use over_both_buses;

over_both_buses! {
    a_hint_reaches_another_node,
    hints_arrive_in_both_directions_and_not_at_home,
    a_cut_line_costs_hints_and_nothing_else,
    a_listener_that_comes_back_tells_that_it_was_away,
    closing_hands_out_what_is_queued,
    what_is_no_hint_is_passed_over,
    the_ear_closes_with_the_bus_and_not_before,
}

fn hint(seq: u32) -> Wake {
    Wake { key: GameKey { tenant: TenantId::DEFAULT, game: Uuid::now_v7() }, seq: Seq(seq) }
}

/// Publishes fresh hints, as hints may be lost, until one is heard; fails on what was never said.
async fn hears(from: &dyn Wakes, ear: &mut Receiver<News>) -> Wake {
    let mut sent = Vec::new();
    let heard = async {
        loop {
            let next = hint(2);
            sent.push(next);
            from.publish(next);
            while let Ok(heard) = timeout(Duration::from_millis(50), ear.recv()).await {
                match heard.expect("the ear stays open") {
                    News::MayHaveMissed => {}
                    News::Entry(heard) if heard == next => return next,
                    News::Entry(heard) => assert!(sent.contains(&heard), "{heard:?} was never said"),
                }
            }
        }
    };
    timeout(PATIENCE, heard).await.expect("a hint reaches the other node")
}

/// Passes over whatever was said before.
async fn hears_behind_all(from: &dyn Wakes, ear: &mut Receiver<News>) {
    let last = hint(7);
    let heard = async {
        loop {
            from.publish(last);
            while let Ok(heard) = timeout(Duration::from_millis(50), ear.recv()).await {
                if heard == Some(News::Entry(last)) {
                    return;
                }
            }
        }
    };
    timeout(PATIENCE, heard).await.expect("what comes last is heard");
}

/// The line holds, and what was said before is behind.
async fn listens(ear: &mut Receiver<News>) {
    assert_eq!(timeout(PATIENCE, ear.recv()).await.expect("it tells"), Some(News::MayHaveMissed));
}

async fn a_hint_reaches_another_node(site: &Site) {
    let (one, two) = (site.wakes().await, site.wakes().await);
    let mut ear = two.subscribe();
    hears(&*one, &mut ear).await;
}

async fn hints_arrive_in_both_directions_and_not_at_home(site: &Site) {
    let (one, two) = (site.wakes().await, site.wakes().await);
    let (mut ear_one, mut ear_two) = (one.subscribe(), two.subscribe());
    hears(&*two, &mut ear_one).await;
    let own = hears(&*one, &mut ear_two).await;
    // Messages come in order: had its own hint come home, it would stand before this one.
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

async fn a_cut_line_costs_hints_and_nothing_else(site: &Site) {
    let (one, two) = (site.wakes().await, site.wakes().await);
    let mut ear = two.subscribe();
    listens(&mut ear).await;
    for _ in 0..3 {
        site.cut().await;
        hears(&*one, &mut ear).await;
    }
}

/// Nothing is published here: all that can be heard is that the listener came, and came back.
async fn a_listener_that_comes_back_tells_that_it_was_away(site: &Site) {
    let wakes = site.wakes().await;
    let mut ear = wakes.subscribe();
    for _ in 0..4 {
        listens(&mut ear).await;
        assert!(timeout(Duration::from_millis(100), ear.recv()).await.is_err(), "once");
        site.cut().await;
    }
}

async fn closing_hands_out_what_is_queued(site: &Site) {
    let (one, two) = (site.wakes().await, site.wakes().await);
    let mut ear = two.subscribe();
    hears(&*one, &mut ear).await;
    let hints: Vec<Wake> = (0..500).map(|_| hint(3)).collect();
    for &hint in &hints {
        one.publish(hint);
    }
    one.close().await;
    let mut missing: HashSet<Uuid> = hints.iter().map(|hint| hint.key.game).collect();
    while !missing.is_empty() {
        let heard = timeout(PATIENCE, ear.recv()).await.unwrap_or_else(|_| panic!("{} hints are missing", missing.len()));
        if let News::Entry(wake) = heard.unwrap() {
            missing.remove(&wake.key.game);
        }
    }
}

async fn what_is_no_hint_is_passed_over(site: &Site) {
    let (one, two) = (site.wakes().await, site.wakes().await);
    let mut ear = two.subscribe();
    listens(&mut ear).await;
    let (node, game) = (Uuid::new_v4().simple(), Uuid::new_v4().simple());
    let long = "x".repeat(7_000);
    for garbage in ["", " ", "hello", "1:2:3", ":::", "🂡", &long, &format!("{node}"), &format!("{node} 1:{game}"), &format!("{node} #1")]
    {
        site.says(garbage).await;
    }
    // Fails on any hint that was never said.
    hears(&*one, &mut ear).await;
    hears(&*one, &mut ear).await;
}

async fn the_ear_closes_with_the_bus_and_not_before(site: &Site) {
    for wakes in [bus::none(), site.wakes().await] {
        let mut ear = wakes.subscribe();
        wakes.publish(hint(2));
        while let Ok(heard) = timeout(Duration::from_millis(100), ear.recv()).await {
            assert_eq!(heard, Some(News::MayHaveMissed), "nobody else is there, and the ear is open");
        }
        wakes.close().await;
        assert_eq!(timeout(PATIENCE, ear.recv()).await.expect("the ear closes"), None);
        wakes.publish(hint(2));
    }
}

/// More hints than any queue holds: publishing neither waits nor keeps them. There is one thread: who
/// waited here for them to be sent would wait for ever.
async fn a_storm_of_hints_is_thinned_out(site: &Site) {
    let (one, two) = (site.wakes().await, site.wakes().await);
    let mut ear = two.subscribe();
    hears(&*one, &mut ear).await;
    for seq in 0..100_000 {
        one.publish(hint(seq));
    }
    hears_behind_all(&*one, &mut ear).await;
}

#[tokio::test]
async fn a_storm_of_hints_over_postgres_is_thinned_out() {
    a_storm_of_hints_is_thinned_out(&Site::over_postgres().await).await;
}

#[tokio::test]
async fn a_storm_of_hints_over_nats_is_thinned_out() {
    a_storm_of_hints_is_thinned_out(&Site::over_nats().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_notifier_costs_hints_and_nothing_else() {
    let site = Site::over_postgres().await;
    let (one, two) = (site.wakes().await, site.wakes().await);
    let mut ear = two.subscribe();
    hears(&*one, &mut ear).await;
    assert!(site.database.kill_all().await >= 2);
    hears(&*one, &mut ear).await;
}

/// Neither starting nor publishing nor closing waits for a server that is not there.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_nats_server_may_come_after_the_nodes() {
    let site = Site::over_nats().await;
    site.goes_away();
    let (one, two, three) = (site.wakes().await, site.wakes().await, site.wakes().await);
    let mut ear = two.subscribe();
    for seq in 0..10_000 {
        one.publish(hint(seq));
    }
    timeout(PATIENCE, three.close()).await.expect("it closes");
    assert!(timeout(Duration::from_millis(200), ear.recv()).await.is_err(), "nobody is there");
    site.comes_back();
    listens(&mut ear).await;
    hears_behind_all(&*one, &mut ear).await;
}

async fn on(url: &str, site: &str) -> Arc<dyn Wakes> {
    Arc::new(NatsWakes::start(&NatsOptions::new(url, site).unwrap()).await.unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sites_on_one_nats_server_do_not_hear_one_another() {
    let server = tokio::task::spawn_blocking(nats::server).await.unwrap();
    let (one, two, other) = (on(&server.url(), "north").await, on(&server.url(), "north").await, on(&server.url(), "south").await);
    let (mut ear_two, mut ear_other) = (two.subscribe(), other.subscribe());
    listens(&mut ear_other).await;
    for _ in 0..5 {
        hears(&*one, &mut ear_two).await;
    }
    // The next that it hears of is its own site's.
    let neighbour = on(&server.url(), "south").await;
    hears(&*neighbour, &mut ear_other).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_nats_server_that_asks_who_is_there_is_told() {
    let server = tokio::task::spawn_blocking(|| nats::server_with(&["--user", "ply@book", "--pass", "p:w/d"])).await.unwrap();
    let known = format!("nats://ply%40book:p%3Aw%2Fd@{}", server.address());
    let (one, two) = (on(&known, SITE_DEFAULT).await, on(&known, SITE_DEFAULT).await);
    let mut ear = two.subscribe();
    hears(&*one, &mut ear).await;
    for unknown in [server.url(), format!("nats://ply%40book:wrong@{}", server.address())] {
        let stranger = on(&unknown, SITE_DEFAULT).await;
        let mut deaf = stranger.subscribe();
        assert!(timeout(Duration::from_millis(200), deaf.recv()).await.is_err(), "who is not let in hears nothing");
        stranger.close().await;
    }
    let server = tokio::task::spawn_blocking(|| nats::server_with(&["--auth", "t%ken"])).await.unwrap();
    let known = format!("nats://t%25ken@{}", server.address());
    let (one, two) = (on(&known, SITE_DEFAULT).await, on(&known, SITE_DEFAULT).await);
    hears(&*one, &mut two.subscribe()).await;
}
