//! A rectangle of cells with coordinates on its edges.
//!
//! Invariant: a drawn row is never wider than a terminal can be asked to show: of a large board, the
//! part around its bright cells is drawn.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use plybook_proto::v1;

use super::Look;

/// Most rows, and most columns, in one picture.
const SIDE_MAX: u32 = 40;

pub(super) fn draw(size: &v1::Grid, cells: &[v1::OccupiedCell], look: Look<'_>) -> String {
    let (width, height) = (size.width.max(1), size.height.max(1));
    let focus = look.bright.last().copied().filter(|cell| *cell < width * height);
    let focus = focus.unwrap_or((height / 2) * width + width / 2);
    let (rows, cols) = (window(focus / width, height), window(focus % width, width));
    let pieces: HashMap<u32, String> = cells.iter().map(|cell| (cell.cell, marks_on(cell, look.marks))).collect();
    let bright: HashSet<u32> = look.bright.iter().copied().collect();

    let label = |row: u32| look.notation.row(row, height, width);
    let label_width = rows.clone().map(|row| label(row).chars().count()).max().unwrap_or(0);
    let columns: Vec<String> = cols.clone().map(|col| look.notation.column(col)).collect();
    let longest = |texts: &mut dyn Iterator<Item = usize>| texts.max().unwrap_or(1);
    let cell_width = longest(&mut pieces.values().chain(&columns).map(|text| text.chars().count())).max(1);

    let mut lines = Vec::new();
    for row in rows.clone() {
        let mut line = format!("{:>label_width$} ", label(row));
        for col in cols.clone() {
            let cell = row * width + col;
            let text = pieces.get(&cell).map_or(".", String::as_str);
            let (open, close) = if bright.contains(&cell) { ('[', ']') } else { (' ', ' ') };
            line.push_str(&format!("{open}{text:^cell_width$}{close}"));
        }
        lines.push(line.trim_end().to_owned());
    }
    let below: String = columns.iter().map(|name| format!(" {name:^cell_width$} ")).collect();
    lines.push(format!("{:label_width$} {below}", "").trim_end().to_owned());
    if rows.len() < height as usize || cols.len() < width as usize {
        lines.push(format!("(a part of a board of {height} rows and {width} columns; {} cells are occupied)", cells.len()));
    }
    lines.join("\n")
}

/// At most [`SIDE_MAX`] of `0..all`, with `focus` in the middle where that can be.
fn window(focus: u32, all: u32) -> Range<u32> {
    let first = focus.saturating_sub(SIDE_MAX / 2).min(all.saturating_sub(SIDE_MAX));
    first..all.min(first + SIDE_MAX)
}

fn marks_on(cell: &v1::OccupiedCell, marks: &[String]) -> String {
    cell.pieces.iter().map(|piece| crate::words::seat_name(piece.seat, marks)).collect::<Vec<_>>().join("")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use plybook_core::grid::RowOne;

    use super::super::Notation;
    use super::*;

    fn piece(cell: u32, seat: u32) -> v1::OccupiedCell {
        v1::OccupiedCell { cell, pieces: vec![v1::Piece { seat, kind: "disc".into() }] }
    }

    #[test]
    fn a_board_shows_coordinates_and_bright_cells() {
        let marks = ["X".to_owned(), "O".to_owned()];
        let look = Look { marks: &marks, notation: Notation::Cells(RowOne::Bottom), bright: &[4] };
        let picture = draw(&v1::Grid { width: 3, height: 3 }, &[piece(1, 1), piece(4, 0)], look);
        assert_eq!(picture, "3  .  O  .\n2  . [X] .\n1  .  .  .\n   a  b  c");
    }

    #[test]
    fn long_marks_and_fallen_pieces() {
        let marks = ["red".to_owned(), "blue".to_owned()];
        let look = Look { marks: &marks, notation: Notation::Columns, bright: &[] };
        let picture = draw(&v1::Grid { width: 2, height: 2 }, &[piece(2, 0), piece(3, 1)], look);
        assert_eq!(picture, "   .     .\n  red   blue\n   1     2");
    }

    #[test]
    fn of_a_large_board_a_part_is_drawn() {
        let marks = ["X".to_owned()];
        let look = Look { marks: &marks, notation: Notation::Cells(RowOne::Top), bright: &[999_999] };
        let picture = draw(&v1::Grid { width: 1000, height: 1000 }, &[piece(999_999, 0)], look);
        let lines: Vec<&str> = picture.lines().collect();
        assert_eq!(lines.len(), 42);
        assert!(lines[39].starts_with("1000 ") && lines[39].ends_with("[ X ]"), "{}", lines[39]);
        assert!(lines[40].trim_end().ends_with("all"), "{}", lines[40]);
        assert_eq!(lines[41], "(a part of a board of 1000 rows and 1000 columns; 1 cells are occupied)");
    }
}
