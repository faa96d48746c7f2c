//! One watched game: its recent entries, read once however many watch.
//!
//! Invariant: the recent entries are consecutive and durable. Whoever asks for older ones reads the
//! book.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex as SyncMutex, PoisonError};
use std::time::{Duration, Instant};

use plybook_core::Seq;
use plybook_store::{GameKey, Store, StoredEntry};
use tokio::sync::{Mutex, watch};

use crate::limits::{RECENT_ENTRIES, STREAM_PAGE_ENTRIES};
use crate::refusal::Refusal;

/// One watched game.
pub struct Topic {
    key: GameKey,
    /// The latest entry that somebody spoke of.
    news: watch::Sender<Seq>,
    recent: SyncMutex<VecDeque<Arc<StoredEntry>>>,
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
        Topic { key, news, recent: SyncMutex::default(), reading: Mutex::default() }
    }

    /// The news: changes whenever somebody speaks of a later entry.
    pub fn news(&self) -> watch::Receiver<Seq> {
        self.news.subscribe()
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

    /// Entries after `after`, at most a page; empty at the head. A look that another watcher took
    /// less than `fresh` ago, and after the last news, is not repeated.
    ///
    /// Reads in a task of its own: the transport stops polling a stream whose reader stalls, and what
    /// is halfway through a read would keep the lock from the game's other watchers, and a connection
    /// from everybody.
    pub async fn after(self: &Arc<Self>, store: &Arc<dyn Store>, after: Seq, fresh: Duration) -> Result<Vec<Arc<StoredEntry>>, Refusal> {
        if let Some(page) = self.recent_after(after) {
            return Ok(page);
        }
        let (topic, store) = (Arc::clone(self), Arc::clone(store));
        let read = tokio::spawn(async move { topic.read_after(store.as_ref(), after, fresh).await }).await;
        read.map_err(|error| Refusal::internal(format!("a stream's read panicked: {error}")))?
    }

    async fn read_after(&self, store: &dyn Store, after: Seq, fresh: Duration) -> Result<Vec<Arc<StoredEntry>>, Refusal> {
        let mut reading = self.reading.lock().await;
        if let Some(page) = self.recent_after(after) {
            return Ok(page);
        }
        let known = *self.news.borrow();
        if let Some((head, when)) = reading.empty_after
            && head == after
            && known <= after
            && when.elapsed() < fresh
        {
            return Ok(Vec::new());
        }
        let began = Instant::now();
        let page = store.entries(self.key, after, STREAM_PAGE_ENTRIES).await?;
        let page: Vec<Arc<StoredEntry>> = page.into_iter().map(Arc::new).collect();
        reading.empty_after = page.is_empty().then_some((after, began));
        if page.len() < STREAM_PAGE_ENTRIES as usize {
            // Only the end of the book is worth remembering: that is where watchers gather.
            page.iter().for_each(|stored| self.remember(Arc::clone(stored)));
        }
        Ok(page)
    }

    fn recent_after(&self, after: Seq) -> Option<Vec<Arc<StoredEntry>>> {
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
        match recent.back().map(|last| last.seq) {
            Some(last) if stored.seq <= last => return,
            Some(last) if stored.seq != last.next() => recent.clear(),
            _ => {}
        }
        recent.push_back(stored);
        if recent.len() > RECENT_ENTRIES {
            recent.pop_front();
        }
    }
}
