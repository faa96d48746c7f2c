//! The race of all seats along one course.
//!
//! Tokens may share a square: a cell's content has one bit for each seat that stands there, and
//! cell 0 is off the board.
//!
//! Invariant: register `n` is the square of seat `n`; then come the streak and the first square of
//! the turn that is being played, both 0 between turns.

use std::ops::ControlFlow;

use plybook_core::action::Shape;
use plybook_core::change::Register;
use plybook_core::dice::{Face, Throw};
use plybook_core::outcome::{CellRun, Reason};
use plybook_core::rules::{Piece, Setup, Topology, illegal};
use plybook_core::{Action, Board, Cell, Changes, Content, Illegal, Outcome, Position, Rules, Seat, SeatSet, Verdict};

use super::SHAPES;
use super::course::{Course, Turn};

const ROLL: &str = "roll";
const REACHED_END: Reason = Reason::new("reached_end");

/// The rules for a number of seats.
#[derive(Clone, Debug)]
pub(super) struct Race {
    pub(super) course: Course,
    pub(super) seats: u8,
}

impl Race {
    const fn square(seat: Seat) -> Register {
        Register(seat.0 as u32)
    }

    const fn streak(&self) -> Register {
        Register(self.seats as u32)
    }

    const fn began(&self) -> Register {
        Register(self.seats as u32 + 1)
    }

    /// Registers hold only what this ruleset put there, and that fits.
    fn turn(&self, position: &Position, seat: Seat) -> Turn {
        Turn {
            square: position.register(Self::square(seat)) as u16,
            streak: position.register(self.streak()) as u8,
            began: position.register(self.began()) as u16,
        }
    }
}

impl Rules for Race {
    fn setup(&self) -> Setup {
        let mut board = Board::track(self.course.last);
        let everybody = SeatSet::all(self.seats).iter().fold(0, |mask, seat| mask | bit(seat));
        board.set(cell(self.course.start), Content(everybody));
        let mut registers = vec![u32::from(self.course.start); usize::from(self.seats)];
        registers.extend([0, 0]);
        Setup { board, registers, counts_repetition: false }
    }

    fn topology(&self) -> Topology {
        let jumps = self.course.jumps.pairs().map(|(from, to)| (cell(from), cell(to))).collect();
        Topology::Track { last: self.course.last, jumps }
    }

    fn shapes(&self) -> &'static [Shape] {
        SHAPES
    }

    fn throw(&self, action: Action) -> Option<Throw> {
        (action == Action::Roll).then_some(self.course.throw)
    }

    fn resolve(&self, position: &Position, seat: Seat, action: Action, faces: &[Face]) -> Result<Changes, Illegal> {
        if action != Action::Roll {
            return Err(Illegal::new(illegal::NO_SUCH_ACTION, "a token moves by the dice alone"));
        }
        let turn = self.turn(position, seat);
        let after = self.course.after(turn, faces.iter().map(|face| u16::from(*face)).sum());
        let mut changes = Changes::new();
        if after.square != turn.square {
            let (from, to) = (cell(turn.square), cell(after.square));
            changes.set(position, from, Content(position.board().get(from).0 & !bit(seat)));
            changes.set(position, to, Content(position.board().get(to).0 | bit(seat)));
        }
        changes.put(position, Self::square(seat), u32::from(after.square));
        changes.put(position, self.streak(), u32::from(after.streak));
        changes.put(position, self.began(), u32::from(after.began));
        Ok(changes)
    }

    fn judge(&self, position: &Position, mover: Seat, _changes: &Changes) -> Verdict {
        let turn = self.turn(position, mover);
        if turn.square == self.course.last {
            let last = CellRun::one(cell(self.course.last));
            return Verdict::Finished(Outcome::win(mover, REACHED_END).through(vec![last]));
        }
        Verdict::next(if turn.streak > 0 { mover } else { mover.next(self.seats) })
    }

    fn candidates(&self, _position: &Position, _seat: Seat, offer: &mut dyn FnMut(Action) -> ControlFlow<()>) {
        // There is nothing after the one action that could still be told to stop.
        let _ = offer(Action::Roll);
    }

    /// The throws that led here stay; the streak that they earned, and where it began, are nobody else's.
    fn lose_turn(&self, position: &Position, _seat: Seat) -> Changes {
        let mut changes = Changes::new();
        changes.put(position, self.streak(), 0);
        changes.put(position, self.began(), 0);
        changes
    }

    fn write_action(&self, action: Action) -> String {
        action.shape().name().to_owned()
    }

    fn read_action(&self, notation: &str) -> Option<Action> {
        (notation == ROLL).then_some(Action::Roll)
    }

    /// The square's number; 0 is off the board.
    fn cell_name(&self, cell: Cell) -> String {
        cell.0.to_string()
    }

    /// A token of every seat that stands there, by seat.
    fn pieces(&self, content: Content) -> Vec<Piece> {
        let there = SeatSet::all(self.seats).iter().filter(|seat| content.0 & bit(*seat) != 0);
        there.map(|seat| Piece { seat, kind: "token" }).collect()
    }

    /// The square of each seat.
    fn scores(&self, position: &Position) -> Vec<i64> {
        SeatSet::all(self.seats).iter().map(|seat| i64::from(position.register(Self::square(seat)))).collect()
    }
}

fn cell(square: u16) -> Cell {
    Cell(u32::from(square))
}

/// One bit a seat: [`plybook_core::limits::SEATS_MAX`] of them fill a content's byte.
const fn bit(seat: Seat) -> u8 {
    1 << seat.0
}
