//! AnswerUndo: a seat accepts, declines or withdraws an offer to take a move back; the last acceptance takes it back.

use plybook_proto::v1;
use tonic::Request;

use crate::auth::{Rpc, authenticate};
use crate::refusal::Refusal;
use crate::requests::life;
use crate::service::Service;
use crate::service::appending::{Appended, Wanted};

pub(super) async fn answer(service: &Service, request: Request<v1::AnswerUndoRequest>) -> Result<v1::AnswerUndoResponse, Refusal> {
    let caller = authenticate(&request)?;
    let message = request.into_inner();
    let asked = caller.may_act(Rpc::AnswerUndo, life::answer_undo(&caller, &message)?)?;
    let wanted = Wanted { position: message.with_position, receipt: message.with_receipt };
    let Appended { event, position, receipt } = service.append(asked, wanted).await?;
    Ok(v1::AnswerUndoResponse { event: Some(event), position, receipt })
}
