//! When a node has to look at a game again, and what an entry changes about that.
//!
//! Invariant: a game's row in the queue of due games is never later than the last moment that [`latest`] tells of its
//! head, except where that moment has passed and somebody is at it. So an entry writes to the queue only where it makes
//! something due earlier than what stood before it could, and the book alone says whether it does: no node has to know
//! what another one armed.
//!
//! The store's invariant is the other half: a claim that is settled after an append which armed the row changes nothing,
//! and one that is settled before an append which did not was settled by a head that is due no later.

use std::time::Duration;

use plybook_core::bot::Bot;
use plybook_core::game::{Due, Hand, State};
use plybook_core::header::Entropy;
use plybook_core::{Game, Header, Seat, Terms, Time};
use plybook_store::{Arms, DueChange};

use crate::limits::{FALLBACK_MARGIN, QUICK_BOT_NODES};

/// A bot's turn: as long as it is this one, what a bot thinks about it is worth something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Turn {
    /// Moves that stand.
    pub(super) ply: u32,
    /// Whose it is.
    pub(super) seat: Seat,
    /// Who moves for it.
    pub(super) hand: Hand,
}

impl Turn {
    /// Whether the service is to move.
    pub(super) fn of(game: &Game) -> Option<Turn> {
        let (hand, seat) = (game.waits_for_bot()?, game.to_move()?);
        Some(Turn { ply: game.position().ply(), seat, hand })
    }

    /// What moves, as the header pins it.
    pub(super) fn bot(self, terms: &Terms) -> Option<&Bot> {
        match self.hand {
            Hand::Bot => terms.bot(self.seat),
            Hand::Fallback => terms.fallback.as_ref(),
        }
    }
}

/// Whether a bot answers at once, on the node that has just appended.
pub(super) const fn is_quick(bot: &Bot) -> bool {
    bot.nodes <= QUICK_BOT_NODES
}

/// From when on the fallback moves in the place of a bot whose time runs; nothing where no such time runs.
pub(super) fn rescue_at(game: &Game) -> Option<Time> {
    if game.waits_for_bot()? != Hand::Bot {
        return None;
    }
    let clock = game.clock()?;
    let deadline = clock.deadline()?.unix_ms();
    let whole = deadline.saturating_sub(clock.since().unix_ms());
    let margin = (whole / 2).min(FALLBACK_MARGIN.as_millis() as u64);
    Some(Time::from_unix_ms(deadline.saturating_sub(margin)))
}

/// When somebody has to look at the game by time.
fn first(game: &Game) -> Option<Time> {
    let (deadline, due) = game.due()?;
    let rescue = rescue_at(game).filter(|_| matches!(due, Due::Turn(_)));
    rescue.or_else(|| Some(over(deadline)))
}

/// The same once somebody has looked at it at `now`.
pub(super) fn next(game: &Game, now: Time) -> Option<Time> {
    first(game).filter(|at| *at > now).or_else(|| latest(game))
}

/// When the next deadline is over: an entry at it is in time.
fn latest(game: &Game) -> Option<Time> {
    game.due().map(|(deadline, _)| over(deadline))
}

/// The rows of a game that is created at `now`.
pub(super) fn arms(game: &Game, now: Time, lease: Duration) -> Arms {
    Arms { time: first(game), bot: Turn::of(game).and_then(|turn| bot_at(game, turn, now, lease)) }
}

/// What an entry at `now` does to the rows of its game, which it moves on from `before` to `after`.
pub(super) fn change(before: &Game, after: &Game, now: Time, lease: Duration) -> DueChange {
    if after.state() == State::Closed {
        return DueChange::Disarm;
    }
    // Of a deadline that has passed, the row may be put off to any time by now.
    let known = latest(before).filter(|latest| now < *latest);
    let time = first(after).filter(|first| known.is_none_or(|known| *first < known));
    let turn = Turn::of(after).filter(|turn| Turn::of(before) != Some(*turn));
    let arms = Arms { time, bot: turn.and_then(|turn| bot_at(after, turn, now, lease)) };
    if arms == Arms::NONE { DueChange::Keep } else { DueChange::Arm(arms) }
}

/// A quick bot moves at once and without a row; the row is for the case that this node goes away before.
fn bot_at(game: &Game, turn: Turn, now: Time, lease: Duration) -> Option<Time> {
    let bot = turn.bot(&game.header().terms)?;
    Some(if is_quick(bot) { later(now, lease) } else { now })
}

/// Whether a game with this header may ever have a row.
pub(super) fn has_rows(header: &Header) -> bool {
    let Terms { bots, fallback, clock, absence, close_after_ms, .. } = &header.terms;
    let by_time = clock.is_some() || absence.is_some() || close_after_ms.is_some();
    by_time || !bots.is_empty() || fallback.is_some() || matches!(header.entropy, Entropy::Joint(_))
}

/// So long after a time.
pub(crate) fn later(time: Time, by: Duration) -> Time {
    Time::from_unix_ms(time.unix_ms().saturating_add(u64::try_from(by.as_millis()).unwrap_or(u64::MAX)))
}

/// From one time until another; nothing where that one is earlier.
pub(crate) const fn until(from: Time, to: Time) -> Duration {
    Duration::from_millis(to.unix_ms().saturating_sub(from.unix_ms()))
}

fn over(deadline: Time) -> Time {
    later(deadline, Duration::from_millis(1))
}
