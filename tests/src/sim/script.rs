//! What people at a simulated table come up with next.
//!
//! Invariant: it looks at the game as somebody at the table would, and asks also for what is refused.

use plybook_core::action::Column;
use plybook_core::entropy::{Commit, commitment};
use plybook_core::entry::{Act, Actor, Claim, Step};
use plybook_core::game::{Ask, Request};
use plybook_core::header::Principal;
use plybook_core::offers::Kind;
use plybook_core::{Action, Cell, Game, Seat, Seq, entropy};

use crate::random::Random;

/// The nonce of a seat.
fn nonce(seat: Seat) -> Vec<u8> {
    vec![0xc0 + seat.0; 16]
}

/// Somebody's next request.
pub fn next(game: &Game, random: &mut Random) -> Request {
    let seat = somebody(game, random);
    let (seat, ask) = match random.below(100) {
        _ if game.waits_for().is_some() && !random.once_in(4) => (Some(seat), joining(game, seat, random)),
        0..45 => (Some(game.to_move().unwrap_or(seat)), a_move(game, random)),
        45..50 => (Some(seat), wrong_move(random)),
        50..57 => (Some(seat), Ask::Undo(target(game, random))),
        57..66 => (Some(seat), Ask::Act(Act::Draw(step(game.offers().draw().is_some(), random)))),
        66..76 => (Some(seat), undo_talk(game, random)),
        76..87 => (Some(seat), Ask::Act(presence(game, seat, random))),
        87..92 => (Some(seat), Ask::Act(Act::Claim(*random.pick(&[Claim::Win, Claim::Draw])))),
        92 if random.once_in(2) => (Some(seat), Ask::Act(Act::Resign)),
        93..95 => (random.once_in(3).then_some(seat).filter(|_| !random.once_in(4)), Ask::Close),
        95 if random.once_in(3) => (Some(seat), Ask::Act(Act::Abort)),
        96 if random.once_in(8) => (None, Ask::Act(Act::Abort)),
        97 if random.once_in(3) => (None, Ask::Act(Act::Remove(seat))),
        // What nobody may ask for.
        98 => (Some(seat), Ask::Act(*random.pick(&[Act::Timeout(seat), Act::Forfeit(seat), Act::Credit(1_000), Act::Remove(seat)]))),
        _ => (None, a_move(game, random)),
    };
    Request { actor: actor(seat), expected: expected(game, random), ask }
}

/// The service of those at the table ends the game.
pub fn ends(game: &Game) -> Request {
    let over = game.outcome().is_some();
    Request { actor: actor(None), expected: game.head().seq, ask: if over { Ask::Close } else { Ask::Act(Act::Abort) } }
}

fn actor(seat: Option<Seat>) -> Actor {
    Actor { seat, by: Principal::parse("anonymous").unwrap() }
}

/// Mostly somebody who is still there, also a bot's seat, now and then a seat that left or that there is not.
fn somebody(game: &Game, random: &mut Random) -> Seat {
    let seats = game.header().seat_count();
    let any = Seat(random.below(u64::from(seats)) as u8);
    let live: Vec<Seat> = game.live().iter().collect();
    match random.below(60) {
        0 => Seat(seats),
        1..6 => any,
        _ if live.is_empty() => any,
        _ => *random.pick(&live),
    }
}

/// Mostly the head; also an entry before, or one that is not there.
fn expected(game: &Game, random: &mut Random) -> Seq {
    let head = game.head().seq.0;
    match random.below(12) {
        0 => Seq(1 + random.below(u64::from(head)) as u32),
        1 if random.once_in(3) => Seq(head + 1),
        _ => Seq(head),
    }
}

fn a_move(game: &Game, random: &mut Random) -> Ask {
    match random.action(game.play()) {
        Some((action, _)) if random.once_in(2) => Ask::Move(action),
        Some((action, _)) => Ask::MoveText(game.rules().write_action(action)),
        None => wrong_move(random),
    }
}

fn wrong_move(random: &mut Random) -> Ask {
    let place = random.below(30) as u32;
    match random.below(6) {
        0 | 1 => Ask::Move(Action::Place(Cell(place))),
        2 => Ask::Move(Action::Drop(Column(place / 4))),
        3 => Ask::Move(*random.pick(&[Action::Pop(Column(place / 4)), Action::Roll])),
        4 => Ask::MoveText("z99".to_owned()),
        _ => Ask::MoveText("c".repeat(place as usize + 5)),
    }
}

fn target(game: &Game, random: &mut Random) -> Option<Seq> {
    match random.below(3) {
        0 => None,
        1 => game.standing().last().copied(),
        _ if game.standing().is_empty() => Some(Seq(1 + random.below(9) as u32)),
        _ => Some(*random.pick(game.standing())),
    }
}

fn step(open: bool, random: &mut Random) -> Step {
    let answers = [Step::Accept, Step::Accept, Step::Decline, Step::Withdraw];
    if open != random.once_in(5) { *random.pick(&answers) } else { Step::Offer }
}

fn undo_talk(game: &Game, random: &mut Random) -> Ask {
    let open = game.offers().undo().map(|offer| offer.kind);
    let step = step(open.is_some(), random);
    let target = match open {
        Some(Kind::Undo(target)) if step != Step::Offer && !random.once_in(6) => target,
        _ => target(game, random).unwrap_or(Seq::FIRST),
    };
    Ask::Act(Act::Undo(step, target))
}

fn presence(game: &Game, seat: Seat, random: &mut Random) -> Act {
    let known = usize::from(seat.0) < usize::from(game.header().seat_count());
    let away = known && game.presence().is_some_and(|presence| presence.away(seat).is_some());
    if away != random.once_in(5) { Act::Back } else { Act::Away }
}

fn joining(game: &Game, seat: Seat, random: &mut Random) -> Ask {
    let header = game.header().digest();
    let committed = Commit { commitment: commitment(&header, seat, &nonce(seat)), signed: None };
    let waits = game.waits_for().is_some_and(|joining| joining.step() == entropy::Step::Commit);
    if waits != random.once_in(8) { Ask::Commit(committed) } else { Ask::Reveal(nonce(seat)) }
}
