//! What has to be done later, by whichever node comes first: the queue of due games, beside the books.
//!
//! Invariant: a row is a reminder and never a decision. It may fire too early or in vain, never too late: an entry
//! that makes something due earlier says so in its own append, and what a claimer settles never undoes that.
//!
//! How a node works with it: claim some rows; *after* the claim, follow each game to the head that the store has
//! and append what is due there; settle each row with the time that this head tells. Whoever dies in between leaves a
//! lease that ends by itself. A claimer that is told "not settled" forgets the row: somebody else looks at the game again.

use std::time::Duration;

use plybook_core::{Time, Uuid};

use crate::error::Error;
use crate::store::GameKey;

/// The longest lease; a longer one is taken for this.
pub const LEASE_MAX: Duration = Duration::from_secs(24 * 60 * 60);

/// What is due. A game has at most one row of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DueKind {
    /// Something that happens by time alone: a clock that runs out, a grace period, a window that closes.
    Time,
    /// A bot is to choose.
    Bot,
}

impl DueKind {
    /// Every kind.
    pub const ALL: [DueKind; 2] = [DueKind::Time, DueKind::Bot];
}

/// A row of the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DueKey {
    /// Of which game.
    pub game: GameKey,
    /// What is due.
    pub kind: DueKind,
}

/// For each kind the earliest time at which there may be something to do; nothing leaves its row as it is. A row is
/// claimed from that very millisecond on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arms {
    /// For [`DueKind::Time`].
    pub time: Option<Time>,
    /// For [`DueKind::Bot`].
    pub bot: Option<Time>,
}

impl Arms {
    /// Nothing is due.
    pub const NONE: Arms = Arms { time: None, bot: None };

    /// The kinds that are armed, each with its time.
    pub fn each(&self) -> impl Iterator<Item = (DueKind, Time)> {
        [(DueKind::Time, self.time), (DueKind::Bot, self.bot)].into_iter().filter_map(|(kind, at)| at.map(|at| (kind, at)))
    }
}

/// What an append does to its game's rows, if it stores the entry; a repeat or a conflict does nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DueChange {
    /// Nothing is due earlier than before.
    #[default]
    Keep,
    /// Makes the rows, or moves those that are there to an earlier time, never to a later one. Where a row is claimed,
    /// the claim is taken away, whichever time is the earlier: the claimer does not know this entry.
    Arm(Arms),
    /// Deletes them: the game is over.
    Disarm,
}

/// A row that is this claimer's until its lease ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claimed {
    /// Which.
    pub key: DueKey,
    /// When it was due: as it was armed, or the end of an earlier claimer's lease.
    pub due: Time,
    /// From 1: counts the claims since the row was armed or settled, this one too.
    pub attempts: u32,
    /// Of this claim and no other.
    pub token: Uuid,
}

/// A row as it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredDue {
    /// What is due.
    pub kind: DueKind,
    /// From when on it is claimed; where it is claimed already, the end of that lease.
    pub at: Time,
    /// Claims since it was armed or settled; 0 where nobody has claimed it.
    pub attempts: u32,
}

/// A game in the order in which clocks may run out; the place from which a page goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DueSoon {
    /// Not later than the true time, also while a node has claimed the row.
    pub at: Time,
    /// Which.
    pub game: Uuid,
}

/// A kind as it is stored.
pub(crate) const fn kind_column(kind: DueKind) -> &'static str {
    match kind {
        DueKind::Time => "time",
        DueKind::Bot => "bot",
    }
}

pub(crate) fn kind_from(text: &str) -> Result<DueKind, Error> {
    DueKind::ALL.into_iter().find(|kind| kind_column(*kind) == text).ok_or_else(|| Error::Corrupt(format!("{text:?} is due")))
}

/// A length of time in whole milliseconds, up to this one.
pub(crate) fn ms_up_to(length: Duration, most: Duration) -> i64 {
    i64::try_from(length.min(most).as_millis()).unwrap_or(i64::MAX)
}
