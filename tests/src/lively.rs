//! Live games at random: any terms, anything asked at any time, most of it refused.
//!
//! Invariants: nothing is appended but what the game decided or settled; what is asked does not depend on what was
//! refused before, so that the same number gives the same game.

use plybook_core::bot::Bot;
use plybook_core::clock::{ClockPolicy, ClockUndo, IfExpired, Pace};
use plybook_core::entropy::IfAbsent;
use plybook_core::entry::{Act, Actor, Claim, Step};
use plybook_core::game::{Ask, Hand, Request, State};
use plybook_core::header::{Principal, UndoBy};
use plybook_core::offers::Kind;
use plybook_core::presence::{AbsencePolicy, IfAway};
use plybook_core::{Entry, Game, Seat, Seq, Terms, Time};

use crate::deal::Deal;
use crate::random::Random;
use crate::table::{Table, bot, table, tester};

const POLICIES: [UndoBy; 5] = [UndoBy::None, UndoBy::OwnLastMove, UndoBy::Agreement, UndoBy::Agreement, UndoBy::Free];

/// A table for a live game, laid at random; in some the seats have joined, some are forks.
pub fn laid(random: &mut Random) -> Table {
    let ruleset = *random.pick(&["mnk", "mnk", "mnk", "connect_four", "snakes_and_ladders", "snakes_and_ladders"]);
    let by = *random.pick(&POLICIES);
    let (over_throw, after_end) = (by != UndoBy::None && random.once_in(2), by != UndoBy::None && random.once_in(2));
    let deal = Deal::random(ruleset, 4, random);
    let table = if random.once_in(8) { forked(&deal, random) } else { deal.table() };
    let table = with_policy(table, by, over_throw, after_end).seed(random.bytes()).id(random.bits().into());
    let terms = terms(random, deal.seats, by, after_end);
    let table = table.terms(terms);
    if random.once_in(6) {
        let if_absent = *random.pick(&[IfAbsent::Abort, IfAbsent::Forfeit]);
        return table.joint(60, if_absent).joined_at_random(60, random, |_| {});
    }
    table
}

/// Terms that a header may have for so many seats under such a policy of undo.
pub fn terms(random: &mut Random, seats: u8, by: UndoBy, after_end: bool) -> Terms {
    let clock = (!random.once_in(3)).then(|| clock(random));
    let bots: Vec<(Seat, Bot)> = (0..seats).filter(|_| random.once_in(4)).map(|seat| (Seat(seat), bot("random@1 1"))).collect();
    let bot_moves = clock.is_some_and(|clock| clock.if_expired == IfExpired::Bot) || !bots.is_empty();
    let then = *random.pick(&[IfAway::Forfeit, IfAway::ClaimDraw, IfAway::ClaimWin]);
    Terms {
        bots,
        fallback: bot_moves.then(|| bot("random@1 1")),
        clock,
        absence: random.once_in(2).then(|| AbsencePolicy { grace_ms: 1 + random.below(5000), then }),
        undo_limit: (by != UndoBy::None && random.once_in(4)).then(|| 1 + random.below(3) as u32),
        abort_before: random.once_in(3).then(|| random.below(6) as u32),
        close_after_ms: (after_end && random.once_in(2)).then(|| 1 + random.below(5000)),
    }
}

/// A game that goes on from the first moves of another one.
fn forked(deal: &Deal, random: &mut Random) -> Table {
    let (mut origin, mut at) = (deal.table(), 1);
    for _ in 0..3 {
        let Some((action, _)) = random.action(origin.game().play()) else { break };
        let notation = origin.game().rules().write_action(action);
        origin = origin.play(&notation);
        if origin.game().state() == State::Active {
            at = origin.game().head().seq.0;
        }
    }
    table().fork(&origin, at)
}

fn with_policy(table: Table, by: UndoBy, over_throw: bool, after_end: bool) -> Table {
    let table = table.undo_by(by);
    let table = if over_throw { table.undo_over_throw() } else { table };
    if after_end { table.undo_after_end() } else { table }
}

fn clock(random: &mut Random) -> ClockPolicy {
    let mut ms = |least: u64| least + random.below(4000);
    let (total, more) = (ms(1), ms(0) / 4);
    let pace = match random.below(5) {
        0 => Pace::PerMove { ms: total },
        1 => Pace::Fischer { total_ms: total, increment_ms: more },
        2 => Pace::Bronstein { total_ms: total, delay_ms: more },
        3 => Pace::ByoYomi { main_ms: total - 1, period_ms: 1 + more, periods: 1 + random.below(3) as u32 },
        _ => Pace::Correspondence { days: 1 },
    };
    let expiries = [IfExpired::Forfeit, IfExpired::Bot, IfExpired::Skip, IfExpired::Skip];
    let if_expired = *random.pick(if pace.renews() { &expiries } else { &expiries[..2] });
    let credit_ms = random.once_in(2).then(|| 1 + random.below(3000));
    ClockPolicy { pace, if_expired, on_undo: *random.pick(&[ClockUndo::Restore, ClockUndo::Keep]), credit_ms }
}

/// When something is asked: often in the same moment, at a deadline, or right behind one.
pub fn moment(game: &Game, random: &mut Random) -> Time {
    let head = game.head().time.unix_ms();
    let due = game.due().map_or(head, |(deadline, _)| deadline.unix_ms());
    Time::from_unix_ms(match random.below(12) {
        0 => head,
        1 => due,
        2 => due + 1,
        3 => due + random.below(5000),
        4..6 => grace(game).map_or(head, |until| until + 1),
        _ => head + random.below(1 + (due - head).min(800)),
    })
}

