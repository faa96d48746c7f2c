//! A position with its way back.
//!
//! Invariant: *play k, undo k, play the same k* equals playing straight, in every derived value.
//! There is one step forward and one step back, the same for every ruleset. A turn that passes without a
//! move is no step: going back by a move leads to where it was made, so what passed before it stays passed,
//! and what passed after it goes. The way back may be known only down to a floor; below it nothing is
//! guessed.

use std::ops::ControlFlow;
use std::sync::Arc;

use crate::action::Action;
use crate::change::{CellChange, Changes, Passed};
use crate::dice::Face;
use crate::outcome::Outcome;
use crate::position::{Position, Status};
use crate::rules::{Illegal, Rules, Verdict};
use crate::seat::{Seat, SeatSet};

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
    /// Of turns that passed since the move before it.
    passed: Passed,
}

impl Standing {
    /// A move that was made: whoever makes one was to move.
    pub(crate) const fn made(seat: Seat, changes: Changes, threw: bool, passed: Passed) -> Standing {
        Standing { seat, changes, threw, before: Status::InProgress { to_move: seat }, passed }
    }

    pub(crate) const fn passed(&self) -> &Passed {
        &self.passed
    }

    fn bytes(&self) -> usize {
        let registers = size_of_val(self.changes.registers()) + size_of_val(self.passed.registers());
        size_of::<Arc<Standing>>() + size_of::<Standing>() + size_of_val(self.changes.cells()) + registers
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
    /// Of turns that passed since the last standing move, wherever the floor is.
    passed: Passed,
}

impl Play {
    /// Before the first move.
    pub fn new(rules: Arc<dyn Rules>, seats: u8) -> Play {
        let position = Position::new(rules.setup(), seats);
        Play { rules, position, floor: 0, standing: Vec::new(), standing_bytes: 0, passed: Passed::default() }
    }

    /// At a position that was reached before, with the last standing moves and what has passed since;
    /// nothing where they do not lead there.
    pub(crate) fn restored(rules: Arc<dyn Rules>, position: Position, standing: Vec<Arc<Standing>>, passed: Passed) -> Option<Play> {
        let floor = (position.ply() as usize).checked_sub(standing.len())?;
        let standing_bytes = standing.iter().map(|standing| standing.bytes()).sum();
        let mut play = Play { rules, position, floor, standing, standing_bytes, passed };
        play.leads_here().then_some(play)
    }

    /// Goes back to the floor, looking before each step, and here again.
    fn leads_here(&mut self) -> bool {
        let mut passed = self.passed.registers();
        if !passed.is_empty() && self.position.to_move().is_none() {
            return false;
        }
        for standing in self.standing.iter().rev() {
            if !self.position.holds(passed) {
                return false;
            }
            self.position.put_back(passed);
            if !self.position.follows(standing.seat, &standing.changes, standing.threw) {
                return false;
            }
            self.position.revert(standing.seat, &standing.changes, standing.threw);
            passed = standing.passed.registers();
        }
        // What passed before the first known move is undone with the move below the floor.
        if !self.position.holds(passed) {
            return false;
        }
        self.position.put_back(passed);
        for standing in &self.standing {
            self.position.put(standing.passed.registers());
            self.position.apply(standing.seat, &standing.changes, standing.threw);
        }
        self.position.put(self.passed.registers());
        true
    }

    /// A copy that knows the last `moves` of the way back.
    pub fn shortened(&self, moves: usize) -> Play {
        let forgotten = self.standing.len().saturating_sub(moves);
        let standing = self.standing[forgotten..].to_vec();
        let standing_bytes = standing.iter().map(|standing| standing.bytes()).sum();
        Play {
            rules: Arc::clone(&self.rules),
            position: self.position.clone(),
            floor: self.floor + forgotten,
            standing,
            standing_bytes,
            passed: self.passed.clone(),
        }
    }

    /// Takes over the way back from the position that stood at this one's floor. What had passed by then is
    /// part of what this one knows to have passed there.
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
        self.position.bytes() + self.standing_bytes + size_of_val(self.passed.registers())
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

