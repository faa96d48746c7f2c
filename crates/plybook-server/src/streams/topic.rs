//! One watched game: its recent entries, read once however many watch.
//!
//! Invariant: the recent entries are consecutive, chained and durable. Whoever asks for older ones
//! reads the book. They are held against the book whenever a stream is opened, for a book may go back
//! in time.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, Mutex as SyncMutex, PoisonError};
use std::time::{Duration, Instant};

use plybook_core::Seq;
use plybook_store::{GameKey, Store, StoredEntry};
use tokio::sync::{Mutex, watch};

use crate::limits::{RECENT_ENTRIES, STREAM_PAGE_ENTRIES};
use crate::refusal::Refusal;

/// Entries that follow one another.
pub type Page = Vec<Arc<StoredEntry>>;

/// One watched game.
pub struct Topic {
    key: GameKey,
    /// The latest entry that somebody spoke of.
    news: watch::Sender<Seq>,
    recent: SyncMutex<VecDeque<Arc<StoredEntry>>>,
    /// Until when news may have been missed: a look that began before says nothing.
    missed_until: SyncMutex<Option<Instant>>,
    /// Held while the book is read, so that a thousand watchers of one entry read it once.
    reading: Mutex<LastRead>,
}

#[derive(Default)]
struct LastRead {
    empty_after: Option<(Seq, Instant)>,
}

impl Topic {
    /// A game of which nothing is known yet.
    pub fn new(key: GameKey) -> Topic {
        let (news, _) = watch::channel(Seq::ZERO);
        Topic { key, news, recent: SyncMutex::default(), missed_until: SyncMutex::default(), reading: Mutex::default() }
    }

    /// The news: changes whenever somebody speaks of a later entry.
    pub fn news(&self) -> watch::Receiver<Seq> {
        self.news.subscribe()
    }

    /// The latest entry that somebody spoke of.
    pub fn known(&self) -> Seq {
        *self.news.borrow()
    }

    /// Somebody speaks of an entry.
    pub fn wake(&self, seq: Seq) {
        self.news.send_if_modified(|known| {
            let later = seq > *known;
            if later {
                *known = seq;
            }
            later
        });
    }

    /// This node stored an entry.
    pub fn committed(&self, stored: StoredEntry) {
        let seq = stored.seq;
        self.remember(Arc::new(stored));
        self.wake(seq);
    }

    /// News may have been missed until now. Everybody looks, and shares the look.
    pub fn may_have_missed(&self) {
        *self.missed_until.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        self.news.send_modify(|_| ());
    }

    /// Whoever has waited so long looks unasked: less than `floor`, and for each game another part of
    /// it, so that the watchers of many idle games do not read in step.
    pub fn patience(&self, floor: Duration) -> Duration {
        let mut hasher = DefaultHasher::new();
        self.key.hash(&mut hasher);
        let [part, ..] = hasher.finish().to_be_bytes();
        floor - floor / 4 * u32::from(part) / 255
    }

    /// What is remembered may not be what the store has. Everybody looks again.
    pub fn forget(&self) {
        self.recent.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.news.send_replace(Seq::ZERO);
        self.may_have_missed();
    }

    /// Holds the latest remembered entry against the store, of which `last` was just read, and forgets
    /// all where they differ.
    pub async fn recall(&self, store: &dyn Store, last: &StoredEntry) -> Result<(), Refusal> {
        let latest = self.recent.lock().unwrap_or_else(PoisonError::into_inner).back().cloned();
        let Some(latest) = latest.filter(|latest| latest.digest != last.digest) else { return Ok(()) };
        let before = Seq(latest.seq.0.saturating_sub(1));
        let stored = store.entries(self.key, before, 1).await?;
        if stored.first().is_none_or(|stored| stored.digest != latest.digest) {
            self.forget();
        }
        Ok(())
    }

    /// Entries after `after`, at most a page; empty at the head. A look that another watcher took
    /// less than `fresh` ago, and after the last news, is not repeated.
    ///
    /// Reads in a task of its own: the transport stops polling a stream whose reader stalls, and what
    /// is halfway through a read would keep the lock from the game's other watchers, and a connection
    /// from everybody.
    pub async fn after(self: &Arc<Self>, store: &Arc<dyn Store>, after: Seq, fresh: Duration) -> Result<Page, Refusal> {
        if let Some(page) = self.recent_after(after) {
            return Ok(page);
        }
        let (topic, store) = (Arc::clone(self), Arc::clone(store));
        let read = tokio::spawn(async move { topic.read_after(store.as_ref(), after, fresh).await }).await;
        read.map_err(|error| Refusal::internal(format!("a stream's read panicked: {error}")))?
    }

    async fn read_after(&self, store: &dyn Store, after: Seq, fresh: Duration) -> Result<Page, Refusal> {
        let mut reading = self.reading.lock().await;
        if let Some(page) = self.recent_after(after) {
            return Ok(page);
        }
        let known = *self.news.borrow();
        let missed_until = *self.missed_until.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((head, when)) = reading.empty_after
            && head == after
            && known <= after
            && when.elapsed() < fresh
            && missed_until.is_none_or(|missed| missed < when)
        {
            return Ok(Vec::new());
        }
        let began = Instant::now();
        let page = if known.0.saturating_sub(after.0) >= STREAM_PAGE_ENTRIES {
            store.history(self.key, after, STREAM_PAGE_ENTRIES).await?
        } else {
            store.entries(self.key, after, STREAM_PAGE_ENTRIES).await?
        };
        let page: Page = page.into_iter().map(Arc::new).collect();
        reading.empty_after = page.is_empty().then_some((after, began));
        if page.len() < STREAM_PAGE_ENTRIES as usize {
            // Only the end of the book is worth remembering: that is where watchers gather.
            page.iter().for_each(|stored| self.remember(Arc::clone(stored)));
        }
        Ok(page)
    }

    fn recent_after(&self, after: Seq) -> Option<Page> {
        let recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        let first = recent.front()?.seq;
        let from = after.next().0.checked_sub(first.0)? as usize;
        if from >= recent.len() {
            return None;
        }
        Some(recent.iter().skip(from).take(STREAM_PAGE_ENTRIES as usize).cloned().collect())
    }

    fn remember(&self, stored: Arc<StoredEntry>) {
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = recent.front().and_then(|first| recent.get(stored.seq.0.checked_sub(first.seq.0)? as usize)) {
            if known.digest == stored.digest {
                return;
            }
            recent.clear();
        }
        match recent.back() {
            Some(last) if stored.seq < last.seq => return,
            Some(last) if stored.seq != last.seq.next() || last.digest.chain(&stored.line) != stored.digest => recent.clear(),
            _ => {}
        }
        recent.push_back(stored);
        if recent.len() > RECENT_ENTRIES {
            recent.pop_front();
        }
    }
}
