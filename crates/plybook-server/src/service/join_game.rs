//! JoinGame: a seat commits to its nonce, or reveals it.

use plybook_proto::v1;
use tonic::Request;

use crate::auth::{Rpc, authenticate};
use crate::refusal::Refusal;
use crate::requests;
use crate::service::Service;
use crate::service::appending::{Appended, Wanted};

pub(super) async fn answer(service: &Service, request: Request<v1::JoinGameRequest>) -> Result<v1::JoinGameResponse, Refusal> {
    let caller = authenticate(&request)?;
    let message = request.into_inner();
    let asked = caller.may_act(Rpc::JoinGame, requests::joining::join(&caller, &message)?)?;
    let wanted = Wanted { position: false, receipt: message.with_receipt };
    let Appended { event, receipt, .. } = service.append(asked, wanted).await?;
    Ok(v1::JoinGameResponse { event: Some(event), receipt })
}
