//! What a node remembers of the store's tenants and API keys.
//!
//! Invariants: what is remembered is believed for a bounded time and takes bounded memory, also of keys that are none; so many
//! are looked up at once and so many wait, so that whoever makes up keys takes no connection from the games; streams hear of a
//! key that was revoked.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use moka::future::Cache;
use plybook_store::{ApiKey, ApiKeyId, Error, Store, TenantId};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::limits::{CREDENTIALS_LOOKED_UP, CREDENTIALS_REMEMBERED, CREDENTIALS_WAITING};
use crate::refusal::Refusal;

/// An API key as it was found.
#[derive(Clone, Debug)]
pub struct Found {
    /// The key.
    pub key: ApiKey,
    /// Cancelled once it is known to be revoked.
    pub revoked: Arc<CancellationToken>,
}

/// What is remembered.
pub struct Records {
    store: Arc<dyn Store>,
    keys: Cache<ApiKeyId, Option<Arc<Found>>>,
    tenants: Cache<String, Option<TenantId>>,
    trust: Duration,
    lookups: Semaphore,
    waiting: AtomicUsize,
    /// Of keys that somebody's stream may depend on.
    watched: Mutex<HashMap<ApiKeyId, Weak<CancellationToken>>>,
}

impl Records {
    /// Over a store, each believed for so long.
    pub fn new(store: Arc<dyn Store>, trust: Duration) -> Records {
        Records {
            store,
            keys: Cache::builder().max_capacity(CREDENTIALS_REMEMBERED).time_to_live(trust).build(),
            tenants: Cache::builder().max_capacity(CREDENTIALS_REMEMBERED).time_to_live(trust).build(),
            trust,
            lookups: Semaphore::new(CREDENTIALS_LOOKED_UP),
            waiting: AtomicUsize::new(0),
            watched: Mutex::default(),
        }
    }

    /// The API key of this id, also one that does not hold any more.
    pub async fn api_key(&self, id: &ApiKeyId) -> Result<Option<Arc<Found>>, Refusal> {
        if let Some(found) = self.keys.get(id).await {
            return Ok(found);
        }
        let found = self.keys.try_get_with_by_ref(id, async {
            let found = self.look_up(self.store.api_key(id)).await?;
            Ok::<_, Refusal>(self.noted(id, found))
        });
        found.await.map_err(|refusal| refusal.shared())
    }

    /// The tenant of this name.
    pub async fn tenant(&self, name: &str) -> Result<Option<TenantId>, Refusal> {
        let found = self.tenants.try_get_with_by_ref(name, self.look_up(self.store.tenant(name)));
        found.await.map_err(|refusal: Arc<Refusal>| refusal.shared())
    }

    async fn look_up<T>(&self, work: impl Future<Output = Result<T, Error>>) -> Result<T, Refusal> {
        let _waits = Waits::enter(&self.waiting)?;
        let _permit = self.lookups.acquire().await.map_err(|_| Refusal::internal("nobody looks up credentials any more"))?;
        Ok(work.await?)
    }

    /// One that still holds goes on under the same watch.
    fn noted(&self, id: &ApiKeyId, found: Option<ApiKey>) -> Option<Arc<Found>> {
        let mut watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        let before = watched.get(id).and_then(Weak::upgrade);
        match found {
            Some(key) if key.revoked.is_none() => {
                let revoked = before.unwrap_or_default();
                watched.insert(id.clone(), Arc::downgrade(&revoked));
                Some(Arc::new(Found { key, revoked }))
            }
            gone => {
                if let Some(revoked) = before {
                    revoked.cancel();
                }
                watched.remove(id);
                gone.map(|key| Arc::new(Found { key, revoked: Arc::default() }))
            }
        }
    }

    /// Looks again at the keys that streams depend on, for as long as the node lives.
    pub async fn watch(self: Arc<Records>) {
        loop {
            tokio::time::sleep(self.trust).await;
            // Those of streams alone hold it up: what the cache remembers has gone by now, or goes when it is looked at.
            self.keys.run_pending_tasks().await;
            let ids: Vec<ApiKeyId> = {
                let mut watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
                watched.retain(|_, revoked| revoked.strong_count() > 0);
                watched.keys().cloned().collect()
            };
            for id in ids {
                if let Err(refusal) = self.api_key(&id).await {
                    tracing::debug!(?refusal, "an API key could not be looked at");
                }
            }
        }
    }
}

/// A place among those who wait.
struct Waits<'a>(&'a AtomicUsize);

impl Waits<'_> {
    fn enter(waiting: &AtomicUsize) -> Result<Waits<'_>, Refusal> {
        let waits = Waits(waiting);
        if waiting.fetch_add(1, Ordering::AcqRel) >= CREDENTIALS_WAITING {
            return Err(Refusal::Busy { limit: "credentials_waiting", most: CREDENTIALS_WAITING as u64 });
        }
        Ok(waits)
    }
}

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}
