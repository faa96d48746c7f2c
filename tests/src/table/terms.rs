//! The terms of a live game, laid out as its header has them.
//!
//! Invariant: there is a fallback wherever a bot may move, so no test has to think of it.

use plybook_core::bot::Bot;
use plybook_core::clock::{ClockPolicy, IfExpired};
use plybook_core::presence::{AbsencePolicy, IfAway};
use plybook_core::{Seat, Uuid};

use super::Table;

/// A bot as a header has it: `minimax@1 200`.
pub fn bot(text: &str) -> Bot {
    let (id, nodes) = text.split_once(' ').unwrap_or_else(|| panic!("{text:?} is no bot"));
    let (strategy, version) = id.split_once('@').unwrap_or_else(|| panic!("{id:?} is no strategy"));
    Bot { strategy: strategy.to_owned(), version: version.parse().unwrap(), nodes: nodes.parse().unwrap() }
}

/// What is laid out before the first move.
impl Table {
    /// A clock, as a header has it: `fischer 60000 1000 forfeit restore`.
    pub fn clock(mut self, text: &str) -> Table {
        self.laying_out();
        let policy = ClockPolicy::parse(text).unwrap_or_else(|why| panic!("{text:?}: {why}"));
        self.terms.clock = Some(policy);
        if policy.if_expired == IfExpired::Bot { self.with_fallback() } else { self }
    }

    /// A seat is played by this bot: `heuristic@1 500`.
    pub fn bot(mut self, seat: u8, text: &str) -> Table {
        self.laying_out();
        self.terms.bots.push((Seat(seat), bot(text)));
        self.with_fallback()
    }

    fn with_fallback(mut self) -> Table {
        self.terms.fallback.get_or_insert_with(|| bot("random@1 1"));
        self
    }

    /// Seats may be away for so many milliseconds.
    pub fn absence(mut self, grace_ms: u64, then: IfAway) -> Table {
        self.laying_out();
        self.terms.absence = Some(AbsencePolicy { grace_ms, then });
        self
    }

    /// So many undos and no more.
    pub fn undo_limit(mut self, undos: u32) -> Table {
        self.laying_out();
        self.terms.undo_limit = Some(undos);
        self
    }

    /// A seat may abort while fewer moves stand than this.
    pub fn abort_before(mut self, plies: u32) -> Table {
        self.laying_out();
        self.terms.abort_before = Some(plies);
        self
    }

    /// A finished game closes itself after so many milliseconds.
    pub fn close_after(mut self, ms: u64) -> Table {
        self.laying_out();
        self.terms.close_after_ms = Some(ms);
        self
    }

    /// The rematch of this game.
    pub fn rematch_of(mut self, game: u128) -> Table {
        self.laying_out();
        self.rematch_of = Some(Uuid::from_u128(game));
        self
    }
}
