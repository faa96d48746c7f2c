//! Parameters as a test writes them: `3`, `true`, `"run"`, a list of squares.
//!
//! Invariant: a value is carried over as it is; the ruleset checks it.

use plybook_core::ParamValue;

/// A parameter's value as a test writes it.
pub struct Value(ParamValue);

impl From<i64> for Value {
    fn from(n: i64) -> Value {
        Value(ParamValue::Int(n))
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Value {
        Value(ParamValue::Bool(flag))
    }
}

impl From<&str> for Value {
    fn from(word: &str) -> Value {
        Value(ParamValue::Text(word.to_owned()))
    }
}

impl From<&[i64]> for Value {
    fn from(list: &[i64]) -> Value {
        Value(ParamValue::IntList(list.to_vec()))
    }
}

impl From<ParamValue> for Value {
    fn from(value: ParamValue) -> Value {
        Value(value)
    }
}

impl From<Value> for ParamValue {
    fn from(value: Value) -> ParamValue {
        value.0
    }
}
