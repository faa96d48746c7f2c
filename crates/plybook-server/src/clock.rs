//! What time it is.
//!
//! Invariant: nodes over one database agree on the time, because each steers to the database's
//! clock; within a game time never runs backwards, because the core sees to that.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use plybook_core::Time;
use plybook_store::Store;

/// Where the service takes its time from.
pub trait Clock: Send + Sync + 'static {
    /// Now.
    fn now(&self) -> Time;
}

/// This machine's clock, moved by the difference to the database's.
#[derive(Debug, Default)]
pub struct SteeredClock {
    ahead_ms: AtomicI64,
}

impl SteeredClock {
    /// Measures the difference once. The answer is taken to stand in the middle of the round trip.
    pub async fn steer(&self, store: &dyn Store) -> Result<(), plybook_store::Error> {
        let (asked, began) = (local_ms(), Instant::now());
        let there = store.clock_unix_ms().await?;
        let half_trip_ms = began.elapsed().as_millis() as i64 / 2;
        let ahead_ms = there as i64 - (asked as i64 + half_trip_ms);
        self.ahead_ms.store(ahead_ms, Ordering::Relaxed);
        Ok(())
    }

    /// Steers for ever. While the database is away, the last difference stands.
    pub async fn keep_steering(&self, store: &dyn Store, every: Duration) {
        loop {
            tokio::time::sleep(every).await;
            if let Err(error) = self.steer(store).await {
                tracing::debug!(%error, "the clock was not steered");
            }
        }
    }
}

impl Clock for SteeredClock {
    fn now(&self) -> Time {
        let ms = local_ms() as i64 + self.ahead_ms.load(Ordering::Relaxed);
        Time::from_unix_ms(ms.max(0) as u64)
    }
}

fn local_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}
