//! A clock from the command line: `5m+3s`, `30s/move`, `byo-yomi:10m+5x30s` ….
//!
//! Invariant: what is read is told to the millisecond, or refused with how it is written.

use clap::ValueEnum;
use plybook_core::clock::{self, ClockPolicy, ClockUndo, Pace};
use plybook_proto::v1;

/// How a clock is written.
pub(super) const FORMS: &str = "5m (a stock), 5m+3s (and more for each move), 30s/move, 3d (days for each move), \
                                bronstein:5m+3s (a delay that costs nothing), byo-yomi:10m+5x30s (then five periods)";

/// What becomes of a seat that lets its time pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum IfExpired {
    /// It leaves the game.
    Forfeit,
    /// It loses this turn.
    Skip,
    /// A bot makes this move for it.
    Bot,
}

/// Reads a clock, and checks what can be checked without a game.
pub(super) fn read(text: &str, if_expired: IfExpired) -> Result<ClockPolicy, String> {
    let if_expired = match if_expired {
        IfExpired::Forfeit => clock::IfExpired::Forfeit,
        IfExpired::Skip => clock::IfExpired::Skip,
        IfExpired::Bot => clock::IfExpired::Bot,
    };
    let pace = pace(text).map_err(|why| format!("{why}; a clock is written {FORMS}"))?;
    let policy = ClockPolicy { pace, if_expired, on_undo: ClockUndo::Restore, credit_ms: None };
    policy.check().map(|()| policy)
}

fn pace(text: &str) -> Result<Pace, String> {
    if let Some((kind, rest)) = text.split_once(':') {
        return match kind.to_ascii_lowercase().as_str() {
            "fischer" => fischer(rest),
            "bronstein" => {
                let (total, delay) = rest.split_once('+').ok_or_else(|| format!("{rest:?} has no delay after a +"))?;
                Ok(Pace::Bronstein { total_ms: time(total)?, delay_ms: time(delay)? })
            }
            "byo-yomi" | "byo_yomi" | "byoyomi" => byo_yomi(rest),
            other => Err(format!("{other:?} is no kind of clock")),
        };
    }
    let each = text.strip_suffix("/move");
    match days(each.unwrap_or(text)) {
        Some(days) => Ok(Pace::Correspondence { days: days? }),
        None => each.map_or_else(|| fischer(text), |each| Ok(Pace::PerMove { ms: time(each)? })),
    }
}

fn fischer(text: &str) -> Result<Pace, String> {
    let (total, increment) = text.split_once('+').unwrap_or((text, "0s"));
    Ok(Pace::Fischer { total_ms: time(total)?, increment_ms: time(increment)? })
}

fn byo_yomi(text: &str) -> Result<Pace, String> {
    let (main, periods) = text.split_once('+').unwrap_or(("0s", text));
    let (number, period) = periods.split_once('x').ok_or_else(|| format!("{periods:?} is not a number of periods, such as 5x30s"))?;
    let number = number.trim().parse().map_err(|_| format!("{number:?} is not a number of periods"))?;
    Ok(Pace::ByoYomi { main_ms: time(main)?, period_ms: time(period)?, periods: number })
}

/// Whole days and nothing else: a game by letter.
fn days(text: &str) -> Option<Result<u32, String>> {
    let days = text.trim().strip_suffix('d').filter(|days| !days.is_empty() && days.bytes().all(|byte| byte.is_ascii_digit()))?;
    Some(days.parse().map_err(|_| format!("{text:?} is too long")))
}

/// A time such as `1h30m`, `90s`, `500ms`.
fn time(text: &str) -> Result<u64, String> {
    const UNITS: [(&str, u64); 5] = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];
    let mut rest = text.trim();
    let mut sum = 0_u64;
    if rest.is_empty() {
        return Err("a time is missing".to_owned());
    }
    while !rest.is_empty() {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let letters = rest[digits..].bytes().take_while(u8::is_ascii_alphabetic).count();
        let (number, unit) = (&rest[..digits], &rest[digits..digits + letters]);
        rest = &rest[digits + letters..];
        let number: u64 = number.parse().map_err(|_| format!("{text:?} is not a time such as 90s or 1h30m"))?;
        let known = UNITS.iter().find(|(name, _)| *name == unit);
        let (_, ms) = known.ok_or_else(|| format!("{text:?} is a time without a unit that is known (ms, s, m, h, d)"))?;
        sum = number.checked_mul(*ms).and_then(|ms| sum.checked_add(ms)).ok_or_else(|| format!("{text:?} is too long"))?;
    }
    Ok(sum)
}

