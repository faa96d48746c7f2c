//! GetGame: a game at its head or at any earlier entry.

use plybook_core::game::State;
use plybook_core::{Game, Seed, Seq, Time};
use plybook_proto::v1;
use plybook_store::GameKey;
use tonic::Request;

use crate::auth::{Rpc, authenticate};
use crate::games::Opened;
use crate::refusal::Refusal;
use crate::replies;
use crate::requests;
use crate::service::Service;
use crate::telemetry;

pub(super) async fn answer(service: &Service, request: Request<v1::GetGameRequest>) -> Result<v1::GetGameResponse, Refusal> {
    let caller = authenticate(&request)?;
    let message = request.into_inner();
    let key = caller.may_see(Rpc::GetGame, requests::game_id(&message.game_id)?)?;
    telemetry::record_game(key.game);
    let game = match message.at_seq.map(requests::seq) {
        None => {
            let now = service.clock.now();
            service.games.with_head(key, |table| whole(&table.game, &table.opened, table.seed.as_ref(), now)).await?
        }
        Some(seq) => {
            let (game, opened) = service.games.at(key, seq).await?;
            whole(&game, &opened, revealed(service, key, &game).await?.as_ref(), game.head().time)
        }
    };
    telemetry::record_entry(key.game, requests::seq(game.seq));
    Ok(v1::GetGameResponse { game: Some(Box::new(game)) })
}

/// The seed leaves the service only where the entry that reveals it is at or before this one.
fn whole(game: &Game, opened: &Opened, seed: Option<&Seed>, now: Time) -> v1::Game {
    let closed = game.state() == State::Closed;
    let foreign = opened.foreign.as_ref().map(replies::game::foreign);
    v1::Game { foreign, ..replies::game::whole_at(game, seed.filter(|_| closed), now) }
}

/// The seed of a closed game as its last line tells it.
async fn revealed(service: &Service, key: GameKey, game: &Game) -> Result<Option<Seed>, Refusal> {
    let head = game.head().seq;
    if game.state() != State::Closed {
        return Ok(None);
    }
    let last = service.games.store().entries(key, Seq(head.0.saturating_sub(1)), 1).await?;
    let entry = last.first().and_then(|stored| game.header().read_entry(&stored.line).ok());
    Ok(entry.and_then(|entry| entry.seed))
}
