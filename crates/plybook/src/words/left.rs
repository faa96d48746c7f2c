//! How much time is left, in figures and in words.
//!
//! Invariant: what is shown is never more than what there is.

use prost_types::{Duration, Timestamp};

const SECOND: u64 = 1_000;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// On a clock's face: `2 days 3:04`, `1:02:03`, `4:58`, and of the last ten seconds their tenths.
pub(crate) fn face(ms: u64) -> String {
    let (minutes, seconds) = (ms / MINUTE, ms % MINUTE / SECOND);
    match ms {
        DAY.. => {
            let days = ms / DAY;
            format!("{days} {} {}:{:02}", if days == 1 { "day" } else { "days" }, ms % DAY / HOUR, ms % HOUR / MINUTE)
        }
        HOUR.. => format!("{}:{:02}:{seconds:02}", ms / HOUR, ms % HOUR / MINUTE),
        10_000.. => format!("{minutes}:{seconds:02}"),
        _ => format!("{}.{}", ms / SECOND, ms % SECOND / 100),
    }
}

/// To the millisecond: `1:02:03.004`, `0:05.250`.
pub(crate) fn exact(ms: u64) -> String {
    let (days, hours, minutes) = (ms / DAY, ms % DAY / HOUR, ms % HOUR / MINUTE);
    let seconds = format!("{:02}.{:03}", ms % MINUTE / SECOND, ms % SECOND);
    match (days, hours) {
        (0, 0) => format!("{minutes}:{seconds}"),
        (0, _) => format!("{hours}:{minutes:02}:{seconds}"),
        (1, _) => format!("1 day {hours}:{minutes:02}:{seconds}"),
        _ => format!("{days} days {hours}:{minutes:02}:{seconds}"),
    }
}

/// In a sentence: `3 days`, `30 seconds`.
pub(crate) fn spoken(ms: u64) -> String {
    let units = [(DAY, "day"), (HOUR, "hour"), (MINUTE, "minute"), (SECOND, "second")];
    let (unit, name) = units.into_iter().find(|(unit, _)| ms >= *unit && ms.is_multiple_of(*unit)).unwrap_or((1, "ms"));
    match ms / unit {
        _ if ms >= SECOND && unit == 1 => format!("{}.{:03} seconds", ms / SECOND, ms % SECOND),
        1 if unit > 1 => format!("1 {name}"),
        number if unit > 1 => format!("{number} {name}s"),
        number => format!("{number} ms"),
    }
}

/// A span of the contract in whole milliseconds; what is negative is nothing.
pub(crate) fn millis(span: Option<&Duration>) -> u64 {
    span.and_then(|span| std::time::Duration::try_from(*span).ok()).map_or(0, |span| u64::try_from(span.as_millis()).unwrap_or(u64::MAX))
}

/// From one moment to a later one, in milliseconds.
pub(crate) fn between(from: Option<&Timestamp>, to: Option<&Timestamp>) -> Option<u64> {
    let unix_ms = |time: &Timestamp| time.seconds.saturating_mul(1000).saturating_add(i64::from(time.nanos) / 1_000_000);
    Some(u64::try_from(unix_ms(to?).saturating_sub(unix_ms(from?))).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_have_faces() {
        for (ms, shown) in [
            (0, "0.0"),
            (9_999, "9.9"),
            (10_000, "0:10"),
            (299_999, "4:59"),
            (300_000, "5:00"),
            (3_723_000, "1:02:03"),
            (86_400_000, "1 day 0:00"),
            (183_840_000, "2 days 3:04"),
        ] {
            assert_eq!(face(ms), shown);
        }
    }

    #[test]
    fn nothing_is_rounded() {
        for (ms, shown) in [
            (0, "0:00.000"),
            (59_999, "0:59.999"),
            (60_000, "1:00.000"),
            (3_661_001, "1:01:01.001"),
            (86_399_999, "23:59:59.999"),
            (86_400_000, "1 day 0:00:00.000"),
            (259_200_001, "3 days 0:00:00.001"),
        ] {
            assert_eq!(exact(ms), shown);
        }
    }

    #[test]
    fn spans_are_spoken() {
        for (ms, told) in [
            (1, "1 ms"),
            (1_000, "1 second"),
            (1_500, "1.500 seconds"),
            (30_000, "30 seconds"),
            (90_000, "90 seconds"),
            (300_000, "5 minutes"),
            (259_200_000, "3 days"),
        ] {
            assert_eq!(spoken(ms), told);
        }
    }

    #[test]
    fn what_is_past_is_nothing() {
        let at = |seconds| Timestamp { seconds, nanos: 500_000_000 };
        assert_eq!(between(Some(&at(10)), Some(&at(12))), Some(2_000));
        assert_eq!(between(Some(&at(12)), Some(&at(10))), Some(0));
        assert_eq!(between(None, Some(&at(10))), None);
        assert_eq!(millis(Some(&Duration { seconds: -1, nanos: 0 })), 0);
        assert_eq!(millis(Some(&Duration { seconds: 1, nanos: 5_000_000 })), 1_005);
    }
}
