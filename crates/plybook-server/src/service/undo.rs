//! Undo: standing moves are taken back by one more entry.

use plybook_core::header::UndoBy;
use plybook_proto::v1;
use tonic::Request;

use crate::auth::{Role, Rpc, authenticate};
use crate::refusal::Refusal;
use crate::requests;
use crate::service::Service;
use crate::service::appending::{Appended, Wanted};

pub(super) async fn answer(service: &Service, request: Request<v1::UndoRequest>) -> Result<v1::UndoResponse, Refusal> {
    let caller = authenticate(&request)?;
    let message = request.into_inner();
    let asked = requests::undo(&caller, &message)?;
    let key = asked.key;
    let permitted = caller.may_act(Rpc::Undo, asked)?;
    // The policy that lets any seat take back any move is for callers that are trusted, and no player is.
    if matches!(caller.role, Role::Seat { .. }) && service.games.opened(key).await?.header.undo.by == UndoBy::Free {
        return Err(caller.denied(Rpc::Undo));
    }
    let wanted = Wanted { position: message.with_position, receipt: message.with_receipt };
    let Appended { event, position, receipt } = service.append(permitted, wanted).await?;
    Ok(v1::UndoResponse { event: Some(event), position, receipt })
}
