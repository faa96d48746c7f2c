//! Folds a book into a game, and decides what may be appended to it.
//!
//! Invariants: the game is a function of its header and lines alone; [`Game::decide`] leaves it as it
//! was, only [`Game::apply`] moves it on; it knows turns, numbers and policies, never how a win is
//! detected, and never reads the board.

mod decide;
mod fold;

use std::sync::Arc;

pub use decide::{Ask, Request};
pub use fold::FoldError;

use crate::dice::Dice;
use crate::digest::Digest;
use crate::header::Header;
use crate::outcome::Outcome;
use crate::play::Play;
use crate::position::Position;
use crate::rules::Rules;
use crate::seat::Seat;
use crate::seq::Seq;
use crate::time::Time;

/// The last entry of a book.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Its number.
    pub seq: Seq,
    /// Its digest.
    pub digest: Digest,
    /// Its time.
    pub time: Time,
}

/// What may still happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Moves are accepted.
    Active,
    /// The result is known; an undo may reopen the game.
    Finished,
    /// Nothing is appended any more.
    Closed,
}

/// A game at the head of its book.
#[derive(Clone, Debug)]
pub struct Game {
    header: Arc<Header>,
    play: Play,
    /// The entry behind each standing move.
    standing: Vec<Seq>,
    head: Head,
    /// The last entry that touched the position: what a caller must have seen.
    decided: Seq,
    closed: bool,
}

impl Game {
    /// A game of which only the header is written.
    pub fn new(header: Header, rules: Arc<dyn Rules>) -> Game {
        let head = Head { seq: Seq::FIRST, digest: header.digest(), time: header.created };
        let play = Play::new(rules, header.seat_count());
        Game { header: Arc::new(header), play, standing: Vec::new(), head, decided: Seq::FIRST, closed: false }
    }

    /// Entry 1.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The rules.
    pub fn rules(&self) -> &dyn Rules {
        self.play.rules()
    }

    /// The standing moves.
    pub const fn play(&self) -> &Play {
        &self.play
    }

    /// The position at the head.
    pub const fn position(&self) -> &Position {
        self.play.position()
    }

    /// The numbers of the standing moves' entries, oldest first.
    pub fn standing(&self) -> &[Seq] {
        &self.standing
    }

    /// The last entry.
    pub const fn head(&self) -> Head {
        self.head
    }

    /// Who moves; nobody once the game is finished.
    pub const fn to_move(&self) -> Option<Seat> {
        self.play.position().to_move()
    }

    /// How the game ended, if it did.
    pub const fn outcome(&self) -> Option<&Outcome> {
        self.play.position().outcome()
    }

    /// What may still happen.
    pub const fn state(&self) -> State {
        match (self.closed, self.outcome()) {
            (true, _) => State::Closed,
            (false, Some(_)) => State::Finished,
            (false, None) => State::Active,
        }
    }

    /// SHA-256 of the canonical position at the head. Scans the board.
    pub fn position_digest(&self) -> Digest {
        self.position().digest(&self.header.ruleset)
    }

    /// The dice of this game, from its seed.
    pub fn dice(&self, seed: crate::Seed) -> Dice {
        Dice::without_nonces(seed, self.header.seat_count())
    }
}
