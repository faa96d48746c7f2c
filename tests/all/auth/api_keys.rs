//! API keys: taken from the database, remembered for a while, dead once revoked.

use std::time::Duration;

use plybook_core::Time;
use plybook_proto::v1;
use plybook_server::auth::api_key::KeyText;
use plybook_server::auth::{AuthConfig, Role};
use plybook_server::clock::Clock as _;
use plybook_store::TenantId;
use plybook_tests::injected::{Call, Fault, Local, over_sqlite};
use plybook_tests::keyring::keys_alone;
use plybook_tests::patience::{PATIENCE, until};
use plybook_tests::refused::Refused;
use plybook_tests::wire::Wire;
use tonic::Status;

async fn asks(wire: &Wire) -> Result<(), Status> {
    wire.games().list_rulesets(v1::ListRulesetsRequest::default()).await.map(drop)
}

/// A server that believes what it read of a key until the test ends.
async fn trusting() -> Local {
    over_sqlite().await.auth(AuthConfig { key_trust: Duration::from_secs(600), ..keys_alone() }).start().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_that_was_read_costs_no_call_a_look_into_the_database() {
    let local = trusting().await;
    let wire = local.service("shop").await;
    asks(&wire).await.unwrap();
    let before = local.store.count(Call::Credentials);
    for _ in 0..100 {
        asks(&wire).await.unwrap();
    }
    assert_eq!(local.store.count(Call::Credentials), before);
}

/// One that is none is remembered as well, by its id, whatever secret is tried with it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_that_is_none_is_looked_up_once() {
    let local = trusting().await;
    let (wire, made_up) = (local.wire().await, KeyText::generate(TenantId(7)).unwrap().reveal());
    let secretless = made_up.rsplit_once('_').unwrap().0.to_owned();
    let before = local.store.count(Call::Credentials);
    for n in 0..50 {
        let answer = asks(&wire.bearing(&format!("{secretless}_{n:064x}"))).await;
        assert_eq!(Refused::by(answer).with("CREDENTIALS_INVALID").message, "the credential does not hold: the API key is none that holds");
    }
    assert_eq!(local.store.count(Call::Credentials) - before, 1);
    // What has not the form of a key is looked up nowhere.
    for garbage in ["ply_", "ply_1-0_0", "ply_x-0123456789abcdef_00", "ply_1-0123456789ABCDEF_00"] {
        Refused::by(asks(&wire.bearing(garbage)).await).with("CREDENTIALS_INVALID");
    }
    assert_eq!(local.store.count(Call::Credentials) - before, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_revoked_key_dies_and_takes_its_streams_along() {
    let local = over_sqlite().await.auth(keys_alone()).start().await;
    let shop = local.tenant("shop").await;
    let keeper = local.service("shop").await;
    let game = keeper.game().await;
    let key = local.api_key(shop, Role::Auditor, "audit").await;
    let wire = local.wire().await.bearing(&key);
    let request = v1::StreamEventsRequest { game_id: game.id.clone(), ..Default::default() };
    let mut watched = wire.games().stream_events(request.clone()).await.unwrap().into_inner();
    let mut feed = wire.audit().stream_all_events(v1::StreamAllEventsRequest::default()).await.unwrap().into_inner();
    watched.message().await.unwrap().unwrap();
    feed.message().await.unwrap().unwrap();
    local.revokes(&key).await;
    until("the key is refused", async || asks(&wire).await.is_err()).await;
    let of_game = loop {
        if let Err(status) = watched.message().await {
            break Refused::of(&status);
        }
    };
    let of_feed = loop {
        if let Err(status) = feed.message().await {
            break Refused::of(&status);
        }
    };
    for refused in [of_game, of_feed] {
        assert_eq!(refused.with("CREDENTIALS_INVALID").message, "the credential does not hold: it was revoked");
    }
    asks(&keeper).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_ends_at_its_time_and_takes_its_streams_along() {
    let local = over_sqlite().await.auth(keys_alone()).start().await;
    let shop = local.tenant("shop").await;
    let game = local.service("shop").await.game().await;
    let end = Time::from_unix_ms(local.clock.now().unix_ms() + 400);
    let wire = local.wire().await.bearing(&local.api_key_until(shop, Role::Auditor, "audit", Some(end)).await);
    let request = v1::StreamEventsRequest { game_id: game.id, ..Default::default() };
    match wire.games().stream_events(request).await {
        // A machine so busy that the key was over before the call came to its turn: the same words.
        Err(status) => drop(Refused::of(&status).with("CREDENTIALS_INVALID")),
        Ok(stream) => {
            let mut stream = stream.into_inner();
            let status = loop {
                if let Err(status) = stream.message().await {
                    break status;
                }
            };
            Refused::of(&status).with("CREDENTIALS_INVALID");
        }
    }
    until("the key is over", async || asks(&wire).await.is_err()).await;
}

/// A database that is away is not a credential that does not hold.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_that_cannot_be_looked_up_is_not_called_a_wrong_one() {
    let local = trusting().await;
    let shop = local.tenant("shop").await;
    let wire = local.wire().await.bearing(&local.api_key(shop, Role::Service, "svc/rooms").await);
    local.store.breaks(Call::Credentials, Fault::Away);
    Refused::by(asks(&wire).await).with("STORE_UNAVAILABLE").later();
    local.store.mends();
    asks(&wire).await.unwrap();
}

/// Whoever makes up keys holds up themselves: so many are looked up, so many wait, the others are sent away, and who is
/// known goes on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn made_up_keys_by_the_hundred_do_not_hold_up_who_is_known() {
    let config = AuthConfig { key_trust: Duration::from_secs(600), ..keys_alone() };
    let local = over_sqlite().await.auth(config).limits(|limits| limits.call_timeout = PATIENCE).start().await;
    let known = local.service("shop").await;
    asks(&known).await.unwrap();
    local.store.breaks(Call::Credentials, Fault::Held);
    let wire = local.wire().await;
    let mut tries = tokio::task::JoinSet::new();
    for _ in 0..300 {
        let made_up = wire.bearing(&KeyText::generate(TenantId(7)).unwrap().reveal());
        tries.spawn(async move { Refused::by(asks(&made_up).await) });
    }
    let sent_away = tries.join_next().await.unwrap().unwrap();
    sent_away.with("LIMIT_EXCEEDED").meta("limit", "credentials_waiting").meta("most", 256).later();
    let game = known.game().await;
    known.get(&game.id).await;
    local.store.mends();
    let mut reasons = Vec::new();
    while let Some(refused) = tries.join_next().await {
        reasons.push(refused.unwrap().reason);
    }
    assert!(reasons.iter().filter(|reason| *reason == "CREDENTIALS_INVALID").count() >= 256, "{reasons:?}");
}

/// Health and reflection tell nothing of any tenant.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn health_needs_no_credential_and_calls_do() {
    let local = over_sqlite().await.auth(keys_alone()).start().await;
    let wire = local.wire().await;
    let mut health = tonic_health::pb::health_client::HealthClient::new(wire.channel.clone());
    health.check(tonic_health::pb::HealthCheckRequest::default()).await.unwrap();
    Refused::by(asks(&wire).await).with("CREDENTIALS_MISSING").only(&[]);
}
