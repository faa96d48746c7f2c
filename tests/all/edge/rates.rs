//! How often whom may call.

use std::time::Instant;

use futures::future::join_all;
use plybook_client::{Client, Options};
use plybook_proto::v1;
use plybook_server::edge::{Rate, RateLimits};
use plybook_tests::injected::over_sqlite;
use plybook_tests::patience::{PATIENCE, until};
use plybook_tests::refused::Refused;

/// As many as may come at once, and as many as have become due until then; all others hear when to come back.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tenant_calls_so_often() {
    let rates = RateLimits { tenant: Some(Rate::per_second(2, 5)), strangers: None };
    let local = over_sqlite().await.config(|config| config.rates = rates).start().await;
    let wire = local.wire().await;
    let began = Instant::now();
    let calls = join_all((0..100).map(|_| async { wire.games().list_rulesets(v1::ListRulesetsRequest::default()).await })).await;
    let due = began.elapsed().as_secs_f64() * 2.0;
    let (let_in, sent_away): (Vec<_>, Vec<_>) = calls.into_iter().partition(Result::is_ok);
    assert!(let_in.len() >= 5 && let_in.len() as f64 <= 5.0 + due + 1.0, "{} were let in while {due} became due", let_in.len());
    assert!(!sent_away.is_empty() || due >= 95.0);
    for refused in sent_away.into_iter().map(Refused::by) {
        refused.with("RATE_LIMITED").only(&["limit"]).meta("limit", "rate_per_tenant").later();
        assert!(refused.retry.unwrap().as_secs_f64() <= 0.5, "one is due every half second: {refused:?}");
    }
    // A client of ours comes back when it was told to.
    let client = Client::with(&format!("http://{}", local.address()), Options { patience: PATIENCE, ..Options::default() }).unwrap();
    for rulesets in join_all((0..4).map(|_| client.rulesets())).await {
        assert!(!rulesets.unwrap().is_empty());
    }
    let health = tonic_health::pb::HealthCheckRequest::default();
    let mut open = tonic_health::pb::health_client::HealthClient::new(wire.channel);
    for _ in 0..20 {
        open.check(health.clone()).await.expect("health belongs to no tenant");
    }
}

/// Whoever fails to say who they are does so a few times, and then is not even looked at.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_address_fails_so_often() {
    let rates = RateLimits { tenant: None, strangers: Some(Rate::per_second(1, 3)) };
    let local = over_sqlite().await.config(|config| (config.rates, config.auth.required) = (rates, true)).start().await;
    let wire = local.wire().await;
    let ask = || async { Refused::by(wire.games().list_rulesets(v1::ListRulesetsRequest::default()).await) };
    let began = Instant::now();
    let mut failed = 0;
    until("its attempts are used up", || async {
        let many = join_all((0..20).map(|_| ask())).await;
        many.iter().any(|refused| refused.reason == "RATE_LIMITED")
    })
    .await;
    loop {
        let refused = ask().await;
        if refused.reason == "RATE_LIMITED" {
            refused.only(&["limit"]).meta("limit", "rate_of_strangers").later();
            break;
        }
        refused.with("CREDENTIALS_MISSING");
        failed += 1;
        assert!(failed < 100 + began.elapsed().as_secs(), "it goes on and on");
    }
}
