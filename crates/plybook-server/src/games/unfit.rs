//! What this node remembers of a game, against what the store has.
//!
//! Invariant: where the two do not fit, it is the memory that is doubted first. A restored or failed
//! over database went back in time, and perhaps on along another line: everything remembered of the
//! game goes, and the work begins once more from entry 1. Only a book that does not follow from
//! itself is corrupt; one that does, up to an entry that its own rules refuse by now, was accepted.

use std::future::Future;
use std::sync::Arc;

use plybook_core::game::{Fault, FoldError};
use plybook_core::limits::{ENTRIES_MAX, HISTORY_STEP};
use plybook_core::{Game, RulesetId, Seq};
use plybook_store::GameKey;

use crate::games::Games;
use crate::refusal::Refusal;

/// Why work on a remembered game stops.
#[derive(Debug)]
pub(super) enum Unfit {
    /// What is remembered does not lead to what the store has at this entry.
    Memory { at: Seq, why: String },
    /// A game that was restored from a snapshot does not know its way back so far; it is still as it was.
    WayBack,
    /// The store's next entry is chained to what is remembered, and its game refuses it.
    Refusing { ruleset: RulesetId, error: FoldError },
    /// Whatever is remembered.
    Refused(Refusal),
}

impl Unfit {
    pub(super) fn memory(at: Seq, why: impl Into<String>) -> Unfit {
        Unfit::Memory { at, why: why.into() }
    }

    /// What a game says to the store's next entry.
    pub(super) fn refusing(game: &Game, error: FoldError) -> Unfit {
        match error.fault {
            Fault::WayBack { .. } => Unfit::WayBack,
            Fault::Rules => Unfit::Refusing { ruleset: game.header().ruleset.clone(), error },
            _ => Unfit::Memory { at: error.seq, why: error.why },
        }
    }

    /// The same, where nothing but the book was read: then it is the book that is wrong.
    fn of_the_book(self) -> Refusal {
        match self {
            Unfit::Memory { at, why } => Refusal::BookCorrupt { first_bad: at, why },
            Unfit::WayBack => Refusal::internal("a way back was not picked up"),
            Unfit::Refusing { ruleset, error: FoldError { seq, rule, why, .. } } => {
                Refusal::EntryIllegalNow { first_bad: seq, ruleset, rule, why }
            }
            Unfit::Refused(refusal) => refusal,
        }
    }
}

impl<T: Into<Refusal>> From<T> for Unfit {
    fn from(refusal: T) -> Unfit {
        Unfit::Refused(refusal.into())
    }
}

/// Callers that waited for one load share what it came to; each gets one of its own.
impl From<Arc<Unfit>> for Unfit {
    fn from(shared: Arc<Unfit>) -> Unfit {
        match shared.as_ref() {
            Unfit::Memory { at, why } => Unfit::memory(*at, why.clone()),
            Unfit::WayBack => Unfit::WayBack,
            Unfit::Refusing { ruleset, error } => Unfit::Refusing { ruleset: ruleset.clone(), error: error.clone() },
            Unfit::Refused(refusal) => Unfit::Refused(refusal.shared()),
        }
    }
}

impl Games {
    /// Does `work` on what is remembered of a game; where that does not fit the store, forgets it and
    /// does the work once more on the book.
    pub(super) async fn fitting<T, F>(&self, key: GameKey, work: impl Fn() -> F + Send) -> Result<T, Refusal>
    where
        F: Future<Output = Result<T, Unfit>> + Send,
    {
        match work().await {
            Ok(done) => Ok(done),
            Err(unfit @ (Unfit::WayBack | Unfit::Refused(_))) => Err(unfit.of_the_book()),
            Err(unfit @ (Unfit::Memory { .. } | Unfit::Refusing { .. })) => {
                tracing::warn!(game = %key.game, ?unfit, "what is remembered of a game does not lead to what the store has");
                Box::pin(self.forget(key)).await;
                Box::pin(work()).await.map_err(Unfit::of_the_book)
            }
        }
    }

    /// Forgets all there is of a game, and for a while believes no stored snapshot of it.
    pub(super) async fn forget(&self, key: GameKey) {
        self.snapshots.doubt(key).await;
        self.tables.invalidate(&key).await;
        self.opened.invalidate(&key).await;
        for step in 1..=ENTRIES_MAX / HISTORY_STEP {
            self.history.invalidate(&(key, Seq(step * HISTORY_STEP))).await;
        }
        self.hub.forget(key);
    }
}
