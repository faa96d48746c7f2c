//! One book on its way: its lines are followed, and what bots moved is chosen again.
//!
//! Invariant: a strategy that panics is told of its entry, and ends nothing else.

use std::panic::{AssertUnwindSafe, catch_unwind};

use plybook_bots::again::{Moves, hand};
use plybook_bots::{Again, Disagreement};
use plybook_core::{Digest, Game, Header, Seed};
use plybook_rulesets::Registry;

use super::asking::Progress;
use super::{Bots, Wrong};

/// Where the seed is not revealed, moves are counted only.
pub(super) enum Following {
    Counting(Box<Header>, Moves),
    Choosing(Box<Again>),
}

/// Why the lines that follow need not be looked at.
pub(super) enum Ended {
    /// Something is said against the book.
    Wrong(Wrong),
    /// Whoever asked did not want to know any more.
    Stopped,
}

impl Following {
    /// Of a game with this header, whose rules this build has.
    pub(super) fn new(header: Header, seed: Option<Seed>, registry: &Registry, bots: plybook_bots::Bots) -> Following {
        match (seed, registry.rules_of(&header)) {
            (Some(seed), Ok(rules)) => Following::Choosing(Box::new(Again::new(bots, Game::new(header, rules), seed))),
            _ => Following::Counting(Box::new(header), Moves::default()),
        }
    }

    /// Goes on by these lines, each with its digest.
    pub(super) fn follow<'a>(&mut self, lines: impl Iterator<Item = (&'a str, Digest)>, progress: &Progress) -> Result<(), Ended> {
        for (line, digest) in lines {
            match self {
                Following::Counting(header, moves) => {
                    header.read_entry(line).ok().as_ref().and_then(hand).into_iter().for_each(|hand| moves.count(hand));
                }
                Following::Choosing(again) => choose(again, line, digest, progress)?,
            }
        }
        Ok(())
    }

    /// What is to be said of the book, once all its lines are followed.
    pub(super) fn found(&self) -> Bots {
        match self {
            Following::Counting(_, moves) => Bots::NotRevealed(*moves),
            Following::Choosing(again) => Bots::Same(again.moves()),
        }
    }
}

fn choose(again: &mut Again, line: &str, digest: Digest, progress: &Progress) -> Result<(), Ended> {
    let seq = again.at().next();
    let followed = catch_unwind(AssertUnwindSafe(|| again.follow(line, digest, &|| progress.stopped())));
    match followed {
        Ok(Ok(None)) if progress.stopped() => Err(Ended::Stopped),
        Ok(Ok(None)) => Ok(()),
        Ok(Ok(Some(_))) => {
            progress.chose_one();
            Ok(())
        }
        Ok(Err(Disagreement::Stopped)) => Err(Ended::Stopped),
        Ok(Err(disagreement)) => Err(Ended::Wrong(Wrong::Disagrees(disagreement))),
        Err(_) => Err(Ended::Wrong(Wrong::Failed(seq))),
    }
}
