//! What somebody kept of a game: receipts, and head digests.
//!
//! A book that was written anew, with every digest made new, follows from itself. Who kept one digest of the old book
//! sees it, with no key; a receipt says also whose digest it was.
//!
//! Invariant: nothing that was kept is passed over: it holds, or the command fails.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;

use plybook_core::receipt::{InBook, PublicKeys, SignedHead, Unproved};
use plybook_core::{Book, Digest, Receipt, Seq, Uuid};
use serde_json::{Value, json};

use super::read;
use crate::exit::usage;

/// Flags of `plybook verify` about what was kept.
#[derive(Debug, clap::Args)]
pub(super) struct KeptArgs {
    /// Receipts, one a line: the book of their game must have their entries, signed by one of the public keys where these
    /// are given; may be repeated
    #[arg(long, value_name = "FILE", conflicts_with = "database")]
    receipt: Vec<PathBuf>,
    /// An entry's number and its digest, as kept: the one book given must have it there; may be repeated
    #[arg(long, value_name = "SEQ:DIGEST", value_parser = head, conflicts_with = "database")]
    head: Vec<(Seq, Digest)>,
}

fn head(text: &str) -> Result<(Seq, Digest), String> {
    let parts = text.split_once(':').and_then(|(seq, digest)| Some((seq.parse().ok().filter(|seq| *seq >= 1)?, Digest::parse(digest)?)));
    parts
        .map(|(seq, digest)| (Seq(seq), digest))
        .ok_or_else(|| "is no entry's number, a colon, and 64 lowercase hexadecimal digits".to_owned())
}

/// Receipts and heads that were read, and those among them whose book has come.
#[derive(Debug)]
pub(super) struct Kept {
    receipts: Vec<(PathBuf, Receipt)>,
    heads: Vec<(Seq, Digest)>,
    met: BTreeSet<Uuid>,
}

impl KeptArgs {
    /// Reads the files of receipts.
    pub(super) fn read(&self, books: usize) -> anyhow::Result<Kept> {
        if !self.head.is_empty() && books > 1 {
            return Err(usage("--head names no game, so give one book with it"));
        }
        let mut receipts = Vec::new();
        for path in &self.receipt {
            let bad = |why: String| usage(format!("--receipt: the receipt file {} {why}", path.display()));
            let text = String::from_utf8(read(path).map_err(|why| bad(format!("cannot be read: {why}")))?);
            let text = text.map_err(|_| bad("is not UTF-8".to_owned()))?;
            let before = receipts.len();
            for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
                let form = "receipt, game, entry, digest, key id, signature, and where it stands among heads that were signed together, with one space between them";
                let receipt = Receipt::parse(line.trim_end()).ok_or_else(|| bad(format!("holds no receipt in line {}: {form}", at + 1)))?;
                receipts.push((path.clone(), receipt));
            }
            if receipts.len() == before {
                return Err(bad("holds no receipt: it is empty".to_owned()));
            }
        }
        Ok(Kept { receipts, heads: self.head.clone(), met: BTreeSet::new() })
    }
}

impl Kept {
    /// Compares this book with all that was kept of it.
    pub(super) fn compare(&mut self, text: &str, keys: &PublicKeys) -> Vec<Finding> {
        if self.receipts.is_empty() && self.heads.is_empty() {
            return Vec::new();
        }
        // It was verified before this, so it does parse.
        let Ok(book) = Book::parse(text) else { return Vec::new() };
        let game = book.header().game;
        self.met.insert(game);
        let receipts = self.receipts.iter().filter(|(_, receipt)| receipt.game == game);
        let receipts = receipts.map(|(file, receipt)| Finding {
            head: receipt.head(),
            found: receipt.head().in_book(&book),
            receipt: Some((file.clone(), receipt.clone(), signature(receipt, keys))),
            is_last: receipt.seq == book.head().seq,
        });
        let heads = self.heads.iter().map(|(seq, digest)| {
            let head = SignedHead { game, seq: *seq, digest: *digest };
            Finding { head, found: head.in_book(&book), receipt: None, is_last: *seq == book.head().seq }
        });
        receipts.chain(heads).collect()
    }

    /// Receipts of games that no book came of.
    pub(super) fn left(&self) -> impl Iterator<Item = &(PathBuf, Receipt)> {
        self.receipts.iter().filter(|(_, receipt)| !self.met.contains(&receipt.game))
    }
}

fn signature(receipt: &Receipt, keys: &PublicKeys) -> Signing {
    match receipt.check(keys) {
        _ if keys.is_empty() => Signing::NotChecked,
        Ok(()) => Signing::Right,
        Err(unproved) => Signing::Not(unproved),
    }
}

/// What a receipt's signature is worth.
#[derive(Clone, Copy, Debug)]
enum Signing {
    /// No public key was given.
    NotChecked,
    Right,
    Not(Unproved),
}

/// What came of one head that was kept.
#[derive(Debug)]
pub(super) struct Finding {
    head: SignedHead,
    found: InBook,
    receipt: Option<(PathBuf, Receipt, Signing)>,
    is_last: bool,
}

impl Finding {
    /// Whether the book has it, and it is not wrongly signed.
    pub(super) fn holds(&self) -> bool {
        self.found == InBook::Same && !matches!(self.receipt, Some((_, _, Signing::Not(_))))
    }

    /// Whether it is as good as a signature below the book.
    pub(super) fn signs_all(&self) -> bool {
        self.holds() && self.is_last && matches!(self.receipt, Some((_, _, Signing::Right)))
    }

    /// For machines.
    pub(super) fn as_json(&self) -> Value {
        let found = match self.found {
            InBook::Same => "same",
            InBook::OtherDigest(_) => "other_digest",
            InBook::Nothing(_) => "no_such_entry",
            InBook::OtherGame(_) => "other_game",
        };
        let mut told = json!({
            "entry": self.head.seq.0, "digest": self.head.digest.to_string(), "holds": self.holds(), "book": found,
        });
        if let InBook::OtherDigest(digest) = self.found {
            told["book_digest"] = digest.to_string().into();
        }
        if let Some((file, receipt, signing)) = &self.receipt {
            told["receipt"] = file.display().to_string().into();
            told["key_id"] = receipt.key_id.to_string().into();
            told["signature"] = match signing {
                Signing::NotChecked => "not_checked",
                Signing::Right => "right",
                Signing::Not(Unproved::UnknownKey(_)) => "unknown_key",
                Signing::Not(Unproved::Wrong(_)) => "wrong",
            }
            .into();
        }
        told
    }
}

/// One line, for people.
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.receipt {
            Some((file, _, _)) => write!(f, "receipt {}, ", file.display())?,
            None => f.write_str("kept digest, ")?,
        }
        write!(f, "entry {}: {}", self.head.seq, if self.holds() { "holds" } else { "WRONG" })?;
        if self.found != InBook::Same {
            write!(f, ": {}", self.found)?;
        }
        match &self.receipt {
            None => Ok(()),
            Some((_, _, Signing::NotChecked)) => f.write_str("; its signature was not checked, for no public key was given"),
            Some((_, receipt, Signing::Right)) => write!(f, "; signed by key {}", receipt.key_id),
            Some((_, _, Signing::Not(why))) => write!(f, "; {why}"),
        }
    }
}
