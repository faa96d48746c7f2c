//! What was played so far, and how it went.
//!
//! Invariant: every node knows how often it was passed and what the seat that chose it got out of it;
//! after a playout the trial is back at the root.

use std::cmp::Reverse;

use plybook_core::dice::Face;
use plybook_core::{Action, Outcome, Seat};

use super::fixed::{ONE, doubt};
use crate::chance::Chance;
use crate::meter::Meter;
use crate::score::Score;
use crate::strategy::NoChoice;
use crate::threats::winning;
use crate::trial::Trial;

/// Most actions that are told apart in a position.
const WIDE: usize = 40;
/// Most nodes of a tree; beyond them playouts go on without new ones.
const NODES_MOST: usize = 200_000;
/// A playout is broken off after so many plies, as by an empty meter, and judged by how the position looks.
const PLIES_MOST: usize = 200;
/// So many actions of a position are tried at once; others as it is passed more often.
const AT_FIRST: usize = 3;
/// So many actions are drawn for a ply of a playout, and the most promising is played.
const DRAWN: usize = 4;
/// How much doubt counts: 0.5.
const CURIOSITY: u64 = ONE / 2;

/// What leads to a node.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Root,
    Act(Action),
    /// What the dice of the node above showed.
    Show(Vec<Face>),
}

#[derive(Clone, Debug)]
struct Node {
    step: Step,
    /// Who chose it.
    seat: Seat,
    visits: u32,
    /// The sum of what that seat got, [`ONE`] for a win.
    reward: u64,
    children: Vec<usize>,
    /// Actions not tried yet, the most promising last; nothing where they are not listed yet.
    untried: Option<Vec<Action>>,
}

/// A tree of playouts.
#[derive(Clone, Debug)]
pub(super) struct Tree(Vec<Node>);

impl Tree {
    pub(super) fn new() -> Tree {
        let mut tree = Tree(Vec::new());
        tree.add(Step::Root, Seat(0));
        tree
    }

    /// The root's actions, the most played first.
    pub(super) fn scores(&self) -> Vec<(Action, Score)> {
        let mut children: Vec<&Node> = self.0[0].children.iter().map(|child| &self.0[*child]).collect();
        children.sort_by_key(|node| Reverse((node.visits, node.reward)));
        let score = |node: &Node| Score::estimate(2 * (node.reward / u64::from(node.visits.max(1))) as i64 - ONE as i64);
        children
            .into_iter()
            .filter_map(|node| match node.step {
                Step::Act(action) => Some((action, score(node))),
                _ => None,
            })
            .collect()
    }

    /// Plays the game once to its end and remembers how it went.
    pub(super) fn play_out(&mut self, trial: &mut Trial, meter: &mut Meter<'_>, chance: &mut Chance) -> Result<(), NoChoice> {
        let path = self.descend(trial, meter, chance)?;
        roll_out(trial, meter, chance)?;
        for at in path {
            let node = &mut self.0[at];
            node.visits = node.visits.saturating_add(1);
            node.reward += reward(trial, node.seat);
        }
        trial.back_to(0);
        Ok(())
    }

    /// Goes down to where the tree ends, adds a node there, and answers the nodes passed.
    fn descend(&mut self, trial: &mut Trial, meter: &mut Meter<'_>, chance: &mut Chance) -> Result<Vec<usize>, NoChoice> {
        let (mut at, mut path) = (0, vec![0]);
        while let Some(seat) = trial.seat() {
            if self.0[at].untried.is_none() {
                self.0[at].untried = Some(listed(trial, meter)?);
            }
            let grows = self.0.len() < NODES_MOST && self.grows(at);
            let untried = if grows { self.0[at].untried.as_mut().and_then(Vec::pop) } else { None };
            let (child, fresh) = match untried {
                Some(action) => (self.add(Step::Act(action), seat), true),
                None => match self.select(at) {
                    Some(child) => (child, false),
                    None => break,
                },
            };
            let Step::Act(action) = self.0[child].step else { break };
            let faces = trial.throw(action).map_or_else(Vec::new, |throw| chance.throw(throw));
            if !trial.step(action, &faces, meter)? {
                if !fresh {
                    break;
                }
                // Not legal: it was added last, and nothing points to it.
                self.0.pop();
                continue;
            }
            if fresh {
                self.0[at].children.push(child);
            }
            path.push(child);
            at = child;
            if !faces.is_empty() {
                at = self.shown(child, faces, seat);
                path.push(at);
            }
            if fresh {
                break;
            }
        }
        Ok(path)
    }

