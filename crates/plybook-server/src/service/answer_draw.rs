//! AnswerDraw: a seat accepts, declines or withdraws it.

use plybook_proto::v1;
use tonic::Request;

use crate::auth::{Rpc, authenticate};
use crate::refusal::Refusal;
use crate::requests::life;
use crate::service::Service;
use crate::service::appending::{Appended, Wanted};

pub(super) async fn answer(service: &Service, request: Request<v1::AnswerDrawRequest>) -> Result<v1::AnswerDrawResponse, Refusal> {
    let caller = authenticate(&request)?;
    let message = request.into_inner();
    let asked = caller.may_act(Rpc::AnswerDraw, life::answer_draw(&caller, &message)?)?;
    let Appended { event, receipt, .. } = service.append(asked, Wanted { position: false, receipt: message.with_receipt }).await?;
    Ok(v1::AnswerDrawResponse { event: Some(event), receipt })
}
