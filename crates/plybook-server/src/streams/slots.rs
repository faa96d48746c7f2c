//! How many streams may be open: on this node, of a tenant, of a token that is bound to one game, and on a connection.
//!
//! Invariant: a stream holds one slot from before its first read until it is dropped; what is counted is counted down, so
//! the tables hold those that have streams.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use plybook_store::TenantId;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tonic::Request;

use crate::auth::{Bearer, Caller};
use crate::edge::Peer;
use crate::edge::connection::StreamPlace;
use crate::limits::{Limits, STREAMS_PER_TOKEN};
use crate::refusal::Refusal;

/// The slots of this node.
#[derive(Clone)]
pub struct Slots {
    free: Arc<Semaphore>,
    most: usize,
    most_of_tenant: usize,
    most_of_connection: usize,
    tenants: Arc<Open<TenantId>>,
    bearers: Arc<Open<Bearer>>,
}

/// Open streams by whose they are; none is not in it.
#[derive(Debug)]
struct Open<K>(Mutex<HashMap<K, usize>>);

/// Who asks for a slot.
#[derive(Clone, Debug)]
pub struct Asker {
    tenant: TenantId,
    bearer: Option<Bearer>,
    peer: Option<Peer>,
}

/// A stream's slot, until it is dropped.
#[derive(Debug)]
pub struct Slot {
    _node: OwnedSemaphorePermit,
    _tenant: Place<TenantId>,
    _bearer: Option<Place<Bearer>>,
    _connection: Option<StreamPlace>,
}

#[derive(Debug)]
struct Place<K: Eq + Hash + Copy> {
    of: K,
    open: Arc<Open<K>>,
}

impl Asker {
    /// This caller, by the connection that the request came by.
    pub fn of<T>(caller: &Caller, request: &Request<T>) -> Asker {
        Asker { tenant: caller.tenant, bearer: caller.bearer, peer: request.extensions().get().cloned() }
    }
}

impl Slots {
    /// So many.
    pub fn new(limits: &Limits) -> Slots {
        let most = limits.streams.min(Semaphore::MAX_PERMITS);
        Slots {
            free: Arc::new(Semaphore::new(most)),
            most,
            most_of_tenant: limits.streams_per_tenant,
            most_of_connection: limits.streams_per_connection,
            tenants: Open::new(),
            bearers: Open::new(),
        }
    }

    /// How many are taken.
    pub fn taken(&self) -> u64 {
        self.most.saturating_sub(self.free.available_permits()) as u64
    }

    /// A slot, or a refusal at once.
    pub fn take(&self, asker: &Asker) -> Result<Slot, Refusal> {
        let refused = |limit, most: usize| Refusal::TooManyStreams { limit, most: most as u64 };
        let open = |peer: &Peer| {
            let place = peer.connection.open_stream(self.most_of_connection);
            place.ok_or_else(|| refused("streams_per_connection", self.most_of_connection))
        };
        let connection = asker.peer.as_ref().map(open).transpose()?;
        let bearer = asker.bearer.map(|bearer| {
            let place = self.bearers.take(bearer, STREAMS_PER_TOKEN);
            place.ok_or_else(|| refused("streams_per_token", STREAMS_PER_TOKEN))
        });
        let bearer = bearer.transpose()?;
        let tenant = self.tenants.take(asker.tenant, self.most_of_tenant);
        let tenant = tenant.ok_or_else(|| refused("streams_per_tenant", self.most_of_tenant))?;
        let node = Arc::clone(&self.free).try_acquire_owned().map_err(|_| refused("streams", self.most))?;
        Ok(Slot { _node: node, _tenant: tenant, _bearer: bearer, _connection: connection })
    }
}

impl<K: Eq + Hash + Copy> Open<K> {
    fn new() -> Arc<Open<K>> {
        Arc::new(Open(Mutex::new(HashMap::new())))
    }

    fn take(self: &Arc<Open<K>>, of: K, most: usize) -> Option<Place<K>> {
        let mut open = self.open();
        let streams = open.get(&of).copied().unwrap_or_default();
        if streams >= most {
            return None;
        }
        open.insert(of, streams + 1);
        Some(Place { of, open: Arc::clone(self) })
    }

    fn open(&self) -> MutexGuard<'_, HashMap<K, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Eq + Hash + Copy> Drop for Place<K> {
    fn drop(&mut self) {
        let mut open = self.open.open();
        match open.get_mut(&self.of) {
            Some(streams) if *streams > 1 => *streams -= 1,
            _ => {
                open.remove(&self.of);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn asker(tenant: i32) -> Asker {
        Asker { tenant: TenantId(tenant), bearer: None, peer: None }
    }

    #[test]
    fn a_tenant_has_so_many_and_others_have_theirs() {
        let slots = Slots::new(&Limits { streams: 4, streams_per_tenant: 2, ..Limits::default() });
        let of_one = [(); 2].map(|()| slots.take(&asker(1)).unwrap());
        let refused = slots.take(&asker(1)).unwrap_err();
        assert!(matches!(refused, Refusal::TooManyStreams { limit: "streams_per_tenant", most: 2 }), "{refused:?}");
        let _of_two = [(); 2].map(|()| slots.take(&asker(2)).unwrap());
        let refused = slots.take(&asker(3)).unwrap_err();
        assert!(matches!(refused, Refusal::TooManyStreams { limit: "streams", most: 4 }), "{refused:?}");
        assert_eq!(slots.tenants.open().len(), 2, "whoever was refused left nothing behind");
        drop(of_one);
        slots.take(&asker(1)).unwrap();
        assert_eq!(slots.tenants.open().len(), 1);
    }

    #[test]
    fn a_token_of_one_game_has_few_and_its_tenant_goes_on() {
        let slots = Slots::new(&Limits::default());
        let bears = |token| Asker { bearer: Some(Bearer(token)), ..asker(1) };
        let held: Vec<Slot> = (0..STREAMS_PER_TOKEN).map(|_| slots.take(&bears(7)).unwrap()).collect();
        let refused = slots.take(&bears(7)).unwrap_err();
        assert!(matches!(refused, Refusal::TooManyStreams { limit: "streams_per_token", most: 32 }), "{refused:?}");
        assert!(slots.take(&bears(8)).is_ok() && slots.take(&asker(1)).is_ok());
        drop(held);
        assert!(slots.take(&bears(7)).is_ok() && slots.bearers.open().is_empty());
    }
}
