//! Deadlines that pass while no node is there. Processes are killed.

use std::time::{Duration, SystemTime};

use plybook_core::Time;
use plybook_proto::v1;
use plybook_tests::live::{ms, per_move};
use plybook_tests::node::{self, Node};
use plybook_tests::patience::until;
use plybook_tests::postgres;

const TURN_MS: i64 = 2_000;

/// A game with a clock, when its first turn ends, and a node that is killed before.
async fn left_alone(node: Node, clock: v1::ClockPolicy) -> (String, prost_types::Timestamp) {
    let game = node.wire().await.game().clock(clock).sent().await.unwrap();
    node.kill();
    let deadline = game.deadline.unwrap().time.unwrap();
    let since = Duration::new(deadline.seconds as u64, deadline.nanos as u32);
    until("the turn is over", || async { SystemTime::UNIX_EPOCH.elapsed().unwrap() > since + Duration::from_millis(1) }).await;
    (game.game_id, deadline)
}

async fn until_over(node: &Node, id: &str) -> v1::Game {
    let wire = node.wire().await;
    until("the game is over", || async { wire.get(id).await.state() == v1::GameState::Closed }).await;
    wire.get(id).await
}

async fn scenario_56(database: &str) {
    let (id, deadline) = left_alone(node::over(database).start(), per_move(TURN_MS)).await;
    let node = node::over(database).start();
    let game = until_over(&node, &id).await;
    assert_eq!(game.outcome.unwrap().reason, "timeout");
    let book = node.wire().await.book(&id).await;
    let timeouts: Vec<&str> = book.lines().filter(|line| line.contains("-:plybook timeout 0")).collect();
    let stamp = Time::from_unix_ms(deadline.seconds as u64 * 1_000 + deadline.nanos as u64 / 1_000_000).to_string();
    assert!(timeouts.len() == 1 && timeouts[0].contains(&stamp), "{book}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_56_a_deadline_that_passes_while_all_nodes_are_down_fires_soon_after_start_over_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    scenario_56(folder.path().join("books.db").to_str().unwrap()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_56_a_deadline_that_passes_while_all_nodes_are_down_fires_soon_after_start_over_postgres() {
    scenario_56(&postgres::database().await.url).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_58_an_outage_is_credited_once_and_logged() {
    let database = postgres::database().await;
    let folder = tempfile::tempdir().unwrap();
    let short = |url: &str| node::over(url).with(&["--heartbeat-ms", "100", "--outage-after-ms", "500"]).env("PLYBOOK_LOG", "info");
    let clock = v1::ClockPolicy { outage_credit_max: Some(ms(60_000)), ..per_move(TURN_MS) };
    let (id, _) = left_alone(short(&database.url).start(), clock).await;
    let log = folder.path().join("log");
    let node = short(&database.url).logs_to(&log).start();
    let game = until_over(&node, &id).await;
    assert_eq!(game.outcome.unwrap().reason, "timeout");
    let book = node.wire().await.book(&id).await;
    let service: Vec<&str> = book.lines().filter(|line| line.contains("-:plybook ")).collect();
    assert!(service.len() == 2 && service[0].contains("-:plybook credit ") && service[1].contains("-:plybook timeout 0"), "{book}");
    let told = std::fs::read_to_string(&log).unwrap();
    assert_eq!(told.matches("time is credited").count(), 1, "{told}");
}
