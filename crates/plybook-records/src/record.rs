//! A recorded game as a file tells it, before any rules were asked.
//!
//! Invariant: a record holds what was written, converted in form alone; whether it can be played is
//! [`crate::rehearsal`]'s to say.

use std::collections::BTreeMap;

/// A game of a file, or why it cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parsed {
    /// The record's own name, or where it stands.
    pub id: String,
    /// The record.
    pub record: Result<Record, String>,
}

/// A list of moves and what is said about their end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// The ruleset, where the record or its format names one.
    pub ruleset: Option<String>,
    /// Parameters as text, still to be typed by the ruleset.
    pub params: BTreeMap<String, String>,
    /// Number of seats, where the record tells.
    pub seats: Option<u8>,
    /// The moves.
    pub moves: Vec<Token>,
    /// What can be checked.
    pub expect: Expect,
}

/// One move as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token {
    /// In the ruleset's own notation.
    Notation(String),
    /// Row from the top and column from the left, from 0.
    Cell(u32, u32),
    /// Column from the left, from 0.
    Column(u32),
}

/// What a record says about its end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expect {
    /// How it ended.
    pub end: End,
    /// One score a seat.
    pub scores: Option<Vec<i64>>,
    /// The last board, rows from the top: `.` or the seat's digit.
    pub board: Option<Vec<String>>,
}

/// How a record says that its game ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum End {
    /// Nothing is said.
    #[default]
    Untold,
    /// Not on the board: broken off, resigned or agreed.
    Open,
    /// This seat won, on the board.
    Won(u8),
    /// A draw on the board.
    Drawn,
    /// If it ended on the board, then with this winner; it may have been resigned.
    WonIfOver(u8),
    /// If it ended on the board, then as a draw; it may have been agreed.
    DrawnIfOver,
}

impl Parsed {
    /// The `n`th record of a file, from 0, without a name of its own.
    pub fn nth(n: usize, record: Result<Record, String>) -> Parsed {
        Parsed { id: format!("#{}", n + 1), record }
    }
}
