//! How appends, reads and wake-ups travelled, counted since the store was opened, and what it holds now.
//!
//! Invariant: counting makes nobody wait.

use std::sync::atomic::{AtomicU64, Ordering};

/// How many sizes of batches are told apart.
pub const BATCH_SIZES: usize = 10;

/// How appends travelled so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AppendCounts {
    /// Batches that were written.
    pub batches: u64,
    /// Entries in them, whatever came of each.
    pub entries: u64,
    /// Batches by size: at place *n* those of 2ⁿ entries and more, up to twice as many.
    pub sizes: [u64; BATCH_SIZES],
    /// Statements that were taken apart because one of their entries may have been at fault.
    pub taken_apart: u64,
    /// Appends that found the queue full.
    pub refused: u64,
}

/// What became of questions that a read replica may answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReplicaCounts {
    /// It answered them.
    pub served: u64,
    /// It lagged, was away or failed: the first database answered.
    pub passed_on: u64,
}

/// What a store can tell of itself without asking its database.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Vitals {
    /// What kind of database it is, as the conventions of telemetry name it; nothing of a store that is no database.
    pub system: &'static str,
    /// How appends travelled.
    pub appends: AppendCounts,
    /// Appends that wait for a batch now.
    pub appends_waiting: u64,
    /// Connections that are lent to somebody now.
    pub connections_used: u64,
    /// Connections that nobody uses now.
    pub connections_idle: u64,
    /// Most connections.
    pub connections_max: u64,
    /// What a read replica answered.
    pub replica: ReplicaCounts,
}

/// What became of hints on this node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WakeCounts {
    /// Handed in to be sent.
    pub published: u64,
    /// Lost here: no room to send, or nobody to send to.
    pub lost: u64,
}

/// Hints, as they are counted.
#[derive(Debug, Default)]
pub(crate) struct Hinted {
    published: AtomicU64,
    lost: AtomicU64,
}

impl Hinted {
    pub(crate) fn published(&self) {
        self.published.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn lost(&self, hints: usize) {
        self.lost.fetch_add(hints as u64, Ordering::Relaxed);
    }

    pub(crate) fn read(&self) -> WakeCounts {
        WakeCounts { published: self.published.load(Ordering::Relaxed), lost: self.lost.load(Ordering::Relaxed) }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Counts {
    entries: AtomicU64,
    sizes: [AtomicU64; BATCH_SIZES],
    taken_apart: AtomicU64,
    refused: AtomicU64,
}

impl Counts {
    pub(crate) fn batch(&self, entries: usize) {
        self.entries.fetch_add(entries as u64, Ordering::Relaxed);
        let place = (entries.max(1).ilog2() as usize).min(BATCH_SIZES - 1);
        self.sizes[place].fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn taken_apart(&self) {
        self.taken_apart.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn refused(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn read(&self) -> AppendCounts {
        let sizes = self.sizes.each_ref().map(|count| count.load(Ordering::Relaxed));
        AppendCounts {
            batches: sizes.iter().sum(),
            entries: self.entries.load(Ordering::Relaxed),
            sizes,
            taken_apart: self.taken_apart.load(Ordering::Relaxed),
            refused: self.refused.load(Ordering::Relaxed),
        }
    }
}
