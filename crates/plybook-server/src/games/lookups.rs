//! How often a game was in this node's memory.
//!
//! Invariant: counting makes nobody wait.

use std::sync::atomic::{AtomicU64, Ordering};

use plybook_core::game::State;

/// Looks into each memory of games.
#[derive(Debug, Default)]
pub struct Lookups {
    /// Games at the heads that this node has seen.
    pub tables: Looks,
    /// Headers with their rules.
    pub opened: Looks,
    /// Earlier positions.
    pub history: Looks,
}

impl Lookups {
    /// Each with its name.
    pub const fn all(&self) -> [(&'static str, &Looks); 3] {
        [("tables", &self.tables), ("opened", &self.opened), ("history", &self.history)]
    }
}

/// Looks into one memory.
#[derive(Debug, Default)]
pub struct Looks {
    looks: AtomicU64,
    misses: AtomicU64,
}

impl Looks {
    pub(super) fn looked(&self) {
        self.looks.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn missed(&self) {
        self.misses.fetch_add(1, Ordering::Relaxed);
    }

    /// How often it was not there.
    pub fn misses(&self) -> u64 {
        self.misses.load(Ordering::Relaxed)
    }

    /// How often it was there.
    pub fn hits(&self) -> u64 {
        self.looks.load(Ordering::Relaxed).saturating_sub(self.misses())
    }
}

/// Games in memory, by state.
#[derive(Clone, Copy, Debug, Default)]
pub struct Remembered([u64; 3]);

impl Remembered {
    pub(super) const fn add(&mut self, state: State) {
        self.0[state as usize] += 1;
    }

    /// How many are in this state.
    pub const fn count(&self, state: State) -> u64 {
        self.0[state as usize]
    }
}
