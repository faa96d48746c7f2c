//! Folds a book into a game, and decides what may be appended to it.
//!
//! Invariants: the game is a function of its header and lines alone; [`Game::decide`] leaves it as it
//! was, only [`Game::apply`] moves it on; it knows turns, numbers and policies, never how a win is
//! detected, and never reads the board.

mod decide;
mod due;
mod fold;
mod forking;
mod incidents;
mod joining;
mod left;
mod living;
mod snapshot;

use std::sync::Arc;

pub use decide::{Ask, Request};
pub use due::Due;
pub(crate) use fold::read_link;
pub use fold::{Fault, FoldError};
pub use forking::{Fork, ForkError, Forked, fork};
pub use left::{Left, Why as WhyLeft};
pub use snapshot::{BadSnapshot, FORMAT as SNAPSHOT_FORMAT};

use living::Living;

use crate::clock::Clock;
use crate::dice::Dice;
use crate::digest::Digest;
use crate::entropy::{Joining, Step};
use crate::header::{Entropy, Header};
use crate::offers::Offers;
use crate::outcome::Outcome;
use crate::play::Play;
use crate::position::Position;
use crate::presence::Presence;
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

/// Whose hand moves for a seat that nobody else may move for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hand {
    /// The seat's bot, or, where it fails, the fallback.
    Bot,
    /// The fallback alone.
    Fallback,
}

/// A game at the head of its book.
#[derive(Clone, Debug)]
pub struct Game {
    header: Arc<Header>,
    play: Play,
    /// The entry behind each standing move that is known.
    standing: Vec<Seq>,
    /// The entry behind the last standing move before those.
    below: Option<Seq>,
    /// The last entry of which a snapshot was due, and the standing moves there.
    due: (Seq, u32),
    head: Head,
    /// The last entry that touched the position: what a caller must have seen.
    decided: Seq,
    /// How far the seats are in joining, where the game asks them for nonces.
    joining: Option<Joining>,
    /// How the game ended, where no move ended it.
    broken_off: Option<Outcome>,
    /// Who is still at the table, whose time runs, what is offered.
    living: Living,
    closed: bool,
}

impl Game {
    /// A game of which only the header is written.
    pub fn new(header: Header, rules: Arc<dyn Rules>) -> Game {
        let head = Head { seq: Seq::FIRST, digest: header.digest(), time: header.created };
        let seats = header.seat_count();
        let joining = match header.entropy {
            Entropy::Service => None,
            Entropy::Joint(rule) => Some(Joining::new(rule, head.digest, header.created, seats)),
        };
        let play = Play::new(rules, seats);
        let living = Living::new(&header, joining.as_ref(), play.position().to_move());
        Game {
            header: Arc::new(header),
            play,
            standing: Vec::new(),
            below: None,
            due: (Seq::FIRST, 0),
            head,
            decided: Seq::FIRST,
            joining,
            broken_off: None,
            living,
            closed: false,
        }
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

    /// The numbers of the entries behind [`Play::standing`], oldest first.
    pub fn standing(&self) -> &[Seq] {
        &self.standing
    }

    /// About how much memory the game takes, in bytes, besides what every game takes.
    pub fn bytes(&self) -> usize {
        self.play.bytes() + size_of_val(self.standing()) + self.living.bytes()
    }

    /// The last entry.
    pub const fn head(&self) -> Head {
        self.head
    }

    /// How far the seats are in joining; nothing where the game asks them for no nonces.
    pub const fn joining(&self) -> Option<&Joining> {
        self.joining.as_ref()
    }

    /// The seats' part in joining that is not done yet.
    pub fn waits_for(&self) -> Option<&Joining> {
        self.joining.as_ref().filter(|joining| self.broken_off.is_none() && joining.step() != Step::Play)
    }

    /// The clock, where the game has one.
    pub const fn clock(&self) -> Option<&Clock> {
        self.living.clock.as_ref()
    }

    /// What is offered.
    pub const fn offers(&self) -> &Offers {
        &self.living.offers
    }

    /// Who is away, where the game's policy asks.
    pub const fn presence(&self) -> Option<&Presence> {
        self.living.presence.as_ref()
    }

    /// Whether the service moves for the seat to move: its bot, or the fallback because its time ran out.
    pub fn waits_for_bot(&self) -> Option<Hand> {
        let seat = self.to_move()?;
        match (self.living.stand_in, self.header.terms.bot(seat)) {
            (true, _) => Some(Hand::Fallback),
            (false, Some(_)) => Some(Hand::Bot),
            (false, None) => None,
        }
    }

    /// How often moves were taken back.
    pub const fn undos(&self) -> u32 {
        self.living.undos
    }

    /// Who moves; nobody while seats have yet to join, and once the game is finished.
    pub fn to_move(&self) -> Option<Seat> {
        let playing = self.broken_off.is_none() && self.waits_for().is_none();
        self.play.position().to_move().filter(|_| playing)
    }

    /// How the game ended, if it did.
    pub const fn outcome(&self) -> Option<&Outcome> {
        match &self.broken_off {
            Some(outcome) => Some(outcome),
            None => self.play.position().outcome(),
        }
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

    /// The dice of this game, from its seed and the seats' nonces as far as they are revealed.
    pub fn dice(&self, seed: crate::Seed) -> Dice {
        let Some(joining) = &self.joining else { return Dice::without_nonces(seed, self.header.seat_count()) };
        let nonces: Vec<&[u8]> = joining.nonces().iter().map(|nonce| nonce.as_deref().unwrap_or_default()).collect();
        Dice::new(seed, &nonces)
    }
}
