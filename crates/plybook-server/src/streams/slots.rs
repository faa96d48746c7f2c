//! How many streams may be open: on this node, of a tenant, and on a connection.
//!
//! Invariant: a stream holds one slot from before its first read until it is dropped; what is counted is counted down, so
//! the table of tenants holds those that have streams.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use plybook_store::TenantId;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tonic::Request;

use crate::auth::Caller;
use crate::edge::Peer;
use crate::edge::connection::StreamPlace;
use crate::limits::Limits;
use crate::refusal::Refusal;

/// The slots of this node.
#[derive(Clone)]
pub struct Slots {
    free: Arc<Semaphore>,
    most: usize,
    most_of_tenant: usize,
    most_of_connection: usize,
    tenants: Arc<Tenants>,
}

/// Open streams by tenant; none is not in it.
#[derive(Debug, Default)]
struct Tenants(Mutex<HashMap<TenantId, usize>>);

/// Who asks for a slot.
#[derive(Clone, Debug)]
pub struct Asker {
    tenant: TenantId,
    peer: Option<Peer>,
}

/// A stream's slot, until it is dropped.
#[derive(Debug)]
pub struct Slot {
    _node: OwnedSemaphorePermit,
    _tenant: TenantPlace,
    _connection: Option<StreamPlace>,
}

#[derive(Debug)]
struct TenantPlace {
    tenant: TenantId,
    tenants: Arc<Tenants>,
}

impl Asker {
    /// This caller, by the connection that the request came by.
    pub fn of<T>(caller: &Caller, request: &Request<T>) -> Asker {
        Asker { tenant: caller.tenant, peer: request.extensions().get().cloned() }
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
            tenants: Arc::default(),
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
        let tenant = self.tenants.take(asker.tenant, self.most_of_tenant);
        let tenant = tenant.ok_or_else(|| refused("streams_per_tenant", self.most_of_tenant))?;
        let node = Arc::clone(&self.free).try_acquire_owned().map_err(|_| refused("streams", self.most))?;
        Ok(Slot { _node: node, _tenant: tenant, _connection: connection })
    }
}

impl Tenants {
    fn take(self: &Arc<Tenants>, tenant: TenantId, most: usize) -> Option<TenantPlace> {
        let mut open = self.open();
        let streams = open.get(&tenant).copied().unwrap_or_default();
        if streams >= most {
            return None;
        }
        open.insert(tenant, streams + 1);
        Some(TenantPlace { tenant, tenants: Arc::clone(self) })
    }

    fn open(&self) -> MutexGuard<'_, HashMap<TenantId, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for TenantPlace {
    fn drop(&mut self) {
        let mut open = self.tenants.open();
        match open.get_mut(&self.tenant) {
            Some(streams) if *streams > 1 => *streams -= 1,
            _ => {
                open.remove(&self.tenant);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn asker(tenant: i32) -> Asker {
        Asker { tenant: TenantId(tenant), peer: None }
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
}
