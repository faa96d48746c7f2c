//! Positions that any client can draw.

use plybook_core::Game;
use plybook_core::rules::Topology;
use plybook_proto::v1::{self, topology::Layout};

use crate::replies;

/// The position at the head of `game`. Scans the board: only where a position is asked for.
pub fn of(game: &Game) -> v1::Position {
    let (rules, position) = (game.rules(), game.position());
    let occupied = position.board().occupied();
    v1::Position {
        seq: u64::from(game.head().seq.0),
        ply: position.ply(),
        seat_to_move: game.to_move().map(replies::seat),
        topology: Some(topology(&rules.topology())),
        cells: occupied.map(|(cell, content)| v1::OccupiedCell { cell: cell.0, pieces: replies::event::pieces(rules, content) }).collect(),
        scores: rules.scores(position),
        position_digest: game.position_digest().0.to_vec(),
    }
}

fn topology(topology: &Topology) -> v1::Topology {
    match topology {
        Topology::Grid { rows, cols } => {
            let grid = v1::Grid { width: u32::from(*cols), height: u32::from(*rows) };
            v1::Topology { layout: Some(Layout::Grid(grid)), jumps: Vec::new() }
        }
        Topology::Track { last, jumps } => v1::Topology {
            layout: Some(Layout::Track(v1::Track { length: u32::from(*last) })),
            jumps: jumps.iter().map(|(from, to)| v1::Jump { from_cell: from.0, to_cell: to.0 }).collect(),
        },
    }
}
