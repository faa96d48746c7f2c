//! CreateGame: a header becomes entry 1.

use plybook_core::Seq;
use plybook_proto::v1;
use tonic::Request;

use crate::auth::authenticate;
use crate::refusal::Refusal;
use crate::replies;
use crate::requests::plan;
use crate::service::Service;
use crate::telemetry;

pub(super) async fn answer(service: &Service, request: Request<v1::CreateGameRequest>) -> Result<v1::CreateGameResponse, Refusal> {
    let caller = authenticate(&request)?;
    let plan = plan::create(&caller, request.into_inner())?;
    let game = service.games.create(plan).await?;
    telemetry::record_entry(game.header().game, Seq::FIRST);
    Ok(v1::CreateGameResponse { game: Some(replies::game::whole(&game, None)) })
}
