//! Many watchers, and moves that come through another node.

use std::collections::BTreeSet;
use std::time::Duration;

use plybook_server::streams::Topic;
use plybook_store::{GameKey, TenantId};
use plybook_tests::injected::{Call, Local, over_postgres, over_sqlite};
use plybook_tests::patience::{NEVER, PATIENCE, until};
use plybook_tests::postgres::{self, TestDatabase};
use plybook_tests::wire::{PlayedGame, Watching};
use tokio::time::timeout;

const WATCHERS: usize = 200;
const MOVES: [&str; 20] =
    ["a1", "b1", "c1", "d1", "e1", "f1", "g1", "h1", "i1", "j1", "a2", "b2", "c2", "d2", "e2", "f2", "g2", "h2", "i2", "j2"];

/// A node that never looks unasked while a test runs.
async fn patient(database: &TestDatabase) -> Local {
    over_postgres(database).await.limits(|limits| limits.poll_floor = NEVER).start().await
}

async fn watched(local: &Local, game: &PlayedGame) -> Vec<Watching> {
    let wire = local.wire().await;
    let mut all = Vec::new();
    for _ in 0..WATCHERS {
        let mut watching = wire.follow(&game.id).open().await;
        watching.history().await;
        all.push(watching);
    }
    all
}

/// Plays, and waits after each move until everybody has seen it; answers the reads of the watchers' node.
async fn reads_of(game: &mut PlayedGame, watchers: &mut [Watching], local: &Local) -> u64 {
    let before = local.store.count(Call::Entries);
    for notation in MOVES {
        let seq = game.play(notation).await.seq;
        for watching in watchers.iter_mut() {
            assert_eq!(timeout(PATIENCE, watching.event()).await.expect("everybody is woken").seq, seq);
        }
    }
    local.store.count(Call::Entries) - before
}

#[test]
fn idle_games_are_not_looked_at_in_step() {
    let floor = Duration::from_secs(8);
    let key = |n: u128| GameKey { tenant: TenantId::DEFAULT, game: plybook_core::Uuid::from_u128(n) };
    let waits: BTreeSet<Duration> = (0..100).map(|n| Topic::new(key(n)).patience(floor)).collect();
    assert!(waits.iter().all(|wait| (floor * 3 / 4..=floor).contains(wait)), "{waits:?}");
    assert!(waits.len() > 50, "{waits:?}");
    assert_eq!(Topic::new(key(1)).patience(floor), Topic::new(key(1)).patience(floor), "all watchers of one game look at once");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crowd_on_the_same_node_costs_no_read_an_entry() {
    let local = over_sqlite().await.limits(|limits| limits.poll_floor = NEVER).start().await;
    let mut game = local.wire().await.game().mnk(10, 10, 9).await;
    let mut crowd = watched(&local, &game).await;
    let reads = reads_of(&mut game, &mut crowd, &local).await;
    // One look that finds nothing more, shared by the crowd.
    assert!(reads <= 3 * MOVES.len() as u64, "{reads} reads for {} entries and {WATCHERS} watchers", MOVES.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crowd_on_another_node_costs_about_a_read_an_entry() {
    let database = postgres::database().await;
    let (here, there) = (patient(&database).await, patient(&database).await);
    let mut game = here.wire().await.game().mnk(10, 10, 9).await;
    let mut crowd = watched(&there, &game).await;
    let reads = reads_of(&mut game, &mut crowd, &there).await;
    assert!(reads <= 3 * MOVES.len() as u64, "{reads} reads for {} entries and {WATCHERS} watchers", MOVES.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_move_here_is_seen_there_without_a_poll() {
    let database = postgres::database().await;
    let (here, there) = (patient(&database).await, patient(&database).await);
    let mut game = here.wire().await.game().mnk(10, 10, 9).await;
    let mut watching = there.wire().await.follow(&game.id).open().await;
    watching.history().await;
    for notation in MOVES {
        let seq = game.play(notation).await.seq;
        assert_eq!(timeout(PATIENCE, watching.event()).await.expect("no poll, so a hint").seq, seq);
    }
    // The next player moves on the other node at once, and the first sees it.
    let mut first = here.wire().await.follow(&game.id).after(game.head).open().await;
    let mut second = game.through(&there.wire().await);
    second.play("a3").await;
    assert_eq!(timeout(PATIENCE, first.event()).await.unwrap().seq, second.head);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_listener_costs_time_up_to_the_floor_and_no_entry() {
    let database = postgres::database().await;
    let floor = Duration::from_millis(500);
    let node = || async { over_postgres(&database).await.limits(|limits| limits.poll_floor = floor).start().await };
    let (here, there) = (node().await, node().await);
    here.bus.loses_hints();
    let mut game = here.wire().await.game().mnk(10, 10, 9).await;
    let mut watching = there.wire().await.follow(&game.id).open().await;
    watching.history().await;
    for notation in MOVES.into_iter().take(5) {
        database.kill_listeners().await;
        let seq = game.play(notation).await.seq;
        assert_eq!(timeout(PATIENCE, watching.event()).await.expect("the poll finds it").seq, seq);
    }
}

/// Neither a hint, which is lost, nor a poll, which is far: the listener that is back makes everybody look.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_came_while_the_listener_was_away_is_seen_once_it_is_back() {
    let database = postgres::database().await;
    let (here, there) = (patient(&database).await, patient(&database).await);
    here.bus.loses_hints();
    let wires = (here.wire().await, there.wire().await);
    let (mut one, mut two) = (wires.0.game().mnk(10, 10, 9).await, wires.0.game().mnk(10, 10, 9).await);
    let mut watching = Vec::new();
    for game in [&one, &two, &one] {
        let mut watcher = wires.1.follow(&game.id).open().await;
        watcher.history().await;
        watching.push(watcher);
    }
    for notation in MOVES.into_iter().take(3) {
        let seq = one.play(notation).await.seq;
        two.play(notation).await;
        // Nobody waits for a node's listener when it starts: it may have to be waited for here.
        until("there is a listener to lose", async || database.kill_listeners().await > 0).await;
        for watcher in &mut watching {
            assert_eq!(timeout(PATIENCE, watcher.event()).await.expect("the listener is back").seq, seq);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_listener_comes_back_by_itself() {
    let database = postgres::database().await;
    let (here, there) = (patient(&database).await, patient(&database).await);
    let mut game = here.wire().await.game().mnk(10, 10, 9).await;
    let mut watching = there.wire().await.follow(&game.id).open().await;
    watching.history().await;
    until("there is a listener to lose", async || database.kill_listeners().await > 0).await;
    let listening = "SELECT pid::text FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'plybook listener' AND wait_event = 'ClientRead'";
    until("both listen again", async || database.column(listening).await.len() >= 2).await;
    let seq = game.play("a1").await.seq;
    assert_eq!(timeout(PATIENCE, watching.event()).await.expect("by a hint: there is no poll").seq, seq);
}
