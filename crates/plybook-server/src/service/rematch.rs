//! Rematch: a new game of one that is over.

use plybook_core::Seq;
use plybook_core::header::Receipts;
use plybook_core::receipt::SignedHead;
use plybook_proto::v1;
use tonic::Request;

use crate::auth::{Rpc, authenticate};
use crate::refusal::Refusal;
use crate::service::Service;
use crate::service::appending::signed;
use crate::{replies, requests, telemetry};

pub(super) async fn answer(service: &Service, request: Request<v1::RematchRequest>) -> Result<v1::RematchResponse, Refusal> {
    let caller = authenticate(&request)?;
    let message = request.into_inner();
    let of = caller.may_see(Rpc::Rematch, requests::game_id(&message.game_id)?)?;
    // Who gets no receipt is told before anything is created.
    let with_receipt = message.with_receipt || service.games.opened(of).await?.header.receipts == Receipts::Always;
    let signer = with_receipt.then(|| service.keys.signer()).transpose()?;
    let game = service.games.rematch(of, caller.principal.clone(), &service.strategies()).await?;
    telemetry::record_entry(game.header().game, Seq::FIRST);
    let head = SignedHead { game: game.header().game, seq: game.head().seq, digest: game.head().digest };
    let receipt = signed(signer, head).await;
    Ok(v1::RematchResponse { game: Some(Box::new(replies::game::whole(&game, None))), receipt })
}
