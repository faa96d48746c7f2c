//! Whose feed is followed on this node, and the news for it.
//!
//! Invariant: a feed that nobody follows costs nothing; losing any news costs a follower time up to the poll floor, never
//! an entry.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use plybook_store::{Store, TenantId};

use crate::feed::Tail;

/// The feeds followed on this node.
#[derive(Debug, Default)]
pub struct Feeds {
    tails: Mutex<HashMap<TenantId, Weak<Tail>>>,
}

impl Feeds {
    /// The end of a tenant's feed; whoever follows it shares it while one of them does.
    pub fn follow(&self, store: &Arc<dyn Store>, tenant: TenantId, poll_floor: Duration) -> Arc<Tail> {
        let mut tails = self.tails.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(tail) = tails.get(&tenant).and_then(Weak::upgrade) {
            return tail;
        }
        let tail = Tail::start(Arc::clone(store), tenant, poll_floor);
        tails.insert(tenant, Arc::downgrade(&tail));
        tail
    }

    /// Something was stored for this tenant.
    pub fn wake(&self, tenant: TenantId) {
        let tail = self.tails.lock().unwrap_or_else(PoisonError::into_inner).get(&tenant).and_then(Weak::upgrade);
        if let Some(tail) = tail {
            tail.wake();
        }
    }

    /// Something may have been stored for anybody.
    pub fn may_have_missed(&self) {
        self.followed().iter().for_each(|tail| tail.wake());
    }

    /// For how long entries that are stored could not be shown to who follows a feed on this node; nothing where all
    /// could be, or nobody follows one.
    pub fn held_up(&self) -> Option<Duration> {
        self.followed().iter().filter_map(|tail| tail.lag().held_up()).max()
    }

    /// For how long one and the same transaction has kept them from being shown.
    pub fn horizon_still(&self) -> Option<Duration> {
        self.followed().iter().filter_map(|tail| tail.lag().horizon_still()).max()
    }

    /// How many feeds are followed.
    pub fn count(&self) -> usize {
        self.followed().len()
    }

    fn followed(&self) -> Vec<Arc<Tail>> {
        self.tails.lock().unwrap_or_else(PoisonError::into_inner).values().filter_map(Weak::upgrade).collect()
    }
}
