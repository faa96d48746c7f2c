//! The end of one tenant's feed: new entries, read once however many follow.
//!
//! Invariant: the recent entries are consecutive in the feed, and begin right behind `floor`. Whoever is further behind reads
//! the store, and so does whoever was sent something before the books went back in time: only the store knows whether the
//! entry at a cursor is still there.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use plybook_store::{Error, FeedCursor, FeedPage, FeedRow, Store, TenantId};
use tokio::sync::{Notify, watch};
use tokio::time::{sleep, timeout};

use crate::feed::Lag;
use crate::limits::{FEED_HOLDER_AFTER, FEED_HOLDER_EVERY, FEED_PACE, FEED_PAGE_ENTRIES, FEED_RECENT_ENTRIES, FEED_RETRY_MAX};
use crate::refusal::Refusal;

/// Rows that follow one another.
pub type Rows = Vec<Arc<FeedRow>>;

/// What there is behind a cursor.
#[derive(Debug)]
pub enum Look {
    /// These, and perhaps more.
    Rows(Rows),
    /// Nothing that could be shown yet.
    End,
    /// The store has to be asked: it is not among what is remembered here.
    Behind,
    /// The store could not be read.
    Fault(Refusal),
}

/// The end of a feed.
#[derive(Debug)]
pub struct Tail {
    /// Changes whenever there is a reason to look.
    news: watch::Sender<u64>,
    seen: Mutex<Seen>,
    /// A reason for the tailer to look into the store.
    reasons: Arc<Notify>,
    lag: Lag,
}

#[derive(Debug, Default)]
struct Seen {
    /// Whether the end of the feed was found.
    begun: bool,
    /// How often the books went back in time.
    generation: u64,
    /// The entry behind which `recent` begins; nothing where that is the first one of all.
    floor: Option<FeedCursor>,
    recent: VecDeque<Arc<FeedRow>>,
    /// Why the last look into the store came to nothing.
    fault: Option<Refusal>,
}

impl Tail {
    /// Begins to read what is new, for as long as anybody has it.
    pub(super) fn start(store: Arc<dyn Store>, tenant: TenantId, poll_floor: Duration) -> Arc<Tail> {
        let reasons = Arc::new(Notify::new());
        let tail = Tail { news: watch::Sender::default(), seen: Mutex::default(), reasons: Arc::clone(&reasons), lag: Lag::default() };
        let tail = Arc::new(tail);
        let tailer = Tailer { tail: Arc::downgrade(&tail), store, tenant, poll_floor, reasons, retry: Duration::ZERO, named: None };
        tokio::spawn(tailer.run());
        tail
    }

    /// The news: changes whenever there is a reason to look.
    pub fn news(&self) -> watch::Receiver<u64> {
        self.news.subscribe()
    }

    /// For how long entries have been waiting.
    pub const fn lag(&self) -> &Lag {
        &self.lag
    }

    /// Something was stored.
    pub fn wake(&self) {
        self.reasons.notify_one();
    }

    /// How often the books went back in time: whoever was sent something before has to ask the store.
    pub fn generation(&self) -> u64 {
        self.seen().generation
    }

    /// What is remembered behind a cursor that the store knew in this generation.
    pub fn after(&self, at: Option<&FeedCursor>, generation: Option<u64>) -> Look {
        let seen = self.seen();
        if let Some(fault) = &seen.fault {
            return Look::Fault(fault.shared());
        }
        if !seen.begun || generation != Some(seen.generation) || at < seen.floor.as_ref() {
            return Look::Behind;
        }
        let from = seen.recent.partition_point(|row| Some(&row.cursor) <= at);
        if from == seen.recent.len() {
            return Look::End;
        }
        Look::Rows(seen.recent.iter().skip(from).take(FEED_PAGE_ENTRIES as usize).cloned().collect())
    }

    /// Behind which entry the tailer reads on; nothing before it has found the end.
    fn at(&self) -> Option<Option<FeedCursor>> {
        let seen = self.seen();
        seen.begun.then(|| seen.recent.back().map_or(seen.floor, |row| Some(row.cursor)))
    }

    fn begins_at(&self, end: Option<FeedCursor>) {
        let mut seen = self.seen();
        (seen.begun, seen.floor, seen.fault) = (true, end, None);
    }

