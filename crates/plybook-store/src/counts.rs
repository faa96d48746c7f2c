//! How appends and reads travelled, counted since the store was opened.
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
