//! What a node has done by itself, counted.
//!
//! Invariant: it is counted once it is done, or has failed; nothing is read off these numbers but by people and tests.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use plybook_core::Time;

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

impl Chore {
    /// Each with its name in metrics.
    pub const ALL: [(Chore, &'static str); CHORES] = [
        (Chore::Settled, "settled"),
        (Chore::Credited, "credited"),
        (Chore::Claimed, "claimed"),
        (Chore::ClaimLost, "claim_lost"),
        (Chore::PutOff, "put_off"),
        (Chore::BotMoved, "bot_moved"),
        (Chore::FallbackMoved, "fallback_moved"),
        (Chore::Discarded, "discarded"),
        (Chore::BotFault, "bot_fault"),
        (Chore::BotLate, "bot_late"),
    ];
}

/// How often a node has done what, and how far behind it was when it last looked at the queue.
#[derive(Debug, Default)]
pub struct Upkeep {
    counts: [AtomicU64; CHORES],
    /// When the queue's first row was due, in milliseconds since the epoch; 0 where none was.
    first_due: AtomicU64,
}

impl Upkeep {
    /// How often so far.
    pub fn count(&self, chore: Chore) -> u64 {
        self.counts[chore as usize].load(Ordering::Relaxed)
    }

    /// For how long the queue's first row had been due when this node last looked, and still is for all it knows.
    pub fn due_lag(&self, now: Time) -> Duration {
        match self.first_due.load(Ordering::Relaxed) {
            0 => Duration::ZERO,
            due => Duration::from_millis(now.unix_ms().saturating_sub(due)),
        }
    }

    pub(crate) fn saw_first_due(&self, due: Option<Time>) {
        self.first_due.store(due.map_or(0, Time::unix_ms), Ordering::Relaxed);
    }

    pub(crate) fn add(&self, chore: Chore) {
        self.counts[chore as usize].fetch_add(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_chore_has_one_name() {
        for (at, (chore, name)) in Chore::ALL.into_iter().enumerate() {
            assert_eq!(chore as usize, at, "{name}");
            assert_eq!(Chore::ALL.iter().filter(|(_, other)| *other == name).count(), 1, "{name}");
        }
    }

    #[test]
    fn what_is_due_grows_older_until_it_is_looked_at() {
        let (upkeep, now) = (Upkeep::default(), Time::from_unix_ms(10_000));
        assert_eq!(upkeep.due_lag(now), Duration::ZERO);
        upkeep.saw_first_due(Some(Time::from_unix_ms(4_000)));
        assert_eq!(upkeep.due_lag(now), Duration::from_secs(6));
        upkeep.saw_first_due(Some(Time::from_unix_ms(12_000)));
        assert_eq!(upkeep.due_lag(now), Duration::ZERO, "it is not due yet");
        upkeep.saw_first_due(None);
        assert_eq!(upkeep.due_lag(now), Duration::ZERO);
    }
}