/// As the contract has it.
pub(super) fn to_wire(policy: &ClockPolicy) -> v1::ClockPolicy {
    use v1::clock_policy::Pace as Wire;
    let span = |ms: u64| std::time::Duration::from_millis(ms).try_into().ok();
    let pace = match policy.pace {
        Pace::PerMove { ms } => span(ms).map(Wire::PerMove),
        Pace::Fischer { total_ms, increment_ms } => {
            Some(Wire::Fischer(v1::FischerPace { total: span(total_ms), increment: span(increment_ms) }))
        }
        Pace::Bronstein { total_ms, delay_ms } => Some(Wire::Bronstein(v1::BronsteinPace { total: span(total_ms), delay: span(delay_ms) })),
        Pace::ByoYomi { main_ms, period_ms, periods } => {
            Some(Wire::ByoYomi(v1::ByoYomiPace { main: span(main_ms), period: span(period_ms), periods }))
        }
        Pace::Correspondence { days } => Some(Wire::CorrespondenceDays(days)),
    };
    let if_expired = match policy.if_expired {
        clock::IfExpired::Forfeit => v1::IfExpired::Forfeit,
        clock::IfExpired::Skip => v1::IfExpired::Skip,
        clock::IfExpired::Bot => v1::IfExpired::Bot,
    };
    v1::ClockPolicy { pace, if_expired: if_expired.into(), ..Default::default() }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;

    #[test]
    fn clocks_are_read_to_the_millisecond() {
        for (text, is) in [
            ("5m+3s", Pace::Fischer { total_ms: 300_000, increment_ms: 3_000 }),
            ("fischer:1h+500ms", Pace::Fischer { total_ms: 3_600_000, increment_ms: 500 }),
            ("90s", Pace::Fischer { total_ms: 90_000, increment_ms: 0 }),
            ("1h30m", Pace::Fischer { total_ms: 5_400_000, increment_ms: 0 }),
            ("30s/move", Pace::PerMove { ms: 30_000 }),
            ("bronstein:5m+5s", Pace::Bronstein { total_ms: 300_000, delay_ms: 5_000 }),
            ("byo-yomi:10m+5x30s", Pace::ByoYomi { main_ms: 600_000, period_ms: 30_000, periods: 5 }),
            ("byo-yomi:3x1m", Pace::ByoYomi { main_ms: 0, period_ms: 60_000, periods: 3 }),
            ("3d", Pace::Correspondence { days: 3 }),
            ("3d/move", Pace::Correspondence { days: 3 }),
            ("1d12h/move", Pace::PerMove { ms: 129_600_000 }),
        ] {
            assert_eq!(read(text, IfExpired::Forfeit).map(|policy| policy.pace), Ok(is), "{text}");
        }
    }

    #[test]
    fn what_is_no_clock_is_refused_with_why() {
        for (text, because) in [
            ("5", "without a unit"),
            ("", "a time is missing"),
            ("5m+", "a time is missing"),
            ("5 minutes", "without a unit"),
            ("5x", "without a unit"),
            ("-5m", "not a time"),
            ("1.5m", "without a unit"),
            ("0s", "the total time is 1 to"),
            ("hourglass:5m", "no kind of clock"),
            ("bronstein:5m", "no delay"),
            ("byo-yomi:10m+30s", "not a number of periods"),
            ("byo-yomi:10m+0x30s", "the number of periods is 1 to"),
            ("byo-yomi:10m+ax30s", "not a number of periods"),
            ("99999999999999999999d", "too long"),
            ("99999999999999999h", "too long"),
            ("400d", "is 1 to 366 days"),
            ("400d+1s", "is 1 to"),
            ("5m/turn", "not a time"),
        ] {
            let why = read(text, IfExpired::Forfeit).unwrap_err();
            assert!(why.contains(because), "{text:?}: {why}");
        }
        assert!(read("5m", IfExpired::Skip).unwrap_err().contains("skipped for ever"));
        assert!(read("5m+1s", IfExpired::Skip).is_ok());
    }
}
