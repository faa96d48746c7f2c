//! CloseGame: a finished game can no longer be reopened, and its seed is revealed.

use plybook_proto::v1;
use tonic::Request;

use crate::auth::authenticate;
use crate::refusal::Refusal;
use crate::requests;
use crate::service::Service;

pub(super) async fn answer(service: &Service, request: Request<v1::CloseGameRequest>) -> Result<v1::CloseGameResponse, Refusal> {
    let caller = authenticate(&request)?;
    let asked = requests::close(&caller, &request.into_inner())?;
    let (event, _) = service.append(asked, false).await?;
    Ok(v1::CloseGameResponse { event: Some(event) })
}
