//! The lines of a small grid as masks, and the ways to turn and mirror it.
//!
//! Invariant: a line is held by a seat that has every cell of `cells` and none of `beyond`, and
//! every win of the ruleset is the holding of a line through the cell just taken.

/// Cells that win together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// All of these.
    pub(super) cells: u32,
    /// And none of these: the cells next to either end, where only runs of an exact length win.
    pub(super) beyond: u32,
}

impl Line {
    /// Whether a seat with these pieces holds it.
    #[inline]
    pub(super) const fn held_by(self, pieces: u32) -> bool {
        pieces & self.cells == self.cells && pieces & self.beyond == 0
    }

    /// Whether a seat could still come to hold it.
    #[inline]
    pub(super) const fn open_to(self, own: u32, theirs: u32) -> bool {
        theirs & self.cells == 0 && own & self.beyond == 0
    }
}

/// Where a symmetry takes every cell, by the bytes of a mask.
type Turn = [[u32; 256]; 4];

/// Every line of a board, and the board's symmetries.
#[derive(Clone, Debug)]
pub(super) struct Lines {
    /// Cells of the board.
    pub(super) board: u32,
    /// Every line.
    pub(super) all: Vec<Line>,
    /// The lines through each cell.
    pub(super) through: Vec<Vec<Line>>,
    /// Every symmetry but the identity.
    turns: Vec<Turn>,
}

impl Lines {
    /// The lines of a board of at most 32 cells under a win rule as headers write it; nothing where
    /// the rule has a part that is not known here.
    pub(super) fn of(rows: u16, cols: u16, k: i64, win: &str) -> Option<Lines> {
        let grid = Grid { rows: i32::from(rows), cols: i32::from(cols) };
        let mut all = Vec::new();
        for part in win.split('+') {
            match part {
                "run" => grid.add_runs(k, false, &mut all),
                "exact" => grid.add_runs(k, true, &mut all),
                "full_line" => grid.add_whole_lines(&mut all),
                "four_corners" => all.push(Line { cells: grid.corners(), beyond: 0 }),
                _ => return None,
            }
        }
        let cells = rows * cols;
        let through = (0..cells).map(|cell| all.iter().filter(|line| line.cells & 1 << cell != 0).copied().collect()).collect();
        Some(Lines { board: u32::MAX >> (32 - u32::from(cells)), all, through, turns: grid.turns() })
    }

    /// The least of the position's images, as one number.
    #[inline]
    pub(super) fn canonical(&self, own: u32, theirs: u32) -> u64 {
        let pair = |own: u32, theirs: u32| u64::from(own) << 32 | u64::from(theirs);
        let images = self.turns.iter().map(|turn| pair(turned(turn, own), turned(turn, theirs)));
        images.fold(pair(own, theirs), u64::min)
    }
}

#[inline]
fn turned(turn: &Turn, bits: u32) -> u32 {
    let [a, b, c, d] = bits.to_le_bytes().map(usize::from);
    turn[0][a] | turn[1][b] | turn[2][c] | turn[3][d]
}

#[derive(Clone, Copy)]
struct Grid {
    rows: i32,
    cols: i32,
}

impl Grid {
    fn bit(self, row: i32, col: i32) -> u32 {
        let on = (0..self.rows).contains(&row) && (0..self.cols).contains(&col);
        if on { 1 << (row * self.cols + col) } else { 0 }
    }

    fn places(self) -> impl Iterator<Item = (i32, i32)> {
        (0..self.rows).flat_map(move |row| (0..self.cols).map(move |col| (row, col)))
    }

    fn add_runs(self, k: i64, exact: bool, all: &mut Vec<Line>) {
        // A run longer than the board is in no game.
        let k = k.clamp(1, i64::from(u8::MAX)) as i32;
        for (row, col) in self.places() {
            for (down, right) in [(0, 1), (1, 0), (1, 1), (1, -1)] {
                let at = |step: i32| self.bit(row + step * down, col + step * right);
                if at(k - 1) == 0 {
                    continue;
                }
                let cells = (0..k).fold(0, |bits, step| bits | at(step));
                let beyond = if exact { at(-1) | at(k) } else { 0 };
                all.push(Line { cells, beyond });
            }
        }
    }

    fn add_whole_lines(self, all: &mut Vec<Line>) {
        let mut add = |cells: u32| all.push(Line { cells, beyond: 0 });
        (0..self.rows).for_each(|row| add((0..self.cols).fold(0, |bits, col| bits | self.bit(row, col))));
        (0..self.cols).for_each(|col| add((0..self.rows).fold(0, |bits, row| bits | self.bit(row, col))));
        if self.rows == self.cols {
            add((0..self.rows).fold(0, |bits, n| bits | self.bit(n, n)));
            add((0..self.rows).fold(0, |bits, n| bits | self.bit(n, self.cols - 1 - n)));
        }
    }

    fn corners(self) -> u32 {
        let (bottom, right) = (self.rows - 1, self.cols - 1);
        self.bit(0, 0) | self.bit(0, right) | self.bit(bottom, 0) | self.bit(bottom, right)
    }

    /// Mirrored in its rows, in its columns or both; a square also with rows for columns.
    fn turns(self) -> Vec<Turn> {
        let ways = (1..if self.rows == self.cols { 8 } else { 4 }).map(|way| (way & 1 != 0, way & 2 != 0, way & 4 != 0));
        let table = |(upside_down, reversed, transposed)| {
            let mut table = [[0u32; 256]; 4];
            for (cell, (row, col)) in self.places().enumerate() {
                let to_row = if upside_down { self.rows - 1 - row } else { row };
                let to_col = if reversed { self.cols - 1 - col } else { col };
                let to = if transposed { self.bit(to_col, to_row) } else { self.bit(to_row, to_col) };
                for (byte, image) in table[cell / 8].iter_mut().enumerate() {
                    if byte & 1 << (cell % 8) != 0 {
                        *image |= to;
                    }
                }
            }
            table
        };
        ways.map(table).collect()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::Lines;

    fn count(rows: u16, cols: u16, k: i64, win: &str) -> usize {
        Lines::of(rows, cols, k, win).unwrap().all.len()
    }

    #[test]
    fn boards_have_their_lines() {
        assert_eq!(count(3, 3, 3, "run"), 8);
        assert_eq!(count(3, 3, 3, "exact+full_line+four_corners"), 8 + 8 + 1);
        assert_eq!(count(4, 4, 3, "run"), 24);
        assert_eq!(count(4, 8, 4, "exact"), 20 + 8 + 10);
        assert_eq!(count(1, 32, 5, "run"), 28);
        assert!(Lines::of(3, 3, 3, "diamond").is_none());
    }

    #[test]
    fn images_of_a_position_have_one_number() {
        let square = Lines::of(3, 3, 3, "run").unwrap();
        let corners: Vec<u64> = [0, 2, 6, 8].iter().map(|cell| square.canonical(1 << cell, 1 << 4)).collect();
        assert!(corners.iter().all(|number| *number == corners[0]));
        assert_ne!(corners[0], square.canonical(1 << 1, 1 << 4));
        let oblong = Lines::of(4, 8, 4, "run").unwrap();
        assert_eq!(oblong.canonical(1 << 31, 1 << 1), oblong.canonical(1, 1 << 30));
        assert_ne!(oblong.canonical(1 << 8, 0), oblong.canonical(1, 0));
    }
}
