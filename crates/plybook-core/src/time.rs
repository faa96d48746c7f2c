//! Times of entries, as they stand in the book.
//!
//! Invariant: a time prints as `YYYY-MM-DDTHH:MM:SS.mmmZ` and parses back to itself. The core never
//! asks what time it is; times come in as arguments.

use std::fmt;

/// Milliseconds since 1970-01-01T00:00:00Z, up to the end of the year 9999.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time {
    unix_ms: u64,
}

const DAY_MS: u64 = 86_400_000;
/// 9999-12-31T23:59:59.999Z.
const GREATEST_MS: u64 = 253_402_300_799_999;

impl Time {
    /// A time, held inside the years that a book can print.
    pub const fn from_unix_ms(unix_ms: u64) -> Time {
        Time { unix_ms: if unix_ms > GREATEST_MS { GREATEST_MS } else { unix_ms } }
    }

    /// Milliseconds since the epoch.
    pub const fn unix_ms(self) -> u64 {
        self.unix_ms
    }

    /// Reads the one form that a book uses.
    pub fn parse(text: &str) -> Option<Time> {
        let b = text.as_bytes();
        let shape = b"0000-00-00T00:00:00.000Z";
        let fits = |(have, want): (&u8, &u8)| if *want == b'0' { have.is_ascii_digit() } else { have == want };
        if b.len() != shape.len() || !b.iter().zip(shape).all(fits) {
            return None;
        }
        let number = |from: usize, to: usize| b[from..to].iter().fold(0u64, |n, d| n * 10 + u64::from(d - b'0'));
        let (year, month, day) = (number(0, 4), number(5, 7), number(8, 10));
        let (hour, minute, second, ms) = (number(11, 13), number(14, 16), number(17, 19), number(20, 23));
        if year < 1970 || hour > 23 || minute > 59 || second > 59 {
            return None;
        }
        let days = days_from_civil(year, month, day)?;
        Some(Time { unix_ms: days * DAY_MS + ((hour * 60 + minute) * 60 + second) * 1000 + ms })
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = civil_from_days(self.unix_ms / DAY_MS);
        let ms = self.unix_ms % DAY_MS;
        let (hour, minute, second) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1000 % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z", ms % 1000)
    }
}

/// Proleptic Gregorian date of a day since 1970-01-01 (H. Hinnant, "chrono-compatible low-level
/// date algorithms", restricted to days after the epoch).
const fn civil_from_days(days: u64) -> (u64, u64, u64) {
    let z = days + 719_468;
    let era = z / 146_097;
    let doe = z % 146_097;
    let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let month = if mp < 10 { mp + 3 } else { mp - 9 };
    (yoe + era * 400 + (month <= 2) as u64, month, doy - (153 * mp + 2) / 5 + 1)
}

/// The inverse; nothing for a date that no calendar has.
fn days_from_civil(year: u64, month: u64, day: u64) -> Option<u64> {
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let y = if month <= 2 { year - 1 } else { year };
    let (era, yoe) = (y / 400, y % 400);
    let mp = if month > 2 { month - 3 } else { month + 9 };
    let doe = yoe * 365 + yoe / 4 - yoe / 100 + (153 * mp + 2) / 5 + day - 1;
    let days = (era * 146_097 + doe).checked_sub(719_468)?;
    (civil_from_days(days) == (year, month, day)).then_some(days)
}

#[cfg(test)]
mod tests {
    use super::Time;

    #[track_caller]
    fn check(text: &str, unix_ms: Option<u64>) {
        assert_eq!(Time::parse(text).map(Time::unix_ms), unix_ms, "{text}");
        if let Some(unix_ms) = unix_ms {
            assert_eq!(Time::from_unix_ms(unix_ms).to_string(), text);
        }
    }

    #[test]
    fn times_print_and_parse() {
        check("1970-01-01T00:00:00.000Z", Some(0));
        check("2000-02-29T12:34:56.789Z", Some(951_827_696_789));
        check("2026-11-29T21:52:03.456Z", Some(1_795_989_123_456));
        check("9999-12-31T23:59:59.999Z", Some(253_402_300_799_999));
        for bad in [
            "1969-12-31T23:59:59.999Z",
            "2023-02-29T00:00:00.000Z",
            "2026-13-01T00:00:00.000Z",
            "2026-11-29T24:00:00.000Z",
            "2026-11-29T21:52:03Z",
            "2026-11-29 21:52:03.456Z",
            "2026-00-01T00:00:00.000Z",
            "",
            "é026-11-29T21:52:03.456Z",
        ] {
            check(bad, None);
        }
    }
}
