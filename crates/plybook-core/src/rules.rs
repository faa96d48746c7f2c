//! What the author of a game writes.
//!
//! Rules answer three questions: what would this action change ([`Rules::resolve`]), what follows
//! once it has changed ([`Rules::judge`]), and what could be tried ([`Rules::candidates`]).
//!
//! Invariants: rules are pure and keep no state of their own; legal means *a candidate that
//! resolves*, so one path serves validation, listing and perft; a win is looked for through the
//! cells that just changed, never by scanning the board; a win is tested before a draw.

use std::fmt;
use std::ops::ControlFlow;

use crate::action::{Action, Shape};
use crate::board::{Board, Cell, Content};
use crate::change::Changes;
use crate::dice::{Face, Throw};
use crate::outcome::Outcome;
use crate::position::Position;
use crate::seat::{Seat, SeatSet};

/// A ruleset with its parameters fixed.
pub trait Rules: Send + Sync + fmt::Debug {
    /// The position before the first move. Seat 0 moves first.
    fn setup(&self) -> Setup;

    /// How the board looks to a client that has never heard of this game.
    fn topology(&self) -> Topology;

    /// The shapes of action that these parameters accept. Others are refused before `resolve`.
    fn shapes(&self) -> &'static [Shape];

    /// The dice that an action throws, if any; their faces are then given to `resolve`.
    fn throw(&self, action: Action) -> Option<Throw> {
        let _ = action;
        None
    }

    /// What `action` by `seat`, whose turn it is, changes; or why it is not legal.
    /// `faces` are the dice of [`Rules::throw`], empty where nothing is thrown.
    fn resolve(&self, position: &Position, seat: Seat, action: Action, faces: &[Face]) -> Result<Changes, Illegal>;

    /// Who is next, or how the game ended, once `changes` by `mover` are applied to `position`.
    fn judge(&self, position: &Position, mover: Seat, changes: &Changes) -> Verdict;

    /// Offers every action that might be legal for `seat`, each once and in a fixed order, until
    /// told to stop.
    fn candidates(&self, position: &Position, seat: Seat, offer: &mut dyn FnMut(Action) -> ControlFlow<()>);

    /// What becomes of the turn that `seat`, who is to move, loses without a move: registers that belong to
    /// a turn being played go back to what they are between turns. It changes no cell, and nothing where
    /// the turn has only begun.
    fn lose_turn(&self, position: &Position, seat: Seat) -> Changes {
        let _ = (position, seat);
        Changes::new()
    }

    /// An action in the field's own notation, without spaces: `b2`, `4^`, `roll`.
    fn write_action(&self, action: Action) -> String;

    /// Reads what [`Rules::write_action`] writes, and nothing else.
    fn read_action(&self, notation: &str) -> Option<Action>;

    /// A cell in the field's own coordinates.
    fn cell_name(&self, cell: Cell) -> String;

    /// The pieces on a cell, bottom first.
    fn pieces(&self, content: Content) -> Vec<Piece> {
        content.owner().map(|seat| Piece { seat, kind: "disc" }).into_iter().collect()
    }

    /// One score a seat, where the game keeps scores; otherwise empty.
    fn scores(&self, position: &Position) -> Vec<i64> {
        let _ = position;
        Vec::new()
    }
}

/// The position before the first move.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The board with the pieces that stand on it from the beginning.
    pub board: Board,
    /// First values of the ruleset's registers.
    pub registers: Vec<u32>,
    /// Whether [`Position::occurrences`] is kept.
    pub counts_repetition: bool,
}

/// What follows a move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The game goes on.
    Next {
        /// Who moves now.
        seat: Seat,
        /// Who was due before `seat` but cannot move.
        skipped: SeatSet,
    },
    /// The game is over.
    Finished(Outcome),
}

impl Verdict {
    /// The game goes on with `seat`, and nobody was skipped.
    pub const fn next(seat: Seat) -> Verdict {
        Verdict::Next { seat, skipped: SeatSet::EMPTY }
    }

    /// Who was due but cannot move; nobody once the game is over.
    pub const fn skipped(&self) -> SeatSet {
        match self {
            Verdict::Next { skipped, .. } => *skipped,
            Verdict::Finished(_) => SeatSet::EMPTY,
        }
    }
}

/// Why an action is not legal: a code for machines and a sentence for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Illegal {
    /// `UPPER_SNAKE_CASE`, such as [`illegal::CELL_OCCUPIED`]; a ruleset may have codes of its own.
    pub rule: &'static str,
    /// One sentence.
    pub detail: String,
}

impl Illegal {
    /// An illegality.
    pub fn new(rule: &'static str, detail: impl Into<String>) -> Illegal {
        Illegal { rule, detail: detail.into() }
    }
}

impl fmt::Display for Illegal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.rule, self.detail)
    }
}

/// Codes that more than one ruleset uses.
pub mod illegal {
    /// The game has no such action. The game itself refuses such shapes before the rules are asked.
    pub const NO_SUCH_ACTION: &str = "NO_SUCH_ACTION";
    /// Something stands on the cell already.
    pub const CELL_OCCUPIED: &str = "CELL_OCCUPIED";
    /// The cell or column is not on the board.
    pub const OFF_BOARD: &str = "OFF_BOARD";
    /// Nothing more fits into the column.
    pub const COLUMN_FULL: &str = "COLUMN_FULL";
    /// The bottom piece of the column is not one's own.
    pub const NOT_YOUR_PIECE: &str = "NOT_YOUR_PIECE";
    /// The move would turn nothing over.
    pub const NO_CAPTURE: &str = "NO_CAPTURE";
}

/// A piece on a cell, for drawing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Its owner.
    pub seat: Seat,
    /// The ruleset's word: `disc`, `token`.
    pub kind: &'static str,
}

/// How cells are laid out, for drawing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Topology {
    /// A rectangle; cell 0 at the top left.
    Grid {
        /// Rows.
        rows: u16,
        /// Columns.
        cols: u16,
    },
    /// A path of squares 1 to `last`; square 0 is off the board.
    Track {
        /// The last square.
        last: u16,
        /// Jumps between squares, such as snakes and ladders.
        jumps: Vec<(Cell, Cell)>,
    },
}
