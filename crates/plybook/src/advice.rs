//! Advice in words, as JSON, and on a board.
//!
//! Invariant: what is certain and what only looks so are never told alike.

use plybook_proto::v1;
use plybook_proto::v1::score::Value;
use serde_json::json;

use crate::drawing::{self, Look, Notation};
use crate::words;

/// The greatest number of an estimate on a board.
const HOTTEST: i64 = 9;

/// A score in words.
pub(crate) fn score(score: &v1::Score) -> String {
    let plies = |plies: &u32| if *plies == 1 { "1 ply".to_owned() } else { format!("{plies} plies") };
    let told = match &score.value {
        Some(Value::WinInPlies(1)) => "wins at once".to_owned(),
        Some(Value::WinInPlies(n)) => format!("wins in {}", plies(n)),
        Some(Value::LossInPlies(n)) => format!("loses in {}", plies(n)),
        Some(Value::WinByPoints(n)) => format!("wins by {n}"),
        Some(Value::LossByPoints(n)) => format!("loses by {n}"),
        Some(Value::Draw(_)) => "a draw".to_owned(),
        Some(Value::Estimate(n)) => return format!("looks {n:+}"),
        None => return "something that is not known here".to_owned(),
    };
    if score.exact { told } else { format!("{told}, as it looks") }
}

/// A score as the contract names it.
pub(crate) fn score_json(score: &v1::Score) -> serde_json::Value {
    match &score.value {
        Some(Value::WinInPlies(n)) => json!({ "win_in_plies": n, "exact": score.exact }),
        Some(Value::LossInPlies(n)) => json!({ "loss_in_plies": n, "exact": score.exact }),
        Some(Value::WinByPoints(n)) => json!({ "win_by_points": n, "exact": score.exact }),
        Some(Value::LossByPoints(n)) => json!({ "loss_by_points": n, "exact": score.exact }),
        Some(Value::Draw(_)) => json!({ "draw": {}, "exact": score.exact }),
        Some(Value::Estimate(n)) => json!({ "estimate": n, "exact": score.exact }),
        None => json!({ "exact": score.exact }),
    }
}

/// An action with its score.
pub(crate) fn action_json(scored: &v1::ScoredAction) -> serde_json::Value {
    let score = scored.score.as_ref().map(score_json);
    json!({ "action": scored.notation, "cells": scored.cells, "score": score })
}

/// A score in the place of a cell: `W3`, `L2`, `W+8`, `=`, and of estimates a number from -9 to +9, in proportion to
/// the greatest.
fn short(score: &v1::Score, greatest: i64) -> String {
    match &score.value {
        Some(Value::WinInPlies(n)) => format!("W{n}"),
        Some(Value::LossInPlies(n)) => format!("L{n}"),
        Some(Value::WinByPoints(n)) => format!("W+{n}"),
        Some(Value::LossByPoints(n)) => format!("L-{n}"),
        Some(Value::Draw(_)) => "=".to_owned(),
        Some(Value::Estimate(n)) => format!("{:+}", i64::from(*n) * HOTTEST / greatest.max(1)),
        None => "?".to_owned(),
    }
}

/// The board of a game with scores on the vacant cells that actions name; the best action's are in brackets.
pub(crate) fn heat_map(game: &v1::Game, actions: &[v1::ScoredAction]) -> Option<String> {
    let estimate = |action: &v1::ScoredAction| match action.score.as_ref().and_then(|score| score.value.as_ref()) {
        Some(Value::Estimate(n)) => Some(i64::from(*n).abs()),
        _ => None,
    };
    let greatest = actions.iter().filter_map(estimate).max().unwrap_or(0);
    let notes = actions.iter().filter_map(|action| Some((action, short(action.score.as_ref()?, greatest))));
    let notes = notes.flat_map(|(action, score)| action.cells.iter().map(move |cell| (*cell, score.clone())));
    let legal: Vec<v1::LegalAction> =
        actions.iter().map(|scored| v1::LegalAction { action: scored.action.clone(), notation: scored.notation.clone() }).collect();
    let bright = actions.first().map_or(&[][..], |best| best.cells.as_slice());
    let look = Look { marks: &words::marks(&game.seats), notation: Notation::of(game, &legal), bright };
    Some(drawing::draw_with(game.position.as_ref()?, look, notes))
}

/// Who would win at once, and with what; of each seat at most so many actions.
pub(crate) fn threats(threats: &[v1::SeatThreats], marks: &[String], most: usize) -> Vec<String> {
    let told = |seat: &v1::SeatThreats| {
        let named: Vec<&str> = seat.threats.iter().take(most).map(|threat| threat.notation.as_str()).collect();
        let more = if seat.threats.len() > most { " and more" } else { "" };
        format!("{} would win at once with {}{more}.", words::seat_name(seat.seat, marks), named.join(", "))
    };
    threats.iter().filter(|seat| !seat.threats.is_empty()).map(told).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;
    use crate::drawing::notes::tests::small_game;

    fn scored(cell: u32, value: Value, exact: bool) -> v1::ScoredAction {
        let score = Some(v1::Score { value: Some(value), exact });
        v1::ScoredAction { cells: vec![cell], score, ..v1::ScoredAction::default() }
    }

    #[test]
    fn scores_are_told() {
        for (value, exact, told) in [
            (Value::WinInPlies(1), true, "wins at once"),
            (Value::WinInPlies(3), false, "wins in 3 plies, as it looks"),
            (Value::LossInPlies(2), true, "loses in 2 plies"),
            (Value::LossByPoints(8), true, "loses by 8"),
            (Value::Draw(v1::Draw {}), true, "a draw"),
            (Value::Estimate(-12), false, "looks -12"),
        ] {
            assert_eq!(score(&v1::Score { value: Some(value), exact }), told);
        }
    }

    #[test]
    fn scores_stand_on_their_cells() {
        let actions = [
            scored(1, Value::WinInPlies(1), true),
            scored(3, Value::Estimate(40), false),
            scored(4, Value::Estimate(-20), false),
            scored(0, Value::Draw(v1::Draw {}), true),
        ];
        assert_eq!(heat_map(&small_game(1), &actions).unwrap(), "0+  O  [W1] .\n3+  +9  -4  .\n    0   1   2");
    }
}
