//! Whether a key is expected to be taken.
//!
//! An INSERT that minds keys which are taken looks for them before it writes and confirms each row afterwards, which is a
//! ninth of what a row costs the database. They hardly ever are: whoever decided on an older head is told so by the look at
//! the last entry, and a node knows the requests that it answered of the games it remembers. So an entry goes in plainly, and where
//! that fails for a key, with care, as do those that come after for a while: somebody races, or repeats requests elsewhere.
//!
//! Invariant: what is answered does not depend on it; in [`CAREFUL_FOR`] a key that is taken fails no more statements of a node,
//! with a line each in the database's log, than the node has under way at once.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How long after a key was found taken others may be.
const CAREFUL_FOR: Duration = Duration::from_secs(60);

/// A statement for both cases.
#[derive(Debug)]
pub(super) struct Forms {
    /// Fails where a key is taken.
    pub(super) plain: &'static str,
    /// Leaves out what cannot go in for that reason.
    pub(super) careful: &'static str,
}

impl Forms {
    pub(super) const fn text(&self, careful: bool) -> &'static str {
        if careful { self.careful } else { self.plain }
    }
}

/// Both forms of a statement, by a macro that takes what is said about keys first.
macro_rules! forms {
    ($statement:ident $(, $more:expr)* $(,)?) => {
        $crate::postgres::care::Forms {
            plain: $statement!("" $(, $more)*),
            careful: $statement!("ON CONFLICT DO NOTHING" $(, $more)*),
        }
    };
}
pub(super) use forms;

/// When a key was last found taken.
#[derive(Debug)]
pub(super) struct Care {
    lasts: Duration,
    since: Instant,
    /// Milliseconds after `since`.
    until_ms: AtomicU64,
}

impl Care {
    /// None was yet.
    pub(super) fn none() -> Care {
        Care::lasting(CAREFUL_FOR)
    }

    fn lasting(lasts: Duration) -> Care {
        Care { lasts, since: Instant::now(), until_ms: AtomicU64::new(0) }
    }

    /// Whether one is expected to be.
    pub(super) fn is_due(&self) -> bool {
        self.now_ms() < self.until_ms.load(Ordering::Relaxed)
    }

    /// One was.
    pub(super) fn begin(&self) {
        let until = self.now_ms() + self.lasts.as_millis() as u64;
        self.until_ms.fetch_max(until, Ordering::Relaxed);
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn care_is_due_for_a_while_after_a_key_was_taken() {
        let care = Care::lasting(Duration::from_millis(30));
        for _ in 0..2 {
            assert!(!care.is_due());
            care.begin();
            // As long as the machine did not sleep just then.
            assert!(care.is_due() || care.now_ms() > 30);
            std::thread::sleep(Duration::from_millis(40));
        }
        assert!(!care.is_due());
    }
}
