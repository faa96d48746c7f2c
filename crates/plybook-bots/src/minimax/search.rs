//! Alpha-beta by iterative deepening.
//!
//! Scores are the root seat's throughout: it takes the greatest, everybody else the least. So a seat
//! that moves twice and a seat that is skipped need nothing special.
//!
//! Invariant: what a search answers depends on the view, the budget and the chance alone.

use plybook_core::{Action, Seat};

use super::order::Order;
use super::table::{Bound, Entry, Table};
use crate::chance::Chance;
use crate::meaning::Counted;
use crate::meter::{Budget, Meter};
use crate::score::Score;
use crate::strategy::{Choice, NoChoice};
use crate::throws::{average, expected};
use crate::trial::{Moves, Trial};
use crate::view::View;

/// No search is deeper.
const DEPTH_MOST: u32 = 100;
/// Where more actions than this might be legal, only the most promising are looked at: so many at the
/// root, and so many below.
const WIDE: usize = 32;
const NARROW: usize = 16;
/// Most actions that an analysis looks at.
const ANALYSED: usize = 1_024;

/// What is wanted of the actions at the root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Window {
    /// The best one; the others only so far as to see that they are not better.
    Narrow,
    /// Each with its own score.
    Full,
}

/// Why a search ends early.
enum Halt {
    Spent,
    Stopped(NoChoice),
}

impl From<NoChoice> for Halt {
    fn from(why: NoChoice) -> Halt {
        Halt::Stopped(why)
    }
}

/// A search from one position.
pub(crate) struct Search<'s, 'm> {
    trial: Trial,
    root: Seat,
    meter: &'s mut Meter<'m>,
    chance: &'s mut Chance,
    table: Table,
    order: Order,
    /// Whether something was estimated since this was last reset.
    cut: bool,
    /// Whether something was left out or averaged, so that not even a win is certain.
    unsure: bool,
}

impl<'s, 'm> Search<'s, 'm> {
    pub(crate) fn new(view: &View<'_>, meter: &'s mut Meter<'m>, chance: &'s mut Chance) -> Result<Search<'s, 'm>, NoChoice> {
        let trial = Trial::new(view);
        let root = trial.seat().ok_or(NoChoice::Nothing)?;
        let (table, order) = (Table::new(Budget(meter.left())), Order::new(trial.position().board()));
        let unsure = trial.repeats();
        Ok(Search { trial, root, meter, chance, table, order, cut: false, unsure })
    }

    /// Looks deeper and deeper until everything is known or the budget is used up.
    pub(crate) fn deepen(mut self, window: Window) -> Result<Choice, NoChoice> {
        let most = if window == Window::Full { ANALYSED } else { WIDE };
        let Moves { mut actions, all } = self.trial.legal(most, self.meter)?;
        self.unsure |= !all;
        let mut scores: Vec<(Action, Score)> = Vec::new();
        let mut exact = false;
        // Where there is nothing to choose from, a glance at what follows is enough.
        let deepest = if window == Window::Narrow && actions.len() == 1 { 1 } else { DEPTH_MOST };
        for depth in 1..=deepest {
            self.cut = false;
            let mut found = Vec::with_capacity(actions.len());
            let end = self.depth(depth, window, &actions, &mut found);
            found.sort_by_key(|(_, score)| std::cmp::Reverse(*score));
            let best = found.first().map_or(Score::EVEN, |(_, score)| *score);
            match end {
                Err(Halt::Stopped(why)) => return Err(why),
                Err(Halt::Spent) => {
                    // The best so far of a narrow search was tried first: what beats it here is better.
                    if window == Window::Narrow || scores.is_empty() {
                        exact = !self.unsure && best.is_win();
                        scores = if found.is_empty() { scores } else { found };
                    }
                    break;
                }
                Ok(()) => {
                    exact = !self.unsure && (!self.cut || best.is_win() || best.is_loss());
                    bring_forward(&mut actions, &found);
                    scores = found;
                    if !self.cut || best.is_loss() || (best.is_win() && window == Window::Narrow) {
                        break;
                    }
                }
            }
        }
        let nodes = self.meter.spent();
        let (action, score) =
            scores.first().copied().or_else(|| actions.first().map(|action| (*action, Score::EVEN))).ok_or(NoChoice::Nothing)?;
        Ok(Choice { action, score, exact, counted: Counted::Plies, nodes, scores })
    }

