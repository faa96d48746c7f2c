//! What bots found.

use plybook_bots::strategy::Card;
use plybook_bots::{Meaning, View, filled};
use plybook_core::{Action, Cell, Rules, Seat};
use plybook_proto::v1::{self, score::Value};

use crate::limits::ADVICE_CELLS_MAX;
use crate::replies;

/// What a strategy publishes of itself.
pub fn strategy(card: &Card, is_default: bool) -> v1::Strategy {
    v1::Strategy {
        id: card.name.to_owned(),
        version: card.version,
        title: card.title.to_owned(),
        default_nodes: card.default_budget.0,
        most_nodes: card.most_budget.0,
        ruleset_ids: card.rulesets.iter().map(|id| (*id).to_owned()).collect(),
        is_default,
    }
}

/// How good something is.
pub fn score(meaning: Meaning, exact: bool) -> v1::Score {
    let value = match meaning {
        Meaning::WinIn(plies) => Value::WinInPlies(plies),
        Meaning::LossIn(plies) => Value::LossInPlies(plies),
        Meaning::WinBy(points) => Value::WinByPoints(points),
        Meaning::LossBy(points) => Value::LossByPoints(points),
        Meaning::Draw => Value::Draw(v1::Draw {}),
        Meaning::Estimate(value) => Value::Estimate(value),
    };
    v1::Score { exact: exact && !matches!(value, Value::Estimate(_)), value: Some(value) }
}

/// An action with what it is worth.
pub fn scored(rules: &dyn Rules, action: Action, score: v1::Score, cells: Vec<u32>) -> v1::ScoredAction {
    v1::ScoredAction { action: Some(replies::action(action)), notation: rules.write_action(action), score: Some(score), cells }
}

/// The cells that actions of the seat to move name.
pub fn cells(view: &View<'_>, actions: &[Action]) -> Vec<Vec<u32>> {
    view.seat().map_or_else(Vec::new, |seat| named(view, seat, actions))
}

/// Actions with which a seat would win at once.
pub fn threats(view: &View<'_>, seat: Seat, actions: &[Action]) -> v1::SeatThreats {
    let threat = |(action, cells): (&Action, Vec<u32>)| v1::Threat {
        action: Some(replies::action(*action)),
        notation: view.rules().write_action(*action),
        cells,
    };
    let threats = actions.iter().zip(named(view, seat, actions)).map(threat).collect();
    v1::SeatThreats { seat: replies::seat(seat), threats }
}

fn named(view: &View<'_>, seat: Seat, actions: &[Action]) -> Vec<Vec<u32>> {
    if actions.is_empty() {
        return Vec::new();
    }
    let told = |cells: Vec<Cell>| cells.iter().take(ADVICE_CELLS_MAX).map(|cell| cell.0).collect();
    filled(view, seat, actions).into_iter().map(told).collect()
}
