//! The shape of a game's terms: bots, clocks, absence, and what may be asked how often.
//!
//! Invariant: durations are whole milliseconds, or refused; nothing is rounded. Whether terms can be kept is not asked here
//! but of the whole of them, once their bots are pinned.

use plybook_core::clock::{ClockPolicy, ClockUndo, IfExpired, Pace};
use plybook_core::presence::{AbsencePolicy, IfAway};
use plybook_core::{Seat, Terms};
use plybook_proto::v1;

use crate::games::pinning::{AskedBot, AskedBots};
use crate::refusal::Refusal;
use crate::requests::canon::Canon;

/// The bots that a CreateGame asks for.
pub fn bots(seats: &[v1::Seat], terms: Option<&v1::Terms>) -> Result<AskedBots, Refusal> {
    let mut bots = Vec::new();
    for (seat, given) in (0..).zip(seats) {
        if let Some(given) = &given.bot {
            bots.push((Seat(seat), bot(given, format!("seats[{seat}].bot"))?));
        }
    }
    let fallback = terms.and_then(|terms| terms.fallback.as_ref());
    let fallback = fallback.map(|given| bot(given, "terms.fallback".to_owned())).transpose()?;
    Ok(AskedBots { bots, fallback })
}

fn bot(given: &v1::Bot, field: String) -> Result<AskedBot, Refusal> {
    let strategy = given.strategy.as_ref().filter(|strategy| !strategy.id.is_empty());
    let strategy = strategy.ok_or_else(|| Refusal::field(format!("{field}.strategy.id"), "is required: ListStrategies tells them"))?;
    let version = (strategy.version > 0).then_some(strategy.version);
    Ok(AskedBot { field, strategy: strategy.id.clone(), version, nodes: given.nodes })
}

/// The terms but for their bots, which somebody who knows strategies has yet to pin.
pub fn terms(given: Option<&v1::Terms>) -> Result<Terms, Refusal> {
    let Some(given) = given else { return Ok(Terms::default()) };
    Ok(Terms {
        bots: Vec::new(),
        fallback: None,
        clock: given.clock.as_ref().map(clock).transpose()?,
        absence: given.absence.as_ref().map(absence).transpose()?,
        undo_limit: given.undo_limit,
        abort_before: given.abort_before_plies,
        close_after_ms: given.close_after.as_ref().map(|time| millis("terms.close_after", Some(time))).transpose()?,
    })
}

fn clock(given: &v1::ClockPolicy) -> Result<ClockPolicy, Refusal> {
    use v1::clock_policy::Pace as Wire;
    let field = |name: &str| format!("terms.clock.{name}");
    let pace = match given.pace.as_ref().ok_or_else(|| Refusal::field("terms.clock.pace", "is required"))? {
        Wire::PerMove(time) => Pace::PerMove { ms: millis(&field("per_move"), Some(time))? },
        Wire::Fischer(pace) => Pace::Fischer {
            total_ms: millis(&field("fischer.total"), pace.total.as_ref())?,
            increment_ms: millis(&field("fischer.increment"), pace.increment.as_ref())?,
        },
        Wire::Bronstein(pace) => Pace::Bronstein {
            total_ms: millis(&field("bronstein.total"), pace.total.as_ref())?,
            delay_ms: millis(&field("bronstein.delay"), pace.delay.as_ref())?,
        },
        Wire::ByoYomi(pace) => Pace::ByoYomi {
            main_ms: millis(&field("byo_yomi.main"), pace.main.as_ref())?,
            period_ms: millis(&field("byo_yomi.period"), pace.period.as_ref())?,
            periods: pace.periods,
        },
        Wire::CorrespondenceDays(days) => Pace::Correspondence { days: *days },
    };
    let if_expired = match v1::IfExpired::try_from(given.if_expired) {
        Ok(v1::IfExpired::Unspecified | v1::IfExpired::Forfeit) => IfExpired::Forfeit,
        Ok(v1::IfExpired::Skip) => IfExpired::Skip,
        Ok(v1::IfExpired::Bot) => IfExpired::Bot,
        Err(_) => return Err(Refusal::field(field("if_expired"), format!("{} is not one of its values", given.if_expired))),
    };
    let on_undo = match v1::ClockUndo::try_from(given.on_undo) {
        Ok(v1::ClockUndo::Unspecified | v1::ClockUndo::Restore) => ClockUndo::Restore,
        Ok(v1::ClockUndo::Keep) => ClockUndo::Keep,
        Err(_) => return Err(Refusal::field(field("on_undo"), format!("{} is not one of its values", given.on_undo))),
    };
    let credit = given.outage_credit_max.as_ref();
    let credit_ms = credit.map(|time| millis(&field("outage_credit_max"), Some(time))).transpose()?;
    Ok(ClockPolicy { pace, if_expired, on_undo, credit_ms })
}

