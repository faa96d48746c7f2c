//! Which rulesets this build knows.
//!
//! Invariant: id and version together are unique, and a version that was ever released stays.

use std::collections::BTreeMap;
use std::sync::Arc;

use plybook_core::params::BadParam;
use plybook_core::verify::{NoRules, Rulebook};
use plybook_core::{Card, Header, ParamValue, Params, Rules, Ruleset, RulesetId};

use crate::connect_four::ConnectFour;
use crate::gomoku::Gomoku;
use crate::mnk::Mnk;
use crate::othello::Othello;
use crate::snakes_and_ladders::SnakesAndLadders;

/// The rulesets of a build, by name and version.
#[derive(Clone, Default)]
pub struct Registry {
    rulesets: BTreeMap<RulesetId, Registered>,
}

#[derive(Clone)]
struct Registered {
    card: Arc<Card>,
    ruleset: Arc<dyn Ruleset>,
    /// Whether who names no version may get this one.
    by_default: bool,
}

/// Why there are no rules for a request or a header.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegistryError {
    /// No ruleset has this name.
    #[error("there is no ruleset {name:?}; known are {}", known.join(", "))]
    Unknown {
        /// The name asked for.
        name: String,
        /// The names there are.
        known: Vec<String>,
    },
    /// The ruleset has no such version in this build.
    #[error("ruleset {id} is not in this build; known versions are {}", known.iter().map(u32::to_string).collect::<Vec<_>>().join(", "))]
    Version {
        /// The id asked for.
        id: RulesetId,
        /// The versions there are.
        known: Vec<u32>,
    },
    /// A parameter or the number of seats is refused.
    #[error(transparent)]
    Param(#[from] BadParam),
}

impl Registry {
    /// Every ruleset of this release.
    pub fn standard() -> Registry {
        Registry::default()
            .with(Arc::new(ConnectFour::V1))
            .knowing(Arc::new(ConnectFour::V2))
            .with(Arc::new(Gomoku))
            .with(Arc::new(Mnk))
            .with(Arc::new(Othello))
            .with(Arc::new(SnakesAndLadders))
    }

    /// The same and one more, which who names no version gets if it is the newest. A name and version
    /// may be registered once.
    #[must_use]
    pub fn with(self, ruleset: Arc<dyn Ruleset>) -> Registry {
        self.register(ruleset, true)
    }

    /// The same and one more, which only those get who name its version. So a new version begins:
    /// while nodes of the release before still run, they could not go on with its games.
    #[must_use]
    pub fn knowing(self, ruleset: Arc<dyn Ruleset>) -> Registry {
        self.register(ruleset, false)
    }

    fn register(mut self, ruleset: Arc<dyn Ruleset>, by_default: bool) -> Registry {
        let card = Arc::new(ruleset.card());
        let id = card.id();
        let earlier = self.rulesets.insert(id.clone(), Registered { card, ruleset, by_default });
        assert!(earlier.is_none(), "{id} is registered once");
        self
    }

    /// What the rulesets publish of themselves, by name and version.
    pub fn cards(&self) -> impl Iterator<Item = &Card> {
        self.rulesets.values().map(|registered| registered.card.as_ref())
    }

    /// The card of a version, or of the default one where no version is named.
    pub fn card(&self, name: &str, version: Option<u32>) -> Result<&Card, RegistryError> {
        self.find(name, version).map(|registered| registered.card.as_ref())
    }

    /// The rules for what a caller asks: the version that they are, and the parameters completed.
    pub fn choose(
        &self,
        name: &str,
        version: Option<u32>,
        given: BTreeMap<String, ParamValue>,
        seats: u8,
    ) -> Result<(RulesetId, Params, Arc<dyn Rules>), RegistryError> {
        let registered = self.find(name, version)?;
        let params = Params::complete(&registered.card.params, given)?;
        let rules = registered.build(&params, seats)?;
        Ok((registered.card.id(), params, rules))
    }

    /// The rules that a header pins.
    pub fn rules_of(&self, header: &Header) -> Result<Arc<dyn Rules>, RegistryError> {
        let registered = self.find(&header.ruleset.name, Some(header.ruleset.version))?;
        let params = Params::complete(&registered.card.params, header.params.values().clone())?;
        if params != header.params {
            return Err(BadParam::new("params", "a parameter is missing from the header").into());
        }
        registered.build(&params, header.seat_count())
    }

    fn find(&self, name: &str, version: Option<u32>) -> Result<&Registered, RegistryError> {
        let versions: Vec<(&RulesetId, &Registered)> = self.rulesets.iter().filter(|(id, _)| id.name == name).collect();
        if versions.is_empty() {
            let mut known: Vec<String> = self.rulesets.keys().map(|id| id.name.clone()).collect();
            known.dedup();
            return Err(RegistryError::Unknown { name: name.to_owned(), known });
        }
        let found = match version {
            Some(version) => versions.iter().find(|(id, _)| id.version == version),
            None => versions.iter().rfind(|(_, registered)| registered.by_default),
        };
        found.map(|(_, registered)| *registered).ok_or_else(|| RegistryError::Version {
            id: RulesetId::new(name, version.unwrap_or(0)),
            known: versions.iter().map(|(id, _)| id.version).collect(),
        })
    }
}

impl Rulebook for Registry {
    fn rules_of(&self, header: &Header) -> Result<Arc<dyn Rules>, NoRules> {
        Registry::rules_of(self, header).map_err(|error| match error {
            RegistryError::Param(bad) => NoRules::Refused(bad.to_string()),
            lacking => NoRules::Unsupported(lacking.to_string()),
        })
    }
}

impl Registered {
    fn build(&self, params: &Params, seats: u8) -> Result<Arc<dyn Rules>, RegistryError> {
        let (fewest, most) = self.card.seats;
        if !(fewest..=most).contains(&seats) {
            return Err(BadParam::new("seats", format!("{} takes {fewest} to {most} seats, not {seats}", self.card.name)).into());
        }
        Ok(self.ruleset.build(params, seats)?)
    }
}
