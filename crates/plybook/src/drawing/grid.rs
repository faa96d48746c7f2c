//! A rectangle of cells with coordinates on its edges.
//!
//! Invariant: a drawn row is never wider than a terminal can be asked to show: of a large board, the
//! part around its bright cells is drawn.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use plybook_proto::v1;

use super::{Look, Room};

/// Most rows, and most columns, in one picture.
const SIDE_MAX: u32 = 40;

pub(super) fn draw(size: &v1::Grid, cells: &[v1::OccupiedCell], look: Look<'_>) -> String {
    draw_within(size, cells, look, Room::default())
}

pub(super) fn draw_within(size: &v1::Grid, cells: &[v1::OccupiedCell], look: Look<'_>, room: Room) -> String {
    let (width, height) = (size.width.max(1), size.height.max(1));
    let focus = look.bright.last().copied().filter(|cell| *cell < width * height);
    let focus = focus.unwrap_or((height / 2) * width + width / 2);
    let pieces: HashMap<u32, String> = cells.iter().map(|cell| (cell.cell, marks_on(cell, look.marks))).collect();
    let bright: HashSet<u32> = look.bright.iter().copied().collect();

    let label = |row: u32| look.notation.row(row, height, width);
    // Beside the rows stand the columns' names, and of a part of a board that it is one.
    let fitting = |lines: usize| u32::try_from(lines).unwrap_or(u32::MAX).clamp(1, SIDE_MAX);
    let most = if height as usize + 1 > room.lines { fitting(room.lines.saturating_sub(2)) } else { SIDE_MAX };
    let rows = window(focus / width, height, most);
    let label_width = rows.clone().map(|row| label(row).chars().count()).max().unwrap_or(0);
    let longest = |texts: &mut dyn Iterator<Item = usize>| texts.max().unwrap_or(1).max(1);
    let names = |cols: Range<u32>| cols.map(|col| look.notation.column(col)).collect::<Vec<_>>();
    let wide = |cols: &Range<u32>| longest(&mut pieces.values().chain(&names(cols.clone())).map(|text| text.chars().count()));
    let around = |most: u32| window(focus % width, width, most);
    // Fewer columns may have shorter names, but never longer ones.
    let widest = wide(&around(SIDE_MAX));
    let cols = around(fitting(room.columns.saturating_sub(label_width + 1) / (widest + 2)));
    let (columns, cell_width) = (names(cols.clone()), wide(&cols));

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

/// At most so many of `0..all`, with `focus` in the middle where that can be.
fn window(focus: u32, all: u32, most: u32) -> Range<u32> {
    let first = focus.saturating_sub(most / 2).min(all.saturating_sub(most));
    first..all.min(first + most)
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
