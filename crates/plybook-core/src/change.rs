//! What a move did, so that it can be taken back by one generic step.
//!
//! Invariant: a cell and a register occur at most once in a move's changes, and before ≠ after.

use crate::board::{Cell, Content};
use crate::position::Position;

/// One cell, before and after.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CellChange {
    /// Which cell.
    pub cell: Cell,
    /// What stood there.
    pub before: Content,
    /// What stands there now.
    pub after: Content,
}

/// A number that a ruleset derives and keeps in the position: a count, a streak, a token's square.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Register(pub u32);

/// One register, before and after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegisterChange {
    /// Which register.
    pub register: Register,
    /// Its value before.
    pub before: u32,
    /// Its value now.
    pub after: u32,
}

/// Everything that a move changes. Rules build it; [`crate::Play`] applies it and takes it back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    cells: Vec<CellChange>,
    registers: Vec<RegisterChange>,
}

impl Changes {
    /// Nothing yet.
    pub fn new() -> Changes {
        Changes::default()
    }

    /// What was once recorded, in the same order.
    pub(crate) const fn recorded(cells: Vec<CellChange>, registers: Vec<RegisterChange>) -> Changes {
        Changes { cells, registers }
    }

    /// Puts `after` on `cell`; nothing is recorded where it already is so.
    pub fn set(&mut self, position: &Position, cell: Cell, after: Content) {
        let earlier = self.cells.iter().position(|change| change.cell == cell).map(|at| self.cells.remove(at));
        let before = earlier.map_or_else(|| position.board().get(cell), |change| change.before);
        if before != after {
            self.cells.push(CellChange { cell, before, after });
        }
    }

    /// Gives `register` the value `after`; nothing is recorded where it already has it.
    pub fn put(&mut self, position: &Position, register: Register, after: u32) {
        let earlier = self.registers.iter().position(|change| change.register == register).map(|at| self.registers.remove(at));
        let before = earlier.map_or_else(|| position.register(register), |change| change.before);
        if before != after {
            self.registers.push(RegisterChange { register, before, after });
        }
    }

    /// The register's value once these changes are applied.
    pub fn register(&self, position: &Position, register: Register) -> u32 {
        let changed = self.registers.iter().find(|change| change.register == register);
        changed.map_or_else(|| position.register(register), |change| change.after)
    }

    /// The cells changed, in the order in which the rules recorded them.
    pub fn cells(&self) -> &[CellChange] {
        &self.cells
    }

    /// The registers changed.
    pub fn registers(&self) -> &[RegisterChange] {
        &self.registers
    }
}

/// What turns that passed without a move have changed since the last standing move, all of them together:
/// so it stays as small however many pass.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Passed(Vec<RegisterChange>);

impl Passed {
    /// What was once recorded, in the same order.
    pub(crate) const fn recorded(registers: Vec<RegisterChange>) -> Passed {
        Passed(registers)
    }

    /// Goes on by what one more turn changed. A register that is again what it was goes.
    pub(crate) fn follow(&mut self, lost: &Changes) {
        for change in lost.registers() {
            let earlier = self.0.iter().position(|earlier| earlier.register == change.register).map(|at| self.0.remove(at));
            let before = earlier.map_or(change.before, |earlier| earlier.before);
            if before != change.after {
                self.0.push(RegisterChange { before, ..*change });
            }
        }
    }

    /// The registers changed.
    pub(crate) fn registers(&self) -> &[RegisterChange] {
        &self.0
    }
}