    /// Whether a node has been passed often enough for another action: the first ones look most promising.
    fn grows(&self, at: usize) -> bool {
        let node = &self.0[at];
        node.children.len() <= AT_FIRST + node.visits.isqrt() as usize
    }

    fn add(&mut self, step: Step, seat: Seat) -> usize {
        self.0.push(Node { step, seat, visits: 0, reward: 0, children: Vec::new(), untried: None });
        self.0.len() - 1
    }

    /// The node below `at` for what its dice showed.
    fn shown(&mut self, at: usize, faces: Vec<Face>, seat: Seat) -> usize {
        let step = Step::Show(faces);
        if let Some(known) = self.0[at].children.iter().find(|child| self.0[**child].step == step) {
            return *known;
        }
        let node = self.add(step, seat);
        self.0[at].children.push(node);
        node
    }

    /// The child that went best, or that is least known.
    fn select(&self, at: usize) -> Option<usize> {
        let all = self.0[at].visits.max(1);
        let promise = |child: &usize| {
            let node = &self.0[*child];
            let visits = node.visits.max(1);
            node.reward / u64::from(visits) + (CURIOSITY * doubt(all, visits)) / ONE
        };
        // The first of equals, which looked most promising.
        self.0[at].children.iter().rev().max_by_key(|child| promise(child)).copied()
    }
}

/// The actions worth a try, the most promising last: an action that wins at once makes all others
/// needless.
fn listed(trial: &mut Trial, meter: &mut Meter<'_>) -> Result<Vec<Action>, NoChoice> {
    let mut actions = trial.moves(WIDE, meter)?.actions;
    let wins = winning(trial, &actions, meter)?;
    if !wins.is_empty() {
        return Ok(wins.into_iter().take(1).collect());
    }
    actions.reverse();
    Ok(actions)
}

/// Plays on by chance.
fn roll_out(trial: &mut Trial, meter: &mut Meter<'_>, chance: &mut Chance) -> Result<(), NoChoice> {
    for _ in 0..PLIES_MOST {
        if meter.is_empty() {
            break;
        }
        let mut actions = trial.candidates(meter)?.actions;
        loop {
            if actions.is_empty() {
                return Ok(());
            }
            let drawn = (0..DRAWN).map(|_| chance.below(actions.len() as u64) as usize);
            // The first of equals, so that nothing but chance decides where nothing looks promising.
            let Some(best) = drawn.rev().max_by_key(|at| trial.rank(actions[*at])) else { return Ok(()) };
            let action = actions.swap_remove(best);
            let faces = trial.throw(action).map_or_else(Vec::new, |throw| chance.throw(throw));
            if trial.step(action, &faces, meter)? {
                break;
            }
        }
    }
    Ok(())
}

/// What `seat` got out of a playout.
fn reward(trial: &Trial, seat: Seat) -> u64 {
    match trial.outcome().map(Outcome::winning_seats) {
        Some(winners) if winners.contains(seat) => ONE,
        Some(winners) if !winners.is_empty() => 0,
        Some(_) => ONE / 2,
        None => match trial.estimate(seat).cmp(&Score::EVEN) {
            std::cmp::Ordering::Less => ONE / 4,
            std::cmp::Ordering::Equal => ONE / 2,
            std::cmp::Ordering::Greater => ONE * 3 / 4,
        },
    }
}
