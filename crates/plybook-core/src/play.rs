//! A position with its way back.
//!
//! Invariant: *play k, undo k, play the same k* equals playing straight, in every derived value.
//! There is one step forward and one step back, the same for every ruleset. The way back may be known
//! only down to a floor; below it nothing is guessed.

use std::ops::ControlFlow;
use std::sync::Arc;

use crate::action::Action;
use crate::change::{CellChange, Changes};
use crate::dice::Face;
use crate::position::{Position, Status};
use crate::rules::{Illegal, Rules, Verdict};
use crate::seat::Seat;

/// A standing move: what it changed and what stood before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Who moved.
    pub seat: Seat,
    /// What it changed.
    pub changes: Changes,
    /// Whether it threw dice.
    pub threw: bool,
    before: Status,
}

impl Standing {
    /// A move that was made: whoever makes one was to move.
    pub(crate) const fn made(seat: Seat, changes: Changes, threw: bool) -> Standing {
        Standing { seat, changes, threw, before: Status::InProgress { to_move: seat } }
    }

    fn bytes(&self) -> usize {
        size_of::<Arc<Standing>>() + size_of::<Standing>() + size_of_val(self.changes.cells()) + size_of_val(self.changes.registers())
    }
}

/// Rules, the position now, and the standing moves, as far back as they are known.
#[derive(Clone, Debug)]
pub struct Play {
    rules: Arc<dyn Rules>,
    position: Position,
    /// Standing moves before those that are known.
    floor: usize,
    /// Shared, because games are remembered at many of their entries.
    standing: Vec<Arc<Standing>>,
    standing_bytes: usize,
}

impl Play {
    /// Before the first move.
    pub fn new(rules: Arc<dyn Rules>, seats: u8) -> Play {
        let position = Position::new(rules.setup(), seats);
        Play { rules, position, floor: 0, standing: Vec::new(), standing_bytes: 0 }
    }

    /// At a position that was reached before, with the last standing moves; nothing where they do not
    /// lead there.
    pub(crate) fn restored(rules: Arc<dyn Rules>, position: Position, standing: Vec<Arc<Standing>>) -> Option<Play> {
        let floor = (position.ply() as usize).checked_sub(standing.len())?;
        let standing_bytes = standing.iter().map(|standing| standing.bytes()).sum();
        let mut play = Play { rules, position, floor, standing, standing_bytes };
        play.leads_here().then_some(play)
    }

    /// Goes back to the floor, looking before each step, and here again.
    fn leads_here(&mut self) -> bool {
        for standing in self.standing.iter().rev() {
            if !self.position.follows(standing.seat, &standing.changes, standing.threw) {
                return false;
            }
            self.position.revert(standing.seat, &standing.changes, standing.threw);
        }
        for standing in &self.standing {
            self.position.apply(standing.seat, &standing.changes, standing.threw);
        }
        true
    }

    /// A copy that knows the last `moves` of the way back.
    pub fn shortened(&self, moves: usize) -> Play {
        let forgotten = self.standing.len().saturating_sub(moves);
        let standing = self.standing[forgotten..].to_vec();
        let standing_bytes = standing.iter().map(|standing| standing.bytes()).sum();
        Play { rules: Arc::clone(&self.rules), position: self.position.clone(), floor: self.floor + forgotten, standing, standing_bytes }
    }

    /// Takes over the way back from the position that stood at this one's floor.
    pub(crate) fn lengthen(&mut self, earlier: &Play) {
        assert!(earlier.position.ply() as usize == self.floor, "one way ends where the other begins");
        self.standing.splice(0..0, earlier.standing.iter().cloned());
        self.standing_bytes += earlier.standing_bytes;
        self.floor = earlier.floor;
    }

    /// The rules.
    pub fn rules(&self) -> &dyn Rules {
        self.rules.as_ref()
    }

    /// The position now.
    pub const fn position(&self) -> &Position {
        &self.position
    }

    /// About how much memory the position and the way back take, in bytes.
    pub fn bytes(&self) -> usize {
        self.position.bytes() + self.standing_bytes
    }

