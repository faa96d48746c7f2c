//! A kind of game, before its parameters are chosen.
//!
//! Invariant: the meaning of an id with a version never changes. A changed rule is a new version.

use std::fmt;
use std::sync::Arc;

use crate::action::Shape;
use crate::params::{BadParam, ParamSpec, Params};
use crate::rules::Rules;

/// Id and version of a ruleset, printed `mnk@1`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RulesetId {
    /// `[a-z][a-z0-9_]*`.
    pub name: String,
    /// From 1.
    pub version: u32,
}

impl RulesetId {
    /// An id.
    pub fn new(name: impl Into<String>, version: u32) -> RulesetId {
        RulesetId { name: name.into(), version }
    }
}

impl fmt::Display for RulesetId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.name, self.version)
    }
}

/// What a ruleset publishes of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Card {
    /// `[a-z][a-z0-9_]*`.
    pub name: &'static str,
    /// From 1.
    pub version: u32,
    /// For people.
    pub title: &'static str,
    /// Fewest and most seats.
    pub seats: (u8, u8),
    /// Whether it throws dice.
    pub chance: bool,
    /// Every shape of action that some parameters accept.
    pub shapes: &'static [Shape],
    /// Its parameters.
    pub params: Vec<ParamSpec>,
}

impl Card {
    /// Id and version.
    pub fn id(&self) -> RulesetId {
        RulesetId::new(self.name, self.version)
    }
}

/// A kind of game: one file and one line in the registry.
pub trait Ruleset: Send + Sync {
    /// What it publishes of itself.
    fn card(&self) -> Card;

    /// The rules for complete `params` and a number of seats inside [`Card::seats`], or why there
    /// are none.
    fn build(&self, params: &Params, seats: u8) -> Result<Arc<dyn Rules>, BadParam>;
}
