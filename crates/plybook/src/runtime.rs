//! The threads on which tasks run.
//!
//! Invariant: a node, and whoever measures one, leaves the machine half of its cores unless told otherwise; what works through
//! books by itself has all of them.

use std::io;
use std::num::NonZeroUsize;
use std::thread::available_parallelism;

use tokio::runtime::{Builder, Runtime};

/// How many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Threads {
    /// One for each core.
    All,
    /// So many; for 0 half of the cores.
    Few(u16),
}

/// Tasks on so many threads.
///
/// A node shares its cores with bots that think, with the kernel's part of the network, and on small machines with its
/// database; callers that measure share them with all of that. Where more threads want to run than there are cores, tasks
/// that wander from thread to thread cost more than they gain.
pub(crate) fn of(threads: Threads) -> io::Result<Runtime> {
    let mut builder = Builder::new_multi_thread();
    if let Threads::Few(few) = threads {
        builder.worker_threads(NonZeroUsize::new(few.into()).unwrap_or_else(half_of_the_cores).get());
    }
    builder.enable_all().build()
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

    fn workers(threads: Threads) -> usize {
        of(threads).unwrap().metrics().num_workers()
    }

    #[test]
    fn threads_are_as_many_as_asked_for_or_half_of_the_cores_or_all() {
        let cores = available_parallelism().unwrap().get();
        assert_eq!([workers(Threads::Few(1)), workers(Threads::Few(3))], [1, 3]);
        assert_eq!([workers(Threads::Few(0)), workers(Threads::All)], [(cores / 2).max(1), cores]);
    }
}
