//! A stored game, checked from its rows: VerifyGame and `plybook verify --database` ask here, and ImportBook of
//! a book that is still to be stored.
//!
//! Invariant: it reads the book itself and trusts no cache, and it only reads; a wrong entry is an
//! answer, not an error. A game that goes on is checked up to where it was when its last page was read.

mod origin;

pub use origin::{OriginFinding, check_origin};
use plybook_core::game::Fault;
use plybook_core::verify::{Report, Verifier, Wrong};
use plybook_core::{Book, Digest, Header, Seq};
use plybook_rulesets::{Registry, RegistryError};
use plybook_store::{Error, GameKey, Store, StoredEntry};

use crate::limits::PAGE_ENTRIES;

/// What a stored game shows.
#[derive(Debug)]
pub enum Finding {
    /// Everything follows.
    Verified(Box<Report>),
    /// Something does not.
    Wrong {
        /// The last entry that is right, and its digest where that can be claimed; 0 where none is.
        right: (Seq, Option<Digest>),
        /// What is wrong.
        wrong: Wrong,
    },
    /// This build does not have the rules that the header pins, which is no fault of the book.
    Unsupported(RegistryError),
    /// There is no such game.
    Nothing,
}

/// Checks a game as it stands in the store.
pub async fn check(store: &dyn Store, registry: &Registry, key: GameKey) -> Result<Finding, Error> {
    let seed = store.seed(key).await?;
    let (first, _) = page(store, key, Seq::ZERO, 1).await?;
    let first = match first.into_iter().next() {
        Some(first) => first,
        // Its seed tells that there was one.
        None if seed.is_some() => return Ok(at_first(wrong("it is missing"))),
        None => return Ok(Finding::Nothing),
    };
    let header = match header(key, &first) {
        Ok(header) => header,
        Err(wrong) => return Ok(at_first(wrong)),
    };
    let committed = match seed {
        Some(seed) => seed.commitment() == header.commitment,
        // The seed of a game that was played elsewhere is in its book or nowhere.
        None => store.foreign(key).await?.is_some(),
    };
    if !committed {
        return Ok(at_first(wrong("the stored seed is not the one committed to")));
    }
    match begin(header, registry) {
        Ok(verifier) => follow(store, key, verifier).await,
        Err(finding) => Ok(finding),
    }
}

/// Checks a book that is not stored yet.
pub fn check_book(book: &Book, registry: &Registry) -> Finding {
    let mut verifier = match begin(book.header().clone(), registry) {
        Ok(verifier) => verifier,
        Err(finding) => return finding,
    };
    for link in book.lines() {
        if let Err(wrong) = verifier.follow(&link.text, link.digest) {
            return after(&verifier, wrong);
        }
    }
    finish(verifier)
}

fn begin(header: Header, registry: &Registry) -> Result<Verifier, Finding> {
    match registry.rules_of(&header) {
        Ok(_) => {}
        Err(RegistryError::Param(bad)) => return Err(at_first(wrong(bad.to_string()))),
        Err(other) => return Err(Finding::Unsupported(other)),
    }
    Verifier::new(header, registry).map_err(at_first)
}

fn finish(verifier: Verifier) -> Finding {
    match verifier.finish() {
        Ok(report) => Finding::Verified(Box::new(report)),
        Err(wrong) => {
            let right = wrong.seq.map_or(Seq::ZERO, |seq| Seq(seq.0.saturating_sub(1)));
            Finding::Wrong { right: (right, None), wrong }
        }
    }
}

async fn follow(store: &dyn Store, key: GameKey, mut verifier: Verifier) -> Result<Finding, Error> {
    loop {
        let (entries, missing) = page(store, key, verifier.head().seq, PAGE_ENTRIES).await?;
        let whole = entries.len() == PAGE_ENTRIES as usize;
        for stored in entries {
            if let Err(wrong) = verifier.follow(&stored.line, stored.digest) {
                return Ok(after(&verifier, wrong));
            }
        }
        if let Some(seq) = missing {
            return Ok(after(&verifier, Wrong { line: None, seq: Some(seq), fault: Fault::Form, why: "it is missing".to_owned() }));
        }
        if !whole {
            break;
        }
    }
    Ok(finish(verifier))
}

/// Entries after `after`: up to the first that is missing, which is answered too.
async fn page(store: &dyn Store, key: GameKey, after: Seq, limit: u32) -> Result<(Vec<StoredEntry>, Option<Seq>), Error> {
    match store.entries(key, after, limit).await {
        Err(Error::Missing { seq, .. }) => {
            let before = seq.0.saturating_sub(after.0).saturating_sub(1);
            Ok((store.entries(key, after, before).await?, Some(seq)))
        }
        entries => Ok((entries?, None)),
    }
}

fn header(key: GameKey, first: &StoredEntry) -> Result<Header, Wrong> {
    let header = Header::parse(&first.line).map_err(|error| wrong(error.to_string()))?;
    if header.digest() != first.digest {
        return Err(wrong(format!("its digest is {}, not {}", header.digest(), first.digest)));
    }
    if header.game != key.game {
        return Err(wrong(format!("it is the header of game {}", header.game)));
    }
    Ok(header)
}

fn wrong(why: impl Into<String>) -> Wrong {
    Wrong { line: None, seq: Some(Seq::FIRST), fault: Fault::Form, why: why.into() }
}

fn at_first(wrong: Wrong) -> Finding {
    Finding::Wrong { right: (Seq::ZERO, None), wrong }
}

fn after(verifier: &Verifier, wrong: Wrong) -> Finding {
    let head = verifier.head();
    Finding::Wrong { right: (head.seq, Some(head.digest)), wrong }
}
