//! What happened at a table and was no move, as an event's body.

use plybook_core::clock::IfExpired;
use plybook_core::entry::{Act, Claim, Entry, Step};
use plybook_core::offers::Kind;
use plybook_core::{Header, Seat};
use plybook_proto::v1::{self, event::Body as Wire};

use crate::games::Beside;
use crate::replies::{self, living, terms};

/// The body of an entry that is no move.
pub fn body(header: &Header, entry: &Entry, act: Act, beside: &Beside) -> Wire {
    let seat = entry.actor.seat.map_or(0, replies::seat);
    let numbered = |seat: Seat| replies::seat(seat);
    match act {
        Act::Resign => Wire::SeatResigned(v1::SeatResigned { seat }),
        Act::Abort => Wire::GameAborted(v1::GameAborted { seat: entry.actor.seat.map(replies::seat) }),
        Act::Remove(seat) => Wire::SeatRemoved(v1::SeatRemoved { seat: numbered(seat) }),
        Act::Timeout(seat) => {
            let then = header.terms.clock.map_or(IfExpired::Forfeit, |clock| clock.if_expired);
            let then = terms::if_expired(then).into();
            Wire::TimeExpired(v1::TimeExpired { seat: numbered(seat), remaining: Some(terms::duration(0)), then })
        }
        Act::Forfeit(seat) => Wire::SeatForfeited(v1::SeatForfeited { seat: numbered(seat) }),
        Act::Claim(claim) => {
            let claim = match claim {
                Claim::Win => v1::AbsenceClaim::Win,
                Claim::Draw => v1::AbsenceClaim::Draw,
            };
            Wire::AbsenceClaimed(v1::AbsenceClaimed { seat, claim: claim.into(), left_seats: replies::seats(beside.left) })
        }
        Act::Away => Wire::PresenceChanged(v1::PresenceChanged { seat, present: false }),
        Act::Back => Wire::PresenceChanged(v1::PresenceChanged { seat, present: true }),
        Act::Draw(step) => offered(entry, seat, step, Kind::Draw, beside),
        Act::Undo(step, target) => offered(entry, seat, step, Kind::Undo(target), beside),
        Act::Credit(ms) => {
            let seat = entry.next_seat().map_or(0, replies::seat);
            Wire::TimeCredited(v1::TimeCredited { seat, credit: Some(terms::duration(ms)) })
        }
    }
}

fn offered(entry: &Entry, seat: u32, step: Step, kind: Kind, beside: &Beside) -> Wire {
    let ((kind, target_seq), waiting_seats) = (living::kind(kind), replies::seats(beside.waiting));
    let answer = match step {
        Step::Offer => {
            let seq = u64::from(entry.seq.0);
            let offer = v1::Offer { kind: kind.into(), seat, seq, target_seq, accepted_seats: Vec::new(), waiting_seats };
            return Wire::OfferMade(v1::OfferMade { offer: Some(offer) });
        }
        Step::Accept => v1::OfferAnswer::Accept,
        Step::Decline => v1::OfferAnswer::Decline,
        Step::Withdraw => v1::OfferAnswer::Withdraw,
    };
    Wire::OfferAnswered(v1::OfferAnswered { kind: kind.into(), seat, answer: answer.into(), target_seq, waiting_seats })
}
