//! Positions at earlier entries.
//!
//! Invariant: a remembered earlier position is a cache like any other, and so is a stored snapshot; with
//! either, reading any entry of a long game follows a bounded number of lines.

use std::sync::Arc;

use plybook_core::limits::{ENTRIES_MAX, HISTORY_STEP};
use plybook_core::{Game, Seq};
use plybook_store::GameKey;

use crate::games::unfit::Unfit;
use crate::games::{Games, Opened, table};
use crate::limits::PAGE_ENTRIES;
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

    pub(super) async fn fold_to(&self, key: GameKey, seq: Seq) -> Result<(Arc<Game>, Arc<Opened>), Unfit> {
        let opened = self.opened(key).await?;
        let mut game = self.nearest(key, seq, &opened).await?;
        if game.head().seq == seq {
            self.after(key, game.head(), 0).await?;
        }
        while game.head().seq < seq {
            let next_step = Seq((game.head().seq.0 / HISTORY_STEP + 1) * HISTORY_STEP);
            let until = next_step.min(seq);
            match self.follow_until(key, Arc::make_mut(&mut game), until).await {
                Ok(()) if until == next_step => self.history.insert((key, until), Arc::new(game.shortened())).await,
                Ok(()) => {}
                Err(Unfit::WayBack) => game = self.past(key, game.head().seq, seq, &opened).await?,
                Err(unfit) => return Err(unfit),
            }
        }
        Ok((game, opened))
    }

    /// The latest game to go on from: remembered at a step, or else stored, or else only the header.
    async fn nearest(&self, key: GameKey, seq: Seq, opened: &Opened) -> Result<Arc<Game>, Refusal> {
        // No game is longer, so a caller who asks for the billionth entry costs no more looks.
        let last_step = seq.0.min(ENTRIES_MAX) / HISTORY_STEP;
        let mut remembered = None;
        if last_step > 0 {
            self.lookups.history.looked();
        }
        for step in (1..=last_step).rev() {
            remembered = self.history.get(&(key, Seq(step * HISTORY_STEP))).await;
            if remembered.is_some() {
                break;
            }
        }
        let step = remembered.as_ref().map_or(0, |game| game.head().seq.0 / HISTORY_STEP);
        if step < last_step {
            self.lookups.history.missed();
        }
        if step < last_step
            && let Some(game) = self.stored(key, seq, opened).await
            && game.head().seq.0 / HISTORY_STEP > step
        {
            let game = Arc::new(game);
            if game.head().seq.0.is_multiple_of(HISTORY_STEP) {
                self.history.insert((key, game.head().seq), Arc::clone(&game)).await;
            }
            return Ok(game);
        }
        remembered.map_or_else(|| at_header(opened), Ok)
    }

    /// The game to go on from to `seq` where one that knew too little of its way back stands at `head`:
    /// stored after that, which is whole, or else only the header.
    async fn past(&self, key: GameKey, head: Seq, seq: Seq, opened: &Opened) -> Result<Arc<Game>, Refusal> {
        let stored = self.stored(key, seq, opened).await.filter(|game| game.head().seq >= head);
        stored.map_or_else(|| at_header(opened), |game| Ok(Arc::new(game)))
    }

    async fn follow_until(&self, key: GameKey, game: &mut Game, until: Seq) -> Result<(), Unfit> {
        while game.head().seq < until {
            let head = game.head();
            let entries = self.known_after(key, head, (until.0 - head.seq.0).min(PAGE_ENTRIES)).await?;
            if entries.is_empty() {
                return Err(Refusal::CursorBeyondHead { head: head.seq }.into());
            }
            for stored in &entries {
                table::follow(game, stored)?;
                self.offer(key, game);
            }
        }
        Ok(())
    }
}

fn at_header(opened: &Opened) -> Result<Arc<Game>, Refusal> {
    Ok(Arc::new(Game::new(opened.header.clone(), Arc::clone(opened.rules()?))))
}