    /// Looks so far ahead and puts down what became known of the actions.
    fn depth(&mut self, depth: u32, window: Window, actions: &[Action], found: &mut Vec<(Action, Score)>) -> Result<(), Halt> {
        let mut best = Score::LEAST;
        for action in actions {
            let alpha = if window == Window::Narrow { best } else { Score::LEAST };
            let tried = self.attempt(*action, depth, alpha, Score::MOST, 0);
            self.trial.back_to(0);
            let Some(score) = tried? else { continue };
            if score > alpha {
                found.push((*action, score));
            }
            best = best.max(score);
        }
        Ok(())
    }

    /// The value of an action for the root seat, or nothing where it is not legal.
    fn attempt(&mut self, action: Action, depth: u32, alpha: Score, beta: Score, ply: u32) -> Result<Option<Score>, Halt> {
        let Some(throw) = self.trial.throw(action) else {
            if !self.trial.step(action, &[], self.meter)? {
                return Ok(None);
            }
            let score = self.value(depth - 1, alpha, beta, ply + 1)?;
            self.trial.back();
            return Ok(Some(score));
        };
        self.unsure = true;
        let mut scores = Vec::new();
        for faces in expected(throw, self.chance) {
            if self.trial.step(action, &faces, self.meter)? {
                scores.push(self.value(depth - 1, Score::LEAST, Score::MOST, ply + 1)?);
                self.trial.back();
            }
        }
        Ok((!scores.is_empty()).then(|| average(&scores)))
    }

    /// The value of the position for the root seat; outside of `alpha` to `beta`, a bound of it.
    fn value(&mut self, depth: u32, alpha: Score, beta: Score, ply: u32) -> Result<Score, Halt> {
        if let Some(outcome) = self.trial.outcome() {
            return Ok(Score::of(outcome, self.root, ply));
        }
        if depth == 0 {
            self.cut = true;
            return Ok(self.trial.estimate(self.root));
        }
        if self.meter.is_empty() {
            return Err(Halt::Spent);
        }
        let key = self.trial.key();
        let known = self.table.get(key);
        if let Some(entry) = known.filter(|entry| entry.complete || entry.depth >= depth) {
            let score = entry.score.later(ply);
            let settles = match entry.bound {
                Bound::Exactly => true,
                Bound::AtLeast => score >= beta,
                Bound::AtMost => score <= alpha,
            };
            if settles {
                self.cut |= !entry.complete;
                return Ok(score);
            }
        }
        let cut_before = std::mem::replace(&mut self.cut, false);
        let (score, action) = self.best(depth, (alpha, beta), ply, known.and_then(|entry| entry.action))?;
        let bound = if score <= alpha {
            Bound::AtMost
        } else if score >= beta {
            Bound::AtLeast
        } else {
            Bound::Exactly
        };
        self.table.put(Entry { key, score: score.sooner(ply), bound, depth, complete: !self.cut, action });
        self.cut |= cut_before;
        Ok(score)
    }

    fn best(
        &mut self,
        depth: u32,
        (mut alpha, mut beta): (Score, Score),
        ply: u32,
        first: Option<Action>,
    ) -> Result<(Score, Option<Action>), Halt> {
        let own = self.trial.seat() == Some(self.root);
        let mut found: Option<(Score, Action)> = None;
        for action in self.moves(first, ply)? {
            let Some(score) = self.attempt(action, depth, alpha, beta, ply)? else { continue };
            if found.is_none_or(|(best, _)| if own { score > best } else { score < best }) {
                found = Some((score, action));
            }
            if own {
                alpha = alpha.max(score);
            } else {
                beta = beta.min(score);
            }
            if alpha >= beta {
                self.order.refuted(action, depth, ply as usize);
                break;
            }
        }
        Ok(match found {
            Some((score, action)) => (score, Some(action)),
            None => {
                self.cut = true;
                (self.trial.estimate(self.root), None)
            }
        })
    }

    fn moves(&mut self, first: Option<Action>, ply: u32) -> Result<Vec<Action>, NoChoice> {
        let Moves { mut actions, all } = self.trial.moves(WIDE, self.meter)?;
        if !all {
            self.unsure = true;
            actions.truncate(NARROW);
        }
        self.order.sort(&mut actions, first, ply as usize);
        Ok(actions)
    }
}

/// Puts the actions with a score in front, best first; the others keep their order.
fn bring_forward(actions: &mut Vec<Action>, found: &[(Action, Score)]) {
    let mut ordered: Vec<Action> = found.iter().map(|(action, _)| *action).collect();
    ordered.extend(actions.iter().filter(|action| !found.iter().any(|(known, _)| known == *action)));
    *actions = ordered;
}
