//! The terms of a live game: bots, clocks, absence, and what may be asked how often.
//!
//! Invariant: terms are fixed when a game is created; without any of them a game is what it would be if
//! nobody had ever thought of them.

use std::fmt;

use crate::bot::Bot;
use crate::clock::{ClockPolicy, IfExpired};
use crate::header::{UndoBy, UndoPolicy};
use crate::presence::AbsencePolicy;
use crate::seat::{Seat, SeatSet};
use crate::{limits, scan};

/// Which term cannot be kept, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{term}: {why}")]
pub struct Unkept {
    /// The word in the contract.
    pub term: &'static str,
    /// What goes on after it.
    pub why: String,
}

/// The terms of a game.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Terms {
    /// Which seats are bots, ascending.
    pub bots: Vec<(Seat, Bot)>,
    /// Moves where a bot fails, and where the clock's policy lets a bot move; there is one exactly then.
    pub fallback: Option<Bot>,
    /// The clock, if there is one.
    pub clock: Option<ClockPolicy>,
    /// What becomes of a seat that stays away, if anything does.
    pub absence: Option<AbsencePolicy>,
    /// Most undos of the game.
    pub undo_limit: Option<u32>,
    /// A seat may abort the game while fewer moves stand than this; without it, fewer than there are seats.
    pub abort_before: Option<u32>,
    /// A finished game that may be reopened closes itself after so many milliseconds.
    pub close_after_ms: Option<u64>,
}

impl Terms {
    /// The bot that plays for a seat.
    pub fn bot(&self, seat: Seat) -> Option<&Bot> {
        self.bots.iter().find(|(of, _)| *of == seat).map(|(_, bot)| bot)
    }

    /// The seats that are bots.
    pub fn bot_seats(&self) -> SeatSet {
        self.bots.iter().map(|(seat, _)| *seat).collect()
    }

    /// Whether they can be kept at a table with so many seats and this undo policy.
    pub fn check(&self, seats: u8, undo: UndoPolicy) -> Result<(), Unkept> {
        let unkept = |term, why: &str| Err(Unkept { term, why: why.to_owned() });
        let within = |term, least: u64, most: u64, unit: &str| Err(Unkept { term, why: format!("is {least} to {most}{unit}") });
        if self.bots.iter().any(|(seat, _)| seat.0 >= seats) || !self.bots.is_sorted_by(|(a, _), (b, _)| a < b) {
            return unkept("bots", "stand by seat, and each seat has one at most");
        }
        let mut bots = self.bots.iter().map(|(_, bot)| bot).chain(&self.fallback);
        bots.try_for_each(Bot::check).map_err(|why| Unkept { term: "bots", why })?;
        let lets_bot_move = self.clock.as_ref().is_some_and(|clock| clock.if_expired == IfExpired::Bot);
        if self.fallback.is_some() != (lets_bot_move || !self.bots.is_empty()) {
            return unkept("fallback", "is there exactly where a bot may move");
        }
        self.clock.as_ref().map_or(Ok(()), ClockPolicy::check).map_err(|why| Unkept { term: "clock", why })?;
        self.absence.as_ref().map_or(Ok(()), AbsencePolicy::check).map_err(|why| Unkept { term: "absence.grace", why })?;
        if self.undo_limit.is_some() && undo.by == UndoBy::None {
            return unkept("undo_limit", "is for games in which somebody may undo");
        }
        if self.undo_limit.is_some_and(|limit| !(1..=limits::ENTRIES_MAX).contains(&limit)) {
            return within("undo_limit", 1, limits::ENTRIES_MAX.into(), "");
        }
        if self.abort_before.is_some_and(|plies| plies > limits::ENTRIES_MAX) {
            return within("abort_before_plies", 0, limits::ENTRIES_MAX.into(), "");
        }
        if self.close_after_ms.is_some() && !undo.after_end {
            return unkept("close_after", "is for games that may be reopened: undo after the end");
        }
        if self.close_after_ms.is_some_and(|ms| !(1..=limits::CLOSE_AFTER_MS_MAX).contains(&ms)) {
            return within("close_after", 1, limits::CLOSE_AFTER_MS_MAX, " milliseconds");
        }
        Ok(())
    }

    /// Reads the lines of a header, each of which `line` takes if it is the next one.
    pub(crate) fn read<'a>(mut line: impl FnMut(&str) -> Result<Option<&'a str>, scan::Why>) -> Result<Terms, scan::Why> {
        let mut bots = Vec::new();
        while let Some(text) = line("bot")? {
            let (seat, bot) = text.split_once(' ').ok_or_else(|| format!("{text:?} is not a seat's bot"))?;
            bots.push((scan::seat(seat)?, Bot::parse(bot)?));
        }
        Ok(Terms {
            bots,
            fallback: line("fallback")?.map(Bot::parse).transpose()?,
            clock: line("clock")?.map(ClockPolicy::parse).transpose()?,
            absence: line("absence")?.map(AbsencePolicy::parse).transpose()?,
            undo_limit: line("undo-limit")?.map(scan::number).transpose()?,
            abort_before: line("abort-before")?.map(scan::number).transpose()?,
            close_after_ms: line("close-after")?.map(scan::number).transpose()?,
        })
    }
}

/// The lines of a header, each after a line feed.
impl fmt::Display for Terms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.bots.iter().try_for_each(|(seat, bot)| write!(f, "\nbot {seat} {bot}"))?;
        write_line(f, "fallback", self.fallback.as_ref())?;
        write_line(f, "clock", self.clock.as_ref())?;
        write_line(f, "absence", self.absence.as_ref())?;
        write_line(f, "undo-limit", self.undo_limit)?;
        write_line(f, "abort-before", self.abort_before)?;
        write_line(f, "close-after", self.close_after_ms)
    }
}

fn write_line(f: &mut fmt::Formatter<'_>, key: &str, value: Option<impl fmt::Display>) -> fmt::Result {
    value.map_or(Ok(()), |value| write!(f, "\n{key} {value}"))
}
