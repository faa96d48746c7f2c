//! Refused requests cost moves nothing: with a store that hangs, fails or is flooded, and when a node goes.

use std::time::Duration;

use plybook_tests::injected::{Call, Fault, Local, over_postgres, over_sqlite};
use plybook_tests::patience::PATIENCE;
use plybook_tests::postgres;
use plybook_tests::refused::Refused;
use plybook_tests::wire::Wire;
use tokio::time::{Instant, sleep, timeout};
use tonic::Request;

const SOON: Duration = Duration::from_secs(60);

async fn until(what: &str, holds: impl Fn() -> bool) {
    let waited = async {
        while !holds() {
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(SOON, waited).await.unwrap_or_else(|_| panic!("it never comes to this: {what}"));
}

/// A whole game, played on.
async fn plays_on(wire: &Wire) {
    let mut game = wire.game().await;
    game.play("b2 a1 b1 a3 b3").await;
    assert!(game.now().await.outcome.is_some());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hung_store_of_refusals_holds_up_nobody_and_a_full_queue_loses() {
    let local = over_sqlite().await.limits(|limits| limits.refusals_queue = 4).start().await;
    let wire = local.wire().await;
    let mut game = wire.game().await;
    local.store.breaks(Call::Remember, Fault::Held);
    game.refuses("z0").await.with("INVALID_ACTION");
    until("the writer hangs", || local.store.count(Call::Remember) == 1).await;
    for number in 1..=50 {
        game.refuses(&format!("z{number}")).await.with("INVALID_ACTION");
    }
    game.play("b2 a1 b1 a3 b3").await;
    plays_on(&wire).await;
    assert_eq!((local.refusals_lost(), local.store.count(Call::Remember)), (46, 1), "one writer, and nobody behind it");
    assert!(wire.refusals(&game.id).await.is_empty());
    local.store.mends();
    let told = wire.remembers(&game.id, 5).await;
    let asked: Vec<&str> = told.iter().map(|told| told.asked.as_str()).collect();
    assert_eq!(asked, ["move z4", "move z3", "move z2", "move z1", "move z0"]);
    game.refuses("c3").await.with("GAME_FINISHED");
    wire.remembers(&game.id, 6).await;
    assert_eq!(local.refusals_lost(), 46);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_that_fails_or_panics_loses_them_and_nothing_else() {
    let local = over_sqlite().await.start().await;
    let wire = local.wire().await;
    let game = wire.game().await;
    for (lost, fault) in [Fault::Away, Fault::Failed, Fault::Panic].into_iter().enumerate() {
        local.store.breaks(Call::Remember, fault);
        local.store.breaks(Call::Forget, fault);
        game.refuses(&format!("z{lost}")).await.with("INVALID_ACTION");
        until("it is lost", || local.refusals_lost() == lost as u64 + 1).await;
        plays_on(&wire).await;
    }
    local.store.mends();
    game.refuses("z9").await.with("INVALID_ACTION");
    let told = wire.remembers(&game.id, 1).await;
    assert_eq!((told.len(), told[0].asked.as_str()), (1, "move z9"));

    local.store.breaks(Call::Refusals, Fault::Away);
    Refused::by(wire.try_refusals(&game.id, 0).await).with("STORE_UNAVAILABLE").later();
    local.store.breaks(Call::Refusals, Fault::Failed);
    Refused::by(wire.try_refusals(&game.id, 0).await).with("INTERNAL").only(&["trace_id"]);
}

/// The player whose phone went dark did click.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refusal_that_nobody_waited_for_is_remembered() {
    let local = over_sqlite().await.start().await;
    let wire = local.wire().await;
    let mut game = wire.game().await;
    game.play("b2").await;
    // A refusal is held against the store before it is spoken.
    local.store.breaks(Call::Entries, Fault::Held);
    let asked = game.asks("b2");
    let mut request = Request::new(asked.clone());
    request.set_timeout(Duration::from_millis(300));
    wire.games().make_move(request).await.unwrap_err();
    assert!(wire.refusals(&game.id).await.is_empty());
    local.store.mends();
    let told = wire.remembers(&game.id, 1).await;
    assert_eq!((told[0].request_id.as_str(), told[0].asked.as_str()), (asked.request_id.as_str(), "move b2"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_waits_is_written_when_a_node_goes() {
    let mut local = over_sqlite().await.start().await;
    let wire = local.wire().await;
    let game = wire.game().await;
    local.store.breaks(Call::Remember, Fault::Held);
    game.refuses("z0").await;
    until("the writer hangs", || local.store.count(Call::Remember) == 1).await;
    for number in 1..150 {
        game.refuses(&format!("z{number}")).await;
    }
    local.store.mends();
    local.drain().await;
    let next = local.restarted_after_drain().await;
    assert_eq!(next.wire().await.refusals(&game.id).await.len(), 150);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hung_store_of_refusals_does_not_keep_a_node() {
    let mut local = over_sqlite().await.start().await;
    let game = local.wire().await.game().await;
    for call in [Call::Remember, Call::Forget] {
        local.store.breaks(call, Fault::Held);
    }
    game.refuses("z0").await;
    until("the writer hangs", || local.store.count(Call::Remember) == 1).await;
    timeout(PATIENCE, local.drain()).await.expect("it goes without them");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn none_are_remembered_where_none_are_wanted() {
    let local = over_sqlite().await.limits(|limits| limits.refusals_per_game = 0).start().await;
    let wire = local.wire().await;
    let mut game = wire.game().await;
    game.refuses("z0").await.with("INVALID_ACTION");
    game.play("b2").await;
    assert!(wire.refusals(&game.id).await.is_empty());
    assert_eq!((local.store.count(Call::Remember), local.refusals_lost()), (0, 0));
}

/// Refused moves to one game by eight callers at once, while others play.
async fn a_flood(local: &Local, each: usize) {
    const LANES: usize = 8;
    let wire = local.wire().await;
    let (target, quiet) = (wire.game().await, wire.game().await);
    let mut lanes = Vec::new();
    for _ in 0..LANES {
        let game = target.through(&local.wire().await);
        lanes.push(tokio::spawn(async move {
            for _ in 0..each {
                game.refuses("z9").await.with("INVALID_ACTION");
            }
        }));
    }
    let (mut played, mut longest) = (0, Duration::ZERO);
    while played < 5 || lanes.iter().any(|lane| !lane.is_finished()) {
        let one = Instant::now();
        plays_on(&wire).await;
        longest = longest.max(one.elapsed());
        played += 1;
        sleep(Duration::from_millis(50)).await;
    }
    for lane in lanes {
        lane.await.unwrap();
    }
    assert!(longest < PATIENCE, "a game took {longest:?}");

    // Once the flood is over the next refusals have room, in whatever game.
    for game in [&target, &quiet] {
        let seen = async {
            loop {
                let asked = game.asks("z8");
                game.refuses_move(asked.clone()).await.with("INVALID_ACTION");
                sleep(Duration::from_millis(100)).await;
                if wire.refusals(&game.id).await.iter().any(|told| told.request_id == asked.request_id) {
                    return;
                }
            }
        };
        timeout(SOON, seen).await.expect("a refusal after the flood is remembered");
    }
    let kept = wire.refusals(&target.id).await.len();
    assert!((1..=200).contains(&kept), "{kept} are kept");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_of_ten_thousand_refusals_costs_a_bounded_table_over_sqlite() {
    a_flood(&over_sqlite().await.start().await, 1_250).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_of_refusals_costs_a_bounded_table_over_postgres() {
    let database = postgres::database().await;
    a_flood(&over_postgres(&database).await.start().await, 500).await;
    let most = database.column("SELECT max(n)::text FROM (SELECT count(*) AS n FROM refusal GROUP BY game_id) AS of_games").await;
    assert!(most[0].parse::<u32>().unwrap() <= 200, "{most:?}");
}
