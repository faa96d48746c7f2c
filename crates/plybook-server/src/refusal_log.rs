//! Refused requests, remembered off the hot path.
//!
//! Invariant: whoever notes one never waits and never fails. What the queue has no room for, or the store
//! does not take, is lost and counted. One writer with pauses keeps a flood of refusals from taking
//! the store from moves; nothing is written twice.

use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::FutureExt as _;
use plybook_core::Time;
use plybook_store::{Error, Refused, Store};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::clock::Clock;
use crate::limits::{Limits, REFUSALS_AT_ONCE, REFUSALS_FORGOTTEN_AT_ONCE};
use crate::telemetry;

/// Between two batches: at most this often does a move find the writer of refusals before it.
const PAUSE: Duration = Duration::from_millis(50);
/// After the store failed.
const LONG_PAUSE: Duration = Duration::from_secs(1);
/// How long the last batches may take when the node goes away.
const FLUSH_WITHIN: Duration = Duration::from_millis(500);
/// How often it is said that some were lost.
const TOLD_EVERY: Duration = Duration::from_secs(60);

/// Where refused requests are noted. Cheap to clone.
#[derive(Clone, Debug)]
pub struct RefusalLog {
    /// Nothing where none are to be remembered.
    queue: Option<mpsc::Sender<Refused>>,
    losses: Arc<Losses>,
}

impl RefusalLog {
    /// A log, and the work behind it, which begins at once.
    pub fn start(store: Arc<dyn Store>, clock: Arc<dyn Clock>, limits: &Limits) -> (RefusalLog, LogWork) {
        let losses = Arc::new(Losses::default());
        let (queue, waiting) = mpsc::channel(limits.refusals_queue);
        let stop = CancellationToken::new();
        let writer =
            Writer { store: Arc::clone(&store), waiting, keep: limits.refusals_per_game, losses: Arc::clone(&losses), stop: stop.clone() };
        let writing = tokio::spawn(writer.run());
        let ageing = tokio::spawn(age(store, clock, limits.refusals_keep, limits.refusals_ageing));
        let queue = (limits.refusals_per_game > 0).then_some(queue);
        (RefusalLog { queue, losses: Arc::clone(&losses) }, LogWork { writing, ageing, stop, losses })
    }

    /// Notes a refused request, or loses it.
    pub fn note(&self, refused: Refused) {
        if self.queue.as_ref().is_some_and(|queue| queue.try_send(refused).is_err()) {
            self.losses.add(1);
        }
    }
}

/// How many were lost.
#[derive(Debug, Default)]
struct Losses {
    total: AtomicU64,
    told: Mutex<Option<(Instant, u64)>>,
}

impl Losses {
    fn add(&self, lost: usize) {
        self.total.fetch_add(lost as u64, Ordering::Relaxed);
        self.tell(TOLD_EVERY);
    }

    /// Says it, unless it was said a shorter while ago or is being said.
    fn tell(&self, every: Duration) {
        let Ok(mut told) = self.told.try_lock() else { return };
        let (total, before) = (self.total.load(Ordering::Relaxed), told.map_or(0, |(_, total)| total));
        if total > before && told.is_none_or(|(at, _)| at.elapsed() >= every) {
            *told = Some((Instant::now(), total));
            telemetry::tell_lost_refusals(total - before, total);
        }
    }
}

/// How many were lost, for whoever wants to know.
#[derive(Clone, Debug)]
pub struct Lost(Arc<Losses>);

impl Lost {
    /// So many until now.
    pub fn count(&self) -> u64 {
        self.0.total.load(Ordering::Relaxed)
    }
}

/// The work behind a log.
#[derive(Debug)]
pub struct LogWork {
    writing: JoinHandle<()>,
    ageing: JoinHandle<()>,
    stop: CancellationToken,
    losses: Arc<Losses>,
}

impl LogWork {
    /// How many were lost.
    pub fn lost(&self) -> Lost {
        Lost(Arc::clone(&self.losses))
    }

    /// Writes what waits, as far as there is time, and ends.
    pub async fn finish(self) {
        self.ageing.abort();
        self.stop.cancel();
        let abort = self.writing.abort_handle();
        if timeout(FLUSH_WITHIN, self.writing).await.is_err() {
            tracing::warn!("some refused requests were not written in time");
            abort.abort();
        }
        self.losses.tell(Duration::ZERO);
    }
}

struct Writer {
    store: Arc<dyn Store>,
    waiting: mpsc::Receiver<Refused>,
    keep: u32,
    losses: Arc<Losses>,
    stop: CancellationToken,
}

impl Writer {
    async fn run(mut self) {
        while let Some(first) = self.next().await {
            let pause = if self.write(first).await { PAUSE } else { LONG_PAUSE };
            tokio::select! {
                () = self.stop.cancelled() => {}
                () = sleep(pause) => {}
            }
        }
    }

    /// The next one; once told to stop, only what waits already.
    async fn next(&mut self) -> Option<Refused> {
        tokio::select! {
            biased;
            () = self.stop.cancelled() => {
                self.waiting.close();
                self.waiting.recv().await
            }
            next = self.waiting.recv() => next,
        }
    }

    /// Writes it together with what waits behind it; false where the store did not take them.
    async fn write(&mut self, first: Refused) -> bool {
        let mut batch = vec![first];
        while batch.len() < REFUSALS_AT_ONCE {
            let Ok(next) = self.waiting.try_recv() else { break };
            batch.push(next);
        }
        let written = caught(self.store.remember(&batch, self.keep)).await;
        if let Err(error) = &written {
            tracing::debug!(%error, "refused requests were not written");
            self.losses.add(batch.len());
        }
        written.is_ok()
    }
}

/// Forgets what is too old, a bounded number at a time, for ever.
async fn age(store: Arc<dyn Store>, clock: Arc<dyn Clock>, keep: Duration, every: Duration) {
    let mut rounds = interval(every);
    rounds.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        rounds.tick().await;
        let keep_ms = u64::try_from(keep.as_millis()).unwrap_or(u64::MAX);
        loop {
            let oldest = Time::from_unix_ms(clock.now().unix_ms().saturating_sub(keep_ms));
            match caught(store.forget_refusals(oldest, REFUSALS_FORGOTTEN_AT_ONCE)).await {
                Ok(gone) if gone >= u64::from(REFUSALS_FORGOTTEN_AT_ONCE) => sleep(LONG_PAUSE).await,
                Ok(_) => break,
                Err(error) => {
                    tracing::debug!(%error, "old refused requests were not forgotten");
                    break;
                }
            }
        }
    }
}

/// A store that panics must not end the work.
async fn caught<T>(work: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    let done = AssertUnwindSafe(work).catch_unwind().await;
    done.unwrap_or_else(|_| Err(Error::Failed("the store panicked".to_owned())))
}
