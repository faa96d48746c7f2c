//! Positions as text for a terminal.
//!
//! Invariant: a picture comes from the generic position alone; nothing here knows a game.

mod grid;
pub(crate) mod notation;
mod track;

pub(crate) use notation::Notation;

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

/// A position: a board with coordinates, or a track with its tokens, and the scores where there are any.
pub(crate) fn draw(position: &v1::Position, look: Look<'_>) -> String {
    let layout = position.topology.as_ref().and_then(|topology| topology.layout.as_ref());
    let mut picture = match layout {
        Some(Layout::Grid(size)) => grid::draw(size, &position.cells, look),
        Some(Layout::Track(size)) => {
            let jumps = position.topology.as_ref().map_or(&[][..], |topology| &topology.jumps);
            track::draw(size, jumps, &position.cells, look)
        }
        None => "(this board has a layout that is not known here)".to_owned(),
    };
    // On a track the scores are the squares, which are told already.
    if !position.scores.is_empty() && !matches!(layout, Some(Layout::Track(_))) {
        let score = |(seat, score): (usize, &i64)| format!("{} {score}", crate::words::seat_name(seat as u32, look.marks));
        let scores: Vec<String> = position.scores.iter().enumerate().map(score).collect();
        picture.push_str(&format!("\nScore: {}", scores.join(", ")));
    }
    picture
}
