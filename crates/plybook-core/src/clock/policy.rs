//! What a game's clock does, as its header says it.
//!
//! Invariant: a policy prints in one way, and what it prints parses back to the same policy.

use std::fmt;
use std::ops::RangeInclusive;

use super::pace::Pace;
use crate::limits::{BYO_YOMI_PERIODS_MAX, CLOCK_DAYS_MAX, CLOCK_MS_MAX};
use crate::scan;

/// What happens to a seat that lets its time pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IfExpired {
    /// It leaves the game.
    Forfeit,
    /// It loses this turn.
    Skip,
    /// A bot makes this move for it.
    Bot,
}

/// What an undo does to the clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockUndo {
    /// Everybody has again what they had when the turn began that is gone back to.
    Restore,
    /// Time that was used stays used.
    Keep,
}

/// What a game's clock does. Fixed when a game is created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockPolicy {
    /// How time is dealt out.
    pub pace: Pace,
    /// What happens to a seat that lets its time pass.
    pub if_expired: IfExpired,
    /// What an undo does to the clocks.
    pub on_undo: ClockUndo,
    /// Most time that one turn gets back for outages of the service; none where it gets nothing back.
    pub credit_ms: Option<u64>,
}

impl ClockPolicy {
    /// Reads what stands after `clock ` in a header.
    pub fn parse(text: &str) -> Result<ClockPolicy, String> {
        let mut words = Words { rest: text.split(' ') };
        let pace = words.pace()?;
        let if_expired = match words.word("what happens when time is over")? {
            "forfeit" => IfExpired::Forfeit,
            "skip" => IfExpired::Skip,
            "bot" => IfExpired::Bot,
            other => return Err(format!("{other:?} is none of forfeit, skip, bot")),
        };
        let on_undo = match words.word("what an undo does to the clocks")? {
            "restore" => ClockUndo::Restore,
            "keep" => ClockUndo::Keep,
            other => return Err(format!("{other:?} is none of restore, keep")),
        };
        let credit_ms = match words.rest.next() {
            None => None,
            Some("credit") => Some(words.number("the credit")?),
            Some(other) => return Err(format!("{other:?} is not \"credit\"")),
        };
        if words.rest.next().is_some() {
            return Err("something follows the clock".to_owned());
        }
        let policy = ClockPolicy { pace, if_expired, on_undo, credit_ms };
        policy.check()?;
        Ok(policy)
    }

    /// Whether a header may say this.
    pub fn check(&self) -> Result<(), String> {
        match self.pace {
            Pace::PerMove { ms } => milliseconds("the time for a move", ms, 1)?,
            Pace::Fischer { total_ms, increment_ms } => {
                milliseconds("the total time", total_ms, 1)?;
                milliseconds("the increment", increment_ms, 0)?;
            }
            Pace::Bronstein { total_ms, delay_ms } => {
                milliseconds("the total time", total_ms, 1)?;
                milliseconds("the delay", delay_ms, 0)?;
            }
            Pace::ByoYomi { main_ms, period_ms, periods } => {
                milliseconds("the main time", main_ms, 0)?;
                milliseconds("a period", period_ms, 1)?;
                within("the number of periods", periods.into(), 1..=BYO_YOMI_PERIODS_MAX.into(), "")?;
            }
            Pace::Correspondence { days } => within("the time for a move", days.into(), 1..=CLOCK_DAYS_MAX.into(), " days")?,
        }
        if let Some(credit_ms) = self.credit_ms {
            milliseconds("the credit", credit_ms, 1)?;
        }
        if self.if_expired == IfExpired::Skip && !self.pace.renews() {
            return Err("a seat that has used up all its time would be skipped for ever: its turns need time of their own".to_owned());
        }
        Ok(())
    }
}

fn milliseconds(what: &str, ms: u64, least: u64) -> Result<(), String> {
    within(what, ms, least..=CLOCK_MS_MAX, " ms")
}

fn within(what: &str, number: u64, range: RangeInclusive<u64>, unit: &str) -> Result<(), String> {
    if range.contains(&number) { Ok(()) } else { Err(format!("{what} is {} to {}{unit}, not {number}", range.start(), range.end())) }
}

struct Words<'a> {
    rest: std::str::Split<'a, char>,
}

impl<'a> Words<'a> {
    fn word(&mut self, what: &str) -> Result<&'a str, scan::Why> {
        self.rest.next().ok_or_else(|| format!("{what} is missing"))
    }

    fn number<N: std::str::FromStr>(&mut self, what: &str) -> Result<N, scan::Why> {
        scan::number(self.word(what)?)
    }

    fn pace(&mut self) -> Result<Pace, scan::Why> {
        Ok(match self.word("the pace")? {
            "per_move" => Pace::PerMove { ms: self.number("the time for a move")? },
            "fischer" => Pace::Fischer { total_ms: self.number("the total time")?, increment_ms: self.number("the increment")? },
            "bronstein" => Pace::Bronstein { total_ms: self.number("the total time")?, delay_ms: self.number("the delay")? },
            "byo_yomi" => Pace::ByoYomi {
                main_ms: self.number("the main time")?,
                period_ms: self.number("a period")?,
                periods: self.number("the number of periods")?,
            },
            "correspondence" => Pace::Correspondence { days: self.number("the time for a move")? },
            other => return Err(format!("{other:?} is none of per_move, fischer, bronstein, byo_yomi, correspondence")),
        })
    }
}

impl fmt::Display for Pace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pace::PerMove { ms } => write!(f, "per_move {ms}"),
            Pace::Fischer { total_ms, increment_ms } => write!(f, "fischer {total_ms} {increment_ms}"),
            Pace::Bronstein { total_ms, delay_ms } => write!(f, "bronstein {total_ms} {delay_ms}"),
            Pace::ByoYomi { main_ms, period_ms, periods } => write!(f, "byo_yomi {main_ms} {period_ms} {periods}"),
            Pace::Correspondence { days } => write!(f, "correspondence {days}"),
        }
    }
}

/// What stands after `clock ` in a header.
impl fmt::Display for ClockPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let if_expired = match self.if_expired {
            IfExpired::Forfeit => "forfeit",
            IfExpired::Skip => "skip",
            IfExpired::Bot => "bot",
        };
        let on_undo = match self.on_undo {
            ClockUndo::Restore => "restore",
            ClockUndo::Keep => "keep",
        };
        write!(f, "{} {if_expired} {on_undo}", self.pace)?;
        match self.credit_ms {
            None => Ok(()),
            Some(credit_ms) => write!(f, " credit {credit_ms}"),
        }
    }
}
