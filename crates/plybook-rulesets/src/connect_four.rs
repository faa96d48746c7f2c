//! `connect_four@1` and `connect_four@2`: discs fall down columns; K or more in a row win. With
//! `pop_out`, a seat may also take its own disc out at the bottom, and the column comes down by one.
//!
//! Ends, in the order in which they are tested: `line` for whoever moved, `line` for the opponent (a
//! popped column may complete it), then the draws `board_full` or with `pop_out` `no_move` (the next
//! seat can neither drop nor pop). Where `pop_out` brings a position about for the third time, the
//! versions differ, and in nothing else: in version 1 that is a draw, `repetition`; in version 2 the
//! move is refused, `REPETITION`, and a seat with no other move makes the game a draw, `no_move`.
//!
//! Invariant: how high a column stands, how many discs there are, and who owns the bottom discs are
//! registers. No column is searched.

use std::ops::ControlFlow;
use std::sync::Arc;

use plybook_core::action::{Column, Shape};
use plybook_core::change::Register;
use plybook_core::dice::Face;
use plybook_core::grid::{Grid, RowOne};
use plybook_core::limits::SIDE_MAX;
use plybook_core::outcome::{CellRun, Reason};
use plybook_core::params::BadParam;
use plybook_core::rules::{Setup, Topology, illegal};
use plybook_core::{
    Action, Board, Card, Cell, Changes, Content, Illegal, Outcome, ParamSpec, Params, Position, Rules, Ruleset, Seat, Verdict,
};

use crate::lines::run::{self, Length};
use crate::lines::{BOARD_FULL, LINE};

/// Most rows with `pop_out`: the changes of a popped column fit on one line of a book.
pub const POP_OUT_ROWS_MAX: u16 = 128;
/// Most runs that an outcome shows: a popped column may complete hundreds, and a line is finite.
pub const RUNS_SHOWN_MAX: usize = 32;

const REPETITION: Reason = Reason::new("repetition");
const NO_MOVE: Reason = Reason::new("no_move");
/// The move would bring a position about for the third time: version 2.
const REPEATS: &str = "REPETITION";
/// So many times are a repetition.
const REPETITIONS: u32 = 3;

/// Discs on the board.
const FILLED: Register = Register(0);
/// Bottom discs of seats 0 and 1; kept with `pop_out` only.
const BOTTOMS: u32 = 1;
/// The height of the leftmost column.
const HEIGHTS: u32 = 3;

const SIDES: (i64, i64) = (1, SIDE_MAX as i64);

/// What a position for the third time means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Repetition {
    /// The game is a draw.
    Draws,
    /// The move that would bring it about is not legal.
    Refused,
}

/// The ruleset, in one of its versions.
#[derive(Clone, Copy, Debug)]
pub struct ConnectFour {
    version: u32,
    repetition: Repetition,
}

impl ConnectFour {
    /// A position for the third time is a draw.
    pub const V1: ConnectFour = ConnectFour { version: 1, repetition: Repetition::Draws };
    /// A move to a position for the third time is not legal.
    pub const V2: ConnectFour = ConnectFour { version: 2, repetition: Repetition::Refused };
}

impl Ruleset for ConnectFour {
    fn card(&self) -> Card {
        Card {
            name: "connect_four",
            version: self.version,
            title: "Connect Four and its relatives",
            seats: (2, 4),
            chance: false,
            shapes: &[Shape::Drop, Shape::Pop],
            params: vec![
                ParamSpec::int("rows", 6, SIDES, "Rows of the board."),
                ParamSpec::int("cols", 7, SIDES, "Columns of the board."),
                ParamSpec::int("k", 4, SIDES, "This many in a row, or more, win."),
                ParamSpec::flag("pop_out", false, "A seat may take its own disc out at the bottom; for two seats and 128 rows at most."),
            ],
        }
    }

