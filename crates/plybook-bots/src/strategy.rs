//! A way to choose an action.
//!
//! Invariant: the same view, budget and chance give the same answer on every machine. A choice that was
//! broken off would not, so there is none: [`NoChoice::Stopped`].

use std::cmp::Reverse;
use std::fmt;

use plybook_core::Action;

use crate::chance::Chance;
use crate::meaning::Counted;
use crate::meter::{Budget, Meter};
use crate::score::Score;
use crate::view::View;

/// Name and version of a strategy, printed `minimax@1`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StrategyId {
    /// `[a-z][a-z0-9_]*`.
    pub name: String,
    /// From 1.
    pub version: u32,
}

impl StrategyId {
    /// An id.
    pub fn new(name: impl Into<String>, version: u32) -> StrategyId {
        StrategyId { name: name.into(), version }
    }
}

impl fmt::Display for StrategyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.name, self.version)
    }
}

/// What a strategy publishes of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Card {
    /// `[a-z][a-z0-9_]*`.
    pub name: &'static str,
    /// From 1.
    pub version: u32,
    /// For people.
    pub title: &'static str,
    /// The budget where none is given.
    pub default_budget: Budget,
    /// The greatest budget that makes sense.
    pub most_budget: Budget,
    /// The rulesets that it plays, in any version; empty where it plays every one.
    pub rulesets: &'static [&'static str],
}

impl Card {
    /// Name and version.
    pub fn id(&self) -> StrategyId {
        StrategyId::new(self.name, self.version)
    }
}

/// What a strategy answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The action: legal, for the seat to move.
    pub action: Action,
    /// How good it is for that seat, as far as the strategy knows.
    pub score: Score,
    /// Whether the score tells for certain who wins, or that nobody does, under best play by everybody.
    pub exact: bool,
    /// What the sizes of wins and losses among the scores count.
    pub counted: Counted,
    /// Nodes that were spent.
    pub nodes: u64,
    /// What is known of the legal actions, best first. Others were not looked at, or only so far as to
    /// see that they are not better.
    pub scores: Vec<(Action, Score)>,
}

impl Choice {
    /// The best of `scores`, by chance among equals; nothing if there is none.
    pub(crate) fn best(mut scores: Vec<(Action, Score)>, nodes: u64, chance: &mut Chance) -> Option<Choice> {
        // Stable: equals keep their order.
        scores.sort_by_key(|(_, score)| Reverse(*score));
        let best = scores.first()?.1;
        let equals = scores.iter().take_while(|(_, score)| *score == best).count();
        let (action, score) = *chance.pick(&scores[..equals])?;
        Some(Choice { action, score, exact: false, counted: Counted::Plies, nodes, scores })
    }
}

/// Why there is no choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoChoice {
    /// The game is over, or the strategy does not play it.
    #[error("there is nothing to choose")]
    Nothing,
    /// Whoever asked did not want to know any more.
    #[error("the search was stopped")]
    Stopped,
}

/// A bot: one file and one line in the registry.
pub trait Strategy: Send + Sync {
    /// What it publishes of itself.
    fn card(&self) -> Card;

    /// Whether it plays this game with these parameters and seats. It then plays every position of it.
    fn plays(&self, view: &View<'_>) -> bool {
        let rulesets = self.card().rulesets;
        rulesets.is_empty() || rulesets.contains(&view.ruleset().name.as_str())
    }

    /// An action for the seat to move. `chance` is the bot's own.
    fn choose(&self, view: &View<'_>, meter: &mut Meter<'_>, chance: &mut Chance) -> Result<Choice, NoChoice>;
}
