//! Games in which a seat puts a piece on a vacant cell, where it stays.
//!
//! Invariant: a move changes one cell. A win is tested before a draw, and the draw is read off
//! registers: the cells filled, and with `early_draw` the lines that one seat alone could still
//! complete.

use std::ops::ControlFlow;

use plybook_core::action::Shape;
use plybook_core::change::Register;
use plybook_core::dice::Face;
use plybook_core::grid::{Grid, RowOne};
use plybook_core::outcome::{CellRun, Reason};
use plybook_core::rules::{Setup, Topology, illegal};
use plybook_core::{Action, Board, Cell, Changes, Content, Illegal, Outcome, Position, Rules, Seat, SeatSet, Verdict};

use super::whole::{WholeLine, WholeLines};
use super::win_rule::WinRule;
use super::{BOARD_FULL, FOUR_CORNERS, FULL_LINE, LINE, NO_LINE_LEFT, run, window};

/// Cells that are not vacant.
const FILLED: Register = Register(0);
/// Lines that one seat alone could still complete; kept with `early_draw` only.
const OPEN: Register = Register(1);
/// The first tally of a whole line.
const TALLIES: u32 = 2;

/// What a game of placing is made of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placing {
    /// Rows of the board.
    pub(crate) rows: u16,
    /// Columns of the board.
    pub(crate) cols: u16,
    /// What completes a line.
    pub(crate) win: WinRule,
    /// Whether who completes a line loses, and all others win together.
    pub(crate) misere: bool,
    /// Whether the game ends as a draw once nobody can complete a line.
    pub(crate) early_draw: bool,
}

impl Placing {
    const fn grid(&self) -> Grid {
        Grid { rows: self.rows, cols: self.cols, row_one: RowOne::Bottom }
    }

    const fn cells(&self) -> u32 {
        self.rows as u32 * self.cols as u32
    }

    const fn whole_lines(&self) -> WholeLines {
        WholeLines {
            rows: self.rows as u32,
            cols: self.cols as u32,
            full_line: self.win.full_line,
            four_corners: self.win.four_corners,
            first: TALLIES,
        }
    }

    /// Why `mover` has completed something through `cell`, and the cells that show it.
    fn completed(&self, position: &Position, cell: Cell) -> Option<(Reason, Vec<CellRun>)> {
        let mut found = Vec::new();
        if let Some(length) = self.win.run {
            run::find_runs(position.board(), cell, length, &mut found);
        }
        let mut reason = (!found.is_empty()).then_some(LINE);
        let whole_lines = self.whole_lines();
        for line in whole_lines.completed(position, cell) {
            whole_lines.show(line, &mut found);
            reason = reason.or(Some(if line == WholeLine::Corners { FOUR_CORNERS } else { FULL_LINE }));
        }
        reason.map(|reason| (reason, found))
    }
}

impl Rules for Placing {
    fn setup(&self) -> Setup {
        let whole_lines = self.whole_lines();
        let mut registers = vec![0; (TALLIES + whole_lines.registers()) as usize];
        if self.early_draw {
            let windows = self.win.run.map_or(0, |length| window::count(self.rows, self.cols, length.k()));
            registers[OPEN.0 as usize] = windows + whole_lines.count();
        }
        Setup { board: Board::new(self.rows, self.cols), registers, counts_repetition: false }
    }

    fn topology(&self) -> Topology {
        Topology::Grid { rows: self.rows, cols: self.cols }
    }

    fn shapes(&self) -> &'static [Shape] {
        &[Shape::Place]
    }

    fn resolve(&self, position: &Position, seat: Seat, action: Action, _faces: &[Face]) -> Result<Changes, Illegal> {
        let Action::Place(cell) = action else {
            return Err(Illegal::new(illegal::NO_SUCH_ACTION, "pieces are placed in this game"));
        };
        let board = position.board();
        if !board.has(cell) {
            return Err(Illegal::new(illegal::OFF_BOARD, format!("there is no cell {} on this board", cell.0)));
        }
        let mut changes = Changes::new();
        changes.set(position, cell, Content::of(seat));
        if changes.cells().first().is_none_or(|change| !change.before.is_nothing()) {
            return Err(Illegal::new(illegal::CELL_OCCUPIED, format!("a piece stands on {} already", self.cell_name(cell))));
        }
        changes.put(position, FILLED, position.register(FILLED) + 1);
        let mut closed = self.whole_lines().bump(position, &mut changes, cell, seat);
        if self.early_draw {
            closed += self.win.run.map_or(0, |length| window::closed_by(board, cell, seat, length.k()));
            changes.put(position, OPEN, position.register(OPEN) - closed);
        }
        Ok(changes)
    }

    fn judge(&self, position: &Position, mover: Seat, changes: &Changes) -> Verdict {
        let completed = changes.cells().iter().find_map(|change| self.completed(position, change.cell));
        if let Some((reason, lines)) = completed {
            let others = SeatSet::all(position.seats()).without(mover);
            let winners = if self.misere { others } else { SeatSet::only(mover) };
            return Verdict::Finished(Outcome::wins(winners, reason).through(lines));
        }
        if position.register(FILLED) == self.cells() {
            return Verdict::Finished(Outcome::draw(BOARD_FULL));
        }
        if self.early_draw && position.register(OPEN) == 0 {
            return Verdict::Finished(Outcome::draw(NO_LINE_LEFT));
        }
        Verdict::next(mover.next(position.seats()))
    }

    fn candidates(&self, position: &Position, _seat: Seat, offer: &mut dyn FnMut(Action) -> ControlFlow<()>) {
        let board = position.board();
        for cell in (0..self.cells()).map(Cell) {
            if board.get(cell).is_nothing() && offer(Action::Place(cell)).is_break() {
                return;
            }
        }
    }

    fn write_action(&self, action: Action) -> String {
        match action {
            Action::Place(cell) => self.cell_name(cell),
            other => other.shape().name().to_owned(),
        }
    }

    fn read_action(&self, notation: &str) -> Option<Action> {
        self.grid().read(notation).map(Action::Place)
    }

    fn cell_name(&self, cell: Cell) -> String {
        self.grid().name(cell)
    }
}
