//! CreateGame: a header becomes entry 1.

use plybook_core::Seq;
use plybook_core::header::Receipts;
use plybook_core::receipt::SignedHead;
use plybook_proto::v1;
use tonic::Request;

use crate::auth::{Rpc, authenticate};
use crate::refusal::Refusal;
use crate::replies;
use crate::requests::plan;
use crate::service::Service;
use crate::service::appending::signed;
use crate::telemetry;

pub(super) async fn answer(service: &Service, request: Request<v1::CreateGameRequest>) -> Result<v1::CreateGameResponse, Refusal> {
    let caller = authenticate(&request)?;
    let message = request.into_inner();
    let with_receipt = message.with_receipt;
    let plan = plan::create(&caller, message)?;
    caller.may(Rpc::CreateGame)?;
    // Who gets no receipt is told before anything is created.
    let with_receipt = with_receipt || plan.receipts == Receipts::Always;
    let signer = with_receipt.then(|| service.keys.signer()).transpose()?;
    let game = service.games.create(plan, &service.strategies()).await?;
    telemetry::record_entry(game.header().game, Seq::FIRST);
    let head = SignedHead { game: game.header().game, seq: game.head().seq, digest: game.head().digest };
    let receipt = signed(signer, head).await;
    Ok(v1::CreateGameResponse { game: Some(Box::new(replies::game::whole(&game, None))), receipt })
}
