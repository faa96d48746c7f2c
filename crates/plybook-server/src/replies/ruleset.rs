//! Rulesets and parameters.

use plybook_core::params::ParamSpec;
use plybook_core::{Card, ParamValue, Params, RulesetId};
use plybook_proto::v1::{self, param_value::Value};

/// A pinned ruleset with all its parameters.
pub fn spec(id: &RulesetId, params: &Params) -> v1::RulesetSpec {
    let params = params.values().iter().map(|(name, given)| (name.clone(), value(given))).collect();
    v1::RulesetSpec { id: id.name.clone(), version: id.version, params }
}

/// What a ruleset publishes of itself.
pub fn card(card: &Card, is_default: bool) -> v1::Ruleset {
    v1::Ruleset {
        id: card.name.to_owned(),
        version: card.version,
        title: card.title.to_owned(),
        params: card.params.iter().map(param).collect(),
        seats_min: u32::from(card.seats.0),
        seats_max: u32::from(card.seats.1),
        chance: card.chance,
        action_shapes: card.shapes.iter().map(|shape| shape.name().to_owned()).collect(),
        is_default,
    }
}

fn param(spec: &ParamSpec) -> v1::ParamSpec {
    v1::ParamSpec {
        name: spec.name.to_owned(),
        default_value: Some(value(&spec.default)),
        min: spec.bounds.map(|(min, _)| min),
        max: spec.bounds.map(|(_, max)| max),
        help: spec.help.to_owned(),
        choices: spec.choices.iter().map(|choice| (*choice).to_owned()).collect(),
        max_items: spec.max_len.map(|most| most as u32),
    }
}

fn value(value: &ParamValue) -> v1::ParamValue {
    let value = match value {
        ParamValue::Int(n) => Value::IntValue(*n),
        ParamValue::Bool(flag) => Value::BoolValue(*flag),
        ParamValue::Text(word) => Value::StringValue(word.clone()),
        ParamValue::IntList(list) => Value::IntList(v1::IntList { values: list.clone() }),
    };
    v1::ParamValue { value: Some(value) }
}
