//! Actions that win now.
//!
//! Invariant: looking for them leaves the trial as it was. What dice decide is no threat.

use plybook_core::{Action, Seat};

use crate::meter::Meter;
use crate::strategy::NoChoice;
use crate::trial::Trial;

/// Those of `actions` with which the seat to move wins at once, until the budget is used up.
pub(crate) fn winning(trial: &mut Trial, actions: &[Action], meter: &mut Meter<'_>) -> Result<Vec<Action>, NoChoice> {
    let mut found = Vec::new();
    let Some(seat) = trial.seat() else { return Ok(found) };
    for action in actions {
        if meter.is_empty() {
            break;
        }
        if trial.throw(*action).is_none() && trial.step(*action, &[], meter)? {
            if trial.outcome().is_some_and(|outcome| outcome.winning_seats().contains(seat)) {
                found.push(*action);
            }
            trial.back();
        }
    }
    Ok(found)
}

/// Whether the seat to move has an action among its `most` promising ones that wins at once, before the
/// budget is used up; one with which `but` wins too does not count.
pub(crate) fn can_win(trial: &mut Trial, but: Seat, most: usize, meter: &mut Meter<'_>) -> Result<bool, NoChoice> {
    let Some(seat) = trial.seat() else { return Ok(false) };
    for action in trial.moves(most, meter)?.actions {
        if meter.is_empty() {
            break;
        }
        if trial.throw(action).is_none() && trial.step(action, &[], meter)? {
            let wins = trial.outcome().map(|outcome| outcome.winning_seats());
            trial.back();
            if wins.is_some_and(|winners| winners.contains(seat) && !winners.contains(but)) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// The actions with which `seat` would win at once if it were to move, most promising first. At most
/// `most` are tried, until the budget is used up.
pub(crate) fn threats(trial: &mut Trial, seat: Seat, most: usize, meter: &mut Meter<'_>) -> Result<Vec<Action>, NoChoice> {
    trial.as_if(seat, |trial| {
        let moves = trial.moves(most, meter)?;
        winning(trial, &moves.actions, meter)
    })
}
