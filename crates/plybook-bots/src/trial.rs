//! A game of the bot's own, to look ahead in.
//!
//! Invariant: after as many steps back as forward, everything is as it was: the game, the key and the
//! estimate. The game that is looked at is never touched.

use std::cmp::Reverse;
use std::ops::ControlFlow;

use plybook_core::dice::{Face, Throw};
use plybook_core::{Action, Cell, CellChange, Content, Outcome, Play, Position, Seat, SeatSet};

use crate::estimate::Estimate;
use crate::meter::{LISTED_PER_NODE, Meter};
use crate::score::Score;
use crate::strategy::NoChoice;
use crate::view::View;

/// So many candidates of a large position are ranked; the rest is too far down to matter.
const RANKED_MOST: usize = 1_024;

/// A clone of a game, with what a search wants to know of every position.
#[derive(Clone, Debug)]
pub(crate) struct Trial {
    play: Play,
    estimate: Estimate,
    key: u64,
    keys: Vec<u64>,
    repeats: bool,
    live: SeatSet,
}

/// What may be tried, most promising first.
#[derive(Clone, Debug)]
pub(crate) struct Moves {
    /// The actions; some may turn out not to be legal.
    pub(crate) actions: Vec<Action>,
    /// Whether no legal action was left out.
    pub(crate) all: bool,
}

impl Trial {
    pub(crate) fn new(view: &View<'_>) -> Trial {
        let repeats = view.rules().setup().counts_repetition;
        Trial { play: view.to_trial(), estimate: Estimate::of(view), key: 0, keys: Vec::new(), repeats, live: view.live() }
    }

    pub(crate) const fn position(&self) -> &Position {
        self.play.position()
    }

    pub(crate) const fn seat(&self) -> Option<Seat> {
        self.play.position().to_move()
    }

    pub(crate) const fn outcome(&self) -> Option<&Outcome> {
        self.play.position().outcome()
    }

    /// Steps taken.
    pub(crate) const fn steps(&self) -> usize {
        self.keys.len()
    }

    /// Whether what a position is worth may depend on how it came about.
    pub(crate) const fn repeats(&self) -> bool {
        self.repeats
    }

    /// The same for positions that are the same, within this trial.
    pub(crate) fn key(&self) -> u64 {
        let turn = self.seat().map_or(0, |seat| mixed(TURN | u64::from(seat.0)));
        let key = self.key.wrapping_add(turn);
        if !self.repeats {
            return key;
        }
        let stood = |seat: u8| mixed(STOOD | u64::from(seat) << 32 | u64::from(self.position().occurrences(Seat(seat))));
        (0..self.position().seats()).map(stood).fold(key, u64::wrapping_add)
    }

    /// The dice that an action throws.
    pub(crate) fn throw(&self, action: Action) -> Option<Throw> {
        self.play.rules().throw(action)
    }

    /// What an action would change on the board; nothing where it is not legal, or where dice decide it.
    pub(crate) fn changes(&self, action: Action) -> Vec<CellChange> {
        let known = self.throw(action).is_none();
        let changes = known.then(|| self.play.resolve(action, &[]).ok()).flatten();
        changes.map_or_else(Vec::new, |changes| changes.cells().to_vec())
    }

    /// One step forward, at the cost of a node; answers whether the action is legal. `faces` are as many
    /// as [`Trial::throw`] says.
    pub(crate) fn step(&mut self, action: Action, faces: &[Face], meter: &mut Meter<'_>) -> Result<bool, NoChoice> {
        meter.spend(1)?;
        let Ok(changes) = self.play.resolve(action, faces) else { return Ok(false) };
        self.keys.push(self.key);
        for change in changes.cells() {
            self.key = self.key.wrapping_sub(of_cell(change.cell, change.before)).wrapping_add(of_cell(change.cell, change.after));
        }
        for change in changes.registers() {
            let of = |value: u32| mixed(REGISTER ^ u64::from(change.register.0) << 32 ^ u64::from(value));
            self.key = self.key.wrapping_sub(of(change.before)).wrapping_add(of(change.after));
        }
        self.estimate.enter(changes.cells());
        self.play.step(changes, !faces.is_empty());
        self.pass_over_who_left();
        Ok(true)
    }

