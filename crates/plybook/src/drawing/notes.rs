//! Notes on a board: a few letters on a vacant cell.
//!
//! Invariant: no note stands where a piece does, and none on a track, whose cells are named otherwise.

use plybook_proto::v1;
use plybook_proto::v1::topology::Layout;

use super::{Look, draw};

/// A position with notes; of several on one cell each that differs stands beside the others.
pub(crate) fn draw_with(position: &v1::Position, look: Look<'_>, notes: impl IntoIterator<Item = (u32, String)>) -> String {
    let layout = position.topology.as_ref().and_then(|topology| topology.layout.as_ref());
    if !matches!(layout, Some(Layout::Grid(_))) {
        return draw(position, look);
    }
    let (mut marks, mut noted) = (look.marks.to_vec(), position.clone());
    for (cell, note) in notes {
        if position.cells.iter().any(|at| at.cell == cell) {
            continue;
        }
        // A note is drawn as the piece of a seat of that name.
        let known = (look.marks.len()..marks.len()).find(|seat| marks[*seat] == note);
        let seat = known.unwrap_or(marks.len());
        if seat == marks.len() {
            marks.push(note);
        }
        let piece = v1::Piece { seat: seat as u32, kind: String::new() };
        match noted.cells.iter_mut().find(|at| at.cell == cell) {
            Some(at) if at.pieces.contains(&piece) => {}
            Some(at) => at.pieces.push(piece),
            None => noted.cells.push(v1::OccupiedCell { cell, pieces: vec![piece] }),
        }
    }
    draw(&noted, Look { marks: &marks, ..look })
}

#[cfg(test)]
pub(crate) mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use plybook_core::grid::RowOne;

    use super::super::Notation;
    use super::*;

    /// A game of X and O on three columns and two rows, with a piece of this seat in the first cell.
    pub(crate) fn small_game(seat: u32) -> v1::Game {
        let layout = Layout::Grid(v1::Grid { width: 3, height: 2 });
        let pieces = vec![v1::Piece { seat, kind: "stone".into() }];
        let position = v1::Position {
            topology: Some(v1::Topology { layout: Some(layout), jumps: vec![] }),
            cells: vec![v1::OccupiedCell { cell: 0, pieces }],
            ..v1::Position::default()
        };
        let seats = ["X", "O"].map(|mark| v1::Seat { mark: mark.into(), ..v1::Seat::default() });
        v1::Game { position: Some(position), seats: seats.into(), ..v1::Game::default() }
    }

    #[test]
    fn notes_stand_on_vacant_cells() {
        let marks = ["X".to_owned(), "O".to_owned()];
        let look = Look { marks: &marks, notation: Notation::Cells(RowOne::Bottom), bright: &[1] };
        let notes = [(0, "no"), (1, "X!"), (1, "O!"), (1, "X!"), (5, "X")].map(|(cell, note)| (cell, note.to_owned()));
        let mut position = small_game(0).position.unwrap();
        assert_eq!(draw_with(&position, look, notes.clone()), "2   X   [X!O!]  .\n1   .     .     X\n    a     b     c");
        position.topology = Some(v1::Topology { layout: Some(Layout::Track(v1::Track { length: 9 })), jumps: vec![] });
        assert_eq!(draw_with(&position, look, notes), draw(&position, look));
    }
}
