//! How long a call goes on trying.
//!
//! Invariant: the pauses of one call sum up to its patience at most, and no server that said when to come back is asked before.

use std::time::Duration;

use tokio::time::Instant;
use uuid::Uuid;

use crate::error::Unavailable;
use crate::options::Options;

/// The attempts of one call.
#[derive(Debug)]
pub(crate) struct Patience {
    began: Instant,
    lasts: Duration,
    longest: Duration,
    pause: Duration,
    /// What the servers of this round have said.
    not_before: Duration,
    attempts: u32,
    routes: u32,
}

impl Patience {
    pub(crate) fn new(options: &Options, routes: usize) -> Patience {
        Patience {
            began: Instant::now(),
            lasts: options.patience,
            longest: options.longest_pause,
            pause: options.first_pause,
            not_before: Duration::ZERO,
            attempts: 0,
            routes: routes.max(1) as u32,
        }
    }

    /// Counts a failed attempt. Answers how long to wait before the next, or that there is none.
    pub(crate) fn spend(&mut self, why: String, not_before: Option<Duration>) -> Result<Duration, Unavailable> {
        self.attempts += 1;
        self.not_before = self.not_before.max(not_before.unwrap_or_default());
        // The other servers are tried at once; only a whole round without an answer is a reason to wait.
        let mut wait = Duration::ZERO;
        if self.attempts.is_multiple_of(self.routes) {
            wait = self.pause.mul_f64(jitter()).max(std::mem::take(&mut self.not_before));
            self.pause = (self.pause * 2).min(self.longest);
        }
        let waited = self.began.elapsed();
        if waited + wait > self.lasts {
            return Err(Unavailable { attempts: self.attempts, waited, last: why, request_id: None });
        }
        Ok(wait)
    }
}

/// Between a half and one, so that callers who failed together do not come back together.
fn jitter() -> f64 {
    let [.., byte] = Uuid::new_v4().into_bytes();
    0.5 + f64::from(byte) / 510.0
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;

    #[test]
    fn a_round_is_free_and_patience_ends() {
        let options = Options { patience: Duration::from_secs(600), longest_pause: Duration::from_millis(80), ..Options::default() };
        let mut patience = Patience::new(&options, 2);
        assert_eq!(patience.spend("a".into(), None).unwrap(), Duration::ZERO);
        let first = patience.spend("b".into(), None).unwrap();
        assert!(first >= Duration::from_millis(25) && first <= Duration::from_millis(50), "{first:?}");
        assert_eq!(patience.spend("c".into(), None).unwrap(), Duration::ZERO);
        let second = patience.spend("d".into(), Some(Duration::from_millis(70))).unwrap();
        assert!(second >= Duration::from_millis(70) && second <= Duration::from_millis(80), "{second:?}");
        patience.spend("e".into(), None).unwrap();
        let spent = patience.spend("f".into(), Some(Duration::from_secs(900))).unwrap_err();
        assert_eq!((spent.attempts, spent.last.as_str()), (6, "f"));
    }

    #[test]
    fn what_one_server_of_a_round_said_is_waited_for_before_the_next_round() {
        let mut patience = Patience::new(&Options { patience: Duration::from_secs(600), ..Options::default() }, 2);
        assert_eq!(patience.spend("a".into(), Some(Duration::from_secs(9))).unwrap(), Duration::ZERO);
        assert_eq!(patience.spend("b".into(), None).unwrap(), Duration::from_secs(9));
        patience.spend("a".into(), None).unwrap();
        assert!(patience.spend("b".into(), None).unwrap() < Duration::from_secs(9), "and once");
    }
}