/// When the grace of somebody who is away is over.
fn grace(game: &Game) -> Option<u64> {
    let presence = game.presence()?;
    (0..game.header().seat_count()).filter_map(|seat| presence.grace_until(Seat(seat))).map(Time::unix_ms).max()
}

/// Times without a server, which may overlap, some of them around the deadline.
pub fn outages(game: &Game, random: &mut Random) -> Vec<(Time, Time)> {
    let due = game.due().map_or(0, |(deadline, _)| deadline.unix_ms());
    let outage = |random: &mut Random| {
        let from = due + 500 - random.below(4000).min(due);
        (Time::from_unix_ms(from), Time::from_unix_ms(from + random.below(2000)))
    };
    (0..random.below(4)).map(|_| outage(random)).collect()
}

/// Something that may be asked, by somebody.
pub fn request(game: &Game, random: &mut Random) -> Request {
    let seats = game.header().seat_count();
    let ask = ask(game, random);
    let anybody = (!random.once_in(20)).then(|| Seat(random.below(seats.into()) as u8));
    let seat = match &ask {
        Ask::Move(_) if !random.once_in(15) => game.to_move(),
        Ask::Act(Act::Remove(_)) | Ask::Close if !random.once_in(5) => None,
        _ => anybody,
    };
    let by = match (&ask, game.waits_for_bot()) {
        (Ask::Move(_), Some(Hand::Bot)) if !random.once_in(8) => Principal::bot(),
        (Ask::Move(_), Some(_)) if !random.once_in(8) => Principal::fallback(),
        (Ask::Move(_), None) if random.once_in(20) => Principal::bot(),
        _ => tester(),
    };
    let head = game.head().seq;
    let expected = if random.once_in(15) { Seq(head.0.saturating_sub(1)) } else { head };
    Request { actor: Actor { seat, by }, expected, ask }
}

/// What is most likely asked next where something waits for an answer.
fn answer(game: &Game, random: &mut Random) -> Option<Ask> {
    let step = *random.pick(&[Step::Accept, Step::Accept, Step::Accept, Step::Decline, Step::Withdraw]);
    let offers = game.offers();
    let away = game.presence().is_some_and(|presence| (0..game.header().seat_count()).any(|seat| presence.away(Seat(seat)).is_some()));
    let asks = [
        offers.draw().map(|_| Ask::Act(Act::Draw(step))),
        offers.undo().and_then(|offer| match offer.kind {
            Kind::Undo(target) => Some(Ask::Act(Act::Undo(step, target))),
            Kind::Draw => None,
        }),
        away.then(|| Ask::Act(*random.pick(&[Act::Back, Act::Claim(Claim::Win), Act::Claim(Claim::Draw)]))),
    ];
    asks.into_iter().flatten().find(|_| random.once_in(2))
}

fn ask(game: &Game, random: &mut Random) -> Ask {
    if let Some(answer) = answer(game, random).filter(|_| random.once_in(2)) {
        return answer;
    }
    let standing = game.standing();
    let target = match standing.len() {
        0 => Seq(2),
        len => standing[len - 1 - random.below(len.min(4) as u64) as usize],
    };
    let step = *random.pick(&[Step::Offer, Step::Offer, Step::Offer, Step::Accept, Step::Decline, Step::Withdraw]);
    let (seat, finished) = (Seat(random.below(game.header().seat_count().into()) as u8), game.state() == State::Finished);
    match random.below(if finished { 12 } else { 40 }) {
        0..3 => Ask::Undo((!random.once_in(4)).then_some(target)),
        3..8 => Ask::Act(Act::Undo(step, target)),
        8 => Ask::Close,
        9..13 => Ask::Act(Act::Draw(step)),
        13..17 => Ask::Act(*random.pick(&[Act::Away, Act::Away, Act::Back])),
        17 => Ask::Act(Act::Claim(*random.pick(&[Claim::Win, Claim::Draw]))),
        18 if random.once_in(2) => Ask::Act(Act::Resign),
        19 if random.once_in(4) => Ask::Act(Act::Remove(seat)),
        20 if random.once_in(8) => Ask::Act(Act::Abort),
        21 => Ask::Act(*random.pick(&[Act::Timeout(seat), Act::Forfeit(seat), Act::Credit(1)])),
        _ => match random.action(game.play()) {
            Some((action, _)) => Ask::Move(action),
            None => Ask::Close,
        },
    }
}

/// Lets something happen: what is due is settled, then something is asked. `at` sees every entry, with the game before it.
pub fn happens(table: &mut Table, random: &mut Random, mut at: impl FnMut(&mut Game, &Entry)) {
    let now = moment(table.game(), random);
    while table.game().overdue(now).is_some() {
        let (outages, mut before) = (outages(table.game(), random), table.game().clone());
        let entry = table.settle_at(now, &outages).expect("a deadline has passed");
        at(&mut before, &entry);
    }
    if table.game().state() == State::Closed {
        return;
    }
    let (request, mut before) = (request(table.game(), random), table.game().clone());
    if let Ok(entry) = table.tries(&request, now) {
        at(&mut before, &entry);
    }
}
