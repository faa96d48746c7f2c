//! What an entry says happened, in words.
//!
//! Invariant: whoever has to answer an offer is named.

use plybook_proto::v1;
use plybook_proto::v1::event::Body;

use super::{left, seat_name, seat_names};

/// What an entry did, without a full stop.
pub(crate) fn told(event: &v1::Event, marks: &[String]) -> String {
    match &event.body {
        Some(Body::MoveMade(made)) if made.faces.is_empty() => {
            format!("{} played {}", seat_name(made.seat, marks), made.notation)
        }
        Some(Body::MoveMade(made)) => {
            let faces: Vec<String> = made.faces.iter().map(u32::to_string).collect();
            format!("{} threw {}", seat_name(made.seat, marks), faces.join(", "))
        }
        Some(Body::MoveUndone(undone)) if undone.agreed => {
            let who = seat_name(undone.seat.unwrap_or_default(), marks);
            format!("{who} agreed, and the move of entry {} was taken back", undone.undone_seq)
        }
        Some(Body::MoveUndone(undone)) => format!("the move of entry {} was taken back", undone.undone_seq),
        Some(Body::GameClosed(_)) => "the game was closed".to_owned(),
        Some(Body::GameCreated(_)) => "the game was created".to_owned(),
        Some(_) => happened(event, marks).unwrap_or_default(),
        None => "something that is not known here".to_owned(),
    }
}

/// What happened beside moves, undos and ends, without a full stop.
pub(crate) fn happened(event: &v1::Event, marks: &[String]) -> Option<String> {
    let name = |seat: u32| seat_name(seat, marks);
    let several = |seats: &[u32]| seat_names(seats, marks);
    Some(match event.body.as_ref()? {
        Body::NonceCommitted(joined) => format!("{} committed to a nonce", name(joined.seat)),
        Body::NonceRevealed(joined) => format!("{} revealed its nonce", name(joined.seat)),
        Body::SeatsAbsent(absent) => format!("{} did not join in time", several(&absent.seats)),
        Body::SeatResigned(resigned) => format!("{} resigned", name(resigned.seat)),
        Body::GameAborted(aborted) => match aborted.seat {
            Some(seat) => format!("{} broke the game off", name(seat)),
            None => "The calling service broke the game off".to_owned(),
        },
        Body::SeatRemoved(removed) => format!("{} was taken out of the game", name(removed.seat)),
        Body::TimeExpired(expired) => expired_words(expired, &name(expired.seat)),
        Body::SeatForfeited(forfeited) => format!("{} was away for too long", name(forfeited.seat)),
        Body::AbsenceClaimed(claimed) => match claimed.claim() {
            v1::AbsenceClaim::Draw => format!("{} claimed a draw, as the others are away", name(claimed.seat)),
            _ => format!("{} went on without {}, who stayed away", name(claimed.seat), several(&claimed.left_seats)),
        },
        Body::PresenceChanged(changed) if changed.present => format!("{} is back", name(changed.seat)),
        Body::PresenceChanged(changed) => format!("{} is away", name(changed.seat)),
        Body::OfferMade(made) => offered(made.offer.as_ref()?, marks),
        Body::OfferAnswered(answered) => answered_words(answered, marks),
        Body::TimeCredited(credited) => {
            format!(
                "{} got {} back, for which no server was there",
                name(credited.seat),
                left::spoken(left::millis(credited.credit.as_ref()))
            )
        }
        Body::GameCreated(_) | Body::MoveMade(_) | Body::MoveUndone(_) | Body::GameClosed(_) => return None,
    })
}

fn expired_words(expired: &v1::TimeExpired, who: &str) -> String {
    match expired.then() {
        v1::IfExpired::Skip => format!("{who}'s time ran out, and the turn with it"),
        v1::IfExpired::Bot => format!("{who}'s time ran out; a bot makes this move"),
        v1::IfExpired::Forfeit | v1::IfExpired::Unspecified => format!("{who}'s time ran out"),
    }
}

