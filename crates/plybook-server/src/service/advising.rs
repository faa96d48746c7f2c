//! What the RPCs that advise share: the game at the entry that advice is asked for.
//!
//! Invariant: advice is given where somebody is to move, whoever's game it is and whatever became of it later; it
//! reads no seed.

use std::sync::Arc;

use plybook_bots::{Budget, View};
use plybook_core::{Game, Seat};
use plybook_store::GameKey;
use tokio_util::sync::CancellationToken;

use crate::refusal::Refusal;
use crate::requests;
use crate::service::Service;
use crate::telemetry;
use crate::thinking::{Draws, Question};

/// A position to be advised on.
pub(super) struct Asked {
    /// The game, at that position.
    pub(super) game: Arc<Game>,
    /// The seat to move.
    pub(super) seat: Seat,
}

impl Asked {
    /// The position after an entry, or at the head.
    pub(super) async fn of(service: &Service, key: GameKey, at_seq: Option<u64>) -> Result<Asked, Refusal> {
        telemetry::record_game(key.game);
        let game = match at_seq.map(requests::seq) {
            // Of the way back nobody who thinks wants to know.
            None => Arc::new(service.games.with_head(key, |table| table.game.shortened()).await?),
            Some(seq) => service.games.at(key, seq).await?.0,
        };
        let head = game.head().seq;
        telemetry::record_entry(key.game, head);
        // What goes on can be forked and can be thought about.
        game.check_forkable().map_err(|rejection| Refusal::Rejected { rejection, head, missed: Vec::new() })?;
        let seat = game.to_move().ok_or_else(|| Refusal::internal("a game goes on and nobody is to move"))?;
        Ok(Asked { game, seat })
    }

    /// What a thinker sees.
    pub(super) fn view(&self) -> View<'_> {
        View::of(&self.game)
    }

    /// The entry that the position follows.
    pub(super) fn head_seq(&self) -> u64 {
        u64::from(self.game.head().seq.0)
    }

    /// A question about the position, for nobody's own chance.
    pub(super) fn question(&self, budget: Budget) -> Question {
        Question { game: Arc::clone(&self.game), budget, draws: Draws::Advice, cancel: CancellationToken::new() }
    }
}
