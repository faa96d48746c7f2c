//! Lines that one seat alone could still complete.
//!
//! Invariant: for every line the pieces of each seat in it are counted, and a seat's total is the sum
//! of what its lines are worth; a change touches only the lines through its cell.

use plybook_core::params::ParamValue;
use plybook_core::{Board, Cell, Content, Seat};

use super::{is_misere, run_length};
use crate::view::View;

/// More cells than this in all lines together are not listed.
const LISTED_MOST: usize = 100_000;
/// What a line is worth that lacks so many pieces.
const WORTH: [i64; 6] = [1024, 256, 64, 16, 4, 1];
const DIRECTIONS: [(i32, i32); 4] = [(0, 1), (1, 0), (1, 1), (1, -1)];

/// Every line of a game.
#[derive(Clone, Debug)]
pub(crate) struct Lines {
    seats: usize,
    misere: bool,
    lines: Vec<Line>,
    /// Pieces by line and seat.
    pieces: Vec<u16>,
    /// The lines through each cell.
    through: Vec<Vec<u32>>,
    /// What each seat's lines are worth.
    totals: Vec<i64>,
}

#[derive(Clone, Copy, Debug)]
struct Line {
    cells: u16,
    /// Seats with pieces in it.
    holders: u16,
}

/// Who could still complete a line.
enum Held {
    Nobody,
    By(usize, u16),
    ByMany,
}

impl Lines {
    /// The lines of a game on a board that is small enough.
    pub(super) fn of(view: &View<'_>) -> Option<Lines> {
        let board = view.position().board();
        let cells = all(board, view)?;
        let seats = usize::from(view.position().seats());
        let mut through = vec![Vec::new(); board.len() as usize];
        for (number, line) in cells.iter().enumerate() {
            line.iter().for_each(|cell| through[cell.index()].push(number as u32));
        }
        let lines: Vec<Line> = cells.iter().map(|line| Line { cells: line.len() as u16, holders: 0 }).collect();
        let pieces = vec![0; lines.len() * seats];
        let mut lines = Lines { seats, misere: is_misere(view), lines, pieces, through, totals: vec![0; seats] };
        for (cell, content) in board.occupied() {
            lines.change(cell, Content::NOTHING, content);
        }
        Some(lines)
    }

    pub(super) fn change(&mut self, cell: Cell, before: Content, after: Content) {
        for i in 0..self.through[cell.index()].len() {
            let line = self.through[cell.index()][i] as usize;
            self.count(line, -1);
            if let Some(seat) = before.owner() {
                let pieces = &mut self.pieces[line * self.seats + seat.index()];
                *pieces -= 1;
                self.lines[line].holders -= u16::from(*pieces == 0);
            }
            if let Some(seat) = after.owner() {
                let pieces = &mut self.pieces[line * self.seats + seat.index()];
                *pieces += 1;
                self.lines[line].holders += u16::from(*pieces == 1);
            }
            self.count(line, 1);
        }
    }

    fn count(&mut self, line: usize, sign: i64) {
        if let Held::By(seat, pieces) = self.held(line) {
            self.totals[seat] += sign * worth(self.lines[line].cells - pieces);
        }
    }

    fn held(&self, line: usize) -> Held {
        match self.lines[line].holders {
            0 => Held::Nobody,
            1 => {
                let pieces = &self.pieces[line * self.seats..(line + 1) * self.seats];
                pieces.iter().position(|pieces| *pieces > 0).map_or(Held::Nobody, |seat| Held::By(seat, pieces[seat]))
            }
            _ => Held::ByMany,
        }
    }

    pub(super) fn value(&self, seat: Seat) -> i64 {
        let value = super::beyond_others(&self.totals, seat);
        if self.misere { -value } else { value }
    }

    /// What a piece of `seat` on `cell` would gain or spoil.
    pub(super) fn rank(&self, cell: Cell, seat: Seat) -> i64 {
        let Some(through) = self.through.get(cell.index()) else { return 0 };
        let of = |line: &u32| {
            let cells = self.lines[*line as usize].cells;
            match self.held(*line as usize) {
                Held::Nobody => 4 * worth(cells - 1),
                Held::By(holder, pieces) if holder == seat.index() => 4 * worth(cells - (pieces + 1).min(cells)),
                Held::By(_, pieces) => 3 * worth(cells - (pieces + 1).min(cells)),
                Held::ByMany => 0,
            }
        };
        let rank: i64 = through.iter().map(of).sum();
        if self.misere { -rank } else { rank }
    }
}

fn worth(missing: u16) -> i64 {
    WORTH.get(usize::from(missing)).copied().unwrap_or(0)
}

/// The cells of every line that wins, or nothing where there are too many.
fn all(board: &Board, view: &View<'_>) -> Option<Vec<Vec<Cell>>> {
    let (rows, cols) = (i32::from(board.rows()), i32::from(board.cols()));
    let win = match view.params().values().get("win") {
        Some(ParamValue::Text(win)) => win.as_str(),
        _ => "run",
    };
    let has = |part: &str| win.split('+').any(|other| other == part);
    let mut lines = Vec::new();
    let mut listed = 0;
    let mut list = |line: Vec<Cell>| {
        listed += line.len();
        lines.push(line);
        (listed <= LISTED_MOST).then_some(())
    };
    let line = |row: i32, col: i32, (down, right): (i32, i32), length: i32| {
        let last = board.cell(row + (length - 1) * down, col + (length - 1) * right);
        last.and_then(|_| (0..length).map(|i| board.cell(row + i * down, col + i * right)).collect::<Option<Vec<Cell>>>())
    };
    if has("run") || has("exact") {
        let k = i32::try_from(run_length(view)).ok()?;
        for cell in (0..board.len()).map(Cell) {
            let (row, col) = board.place(cell);
            for direction in DIRECTIONS {
                line(row, col, direction, k).map_or(Some(()), &mut list)?;
            }
        }
    }
    if has("full_line") {
        let across = (0..rows).filter_map(|row| line(row, 0, (0, 1), cols));
        let down = (0..cols).filter_map(|col| line(0, col, (1, 0), rows));
        let aslant = [line(0, 0, (1, 1), rows), line(0, cols - 1, (1, -1), rows)];
        let aslant = aslant.into_iter().flatten().filter(|_| rows == cols);
        across.chain(down).chain(aslant).try_for_each(&mut list)?;
    }
    if has("four_corners") {
        let corners = [(0, 0), (0, cols - 1), (rows - 1, 0), (rows - 1, cols - 1)];
        list(corners.into_iter().filter_map(|(row, col)| board.cell(row, col)).collect())?;
    }
    Some(lines)
}
