//! Whole lines: rows, columns, on square boards both main diagonals, and the four corners.
//!
//! Invariant: each whole line has a register, its tally, which says whether it is vacant, mixed, or
//! how many cells one seat holds in it. A move bumps every tally through its cell; only then are
//! they tested. The board is not read.

use plybook_core::change::Register;
use plybook_core::outcome::CellRun;
use plybook_core::{Cell, Changes, Position, Seat};

/// Which whole lines a game has, and where their tallies are.
#[derive(Clone, Copy, Debug)]
pub(super) struct WholeLines {
    /// Rows of the board.
    pub(super) rows: u32,
    /// Columns of the board.
    pub(super) cols: u32,
    /// Whether rows, columns and main diagonals count.
    pub(super) full_line: bool,
    /// Whether the corners count.
    pub(super) four_corners: bool,
    /// The first register: the corners'. Rows, columns and diagonals follow.
    pub(super) first: u32,
}

/// One whole line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WholeLine {
    /// The four corners.
    Corners,
    /// A row, from the top.
    Row(u32),
    /// A column, from the left.
    Column(u32),
    /// The diagonal from the top left.
    Falling,
    /// The diagonal from the top right.
    Rising,
}

/// Who holds a whole line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tally {
    Vacant,
    /// Pieces of two seats or more: nobody can complete it.
    Mixed,
    Held {
        by: Seat,
        cells: u32,
    },
}

impl Tally {
    const SEAT_BITS: u32 = 4;

    const fn from_register(value: u32) -> Tally {
        match value {
            0 => Tally::Vacant,
            1 => Tally::Mixed,
            held => Tally::Held { by: Seat((held & ((1 << Tally::SEAT_BITS) - 1)) as u8), cells: held >> Tally::SEAT_BITS },
        }
    }

    const fn to_register(self) -> u32 {
        match self {
            Tally::Vacant => 0,
            Tally::Mixed => 1,
            Tally::Held { by, cells } => cells << Tally::SEAT_BITS | by.0 as u32,
        }
    }

    fn with(self, seat: Seat) -> Tally {
        match self {
            Tally::Vacant => Tally::Held { by: seat, cells: 1 },
            Tally::Held { by, cells } if by == seat => Tally::Held { by, cells: cells + 1 },
            Tally::Held { .. } | Tally::Mixed => Tally::Mixed,
        }
    }
}

impl WholeLines {
    /// How many registers the tallies take.
    pub(super) const fn registers(&self) -> u32 {
        match (self.full_line, self.four_corners) {
            (true, _) => 1 + self.rows + self.cols + 2,
            (false, corners) => corners as u32,
        }
    }

    /// How many whole lines there are.
    pub(super) const fn count(&self) -> u32 {
        let diagonals = if self.rows == self.cols { 2 } else { 0 };
        let full = if self.full_line { self.rows + self.cols + diagonals } else { 0 };
        full + self.four_corners as u32
    }

    /// Adds a piece of `seat` on `cell` to every tally; answers how many lines that closes for good.
    pub(super) fn bump(&self, position: &Position, changes: &mut Changes, cell: Cell, seat: Seat) -> u32 {
        let mut closed = 0;
        for line in self.through(cell) {
            let register = self.register(line);
            let before = Tally::from_register(position.register(register));
            let after = before.with(seat);
            closed += u32::from(after == Tally::Mixed && before != Tally::Mixed);
            changes.put(position, register, after.to_register());
        }
        closed
    }

    /// The lines through `cell` that one seat holds entirely, in a fixed order.
    pub(super) fn completed(&self, position: &Position, cell: Cell) -> impl Iterator<Item = WholeLine> {
        self.through(cell).filter(|line| {
            let tally = Tally::from_register(position.register(self.register(*line)));
            matches!(tally, Tally::Held { cells, .. } if cells == self.len(*line))
        })
    }

    /// Adds the cells of a line to `found`, unless they are there already.
    pub(super) fn show(&self, line: WholeLine, found: &mut Vec<CellRun>) {
        let (rows, cols) = (self.rows, self.cols);
        let mut add = |run: CellRun| {
            if !found.contains(&run) {
                found.push(run);
            }
        };
        match line {
            WholeLine::Row(row) => add(CellRun { first: Cell(row * cols), step: 1, count: cols }),
            WholeLine::Column(col) => add(CellRun { first: Cell(col), step: cols, count: rows }),
            WholeLine::Falling => add(CellRun { first: Cell(0), step: cols + 1, count: rows }),
            WholeLine::Rising => add(CellRun { first: Cell(cols - 1), step: cols - 1, count: rows }),
            WholeLine::Corners => self.corners().into_iter().map(CellRun::one).for_each(add),
        }
    }

    fn through(&self, cell: Cell) -> impl Iterator<Item = WholeLine> + use<> {
        let (row, col) = (cell.0 / self.cols, cell.0 % self.cols);
        let square = self.rows == self.cols;
        let full = |line, on: bool| (self.full_line && on).then_some(line);
        let lines = [
            full(WholeLine::Row(row), true),
            full(WholeLine::Column(col), true),
            full(WholeLine::Falling, square && row == col),
            full(WholeLine::Rising, square && row + col + 1 == self.cols),
            (self.four_corners && self.corners().contains(&cell)).then_some(WholeLine::Corners),
        ];
        lines.into_iter().flatten()
    }

    fn register(&self, line: WholeLine) -> Register {
        let offset = match line {
            WholeLine::Corners => 0,
            WholeLine::Row(row) => 1 + row,
            WholeLine::Column(col) => 1 + self.rows + col,
            WholeLine::Falling => 1 + self.rows + self.cols,
            WholeLine::Rising => 2 + self.rows + self.cols,
        };
        Register(self.first + offset)
    }

    const fn len(&self, line: WholeLine) -> u32 {
        match line {
            WholeLine::Corners => 4,
            WholeLine::Row(_) => self.cols,
            WholeLine::Column(_) | WholeLine::Falling | WholeLine::Rising => self.rows,
        }
    }

    const fn corners(&self) -> [Cell; 4] {
        let (last_row, last_col) = ((self.rows - 1) * self.cols, self.cols - 1);
        [Cell(0), Cell(last_col), Cell(last_row), Cell(last_row + last_col)]
    }
}

#[cfg(test)]
mod tests {
    use super::{Seat, Tally};

    #[test]
    fn tallies_survive_their_register() {
        let held = |by, cells| Tally::Held { by: Seat(by), cells };
        for tally in [Tally::Vacant, Tally::Mixed, held(0, 1), held(7, 1), held(0, 1000), held(7, 1000)] {
            assert_eq!(Tally::from_register(tally.to_register()), tally);
        }
    }

    #[test]
    fn a_second_seat_spoils_a_line_for_good() {
        let line = Tally::Vacant.with(Seat(1)).with(Seat(1));
        assert_eq!(line, Tally::Held { by: Seat(1), cells: 2 });
        assert_eq!(line.with(Seat(0)), Tally::Mixed);
        assert_eq!(line.with(Seat(0)).with(Seat(1)), Tally::Mixed);
    }
}
