//! How many streams may be open.
//!
//! Invariant: a stream holds one slot from before its first read until it is dropped.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::refusal::Refusal;

/// The slots of this node.
#[derive(Clone)]
pub struct Slots {
    free: Arc<Semaphore>,
    most: usize,
}

impl Slots {
    /// So many.
    pub fn new(most: usize) -> Slots {
        let most = most.min(Semaphore::MAX_PERMITS);
        Slots { free: Arc::new(Semaphore::new(most)), most }
    }

    /// A slot, or a refusal at once.
    pub fn take(&self) -> Result<OwnedSemaphorePermit, Refusal> {
        let free = Arc::clone(&self.free);
        free.try_acquire_owned().map_err(|_| Refusal::TooManyStreams { most: self.most as u64 })
    }
}
