//! F: the feed over every game.

use plybook_proto::v1;
use plybook_tests::held::Held;
use plybook_tests::injected::over_postgres;
use plybook_tests::node;
use plybook_tests::patience::until;
use plybook_tests::postgres::{self, own};
use plybook_tests::wire::{Feed, Wire};

use super::{file_node, two_nodes};

/// The next events, past those of other games.
async fn of_games(feed: &mut Feed, games: &[&str], count: usize) -> Vec<(String, u64)> {
    let mut seen = Vec::new();
    while seen.len() < count {
        let event = feed.event().await;
        if games.contains(&&*event.game_id) {
            seen.push((event.game_id, event.seq));
        }
    }
    seen
}

/// A is open, B commits in another game, A commits: both come, each once, to who was there before and to who comes with a token
/// from in between.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_46_an_entry_that_commits_late_is_not_skipped_by_the_feed() {
    let pair = two_nodes().await;
    let [a, b] = pair.wires().await;
    let (one, mut other) = (a.game().of("gomoku").await, a.game().of("gomoku").await);
    let mut feeds = [a.feed().heartbeat(1).open().await, b.feed().heartbeat(1).open().await];
    for feed in &mut feeds {
        feed.history().await;
    }
    let held = Held::before_entry(&pair.database, &one.id, 2).await;
    let event = other.play("h8").await;
    // As long as the older transaction is open nothing comes, and the feed says that it is held up.
    let between = loop {
        let checkpoint = feeds[1].checkpoint().await;
        if checkpoint.held_up.is_some() {
            break feeds[1].token.clone();
        }
    };
    held.commit().await;
    let late = (one.id.clone(), 2);
    let quick = (event.game_id.clone(), event.seq);
    let wanted = vec![late, quick];
    for feed in &mut feeds {
        assert_eq!(of_games(feed, &[&one.id, &other.id], 2).await, wanted, "the older transaction comes first");
    }
    let event = other.play("h9").await;
    for feed in &mut feeds {
        assert_eq!(feed.event().await, event, "and neither comes again");
    }
    let mut resumed = b.feed().from(&between).open().await;
    assert_eq!(of_games(&mut resumed, &[&one.id, &other.id], 2).await, wanted);
}

/// Row 46's neighbour: whoever operates the service learns whose transaction it is.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_46_the_log_names_the_transaction_that_holds_the_feed_up() {
    let cluster = own::cluster().await;
    let (database, folder) = (cluster.database().await, tempfile::tempdir().unwrap());
    let log = folder.path().join("log");
    let node = node::over(&database.url).logs_to(&log).start();
    let wire = node.wire().await;
    let mut game = wire.game().await;
    let mut feed = wire.feed().open().await;
    feed.history().await;
    let held = Held::over(&database, "SET application_name = 'a forgotten job'; CREATE TABLE elsewhere (n int)").await;
    let pid = database.column("SELECT pid::text FROM pg_stat_activity WHERE application_name = 'a forgotten job'").await.remove(0);
    let event = game.play("a1").await;
    let named =
        || std::fs::read_to_string(&log).unwrap().lines().find(|line| line.contains("keeps entries from the feed")).map(str::to_owned);
    until("the log names it", async || named().is_some()).await;
    let line = named().unwrap();
    for words in ["a forgotten job", "idle in transaction", &pid] {
        assert!(line.contains(words), "{line}");
    }
    assert!(!line.contains("CREATE TABLE"), "{line}");
    held.release().await;
    assert_eq!(feed.event().await, event);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_47_a_resumed_feed_begins_behind_its_token_on_either_node() {
    let pair = two_nodes().await;
    let [a, b] = pair.wires().await;
    let (mut one, mut two) = (a.game().of("gomoku").await, b.game().of("gomoku").await);
    for row in 1..=6 {
        one.play(&format!("a{row}")).await;
        two.play(&format!("b{row}")).await;
    }
    let mut feed = a.feed().open().await;
    let whole = feed.events(14).await;
    // Cut again and again, on either node: what was read once is not read again.
    let (mut read, mut token): (Vec<v1::Event>, _) = (Vec::new(), String::new());
    while read.len() < whole.len() {
        let wire = if read.len().is_multiple_of(2) { &a } else { &b };
        let mut feed = wire.feed().from(&token).open().await;
        for _ in 0..(read.len() % 3 + 1).min(whole.len() - read.len()) {
            read.push(feed.event().await);
        }
        token = feed.token.clone();
    }
    assert_eq!(read, whole);
    // At the end there is nothing more, and what comes is new.
    let mut end = b.feed().from(&token).open().await;
    assert_eq!(end.history().await, []);
    let event = one.play("a7").await;
    assert_eq!(end.event().await, event);
}

/// Two nodes that never hear of each other.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_52_a_lost_notification_costs_the_feed_no_entry() {
    let database = postgres::database().await;
    let mut wires: Vec<Wire> = Vec::new();
    let mut locals = Vec::new();
    for _ in 0..2 {
        let floor = std::time::Duration::from_millis(300);
        let local = over_postgres(&database).await.limits(|limits| limits.poll_floor = floor).start().await;
        local.bus.loses_hints();
        wires.push(local.wire().await);
        locals.push(local);
    }
    let mut game = wires[0].game().of("gomoku").await;
    let mut feed = wires[1].feed().open().await;
    feed.event().await;
    for row in 1..=8 {
        let event = game.play(&format!("a{row}")).await;
        assert_eq!(feed.event().await, event);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_53_many_feeds_of_one_principal_live_beside_each_other() {
    let (_folder, node) = file_node();
    let wire = node.wire().await;
    let mut game = wire.game().of("gomoku").await;
    let mut feeds = Vec::new();
    for row in 1..=12 {
        feeds.push((wire.feed().open().await, Vec::new()));
        game.play(&format!("a{row}")).await;
    }
    for (feed, seen) in &mut feeds {
        *seen = feed.events(13).await;
    }
    let whole = wire.history(&game.id).await;
    assert!(feeds.iter().all(|(_, seen)| *seen == whole), "the start, and all else, once a feed");
    // One that leaves takes nobody along.
    feeds.truncate(6);
    let event = game.play("b1").await;
    for (feed, _) in &mut feeds {
        assert_eq!(feed.event().await, event);
    }
}
