//! What time it is.
//!
//! Invariant: nodes over one database agree on the time, because each steers to the database's
//! clock; within a game time never runs backwards, because the core sees to that.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use plybook_core::Time;
use plybook_store::Store;

/// Where the service takes its time from.
pub trait Clock: Send + Sync + 'static {
    /// Now.
    fn now(&self) -> Time;
}

/// The longest round trip whose answer is believed: the time is known to half of it. Where the store is so
/// busy that it takes longer, the last measurement says more.
const TRIP_MAX: Duration = Duration::from_secs(1);

/// The database's clock, measured now and then, and between two measurements what has passed since: this
/// machine's own time of day may be set meanwhile, and nobody's time to join or to move is over by that.
#[derive(Debug)]
pub struct SteeredClock {
    began: Instant,
    /// What time it was then.
    began_ms: AtomicI64,
    steered: AtomicBool,
}

impl Default for SteeredClock {
    /// This machine's time of day, until it is steered.
    fn default() -> SteeredClock {
        SteeredClock { began: Instant::now(), began_ms: AtomicI64::new(local_ms() as i64), steered: AtomicBool::new(false) }
    }
}

impl SteeredClock {
    /// Measures once. The answer is taken to stand in the middle of the round trip.
    pub async fn steer(&self, store: &dyn Store) -> Result<(), plybook_store::Error> {
        let asked = self.began.elapsed();
        let there = store.clock_unix_ms().await?;
        let trip = self.began.elapsed() - asked;
        if trip > TRIP_MAX && self.steered.load(Ordering::Relaxed) {
            tracing::debug!(?trip, "the clock was not steered by so late an answer");
            return Ok(());
        }
        self.began_ms.store(there as i64 - (asked + trip / 2).as_millis() as i64, Ordering::Relaxed);
        self.steered.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Steers for ever. While the database is away, the last measurement stands.
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
        let ms = self.began_ms.load(Ordering::Relaxed) + self.began.elapsed().as_millis() as i64;
        Time::from_unix_ms(ms.max(0) as u64)
    }
}

fn local_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}