    /// As in the game: where the rules give the turn to a seat that has left, the next one has it.
    fn pass_over_who_left(&mut self) {
        if self.seat().is_some_and(|seat| !self.live.contains(seat))
            && let Some((next, _)) = self.play.next_mover(self.live)
        {
            self.play.pass_to(next);
        }
    }

    /// The seats that have not left.
    pub(crate) const fn live(&self) -> SeatSet {
        self.live
    }

    /// One step back; nothing where none was taken.
    pub(crate) fn back(&mut self) {
        let Some(key) = self.keys.pop() else { return };
        self.key = key;
        if let Some(standing) = self.play.back() {
            self.estimate.leave(standing.changes.cells());
        }
    }

    /// Back to so many steps.
    pub(crate) fn back_to(&mut self, steps: usize) {
        while self.steps() > steps {
            self.back();
        }
    }

    /// Asks something as if `seat` were to move.
    pub(crate) fn as_if<T>(&mut self, seat: Seat, ask: impl FnOnce(&mut Trial) -> T) -> T {
        let had = self.play.hand_turn(seat);
        let answer = ask(self);
        if let Some(had) = had {
            self.play.hand_turn(had);
        }
        answer
    }

    /// What the position looks like for a seat, without looking ahead.
    pub(crate) fn estimate(&self, seat: Seat) -> Score {
        Score::estimate(self.estimate.value(self.play.rules(), self.position(), seat))
    }

    /// How promising an action looks for the seat to move.
    pub(crate) fn rank(&self, action: Action) -> i64 {
        self.seat().map_or(0, |seat| self.estimate.rank(self.position(), seat, action))
    }

    /// Everything that might be legal, in a fixed order; on a board too large for that, what is near.
    pub(crate) fn candidates(&self, meter: &mut Meter<'_>) -> Result<Moves, NoChoice> {
        if let Some(actions) = self.estimate.near(self.position().board()) {
            meter.spend(actions.len() as u64 / LISTED_PER_NODE)?;
            return Ok(Moves { actions, all: false });
        }
        let mut actions = Vec::new();
        if let Some(seat) = self.seat() {
            self.play.rules().candidates(self.position(), seat, &mut |action| {
                actions.push(action);
                ControlFlow::Continue(())
            });
        }
        meter.spend(actions.len() as u64 / LISTED_PER_NODE)?;
        Ok(Moves { actions, all: true })
    }

    /// What may be tried, most promising first; the `most` best where there are more. Legal actions
    /// that there are are never all left out.
    pub(crate) fn moves(&self, most: usize, meter: &mut Meter<'_>) -> Result<Moves, NoChoice> {
        let Some(seat) = self.seat() else { return Ok(Moves { actions: Vec::new(), all: true }) };
        let Moves { actions: listed, mut all } = self.candidates(meter)?;
        let mut ranked: Vec<(Reverse<i64>, usize, Action)> = Vec::with_capacity(listed.len());
        let rank = |action: Action| Reverse(self.estimate.rank(self.position(), seat, action));
        ranked.extend(listed.into_iter().enumerate().map(|(i, action)| (rank(action), i, action)));
        if most < RANKED_MOST && ranked.len() > RANKED_MOST {
            ranked.select_nth_unstable(RANKED_MOST - 1);
            ranked.truncate(RANKED_MOST);
            all = false;
        }
        ranked.sort_unstable();
        let mut actions: Vec<Action> = ranked.into_iter().map(|(_, _, action)| action).collect();
        if !all || actions.len() > most {
            actions.retain(|action| self.play.is_legal(*action));
            if actions.is_empty() {
                actions = self.play.legal();
            }
            all &= actions.len() <= most;
            actions.truncate(most);
        }
        Ok(Moves { actions, all })
    }

    /// The legal actions, most promising first; the `most` best where there are more.
    pub(crate) fn legal(&self, most: usize, meter: &mut Meter<'_>) -> Result<Moves, NoChoice> {
        let mut moves = self.moves(most, meter)?;
        moves.actions.retain(|action| self.play.is_legal(*action));
        Ok(moves)
    }
}

const TURN: u64 = 1 << 60;
const STOOD: u64 = 1 << 61;
const REGISTER: u64 = 1 << 62;

fn of_cell(cell: Cell, content: Content) -> u64 {
    if content.is_nothing() { 0 } else { mixed(u64::from(cell.0) << 8 | u64::from(content.0)) }
}

