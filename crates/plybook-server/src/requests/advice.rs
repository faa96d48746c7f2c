//! The shape of what asks for advice.

use std::sync::Arc;

use plybook_bots::strategy::Card;
use plybook_bots::{Bots, Budget, Strategy};
use plybook_proto::v1;

use crate::limits::ANALYSIS_NODES_DEFAULT;
use crate::refusal::Refusal;

/// The strategy that is named, in its newest version where none is.
pub fn strategy(bots: &Bots, spec: &v1::StrategySpec) -> Result<Arc<dyn Strategy>, Refusal> {
    if spec.id.is_empty() {
        return Err(Refusal::field("strategy.id", "is required where a strategy is named: ListStrategies tells them"));
    }
    let version = (spec.version > 0).then_some(spec.version);
    Ok(Arc::clone(bots.find(&spec.id, version)?))
}

/// Holds nodes against the limits: the node's own, `most`, and the strategy's where one is named.
pub fn within(nodes: u64, most: u64, card: Option<&Card>) -> Result<(), Refusal> {
    if nodes > most {
        return Err(Refusal::Limit { limit: "advice_nodes_max", most });
    }
    match card.map(|card| card.most_budget.0).filter(|most| nodes > *most) {
        Some(most) => Err(Refusal::Limit { limit: "strategy_nodes", most }),
        None => Ok(()),
    }
}

/// What a strategy may spend.
pub fn budget(nodes: u64, most: u64, card: &Card) -> Result<Budget, Refusal> {
    within(nodes, most, Some(card))?;
    Ok(Budget(if nodes == 0 { card.default_budget.0.min(most) } else { nodes }))
}

/// What an analysis may spend.
pub fn analysis_budget(nodes: u64, most: u64) -> Result<Budget, Refusal> {
    within(nodes, most, None)?;
    Ok(Budget(if nodes == 0 { ANALYSIS_NODES_DEFAULT.min(most) } else { nodes }))
}

/// How many actions an analysis tells.
pub fn most_actions(wanted: i32, default: u32, most: u32) -> Result<usize, Refusal> {
    match u32::try_from(wanted) {
        Ok(0) => Ok(default as usize),
        Ok(wanted) => Ok(wanted.min(most) as usize),
        Err(_) => Err(Refusal::field("max_actions", "is negative")),
    }
}
