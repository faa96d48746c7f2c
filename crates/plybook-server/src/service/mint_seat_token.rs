//! MintSeatToken: a short-lived token for a player's own client, or for a watcher's.

use plybook_proto::v1;
use tonic::Request;

use crate::auth::{Role, Rpc, authenticate};
use crate::refusal::Refusal;
use crate::requests::seat_token::{self, Holder};
use crate::service::Service;
use crate::{replies, telemetry};

pub(super) async fn answer(service: &Service, request: Request<v1::MintSeatTokenRequest>) -> Result<v1::MintSeatTokenResponse, Refusal> {
    let caller = authenticate(&request)?;
    let message = request.into_inner();
    let asked = seat_token::mint(&message, service.auth.seat_token_ttl_max)?;
    let key = caller.may_see(Rpc::MintSeatToken, asked.game)?;
    telemetry::record_game(key.game);
    let mint = service.auth.seat_tokens.as_ref().ok_or(Refusal::SeatTokensUnavailable)?;
    let seats = service.games.opened(key).await?.header.seats.len();
    let role = match asked.holder {
        Holder::Seat(seat) if usize::from(seat.0) >= seats => return Err(Refusal::field("seat", format!("there is no seat {seat}"))),
        Holder::Seat(seat) => Role::Seat { game: key.game, seat },
        Holder::Spectator => Role::Spectator { game: Some(key.game) },
    };
    let minted = mint.mint(key.tenant, role, service.clock.now(), asked.ttl)?;
    Ok(v1::MintSeatTokenResponse { token: minted.token, expire_time: Some(replies::time(minted.until)) })
}
