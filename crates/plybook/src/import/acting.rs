//! What was asked in a record and is no move, asked of a server.
//!
//! Invariant: what only time brings about cannot be asked for.

use plybook_client::{Client, Error};
use plybook_core::entry::{Act, Step};
use plybook_core::{Seat, Seq};
use plybook_proto::v1;

/// Something that can be asked for at any time, and is no move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// A seat leaves.
    Resign,
    /// The game ends without a result.
    Abort,
    /// A seat is taken out.
    Remove(Seat),
    /// About a draw.
    Draw(Step),
    /// About taking back a move.
    Undo(Step, Seq),
}

impl Asked {
    /// As the core has it.
    pub(crate) const fn act(self) -> Act {
        match self {
            Asked::Resign => Act::Resign,
            Asked::Abort => Act::Abort,
            Asked::Remove(seat) => Act::Remove(seat),
            Asked::Draw(step) => Act::Draw(step),
            Asked::Undo(step, target) => Act::Undo(step, target),
        }
    }
}

/// Asks for it; `of` are the id of the request and the entry that it is decided on.
pub(super) async fn act(
    client: &Client,
    game_id: String,
    seat: Option<u32>,
    asked: Asked,
    of: (String, Option<u64>),
) -> Result<Option<Box<v1::Event>>, Error> {
    let ((request_id, expected_seq), with_receipt) = (of, false);
    match asked {
        Asked::Resign => Ok(client.resign(v1::ResignRequest { request_id, game_id, seat, with_receipt }).await?.event),
        Asked::Abort => Ok(client.abort_game(v1::AbortGameRequest { request_id, game_id, seat, with_receipt }).await?.event),
        Asked::Remove(seat) => {
            let seat = Some(u32::from(seat.0));
            Ok(client.remove_seat(v1::RemoveSeatRequest { request_id, game_id, seat, with_receipt }).await?.event)
        }
        Asked::Draw(Step::Offer) => {
            let request = v1::OfferDrawRequest { request_id, game_id, expected_seq, seat, with_receipt };
            Ok(client.offer_draw(request).await?.event)
        }
        Asked::Draw(step) => {
            let answer = answer(step).into();
            let request = v1::AnswerDrawRequest { request_id, game_id, expected_seq, seat, answer, with_receipt };
            Ok(client.answer_draw(request).await?.event)
        }
        Asked::Undo(Step::Offer, target) => {
            let target_seq = Some(u64::from(target.0));
            let request = v1::OfferUndoRequest { request_id, game_id, expected_seq, seat, target_seq, with_receipt };
            Ok(client.offer_undo(request).await?.event)
        }
        Asked::Undo(step, target) => {
            let (answer, target_seq, with_position) = (answer(step).into(), Some(u64::from(target.0)), false);
            let request =
                v1::AnswerUndoRequest { request_id, game_id, expected_seq, seat, target_seq, answer, with_position, with_receipt };
            Ok(client.answer_undo(request).await?.event)
        }
    }
}

const fn answer(step: Step) -> v1::OfferAnswer {
    match step {
        Step::Offer => v1::OfferAnswer::Unspecified,
        Step::Accept => v1::OfferAnswer::Accept,
        Step::Decline => v1::OfferAnswer::Decline,
        Step::Withdraw => v1::OfferAnswer::Withdraw,
    }
}
