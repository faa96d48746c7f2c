//! The time of a simulated world: it stands still until somebody lets it pass.
//!
//! Invariant: it never runs backwards, and no clock of the machine is asked.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use plybook_core::Time;
use plybook_server::clock::Clock;
use tokio::runtime::Builder;

/// When every world begins: 2001-01-01T00:00:00.000Z. A world that lasts decades ends before the day on which it is
/// simulated, and so before every moment of the real database's clock.
const START_MS: u64 = 978_307_200_000;

/// The database's clock of a world. The runtime's timers go by the same time.
#[derive(Debug)]
pub struct WorldTime(AtomicU64);

impl Default for WorldTime {
    fn default() -> WorldTime {
        WorldTime(AtomicU64::new(START_MS))
    }
}

impl WorldTime {
    /// Now.
    pub fn now(&self) -> Time {
        Time::from_unix_ms(self.0.load(Ordering::SeqCst))
    }

    /// So many milliseconds pass, and every timer that ends in them fires.
    pub async fn pass(&self, ms: u64) {
        self.0.fetch_add(ms, Ordering::SeqCst);
        tokio::time::advance(Duration::from_millis(ms)).await;
    }
}

/// Runs one world: on one thread, with timers that stand still until the world's time passes.
///
/// A runtime whose time is paused lets time pass by itself once it has nothing to do, also while it only waits for
/// the store's threads. It does not as long as a blocking thread of its own is at work, so here one always is.
pub fn run<T>(world: impl Future<Output = T>) -> T {
    let runtime = Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    let (end, ended) = mpsc::sync_channel::<()>(0);
    let holds_time = runtime.spawn_blocking(move || ended.recv());
    let done = runtime.block_on(world);
    drop((end, holds_time));
    runtime.shutdown_background();
    done
}

/// A node's clock, which is steered to the database's and misses it by a little.
#[derive(Debug)]
pub struct NodeClock {
    time: Arc<WorldTime>,
    off_ms: i64,
}

impl NodeClock {
    /// A clock that is so many milliseconds ahead, or behind.
    pub const fn new(time: Arc<WorldTime>, off_ms: i64) -> NodeClock {
        NodeClock { time, off_ms }
    }
}

impl Clock for NodeClock {
    fn now(&self) -> Time {
        Time::from_unix_ms(self.time.now().unix_ms().saturating_add_signed(self.off_ms))
    }
}
