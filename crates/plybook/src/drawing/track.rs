//! A path of squares, wound up in rows of ten as on the printed boards, and where each token is.

use std::collections::BTreeMap;

use plybook_proto::v1;

use super::Look;

/// Squares in a row of the picture.
const ROW: u32 = 10;
/// Longer tracks are listed, not drawn.
const DRAWN_MAX: u32 = 400;

pub(super) fn draw(size: &v1::Track, jumps: &[v1::Jump], cells: &[v1::OccupiedCell], look: Look<'_>) -> String {
    let marks_on = |cell: &v1::OccupiedCell| {
        cell.pieces.iter().map(|piece| crate::words::seat_name(piece.seat, look.marks)).collect::<Vec<_>>().join("")
    };
    let tokens: BTreeMap<u32, String> = cells.iter().map(|cell| (cell.cell, marks_on(cell))).collect();
    let mut lines = Vec::new();
    if size.length <= DRAWN_MAX {
        lines = picture(size.length, jumps, &tokens, look.bright);
    }
    for (seat, mark) in look.marks.iter().enumerate() {
        let square = cells.iter().find(|cell| cell.pieces.iter().any(|piece| piece.seat as usize == seat)).map(|cell| cell.cell);
        let place = match square {
            None | Some(0) => "off the board".to_owned(),
            Some(square) => format!("square {square} of {}", size.length),
        };
        lines.push(format!("{mark}: {place}"));
    }
    lines.join("\n")
}

fn picture(length: u32, jumps: &[v1::Jump], tokens: &BTreeMap<u32, String>, bright: &[u32]) -> Vec<String> {
    let text = |square: u32| {
        let jump = jumps.iter().find(|jump| jump.from_cell == square);
        let arrow = jump.map_or("", |jump| if jump.to_cell > square { "^" } else { "v" });
        let text = tokens.get(&square).cloned().unwrap_or_else(|| format!("{square}{arrow}"));
        if bright.contains(&square) { format!("[{text}]") } else { text }
    };
    let width = (1..=length).map(|square| text(square).chars().count()).max().unwrap_or(1);
    let row_text = |row: u32| {
        let squares: Vec<u32> = (row * ROW + 1..=row * ROW + ROW).collect();
        let in_order: Vec<u32> = if row.is_multiple_of(2) { squares } else { squares.into_iter().rev().collect() };
        let cell = |square: u32| if square > length { String::new() } else { text(square) };
        let row: Vec<String> = in_order.into_iter().map(|square| format!("{:>width$}", cell(square))).collect();
        row.join(" ").trim_end().to_owned()
    };
    (0..length.div_ceil(ROW)).rev().map(row_text).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::super::Notation;
    use super::*;

    #[test]
    fn tokens_stand_on_a_wound_path() {
        let marks = ["X".to_owned(), "O".to_owned()];
        let look = Look { marks: &marks, notation: Notation::Numbers, bright: &[] };
        let pieces = |seats: &[u32]| seats.iter().map(|seat| v1::Piece { seat: *seat, kind: "token".into() }).collect();
        let cells = [v1::OccupiedCell { cell: 0, pieces: pieces(&[1]) }, v1::OccupiedCell { cell: 13, pieces: pieces(&[0]) }];
        let jumps = [v1::Jump { from_cell: 2, to_cell: 15 }, v1::Jump { from_cell: 11, to_cell: 5 }];
        let drawn = draw(&v1::Track { length: 15 }, &jumps, &cells, look);
        let expected =
            "                     15  14   X  12 11v\n  1  2^   3   4   5   6   7   8   9  10\nX: square 13 of 15\nO: off the board";
        assert_eq!(drawn, expected);
    }
}