    /// How many standing moves there are before those that are known: 0 unless the position was restored
    /// from a snapshot.
    pub const fn floor(&self) -> usize {
        self.floor
    }

    /// The standing moves that are known, oldest first: all of them where the floor is 0.
    pub fn standing(&self) -> &[Arc<Standing>] {
        &self.standing
    }

    /// What `action` by the seat to move would change. `faces` are the dice it throws.
    /// Asked of a finished position, it answers for nobody: that is a caller's error.
    pub fn resolve(&self, action: Action, faces: &[Face]) -> Result<Changes, Illegal> {
        let Some(seat) = self.position.to_move() else {
            return Err(Illegal::new("GAME_FINISHED", "the game is over"));
        };
        self.rules.resolve(&self.position, seat, action, faces)
    }

    /// One step forward: applies what [`Play::resolve`] answered and says what follows.
    pub fn step(&mut self, changes: Changes, threw: bool) -> Verdict {
        let Status::InProgress { to_move: seat } = *self.position.status() else {
            panic!("a step is taken only in a game in progress");
        };
        self.position.apply(seat, &changes, threw);
        let verdict = self.rules.judge(&self.position, seat, &changes);
        let status = match &verdict {
            Verdict::Next { seat, .. } => Status::InProgress { to_move: *seat },
            Verdict::Finished(outcome) => Status::Finished(outcome.clone()),
        };
        let before = self.position.set_status(status);
        let standing = Standing { before, ..Standing::made(seat, changes, threw) };
        self.standing_bytes += standing.bytes();
        self.standing.push(Arc::new(standing));
        verdict
    }

    /// Plays `action` for the seat to move.
    pub fn play(&mut self, action: Action, faces: &[Face]) -> Result<Verdict, Illegal> {
        let changes = self.resolve(action, faces)?;
        Ok(self.step(changes, !faces.is_empty()))
    }

    /// One step back; nothing at the floor.
    pub fn back(&mut self) -> Option<Arc<Standing>> {
        let standing = self.standing.pop()?;
        self.standing_bytes -= standing.bytes();
        self.position.revert(standing.seat, &standing.changes, standing.threw);
        self.position.set_status(standing.before.clone());
        Some(standing)
    }

    /// Gives the turn to `seat` without a move, and answers who had it; nothing happens once the game is
    /// over. For the question what a seat threatens, on a clone: no game has such a position.
    pub const fn hand_turn(&mut self, seat: Seat) -> Option<Seat> {
        let had = self.position.to_move();
        if had.is_some() {
            self.position.hand_turn(seat);
        }
        had
    }

    /// Whether `action` is legal for the seat to move. An action that throws dice is legal whatever
    /// they show.
    pub fn is_legal(&self, action: Action) -> bool {
        let faces = self.rules.throw(action).map_or_else(Vec::new, |throw| vec![1; usize::from(throw.dice)]);
        self.resolve(action, &faces).is_ok()
    }

    /// Offers every legal action of the seat to move, in a fixed order, until told to stop.
    pub fn each_legal(&self, offer: &mut dyn FnMut(Action) -> ControlFlow<()>) {
        let Some(seat) = self.position.to_move() else { return };
        self.rules.candidates(&self.position, seat, &mut |action| {
            if self.is_legal(action) { offer(action) } else { ControlFlow::Continue(()) }
        });
    }

    /// Every legal action of the seat to move, in a fixed order.
    pub fn legal(&self) -> Vec<Action> {
        let mut actions = Vec::new();
        self.each_legal(&mut |action| {
            actions.push(action);
            ControlFlow::Continue(())
        });
        actions
    }

    /// What going back by so many of the moves that are known would change on the board, cells ascending:
    /// without going.
    pub fn changes_back_by(&self, moves: usize) -> Vec<CellChange> {
        let mut net = std::collections::BTreeMap::new();
        for change in self.standing[self.standing.len().saturating_sub(moves)..].iter().rev().flat_map(|standing| standing.changes.cells())
        {
            let now = self.position.board().get(change.cell);
            net.insert(change.cell, CellChange { cell: change.cell, before: now, after: change.before });
        }
        net.into_values().filter(|change| change.before != change.after).collect()
    }
}
