//! MakeMove: a seat's choice becomes an entry, or a refusal says why not.

use plybook_proto::v1;
use tonic::Request;

use crate::auth::{Rpc, authenticate};
use crate::refusal::Refusal;
use crate::requests;
use crate::service::Service;
use crate::service::appending::{Appended, Wanted};

pub(super) async fn answer(service: &Service, request: Request<v1::MakeMoveRequest>) -> Result<v1::MakeMoveResponse, Refusal> {
    let caller = authenticate(&request)?;
    let message = request.into_inner();
    let asked = caller.may_act(Rpc::MakeMove, requests::make_move(&caller, &message)?)?;
    let wanted = Wanted { position: message.with_position, receipt: message.with_receipt };
    let Appended { event, position, receipt } = service.append(asked, wanted).await?;
    Ok(v1::MakeMoveResponse { event: Some(event), position, receipt })
}