/// The finalizer of SplitMix64 (S. Vigna, public domain).
const fn mixed(number: u64) -> u64 {
    let z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use std::collections::BTreeMap;

    use plybook_core::{ParamValue, Play};
    use plybook_rulesets::Registry;

    use super::*;
    use crate::chance::Chance;
    use crate::meter::Budget;

    /// Everything that a search asks of a position.
    fn seen(trial: &Trial) -> (u64, Vec<Score>, Vec<i64>, Position) {
        let seats = (0..trial.position().seats()).map(Seat);
        let actions = trial.candidates(&mut Meter::unstopped(Budget(0))).unwrap().actions;
        let ranks = actions.into_iter().map(|action| trial.rank(action)).collect();
        (trial.key(), seats.map(|seat| trial.estimate(seat)).collect(), ranks, trial.position().clone())
    }

    /// Walks about and holds every position against the first time it was seen, and against a trial that
    /// begins there.
    #[track_caller]
    fn check(ruleset: &str, given: &[(&str, ParamValue)], seats: u8) {
        let given: BTreeMap<String, ParamValue> = given.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        let (id, params, rules) = Registry::standard().choose(ruleset, None, given, seats).unwrap();
        let mut play = Play::new(rules, seats);
        let mut trial = Trial::new(&View::new(&play, &id, &params));
        let mut chance = Chance::for_advice(&View::new(&play, &id, &params));
        let mut meter = Meter::unstopped(Budget(u64::MAX));
        let mut way = vec![seen(&trial)];
        for _ in 0..400 {
            let actions = trial.legal(usize::MAX, &mut meter).unwrap().actions;
            let forward = chance.below(5) > 1;
            match chance.pick(&actions).filter(|_| forward) {
                Some(action) => {
                    let faces = trial.throw(*action).map_or_else(Vec::new, |throw| chance.throw(throw));
                    assert!(trial.step(*action, &faces, &mut meter).unwrap());
                    play.play(*action, &faces).unwrap();
                    way.push(seen(&trial));
                }
                None if way.len() > 1 => {
                    trial.back();
                    play.back();
                    way.pop();
                }
                None => {}
            }
            assert_eq!(seen(&trial), *way.last().unwrap(), "{ruleset}");
            let fresh = seen(&Trial::new(&View::new(&play, &id, &params)));
            assert_eq!((&fresh.1, &fresh.2), (&way.last().unwrap().1, &way.last().unwrap().2), "{ruleset}");
        }
    }

    #[test]
    fn as_many_steps_back_as_forward_lead_to_the_same() {
        let (int, flag) = (ParamValue::Int, ParamValue::Bool);
        check("mnk", &[("rows", int(5)), ("cols", int(4)), ("k", int(4))], 3);
        let win = ParamValue::Text("exact+full_line+four_corners".to_owned());
        check("mnk", &[("rows", int(4)), ("cols", int(4)), ("win", win), ("misere", flag(true))], 2);
        check("gomoku", &[("size", int(60))], 2);
        check("gomoku", &[("size", int(80))], 2);
        check("connect_four", &[], 2);
        check("connect_four", &[("pop_out", flag(true)), ("rows", int(3)), ("cols", int(4)), ("k", int(4))], 2);
        check("othello", &[("size", int(6))], 2);
        check("snakes_and_ladders", &[("size", int(30)), ("extra_turn", flag(true))], 4);
    }

    #[test]
    fn equal_positions_have_equal_keys_and_others_do_not() {
        let (id, params, rules) = Registry::standard().choose("mnk", None, BTreeMap::new(), 2).unwrap();
        let play = Play::new(rules, 2);
        let key = |moves: &str| {
            let mut trial = Trial::new(&View::new(&play, &id, &params));
            for notation in moves.split(' ') {
                let action = play.rules().read_action(notation).unwrap();
                assert!(trial.step(action, &[], &mut Meter::unstopped(Budget(0))).unwrap());
            }
            trial.key()
        };
        assert_eq!(key("a1 b2 c3"), key("c3 b2 a1"));
        assert_ne!(key("a1 b2 c3"), key("b2 a1 c3"));
        assert_ne!(key("a1 b2"), key("a1 b3"));
    }
}
