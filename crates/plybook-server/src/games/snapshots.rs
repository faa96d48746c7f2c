//! Games of the store at some of their entries, read and saved.
//!
//! Invariants: a snapshot is a cache. One that is damaged, of another build, or not of the book that the
//! store has is ignored, counted and made anew. Saving never makes a move wait or fail: what finds no room
//! in the queue is dropped and counted.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use moka::future::Cache;
use plybook_core::game::{BadSnapshot, SNAPSHOT_FORMAT};
use plybook_core::limits::{SNAPSHOT_TAIL, UNDO_PLIES_MAX};
use plybook_core::{Game, Seq};
use plybook_store::{GameKey, Nearest, Snapshot};
use tokio::sync::mpsc;

use crate::games::unfit::Unfit;
use crate::games::{Games, Opened};
use crate::limits::{Limits, SNAPSHOT_TRIES, SNAPSHOTS_QUEUED};
use crate::refusal::Refusal;

/// As much of the way back as an undo looks at.
pub(super) const UNDO_LOOK: usize = UNDO_PLIES_MAX + 1;

/// Games whose snapshots are doubted at once; an older doubt goes first.
const DOUBTS: u64 = 10_000;

/// What became of a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is in the store.
    Saved,
    /// It was not saved: too many were waiting.
    Dropped,
    /// It was not saved: the store refused, or it is too large.
    Unsaved,
    /// A game goes on from it.
    Restored,
    /// There was none.
    Missing,
    /// It was ignored: its bytes are not those that were written, or of another game.
    Corrupt,
    /// It was ignored: another build wrote it.
    OtherFormat,
    /// It was ignored: the book has another entry in its place, or none.
    OtherDigest,
    /// It was ignored: the store could not tell.
    Unreadable,
}

const FATES: usize = Fate::Unreadable as usize + 1;

impl Fate {
    /// Each with its name in metrics.
    pub const ALL: [(Fate, &'static str); FATES] = [
        (Fate::Saved, "saved"),
        (Fate::Dropped, "dropped"),
        (Fate::Unsaved, "unsaved"),
        (Fate::Restored, "restored"),
        (Fate::Missing, "missing"),
        (Fate::Corrupt, "corrupt"),
        (Fate::OtherFormat, "other_format"),
        (Fate::OtherDigest, "other_digest"),
        (Fate::Unreadable, "unreadable"),
    ];
}

/// What became of snapshots on this node, and those that are waiting to be saved.
#[derive(Debug)]
pub struct Snapshots {
    counts: [AtomicU64; FATES],
    waiting: mpsc::Sender<(GameKey, Game)>,
    /// Taken by whoever saves them.
    to_save: Mutex<Option<mpsc::Receiver<(GameKey, Game)>>>,
    /// Games of which something remembered was wrong: for a while only the book counts.
    doubted: Cache<GameKey, ()>,
}

impl Snapshots {
    pub(super) fn new(limits: &Limits) -> Snapshots {
        let (waiting, to_save) = mpsc::channel(SNAPSHOTS_QUEUED);
        let doubted = Cache::builder().max_capacity(DOUBTS).time_to_live(limits.games_cache_idle).build();
        Snapshots { counts: Default::default(), waiting, to_save: Mutex::new(Some(to_save)), doubted }
    }

    /// How many came to this so far.
    pub fn count(&self, fate: Fate) -> u64 {
        self.counts[fate as usize].load(Ordering::Relaxed)
    }

    pub(super) async fn doubt(&self, key: GameKey) {
        self.doubted.insert(key, ()).await;
    }

    fn note(&self, key: GameKey, seq: Seq, fate: Fate) {
        let total = self.counts[fate as usize].fetch_add(1, Ordering::Relaxed) + 1;
        let game = key.game;
        match fate {
            Fate::Saved | Fate::Restored | Fate::Missing => tracing::debug!(%game, %seq, ?fate, total, "a snapshot"),
            _ => tracing::warn!(%game, %seq, ?fate, total, "a snapshot is of no use"),
        }
    }
}

impl Games {
    /// Saves, one after the other, what is offered. Called once, and never ends.
    pub async fn save_snapshots(self: Arc<Self>) {
        let taken = self.snapshots.to_save.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(mut to_save) = taken else { return };
        while let Some((key, game)) = to_save.recv().await {
            let seq = game.head().seq;
            let games = Arc::clone(&self);
            // In a task of its own: one that panics is one that is not saved.
            let saved = tokio::spawn(async move { games.save(key, game).await }).await;
            let fate = saved.unwrap_or_else(|error| Err(Refusal::internal(error.to_string()).into())).unwrap_or_else(|unfit| {
                tracing::warn!(game = %key.game, %seq, ?unfit, "a snapshot cannot be saved");
                Fate::Unsaved
            });
            self.snapshots.note(key, seq, fate);
        }
    }