    fn build(&self, params: &Params, seats: u8) -> Result<Arc<dyn Rules>, BadParam> {
        let (rows, cols) = (params.int("rows") as u16, params.int("cols") as u16);
        let k = params.int("k") as u32;
        let pop_out = params.flag("pop_out");
        if k > u32::from(rows.max(cols)) {
            return Err(BadParam::new("k", format!("no line of {k} fits on {rows} rows and {cols} columns")));
        }
        if u32::from(seats) > u32::from(rows) * u32::from(cols) {
            return Err(BadParam::new("seats", format!("{seats} seats are more than the board has cells")));
        }
        if pop_out && seats != 2 {
            return Err(BadParam::new("pop_out", format!("is for two seats, not {seats}")));
        }
        if pop_out && rows > POP_OUT_ROWS_MAX {
            return Err(BadParam::new("pop_out", format!("is for {POP_OUT_ROWS_MAX} rows at most, not {rows}")));
        }
        Ok(Arc::new(Dropping { rows, cols, length: Length::AtLeast(k), pop_out, repetition: self.repetition }))
    }
}

/// The rules with their parameters fixed.
#[derive(Clone, Copy, Debug)]
struct Dropping {
    rows: u16,
    cols: u16,
    length: Length,
    pop_out: bool,
    repetition: Repetition,
}

impl Dropping {
    const fn grid(&self) -> Grid {
        Grid { rows: self.rows, cols: self.cols, row_one: RowOne::Bottom }
    }

    const fn cells(&self) -> u32 {
        self.rows as u32 * self.cols as u32
    }

    /// The cell of a column at a height counted from 0 at the bottom.
    fn cell(&self, column: Column, height: u32) -> Cell {
        Cell((u32::from(self.rows) - 1 - height) * u32::from(self.cols) + column.0)
    }

    fn check_column(&self, column: Column) -> Result<(), Illegal> {
        if column.0 < u32::from(self.cols) {
            return Ok(());
        }
        Err(Illegal::new(illegal::OFF_BOARD, format!("there is no column {}, the last is {}", column_number(column), self.cols)))
    }

    fn drop(&self, position: &Position, seat: Seat, column: Column) -> Result<Changes, Illegal> {
        self.check_column(column)?;
        let height = position.register(height_of(column));
        if height >= u32::from(self.rows) {
            return Err(Illegal::new(illegal::COLUMN_FULL, format!("column {} is full", column_number(column))));
        }
        let mut changes = Changes::new();
        changes.set(position, self.cell(column, height), Content::of(seat));
        changes.put(position, FILLED, position.register(FILLED) + 1);
        changes.put(position, height_of(column), height + 1);
        if self.pop_out && height == 0 {
            changes.put(position, bottoms_of(seat), position.register(bottoms_of(seat)) + 1);
        }
        Ok(changes)
    }

    fn pop(&self, position: &Position, seat: Seat, column: Column) -> Result<Changes, Illegal> {
        self.check_column(column)?;
        let height = position.register(height_of(column));
        let at = |height: u32| position.board().get(self.cell(column, height));
        if height == 0 || at(0) != Content::of(seat) {
            let detail = format!("the bottom of column {} is not yours", column_number(column));
            return Err(Illegal::new(illegal::NOT_YOUR_PIECE, detail));
        }
        let mut changes = Changes::new();
        for to in 0..height {
            let above = if to + 1 < height { at(to + 1) } else { Content::NOTHING };
            changes.set(position, self.cell(column, to), above);
        }
        changes.put(position, FILLED, position.register(FILLED) - 1);
        changes.put(position, height_of(column), height - 1);
        let lands = if height > 1 { at(1).owner() } else { None };
        if lands != Some(seat) {
            changes.put(position, bottoms_of(seat), position.register(bottoms_of(seat)) - 1);
            if let Some(other) = lands {
                changes.put(position, bottoms_of(other), position.register(bottoms_of(other)) + 1);
            }
        }
        Ok(changes)
    }

