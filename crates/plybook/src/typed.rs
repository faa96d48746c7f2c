//! Parameters from the command line: `name=value`, typed by what the ruleset publishes.
//!
//! Invariant: the type of a value comes from the published default, never from how the text looks.

use std::collections::HashMap;

use plybook_core::ParamValue;
use plybook_proto::v1;
use plybook_proto::v1::param_value::Value;

/// Splits `name=value`.
pub(crate) fn split(pair: &str) -> Result<(&str, &str), String> {
    let split = pair.split_once('=').filter(|(name, _)| !name.is_empty());
    split.ok_or_else(|| format!("{pair:?} is not of the form NAME=VALUE"))
}

/// A value of the type of `default`.
pub(crate) fn read(name: &str, text: &str, default: &ParamValue) -> Result<ParamValue, String> {
    let int = |text: &str| text.trim().parse().map_err(|_| format!("{name}: {text:?} is not a number"));
    match default {
        ParamValue::Int(_) => int(text).map(ParamValue::Int),
        ParamValue::Bool(_) => match text {
            "true" | "yes" => Ok(ParamValue::Bool(true)),
            "false" | "no" => Ok(ParamValue::Bool(false)),
            _ => Err(format!("{name}: {text:?} is neither true nor false")),
        },
        ParamValue::Text(_) => Ok(ParamValue::Text(text.to_owned())),
        ParamValue::IntList(_) => {
            let inner = text.trim().trim_start_matches('[').trim_end_matches(']');
            let items = inner.split(',').filter(|_| !inner.is_empty());
            Ok(ParamValue::IntList(items.map(int).collect::<Result<_, _>>()?))
        }
    }
}

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

    #[track_caller]
    fn check(default: ParamValue, text: &str, read_as: Option<ParamValue>) {
        assert_eq!(read("p", text, &default).ok(), read_as);
        assert_eq!(from_wire(&to_wire(&default)), Some(default));
    }

    #[test]
    fn values_have_the_type_of_the_default() {
        check(ParamValue::Int(3), "15", Some(ParamValue::Int(15)));
        check(ParamValue::Int(3), "three", None);
        check(ParamValue::Bool(false), "true", Some(ParamValue::Bool(true)));
        check(ParamValue::Bool(false), "1", None);
        check(ParamValue::Text("run".into()), "15", Some(ParamValue::Text("15".into())));
        check(ParamValue::IntList(vec![]), "[1,38, 4,14]", Some(ParamValue::IntList(vec![1, 38, 4, 14])));
        check(ParamValue::IntList(vec![]), "", Some(ParamValue::IntList(vec![])));
        check(ParamValue::IntList(vec![]), "1,,2", None);
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