    /// Offers a game of which a snapshot is due to be saved, if there is room.
    pub(super) fn offer(&self, key: GameKey, game: &Game) {
        if !game.snapshot_is_due() {
            return;
        }
        match self.snapshots.waiting.try_reserve() {
            Ok(room) => room.send((key, game.shortened())),
            Err(_) => self.snapshots.note(key, game.head().seq, Fate::Dropped),
        }
    }

    async fn save(&self, key: GameKey, mut game: Game) -> Result<Fate, Unfit> {
        self.lengthen(key, &mut game, SNAPSHOT_TAIL).await?;
        let (seq, digest) = (game.head().seq, game.head().digest);
        // A large board takes a while.
        let packed = tokio::task::spawn_blocking(move || game.snapshot()).await;
        match packed.map_err(|error| Refusal::internal(format!("packing a snapshot panicked: {error}")))? {
            Some(bytes) => {
                let snapshot = Snapshot { format: SNAPSHOT_FORMAT, seq, digest, bytes };
                self.store.save_snapshot(key, snapshot).await?;
                Ok(Fate::Saved)
            }
            None => Ok(Fate::Unsaved),
        }
    }

    /// Makes so many of a game's last standing moves known, where it was restored and knows fewer.
    pub(super) async fn lengthen(&self, key: GameKey, game: &mut Game, moves: usize) -> Result<(), Unfit> {
        while let Some(below) = game.way_back_needed(moves) {
            let (earlier, _) = self.fold_to(key, below).await?;
            if !game.lengthen(&earlier) {
                return Err(Unfit::memory(below, "the move there is not where the way back ends"));
            }
        }
        Ok(())
    }

    /// The game at the latest entry, not after this one, of which a good snapshot is stored.
    pub(super) async fn stored(&self, key: GameKey, at_most: Seq, opened: &Opened) -> Option<Game> {
        if self.snapshots.doubted.contains_key(&key) {
            return None;
        }
        let mut at_most = at_most;
        for _ in 0..SNAPSHOT_TRIES {
            let found = match self.store.snapshot(key, SNAPSHOT_FORMAT, at_most).await {
                Ok(Nearest::Found(snapshot)) => snapshot,
                Ok(Nearest::OtherFormat(_)) => return self.unused(key, at_most, Fate::OtherFormat),
                Ok(Nearest::Nothing) => return self.unused(key, at_most, Fate::Missing),
                Err(error) => {
                    tracing::warn!(game = %key.game, %error, "snapshots cannot be read");
                    return self.unused(key, at_most, Fate::Unreadable);
                }
            };
            match self.restore(key, &found, opened).await {
                Ok(game) => {
                    self.snapshots.note(key, found.seq, Fate::Restored);
                    return Some(game);
                }
                Err(fate) => self.snapshots.note(key, found.seq, fate),
            }
            at_most = Seq(found.seq.0.saturating_sub(1));
        }
        None
    }

    fn unused(&self, key: GameKey, at_most: Seq, fate: Fate) -> Option<Game> {
        self.snapshots.note(key, at_most, fate);
        None
    }

    /// The game, if the snapshot is what it says and the book has the entry that it stands at.
    async fn restore(&self, key: GameKey, snapshot: &Snapshot, opened: &Opened) -> Result<Game, Fate> {
        let before = Seq(snapshot.seq.0.saturating_sub(1));
        let entry = self.store.entries(key, before, 1).await.map_err(|_| Fate::Unreadable)?;
        let is_there = |seq, digest| entry.first().is_some_and(|entry| (entry.seq, entry.digest) == (seq, digest));
        if !is_there(snapshot.seq, snapshot.digest) {
            return Err(Fate::OtherDigest);
        }
        // Without rules nothing is folded either.
        let rules = opened.rules().map_err(|_| Fate::Unreadable)?;
        match Game::restore(opened.header.clone(), Arc::clone(rules), &snapshot.bytes) {
            Ok(game) if is_there(game.head().seq, game.head().digest) => Ok(game),
            Ok(_) => Err(Fate::OtherDigest),
            Err(BadSnapshot::Format(_) | BadSnapshot::Build) => Err(Fate::OtherFormat),
            Err(BadSnapshot::Damaged | BadSnapshot::OtherGame) => Err(Fate::Corrupt),
        }
    }
}
