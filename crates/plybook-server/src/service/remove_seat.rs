//! RemoveSeat: the calling service takes a seat out.

use plybook_proto::v1;
use tonic::Request;

use crate::auth::{Rpc, authenticate};
use crate::refusal::Refusal;
use crate::requests::life;
use crate::service::Service;
use crate::service::appending::{Appended, Wanted};

pub(super) async fn answer(service: &Service, request: Request<v1::RemoveSeatRequest>) -> Result<v1::RemoveSeatResponse, Refusal> {
    let caller = authenticate(&request)?;
    let message = request.into_inner();
    let asked = caller.may_act(Rpc::RemoveSeat, life::remove(&caller, &message)?)?;
    let Appended { event, receipt, .. } = service.append(asked, Wanted { position: false, receipt: message.with_receipt }).await?;
    Ok(v1::RemoveSeatResponse { event: Some(event), receipt })
}
