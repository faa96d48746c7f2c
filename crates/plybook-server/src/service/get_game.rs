//! GetGame: a game at its head or at any earlier entry.

use plybook_core::Game;
use plybook_core::game::State;
use plybook_proto::v1;
use tonic::Request;

use crate::auth::authenticate;
use crate::refusal::Refusal;
use crate::replies;
use crate::requests;
use crate::service::Service;
use crate::telemetry;

pub(super) async fn answer(service: &Service, request: Request<v1::GetGameRequest>) -> Result<v1::GetGameResponse, Refusal> {
    let caller = authenticate(&request)?;
    let message = request.into_inner();
    let key = caller.game(requests::game_id(&message.game_id)?);
    telemetry::record_game(key.game);
    let game = match message.at_seq.map(requests::seq) {
        None => service.games.with_head(key, |table| whole(&table.game, &table.seed)).await?,
        Some(seq) => {
            let (game, _) = service.games.at(key, seq).await?;
            let seed = service.games.store().seed(key).await?.ok_or(Refusal::GameNotFound)?;
            whole(&game, &seed)
        }
    };
    telemetry::record_entry(key.game, requests::seq(game.seq));
    Ok(v1::GetGameResponse { game: Some(game) })
}

/// The seed leaves the service only where the entry that reveals it is at or before this one.
fn whole(game: &Game, seed: &plybook_core::Seed) -> v1::Game {
    let closed = game.state() == State::Closed;
    replies::game::whole(game, closed.then_some(seed))
}
