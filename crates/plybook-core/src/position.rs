//! Everything that is true after a move.
//!
//! Invariant: a position is a function of the standing moves and of the turns that passed without a move
//! between them. Whatever a ruleset derives lies in the board, the registers or the trail, so that one
//! generic step back restores all of it. A turn that passes changes registers and whose turn it is,
//! nothing else: no cell, no number of moves or throws, no count of repetitions.

pub(crate) mod packed;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

use crate::board::{Board, Cell, Content};
use crate::change::{Changes, Register, RegisterChange};
use crate::digest::Digest;
use crate::outcome::{Outcome, Winners};
use crate::rules::Setup;
use crate::ruleset::RulesetId;
use crate::seat::Seat;

/// Whose turn it is, or how the game ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// Moves are accepted.
    InProgress {
        /// Who moves: who has the turn after all that passed without a move.
        to_move: Seat,
    },
    /// No move is accepted.
    Finished(Outcome),
}

/// The derived state at one point of a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    board: Board,
    registers: Vec<u32>,
    status: Status,
    seats: u8,
    ply: u32,
    throws: u64,
    trail: Option<Trail>,
}

impl Position {
    /// The position before the first move.
    pub fn new(setup: Setup, seats: u8) -> Position {
        let trail = setup.counts_repetition.then(|| Trail::new(&setup.board, Seat(seats - 1)));
        Position {
            board: setup.board,
            registers: setup.registers,
            status: Status::InProgress { to_move: Seat(0) },
            seats,
            ply: 0,
            throws: 0,
            trail,
        }
    }

    /// Where the pieces are.
    pub const fn board(&self) -> &Board {
        &self.board
    }

    /// The value of one of the ruleset's registers; 0 for one that it did not set up.
    pub fn register(&self, register: Register) -> u32 {
        self.registers.get(register.0 as usize).copied().unwrap_or(0)
    }

    /// Whose turn it is, or how the game ended.
    pub const fn status(&self) -> &Status {
        &self.status
    }

    /// The seat to move; nobody once the game is finished.
    pub const fn to_move(&self) -> Option<Seat> {
        match self.status {
            Status::InProgress { to_move } => Some(to_move),
            Status::Finished(_) => None,
        }
    }

    /// How the game ended, if it did.
    pub const fn outcome(&self) -> Option<&Outcome> {
        match &self.status {
            Status::InProgress { .. } => None,
            Status::Finished(outcome) => Some(outcome),
        }
    }

    /// Number of seats.
    pub const fn seats(&self) -> u8 {
        self.seats
    }

    /// Number of standing moves.
    pub const fn ply(&self) -> u32 {
        self.ply
    }

    /// Number of standing throws: the number of the next draw.
    pub const fn throws(&self) -> u64 {
        self.throws
    }

    /// About how much memory it takes, in bytes.
    pub fn bytes(&self) -> usize {
        let seen = self.trail.as_ref().map_or(0, |trail| trail.seen.len() * size_of::<((u128, Seat), u32)>());
        size_of::<Position>() + self.board.len() as usize + size_of_val(self.registers.as_slice()) + seen
    }

    /// How often this board has stood after a move of `mover`, this time included.
    /// Always 0 in rulesets that do not count repetitions.
    pub fn occurrences(&self, mover: Seat) -> u32 {
        self.trail.as_ref().map_or(0, |trail| trail.occurrences(mover))
    }

    /// How often the board that `changes` lead to has stood after a move of `mover` already: asked before
    /// the move, at the cost of the cells that it changes.
    pub fn occurrences_after(&self, mover: Seat, changes: &Changes) -> u32 {
        self.trail.as_ref().map_or(0, |trail| trail.occurrences_of(trail.key_after(changes), mover))
    }

    pub(crate) fn apply(&mut self, mover: Seat, changes: &Changes, threw: bool) {
        for change in changes.cells() {
            self.board.set(change.cell, change.after);
            self.note(change.cell, change.before, change.after);
        }
        self.put(changes.registers());
        if let Some(trail) = &mut self.trail {
            trail.enter(mover);
        }
        self.ply += 1;
        self.throws += u64::from(threw);
    }

    pub(crate) fn revert(&mut self, mover: Seat, changes: &Changes, threw: bool) {
        assert!(self.ply > 0, "a move stands");
        self.ply -= 1;
        self.throws -= u64::from(threw);
        if let Some(trail) = &mut self.trail {
            trail.leave(mover);
        }
        for change in changes.cells() {
            self.board.set(change.cell, change.before);
            self.note(change.cell, change.after, change.before);
        }
        self.put_back(changes.registers());
    }

    /// Whether these changes, by this mover, can have led here.
    pub(crate) fn follows(&self, mover: Seat, changes: &Changes, threw: bool) -> bool {
        mover.0 < self.seats
            && self.ply > 0
            && self.throws >= u64::from(threw)
            && changes.cells().iter().all(|change| self.board.has(change.cell) && self.board.get(change.cell) == change.after)
            && self.holds(changes.registers())
            && self.trail.as_ref().is_none_or(|trail| trail.occurrences(mover) > 0)
    }

    pub(crate) fn put(&mut self, registers: &[RegisterChange]) {
        for change in registers {
            self.registers[change.register.0 as usize] = change.after;
        }
    }

