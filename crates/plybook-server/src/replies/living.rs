//! What a live game has besides its position: whose time runs, what is offered, who is away or has left.
//!
//! Invariant: where something has a last moment, the moment itself is told, so that nobody has to add up.

use plybook_core::clock::Clock;
use plybook_core::game::{Due, Hand, Left, WhyLeft};
use plybook_core::offers::{Kind, Offer};
use plybook_core::{Game, Seat, Time};
use plybook_proto::v1;

use crate::replies::{self, terms};

/// A game with all of this, told at `now`; of a clock that stands, at the time of the head.
pub fn with(wire: v1::Game, game: &Game, now: Time) -> v1::Game {
    v1::Game {
        deadline: deadline(game),
        clock: game.clock().map(|clock| clock_at(clock, game, now)),
        bot_turn: bot_turn(game),
        left_seats: game.left().iter().map(left).collect(),
        offers: game.offers().draw().into_iter().chain(game.offers().undo()).map(|open| offer(game, open)).collect(),
        away_seats: away(game),
        undos: game.undos(),
        ..wire
    }
}

/// What happens by itself next.
pub fn deadline(game: &Game) -> Option<v1::Deadline> {
    let (time, due) = game.due()?;
    let (kind, seat) = match due {
        Due::Joining => (v1::DeadlineKind::Joining, None),
        Due::Turn(seat) => (v1::DeadlineKind::Turn, Some(seat)),
        Due::Presence(seat) => (v1::DeadlineKind::Absence, Some(seat)),
        Due::Reopening => (v1::DeadlineKind::Reopening, None),
    };
    Some(v1::Deadline { time: Some(replies::time(time)), kind: kind.into(), seat: seat.map(replies::seat) })
}

fn clock_at(clock: &Clock, game: &Game, now: Time) -> v1::Clock {
    let head = game.head().time;
    let at = if clock.running().is_some() { now.max(head) } else { head };
    let seat = |seat: u8| {
        let left = clock.remaining(Seat(seat), at);
        v1::SeatTime { remaining: Some(terms::duration(left.ms)), periods: left.periods }
    };
    v1::Clock {
        as_of: Some(replies::time(at)),
        seats: (0..game.header().seat_count()).map(seat).collect(),
        running_seat: clock.running().map(replies::seat),
        deadline: clock.deadline().map(replies::time),
    }
}

fn bot_turn(game: &Game) -> Option<v1::BotTurn> {
    let (hand, seat, held) = (game.waits_for_bot()?, game.to_move()?, &game.header().terms);
    let (bot, stands_in) = match hand {
        Hand::Bot => (held.bot(seat), false),
        Hand::Fallback => (held.fallback.as_ref(), true),
    };
    Some(v1::BotTurn { seat: replies::seat(seat), bot: bot.map(terms::bot), stands_in })
}

fn left(left: &Left) -> v1::LeftSeat {
    let because = match left.why {
        WhyLeft::Resigned => v1::LeftBecause::Resigned,
        WhyLeft::Removed => v1::LeftBecause::Removed,
        WhyLeft::Timeout => v1::LeftBecause::Timeout,
        WhyLeft::Absent => v1::LeftBecause::Absent,
    };
    v1::LeftSeat { seat: replies::seat(left.seat), because: because.into(), seq: u64::from(left.seq.0) }
}

fn offer(game: &Game, open: &Offer) -> v1::Offer {
    let waiting = open.accepted.iter().fold(game.others(open.by), plybook_core::SeatSet::without);
    let (kind, target) = kind(open.kind);
    v1::Offer {
        kind: kind.into(),
        seat: replies::seat(open.by),
        seq: u64::from(open.seq.0),
        target_seq: target,
        accepted_seats: replies::seats(open.accepted),
        waiting_seats: replies::seats(waiting),
    }
}

/// What is offered, and of an undo the move to take back.
pub fn kind(kind: Kind) -> (v1::OfferKind, Option<u64>) {
    match kind {
        Kind::Draw => (v1::OfferKind::Draw, None),
        Kind::Undo(target) => (v1::OfferKind::Undo, Some(u64::from(target.0))),
    }
}

fn away(game: &Game) -> Vec<v1::AwaySeat> {
    let Some(presence) = game.presence() else { return Vec::new() };
    let seats = (0..game.header().seat_count()).map(Seat);
    let away = |seat: Seat| {
        Some(v1::AwaySeat {
            seat: replies::seat(seat),
            away_since: Some(replies::time(presence.away(seat)?.since)),
            grace_until: presence.grace_until(seat).map(replies::time),
        })
    };
    seats.filter_map(away).collect()
}
