//! A header with its rules.
//!
//! Invariant: this is all it takes to turn a line of the book into an event; no position is needed.

use std::sync::Arc;

use plybook_core::{Header, Rules, Seq};
use plybook_rulesets::RegistryError;
use plybook_store::Foreign;
use uuid::Uuid;

use crate::refusal::Refusal;

/// A header with its rules.
#[derive(Debug)]
pub struct Opened {
    /// Entry 1.
    pub header: Header,
    /// What it pins. Only of a foreign game they may be missing: what is evidence can be read without them.
    pub rules: Result<Arc<dyn Rules>, RegistryError>,
    /// The request that created the game: no other request to it may have this id.
    pub request_id: Uuid,
    /// Set where the game was played elsewhere: nothing is appended to it.
    pub foreign: Option<Foreign>,
}

impl Opened {
    /// The rules, for whoever cannot do without.
    pub fn rules(&self) -> Result<&Arc<dyn Rules>, Refusal> {
        self.rules.as_ref().map_err(|error| no_rules(&self.header, error.clone()))
    }

    /// About how much memory it takes, in bytes: the header's words, and the rules made from them.
    pub fn weight(&self) -> u32 {
        const BASE_BYTES: usize = 1_024;
        u32::try_from(BASE_BYTES + 2 * self.header.to_string().len()).unwrap_or(u32::MAX)
    }
}

/// Why a stored header has no rules here. It is whole, so parameters that no request could have were accepted once.
pub(super) fn no_rules(header: &Header, error: RegistryError) -> Refusal {
    match error {
        RegistryError::Param(bad) => {
            Refusal::EntryIllegalNow { first_bad: Seq::FIRST, ruleset: header.ruleset.clone(), rule: None, why: bad.to_string() }
        }
        other => other.into(),
    }
}
