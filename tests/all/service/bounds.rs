//! One over what is bounded without a refusal: pages, advice, intervals, names, and the time that draining takes.

use std::time::Duration;

use plybook_core::header::Principal;
use plybook_core::limits::PRINCIPAL_BYTES_MAX;
use plybook_proto::v1;
use plybook_server::limits::{
    ADVICE_ACTIONS_DEFAULT, ADVICE_ACTIONS_MAX, HEARTBEAT_SECONDS, PAGE_ACTIONS_DEFAULT, PAGE_ACTIONS_MAX, PAGE_ITEMS_MAX,
};
use plybook_server::requests;
use plybook_tests::injected::{Call, Fault, over_sqlite};
use plybook_tests::patience::{PATIENCE, until};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_of_actions_has_so_many() {
    let local = over_sqlite().await.start().await;
    let game = local.wire().await.game().mnk(100, 100, 5).await;
    let (most, default) = (PAGE_ACTIONS_MAX as usize, PAGE_ACTIONS_DEFAULT as usize);
    for (page_size, there) in [(0, default), (PAGE_ACTIONS_MAX as i32, most), (PAGE_ACTIONS_MAX as i32 + 1, most), (i32::MAX, most)] {
        let request = v1::ListLegalActionsRequest { game_id: game.id.clone(), page_size, ..Default::default() };
        let page = game.wire.games().list_legal_actions(request).await.unwrap().into_inner();
        assert_eq!((page.actions.len(), page.next_page_token.is_empty()), (there, false), "{page_size}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_analysis_has_so_many_actions() {
    let local = over_sqlite().await.start().await;
    let game = local.wire().await.game().mnk(40, 40, 5).await;
    let (most, default) = (ADVICE_ACTIONS_MAX as usize, ADVICE_ACTIONS_DEFAULT as usize);
    for (max_actions, there) in [(0, default), (ADVICE_ACTIONS_MAX as i32, most), (ADVICE_ACTIONS_MAX as i32 + 1, most)] {
        let request = v1::AnalyzePositionRequest { game_id: game.id.clone(), at_seq: None, nodes: 100, max_actions };
        let analysis = game.wire.games().analyze_position(request).await.unwrap().into_inner();
        assert_eq!(analysis.actions.len(), there, "{max_actions}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_of_a_short_list_takes_any_size() {
    let local = over_sqlite().await.start().await;
    let wire = local.wire().await;
    let all = wire.games().list_rulesets(v1::ListRulesetsRequest::default()).await.unwrap().into_inner().rulesets.len();
    for page_size in [0, PAGE_ITEMS_MAX as i32, PAGE_ITEMS_MAX as i32 + 1, i32::MAX] {
        let rulesets = v1::ListRulesetsRequest { page_size, ..Default::default() };
        assert_eq!(wire.games().list_rulesets(rulesets).await.unwrap().into_inner().rulesets.len(), all);
        let strategies = v1::ListStrategiesRequest { page_size, ..Default::default() };
        assert_eq!(wire.games().list_strategies(strategies).await.unwrap().into_inner().strategies.len(), 5);
    }
}

#[test]
fn an_interval_is_made_one_that_may_be() {
    let (least, most, default) = HEARTBEAT_SECONDS;
    let asked = |seconds| requests::heartbeat(Some(&prost_types::Duration { seconds, nanos: 0 })).unwrap().as_secs();
    assert_eq!([0, 1, 300, 301].map(asked), [least, 1, 300, most]);
    assert_eq!(requests::heartbeat(None).unwrap().as_secs(), default);
}

#[test]
fn a_principal_has_so_many_bytes() {
    assert!(Principal::parse(&"p".repeat(PRINCIPAL_BYTES_MAX)).is_some());
    assert!(Principal::parse(&"p".repeat(PRINCIPAL_BYTES_MAX + 1)).is_none());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_finished_game_waits_so_long_to_be_reopened() {
    let local = over_sqlite().await.start().await;
    let wire = local.wire().await;
    let waits = |ms: u64| {
        let mut opening = wire.game().undo_after_end();
        let seconds = i64::try_from(ms / 1_000).unwrap();
        let after = prost_types::Duration { seconds, nanos: i32::try_from(ms % 1_000).unwrap() * 1_000_000 };
        opening.request.terms.get_or_insert_default().close_after = Some(after);
        opening
    };
    let most = plybook_core::limits::CLOSE_AFTER_MS_MAX;
    waits(most).await;
    waits(most + 1).refused().await.with("INVALID_PARAMETER").field("terms.close_after", "31622400000");
}

/// A call that nothing will ever answer holds a node up for so long.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn draining_takes_so_long() {
    let mut local = over_sqlite().await.limits(|limits| limits.drain_timeout = Duration::from_millis(300)).start().await;
    let wire = local.wire().await;
    let before = local.store.count(Call::List);
    local.store.breaks(Call::List, Fault::Held);
    let held = tokio::spawn(async move { wire.games().list_games(v1::ListGamesRequest::default()).await });
    until("the call is at the store", || async { local.store.count(Call::List) > before }).await;
    tokio::time::timeout(PATIENCE, local.drain()).await.expect("it does not wait for the call");
    held.abort();
}
