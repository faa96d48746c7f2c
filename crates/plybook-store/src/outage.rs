//! Times when no node was there.
//!
//! Invariant: a gap between two beats, whoever's they are, is recorded once and whole, by the beat that ends it. A node
//! that beats before it settles anything so knows of every outage that lies behind it.

use std::time::Duration;

use plybook_core::Time;

/// So many are remembered; whoever records one more forgets the oldest.
pub const OUTAGES_KEPT: u32 = 10_000;

/// The longest silence that can be asked for; a longer one is taken for this.
pub const SILENCE_MAX: Duration = Duration::from_secs(366 * 24 * 60 * 60);

/// A time when no node was there, or none that reached the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Outage {
    /// The last beat of anybody before it.
    pub from: Time,
    /// The beat that ended it.
    pub to: Time,
}
