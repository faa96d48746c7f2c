//! Undo: standing moves are taken back by one more entry.

use plybook_proto::v1;
use tonic::Request;

use crate::auth::{Rpc, authenticate};
use crate::refusal::Refusal;
use crate::requests;
use crate::service::Service;
use crate::service::appending::{Appended, Wanted};

pub(super) async fn answer(service: &Service, request: Request<v1::UndoRequest>) -> Result<v1::UndoResponse, Refusal> {
    let caller = authenticate(&request)?;
    let message = request.into_inner();
    let asked = caller.may_act(Rpc::Undo, requests::undo(&caller, &message)?)?;
    let wanted = Wanted { position: message.with_position, receipt: message.with_receipt };
    let Appended { event, position, receipt } = service.append(asked, wanted).await?;
    Ok(v1::UndoResponse { event: Some(event), position, receipt })
}
