//! A book's moves by bots, chosen again with the seed that the book reveals.
//!
//! Invariant: an entry is judged by the header's pinned strategy, version and budget and by the position before it,
//! and by nothing else: not by how long anybody thought, nor by which build of a strategy's version did.

use plybook_core::entry::{Body, Entry, Move};
use plybook_core::game::{FoldError, Hand};
use plybook_core::header::Principal;
use plybook_core::{Digest, Game, Seat, Seed, Seq, bot::Bot};

use crate::chance::Chance;
use crate::meter::{Budget, Meter};
use crate::registry::{Bots, UnknownStrategy};
use crate::strategy::NoChoice;
use crate::view::View;

/// Whose choice an entry claims to be; nobody's where no bot moved.
pub fn hand(entry: &Entry) -> Option<Hand> {
    let by = &entry.actor.by;
    match &entry.body {
        Body::Move(_) if *by == Principal::bot() => Some(Hand::Bot),
        Body::Move(_) if *by == Principal::fallback() => Some(Hand::Fallback),
        _ => None,
    }
}

/// Moves that the service made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moves {
    /// By the seats' own bots.
    pub by_bots: u64,
    /// By the fallback, for a seat whose bot failed or whose time ran out.
    pub by_fallback: u64,
}

impl Moves {
    /// All of them.
    pub const fn all(self) -> u64 {
        self.by_bots + self.by_fallback
    }

    /// One more, by this hand.
    pub const fn count(&mut self, hand: Hand) {
        match hand {
            Hand::Bot => self.by_bots += 1,
            Hand::Fallback => self.by_fallback += 1,
        }
    }
}

/// A move that the service claims a bot to have chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Its entry.
    pub seq: Seq,
    /// The seat moved for.
    pub seat: Seat,
    /// Whether it is the seat's bot or the fallback that moved.
    pub hand: Hand,
    /// The strategy, as the header pins it.
    pub bot: Bot,
    /// The move, in the ruleset's notation.
    pub notation: String,
}

/// Why an entry is not found to be what its bot chooses.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Disagreement {
    /// The strategy chooses another move, or none.
    #[error("seat {}, {} {}, claims to choose {}, but it chooses {}", .claim.seat, name(.claim.hand), .claim.bot, .claim.notation, tell(.chosen))]
    Differs {
        /// What stands in the book.
        claim: Box<Claim>,
        /// What the strategy chooses.
        chosen: Option<String>,
    },
    /// This build has not the strategy, which is no fault of the book.
    #[error("seat {}, {}: {unknown}", .claim.seat, name(.claim.hand))]
    Unknown {
        /// What stands in the book.
        claim: Box<Claim>,
        /// What there is instead.
        unknown: UnknownStrategy,
    },
    /// The book does not follow.
    #[error("{0}")]
    Broken(#[from] FoldError),
    /// Whoever asked did not want to know any more.
    #[error("it was stopped")]
    Stopped,
}

const fn name(hand: Hand) -> &'static str {
    match hand {
        Hand::Bot => "bot",
        Hand::Fallback => "fallback",
    }
}

fn tell(chosen: &Option<String>) -> &str {
    chosen.as_deref().unwrap_or("nothing")
}

/// A book being followed, of which every move by a bot is chosen again.
pub struct Again {
    bots: Bots,
    game: Game,
    seed: Seed,
    moves: Moves,
}

impl Again {
    /// Begins with a game of which only the header is written, and the seed that its book reveals in the end.
    pub const fn new(bots: Bots, game: Game, seed: Seed) -> Again {
        Again { bots, game, seed, moves: Moves { by_bots: 0, by_fallback: 0 } }
    }

    /// The moves chosen again so far, all of them as the book has them.
    pub const fn moves(&self) -> Moves {
        self.moves
    }

    /// The last entry followed.
    pub const fn at(&self) -> Seq {
        self.game.head().seq
    }

    /// Goes on by the next line and its stored digest; answers whose choice it was. `stop` is asked now and then.
    pub fn follow(&mut self, line: &str, digest: Digest, stop: &dyn Fn() -> bool) -> Result<Option<Hand>, Disagreement> {
        let entry = self.game.header().read_entry(line);
        let hand = entry.as_ref().ok().and_then(hand);
        if let (Ok(Entry { seq, actor, body: Body::Move(made), .. }), Some(hand)) = (&entry, hand)
            && let Some(claim) = self.claim(*seq, actor.seat, hand, made)
        {
            self.check(claim, stop)?;
            self.moves.count(hand);
        }
        self.game.apply_line(line, digest)?;
        Ok(hand)
    }

    /// Nothing where the header has no such bot: then the move is none of the game's, and it does not fold.
    fn claim(&self, seq: Seq, seat: Option<Seat>, hand: Hand, made: &Move) -> Option<Claim> {
        let (terms, seat) = (&self.game.header().terms, seat?);
        let bot = match hand {
            Hand::Bot => terms.bot(seat)?,
            Hand::Fallback => terms.fallback.as_ref()?,
        };
        Some(Claim { seq, seat, hand, bot: bot.clone(), notation: made.notation.clone() })
    }

    fn check(&self, claim: Claim, stop: &dyn Fn() -> bool) -> Result<(), Disagreement> {
        let strategy = match self.bots.find(&claim.bot.strategy, Some(claim.bot.version)) {
            Ok(strategy) => strategy,
            Err(unknown) => return Err(Disagreement::Unknown { claim: Box::new(claim), unknown }),
        };
        let view = View::of(&self.game);
        let mut meter = Meter::new(Budget(claim.bot.nodes), stop);
        let choice = match Chance::of_game(&self.seed, &view).filter(|_| strategy.plays(&view)) {
            Some(mut chance) => strategy.choose(&view, &mut meter, &mut chance),
            None => Err(NoChoice::Nothing),
        };
        let chosen = match choice {
            Ok(choice) => Some(self.game.rules().write_action(choice.action)),
            Err(NoChoice::Nothing) => None,
            Err(NoChoice::Stopped) => return Err(Disagreement::Stopped),
        };
        if chosen.as_ref() == Some(&claim.notation) {
            return Ok(());
        }
        Err(Disagreement::Differs { claim: Box::new(claim), chosen })
    }
}
