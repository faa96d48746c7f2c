//! The games of lines and Othello once more, written naively: every question scans the whole board,
//! every move copies it. Slow and simple, to hold the real rules against.
//!
//! Invariant: nothing here uses the rulesets; only the names of actions are shared.

use plybook_core::action::Column;
use plybook_core::{Action, Cell};

use crate::deal::Deal;

/// How pieces come to the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Place,
    /// `repeats`: a position for the third time is a draw, and not a move that is refused.
    Drop {
        pop_out: bool,
        repeats: bool,
    },
    Othello,
}

/// A game with its parameters.
#[derive(Clone, Debug)]
pub struct Oracle {
    kind: Kind,
    rows: i64,
    cols: i64,
    seats: u8,
    run: Option<(i64, bool)>,
    full_line: bool,
    four_corners: bool,
    misere: bool,
    early_draw: bool,
    /// Every set of cells that would be a line, were they all of one seat.
    lines: Vec<Vec<usize>>,
}

/// A position: contents row by row from the top left, 0 for nothing or 1 + seat.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct State {
    /// The board.
    pub cells: Vec<u8>,
    /// Who moves; without meaning once the game is over.
    pub to_move: u8,
    /// Seats that were skipped by the last move.
    pub skipped: usize,
    /// Winners and reason, if the game is over; no winners for a draw.
    pub over: Option<(Vec<u8>, &'static str)>,
    past: Vec<(Vec<u8>, u8)>,
}

const DIRECTIONS: [(i64, i64); 8] = [(0, 1), (1, 0), (1, 1), (1, -1), (0, -1), (-1, 0), (-1, -1), (-1, 1)];

impl Oracle {
    /// The game that was dealt; nothing for games that this oracle does not know.
    pub fn of(deal: &Deal) -> Option<Oracle> {
        let mut oracle = Oracle::without_lines(deal)?;
        oracle.lines = oracle.every_line();
        Some(oracle)
    }

    fn without_lines(deal: &Deal) -> Option<Oracle> {
        let int = |name, default| deal.int(name).unwrap_or(default);
        let line = Oracle {
            kind: Kind::Place,
            rows: int("rows", 3),
            cols: int("cols", 3),
            seats: deal.seats,
            run: None,
            full_line: false,
            four_corners: false,
            misere: deal.flag("misere"),
            early_draw: deal.flag("early_draw"),
            lines: Vec::new(),
        };
        match deal.ruleset.as_str() {
            "mnk" => {
                let parts: Vec<&str> = deal.word("win").unwrap_or("run").split('+').collect();
                let run = parts.iter().find(|part| ["run", "exact"].contains(part));
                Some(Oracle {
                    run: run.map(|part| (int("k", 3), *part == "exact")),
                    full_line: parts.contains(&"full_line"),
                    four_corners: parts.contains(&"four_corners"),
                    ..line
                })
            }
            "gomoku" => {
                let size = int("size", 15);
                Some(Oracle { rows: size, cols: size, run: Some((5, deal.word("rule") == Some("standard"))), ..line })
            }
            "connect_four" => {
                let kind = Kind::Drop { pop_out: deal.flag("pop_out"), repeats: deal.version != Some(2) };
                Some(Oracle { kind, rows: int("rows", 6), cols: int("cols", 7), run: Some((int("k", 4), false)), ..line })
            }
            "othello" => {
                let size = int("size", 8);
                Some(Oracle { kind: Kind::Othello, rows: size, cols: size, ..line })
            }
            _ => None,
        }
    }

    /// Before the first move.
    pub fn begin(&self) -> State {
        let mut cells = vec![0; (self.rows * self.cols) as usize];
        if self.kind == Kind::Othello {
            let middle = self.rows / 2;
            for (row, col, content) in [(middle - 1, middle - 1, 2), (middle, middle, 2), (middle - 1, middle, 1), (middle, middle - 1, 1)]
            {
                cells[(row * self.cols + col) as usize] = content;
            }
        }
        let past = vec![(cells.clone(), self.seats - 1)];
        State { cells, to_move: 0, skipped: 0, over: None, past }
    }

    fn at(&self, cells: &[u8], row: i64, col: i64) -> u8 {
        let on = (0..self.rows).contains(&row) && (0..self.cols).contains(&col);
        if on { cells[(row * self.cols + col) as usize] } else { 0 }
    }

