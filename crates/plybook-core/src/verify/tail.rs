//! The rest of a book after an entry that only the rules refuse.
//!
//! Invariant: no rules are asked here. Whatever else can be checked of the rest is: form, numbers, digests, and
//! that a seed is the one committed to.

use crate::digest::Digest;
use crate::entry::Entry;
use crate::game::{Fault, FoldError, Game, read_link};
use crate::header::Header;
use crate::ruleset::RulesetId;
use crate::seq::Seq;
use crate::verify::{Accepted, Signed, Wrong};

/// How far the rest was followed, and what began it.
#[derive(Debug)]
pub(super) struct Tail {
    wrong: Wrong,
    seq: Seq,
    digest: Digest,
}

impl Tail {
    /// After a header that has no rules.
    pub(super) fn at_header(header: &Header, wrong: Wrong) -> Tail {
        Tail { wrong, seq: Seq::FIRST, digest: header.digest() }
    }

    /// After the game's head, and the line that it refused.
    pub(super) fn after(game: &Game, refused: FoldError, line: &str, digest: Digest) -> Result<(Tail, Entry), Wrong> {
        let head = game.head();
        let mut tail = Tail { wrong: refused.into(), seq: head.seq, digest: head.digest };
        let entry = tail.follow(game.header(), line, digest)?;
        Ok((tail, entry))
    }

    /// The last entry followed.
    pub(super) const fn seq(&self) -> Seq {
        self.seq
    }

    /// Checks the next line.
    pub(super) fn follow(&mut self, header: &Header, line: &str, digest: Digest) -> Result<Entry, Wrong> {
        let seq = self.seq.next();
        let entry = read_link(header, seq, self.digest, line, digest).map_err(|error| self.wrong.broken(&error.into()))?;
        if entry.seed.as_ref().is_some_and(|seed| seed.commitment() != header.commitment) {
            let broken = Wrong::entry(seq, Fault::Seed, "its seed is not the one committed to");
            return Err(self.wrong.broken(&broken));
        }
        (self.seq, self.digest) = (seq, digest);
        Ok(entry)
    }

    /// What the rules refused.
    pub(super) const fn wrong(&self) -> &Wrong {
        &self.wrong
    }

    /// The same, now that the book is at its end and whole.
    pub(super) fn accepted(self, ruleset: RulesetId) -> Wrong {
        let accepted = Accepted { entries: self.seq.0, digest: self.digest, signed: Signed::No, ruleset };
        Wrong { accepted: Some(Box::new(accepted)), ..self.wrong }
    }
}
