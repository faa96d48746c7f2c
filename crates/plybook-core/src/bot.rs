//! The bot that plays for a seat, as the header pins it.
//!
//! Invariant: strategy, version and budget, with the seed, say which action a bot chooses; so whoever has a
//! closed book can choose again. What the strategies are, this crate does not know.

use std::fmt;

use crate::{limits, scan};

/// A strategy with its budget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bot {
    /// The strategy's name: `[a-z][a-z0-9_]*`, 32 bytes at most.
    pub strategy: String,
    /// Its version, from 1.
    pub version: u32,
    /// What it may spend on a choice: 1 to [`limits::BOT_NODES_MAX`] nodes.
    pub nodes: u64,
}

impl Bot {
    /// Reads what is printed.
    pub(crate) fn parse(text: &str) -> Result<Bot, scan::Why> {
        let (id, nodes) = text.split_once(' ').ok_or_else(|| format!("{text:?} is not a bot"))?;
        let (strategy, version) = id.split_once('@').ok_or_else(|| format!("{id:?} is not a strategy"))?;
        let bot = Bot { strategy: scan::name(strategy)?.to_owned(), version: scan::number(version)?, nodes: scan::number(nodes)? };
        bot.check().map(|()| bot)
    }

    /// Whether a header may pin it.
    pub fn check(&self) -> Result<(), String> {
        scan::name(&self.strategy)?;
        if self.version == 0 {
            return Err("a strategy's version is a number from 1".to_owned());
        }
        if (1..=limits::BOT_NODES_MAX).contains(&self.nodes) {
            return Ok(());
        }
        Err(format!("a bot has 1 to {} nodes", limits::BOT_NODES_MAX))
    }
}

/// As in a header: `minimax@1 20000`.
impl fmt::Display for Bot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{} {}", self.strategy, self.version, self.nodes)
    }
}