fn absence(given: &v1::AbsencePolicy) -> Result<AbsencePolicy, Refusal> {
    let then = match v1::IfAway::try_from(given.if_away) {
        Ok(v1::IfAway::Forfeit) => IfAway::Forfeit,
        Ok(v1::IfAway::ClaimDraw) => IfAway::ClaimDraw,
        Ok(v1::IfAway::ClaimWin) => IfAway::ClaimWin,
        Ok(v1::IfAway::Unspecified) | Err(_) => {
            return Err(Refusal::field("terms.absence.if_away", "is required: forfeit, claim_draw or claim_win"));
        }
    };
    Ok(AbsencePolicy { grace_ms: millis("terms.absence.grace", given.grace.as_ref())?, then })
}

fn millis(field: &str, given: Option<&prost_types::Duration>) -> Result<u64, Refusal> {
    let given = given.ok_or_else(|| Refusal::field(field, "is required"))?;
    let (Ok(seconds), Ok(nanos)) = (u64::try_from(given.seconds), u64::try_from(given.nanos)) else {
        return Err(Refusal::field(field, "is negative"));
    };
    if nanos >= 1_000_000_000 || nanos % 1_000_000 != 0 {
        return Err(Refusal::field(field, "is in whole milliseconds"));
    }
    Ok(seconds.saturating_mul(1_000).saturating_add(nanos / 1_000_000))
}

/// Hashes what is given, and nothing where nothing is, so that requests from before there were terms stay what they were.
pub fn canon(mut canon: Canon, seats: &[v1::Seat], terms: Option<&v1::Terms>) -> Canon {
    for (seat, given) in (0..).zip(seats) {
        if let Some(bot) = &given.bot {
            canon = bot_canon(canon.text("bot").number(seat), bot);
        }
    }
    let Some(terms) = terms else { return canon };
    if let Some(bot) = &terms.fallback {
        canon = bot_canon(canon.text("fallback"), bot);
    }
    if let Some(clock) = &terms.clock {
        canon = clock_canon(canon.text("clock"), clock);
    }
    if let Some(absence) = &terms.absence {
        canon = time_canon(canon.text("absence"), absence.grace.as_ref()).signed(absence.if_away.into());
    }
    if let Some(limit) = terms.undo_limit {
        canon = canon.text("undo_limit").number(limit.into());
    }
    if let Some(plies) = terms.abort_before_plies {
        canon = canon.text("abort_before_plies").number(plies.into());
    }
    match &terms.close_after {
        Some(time) => time_canon(canon.text("close_after"), Some(time)),
        None => canon,
    }
}

fn bot_canon(canon: Canon, bot: &v1::Bot) -> Canon {
    let (id, version) = bot.strategy.as_ref().map_or(("", 0), |strategy| (strategy.id.as_str(), strategy.version));
    canon.text(id).number(version.into()).number(bot.nodes)
}

