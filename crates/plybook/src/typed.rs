//! Parameters from the command line: `name=value`, typed by what the ruleset publishes.
//!
//! Invariant: the type of a value comes from the published default, never from how the text looks.

use std::collections::HashMap;

use plybook_core::ParamValue;
use plybook_proto::v1;
use plybook_proto::v1::param_value::Value;
use plybook_records::value::{read, split};

/// The parameters for a ruleset as a server publishes it.
pub(crate) fn for_ruleset(ruleset: &v1::Ruleset, pairs: &[String]) -> Result<HashMap<String, v1::ParamValue>, String> {
    let mut params = HashMap::new();
    for pair in pairs {
        let (name, text) = split(pair)?;
        let Some(spec) = ruleset.params.iter().find(|spec| spec.name == name) else {
            let known: Vec<&str> = ruleset.params.iter().map(|spec| spec.name.as_str()).collect();
            return Err(format!("{name} is no parameter of {}; known are {}", ruleset.id, known.join(", ")));
        };
        let default = spec.default_value.as_ref().and_then(from_wire).ok_or_else(|| format!("{name}: its type is unknown here"))?;
        let value = read(name, text, &default)?;
        if params.insert(name.to_owned(), to_wire(&value)).is_some() {
            return Err(format!("{name} is given twice"));
        }
    }
    Ok(params)
}

/// As the contract has it.
pub(crate) fn to_wire(value: &ParamValue) -> v1::ParamValue {
    let value = match value {
        ParamValue::Int(n) => Value::IntValue(*n),
        ParamValue::Bool(flag) => Value::BoolValue(*flag),
        ParamValue::Text(word) => Value::StringValue(word.clone()),
        ParamValue::IntList(values) => Value::IntList(v1::IntList { values: values.clone() }),
    };
    v1::ParamValue { value: Some(value) }
}

/// As the core has it; nothing for a type that this build does not know.
pub(crate) fn from_wire(value: &v1::ParamValue) -> Option<ParamValue> {
    Some(match value.value.as_ref()? {
        Value::IntValue(n) => ParamValue::Int(*n),
        Value::BoolValue(flag) => ParamValue::Bool(*flag),
        Value::StringValue(word) => ParamValue::Text(word.clone()),
        Value::IntList(list) => ParamValue::IntList(list.values.clone()),
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;

    #[test]
    fn values_go_over_the_wire_and_come_back() {
        for value in [ParamValue::Int(3), ParamValue::Bool(true), ParamValue::Text("run".into()), ParamValue::IntList(vec![1, 38])] {
            assert_eq!(from_wire(&to_wire(&value)), Some(value));
        }
    }

    #[test]
    fn unknown_and_double_names_are_refused() {
        let spec = v1::ParamSpec { name: "rows".into(), default_value: Some(to_wire(&ParamValue::Int(3))), ..Default::default() };
        let ruleset = v1::Ruleset { id: "mnk".into(), params: vec![spec], ..Default::default() };
        let pairs = |pairs: &[&str]| for_ruleset(&ruleset, &pairs.iter().map(|pair| (*pair).to_owned()).collect::<Vec<_>>());
        assert_eq!(pairs(&["rows=4"]).unwrap()["rows"], to_wire(&ParamValue::Int(4)));
        for bad in [&["rows"][..], &["=3"], &["row=3"], &["rows=3", "rows=3"]] {
            assert!(pairs(bad).is_err(), "{bad:?}");
        }
    }
}