    fn read(&self, page: FeedPage) {
        self.lag.looked(!page.rows.is_empty(), page.hidden_by);
        let mut seen = self.seen();
        let mends = seen.fault.take().is_some();
        let grows = !page.rows.is_empty();
        seen.recent.extend(page.rows.into_iter().map(Arc::new));
        while seen.recent.len() > FEED_RECENT_ENTRIES {
            if let Some(oldest) = seen.recent.pop_front() {
                seen.floor = Some(oldest.cursor);
            }
        }
        drop(seen);
        if grows || mends {
            self.tell();
        }
    }

    /// The books went back in time, or are others: nothing that was known of them counts.
    fn forget(&self) {
        let mut seen = self.seen();
        *seen = Seen { generation: seen.generation + 1, ..Seen::default() };
        drop(seen);
        self.tell();
    }

    fn fails(&self, fault: Refusal) {
        self.seen().fault = Some(fault);
        self.tell();
    }

    fn tell(&self) {
        self.news.send_modify(|news| *news = news.wrapping_add(1));
    }

    fn seen(&self) -> std::sync::MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Tail {
    fn drop(&mut self) {
        // The tailer finds that nobody is there.
        self.reasons.notify_one();
    }
}

/// Who reads what is new.
struct Tailer {
    tail: Weak<Tail>,
    store: Arc<dyn Store>,
    tenant: TenantId,
    poll_floor: Duration,
    reasons: Arc<Notify>,
    /// How long it waited before the last look that found nothing, where there was something hidden or amiss.
    retry: Duration,
    /// When who holds the entries up was last named.
    named: Option<Instant>,
}

impl Tailer {
    async fn run(mut self) {
        while let Some(tail) = self.tail.upgrade() {
            let wait = self.look(&tail).await;
            self.name_holder(&tail).await;
            drop(tail);
            if !wait.is_zero() {
                // What comes at once after a look waits for the next one together.
                sleep(FEED_PACE).await;
                let _ = timeout(wait, self.reasons.notified()).await;
            }
        }
    }

    /// Reads what is new; answers when to look again unasked.
    async fn look(&mut self, tail: &Tail) -> Duration {
        let looked = match tail.at() {
            None => self.store.feed_end(self.tenant).await.map(|end| {
                tail.begins_at(end);
                tail.tell();
                Duration::ZERO
            }),
            Some(at) => self.store.feed(self.tenant, at.as_ref(), FEED_PAGE_ENTRIES).await.map(|page| {
                let (rows, hidden) = (page.rows.len(), page.hidden_by.is_some());
                tail.read(page);
                match rows {
                    rows if rows >= FEED_PAGE_ENTRIES as usize => Duration::ZERO,
                    0 if hidden => self.later(),
                    _ if hidden => self.soon(),
                    _ => {
                        self.retry = Duration::ZERO;
                        self.poll_floor
                    }
                }
            }),
        };
        match looked {
            Ok(wait) => wait,
            Err(Error::Expired) => {
                tracing::warn!("the books went back in time: whoever follows the feed is held against them");
                tail.forget();
                self.soon()
            }
            Err(error) => {
                tail.fails(error.into());
                self.later()
            }
        }
    }

    fn soon(&mut self) -> Duration {
        self.retry = FEED_PACE;
        self.retry
    }

    fn later(&mut self) -> Duration {
        self.retry = (self.retry * 2).clamp(FEED_PACE, FEED_RETRY_MAX.min(self.poll_floor));
        self.retry
    }

    /// Says once in a while who it is that entries wait for.
    async fn name_holder(&mut self, tail: &Tail) {
        let Some(still) = tail.lag().horizon_still().filter(|still| *still >= FEED_HOLDER_AFTER) else { return };
        if self.named.is_some_and(|named| named.elapsed() < FEED_HOLDER_EVERY) {
            return;
        }
        self.named = Some(Instant::now());
        match self.store.feed_holder().await {
            Ok(Some(holder)) => tracing::warn!(
                pid = holder.pid,
                application = %holder.name,
                database = %holder.database,
                state = %holder.state,
                open_seconds = holder.open_seconds,
                waiting_seconds = still.as_secs(),
                "a transaction that does not end keeps entries from the feed"
            ),
            // It has just ended.
            Ok(None) => {}
            Err(error) => tracing::warn!(%error, "entries are kept from the feed, and who does it could not be asked"),
        }
    }
}
