//! What a seat asks for.
//!
//! Invariant: actions are shapes of request, not games. A new game reuses them.

use crate::board::Cell;

/// A column, from 0 at the left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Column(pub u32);

/// What a seat asks for; the ruleset resolves it to changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// Put a piece on a cell.
    Place(Cell),
    /// Let a piece fall down a column.
    Drop(Column),
    /// Take one's own bottom piece out of a column.
    Pop(Column),
    /// Throw the dice.
    Roll,
}

/// The kind of an [`Action`], for clients that ask what a ruleset accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Shape {
    /// [`Action::Place`].
    Place,
    /// [`Action::Drop`].
    Drop,
    /// [`Action::Pop`].
    Pop,
    /// [`Action::Roll`].
    Roll,
}

impl Action {
    /// Its kind.
    pub const fn shape(self) -> Shape {
        match self {
            Action::Place(_) => Shape::Place,
            Action::Drop(_) => Shape::Drop,
            Action::Pop(_) => Shape::Pop,
            Action::Roll => Shape::Roll,
        }
    }
}

impl Shape {
    /// The field's name in the contract.
    pub const fn name(self) -> &'static str {
        match self {
            Shape::Place => "place",
            Shape::Drop => "drop",
            Shape::Pop => "pop",
            Shape::Roll => "roll",
        }
    }
}
