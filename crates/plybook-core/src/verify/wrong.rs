//! What is wrong with a book, and whether it was accepted nevertheless.
//!
//! Invariant: an entry has two verdicts only where the book is whole in form and digests to its end; a book that
//! is broken anywhere shows nothing of what was accepted.

use std::fmt;

use crate::book::BookError;
use crate::digest::Digest;
use crate::game::{Fault, FoldError};
use crate::ruleset::RulesetId;
use crate::seq::Seq;
use crate::verify::Signed;

/// The first thing that is wrong with a book.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{why}", place(self))]
pub struct Wrong {
    /// Line of the file, from 1, where the book came as a file and its form is wrong.
    pub line: Option<usize>,
    /// The first wrong entry, where it is one.
    pub seq: Option<Seq>,
    /// What is wrong with it.
    pub fault: Fault,
    /// The code of the rule that a move breaks, where it is that.
    pub rule: Option<&'static str>,
    /// What it claims, and what the rules say.
    pub why: String,
    /// The other verdict, where only the rules object: the book is whole, so the entry was accepted once.
    pub accepted: Option<Box<Accepted>>,
}

/// What a book shows that is whole, though an entry of it is illegal under this build's rules, or has none here:
/// whoever wrote it accepted that entry and all after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// Number of entries, each chained to the one before.
    pub entries: u32,
    /// Digest of the last entry.
    pub digest: Digest,
    /// Who signed the head: with a key that was given, it is that key's server who had the book.
    pub signed: Signed,
    /// The rules that the header pins.
    pub ruleset: RulesetId,
}

/// The kinds of what can be wrong with a book.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// It was accepted then, and its own pinned rules refuse it now.
    IllegalNow,
    /// Something was changed, removed or added, or was never a book.
    Broken,
    /// It is whole, and this build has not the rules to say more.
    Unsupported,
}

impl Kind {
    /// The name, for machines.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::IllegalNow => "illegal_now",
            Kind::Broken => "broken",
            Kind::Unsupported => "unsupported",
        }
    }
}

impl Wrong {
    /// Something wrong with an entry.
    pub fn entry(seq: Seq, fault: Fault, why: impl Into<String>) -> Wrong {
        Wrong { seq: Some(seq), ..Wrong::book(fault, why) }
    }

    /// Something wrong that is no entry's.
    pub fn book(fault: Fault, why: impl Into<String>) -> Wrong {
        Wrong { line: None, seq: None, fault, rule: None, why: why.into(), accepted: None }
    }

    /// Which kind of wrong it is.
    pub const fn kind(&self) -> Kind {
        match (self.fault, &self.accepted) {
            (Fault::Unsupported, Some(_)) => Kind::Unsupported,
            (Fault::Rules, Some(_)) => Kind::IllegalNow,
            _ => Kind::Broken,
        }
    }

    /// The same, of a book that is broken after it: then nothing shows that it was ever accepted. Where this build
    /// only lacks the rules, the break is the first wrong.
    #[must_use]
    pub(crate) fn broken(&self, after: &Wrong) -> Wrong {
        if self.fault == Fault::Unsupported {
            return after.clone();
        }
        let why = format!("{}; and after it the book is broken: {after}", self.why);
        Wrong { accepted: None, why, ..self.clone() }
    }

    #[must_use]
    pub(crate) fn signed(mut self, signed: Signed) -> Wrong {
        if let Some(accepted) = &mut self.accepted {
            accepted.signed = signed;
        }
        self
    }
}

/// What was accepted then, in one sentence.
impl fmt::Display for Accepted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the book is whole: {} entries, each chained to the one before, ", self.entries)?;
        match self.signed {
            Signed::By(id) => write!(f, "signed by key {id}: so it is the book that the key's server had, every entry accepted"),
            Signed::UnknownKey(id) => write!(f, "signed by a key that was not given, {id}: so whoever wrote it accepted every entry"),
            Signed::No => f.write_str("not signed: so whoever wrote it accepted every entry"),
        }
    }
}

fn place(wrong: &Wrong) -> String {
    match (wrong.line, wrong.seq) {
        (Some(line), Some(seq)) => format!("line {line}, entry {seq}: "),
        (Some(line), None) => format!("line {line}: "),
        (None, Some(seq)) => format!("entry {seq}: "),
        (None, None) => String::new(),
    }
}

impl From<BookError> for Wrong {
    fn from(error: BookError) -> Wrong {
        Wrong { line: Some(error.line), seq: error.seq, ..Wrong::book(error.fault, error.why) }
    }
}

impl From<FoldError> for Wrong {
    fn from(error: FoldError) -> Wrong {
        Wrong { rule: error.rule, ..Wrong::entry(error.seq, error.fault, error.why) }
    }
}
