//! Where a forked game comes from.
//!
//! A fork begins with moves that stood in another game, given to it and not made in it: they are
//! legal moves like any others, but their dice were the other game's, and nobody takes them back.
//!
//! Invariant: the header says how many there are, so none can be added or left out unseen.

use std::fmt;

use uuid::Uuid;

use crate::digest::Digest;
use crate::seq::Seq;
use crate::{limits, scan};

/// The entry of another game that this one goes on from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The other game.
    pub game: Uuid,
    /// The entry.
    pub seq: Seq,
    /// Its digest, which covers everything before it.
    pub digest: Digest,
    /// How many moves stood there: this game's entries from 2 on.
    pub given: u32,
}

impl Origin {
    /// Reads what it prints.
    pub(crate) fn parse(text: &str) -> Result<Origin, scan::Why> {
        let mut tokens = text.split(' ');
        let mut token = || tokens.next().ok_or("game, entry, digest and number of moves are wanted");
        let (game, seq, digest, given) = (token()?, token()?, token()?, token()?);
        let game = Uuid::try_parse(game).map_err(|_| format!("{game:?} is not a UUID"))?;
        let digest = Digest::parse(digest).ok_or_else(|| format!("{digest:?} is not a digest"))?;
        let origin = Origin { game, seq: Seq(scan::number(seq)?), digest, given: scan::number(given)? };
        origin.check()?;
        Ok(origin)
    }

    /// Whether its numbers are those of a book.
    pub fn check(&self) -> Result<(), String> {
        if self.seq < Seq::FIRST {
            return Err("entries are numbered from 1".to_owned());
        }
        if self.given >= self.seq.0 {
            return Err(format!("{} moves cannot stand at entry {}", self.given, self.seq));
        }
        if self.given > limits::GIVEN_MAX {
            return Err(format!("a fork begins with at most {} moves", limits::GIVEN_MAX));
        }
        Ok(())
    }
}

/// As in a header.
impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {} {}", self.game, self.seq, self.digest, self.given)
    }
}
