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
    since: Instant,
    /// Milliseconds after `since`.
    until_ms: AtomicU64,
}

impl Care {
    /// None was yet.
    pub(super) fn none() -> Care {
        Care { since: Instant::now(), until_ms: AtomicU64::new(0) }
    }

    /// Whether one is expected to be.
    pub(super) fn is_due(&self) -> bool {
        self.is_due_at(self.now_ms())
    }

    /// One was.
    pub(super) fn begin(&self) {
        self.begin_at(self.now_ms());
    }

    fn is_due_at(&self, now_ms: u64) -> bool {
        now_ms < self.until_ms.load(Ordering::Relaxed)
    }

    fn begin_at(&self, now_ms: u64) {
        self.until_ms.fetch_max(now_ms + CAREFUL_FOR.as_millis() as u64, Ordering::Relaxed);
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
        let (care, lasts) = (Care::none(), CAREFUL_FOR.as_millis() as u64);
        assert!(!care.is_due_at(0));
        for (began, until) in [(5, 5 + lasts), (7, 7 + lasts), (10 * lasts, 11 * lasts)] {
            care.begin_at(began);
            assert!(care.is_due_at(began) && care.is_due_at(until - 1) && !care.is_due_at(until), "{began}");
        }
        // Of two writers the later one counts, in whichever order they come.
        care.begin_at(10 * lasts - 1);
        assert!(care.is_due_at(11 * lasts - 1));
    }
}
