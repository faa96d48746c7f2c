//! Which strategies this build knows.
//!
//! Invariant: name and version together are unique, and a version that was ever released stays.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::heuristic::Heuristic;
use crate::mcts::Mcts;
use crate::minimax::Minimax;
use crate::perfect::Perfect;
use crate::random::Random;
use crate::strategy::{Card, Strategy, StrategyId};

/// The strategies of a build, by name and version.
#[derive(Clone, Default)]
pub struct Bots {
    strategies: BTreeMap<StrategyId, Arc<dyn Strategy>>,
}

/// There is no such strategy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no strategy {asked}; known are {}", known.iter().map(StrategyId::to_string).collect::<Vec<_>>().join(", "))]
pub struct UnknownStrategy {
    /// What was asked for: a name, or a name with a version.
    pub asked: String,
    /// What there is.
    pub known: Vec<StrategyId>,
}

impl Bots {
    /// Every strategy of this release.
    pub fn standard() -> Bots {
        Bots::default()
            .with(Arc::new(Random))
            .with(Arc::new(Heuristic))
            .with(Arc::new(Minimax))
            .with(Arc::new(Mcts))
            .with(Arc::new(Perfect))
    }

    /// The same and one more. A name and version may be registered once.
    #[must_use]
    pub fn with(mut self, strategy: Arc<dyn Strategy>) -> Bots {
        let id = strategy.card().id();
        let earlier = self.strategies.insert(id.clone(), strategy);
        assert!(earlier.is_none(), "{id} is registered once");
        self
    }

    /// What the strategies publish of themselves, by name and version.
    pub fn cards(&self) -> impl Iterator<Item = Card> {
        self.strategies.values().map(|strategy| strategy.card())
    }

    /// The strategy of this name, in this version or in its newest one.
    pub fn find(&self, name: &str, version: Option<u32>) -> Result<&Arc<dyn Strategy>, UnknownStrategy> {
        let fits = |id: &StrategyId| id.name == name && version.is_none_or(|version| id.version == version);
        let found = self.strategies.iter().rfind(|(id, _)| fits(id)).map(|(_, strategy)| strategy);
        found.ok_or_else(|| UnknownStrategy {
            asked: version.map_or_else(|| name.to_owned(), |version| StrategyId::new(name, version).to_string()),
            known: self.strategies.keys().cloned().collect(),
        })
    }
}
