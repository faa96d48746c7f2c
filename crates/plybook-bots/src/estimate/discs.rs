//! Squares and freedom, as in Othello: corners stay, the squares beside a vacant corner give it away,
//! and whoever has many cells to move to is not forced. Near the end only the count matters.
//!
//! Invariant: what is good for one of two seats is as bad for the other.

use plybook_core::{Board, Cell, Seat};

const CORNER: i64 = 120;
const EDGE: i64 = 8;
/// Beside a vacant corner, on the edge.
const BESIDE: i64 = -20;
/// Beside a vacant corner, on the diagonal.
const ASLANT: i64 = -45;
const FREEDOM: i64 = 8;
/// What a disc is worth near the end.
const DISC: i64 = 30;
/// Near the end, at most one cell in so many is vacant.
const NEAR_END: u32 = 8;

pub(super) fn value(board: &Board, seat: Seat) -> i64 {
    let (mut squares, mut discs, mut vacant, mut freedom) = (0, 0, 0, 0);
    for cell in (0..board.len()).map(Cell) {
        match board.get(cell).owner() {
            Some(owner) => {
                let sign = if owner == seat { 1 } else { -1 };
                discs += sign;
                squares += sign * square(board, cell);
            }
            None => {
                vacant += 1;
                freedom += open_to(board, cell, seat);
            }
        }
    }
    if vacant * NEAR_END <= board.len() { discs * DISC + squares / 4 } else { squares + freedom * FREEDOM }
}

pub(super) fn rank(board: &Board, cell: Cell) -> i64 {
    square(board, cell)
}

/// 1 where a vacant cell touches the other's discs alone, so that only `seat` may hope to move there;
/// −1 the other way round.
fn open_to(board: &Board, cell: Cell, seat: Seat) -> i64 {
    let (row, col) = board.place(cell);
    let (mut own, mut others) = (false, false);
    for (down, right) in [(-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)] {
        match board.at(row + down, col + right).owner() {
            Some(owner) if owner == seat => own = true,
            Some(_) => others = true,
            None => {}
        }
    }
    i64::from(others) - i64::from(own)
}

fn square(board: &Board, cell: Cell) -> i64 {
    let (row, col) = board.place(cell);
    let (rows, cols) = (i32::from(board.rows()), i32::from(board.cols()));
    let from_edge = (row.min(rows - 1 - row), col.min(cols - 1 - col));
    let corner = board.at(if row < rows / 2 { 0 } else { rows - 1 }, if col < cols / 2 { 0 } else { cols - 1 });
    match from_edge {
        (0, 0) => CORNER,
        (0, 1) | (1, 0) if corner.is_nothing() => BESIDE,
        (1, 1) if corner.is_nothing() => ASLANT,
        (0, _) | (_, 0) => EDGE,
        _ => 0,
    }
}
