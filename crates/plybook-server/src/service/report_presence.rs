//! ReportPresence: the calling service says whether a seat's player is there.

use plybook_core::Rejection;
use plybook_proto::v1;
use tonic::Request;

use crate::auth::{Rpc, authenticate};
use crate::refusal::Refusal;
use crate::requests::life;
use crate::service::Service;
use crate::service::appending::{Appended, Wanted};

pub(super) async fn answer(service: &Service, request: Request<v1::ReportPresenceRequest>) -> Result<v1::ReportPresenceResponse, Refusal> {
    let caller = authenticate(&request)?;
    let message = request.into_inner();
    let asked = caller.may_act(Rpc::ReportPresence, life::presence(&caller, &message)?)?;
    match service.append(asked, Wanted { position: false, receipt: message.with_receipt }).await {
        Ok(Appended { event, receipt, .. }) => Ok(v1::ReportPresenceResponse { event: Some(event), receipt }),
        // It is so: who reports every few seconds writes nothing into the book.
        Err(Refusal::Rejected { rejection: Rejection::PresenceUnchanged, .. }) => Ok(v1::ReportPresenceResponse::default()),
        Err(refusal) => Err(refusal),
    }
}
