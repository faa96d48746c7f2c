//! Positions as text for a terminal.
//!
//! Invariant: a picture comes from the generic position alone; nothing here knows a game.

pub(crate) mod clocks;
mod grid;
pub(crate) mod notation;
pub(crate) mod notes;
mod track;

pub(crate) use clocks::{BETWEEN, Clocks, beside};
pub(crate) use notation::Notation;
pub(crate) use notes::draw_with;

use plybook_proto::v1;
use plybook_proto::v1::topology::Layout;

/// What a picture shows beside the pieces.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look<'a> {
    /// The seats' marks.
    pub(crate) marks: &'a [String],
    /// How cells are named.
    pub(crate) notation: Notation,
    /// Cells in brackets: those that decided the game, or those of the last move.
    pub(crate) bright: &'a [u32],
}

/// How large a picture may be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    /// Characters in a line.
    pub(crate) columns: usize,
    /// Lines.
    pub(crate) lines: usize,
}

/// What a pipe is shown: of a large board forty rows and columns.
impl Default for Room {
    fn default() -> Room {
        Room { columns: usize::MAX, lines: usize::MAX }
    }
}

/// A position in as much room as there is: of a large board a part around its bright cells, and
/// of any other picture the lines around them.
pub(crate) fn draw_within(position: &v1::Position, look: Look<'_>, room: Room) -> String {
    let layout = position.topology.as_ref().and_then(|topology| topology.layout.as_ref());
    // The scores stand below the board.
    let below = usize::from(!position.scores.is_empty());
    let picture = match layout {
        Some(Layout::Grid(size)) => {
            let board = grid::draw_within(size, &position.cells, look, Room { lines: room.lines.saturating_sub(below), ..room });
            with_scores(board, position, look)
        }
        _ => draw(position, look),
    };
    let lines: Vec<&str> = picture.lines().collect();
    if lines.len() <= room.lines {
        return picture;
    }
    let bright = lines.iter().position(|line| line.contains('[')).unwrap_or(0);
    let first = bright.saturating_sub(room.lines / 2).min(lines.len() - room.lines);
    lines[first..first + room.lines].join("\n")
}

/// A position: a board with coordinates, or a track with its tokens, and the scores where there are any.
pub(crate) fn draw(position: &v1::Position, look: Look<'_>) -> String {
    let layout = position.topology.as_ref().and_then(|topology| topology.layout.as_ref());
    match layout {
        Some(Layout::Grid(size)) => with_scores(grid::draw(size, &position.cells, look), position, look),
        Some(Layout::Track(size)) => {
            let jumps = position.topology.as_ref().map_or(&[][..], |topology| &topology.jumps);
            track::draw(size, jumps, &position.cells, look)
        }
        None => with_scores("(this board has a layout that is not known here)".to_owned(), position, look),
    }
}

/// On a track the scores are the squares, which are told already.
fn with_scores(mut picture: String, position: &v1::Position, look: Look<'_>) -> String {
    if !position.scores.is_empty() {
        let score = |(seat, score): (usize, &i64)| format!("{} {score}", crate::words::seat_name(seat as u32, look.marks));
        let scores: Vec<String> = position.scores.iter().enumerate().map(score).collect();
        picture.push_str(&format!("\nScore: {}", scores.join(", ")));
    }
    picture
}
