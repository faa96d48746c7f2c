//! Positions at earlier entries.
//!
//! Invariant: a remembered earlier position is a cache like any other; with it, reading any entry of
//! a long game follows a bounded number of lines.

use std::sync::Arc;

use plybook_core::limits::ENTRIES_MAX;
use plybook_core::{Game, Seq};
use plybook_store::GameKey;

use crate::games::unfit::Unfit;
use crate::games::{Games, Opened, table};
use crate::limits::{HISTORY_STEP, PAGE_ENTRIES};
use crate::refusal::Refusal;

impl Games {
    /// The game as it was after entry `seq`.
    pub async fn at(&self, key: GameKey, seq: Seq) -> Result<(Arc<Game>, Arc<Opened>), Refusal> {
        if seq == Seq::ZERO {
            // Where there is no game, that is what is wrong.
            self.opened(key).await?;
            return Err(Refusal::field("at_seq", "entries are numbered from 1"));
        }
        self.fitting(key, || self.fold_to(key, seq)).await
    }

    async fn fold_to(&self, key: GameKey, seq: Seq) -> Result<(Arc<Game>, Arc<Opened>), Unfit> {
        let opened = self.opened(key).await?;
        let mut game = self.nearest(key, seq, &opened).await?;
        if game.head().seq == seq {
            self.after(key, game.head(), 0).await?;
        }
        while game.head().seq < seq {
            let next_step = Seq((game.head().seq.0 / HISTORY_STEP + 1) * HISTORY_STEP);
            let until = next_step.min(seq);
            self.follow_until(key, Arc::make_mut(&mut game), until).await?;
            if until == next_step {
                self.history.insert((key, until), Arc::clone(&game)).await;
            }
        }
        Ok((game, opened))
    }

    async fn nearest(&self, key: GameKey, seq: Seq, opened: &Opened) -> Result<Arc<Game>, Refusal> {
        // No game is longer, so a caller who asks for the billionth entry costs no more looks.
        for step in (1..=seq.0.min(ENTRIES_MAX) / HISTORY_STEP).rev() {
            if let Some(game) = self.history.get(&(key, Seq(step * HISTORY_STEP))).await {
                return Ok(game);
            }
        }
        Ok(Arc::new(Game::new(opened.header.clone(), Arc::clone(opened.rules()?))))
    }

    async fn follow_until(&self, key: GameKey, game: &mut Game, until: Seq) -> Result<(), Unfit> {
        while game.head().seq < until {
            let head = game.head();
            let entries = self.after(key, head, (until.0 - head.seq.0).min(PAGE_ENTRIES)).await?;
            if entries.is_empty() {
                return Err(Refusal::CursorBeyondHead { head: head.seq }.into());
            }
            for stored in &entries {
                table::follow(game, stored)?;
            }
        }
        Ok(())
    }
}
