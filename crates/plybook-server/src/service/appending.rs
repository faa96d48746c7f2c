//! What MakeMove, Undo and CloseGame share: an appended entry as an event, and the position after it.
//!
//! Invariant: the position is the one right after the event's own entry, however far the game has
//! gone on since.

use plybook_proto::v1;

use crate::refusal::Refusal;
use crate::requests::Asked;
use crate::service::Service;
use crate::{replies, telemetry};

impl Service {
    /// Appends; answers the event, and the position after it if the caller wants it.
    pub(super) async fn append(&self, asked: Asked, with_position: bool) -> Result<(v1::Event, Option<v1::Position>), Refusal> {
        telemetry::record_game(asked.key.game);
        let acted = self.games.act(asked.key, asked.id, asked.request).await?;
        telemetry::record_entry(asked.key.game, acted.stored.seq);
        let event = replies::event::stored(&acted.opened, &acted.stored)?;
        if !with_position {
            return Ok((event, None));
        }
        let position = match self.games.seen_at(asked.key, &acted.stored, replies::position::of).await? {
            Some(position) => position,
            // The game moved on meanwhile, or the request was an old one: the position as it was then.
            None => replies::position::of(&self.games.at(asked.key, acted.stored.seq).await?.0),
        };
        Ok((event, Some(position)))
    }
}
