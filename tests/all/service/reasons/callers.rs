//! The reasons of credentials.

use plybook_proto::v1;
use plybook_server::auth::Role;
use plybook_tests::injected::{Local, over_sqlite};
use plybook_tests::keyring::keys_alone;
use plybook_tests::refused::Refused;

use super::Bench;

async fn guarded() -> Local {
    over_sqlite().await.auth(keys_alone()).start().await
}

pub(super) async fn missing() -> Refused {
    Refused::by(guarded().await.wire().await.games().list_games(v1::ListGamesRequest::default()).await).only(&[]).clone()
}

pub(super) async fn invalid() -> Refused {
    let wire = guarded().await.wire().await.bearing("ply_1-0123456789abcdef_00");
    Refused::by(wire.games().list_games(v1::ListGamesRequest::default()).await).only(&[]).clone()
}

pub(super) async fn denied() -> Refused {
    let local = guarded().await;
    let tenant = local.tenant("shop").await;
    let wire = local.wire().await.bearing(&local.api_key(tenant, Role::Auditor, "audit").await);
    wire.game().refused().await.only(&["role"]).meta("role", "auditor").clone()
}

pub(super) async fn no_seat_tokens(bench: &Bench) -> Refused {
    let game = bench.wire.game().await;
    let holder = Some(v1::mint_seat_token_request::Holder::Seat(0));
    let request = v1::MintSeatTokenRequest { game_id: game.id, holder, ttl: None };
    Refused::by(bench.wire.games().mint_seat_token(request).await.map(drop)).only(&[]).clone()
}