    pub(crate) fn put_back(&mut self, registers: &[RegisterChange]) {
        for change in registers {
            self.registers[change.register.0 as usize] = change.before;
        }
    }

    /// Whether these registers, once changed, can be as they are.
    pub(crate) fn holds(&self, registers: &[RegisterChange]) -> bool {
        registers.iter().all(|change| self.registers.get(change.register.0 as usize) == Some(&change.after))
    }

    pub(crate) fn set_status(&mut self, status: Status) -> Status {
        std::mem::replace(&mut self.status, status)
    }

    pub(crate) const fn hand_turn(&mut self, seat: Seat) {
        if let Status::InProgress { to_move } = &mut self.status {
            *to_move = seat;
        }
    }

    fn note(&mut self, cell: Cell, from: Content, to: Content) {
        if let Some(trail) = &mut self.trail {
            trail.shift(cell, from, to);
        }
    }

    /// SHA-256 of the canonical text of `proto/book-format.md`, section 7.
    /// Scans the board: for answers that ask for a position, never on the path of a move.
    pub fn digest(&self, ruleset: &RulesetId) -> Digest {
        Digest::of(self.canonical_text(ruleset).as_bytes())
    }

    /// The text behind [`Position::digest`].
    pub fn canonical_text(&self, ruleset: &RulesetId) -> String {
        let mut text = format!("plybook-position/1\nruleset {ruleset}\nply {}\nthrows {}\n", self.ply, self.throws);
        // Writing to a String cannot fail.
        let _ = match &self.status {
            Status::InProgress { to_move } => write!(text, "turn {to_move}"),
            Status::Finished(Outcome { winners: Winners::Seats(seats), reason, .. }) => write!(text, "win {seats} {reason}"),
            Status::Finished(Outcome { winners: Winners::Draw, reason, .. }) => write!(text, "draw {reason}"),
            Status::Finished(Outcome { winners: Winners::Void, reason, .. }) => write!(text, "void {reason}"),
        };
        text.push_str("\ncells ");
        text.push_str(&self.cells_text());
        text.push_str("\nregisters ");
        let registers = self.registers.iter().enumerate().filter(|(_, value)| **value != 0);
        text.push_str(&joined(registers.map(|(i, value)| format!("{i}={value}"))));
        if let Some(trail) = &self.trail {
            text.push_str("\nseen ");
            text.push_str(&joined(trail.seen.iter().map(|((key, seat), times)| format!("{key:032x}/{seat}={times}"))));
        }
        text
    }

    fn cells_text(&self) -> String {
        let mut by_content: BTreeMap<Content, String> = BTreeMap::new();
        for (cell, content) in self.board.occupied() {
            let cells = by_content.entry(content).or_default();
            let comma = if cells.is_empty() { "" } else { "," };
            let _ = write!(cells, "{comma}{}", cell.0);
        }
        let groups: Vec<String> = by_content.iter().map(|(content, cells)| format!("{}:{cells}", content.0)).collect();
        if groups.is_empty() { "-".to_owned() } else { groups.join(";") }
    }
}

fn joined(items: impl Iterator<Item = String>) -> String {
    let items: Vec<String> = items.collect();
    if items.is_empty() { "-".to_owned() } else { items.join(",") }
}

/// How often each board has stood, for rulesets in which a repetition counts.
///
/// A board's key is the sum of a 128-bit value for each occupied cell, so a move updates it by its
/// changed cells alone.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Trail {
    key: u128,
    seen: BTreeMap<(u128, Seat), u32>,
}

impl Trail {
    fn new(board: &Board, mover: Seat) -> Trail {
        let key = board.occupied().fold(0u128, |key, (cell, content)| key.wrapping_add(weight(cell, content)));
        let mut trail = Trail { key, seen: BTreeMap::new() };
        trail.enter(mover);
        trail
    }

    fn shift(&mut self, cell: Cell, from: Content, to: Content) {
        self.key = shifted(self.key, cell, from, to);
    }

    fn key_after(&self, changes: &Changes) -> u128 {
        changes.cells().iter().fold(self.key, |key, change| shifted(key, change.cell, change.before, change.after))
    }

    fn enter(&mut self, mover: Seat) {
        *self.seen.entry((self.key, mover)).or_insert(0) += 1;
    }

    fn leave(&mut self, mover: Seat) {
        let times = self.occurrences(mover);
        assert!(times > 0, "this board was entered");
        if times == 1 {
            self.seen.remove(&(self.key, mover));
        } else {
            self.seen.insert((self.key, mover), times - 1);
        }
    }

    fn occurrences(&self, mover: Seat) -> u32 {
        self.occurrences_of(self.key, mover)
    }

    fn occurrences_of(&self, key: u128, mover: Seat) -> u32 {
        self.seen.get(&(key, mover)).copied().unwrap_or(0)
    }
}

fn shifted(key: u128, cell: Cell, from: Content, to: Content) -> u128 {
    key.wrapping_sub(weight(cell, from)).wrapping_add(weight(cell, to))
}

fn weight(cell: Cell, content: Content) -> u128 {
    if content.is_nothing() {
        return 0;
    }
    let mut hash = Sha256::new();
    hash.update(cell.0.to_be_bytes());
    hash.update([content.0]);
    let bytes: [u8; 32] = hash.finalize().into();
    bytes[..16].iter().fold(0u128, |n, byte| n << 8 | u128::from(*byte))
}