fn clock_canon(canon: Canon, clock: &v1::ClockPolicy) -> Canon {
    use v1::clock_policy::Pace;
    let canon = match &clock.pace {
        None => canon.text("none"),
        Some(Pace::PerMove(time)) => time_canon(canon.text("per_move"), Some(time)),
        Some(Pace::Fischer(pace)) => time_canon(time_canon(canon.text("fischer"), pace.total.as_ref()), pace.increment.as_ref()),
        Some(Pace::Bronstein(pace)) => time_canon(time_canon(canon.text("bronstein"), pace.total.as_ref()), pace.delay.as_ref()),
        Some(Pace::ByoYomi(pace)) => {
            time_canon(time_canon(canon.text("byo_yomi"), pace.main.as_ref()), pace.period.as_ref()).number(pace.periods.into())
        }
        Some(Pace::CorrespondenceDays(days)) => canon.text("correspondence").number((*days).into()),
    };
    let canon = canon.signed(clock.if_expired.into()).signed(clock.on_undo.into());
    time_canon(canon.flag(clock.outage_credit_max.is_some()), clock.outage_credit_max.as_ref())
}

fn time_canon(canon: Canon, time: Option<&prost_types::Duration>) -> Canon {
    let (seconds, nanos) = time.map_or((0, 0), |time| (time.seconds, time.nanos));
    canon.signed(seconds).signed(nanos.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stored hash must be found again by every later release: these never change.
    #[test]
    fn hashes_of_terms_are_pinned() {
        use v1::clock_policy::Pace;
        let ms = |ms: i64| Some(prost_types::Duration { seconds: ms / 1_000, nanos: (ms % 1_000 * 1_000_000) as i32 });
        let bot = |nodes| Some(v1::Bot { strategy: Some(v1::StrategySpec { id: "mcts".to_owned(), version: 1 }), nodes });
        let clock = |pace: Pace| {
            let clock = v1::ClockPolicy { pace: Some(pace), if_expired: 2, on_undo: 1, outage_credit_max: ms(5) };
            v1::Terms { clock: Some(clock), ..v1::Terms::default() }
        };
        let seats = [v1::Seat::default(), v1::Seat { bot: bot(3), ..v1::Seat::default() }];
        let plain = v1::Terms {
            fallback: bot(0),
            absence: Some(v1::AbsencePolicy { grace: ms(60_000), if_away: 2 }),
            undo_limit: Some(3),
            abort_before_plies: Some(4),
            close_after: ms(1_500),
            ..v1::Terms::default()
        };
        let all = [
            v1::Terms::default(),
            plain,
            clock(Pace::PerMove(prost_types::Duration { seconds: 9, nanos: 0 })),
            clock(Pace::Fischer(v1::FischerPace { total: ms(9), increment: ms(1) })),
            clock(Pace::Bronstein(v1::BronsteinPace { total: ms(9), delay: ms(1) })),
            clock(Pace::ByoYomi(v1::ByoYomiPace { main: ms(9), period: ms(1), periods: 5 })),
            clock(Pace::CorrespondenceDays(3)),
        ];
        let hash = |seats: &[v1::Seat], terms: Option<&v1::Terms>| {
            let hash = canon(Canon::of("CreateGame"), seats, terms).hash();
            hash[..8].iter().map(|byte| format!("{byte:02x}")).collect::<String>()
        };
        let nothing = Canon::of("CreateGame").hash()[..8].iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        assert_eq!([hash(&[], None), hash(&seats[..1], Some(&all[0]))], [nothing.clone(), nothing], "what is not given is not hashed");
        let pinned = [
            "aa1c9c124b696ae6",
            "170d450534984a3b",
            "40c8e6e8952fc69d",
            "ce7aeaa8a3e693ef",
            "272d98ca94e5e3ef",
            "75698a39493b642e",
            "8e7ebad83d436184",
        ];
        assert_eq!(all.map(|terms| hash(&seats, Some(&terms))), pinned);
    }
}
