//! One row of the result: a workload's medians, and what it is beside its floors.
//!
//! Invariant: a ratio is the median of the rounds' ratios, never the ratio of two medians, so a slow round
//! slows both of what is compared.

use serde_json::{Map, Value, json};

use super::contender::{Name, Unit};
use super::slice::{Slice, median};

/// A row.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) name: Name,
    pub(super) rounds: usize,
    pub(super) figures: Figures,
    /// The workload's own figures.
    pub(super) more: Vec<(&'static str, f64)>,
    pub(super) beside: Vec<Beside>,
}

/// What is known of everybody who is measured.
#[derive(Clone, Debug)]
pub(super) struct Figures {
    pub(super) rate: f64,
    pub(super) p50_ms: Option<f64>,
    pub(super) p99_ms: Option<f64>,
    /// Of the write-ahead log, a move.
    pub(super) wal_bytes: Option<f64>,
    /// By which the books grew, a move.
    pub(super) book_bytes: Option<f64>,
}

/// A floor that a row stands beside.
#[derive(Clone, Debug)]
pub(super) struct Beside {
    pub(super) floor: Name,
    pub(super) figures: Figures,
    pub(super) ratio: Option<f64>,
    pub(super) p50_ratio: Option<f64>,
    pub(super) p99_ratio: Option<f64>,
}

impl Figures {
    pub(super) fn of(slices: &[Slice], unit: Unit) -> Figures {
        let units: u64 = slices.iter().map(|slice| slice.units).sum();
        let a_move = |bytes: fn(&Slice) -> Option<u64>| {
            let sum: Option<u64> = slices.iter().map(bytes).sum();
            sum.filter(|_| unit == Unit::Moves && units > 0).map(|sum| sum as f64 / units as f64)
        };
        Figures {
            rate: median(slices.iter().map(Slice::rate)).unwrap_or_default(),
            p50_ms: median(slices.iter().filter_map(|slice| slice.percentile_ms(50))),
            p99_ms: median(slices.iter().filter_map(|slice| slice.percentile_ms(99))),
            wal_bytes: a_move(|slice| slice.wal_bytes),
            book_bytes: a_move(|slice| slice.book_bytes),
        }
    }
}

impl Row {
    /// Of the rounds of one contender and of its floors.
    pub(super) fn of(name: &Name, slices: &[Slice], floors: &[(&Name, &[Slice])]) -> Row {
        let beside = floors.iter().map(|(floor, theirs)| {
            let ratio = |figure: fn(&Slice) -> Option<f64>| {
                let both = slices.iter().zip(*theirs).filter_map(|(ours, theirs)| Some((figure(ours)?, figure(theirs)?)));
                median(both.filter(|(_, theirs)| *theirs > 0.0).map(|(ours, theirs)| ours / theirs))
            };
            Beside {
                floor: (*floor).clone(),
                figures: Figures::of(theirs, floor.unit),
                ratio: ratio(|slice| Some(slice.rate())),
                p50_ratio: ratio(|slice| slice.percentile_ms(50)),
                p99_ratio: ratio(|slice| slice.percentile_ms(99)),
            }
        });
        let own = slices.first().map_or(&[][..], |slice| &slice.more);
        let more = own.iter().filter_map(|(name, _)| Some((*name, median(slices.iter().filter_map(|slice| slice.figure(name)))?)));
        Row {
            name: name.clone(),
            rounds: slices.len(),
            figures: Figures::of(slices, name.unit),
            more: more.collect(),
            beside: beside.collect(),
        }
    }

    /// The row as `--json` prints it. A ratio that cannot be had is null.
    pub(super) fn as_json(&self, kinds: &[&str]) -> Value {
        let mut row = Map::new();
        row.insert("workload".to_owned(), self.name.workload.into());
        if let Some(kind) = &self.name.kind {
            row.insert("kind".to_owned(), kind.as_str().into());
        }
        row.insert("callers".to_owned(), self.name.callers.into());
        row.extend(self.name.setting.iter().map(|(name, number)| ((*name).to_owned(), (*number).into())));
        row.insert("rounds".to_owned(), self.rounds.into());
        row.extend(self.figures.as_json(self.name.unit));
        row.extend(self.more.iter().map(|(name, figure)| ((*name).to_owned(), rounded(Some(*figure)))));

        let beside = |kind: &str| self.beside.iter().find(|beside| beside.floor.kind.as_deref() == Some(kind));
        let ratios = |ratio: fn(&Beside) -> Option<f64>| -> Value {
            kinds.iter().map(|kind| ((*kind).to_owned(), rounded(beside(kind).and_then(ratio)))).collect::<Map<_, _>>().into()
        };
        row.insert("ratio".to_owned(), ratios(|beside| beside.ratio));
        row.insert("p50_ratio".to_owned(), ratios(|beside| beside.p50_ratio));
        row.insert("p99_ratio".to_owned(), ratios(|beside| beside.p99_ratio));
        let floors = kinds.iter().filter_map(|kind| beside(kind)).map(|beside| {
            let kind = beside.floor.kind.clone().unwrap_or_default();
            (kind, Value::Object(beside.figures.as_json(beside.floor.unit)))
        });
        row.insert("floors".to_owned(), floors.collect::<Map<_, _>>().into());
        Value::Object(row)
    }
}

impl Figures {
    fn as_json(&self, unit: Unit) -> Map<String, Value> {
        let mut told = Map::new();
        told.insert(format!("{}_per_s", unit.plural()), rounded(Some(self.rate)));
        told.insert("p50_ms".to_owned(), rounded(self.p50_ms));
        told.insert("p99_ms".to_owned(), rounded(self.p99_ms));
        if unit == Unit::Moves {
            told.insert("wal_bytes_per_move".to_owned(), rounded(self.wal_bytes));
            told.insert("book_bytes_per_move".to_owned(), rounded(self.book_bytes));
        }
        told
    }
}

/// Four digits that mean something.
fn rounded(figure: Option<f64>) -> Value {
    let Some(figure) = figure.filter(|figure| figure.is_finite()) else { return Value::Null };
    json!((figure * 10_000.0).round() / 10_000.0)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use std::time::Duration;

    use super::*;

    fn slice(units: u64, ms: u64) -> Slice {
        let mut slice = Slice { lasted: Duration::from_secs(1), wal_bytes: Some(units * 500), ..Slice::default() };
        for _ in 0..units {
            slice.count(1, Duration::from_millis(ms));
        }
        slice
    }

    #[test]
    fn a_slow_round_is_slow_for_both() {
        let (name, floor) = (Name::new("append", 4, Unit::Moves), Name::new("floor", 4, Unit::Moves).kind("plain_transaction"));
        let (ours, theirs) = ([slice(30, 2), slice(3, 20), slice(33, 2)], [slice(10, 4), slice(1, 40), slice(10, 4)]);
        let row = Row::of(&name, &ours, &[(&floor, &theirs)]).as_json(&["plain_transaction", "one_row_insert"]);
        assert_eq!(row["ratio"], json!({ "plain_transaction": 3.0, "one_row_insert": null }));
        assert_eq!(row["p50_ratio"]["plain_transaction"], 0.5);
        assert_eq!((&row["moves_per_s"], &row["wal_bytes_per_move"], &row["callers"]), (&json!(30.0), &json!(500.0), &json!(4)));
        assert_eq!(row["book_bytes_per_move"], Value::Null);
        assert_eq!(row["floors"]["plain_transaction"]["moves_per_s"], 10.0);
    }
}
