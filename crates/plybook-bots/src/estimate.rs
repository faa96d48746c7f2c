//! How good a position looks that is not played to its end, and how promising an action looks.
//!
//! A ruleset that is not named in [`Estimate::of`] needs no line here: it is judged by its own scores,
//! or by nothing but what a search finds.
//!
//! | module | the noun |
//! | --- | --- |
//! | [`lines`] | lines that one seat alone could still complete |
//! | [`runs`] | the same by a glance around a cell, on boards too large for a list of lines |
//! | [`discs`] | squares and freedom, as in Othello |
//!
//! Invariant: entering and leaving the same changes leaves the estimate as it was.

mod discs;
mod lines;
mod runs;

use plybook_core::change::CellChange;
use plybook_core::params::ParamValue;
use plybook_core::{Action, Board, Cell, Content, Position, Rules, Seat};

use self::lines::Lines;
use self::runs::Runs;
use crate::view::View;

/// What is known of the value of positions, by the kind of game.
#[derive(Clone, Debug)]
pub(crate) enum Estimate {
    /// By lines, all of them counted.
    Lines(Lines),
    /// By runs around a cell.
    Runs(Runs),
    /// By squares and freedom.
    Discs,
    /// By the scores that the rules keep; where they keep none, everything looks even.
    Scores,
}

impl Estimate {
    pub(crate) fn of(view: &View<'_>) -> Estimate {
        match view.ruleset().name.as_str() {
            "mnk" | "gomoku" | "connect_four" => Lines::of(view).map_or_else(|| Estimate::Runs(Runs::of(view)), Estimate::Lines),
            "othello" => Estimate::Discs,
            _ => Estimate::Scores,
        }
    }

    pub(crate) fn enter(&mut self, cells: &[CellChange]) {
        cells.iter().for_each(|change| self.change(change.cell, change.before, change.after));
    }

    pub(crate) fn leave(&mut self, cells: &[CellChange]) {
        cells.iter().for_each(|change| self.change(change.cell, change.after, change.before));
    }

    fn change(&mut self, cell: Cell, before: Content, after: Content) {
        match self {
            Estimate::Lines(lines) => lines.change(cell, before, after),
            Estimate::Runs(runs) => runs.change(cell, before, after),
            Estimate::Discs | Estimate::Scores => {}
        }
    }

    /// Above 0 where the position looks better for `seat` than for the others on average.
    pub(crate) fn value(&self, rules: &dyn Rules, position: &Position, seat: Seat) -> i64 {
        match self {
            Estimate::Lines(lines) => lines.value(seat),
            Estimate::Runs(_) => 0,
            Estimate::Discs => discs::value(position.board(), seat),
            Estimate::Scores => beyond_others(&rules.scores(position), seat),
        }
    }

    /// The higher, the sooner it is worth a try.
    pub(crate) fn rank(&self, position: &Position, seat: Seat, action: Action) -> i64 {
        let board = position.board();
        let Some(cell) = target(board, action) else { return 0 };
        let rank = match self {
            Estimate::Lines(lines) => lines.rank(cell, seat),
            Estimate::Runs(runs) => runs.rank(board, cell, seat),
            Estimate::Discs => discs::rank(board, cell),
            Estimate::Scores => 0,
        };
        rank.saturating_mul(i64::from(board.rows()) + i64::from(board.cols())) - off_centre(board, cell)
    }

    /// On boards too large to list, the vacant cells near pieces.
    pub(crate) fn near(&self, board: &Board) -> Option<Vec<Action>> {
        match self {
            Estimate::Runs(runs) => runs.near(board),
            _ => None,
        }
    }
}

/// How much more `seat` has than the others on average.
fn beyond_others(scores: &[i64], seat: Seat) -> i64 {
    let own = scores.get(seat.index()).copied().unwrap_or(0);
    let others = scores.len().saturating_sub(1).max(1) as i64;
    (own * others - (scores.iter().sum::<i64>() - own)) / others
}

/// The cell on which an action's piece comes to rest, where it has one.
fn target(board: &Board, action: Action) -> Option<Cell> {
    match action {
        Action::Place(cell) => Some(cell),
        Action::Drop(column) => {
            let column = i32::try_from(column.0).ok()?;
            let cells = (0..i32::from(board.rows())).rev().filter_map(|row| board.cell(row, column));
            cells.into_iter().find(|cell| board.get(*cell).is_nothing())
        }
        Action::Pop(_) | Action::Roll => None,
    }
}

/// Twice the distance from the centre.
fn off_centre(board: &Board, cell: Cell) -> i64 {
    let (row, col) = board.place(cell);
    let off = |at: i32, side: u16| i64::from((2 * at - (i32::from(side) - 1)).abs());
    off(row, board.rows()).max(off(col, board.cols()))
}

/// A number among a game's parameters.
fn int(view: &View<'_>, name: &str) -> Option<i64> {
    match view.params().values().get(name) {
        Some(ParamValue::Int(n)) => Some(*n),
        _ => None,
    }
}

/// The length of a run that wins.
fn run_length(view: &View<'_>) -> usize {
    let five = if view.ruleset().name == "gomoku" { 5 } else { 1 };
    usize::try_from(int(view, "k").unwrap_or(five)).unwrap_or(1).max(1)
}

/// Whether who completes a line loses.
fn is_misere(view: &View<'_>) -> bool {
    view.params().values().get("misere") == Some(&ParamValue::Bool(true))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_are_averaged() {
        assert_eq!(beyond_others(&[], Seat(0)), 0);
        assert_eq!(beyond_others(&[5], Seat(0)), 5);
        assert_eq!(beyond_others(&[5, 2], Seat(1)), -3);
        assert_eq!(beyond_others(&[9, 2, 4], Seat(0)), 6);
    }

    #[test]
    fn the_centre_is_the_centre() {
        let board = Board::new(3, 4);
        let off: Vec<i64> = (0..board.len()).map(|cell| off_centre(&board, Cell(cell))).collect();
        assert_eq!(off, [3, 2, 2, 3, 3, 1, 1, 3, 3, 2, 2, 3]);
    }
}
