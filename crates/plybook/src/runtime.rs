//! The threads on which tasks run.
//!
//! Invariant: a process leaves the machine half of its cores, unless it is told otherwise.

use std::io;
use std::num::NonZeroUsize;
use std::thread::available_parallelism;

use tokio::runtime::{Builder, Runtime};

/// So many threads; for 0 half of the cores.
///
/// A node shares its cores with bots that think, with the kernel's part of the network, and on small machines with its
/// database; callers that measure share them with all of that. Where more threads want to run than there are cores, tasks
/// that wander from thread to thread cost more than they gain.
pub(crate) fn of(threads: u16) -> io::Result<Runtime> {
    let threads = NonZeroUsize::new(threads.into()).unwrap_or_else(half_of_the_cores);
    Builder::new_multi_thread().worker_threads(threads.get()).enable_all().build()
}

/// One thread for two cores, and at least one.
fn half_of_the_cores() -> NonZeroUsize {
    let cores = available_parallelism().map_or(1, NonZeroUsize::get);
    NonZeroUsize::new(cores / 2).unwrap_or(NonZeroUsize::MIN)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn threads_are_as_many_as_asked_for_or_half_of_the_cores() {
        for asked in [1, 3] {
            assert_eq!(of(asked).unwrap().metrics().num_workers(), usize::from(asked));
        }
        let cores = available_parallelism().unwrap().get();
        assert_eq!(of(0).unwrap().metrics().num_workers(), (cores / 2).max(1));
    }
}
