//! The shape of what is asked of a live game besides moves: leaving, offers, presence.
//!
//! Invariant: what depends on an entry says on which; the rest expects none.

use plybook_core::Seq;
use plybook_core::entry::{Act, Actor, Claim, Step};
use plybook_core::game::{Ask, Request};
use plybook_proto::v1;
use plybook_store::RequestKey;

use crate::auth::Caller;
use crate::refusal::Refusal;
use crate::requests::canon::Canon;
use crate::requests::{Asked, expected_seq, game_id, request_id, required_seat, seat_numbered, seq};

/// What every such request begins with.
struct Begun<'a> {
    caller: &'a Caller,
    id: uuid::Uuid,
    game: uuid::Uuid,
}

impl<'a> Begun<'a> {
    fn of(caller: &'a Caller, request: &str, game: &str) -> Result<Begun<'a>, Refusal> {
        Ok(Begun { caller, id: request_id(request)?, game: game_id(game)? })
    }

    /// `seat` acts, or nobody at the table; `expected` is what it depends on, if it does.
    fn asks(self, seat: Option<plybook_core::Seat>, expected: Option<Seq>, act: Act, canon: Canon) -> Asked {
        let actor = Actor { seat, by: self.caller.principal.clone() };
        let request = Request { actor, expected: expected.unwrap_or(Seq::FIRST), ask: Ask::Act(act) };
        Asked { key: self.caller.game(self.game), id: RequestKey { id: self.id, hash: canon.hash() }, request }
    }
}

/// The shape of a Resign.
#[tracing::instrument(name = "check", target = "plybook_step", skip_all)]
pub fn resign(caller: &Caller, message: &v1::ResignRequest) -> Result<Asked, Refusal> {
    let begun = Begun::of(caller, &message.request_id, &message.game_id)?;
    let seat = required_seat(message.seat)?;
    Ok(begun.asks(Some(seat), None, Act::Resign, Canon::of("Resign").number(seat.0.into())))
}

/// The shape of an AbortGame.
#[tracing::instrument(name = "check", target = "plybook_step", skip_all)]
pub fn abort(caller: &Caller, message: &v1::AbortGameRequest) -> Result<Asked, Refusal> {
    let begun = Begun::of(caller, &message.request_id, &message.game_id)?;
    let seat = message.seat.map(seat_numbered).transpose()?;
    let canon = Canon::of("AbortGame").number(seat.map_or(0, |seat| 1 + u64::from(seat.0)));
    Ok(begun.asks(seat, None, Act::Abort, canon))
}

/// The shape of a RemoveSeat.
#[tracing::instrument(name = "check", target = "plybook_step", skip_all)]
pub fn remove(caller: &Caller, message: &v1::RemoveSeatRequest) -> Result<Asked, Refusal> {
    let begun = Begun::of(caller, &message.request_id, &message.game_id)?;
    let seat = required_seat(message.seat)?;
    Ok(begun.asks(None, None, Act::Remove(seat), Canon::of("RemoveSeat").number(seat.0.into())))
}

/// The shape of an OfferDraw.
#[tracing::instrument(name = "check", target = "plybook_step", skip_all)]
pub fn offer_draw(caller: &Caller, message: &v1::OfferDrawRequest) -> Result<Asked, Refusal> {
    let begun = Begun::of(caller, &message.request_id, &message.game_id)?;
    let (expected, seat) = (expected_seq(message.expected_seq)?, required_seat(message.seat)?);
    let canon = Canon::of("OfferDraw").number(expected.0.into()).number(seat.0.into());
    Ok(begun.asks(Some(seat), Some(expected), Act::Draw(Step::Offer), canon))
}

/// The shape of an AnswerDraw.
#[tracing::instrument(name = "check", target = "plybook_step", skip_all)]
pub fn answer_draw(caller: &Caller, message: &v1::AnswerDrawRequest) -> Result<Asked, Refusal> {
    let begun = Begun::of(caller, &message.request_id, &message.game_id)?;
    let (expected, seat) = (expected_seq(message.expected_seq)?, required_seat(message.seat)?);
    let (step, word) = answer(message.answer)?;
    let canon = Canon::of("AnswerDraw").number(expected.0.into()).number(seat.0.into()).text(word);
    Ok(begun.asks(Some(seat), Some(expected), Act::Draw(step), canon))
}

/// The shape of an OfferUndo.
#[tracing::instrument(name = "check", target = "plybook_step", skip_all)]
pub fn offer_undo(caller: &Caller, message: &v1::OfferUndoRequest) -> Result<Asked, Refusal> {
    let begun = Begun::of(caller, &message.request_id, &message.game_id)?;
    let (expected, seat) = (expected_seq(message.expected_seq)?, required_seat(message.seat)?);
    let target = target(message.target_seq)?;
    let canon = Canon::of("OfferUndo").number(expected.0.into()).number(seat.0.into()).number(target.0.into());
    Ok(begun.asks(Some(seat), Some(expected), Act::Undo(Step::Offer, target), canon))
}

/// The shape of an AnswerUndo.
#[tracing::instrument(name = "check", target = "plybook_step", skip_all)]
pub fn answer_undo(caller: &Caller, message: &v1::AnswerUndoRequest) -> Result<Asked, Refusal> {
    let begun = Begun::of(caller, &message.request_id, &message.game_id)?;
    let (expected, seat) = (expected_seq(message.expected_seq)?, required_seat(message.seat)?);
    let (target, (step, word)) = (target(message.target_seq)?, answer(message.answer)?);
    let canon = Canon::of("AnswerUndo").number(expected.0.into()).number(seat.0.into()).number(target.0.into()).text(word);
    Ok(begun.asks(Some(seat), Some(expected), Act::Undo(step, target), canon))
}

/// The shape of a ReportPresence.
#[tracing::instrument(name = "check", target = "plybook_step", skip_all)]
pub fn presence(caller: &Caller, message: &v1::ReportPresenceRequest) -> Result<Asked, Refusal> {
    let begun = Begun::of(caller, &message.request_id, &message.game_id)?;
    let seat = required_seat(message.seat)?;
    let act = if message.present { Act::Back } else { Act::Away };
    Ok(begun.asks(Some(seat), None, act, Canon::of("ReportPresence").number(seat.0.into()).flag(message.present)))
}

/// The shape of a ClaimAbsence.
#[tracing::instrument(name = "check", target = "plybook_step", skip_all)]
pub fn claim(caller: &Caller, message: &v1::ClaimAbsenceRequest) -> Result<Asked, Refusal> {
    let begun = Begun::of(caller, &message.request_id, &message.game_id)?;
    let (expected, seat) = (expected_seq(message.expected_seq)?, required_seat(message.seat)?);
    let (claim, word) = match v1::AbsenceClaim::try_from(message.claim) {
        Ok(v1::AbsenceClaim::Win) => (Claim::Win, "win"),
        Ok(v1::AbsenceClaim::Draw) => (Claim::Draw, "draw"),
        Ok(v1::AbsenceClaim::Unspecified) | Err(_) => return Err(Refusal::field("claim", "is required: win or draw")),
    };
    let canon = Canon::of("ClaimAbsence").number(expected.0.into()).number(seat.0.into()).text(word);
    Ok(begun.asks(Some(seat), Some(expected), Act::Claim(claim), canon))
}

fn answer(number: i32) -> Result<(Step, &'static str), Refusal> {
    match v1::OfferAnswer::try_from(number) {
        Ok(v1::OfferAnswer::Accept) => Ok((Step::Accept, "accept")),
        Ok(v1::OfferAnswer::Decline) => Ok((Step::Decline, "decline")),
        Ok(v1::OfferAnswer::Withdraw) => Ok((Step::Withdraw, "withdraw")),
        Ok(v1::OfferAnswer::Unspecified) | Err(_) => Err(Refusal::field("answer", "is required: accept, decline or withdraw")),
    }
}

fn target(number: Option<u64>) -> Result<Seq, Refusal> {
    number.map(seq).ok_or_else(|| Refusal::field("target_seq", "is required: the entry of the move to take back"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {

    use super::*;

    /// A stored hash must be found again by every later release: these never change.
    #[test]
    fn hashes_of_requests_are_pinned() {
        let caller = Caller::anonymous().unwrap();
        let id = || "01900000-0000-7000-8000-000000000001".to_owned();
        let (seat, expected_seq, target_seq, with_receipt) = (Some(1), Some(7), Some(5), true);
        let accept = v1::OfferAnswer::Accept.into();
        let asked = [
            resign(&caller, &v1::ResignRequest { request_id: id(), game_id: id(), seat, with_receipt }),
            abort(&caller, &v1::AbortGameRequest { request_id: id(), game_id: id(), seat, with_receipt }),
            abort(&caller, &v1::AbortGameRequest { request_id: id(), game_id: id(), seat: None, with_receipt }),
            remove(&caller, &v1::RemoveSeatRequest { request_id: id(), game_id: id(), seat, with_receipt }),
            offer_draw(&caller, &v1::OfferDrawRequest { request_id: id(), game_id: id(), expected_seq, seat, with_receipt }),
            answer_draw(
                &caller,
                &v1::AnswerDrawRequest { request_id: id(), game_id: id(), expected_seq, seat, answer: accept, with_receipt },
            ),
            offer_undo(&caller, &v1::OfferUndoRequest { request_id: id(), game_id: id(), expected_seq, seat, target_seq, with_receipt }),
            answer_undo(
                &caller,
                &v1::AnswerUndoRequest {
                    request_id: id(),
                    game_id: id(),
                    expected_seq,
                    seat,
                    target_seq,
                    answer: accept,
                    with_position: true,
                    with_receipt,
                },
            ),
            presence(&caller, &v1::ReportPresenceRequest { request_id: id(), game_id: id(), seat, present: false, with_receipt }),
            claim(&caller, &v1::ClaimAbsenceRequest { request_id: id(), game_id: id(), expected_seq, seat, claim: 1, with_receipt }),
        ];
        let hashes = asked.map(|asked| asked.unwrap().id.hash[..8].iter().map(|byte| format!("{byte:02x}")).collect::<String>());
        let pinned = [
            "079c343a5880c949",
            "9b01d4b2df3ea2c4",
            "f1727d406e01eabf",
            "dfbf3888340a2215",
            "8aeea998a57b0e2c",
            "7498285d263fd957",
            "022b0db136bbc6e0",
            "74cdb234a51a84d7",
            "680e746ab56e4bf1",
            "de9e9b6a2222bb7f",
        ];
        assert_eq!(hashes, pinned);
    }
}
