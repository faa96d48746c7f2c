//! What a node has done by itself, counted.
//!
//! Invariant: it is counted once it is done, or has failed; nothing is read off these numbers but by people and tests.

use std::sync::atomic::{AtomicU64, Ordering};

/// What a node does by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chore {
    /// A deadline was settled by an entry of this node.
    Settled,
    /// Time was credited by an entry of this node; it counts as settled too.
    Credited,
    /// A due game was claimed.
    Claimed,
    /// A claim was gone before it was settled: an entry has armed the game, or the lease ran out.
    ClaimLost,
    /// A due game could not be handled, and comes again later.
    PutOff,
    /// A bot moved.
    BotMoved,
    /// The fallback moved.
    FallbackMoved,
    /// A bot's answer came to nothing: the game had moved on.
    Discarded,
    /// A bot was at fault: it is unknown here, panicked, or chose what is illegal.
    BotFault,
    /// A bot's time was nearly over.
    BotLate,
}

const CHORES: usize = Chore::BotLate as usize + 1;

/// How often a node has done what.
#[derive(Debug, Default)]
pub struct Upkeep([AtomicU64; CHORES]);

impl Upkeep {
    /// How often so far.
    pub fn count(&self, chore: Chore) -> u64 {
        self.0[chore as usize].load(Ordering::Relaxed)
    }

    pub(crate) fn add(&self, chore: Chore) {
        self.0[chore as usize].fetch_add(1, Ordering::Relaxed);
    }
}
