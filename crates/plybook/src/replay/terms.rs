//! The terms of a live game, in words.
//!
//! Invariant: every line of a header that is about terms is told; of a game without any, nothing is.

use plybook_core::clock::{ClockPolicy, ClockUndo, IfExpired, Pace};
use plybook_core::header::UndoBy;
use plybook_core::presence::IfAway;
use plybook_core::{Header, Seat};

use super::told::{plain, strategy};
use crate::words::left::spoken as span;

/// One line a term.
pub(super) fn told(header: &Header) -> Vec<String> {
    let terms = &header.terms;
    let mark = |seat: Seat| header.seats.get(seat.index()).map_or_else(String::new, |place| plain(&place.mark));
    let mut lines: Vec<String> =
        terms.bots.iter().map(|(seat, bot)| format!("seat {seat} {} is a bot: {}", mark(*seat), strategy(bot))).collect();
    lines.extend(terms.fallback.as_ref().map(|bot| format!("the fallback is {}", strategy(bot))));
    lines.extend(terms.clock.as_ref().map(clock));
    lines.extend(terms.absence.map(|absence| {
        let then = match absence.then {
            IfAway::Forfeit => "leaves the game",
            IfAway::ClaimDraw => "lets the others claim a draw",
            IfAway::ClaimWin => "lets the others claim a draw, or that it leaves",
        };
        format!("who is away for more than {} {then}", span(absence.grace_ms))
    }));
    if header.undo.by == UndoBy::Agreement {
        lines.push("moves are taken back once everybody else agrees".to_owned());
    }
    lines.extend(
        terms.undo_limit.map(|limit| format!("moves are taken back {limit} {} at most", if limit == 1 { "time" } else { "times" })),
    );
    lines.extend(terms.abort_before.map(|plies| match plies {
        0 => "no seat may abort the game".to_owned(),
        plies => format!("a seat may abort the game while fewer than {plies} moves stand"),
    }));
    lines.extend(terms.close_after_ms.map(|ms| format!("once it is finished, the game closes itself after {}", span(ms))));
    lines.extend(header.rematch_of.map(|game| format!("the rematch of game {game}")));
    lines
}

fn clock(policy: &ClockPolicy) -> String {
    let pace = match policy.pace {
        Pace::PerMove { ms } => format!("{} for each move", span(ms)),
        Pace::Fischer { total_ms, increment_ms: 0 } => format!("{} for the game", span(total_ms)),
        Pace::Fischer { total_ms, increment_ms } => {
            format!("{} for the game, and {} more after each move", span(total_ms), span(increment_ms))
        }
        Pace::Bronstein { total_ms, delay_ms } => {
            format!("{} for the game, of which each move gets up to {} back", span(total_ms), span(delay_ms))
        }
        Pace::ByoYomi { main_ms, period_ms, periods } => {
            format!("{} for the game, and then {periods} byo-yomi periods of {}", span(main_ms), span(period_ms))
        }
        Pace::Correspondence { days: 1 } => "1 day for each move".to_owned(),
        Pace::Correspondence { days } => format!("{days} days for each move"),
    };
    let then = match policy.if_expired {
        IfExpired::Forfeit => "leaves the game",
        IfExpired::Skip => "loses the turn",
        IfExpired::Bot => "has the fallback move",
    };
    let undo = match policy.on_undo {
        ClockUndo::Restore => "what is taken back gives time back",
        ClockUndo::Keep => "what is taken back gives no time back",
    };
    let credit = policy.credit_ms.map_or_else(String::new, |ms| format!("; outages give back up to {} a turn", span(ms)));
    format!("clock: {pace}; who runs out of it {then}; {undo}{credit}")
}
