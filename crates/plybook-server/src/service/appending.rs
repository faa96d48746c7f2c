//! What requests that append share: an appended entry as an event, the position after
//! it, and a receipt.
//!
//! Invariant: the position is the one right after the event's own entry, however far the game has
//! gone on since.

use std::sync::Arc;

use plybook_core::receipt::SignedHead;
use plybook_proto::v1;

use crate::auth::Permitted;
use crate::refusal::Refusal;
use crate::service::Service;
use crate::signing::{ReceiptWish, Signer};
use crate::{replies, telemetry};

/// What an answer carries besides the event.
pub(super) struct Wanted {
    pub(super) position: bool,
    pub(super) receipt: bool,
}

/// What was appended.
pub(super) struct Appended {
    pub(super) event: Box<v1::Event>,
    pub(super) position: Option<Box<v1::Position>>,
    pub(super) receipt: Option<Box<v1::Receipt>>,
}

/// A receipt of what was appended, where there is somebody to sign it.
pub(super) async fn signed(signer: Option<&Signer>, head: SignedHead) -> Option<Box<v1::Receipt>> {
    Some(Box::new(replies::receipt(&signer?.receipt(head).await)))
}

impl Service {
    /// Appends; answers the event, and what the caller wants besides.
    pub(super) async fn append(&self, permitted: Permitted, wanted: Wanted) -> Result<Appended, Refusal> {
        let asked = permitted.into_asked();
        telemetry::record_game(asked.key.game);
        // Who asked for a receipt that nobody can sign is told before any game is read.
        let wish = ReceiptWish::new(&self.keys, wanted.receipt)?;
        let acted = self.games.act(asked.key, asked.id, asked.request, Some(wish.clone())).await?;
        telemetry::record_seq(acted.stored.seq);
        let beside = self.games.beside(asked.key, &acted.opened, &acted.stored).await?;
        let event = Box::new(match &acted.entry {
            Some(entry) => replies::event::of(&acted.opened, entry, &acted.stored, &beside),
            None => replies::event::stored(&acted.opened, &acted.stored, &beside)?,
        });
        let receipt = match &acted.receipt {
            Some(receipt) => Some(Box::new(replies::receipt(receipt))),
            None => {
                let head = SignedHead { game: asked.key.game, seq: acted.stored.seq, digest: acted.stored.digest };
                signed(wish.signer(acted.opened.header.receipts)?.map(Arc::as_ref), head).await
            }
        };
        if !wanted.position {
            return Ok(Appended { event, position: None, receipt });
        }
        let position = match self.games.seen_at(asked.key, &acted.stored, replies::position::of).await? {
            Some(position) => position,
            // The game moved on meanwhile, or the request was an old one: the position as it was then.
            None => replies::position::of(&Box::pin(self.games.at(asked.key, acted.stored.seq)).await?.0),
        };
        Ok(Appended { event, position: Some(Box::new(position)), receipt })
    }
}
