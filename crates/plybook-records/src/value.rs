//! A parameter as text: `name=value`, typed by what its ruleset publishes.
//!
//! Invariant: the type of a value comes from the published default, never from how the text looks.

use plybook_core::ParamValue;

/// Splits `name=value`.
pub fn split(pair: &str) -> Result<(&str, &str), String> {
    let split = pair.split_once('=').filter(|(name, _)| !name.is_empty());
    split.ok_or_else(|| format!("{pair:?} is not of the form NAME=VALUE"))
}

/// A value of the type of `default`.
pub fn read(name: &str, text: &str, default: &ParamValue) -> Result<ParamValue, String> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(default: ParamValue, text: &str, read_as: Option<ParamValue>) {
        assert_eq!(read("p", text, &default).ok(), read_as);
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
    fn pairs_are_split_at_the_first_sign() {
        assert_eq!(split("a=b=c"), Ok(("a", "b=c")));
        assert!(split("rows").is_err() && split("=3").is_err());
    }
}
