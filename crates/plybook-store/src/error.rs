//! Why a store cannot answer.
//!
//! Invariant: a caller can tell "try again with the same request id" from "something is broken".

use plybook_core::{Seq, Uuid};

use crate::fault::INSUFFICIENT_PRIVILEGE;

/// Why a store cannot answer.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// The database is away, too slow or out of connections. An append may or may not have been
    /// stored: repeat it with the same request id.
    #[error("the store is unavailable: {0}")]
    Unavailable(String),
    /// More than may are waiting. Nothing was done; try again later.
    #[error("{most} are waiting already ({limit})")]
    Busy {
        /// The limit's name.
        limit: &'static str,
        /// Its value.
        most: u64,
    },
    /// What is stored cannot be what was written.
    #[error("the store is corrupt: {0}")]
    Corrupt(String),
    /// A book has a hole: an entry is not there, and a later one is.
    #[error("entry {seq} of game {game} is missing")]
    Missing {
        /// Of which game.
        game: Uuid,
        /// The first entry that is not there.
        seq: Seq,
    },
    /// The entry at which a feed was left is not there: the books went back in time, or are others.
    #[error("the entry at which the feed was left is not in these books")]
    Expired,
    /// The database refuses the statement itself: a wrong schema, missing rights, a fault of ours.
    #[error("the store failed: {0}")]
    Failed(String),
    /// The database address or its options make no sense, or the schema is not migrated.
    #[error("{0}")]
    Config(String),
}

impl Error {
    /// Whether it is rights that are missing: another role of the database may do it.
    pub fn is_denied(&self) -> bool {
        matches!(self, Error::Failed(why) if why.ends_with(&format!("({INSUFFICIENT_PRIVILEGE})")))
    }
}
