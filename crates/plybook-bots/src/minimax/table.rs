//! What is known of positions that were met before.
//!
//! Invariant: as large as the budget asks for and no larger than [`SLOTS_MOST`]; the newer entry stays.

use plybook_core::Action;

use crate::meter::Budget;
use crate::score::Score;

const SLOTS_LEAST: usize = 1 << 10;
const SLOTS_MOST: usize = 1 << 18;

/// How a score bounds the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bound {
    Exactly,
    AtLeast,
    AtMost,
}

/// What is known of a position.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) key: u64,
    /// Counted from this position.
    pub(super) score: Score,
    pub(super) bound: Bound,
    pub(super) depth: u32,
    /// Whether everything below was played to its end, or did not matter.
    pub(super) complete: bool,
    pub(super) action: Option<Action>,
}

/// Entries by key.
#[derive(Clone, Debug)]
pub(super) struct Table(Vec<Option<Entry>>);

impl Table {
    pub(super) fn new(budget: Budget) -> Table {
        let wanted = usize::try_from(budget.0 / 2).unwrap_or(SLOTS_MOST).clamp(SLOTS_LEAST, SLOTS_MOST);
        Table(vec![None; wanted.next_power_of_two()])
    }

    pub(super) fn get(&self, key: u64) -> Option<Entry> {
        self.0[self.slot(key)].filter(|entry| entry.key == key)
    }

    pub(super) fn put(&mut self, entry: Entry) {
        let slot = self.slot(entry.key);
        self.0[slot] = Some(entry);
    }

    const fn slot(&self, key: u64) -> usize {
        key as usize & (self.0.len() - 1)
    }
}
