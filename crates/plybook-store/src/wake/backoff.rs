//! Longer and longer pauses between attempts, and one warning for all of them.
//!
//! Invariant: however long the other side is away, it is said once that it went and once that it came back.

use std::fmt::Display;
use std::time::Duration;

const FIRST: Duration = Duration::from_millis(50);
pub(crate) const MOST: Duration = Duration::from_secs(5);

/// Says once that the other side went, and once that it is back.
#[derive(Debug)]
pub(crate) struct Notice {
    warned: bool,
    /// What is lost meanwhile.
    what: &'static str,
}

impl Notice {
    /// Before the first failure.
    pub(crate) const fn new(what: &'static str) -> Notice {
        Notice { warned: false, what }
    }

    /// It failed, perhaps again.
    pub(crate) fn failed(&mut self, why: &dyn Display) {
        if self.warned {
            tracing::debug!(%why, "{} are still lost", self.what);
        } else {
            self.warned = true;
            tracing::warn!(%why, "{} are lost until the other side is back", self.what);
        }
    }

    /// It answers again.
    pub(crate) fn answered(&mut self) {
        if self.warned {
            tracing::info!("{} are carried again", self.what);
        }
        self.warned = false;
    }
}

/// Doubles from one failure to the next.
#[derive(Debug)]
pub(crate) struct Backoff {
    next: Duration,
    notice: Notice,
}

impl Backoff {
    /// Before the first failure.
    pub(crate) const fn new(what: &'static str) -> Backoff {
        Backoff { next: FIRST, notice: Notice::new(what) }
    }

    /// It failed: how long to wait before the next attempt.
    pub(crate) fn failed(&mut self, why: &dyn Display) -> Duration {
        let pause = self.next;
        self.next = (pause * 2).min(MOST);
        self.notice.failed(why);
        pause
    }

    /// It answers again.
    pub(crate) fn answered(&mut self) {
        self.notice.answered();
    }

    /// It has answered for long enough to be trusted.
    pub(crate) fn held(&mut self) {
        self.next = FIRST;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_have_a_ceiling() {
        let mut backoff = Backoff::new("hints");
        assert_eq!(backoff.failed(&"gone"), FIRST);
        assert_eq!(backoff.failed(&"gone"), FIRST * 2);
        for _ in 0..20 {
            backoff.failed(&"gone");
        }
        assert_eq!(backoff.failed(&"gone"), MOST);
        backoff.answered();
        assert_eq!(backoff.failed(&"gone"), MOST, "a line that never holds");
        backoff.held();
        assert_eq!(backoff.failed(&"gone"), FIRST);
    }
}
