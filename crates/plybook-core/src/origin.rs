//! Where a forked game comes from.
//!
//! A fork begins with moves that stood in another game, given to it and not made in it: they are
//! legal moves like any others, but their dice were the other game's, and nobody takes them back.
//!
//! Invariant: the header says how many there are, so none can be added or left out unseen.

use std::fmt;

use uuid::Uuid;

use crate::book::Book;
use crate::digest::Digest;
use crate::entry::{Body, Move};
use crate::header::Header;
use crate::seq::Seq;
use crate::standing::StandingMoves;
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

    /// Whether what `fork` says of its origin is so: `origin` has the entry with its digest, and the moves that
    /// stood there, by the same seats with the same faces, are those that `fork` begins with. Each
    /// book is taken as it is; whether it follows from itself is asked elsewhere.
    pub fn check_against(fork: &Book, origin: &Book) -> Result<(), String> {
        let Some(named) = fork.header().origin else { return Err("the game is no fork".to_owned()) };
        named.check_game(origin.header())?;
        let there = usize::try_from(named.seq.0.saturating_sub(1)).ok().and_then(|at| origin.links().get(at));
        let digest = there.map(|link| link.digest).ok_or_else(|| named.too_short(origin.head().seq))?;
        let standing = StandingMoves::at(origin.header(), origin.lines(), named.seq)?;
        let lines = fork.lines().iter().take(named.given as usize);
        named.check_moves(fork.header(), lines.map(|link| link.text.as_str()), &Found { header: origin.header(), digest, standing })
    }

    /// The same with what was found of the other game, and the fork's lines from entry 2 on.
    pub fn check_moves<'a>(&self, fork: &Header, lines: impl Iterator<Item = &'a str>, found: &Found<'_>) -> Result<(), String> {
        let header = found.header;
        self.check_game(header)?;
        if found.digest != self.digest {
            return Err(format!("entry {} of game {} has digest {}, not {}", self.seq, self.game, found.digest, self.digest));
        }
        if (&header.ruleset, &header.params, header.seat_count()) != (&fork.ruleset, &fork.params, fork.seat_count()) {
            return Err(format!("game {} has other rules", self.game));
        }
        let moves = found.standing.moves();
        if moves.len() != self.given as usize {
            return Err(format!("{} moves stood at entry {} of game {}, not {}", moves.len(), self.seq, self.game, self.given));
        }
        let mut lines = lines;
        for (seq, standing) in (2u32..).zip(moves) {
            let line = lines.next().ok_or_else(|| format!("entry {seq}, a move given to it, is missing"))?;
            let entry = fork.read_entry(line).map_err(|error| format!("entry {seq}: {}", error.why))?;
            match entry.body {
                Body::Given(made) if entry.actor.seat == Some(standing.seat) && same_move(&made, &standing.made) => {}
                _ => return Err(format!("entry {seq} is not the move {} that stood in game {}", seq - 1, self.game)),
            }
        }
        Ok(())
    }

    fn check_game(&self, header: &Header) -> Result<(), String> {
        if header.game == self.game {
            return Ok(());
        }
        Err(format!("it was forked from game {}, not from game {}", self.game, header.game))
    }

    /// The sentence for a book that ends before the entry.
    pub fn too_short(&self, head: Seq) -> String {
        format!("game {} ends with entry {head}, before entry {}", self.game, self.seq)
    }
}

/// Who is next may differ: a seat that had left the other game is at this table again.
fn same_move(made: &Move, stood: &Move) -> bool {
    (&made.notation, made.ply, &made.faces, &made.cells) == (&stood.notation, stood.ply, &stood.faces, &stood.cells)
}

/// What a game has at the entry that a fork names.
#[derive(Debug)]
pub struct Found<'a> {
    /// Its header.
    pub header: &'a Header,
    /// The digest of the entry.
    pub digest: Digest,
    /// The moves that stand there.
    pub standing: StandingMoves,
}

/// As in a header.
impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {} {}", self.game, self.seq, self.digest, self.given)
    }
}
