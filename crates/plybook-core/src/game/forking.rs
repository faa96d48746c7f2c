//! A new game that goes on from an entry of another.
//!
//! Invariant: a fork begins with the moves that stood there, as they stand in the other book, and a fork
//! of a game is a function of that game, the entry and what is new of it.

use std::sync::Arc;

use crate::book::Link;
use crate::digest::Digest;
use crate::entry::{Actor, Body, Entry, Move};
use crate::game::{FoldError, Game, State};
use crate::header::{Entropy, Header, Principal, Receipts, SeedFrom};
use crate::limits;
use crate::origin::Origin;
use crate::play::Play;
use crate::rejection::Rejection;
use crate::rules::Rules;
use crate::seq::Seq;
use crate::standing::{StandingMove, StandingMoves};
use crate::terms::Terms;
use crate::time::Time;

/// What is new of a fork; everything else is the other game's.
#[derive(Clone, Debug)]
pub struct Fork {
    /// Its id.
    pub game: uuid::Uuid,
    /// When it is made.
    pub created: Time,
    /// Who makes it.
    pub by: Principal,
    /// Of its own seed: a fork never has the other game's dice.
    pub commitment: Digest,
    /// Where its dice come from.
    pub entropy: Entropy,
    /// Which answers carry a receipt.
    pub receipts: Receipts,
}

/// A forked game with the lines that it begins with.
#[derive(Debug)]
pub struct Forked {
    /// The game after these lines.
    pub game: Game,
    /// Each line with its digest, entries 2 and on.
    pub given: Vec<Link>,
}

/// Why a fork cannot be written down.
#[derive(Debug, thiserror::Error)]
pub enum ForkError {
    /// A limit of [`crate::limits`].
    #[error("more than {limit} allows ({most})")]
    Limit {
        /// Its name.
        limit: &'static str,
        /// Its value.
        most: u64,
    },
    /// The moves are not those of this game.
    #[error(transparent)]
    Fold(#[from] FoldError),
}

impl Game {
    /// Whether a game may go on from this head: somebody is to move.
    pub fn check_forkable(&self) -> Result<(), Rejection> {
        if let Some(rejection) = self.not_joined() {
            return Err(rejection);
        }
        match self.outcome() {
            Some(outcome) => Err(Rejection::Finished { outcome: outcome.clone(), closed: self.state() == State::Closed }),
            None => Ok(()),
        }
    }

    /// The origin of games that go on from this head.
    pub fn as_origin(&self) -> Origin {
        Origin { game: self.header.game, seq: self.head.seq, digest: self.head.digest, given: self.position().ply() }
    }
}

impl Fork {
    /// The header of this fork of a game with this header.
    pub fn header(self, of: &Header, origin: Origin) -> Header {
        let Fork { game, created, by, commitment, entropy, receipts } = self;
        Header {
            game,
            created,
            by,
            commitment,
            seed_from: SeedFrom::Service,
            origin: Some(origin),
            entropy,
            receipts,
            terms: Terms::default(),
            rematch_of: None,
            ruleset: of.ruleset.clone(),
            params: of.params.clone(),
            seats: of.seats.clone(),
            undo: of.undo,
        }
    }
}

/// The game with this header, which begins with `moves`: each is held against the rules.
pub fn fork(header: Header, rules: Arc<dyn Rules>, moves: &StandingMoves) -> Result<Forked, ForkError> {
    let longest = |text: &str| match text.len() > limits::LINE_BYTES_MAX {
        true => Err(ForkError::Limit { limit: "line_bytes", most: limits::LINE_BYTES_MAX as u64 }),
        false => Ok(()),
    };
    if moves.moves().len() > limits::GIVEN_MAX as usize {
        return Err(ForkError::Limit { limit: "given_moves", most: u64::from(limits::GIVEN_MAX) });
    }
    longest(&header.to_string())?;
    let mut play = Play::new(Arc::clone(&rules), header.seat_count());
    let mut game = Game::new(header, rules);
    let mut given = Vec::with_capacity(moves.moves().len());
    for (seq, standing) in (2..).map(Seq).zip(moves.moves()) {
        let actor = Actor { seat: Some(standing.seat), by: game.header().by.clone() };
        let entry = Entry { seq, time: game.head().time, actor, body: Body::Given(given_again(&mut play, standing)), seed: None };
        let line = entry.to_string();
        longest(&line)?;
        let head = game.apply(&entry)?;
        given.push(Link { text: line, digest: head.digest });
    }
    Ok(Forked { game, given })
}

/// The same move at a full table: whoever left the other game is at this one again, so that another seat may be next.
/// A move that the rules refuse stays as it is, for the game to refuse.
fn given_again(play: &mut Play, standing: &StandingMove) -> Move {
    let mut made = standing.made.clone();
    if play.position().to_move().is_some_and(|seat| seat != standing.seat) {
        play.pass_to(standing.seat);
    }
    let action = play.rules().read_action(&made.notation);
    if let Some(Ok(changes)) = action.map(|action| play.resolve(action, &made.faces)) {
        made.verdict = play.step(changes, !made.faces.is_empty());
    }
    made
}