    /// What turns that passed since the last standing move have changed.
    pub(crate) const fn passed(&self) -> &Passed {
        &self.passed
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
        let passed = std::mem::take(&mut self.passed);
        let standing = Standing { before, ..Standing::made(seat, changes, threw, passed) };
        self.standing_bytes += standing.bytes();
        self.standing.push(Arc::new(standing));
        verdict
    }

    /// The step that has ended the game has ended it so: the game knows who has left, and the rules do not.
    pub(crate) fn ends_by(&mut self, outcome: Outcome) {
        assert!(self.position.outcome().is_some(), "a step has ended the game");
        self.position.set_status(Status::Finished(outcome));
    }

    /// Plays `action` for the seat to move.
    pub fn play(&mut self, action: Action, faces: &[Face]) -> Result<Verdict, Illegal> {
        let changes = self.resolve(action, faces)?;
        Ok(self.step(changes, !faces.is_empty()))
    }

    /// One step back, to right before the last standing move; nothing at the floor.
    pub fn back(&mut self) -> Option<Arc<Standing>> {
        let standing = self.standing.pop()?;
        self.standing_bytes -= standing.bytes();
        self.position.put_back(self.passed.registers());
        self.position.revert(standing.seat, &standing.changes, standing.threw);
        self.position.set_status(standing.before.clone());
        self.passed = standing.passed.clone();
        Some(standing)
    }

    /// Lets the turn pass to `seat` without a move, and answers who had it; nothing happens once the game is
    /// over. Another seat than `seat` loses its turn by that ([`Rules::lose_turn`]). Whether `seat` can move
    /// is not asked: [`Play::next_mover`] does.
    pub fn pass_to(&mut self, seat: Seat) -> Option<Seat> {
        assert!(seat.0 < self.position.seats(), "the table has this seat");
        let had = self.position.to_move()?;
        let lost = self.lost_by(had, seat);
        self.position.put(lost.registers());
        self.position.hand_turn(seat);
        self.passed.follow(&lost);
        Some(had)
    }

    /// What passing the turn from `had` to `seat` changes.
    fn lost_by(&self, had: Seat, seat: Seat) -> Changes {
        let lost = if had == seat { Changes::new() } else { self.rules.lose_turn(&self.position, had) };
        assert!(lost.cells().is_empty(), "a turn that passes leaves the board alone");
        lost
    }

    /// Whether `seat` would have a legal action if the turn passed to it; nobody has one once the game is
    /// over. The play is left as it was.
    pub fn can_move(&mut self, seat: Seat) -> bool {
        let Some(had) = self.position.to_move().filter(|_| seat.0 < self.position.seats()) else { return false };
        let lost = self.lost_by(had, seat);
        self.position.put(lost.registers());
        self.position.hand_turn(seat);
        let mut found = false;
        self.each_legal(&mut |_| {
            found = true;
            ControlFlow::Break(())
        });
        self.position.hand_turn(had);
        self.position.put_back(lost.registers());
        found
    }

    /// Who of `live` is the first to have a legal action, beginning with the seat to move and going on in
    /// turn order; and who of them was passed over, having none. Nobody where none has, or once the game is
    /// over. Each seat costs its candidates down to the first that is legal. The play is left as it was.
    pub fn next_mover(&mut self, live: SeatSet) -> Option<(Seat, SeatSet)> {
        let seats = self.position.seats();
        let mut seat = self.position.to_move()?;
        let mut passed_over = SeatSet::EMPTY;
        for _ in 0..seats {
            if live.contains(seat) {
                if self.can_move(seat) {
                    return Some((seat, passed_over));
                }
                passed_over = passed_over.with(seat);
            }
            seat = seat.next(seats);
        }
        None
    }

    /// Gives the turn to `seat` as if it were to move in this very position, and answers who had it; nothing
    /// happens once the game is over. For the question what a seat threatens, on a clone: unlike
    /// [`Play::pass_to`] it loses nobody's turn, so no game has such a position, and handing the turn back
    /// leads to the one before.
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
