//! Positions at earlier entries.
//!
//! Invariant: a remembered earlier position is a cache like any other; with it, reading any entry of
//! a long game follows a bounded number of lines.

use std::sync::Arc;

use plybook_core::limits::ENTRIES_MAX;
use plybook_core::{Game, Seq};
use plybook_store::GameKey;

use crate::games::{Games, Opened};
use crate::limits::{HISTORY_STEP, PAGE_ENTRIES};
use crate::refusal::Refusal;

impl Games {
    /// The game as it was after entry `seq`.
    pub async fn at(&self, key: GameKey, seq: Seq) -> Result<(Arc<Game>, Arc<Opened>), Refusal> {
        let opened = self.opened(key).await?;
        if seq == Seq::ZERO {
            return Err(Refusal::field("at_seq", "entries are numbered from 1"));
        }
        let mut game = self.nearest(key, seq, &opened).await;
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

    async fn nearest(&self, key: GameKey, seq: Seq, opened: &Opened) -> Arc<Game> {
        // No game is longer, so a caller who asks for the billionth entry costs no more looks.
        for step in (1..=seq.0.min(ENTRIES_MAX) / HISTORY_STEP).rev() {
            if let Some(game) = self.history.get(&(key, Seq(step * HISTORY_STEP))).await {
                return game;
            }
        }
        Arc::new(Game::new(opened.header.clone(), Arc::clone(&opened.rules)))
    }

    async fn follow_until(&self, key: GameKey, game: &mut Game, until: Seq) -> Result<(), Refusal> {
        while game.head().seq < until {
            let head = game.head().seq;
            let entries = self.store.entries(key, head, (until.0 - head.0).min(PAGE_ENTRIES)).await?;
            if entries.is_empty() {
                return Err(Refusal::CursorBeyondHead { head });
            }
            for stored in entries {
                let applied = game.apply_line(&stored.line, stored.digest);
                applied.map_err(|error| Refusal::BookCorrupt { first_bad: error.seq, why: error.why })?;
            }
        }
        Ok(())
    }
}
