//! A header with its rules.
//!
//! Invariant: this is all it takes to turn a line of the book into an event; no position is needed.

use std::sync::Arc;

use plybook_core::{Header, Rules};
use uuid::Uuid;

/// A header with its rules.
#[derive(Debug)]
pub struct Opened {
    /// Entry 1.
    pub header: Header,
    /// What it pins.
    pub rules: Arc<dyn Rules>,
    /// The request that created the game: no other request to it may have this id.
    pub request_id: Uuid,
}

impl Opened {
    /// About how much memory it takes, in bytes: the header's words, and the rules made from them.
    pub fn weight(&self) -> u32 {
        const BASE_BYTES: usize = 1_024;
        u32::try_from(BASE_BYTES + 2 * self.header.to_string().len()).unwrap_or(u32::MAX)
    }
}
