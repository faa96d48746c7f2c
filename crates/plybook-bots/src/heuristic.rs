//! `heuristic`: wins if it can, blocks if it must, then makes threats and takes good cells.
//!
//! It looks one action ahead and at the answers to it, in every ruleset alike: what wins is found by
//! trying, what looks good is [`crate::estimate`]'s.
//!
//! Invariant: where the budget suffices, it never misses a win on the spot and never leaves the next
//! seat one that could be prevented by an action it looked at.

use plybook_core::{Action, Seat};

use crate::chance::Chance;
use crate::meter::{Budget, Meter};
use crate::score::Score;
use crate::strategy::{Card, Choice, NoChoice, Strategy};
use crate::threats::{can_win, threats, winning};
use crate::throws::{average, expected};
use crate::trial::Trial;
use crate::view::View;

/// Most actions tried for a win on the spot.
const TRIED: usize = 1_024;
/// Most actions whose answers are looked at.
const CONSIDERED: usize = 24;
/// What one threat is worth; two at once can rarely be parried.
const THREAT: i64 = 50;
const THREATS: i64 = 5_000;

/// The strategy.
#[derive(Clone, Copy, Debug)]
pub struct Heuristic;

impl Strategy for Heuristic {
    fn card(&self) -> Card {
        Card {
            name: "heuristic",
            version: 1,
            title: "Wins if it can, blocks if it must",
            default_budget: Budget(20_000),
            most_budget: Budget(200_000),
            rulesets: &[],
        }
    }

    fn choose(&self, view: &View<'_>, meter: &mut Meter<'_>, chance: &mut Chance) -> Result<Choice, NoChoice> {
        meter.ask()?;
        let mut trial = Trial::new(view);
        let seat = trial.seat().ok_or(NoChoice::Nothing)?;
        let legal = trial.legal(TRIED, meter)?.actions;
        let wins = winning(&mut trial, &legal, meter)?;
        if !wins.is_empty() {
            let scores = wins.into_iter().map(|action| (action, Score::win_in(1))).collect();
            let choice = Choice::best(scores, meter.spent(), chance).ok_or(NoChoice::Nothing)?;
            return Ok(Choice { exact: true, ..choice });
        }
        let mut scores = Vec::new();
        for action in considered(&mut trial, seat, &legal, meter)? {
            if !scores.is_empty() && meter.is_empty() {
                break;
            }
            scores.push((action, score(&mut trial, seat, action, meter, chance)?));
        }
        Choice::best(scores, meter.spent(), chance).ok_or(NoChoice::Nothing)
    }
}

/// What the other seats threaten, the next one first, and then the most promising actions.
fn considered(trial: &mut Trial, seat: Seat, legal: &[Action], meter: &mut Meter<'_>) -> Result<Vec<Action>, NoChoice> {
    let mut considered = Vec::new();
    if legal.len() <= CONSIDERED {
        return Ok(legal.to_vec());
    }
    let seats = trial.position().seats();
    let mut other = seat.next(seats);
    while other != seat {
        if trial.live().contains(other) {
            let blocks = threats(trial, other, TRIED, meter)?;
            considered.extend(blocks.into_iter().filter(|action| legal.contains(action)));
        }
        other = other.next(seats);
    }
    considered.extend(legal);
    let mut seen = std::collections::BTreeSet::new();
    considered.retain(|action| seen.insert(*action));
    considered.truncate(CONSIDERED);
    Ok(considered)
}

fn score(trial: &mut Trial, seat: Seat, action: Action, meter: &mut Meter<'_>, chance: &mut Chance) -> Result<Score, NoChoice> {
    let faces = trial.throw(action).map_or_else(|| vec![Vec::new()], |throw| expected(throw, chance));
    let mut scores = Vec::with_capacity(faces.len());
    for faces in faces {
        if trial.step(action, &faces, meter)? {
            scores.push(after(trial, seat, meter)?);
            trial.back();
        }
    }
    Ok(average(&scores))
}

/// What the position is worth to `seat`, which has just moved.
fn after(trial: &mut Trial, seat: Seat, meter: &mut Meter<'_>) -> Result<Score, NoChoice> {
    if let Some(outcome) = trial.outcome() {
        return Ok(Score::of(outcome, seat, 1));
    }
    let next = trial.seat();
    if next != Some(seat) && can_win(trial, seat, TRIED, meter)? {
        return Ok(Score::loss_in(2));
    }
    let mut value = i64::from(trial.estimate(seat).0);
    for other in trial.live().iter().filter(|other| *other != seat && Some(*other) != next) {
        value -= THREAT * threats(trial, other, CONSIDERED, meter)?.len() as i64;
    }
    value += match threats(trial, seat, CONSIDERED, meter)?.len() {
        0 => 0,
        1 => THREAT,
        _ => THREATS,
    };
    Ok(Score::estimate(value))
}
