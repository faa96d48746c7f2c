//! A window: K cells in a row. It is open while at most one seat has pieces in it.
//!
//! Invariant: a piece closes exactly those windows through its cell that only one other seat held,
//! so a count of open windows is kept by looking less than K cells each way.

use plybook_core::{Board, Cell, Content, Seat};

use super::run::DIRECTIONS;

/// How many windows a board has.
pub(super) fn count(rows: u16, cols: u16, k: u32) -> u32 {
    let (rows, cols) = (u32::from(rows), u32::from(cols));
    let down = (rows + 1).saturating_sub(k);
    let right = (cols + 1).saturating_sub(k);
    rows * right + down * cols + 2 * down * right
}

/// How many open windows a piece of `seat` closes when it comes to the vacant `cell`.
pub(super) fn closed_by(board: &Board, cell: Cell, seat: Seat, k: u32) -> u32 {
    let closed_along = |(down, right): (i32, i32)| {
        let back = Reach::look(board, cell, (-down, -right), seat, k);
        let ahead = Reach::look(board, cell, (down, right), seat, k);
        closed_between(&back, &ahead, k)
    };
    DIRECTIONS.into_iter().map(closed_along).sum()
}

/// What stands on one side of a cell, as far as windows that may be closed reach.
struct Reach {
    /// The first seat met, by content.
    holder: Content,
    /// Distance of its first piece; K if there is none.
    first: u32,
    /// Distance of the first cell that no such window holds: off the board, of the placing seat
    /// (closed before, or still its own), or of a second seat (closed before). At most K.
    end: u32,
}

impl Reach {
    fn look(board: &Board, cell: Cell, (down, right): (i32, i32), seat: Seat, k: u32) -> Reach {
        let mut reach = Reach { holder: Content::NOTHING, first: k, end: k };
        let (mut row, mut col) = board.place(cell);
        for distance in 1..k {
            (row, col) = (row + down, col + right);
            let content = board.cell(row, col).map(|beside| board.get(beside));
            match content {
                Some(Content::NOTHING) => {}
                Some(content) if content != Content::of(seat) && reach.holder.is_nothing() => {
                    reach.holder = content;
                    reach.first = distance;
                }
                Some(content) if content == reach.holder => {}
                _ => {
                    reach.end = distance;
                    break;
                }
            }
        }
        reach
    }
}

fn closed_between(back: &Reach, ahead: &Reach, k: u32) -> u32 {
    let one_holder = back.holder == ahead.holder;
    // A window reaches `i` cells back and the rest of its K cells ahead.
    let is_closed = |i: &u32| match (*i >= back.first, k - 1 - i >= ahead.first) {
        (true, true) => one_holder,
        (held_back, held_ahead) => held_back || held_ahead,
    };
    (k - ahead.end..back.end).filter(is_closed).count() as u32
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use plybook_core::{Board, Cell, Content, Seat};

    use super::{DIRECTIONS, closed_by, count};

    /// Open windows by their definition.
    fn open(board: &Board, k: u32) -> u32 {
        let mut open = 0;
        for start in (0..board.len()).map(Cell) {
            let (row, col) = board.place(start);
            for (down, right) in DIRECTIONS {
                let cells: Option<Vec<Cell>> = (0..k as i32).map(|i| board.cell(row + i * down, col + i * right)).collect();
                let Some(cells) = cells else { continue };
                let mut holders: Vec<Content> = cells.iter().map(|cell| board.get(*cell)).filter(|content| !content.is_nothing()).collect();
                holders.sort_unstable();
                holders.dedup();
                open += u32::from(holders.len() <= 1);
            }
        }
        open
    }

    #[track_caller]
    fn check(rows: u16, cols: u16, k: u32, seats: u8) {
        let mut board = Board::new(rows, cols);
        let mut left = count(rows, cols, k);
        assert_eq!(left, open(&board, k), "{rows}x{cols} k={k}");
        // A fixed shuffle: any order of cells does.
        let mut random = u64::from(rows) * 1_000_003 + u64::from(cols) * 1_009 + u64::from(k);
        let mut cells: Vec<Cell> = (0..board.len()).map(Cell).collect();
        for ply in 0u32.. {
            if cells.is_empty() {
                break;
            }
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let cell = cells.swap_remove((random >> 33) as usize % cells.len());
            let seat = Seat((ply % u32::from(seats)) as u8);
            left -= closed_by(&board, cell, seat, k);
            board.set(cell, Content::of(seat));
            assert_eq!(left, open(&board, k), "{rows}x{cols} k={k}, {seats} seats, ply {ply}");
        }
    }

    #[test]
    fn the_count_of_open_windows_is_the_one_by_definition() {
        for (rows, cols) in [(1, 7), (7, 1), (3, 3), (4, 6), (7, 5), (9, 9), (2, 12)] {
            for k in 1..=u32::from(rows.max(cols)) {
                for seats in [2, 3, 5] {
                    check(rows, cols, k, seats);
                }
            }
        }
    }
}
