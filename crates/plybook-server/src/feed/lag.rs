//! For how long entries have been waiting to be shown.
//!
//! Invariant: what is told is never longer than it was: it counts from a look that found entries hidden, and begins anew
//! whenever something could be shown.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// See the module. One for each feed that is followed on this node.
#[derive(Debug, Default)]
pub struct Lag(Mutex<Seen>);

#[derive(Debug, Default)]
struct Seen {
    hidden: Option<Hidden>,
    longest: Duration,
}

#[derive(Clone, Copy, Debug)]
struct Hidden {
    since: Instant,
    /// What they wait for, and since when it has been this.
    horizon: u64,
    still_since: Instant,
}

impl Lag {
    /// For how long entries that are stored could not be shown; nothing where all could be.
    pub fn held_up(&self) -> Option<Duration> {
        self.seen(|seen| seen.hidden.map(|hidden| hidden.since.elapsed()))
    }

    /// For how long one and the same transaction has been what they wait for.
    pub fn horizon_still(&self) -> Option<Duration> {
        self.seen(|seen| seen.hidden.map(|hidden| hidden.still_since.elapsed()))
    }

    /// The longest that it ever was.
    pub fn longest(&self) -> Duration {
        self.seen(|seen| seen.longest.max(seen.hidden.map_or(Duration::ZERO, |hidden| hidden.since.elapsed())))
    }

    /// A look found this: whether anything could be shown, and what the rest waits for.
    pub(super) fn looked(&self, shown: bool, hidden_by: Option<u64>) {
        self.seen(|seen| {
            let now = Instant::now();
            let before = seen.hidden.take();
            if let Some(before) = before {
                seen.longest = seen.longest.max(now - before.since);
            }
            seen.hidden = hidden_by.map(|horizon| {
                let since = before.filter(|_| !shown).map_or(now, |before| before.since);
                let still_since = before.filter(|before| before.horizon == horizon).map_or(now, |before| before.still_since);
                Hidden { since, horizon, still_since }
            });
        });
    }

    fn seen<T>(&self, read: impl FnOnce(&mut Seen) -> T) -> T {
        read(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn it_counts_from_the_look_that_found_entries_hidden() {
        let lag = Lag::default();
        assert_eq!((lag.held_up(), lag.horizon_still(), lag.longest()), (None, None, Duration::ZERO));
        lag.looked(true, None);
        assert_eq!(lag.held_up(), None);
        lag.looked(false, Some(7));
        std::thread::sleep(Duration::from_millis(20));
        lag.looked(false, Some(7));
        assert!(lag.held_up().unwrap() >= Duration::from_millis(20) && lag.horizon_still().unwrap() >= Duration::from_millis(20));
        // Another transaction, and still nothing to show.
        lag.looked(false, Some(8));
        assert!(lag.held_up().unwrap() >= Duration::from_millis(20) && lag.horizon_still() < lag.held_up());
        let before = lag.held_up().unwrap();
        lag.looked(true, Some(8));
        assert!(lag.held_up().unwrap() < before);
        lag.looked(true, None);
        assert_eq!((lag.held_up(), lag.horizon_still()), (None, None));
        assert!(lag.longest() >= before);
    }
}
