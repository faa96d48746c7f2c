//! That this node is there, said again and again; and when no node was.
//!
//! Invariant: whoever asks for outages has said a moment ago that this node is there. So an outage that lies behind it is
//! known, also to a node that has slept through it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use plybook_core::Time;
use plybook_store::{Error, Store};
use tokio::time::{Instant, MissedTickBehavior, interval};
use uuid::Uuid;

use crate::limits::{Limits, OUTAGES_ASKED};

/// The beats of a node.
pub struct Heartbeat {
    store: Arc<dyn Store>,
    node: Uuid,
    every: Duration,
    silence: Duration,
    last: Mutex<Option<Instant>>,
}

impl Heartbeat {
    /// A node that has not said anything yet.
    pub fn new(store: Arc<dyn Store>, limits: &Limits) -> Heartbeat {
        let (node, every, silence) = (Uuid::new_v4(), limits.heartbeat, limits.outage_after);
        Heartbeat { store, node, every, silence, last: Mutex::default() }
    }

    /// Says that the node is there.
    pub async fn beat(&self) -> Result<(), Error> {
        let began = Instant::now();
        let outage = self.store.beat(self.node, self.silence).await?;
        *self.last() = Some(began);
        if let Some(outage) = outage {
            tracing::warn!(from = %outage.from, to = %outage.to, "no node was there");
        }
        Ok(())
    }

    /// For ever.
    pub async fn keep_beating(self: Arc<Self>) {
        let mut rounds = interval(self.every);
        rounds.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            rounds.tick().await;
            if let Err(error) = self.beat().await {
                tracing::debug!(%error, "a beat is missing");
            }
        }
    }

    /// When no node was there, between these two times, from and to.
    pub async fn outages(&self, from: Time, to: Time) -> Result<Vec<(Time, Time)>, Error> {
        let fresh = |last: &Instant| last.elapsed() < self.silence / 2;
        if self.last().as_ref().is_none_or(|last| !fresh(last)) {
            self.beat().await?;
        }
        let outages = self.store.outages(from, to, OUTAGES_ASKED).await?;
        Ok(outages.into_iter().map(|outage| (outage.from, outage.to)).collect())
    }

    fn last(&self) -> std::sync::MutexGuard<'_, Option<Instant>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
