//! ForkGame: a new game that begins with the moves that stood at an entry of another.

use plybook_core::header::Receipts;
use plybook_core::receipt::SignedHead;
use plybook_proto::v1;
use tonic::Request;

use crate::auth::{Rpc, authenticate};
use crate::refusal::Refusal;
use crate::replies;
use crate::requests::fork;
use crate::service::Service;
use crate::service::appending::signed;
use crate::telemetry;

pub(super) async fn answer(service: &Service, request: Request<v1::ForkGameRequest>) -> Result<v1::ForkGameResponse, Refusal> {
    let caller = authenticate(&request)?;
    let message = request.into_inner();
    let plan = fork::fork(&caller, &message)?;
    caller.may(Rpc::ForkGame)?;
    // Who gets no receipt is told before anything is created.
    let with_receipt = message.with_receipt || plan.receipts == Receipts::Always;
    let signer = with_receipt.then(|| service.keys.signer()).transpose()?;
    let game = service.games.fork(plan).await?;
    telemetry::record_entry(game.header().game, game.head().seq);
    let head = SignedHead { game: game.header().game, seq: game.head().seq, digest: game.head().digest };
    let receipt = signed(signer, head).await;
    Ok(v1::ForkGameResponse { game: Some(Box::new(replies::game::whole(&game, None))), receipt })
}
