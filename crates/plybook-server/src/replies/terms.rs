//! The terms of a game, as its header has them.
//!
//! Invariant: what is told here, sent back in a CreateGame, makes a game with the same terms.

use plybook_core::bot::Bot;
use plybook_core::clock::{ClockPolicy, ClockUndo, IfExpired, Pace};
use plybook_core::presence::{AbsencePolicy, IfAway};
use plybook_core::{Header, Terms};
use plybook_proto::v1;

/// A length of time.
pub const fn duration(ms: u64) -> prost_types::Duration {
    prost_types::Duration { seconds: (ms / 1000) as i64, nanos: (ms % 1000 * 1_000_000) as i32 }
}

/// What a game has besides its rules and its bots; nothing where it has nothing.
pub fn terms(header: &Header) -> Option<v1::Terms> {
    let Terms { bots: _, fallback, clock, absence, undo_limit, abort_before, close_after_ms } = &header.terms;
    let terms = v1::Terms {
        fallback: fallback.as_ref().map(bot),
        clock: clock.as_ref().map(clock_policy),
        absence: absence.map(absence_policy),
        undo_limit: *undo_limit,
        abort_before_plies: *abort_before,
        close_after: close_after_ms.map(duration),
    };
    (terms != v1::Terms::default()).then_some(terms)
}

/// The game that this one is the rematch of.
pub fn rematch_of(header: &Header) -> String {
    header.rematch_of.map_or_else(String::new, |game| game.to_string())
}

/// A bot.
pub fn bot(bot: &Bot) -> v1::Bot {
    v1::Bot { strategy: Some(v1::StrategySpec { id: bot.strategy.clone(), version: bot.version }), nodes: bot.nodes }
}

/// What becomes of a seat that lets its time pass.
pub const fn if_expired(policy: IfExpired) -> v1::IfExpired {
    match policy {
        IfExpired::Forfeit => v1::IfExpired::Forfeit,
        IfExpired::Skip => v1::IfExpired::Skip,
        IfExpired::Bot => v1::IfExpired::Bot,
    }
}

fn clock_policy(policy: &ClockPolicy) -> v1::ClockPolicy {
    use v1::clock_policy::Pace as Wire;
    let time = |ms: u64| Some(duration(ms));
    let pace = match policy.pace {
        Pace::PerMove { ms } => Wire::PerMove(duration(ms)),
        Pace::Fischer { total_ms, increment_ms } => Wire::Fischer(v1::FischerPace { total: time(total_ms), increment: time(increment_ms) }),
        Pace::Bronstein { total_ms, delay_ms } => Wire::Bronstein(v1::BronsteinPace { total: time(total_ms), delay: time(delay_ms) }),
        Pace::ByoYomi { main_ms, period_ms, periods } => {
            Wire::ByoYomi(v1::ByoYomiPace { main: time(main_ms), period: time(period_ms), periods })
        }
        Pace::Correspondence { days } => Wire::CorrespondenceDays(days),
    };
    let on_undo = match policy.on_undo {
        ClockUndo::Restore => v1::ClockUndo::Restore,
        ClockUndo::Keep => v1::ClockUndo::Keep,
    };
    v1::ClockPolicy {
        pace: Some(pace),
        if_expired: if_expired(policy.if_expired).into(),
        on_undo: on_undo.into(),
        outage_credit_max: policy.credit_ms.map(duration),
    }
}

fn absence_policy(policy: AbsencePolicy) -> v1::AbsencePolicy {
    let if_away = match policy.then {
        IfAway::Forfeit => v1::IfAway::Forfeit,
        IfAway::ClaimDraw => v1::IfAway::ClaimDraw,
        IfAway::ClaimWin => v1::IfAway::ClaimWin,
    };
    v1::AbsencePolicy { grace: Some(duration(policy.grace_ms)), if_away: if_away.into() }
}
