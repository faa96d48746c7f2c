//! Coordinates of cells as people write them: a column's letters, then a row's number.
//!
//! Columns run `a` … `z`, `aa`, `ab` … (bijective base 26); rows count from 1, from the bottom or
//! from the top as the game's own literature does.
//!
//! Invariant: one cell has one name, and only that name reads back.

use crate::board::Cell;

/// Where row 1 is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowOne {
    /// At the bottom, as in gomoku.
    Bottom,
    /// At the top, as in published Othello games.
    Top,
}

/// Names for the cells of a rectangle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Rows.
    pub rows: u16,
    /// Columns.
    pub cols: u16,
    /// Where row 1 is.
    pub row_one: RowOne,
}

impl Grid {
    /// `b2`. Also for cells below the board's last row, so that a refusal can name them.
    pub fn name(self, cell: Cell) -> String {
        let cols = u32::from(self.cols);
        let (row, col) = (cell.0 / cols, cell.0 % cols);
        let number = match self.row_one {
            RowOne::Top => i64::from(row) + 1,
            RowOne::Bottom => i64::from(self.rows) - i64::from(row),
        };
        format!("{}{number}", column_name(col))
    }

    /// The cell with this name, if it is on the board.
    pub fn read(self, name: &str) -> Option<Cell> {
        let digits = name.find(|c: char| c.is_ascii_digit())?;
        let (letters, number) = name.split_at(digits);
        let col = read_column(letters)?;
        if number.starts_with('0') || !number.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let number: u32 = number.parse().ok()?;
        let rows = u32::from(self.rows);
        if col >= u32::from(self.cols) || number == 0 || number > rows {
            return None;
        }
        let row = match self.row_one {
            RowOne::Top => number - 1,
            RowOne::Bottom => rows - number,
        };
        Some(Cell(row * u32::from(self.cols) + col))
    }
}

/// The letters of a column counted from 0.
pub fn column_name(col: u32) -> String {
    let mut letters = Vec::new();
    let mut n = col + 1;
    while n > 0 {
        n -= 1;
        letters.push(b'a' + (n % 26) as u8);
        n /= 26;
    }
    letters.iter().rev().map(|b| char::from(*b)).collect()
}

fn read_column(letters: &str) -> Option<u32> {
    if letters.is_empty() || letters.len() > 4 || !letters.bytes().all(|b| b.is_ascii_lowercase()) {
        return None;
    }
    Some(letters.bytes().fold(0, |n, b| n * 26 + u32::from(b - b'a') + 1) - 1)
}

#[cfg(test)]
mod tests {
    use super::{Cell, Grid, RowOne};

    #[track_caller]
    fn check(rows: u16, cols: u16, row_one: RowOne, cell: u32, name: &str) {
        let grid = Grid { rows, cols, row_one };
        assert_eq!(grid.name(Cell(cell)), name);
        assert_eq!(grid.read(name), Some(Cell(cell)));
    }

    #[test]
    fn cells_have_one_name() {
        check(3, 3, RowOne::Bottom, 4, "b2");
        check(3, 3, RowOne::Bottom, 0, "a3");
        check(8, 8, RowOne::Top, 37, "f5");
        check(30, 30, RowOne::Bottom, 20 * 30 + 26, "aa10");
        check(1000, 1000, RowOne::Bottom, 999_999, "all1");
        check(1, 703, RowOne::Top, 702, "aaa1");
        let grid = Grid { rows: 3, cols: 3, row_one: RowOne::Bottom };
        for bad in ["", "b", "2", "B2", "b02", "b0", "b4", "d1", "b2 ", "b-2", "2b", "b2b", "zzzzz1", "b99999999999", "é2"] {
            assert_eq!(grid.read(bad), None, "{bad}");
        }
    }
}
