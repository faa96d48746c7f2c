//! Parameters of a ruleset: their published specification and a game's values.
//!
//! Invariant: a game's [`Params`] are complete. Every parameter of the ruleset is there, of the
//! right type and inside its bounds, and no other.

use std::collections::BTreeMap;
use std::fmt;

/// One value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParamValue {
    /// A number.
    Int(i64),
    /// Yes or no.
    Bool(bool),
    /// A word.
    Text(String),
    /// Numbers, such as flattened pairs of squares.
    IntList(Vec<i64>),
}

impl ParamValue {
    /// The name of its type.
    pub const fn type_name(&self) -> &'static str {
        match self {
            ParamValue::Int(_) => "int",
            ParamValue::Bool(_) => "bool",
            ParamValue::Text(_) => "text",
            ParamValue::IntList(_) => "list of ints",
        }
    }
}

/// What a ruleset publishes of one parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParamSpec {
    /// `[a-z][a-z0-9_]*`.
    pub name: &'static str,
    /// The value where the caller gives none; its type is the parameter's type.
    pub default: ParamValue,
    /// Least and greatest number, for ints and for each number of a list.
    pub bounds: Option<(i64, i64)>,
    /// Most numbers in a list.
    pub max_len: Option<usize>,
    /// The words accepted; empty where any is, or where the parameter is no word.
    pub choices: &'static [&'static str],
    /// One sentence for people.
    pub help: &'static str,
}

impl ParamSpec {
    /// A number between two bounds, both allowed.
    pub const fn int(name: &'static str, default: i64, bounds: (i64, i64), help: &'static str) -> ParamSpec {
        ParamSpec { name, default: ParamValue::Int(default), bounds: Some(bounds), max_len: None, choices: &[], help }
    }

    /// Yes or no.
    pub const fn flag(name: &'static str, default: bool, help: &'static str) -> ParamSpec {
        ParamSpec { name, default: ParamValue::Bool(default), bounds: None, max_len: None, choices: &[], help }
    }

    /// A word; `choices` is empty where the ruleset's constructor checks it alone.
    pub fn word(name: &'static str, default: &str, choices: &'static [&'static str], help: &'static str) -> ParamSpec {
        ParamSpec { name, default: ParamValue::Text(default.to_owned()), bounds: None, max_len: None, choices, help }
    }

    /// At most `max_len` numbers between two bounds.
    pub const fn list(name: &'static str, max_len: usize, bounds: (i64, i64), help: &'static str) -> ParamSpec {
        ParamSpec { name, default: ParamValue::IntList(Vec::new()), bounds: Some(bounds), max_len: Some(max_len), choices: &[], help }
    }

    fn check(&self, value: &ParamValue) -> Result<(), BadParam> {
        let bad = |why: String| Err(BadParam::new(self.name, why));
        let inside = |n: &i64| self.bounds.is_none_or(|(min, max)| (min..=max).contains(n));
        let (min, max) = self.bounds.unwrap_or((i64::MIN, i64::MAX));
        match (value, &self.default) {
            (ParamValue::Int(n), ParamValue::Int(_)) if !inside(n) => bad(format!("{n} is not between {min} and {max}")),
            (ParamValue::IntList(list), ParamValue::IntList(_)) => {
                let most = self.max_len.unwrap_or(usize::MAX);
                if list.len() > most {
                    return bad(format!("{} numbers are more than {most}", list.len()));
                }
                match list.iter().find(|n| !inside(n)) {
                    Some(n) => bad(format!("{n} is not between {min} and {max}")),
                    None => Ok(()),
                }
            }
            (ParamValue::Text(word), ParamValue::Text(_)) if !self.choices.is_empty() && !self.choices.contains(&word.as_str()) => {
                bad(format!("{word:?} is none of {}", self.choices.join(", ")))
            }
            (value, default) if value.type_name() != default.type_name() => {
                bad(format!("is of type {}, not {}", default.type_name(), value.type_name()))
            }
            _ => Ok(()),
        }
    }
}

/// Why a parameter is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name}: {why}")]
pub struct BadParam {
    /// The parameter, or `seats`.
    pub name: String,
    /// Why, in one clause.
    pub why: String,
}

impl BadParam {
    /// A refusal.
    pub fn new(name: impl Into<String>, why: impl Into<String>) -> BadParam {
        BadParam { name: name.into(), why: why.into() }
    }
}

/// The complete parameters of one game, in ascending order of name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Params(BTreeMap<String, ParamValue>);

impl Params {
    /// Checks what a caller gave against `specs` and fills in the defaults.
    pub fn complete(specs: &[ParamSpec], given: BTreeMap<String, ParamValue>) -> Result<Params, BadParam> {
        if let Some(unknown) = given.keys().find(|name| !specs.iter().any(|spec| spec.name == name.as_str())) {
            let known: Vec<&str> = specs.iter().map(|spec| spec.name).collect();
            return Err(BadParam::new(unknown.clone(), format!("is not a parameter; known are {}", known.join(", "))));
        }
        let mut values = given;
        for spec in specs {
            match values.get(spec.name) {
                Some(value) => spec.check(value)?,
                None => {
                    values.insert(spec.name.to_owned(), spec.default.clone());
                }
            }
        }
        Ok(Params(values))
    }

    /// Values as a header gives them, not yet checked against a specification.
    pub fn unchecked(values: BTreeMap<String, ParamValue>) -> Params {
        Params(values)
    }

    /// The values.
    pub const fn values(&self) -> &BTreeMap<String, ParamValue> {
        &self.0
    }

    /// A number that the specification has.
    pub fn int(&self, name: &str) -> i64 {
        match self.0.get(name) {
            Some(ParamValue::Int(n)) => *n,
            other => unreachable_param(name, "int", other),
        }
    }

    /// A flag that the specification has.
    pub fn flag(&self, name: &str) -> bool {
        match self.0.get(name) {
            Some(ParamValue::Bool(flag)) => *flag,
            other => unreachable_param(name, "bool", other),
        }
    }

    /// A word that the specification has.
    pub fn text(&self, name: &str) -> &str {
        match self.0.get(name) {
            Some(ParamValue::Text(word)) => word,
            other => unreachable_param(name, "text", other),
        }
    }

    /// A list that the specification has.
    pub fn list(&self, name: &str) -> &[i64] {
        match self.0.get(name) {
            Some(ParamValue::IntList(list)) => list,
            other => unreachable_param(name, "list", other),
        }
    }
}

/// [`Params::complete`] guarantees names and types, so only a ruleset's own typing error comes here.
fn unreachable_param(name: &str, wanted: &str, have: impl fmt::Debug) -> ! {
    panic!("the ruleset's specification has no {wanted} named {name} (found {have:?})")
}
