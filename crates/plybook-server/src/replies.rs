//! The core's types as the contract's messages.
//!
//! Invariant: nothing is decided here; a reply says what the book says.

pub mod advice;
pub mod event;
pub mod game;
pub mod incident;
pub mod joining;
pub mod living;
pub mod position;
pub mod ruleset;
pub mod terms;

use bytes::Bytes;
use plybook_core::receipt::Inclusion;
use plybook_core::{Action, Digest, Outcome, Receipt, Seat, SeatSet, Time};
use plybook_proto::v1;

/// A time.
pub fn time(time: Time) -> prost_types::Timestamp {
    let ms = time.unix_ms();
    prost_types::Timestamp { seconds: (ms / 1000) as i64, nanos: (ms % 1000 * 1_000_000) as i32 }
}

/// A seat's number.
pub fn seat(seat: Seat) -> u32 {
    u32::from(seat.0)
}

/// Seats, ascending.
pub fn seats(seats: SeatSet) -> Vec<u32> {
    seats.iter().map(seat).collect()
}

/// How a game ended.
pub fn outcome(outcome: &Outcome) -> v1::Outcome {
    let mut cells: Vec<u32> = outcome.lines.iter().flat_map(|run| run.cells()).map(|cell| cell.0).collect();
    cells.sort_unstable();
    cells.dedup();
    v1::Outcome { winners: seats(outcome.winning_seats()), cells, reason: outcome.reason.to_string(), no_result: outcome.is_void() }
}

/// An action as a shape.
pub fn action(action: Action) -> v1::Action {
    use v1::action::Shape;
    let shape = match action {
        Action::Place(cell) => Shape::Place(v1::Place { cell: cell.0 }),
        Action::Drop(column) => Shape::Drop(v1::Drop { column: column.0 }),
        Action::Pop(column) => Shape::Pop(v1::Pop { column: column.0 }),
        Action::Roll => Shape::Roll(v1::Roll {}),
    };
    v1::Action { shape: Some(shape) }
}

/// A receipt.
pub fn receipt(receipt: &Receipt) -> v1::Receipt {
    v1::Receipt {
        game_id: receipt.game.to_string(),
        seq: u64::from(receipt.seq.0),
        book_digest: receipt.digest.0.to_vec(),
        key_id: receipt.key_id.to_string(),
        signature: receipt.signature.to_vec(),
        inclusion: receipt.inclusion.as_ref().map(inclusion),
    }
}

fn inclusion(inclusion: &Inclusion) -> v1::Inclusion {
    let nodes = Bytes::from(inclusion.path().iter().map(|digest| digest.0).collect::<Vec<_>>().into_flattened());
    let path = nodes.chunks_exact(size_of::<Digest>()).map(|node| nodes.slice_ref(node)).collect();
    v1::Inclusion { leaf_index: inclusion.index(), tree_size: inclusion.size(), path }
}
