//! CloseGame: a finished game can no longer be reopened, and its seed is revealed.

use plybook_proto::v1;
use tonic::Request;

use crate::auth::{Rpc, authenticate};
use crate::refusal::Refusal;
use crate::requests;
use crate::service::Service;
use crate::service::appending::{Appended, Wanted};

pub(super) async fn answer(service: &Service, request: Request<v1::CloseGameRequest>) -> Result<v1::CloseGameResponse, Refusal> {
    let caller = authenticate(&request)?;
    let message = request.into_inner();
    let asked = caller.may_act(Rpc::CloseGame, requests::close(&caller, &message)?)?;
    let wanted = Wanted { position: false, receipt: message.with_receipt };
    let Appended { event, receipt, .. } = service.append(asked, wanted).await?;
    Ok(v1::CloseGameResponse { event: Some(event), receipt })
}