    /// Refuses the changes that may not be made once more.
    fn check_repetition(&self, position: &Position, seat: Seat, changes: Changes) -> Result<Changes, Illegal> {
        if self.repetition == Repetition::Refused && position.occurrences_after(seat, &changes) + 1 >= REPETITIONS {
            return Err(Illegal::new(REPEATS, "the position would stand for the third time"));
        }
        Ok(changes)
    }

    /// Whether `seat` has no legal move. The first one found settles it, and nearly always that is the
    /// first one tried.
    fn is_stuck(&self, position: &Position, seat: Seat) -> bool {
        let mut stuck = true;
        self.candidates(position, seat, &mut |action| {
            stuck = self.resolve(position, seat, action, &[]).is_err();
            if stuck { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        stuck
    }

    /// The runs of `seat` that the changes completed.
    fn runs_of(&self, position: &Position, seat: Seat, changes: &Changes) -> Vec<CellRun> {
        let mut found = Vec::new();
        for change in changes.cells().iter().filter(|change| change.after == Content::of(seat)) {
            run::find_runs(position.board(), change.cell, self.length, &mut found);
            if found.len() >= RUNS_SHOWN_MAX {
                found.truncate(RUNS_SHOWN_MAX);
                break;
            }
        }
        found
    }
}

impl Rules for Dropping {
    fn setup(&self) -> Setup {
        Setup {
            board: Board::new(self.rows, self.cols),
            registers: vec![0; (HEIGHTS + u32::from(self.cols)) as usize],
            counts_repetition: self.pop_out,
        }
    }

    fn topology(&self) -> Topology {
        Topology::Grid { rows: self.rows, cols: self.cols }
    }

    fn shapes(&self) -> &'static [Shape] {
        if self.pop_out { &[Shape::Drop, Shape::Pop] } else { &[Shape::Drop] }
    }

    fn resolve(&self, position: &Position, seat: Seat, action: Action, _faces: &[Face]) -> Result<Changes, Illegal> {
        let changes = match action {
            Action::Drop(column) => self.drop(position, seat, column),
            Action::Pop(column) if self.pop_out => self.pop(position, seat, column),
            _ => Err(Illegal::new(illegal::NO_SUCH_ACTION, "discs are dropped in this game")),
        }?;
        self.check_repetition(position, seat, changes)
    }

    fn judge(&self, position: &Position, mover: Seat, changes: &Changes) -> Verdict {
        let next = mover.next(position.seats());
        for seat in [mover, next] {
            let runs = self.runs_of(position, seat, changes);
            if !runs.is_empty() {
                return Verdict::Finished(Outcome::win(seat, LINE).through(runs));
            }
        }
        let full = position.register(FILLED) == self.cells();
        if full && !self.pop_out {
            return Verdict::Finished(Outcome::draw(BOARD_FULL));
        }
        if full && position.register(bottoms_of(next)) == 0 {
            return Verdict::Finished(Outcome::draw(NO_MOVE));
        }
        match self.repetition {
            Repetition::Draws if position.occurrences(mover) >= REPETITIONS => Verdict::Finished(Outcome::draw(REPETITION)),
            Repetition::Refused if self.pop_out && self.is_stuck(position, next) => Verdict::Finished(Outcome::draw(NO_MOVE)),
            _ => Verdict::next(next),
        }
    }

    fn candidates(&self, position: &Position, seat: Seat, offer: &mut dyn FnMut(Action) -> ControlFlow<()>) {
        let columns = || (0..u32::from(self.cols)).map(Column);
        let open = |column: &Column| position.register(height_of(*column)) < u32::from(self.rows);
        let own = |column: &Column| position.board().get(self.cell(*column, 0)) == Content::of(seat);
        for column in columns().filter(open) {
            if offer(Action::Drop(column)).is_break() {
                return;
            }
        }
        if !self.pop_out {
            return;
        }
        for column in columns().filter(own) {
            if offer(Action::Pop(column)).is_break() {
                return;
            }
        }
    }

    fn write_action(&self, action: Action) -> String {
        match action {
            Action::Drop(column) => column_number(column).to_string(),
            Action::Pop(column) => format!("{}^", column_number(column)),
            other => other.shape().name().to_owned(),
        }
    }

    fn read_action(&self, notation: &str) -> Option<Action> {
        let (number, pops) = match notation.strip_suffix('^') {
            Some(number) => (number, true),
            None => (notation, false),
        };
        if number.starts_with('0') || !number.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let column = number.parse::<u32>().ok()?.checked_sub(1).filter(|column| *column < u32::from(self.cols)).map(Column)?;
        match pops {
            true => self.pop_out.then_some(Action::Pop(column)),
            false => Some(Action::Drop(column)),
        }
    }

    fn cell_name(&self, cell: Cell) -> String {
        self.grid().name(cell)
    }
}

const fn height_of(column: Column) -> Register {
    Register(HEIGHTS + column.0)
}

const fn bottoms_of(seat: Seat) -> Register {
    Register(BOTTOMS + seat.0 as u32)
}

/// Columns are counted from 1 by people. Also for columns off the board, so that a refusal can name them.
fn column_number(column: Column) -> u64 {
    u64::from(column.0) + 1
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use plybook_core::change::CellChange;
    use plybook_core::dice::Seed;
    use plybook_core::entry::{Actor, Body, Entry, Move, in_book_order};
    use plybook_core::header::Principal;
    use plybook_core::limits::{ENTRIES_MAX, LINE_BYTES_MAX, PRINCIPAL_BYTES_MAX};
    use plybook_core::{Seq, Time};

    use super::*;

    fn rules(pop_out: bool) -> Dropping {
        Dropping { rows: 6, cols: 12, length: Length::AtLeast(4), pop_out, repetition: Repetition::Draws }
    }

    #[test]
    fn actions_have_one_notation() {
        for action in [Action::Drop(Column(0)), Action::Drop(Column(11)), Action::Pop(Column(0)), Action::Pop(Column(9))] {
            assert_eq!(rules(true).read_action(&rules(true).write_action(action)), Some(action));
        }
        assert_eq!(rules(true).write_action(Action::Pop(Column(3))), "4^");
        assert_eq!(rules(false).read_action("4^"), None);
        for bad in ["", "0", "01", "13", "^", "4^^", "^4", "+4", "-4", "4 ", "a", "4294967296", "99999999999999999999"] {
            assert_eq!(rules(true).read_action(bad), None, "{bad}");
        }
        assert_eq!(rules(true).write_action(Action::Drop(Column(u32::MAX))), "4294967296");
    }

    #[test]
    fn the_largest_pop_fits_on_a_line() {
        let bottom = u32::from(POP_OUT_ROWS_MAX) * u32::from(SIDE_MAX) - 1;
        let change = |i: u32| {
            let (before, after) = [(1, 0), (1, 2), (2, 1)][i as usize % 3];
            CellChange { cell: Cell(bottom - i * u32::from(SIDE_MAX)), before: Content(before), after: Content(after) }
        };
        let run = CellRun { first: Cell(bottom), step: u32::from(SIDE_MAX) + 1, count: u32::from(SIDE_MAX) };
        let outcome = Outcome::win(Seat(0), LINE).through(vec![run; RUNS_SHOWN_MAX]);
        let made = Move {
            notation: format!("{SIDE_MAX}^"),
            ply: ENTRIES_MAX,
            faces: Vec::new(),
            cells: in_book_order((0..u32::from(POP_OUT_ROWS_MAX)).map(change).collect()),
            verdict: Verdict::Finished(outcome),
        };
        let entry = Entry {
            seq: Seq(ENTRIES_MAX),
            time: Time::parse("2026-11-29T21:52:03.456Z").unwrap(),
            actor: Actor { seat: Some(Seat(0)), by: Principal::parse(&"p".repeat(PRINCIPAL_BYTES_MAX)).unwrap() },
            body: Body::Move(made),
            seed: Some(Seed::new([0xff; 32])),
        };
        assert!(entry.to_string().len() <= LINE_BYTES_MAX, "{} bytes", entry.to_string().len());
    }
}