    /// Every legal action, in no particular order.
    pub fn legal(&self, state: &State) -> Vec<Action> {
        if state.over.is_some() {
            return Vec::new();
        }
        let vacant = |cell: &usize| state.cells[*cell] == 0;
        let places = (0..state.cells.len()).filter(vacant);
        let place = |cell: usize| Action::Place(Cell(cell as u32));
        match self.kind {
            Kind::Place => places.map(place).collect(),
            Kind::Othello => places.filter(|cell| !self.turned(&state.cells, *cell, state.to_move).is_empty()).map(place).collect(),
            Kind::Drop { pop_out, repeats } => {
                let columns = || (0..self.cols).map(|col| (col, Column(col as u32)));
                let drops = columns().filter(|(col, _)| self.at(&state.cells, 0, *col) == 0).map(|(_, column)| Action::Drop(column));
                let own = |col: i64| self.at(&state.cells, self.rows - 1, col) == state.to_move + 1;
                let pops = columns().filter(|(col, _)| pop_out && own(*col)).map(|(_, column)| Action::Pop(column));
                let thrice = |action: &Action| seen(state, &(self.cells_after(state, *action), state.to_move)) >= 2;
                drops.chain(pops).filter(|action| !pop_out || repeats || !thrice(action)).collect()
            }
        }
    }

    /// What stands where after a legal action.
    fn cells_after(&self, state: &State, action: Action) -> Vec<u8> {
        let mover = state.to_move;
        let mut cells = state.cells.clone();
        match action {
            Action::Place(cell) => {
                for turned in self.turned(&state.cells, cell.index(), mover) {
                    cells[turned] = mover + 1;
                }
                cells[cell.index()] = mover + 1;
            }
            Action::Drop(column) => {
                let column = i64::from(column.0);
                let lowest = (0..self.rows).rev().find(|row| self.at(&state.cells, *row, column) == 0).unwrap();
                cells[(lowest * self.cols + column) as usize] = mover + 1;
            }
            Action::Pop(column) => {
                for row in 0..self.rows {
                    let above = self.at(&state.cells, row - 1, i64::from(column.0));
                    cells[(row * self.cols + i64::from(column.0)) as usize] = above;
                }
            }
            Action::Roll => panic!("no dice here"),
        }
        cells
    }

    /// The position after a legal action.
    pub fn after(&self, state: &State, action: Action) -> State {
        let mover = state.to_move;
        let mut next = State { cells: self.cells_after(state, action), ..state.clone() };
        if matches!(self.kind, Kind::Drop { pop_out: true, .. }) {
            next.past.push((next.cells.clone(), mover));
        }
        next.to_move = (mover + 1) % self.seats;
        next.skipped = 0;
        if self.kind == Kind::Othello {
            self.judge_othello(&mut next, mover)
        } else {
            self.judge_lines(&mut next, mover)
        }
        next
    }

    fn judge_lines(&self, state: &mut State, mover: u8) {
        let others = || (0..self.seats).filter(|seat| *seat != mover).collect::<Vec<u8>>();
        if let Some(reason) = self.line_of(&state.cells, mover) {
            state.over = Some((if self.misere { others() } else { vec![mover] }, reason));
            return;
        }
        let popped = matches!(self.kind, Kind::Drop { pop_out: true, .. });
        if popped && self.line_of(&state.cells, state.to_move).is_some() {
            state.over = Some((vec![state.to_move], "line"));
            return;
        }
        if self.legal(state).is_empty() {
            state.over = Some((Vec::new(), if popped { "no_move" } else { "board_full" }));
            return;
        }
        if popped && seen(state, &(state.cells.clone(), mover)) >= 3 {
            state.over = Some((Vec::new(), "repetition"));
        }
        if self.early_draw && !self.lines.iter().any(|line| self.held_by_one_at_most(&state.cells, line)) {
            state.over = Some((Vec::new(), "no_line_left"));
        }
    }

