//! A month of games: those whose ids were made in it.
//!
//! Invariant: a UUIDv7 begins with its milliseconds, so a month is one range of ids, and every id lies in one month.

use std::fmt;
use std::str::FromStr;

use plybook_core::{Time, Uuid};

/// A calendar month in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Month {
    year: u16,
    /// From 1.
    month: u8,
}

impl Month {
    /// The month of a time.
    pub fn of(time: Time) -> Month {
        let text = time.to_string();
        text.get(..7).and_then(|month| month.parse().ok()).unwrap_or(Month { year: 9999, month: 12 })
    }

    /// The month in which a game of this id began.
    pub fn of_game(game: Uuid) -> Month {
        Month::of(Time::from_unix_ms((game.as_u128() >> 80) as u64))
    }

    /// The one after it.
    #[must_use]
    pub fn next(self) -> Month {
        match self.month {
            12 => Month { year: self.year + 1, month: 1 },
            month => Month { year: self.year, month: month + 1 },
        }
    }

    /// Its first moment.
    pub fn begins(self) -> Time {
        Time::parse(&format!("{self}-01T00:00:00.000Z")).unwrap_or_default()
    }

    /// The smallest id that a game of this month can have.
    pub fn first_id(self) -> Uuid {
        Uuid::from_u128(u128::from(self.begins().unix_ms()) << 80)
    }

    /// What the partition of its books is called.
    pub(crate) fn table(self) -> String {
        format!("book_entry_{:04}_{:02}", self.year, self.month)
    }
}

impl fmt::Display for Month {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}", self.year, self.month)
    }
}

/// What is no month.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no month: 2027-01 is one")]
pub struct NoMonth(String);

impl FromStr for Month {
    type Err = NoMonth;

    fn from_str(text: &str) -> Result<Month, NoMonth> {
        let digits = |part: &str, count: usize| {
            let whole = part.len() == count && part.bytes().all(|byte| byte.is_ascii_digit());
            whole.then(|| part.parse::<u16>().ok()).flatten()
        };
        let found = text.split_once('-').and_then(|(year, month)| Some((digits(year, 4)?, digits(month, 2)?)));
        match found {
            // Before 1970 there is no time, and behind 9998 no next month that could be printed.
            Some((year @ 1970..=9998, month @ 1..=12)) => Ok(Month { year, month: month as u8 }),
            _ => Err(NoMonth(text.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn months_are_ranges_of_ids() {
        let december: Month = "2126-12".parse().unwrap();
        let january = december.next();
        assert_eq!(january.to_string(), "2127-01");
        assert_eq!(january.table(), "book_entry_2127_01");
        assert_eq!(january.first_id().to_string(), "04818b59-a400-0000-0000-000000000000");
        let last = Uuid::from_u128(january.first_id().as_u128() - 1);
        assert_eq!((Month::of_game(last), Month::of_game(january.first_id())), (december, january));
        assert_eq!(Month::of(january.begins()), january);
    }

    #[test]
    fn what_is_no_month_is_said() {
        for text in ["", "2027", "2027-1", "2027-00", "2027-13", "27-01", "2027-01-01", "+027-01", "1969-12", "9999-01"] {
            assert_eq!(text.parse::<Month>(), Err(NoMonth(text.to_owned())));
        }
    }
}
