//! What is agreed on before a simulated game begins: a deal, terms, what may be taken back, whose chance the dice are.
//!
//! Invariant: whatever is drawn is what a header may say, and games under it end in some dozens of moves.

use plybook_bots::{Bots, View};
use plybook_core::bot::Bot;
use plybook_core::clock::{ClockPolicy, ClockUndo, IfExpired, Pace};
use plybook_core::entropy::{IfAbsent, Joint};
use plybook_core::header::{Entropy, UndoBy, UndoPolicy, check_undo};
use plybook_core::presence::{AbsencePolicy, IfAway};
use plybook_core::{Play, Seat, Terms};
use plybook_rulesets::Registry;

use crate::deal::{Deal, RULESETS};
use crate::random::Random;

const SECOND: u64 = 1_000;

/// What is agreed on.
#[derive(Clone, Debug)]
pub struct Agreement {
    /// The game.
    pub deal: Deal,
    /// Its terms.
    pub terms: Terms,
    /// What may be taken back.
    pub undo: UndoPolicy,
    /// Where the dice come from.
    pub entropy: Entropy,
}

impl Agreement {
    /// Anything.
    pub fn draw(random: &mut Random) -> Agreement {
        let ruleset = *random.pick(&RULESETS);
        let side = if ruleset == "gomoku" { 6 } else { 5 };
        let deal = deal(ruleset, side, random);
        let undo = undo_policy(random);
        let entropy = match ruleset {
            "snakes_and_ladders" if random.once_in(3) => Entropy::Joint(Joint {
                seconds: random.from_to(1, 600) as u32,
                if_absent: *random.pick(&[IfAbsent::Abort, IfAbsent::Forfeit]),
            }),
            _ => Entropy::Service,
        };
        let terms = terms(&deal, undo, random);
        terms.check(deal.seats, undo).unwrap();
        Agreement { deal, terms, undo, entropy }
    }
}

/// Seldom one that a single move ends.
fn deal(ruleset: &str, side: i64, random: &mut Random) -> Deal {
    loop {
        let deal = Deal::random(ruleset, side, random);
        if deal.int("k").is_none_or(|k| k > 2) || random.once_in(6) {
            return deal;
        }
    }
}

fn undo_policy(random: &mut Random) -> UndoPolicy {
    loop {
        let by = *random.pick(&[UndoBy::None, UndoBy::OwnLastMove, UndoBy::Agreement, UndoBy::Agreement, UndoBy::Free]);
        let over_throw = by != UndoBy::OwnLastMove && random.once_in(2);
        let policy = UndoPolicy { by, over_throw, after_end: random.once_in(2) };
        if check_undo(policy).is_ok() {
            return policy;
        }
    }
}

fn terms(deal: &Deal, undo: UndoPolicy, random: &mut Random) -> Terms {
    let bots = if random.once_in(2) { bots(deal, random) } else { Vec::new() };
    let clock = (!random.once_in(3)).then(|| clock(random));
    let bot_may_move = !bots.is_empty() || clock.is_some_and(|clock| clock.if_expired == IfExpired::Bot);
    let grace_ms = *random.pick(&[SECOND, 30 * SECOND, 600 * SECOND, 24 * 3_600 * SECOND]);
    let then = *random.pick(&[IfAway::Forfeit, IfAway::ClaimDraw, IfAway::ClaimWin]);
    Terms {
        fallback: bot_may_move.then(|| Bot { strategy: "random".to_owned(), version: 1, nodes: 1 }),
        bots,
        clock,
        absence: random.once_in(2).then_some(AbsencePolicy { grace_ms, then }),
        undo_limit: (undo.by != UndoBy::None && random.once_in(3)).then(|| random.from_to(1, 4) as u32),
        abort_before: random.once_in(3).then(|| random.below(6) as u32),
        close_after_ms: (undo.after_end && !random.once_in(3)).then(|| SECOND * random.from_to(1, 100_000) as u64),
    }
}

/// Some seats are bots, now and then all of them.
fn bots(deal: &Deal, random: &mut Random) -> Vec<(Seat, Bot)> {
    let registry = Registry::standard();
    let (ruleset, params, rules) = registry.choose(&deal.ruleset, deal.version, deal.given.clone(), deal.seats).unwrap();
    let play = Play::new(rules, deal.seats);
    let view = View::new(&play, &ruleset, &params);
    let strategies = Bots::standard();
    let cards: Vec<_> = strategies.cards().filter(|card| strategies.find(card.name, None).unwrap().plays(&view)).collect();
    let all = random.once_in(3);
    let mut bots = Vec::new();
    for seat in 0..deal.seats {
        if all || random.once_in(2) {
            let card = random.pick(&cards);
            let nodes = (1 + random.below(48)).min(card.most_budget.0);
            bots.push((Seat(seat), Bot { strategy: card.name.to_owned(), version: card.version, nodes }));
        }
    }
    bots
}

fn clock(random: &mut Random) -> ClockPolicy {
    loop {
        let ms = *random.pick(&[500, 5 * SECOND, 60 * SECOND, 3_600 * SECOND]);
        let more = *random.pick(&[0, 1, 700, 2 * SECOND, 30 * SECOND]);
        let pace = match random.below(5) {
            0 => Pace::PerMove { ms },
            1 => Pace::Fischer { total_ms: ms, increment_ms: more },
            2 => Pace::Bronstein { total_ms: ms, delay_ms: more },
            3 => Pace::ByoYomi { main_ms: *random.pick(&[0, ms]), period_ms: 1 + more, periods: random.from_to(1, 4) as u32 },
            _ => Pace::Correspondence { days: random.from_to(1, 5) as u32 },
        };
        let policy = ClockPolicy {
            pace,
            if_expired: *random.pick(&[IfExpired::Forfeit, IfExpired::Skip, IfExpired::Bot]),
            on_undo: *random.pick(&[ClockUndo::Restore, ClockUndo::Keep]),
            credit_ms: random.once_in(2).then(|| 1 + random.below(100 * SECOND)),
        };
        if policy.check().is_ok() {
            return policy;
        }
    }
}
