//! OfferUndo: a seat offers to take a move back.

use plybook_proto::v1;
use tonic::Request;

use crate::auth::{Rpc, authenticate};
use crate::refusal::Refusal;
use crate::requests::life;
use crate::service::Service;
use crate::service::appending::{Appended, Wanted};

pub(super) async fn answer(service: &Service, request: Request<v1::OfferUndoRequest>) -> Result<v1::OfferUndoResponse, Refusal> {
    let caller = authenticate(&request)?;
    let message = request.into_inner();
    let asked = caller.may_act(Rpc::OfferUndo, life::offer_undo(&caller, &message)?)?;
    let Appended { event, receipt, .. } = service.append(asked, Wanted { position: false, receipt: message.with_receipt }).await?;
    Ok(v1::OfferUndoResponse { event: Some(event), receipt })
}
