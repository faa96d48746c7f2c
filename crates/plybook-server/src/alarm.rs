//! Wakes whoever looks at the queue of due games when something is armed here that comes before they would look.
//!
//! Invariant: what rings is a reason to look and nothing more; what does not ring is found by looking now and then.

use std::sync::{Mutex, PoisonError};

use plybook_core::Time;
use tokio::sync::Notify;

/// See the module.
#[derive(Debug, Default)]
pub struct Alarm {
    /// When they look next; nothing while they are awake.
    looks_at: Mutex<Option<Time>>,
    rings: Notify,
}

impl Alarm {
    /// Something is due then.
    pub fn rings_at(&self, time: Time) {
        let looks_at = *self.looks_at.lock().unwrap_or_else(PoisonError::into_inner);
        // Whoever is awake may have asked just before it was armed.
        if looks_at.is_none_or(|looks_at| time < looks_at) {
            self.rings.notify_one();
        }
    }

    /// They look next at this time.
    pub fn sleeps_until(&self, time: Option<Time>) {
        *self.looks_at.lock().unwrap_or_else(PoisonError::into_inner) = time;
    }

    /// Until it rings; at once where it has since the last time.
    pub async fn rung(&self) {
        self.rings.notified().await;
    }
}
