//! How many streams one connection may have, and one tenant.

use plybook_tests::injected::over_sqlite;
use plybook_tests::patience::until;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_has_so_many_streams_and_calls_beside_them() {
    let local = over_sqlite().await.limits(|limits| limits.streams_per_connection = 2).start().await;
    let wire = local.wire().await;
    let game = wire.game().await;
    let first = wire.follow(&game.id).open().await;
    let _second = wire.feed().open().await;
    for refused in [wire.follow(&game.id).refused().await, wire.feed().refused().await] {
        refused.with("TOO_MANY_STREAMS").only(&["limit", "most"]).meta("limit", "streams_per_connection").meta("most", 2).later();
    }
    game.now().await;
    let other = local.wire().await;
    let _elsewhere = other.follow(&game.id).open().await;
    drop(first);
    until("the place is free", || async { wire.follow(&game.id).sent().await.is_ok() }).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tenant_has_so_many_streams() {
    let local = over_sqlite().await.limits(|limits| limits.streams_per_tenant = 2).start().await;
    let (wire, other) = (local.wire().await, local.wire().await);
    let game = wire.game().await;
    let first = wire.follow(&game.id).open().await;
    let _second = other.follow(&game.id).open().await;
    let refused = local.wire().await.follow(&game.id).refused().await;
    refused.with("TOO_MANY_STREAMS").meta("limit", "streams_per_tenant").meta("most", 2).later();
    drop(first);
    until("the place is free", || async { wire.follow(&game.id).sent().await.is_ok() }).await;
}
