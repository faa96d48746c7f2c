//! CloseGame: a finished game can no longer be reopened, and its seed is revealed.

use plybook_proto::v1;
use tonic::Request;

use crate::auth::authenticate;
use crate::refusal::Refusal;
use crate::requests::{self, Asked};
use crate::service::Service;
use crate::{replies, telemetry};

pub(super) async fn answer(service: &Service, request: Request<v1::CloseGameRequest>) -> Result<v1::CloseGameResponse, Refusal> {
    let caller = authenticate(&request)?;
    let asked = requests::close(&caller, &request.into_inner())?;
    let (event, _) = service.append(asked, false).await?;
    Ok(v1::CloseGameResponse { event: Some(event) })
}

impl Service {
    /// What MakeMove, Undo and CloseGame share: an appended entry as an event, and the position after
    /// it if the caller wants it.
    pub(super) async fn append(&self, asked: Asked, with_position: bool) -> Result<(v1::Event, Option<v1::Position>), Refusal> {
        telemetry::record_game(asked.key.game);
        let acted = self.games.act(asked.key, asked.id, asked.request).await?;
        telemetry::record_entry(asked.key.game, acted.stored.seq);
        let event = replies::event::stored(&acted.opened, &acted.stored)?;
        if !with_position {
            return Ok((event, None));
        }
        let seq = acted.stored.seq;
        let at_head = self.games.table(asked.key).await?;
        let table = at_head.lock().await;
        if table.game.head().seq == seq {
            return Ok((event, Some(replies::position::of(&table.game))));
        }
        drop(table);
        // The game moved on meanwhile, or the request was an old one: the position as it was then.
        let (game, _) = self.games.at(asked.key, seq).await?;
        Ok((event, Some(replies::position::of(&game))))
    }
}