/// An offer, and who must answer it.
fn offered(offer: &v1::Offer, marks: &[String]) -> String {
    let (who, to) = (seat_name(offer.seat, marks), seat_names(&offer.waiting_seats, marks));
    match offer.target_seq {
        None => format!("{who} offers {to} a draw"),
        Some(target) => format!("{who} asks {to} to take back the move of entry {target} and what follows it"),
    }
}

/// What is open, and what whoever has to answer can say.
pub(crate) fn open_offer(offer: &v1::Offer, marks: &[String]) -> String {
    let accepted = match offer.accepted_seats.as_slice() {
        [] => String::new(),
        seats => format!("; {} agreed", seat_names(seats, marks)),
    };
    format!("{}{accepted}.", offered(offer, marks))
}

fn answered_words(answered: &v1::OfferAnswered, marks: &[String]) -> String {
    let who = seat_name(answered.seat, marks);
    let (what, own) = match answered.kind() {
        v1::OfferKind::Undo => ("that moves are taken back", "to take moves back"),
        _ => ("to a draw", "of a draw"),
    };
    match answered.answer() {
        v1::OfferAnswer::Withdraw => format!("{who} withdrew the offer {own}"),
        v1::OfferAnswer::Decline if answered.kind() == v1::OfferKind::Undo => format!("{who} does not agree {what}"),
        v1::OfferAnswer::Decline => format!("{who} declined the draw"),
        v1::OfferAnswer::Accept | v1::OfferAnswer::Unspecified => match answered.waiting_seats.as_slice() {
            [] => format!("{who} agreed {what}"),
            waiting => format!("{who} agreed {what}; {} has yet to answer", seat_names(waiting, marks)),
        },
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;

    fn told(body: Body) -> String {
        let marks = ["X".to_owned(), "O".to_owned(), "A".to_owned()];
        happened(&v1::Event { body: Some(body), ..v1::Event::default() }, &marks).unwrap()
    }

    #[test]
    fn offers_say_who_must_answer() {
        let offer = |target_seq| v1::Offer { seat: 1, target_seq, waiting_seats: vec![0, 2], ..v1::Offer::default() };
        let made = |target_seq| told(Body::OfferMade(v1::OfferMade { offer: Some(offer(target_seq)) }));
        assert_eq!(made(None), "O offers X and A a draw");
        assert_eq!(made(Some(4)), "O asks X and A to take back the move of entry 4 and what follows it");
        let answered = |kind: v1::OfferKind, answer: v1::OfferAnswer, waiting: &[u32]| {
            let waiting_seats = waiting.to_vec();
            told(Body::OfferAnswered(v1::OfferAnswered {
                kind: kind.into(),
                answer: answer.into(),
                seat: 0,
                waiting_seats,
                target_seq: None,
            }))
        };
        assert_eq!(answered(v1::OfferKind::Draw, v1::OfferAnswer::Accept, &[2]), "X agreed to a draw; A has yet to answer");
        assert_eq!(answered(v1::OfferKind::Draw, v1::OfferAnswer::Decline, &[]), "X declined the draw");
        assert_eq!(answered(v1::OfferKind::Undo, v1::OfferAnswer::Decline, &[]), "X does not agree that moves are taken back");
        assert_eq!(answered(v1::OfferKind::Undo, v1::OfferAnswer::Withdraw, &[]), "X withdrew the offer to take moves back");
    }

    #[test]
    fn who_leaves_is_named() {
        let expired = |then: v1::IfExpired| told(Body::TimeExpired(v1::TimeExpired { seat: 0, remaining: None, then: then.into() }));
        assert_eq!(expired(v1::IfExpired::Forfeit), "X's time ran out");
        assert_eq!(expired(v1::IfExpired::Skip), "X's time ran out, and the turn with it");
        assert_eq!(expired(v1::IfExpired::Bot), "X's time ran out; a bot makes this move");
        assert_eq!(told(Body::SeatResigned(v1::SeatResigned { seat: 2 })), "A resigned");
        assert_eq!(told(Body::GameAborted(v1::GameAborted { seat: None })), "The calling service broke the game off");
        let credit = Some(prost_types::Duration { seconds: 12, nanos: 0 });
        let credited = told(Body::TimeCredited(v1::TimeCredited { seat: 1, credit }));
        assert_eq!(credited, "O got 12 seconds back, for which no server was there");
    }
}
