//! Where the open streams of games stand.
//!
//! Invariant: a stream is counted from when it is opened until it is dropped; whether its reader stalls or not, what is known
//! here and not yet sent to it is what it is behind.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use plybook_core::Seq;

use crate::streams::Topic;

/// Where one stream stands.
pub struct Standing {
    at: AtomicU32,
    topic: Arc<Topic>,
}

impl Standing {
    /// The entry was sent.
    pub fn sent(&self, seq: Seq) {
        self.at.store(seq.0, Ordering::Relaxed);
    }

    fn behind(&self) -> u64 {
        u64::from(self.topic.known().0.saturating_sub(self.at.load(Ordering::Relaxed)))
    }
}

/// Where all of them stand.
#[derive(Default)]
pub struct Standings(Mutex<Vec<Weak<Standing>>>);

/// How far streams are behind, in entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamLag {
    /// All of them together.
    pub total: u64,
    /// The one that is furthest behind.
    pub most: u64,
}

impl Standings {
    /// A stream is opened behind this entry.
    pub fn open(&self, topic: &Arc<Topic>, after: Seq) -> Arc<Standing> {
        let standing = Arc::new(Standing { at: AtomicU32::new(after.0), topic: Arc::clone(topic) });
        let mut standings = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if standings.len() >= 64 && standings.len().is_power_of_two() {
            standings.retain(|standing| standing.strong_count() > 0);
        }
        standings.push(Arc::downgrade(&standing));
        standing
    }

    /// How far they are behind now.
    pub fn lag(&self) -> StreamLag {
        let mut standings = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut lag = StreamLag::default();
        standings.retain(|standing| {
            let Some(standing) = standing.upgrade() else { return false };
            let behind = standing.behind();
            lag.total += behind;
            lag.most = lag.most.max(behind);
            true
        });
        lag
    }
}

#[cfg(test)]
mod tests {
    use plybook_store::{GameKey, TenantId};
    use uuid::Uuid;

    use super::*;

    #[test]
    fn a_stream_is_behind_by_what_it_was_not_sent() {
        let topic = Arc::new(Topic::new(GameKey { tenant: TenantId::DEFAULT, game: Uuid::nil() }));
        let standings = Standings::default();
        let (one, other) = (standings.open(&topic, Seq(0)), standings.open(&topic, Seq(4)));
        assert_eq!(standings.lag(), StreamLag::default());
        topic.wake(Seq(5));
        assert_eq!(standings.lag(), StreamLag { total: 6, most: 5 });
        one.sent(Seq(3));
        other.sent(Seq(5));
        assert_eq!(standings.lag(), StreamLag { total: 2, most: 2 });
        drop(one);
        assert_eq!(standings.lag(), StreamLag::default());
        drop(other);
        assert!(standings.0.lock().unwrap_or_else(PoisonError::into_inner).len() <= 1);
    }

    #[test]
    fn streams_that_come_and_go_leave_nothing_behind() {
        let topic = Arc::new(Topic::new(GameKey { tenant: TenantId::DEFAULT, game: Uuid::nil() }));
        let standings = Standings::default();
        (0..10_000).for_each(|_| drop(standings.open(&topic, Seq(0))));
        assert!(standings.0.lock().unwrap_or_else(PoisonError::into_inner).len() <= 64);
    }
}