    /// Why `seat` has a line anywhere on the board.
    fn line_of(&self, cells: &[u8], seat: u8) -> Option<&'static str> {
        let holds = |line: &[usize]| line.iter().all(|cell| cells[*cell] == seat + 1);
        if self.run.is_some_and(|(k, exactly)| self.longest_runs(cells, seat).any(|run| if exactly { run == k } else { run >= k })) {
            return Some("line");
        }
        if self.full_line && self.whole_lines().iter().any(|line| holds(line)) {
            return Some("full_line");
        }
        (self.four_corners && holds(&self.corners())).then_some("four_corners")
    }

    /// The lengths of all runs that cannot be made longer.
    fn longest_runs<'a>(&'a self, cells: &'a [u8], seat: u8) -> impl Iterator<Item = i64> + 'a {
        let own = move |row, col| self.at(cells, row, col) == seat + 1;
        let starts = (0..self.rows).flat_map(move |row| (0..self.cols).map(move |col| (row, col)));
        starts.flat_map(move |(row, col)| {
            DIRECTIONS[..4].iter().filter_map(move |(down, right)| {
                let begins = own(row, col) && !own(row - down, col - right);
                begins.then(|| (0..).take_while(|step| own(row + step * down, col + step * right)).count() as i64)
            })
        })
    }

    fn cells_along(&self, row: i64, col: i64, (down, right): (i64, i64), count: i64) -> Option<Vec<usize>> {
        let (last_row, last_col) = (row + (count - 1) * down, col + (count - 1) * right);
        let on = (0..self.rows).contains(&last_row) && (0..self.cols).contains(&last_col);
        on.then(|| (0..count).map(|step| ((row + step * down) * self.cols + col + step * right) as usize).collect())
    }

    fn every_line(&self) -> Vec<Vec<usize>> {
        let mut lines = Vec::new();
        if let Some((k, _)) = self.run {
            for (row, col) in (0..self.rows).flat_map(|row| (0..self.cols).map(move |col| (row, col))) {
                lines.extend(DIRECTIONS[..4].iter().filter_map(|direction| self.cells_along(row, col, *direction, k)));
            }
        }
        if self.full_line {
            lines.extend(self.whole_lines());
        }
        if self.four_corners {
            lines.push(self.corners());
        }
        lines
    }

    fn whole_lines(&self) -> Vec<Vec<usize>> {
        let rows = (0..self.rows).filter_map(|row| self.cells_along(row, 0, (0, 1), self.cols));
        let cols = (0..self.cols).filter_map(|col| self.cells_along(0, col, (1, 0), self.rows));
        let mut lines: Vec<Vec<usize>> = rows.chain(cols).collect();
        if self.rows == self.cols {
            lines.extend(self.cells_along(0, 0, (1, 1), self.rows));
            lines.extend(self.cells_along(0, self.cols - 1, (1, -1), self.rows));
        }
        lines
    }

    fn corners(&self) -> Vec<usize> {
        let (right, down) = (self.cols as usize - 1, ((self.rows - 1) * self.cols) as usize);
        vec![0, right, down, down + right]
    }

    fn held_by_one_at_most(&self, cells: &[u8], line: &[usize]) -> bool {
        let mut holders: Vec<u8> = line.iter().map(|cell| cells[*cell]).filter(|content| *content != 0).collect();
        holders.dedup();
        holders.len() <= 1
    }

    /// The discs that Othello turns over.
    fn turned(&self, cells: &[u8], cell: usize, seat: u8) -> Vec<usize> {
        if self.kind != Kind::Othello {
            return Vec::new();
        }
        let (row, col) = (cell as i64 / self.cols, cell as i64 % self.cols);
        let mut turned = Vec::new();
        for (down, right) in DIRECTIONS {
            let content = |step: i64| self.at(cells, row + step * down, col + step * right);
            let theirs = (1..).take_while(|step| content(*step) != 0 && content(*step) != seat + 1).count() as i64;
            if content(theirs + 1) == seat + 1 {
                turned.extend((1..=theirs).map(|step| ((row + step * down) * self.cols + col + step * right) as usize));
            }
        }
        turned
    }

    fn judge_othello(&self, state: &mut State, mover: u8) {
        if !self.legal(state).is_empty() {
            return;
        }
        (state.to_move, state.skipped) = (mover, 1);
        if !self.legal(state).is_empty() {
            return;
        }
        state.skipped = 0;
        let discs = |content: u8| state.cells.iter().filter(|cell| **cell == content).count();
        state.over = Some(match discs(1).cmp(&discs(2)) {
            std::cmp::Ordering::Greater => (vec![0], "most_discs"),
            std::cmp::Ordering::Less => (vec![1], "most_discs"),
            std::cmp::Ordering::Equal => (vec![], "equal_discs"),
        });
    }
}

/// How often this board has stood after a move of this seat.
fn seen(state: &State, here: &(Vec<u8>, u8)) -> usize {
    state.past.iter().filter(|past| *past == here).count()
}
