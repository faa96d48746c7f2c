//! A stored game, checked from its rows: VerifyGame and `plybook verify --database` ask here, and ImportBook of
//! a book that is still to be stored.
//!
//! Invariant: it reads the book itself and trusts no cache, and it only reads; a wrong entry is an
//! answer, not an error. A game that goes on is checked up to where it was when its last page was read.

mod origin;

pub use origin::{OriginFinding, check_origin};
use plybook_core::game::{Fault, State};
use plybook_core::verify::{Kind, Report, Verifier, Wrong};
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
    /// This build does not have the rules that the header pins, which is no fault of the book: it is whole.
    Unsupported {
        /// Which rules there are instead.
        error: RegistryError,
        /// What is whole.
        wrong: Wrong,
    },
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
        None if seed.is_some() => return Ok(at_first(Fault::Missing, "it is missing")),
        None => return Ok(Finding::Nothing),
    };
    let header = match header(key, &first) {
        Ok(header) => header,
        Err((fault, why)) => return Ok(at_first(fault, why)),
    };
    let committed = match seed {
        Some(seed) => seed.commitment() == header.commitment,
        // The seed of a game that was played elsewhere is in its book or nowhere.
        None => store.foreign(key).await?.is_some(),
    };
    if !committed {
        return Ok(at_first(Fault::Seed, "the stored seed is not the one committed to"));
    }
    let lacking = lacking(&header, registry);
    let finding = told(follow(store, key, Verifier::new(header, registry)).await?, lacking);
    match cut_off(store, key, &finding).await? {
        Some(wrong) => Ok(Finding::Wrong { right: right(&finding), wrong }),
        None => Ok(finding),
    }
}

/// What shows that a book which follows to its end once had entries behind it: its row tells of an end
/// that the book does not have. Both are written in one transaction.
async fn cut_off(store: &dyn Store, key: GameKey, finding: &Finding) -> Result<Option<Wrong>, Error> {
    let Finding::Verified(report) = finding else { return Ok(None) };
    let state = store.state(key).await?;
    let behind =
        matches!((state, report.state), (Some(State::Closed), State::Active | State::Finished) | (Some(State::Finished), State::Active));
    // The game may have gone on since its last page was read, and then its row is another's.
    if !behind || store.last(key).await?.is_none_or(|last| last.seq.0 != report.entries) {
        return Ok(None);
    }
    let why = "it is missing: the game's row says that the game has ended, and the book does not";
    Ok(Some(Wrong::entry(Seq(report.entries).next(), Fault::Missing, why)))
}

fn right(finding: &Finding) -> (Seq, Option<Digest>) {
    match finding {
        Finding::Verified(report) => (Seq(report.entries), Some(report.digest)),
        _ => (Seq::ZERO, None),
    }
}

/// Checks a book that is not stored yet.
pub fn check_book(book: &Book, registry: &Registry) -> Finding {
    let mut verifier = Verifier::new(book.header().clone(), registry);
    let broken = book.lines().iter().find_map(|link| verifier.follow(&link.text, link.digest).err());
    told(ended(verifier, broken), lacking(book.header(), registry))
}

/// Why this build cannot say more of a whole book, if it cannot.
fn lacking(header: &Header, registry: &Registry) -> Option<RegistryError> {
    registry.card(&header.ruleset.name, Some(header.ruleset.version)).err()
}

fn told(finding: Finding, lacking: Option<RegistryError>) -> Finding {
    match (finding, lacking) {
        (Finding::Wrong { wrong, .. }, Some(error)) if wrong.kind() == Kind::Unsupported => Finding::Unsupported { error, wrong },
        (finding, _) => finding,
    }
}

/// The finding of a book that was followed to its end, or to where it is broken.
fn ended(verifier: Verifier, broken: Option<Wrong>) -> Finding {
    let right = verifier.right().map_or((Seq::ZERO, None), |head| (head.seq, Some(head.digest)));
    match broken.map_or_else(|| verifier.finish(), Err) {
        Ok(report) => Finding::Verified(Box::new(report)),
        // What only the end shows may be wrong long before it.
        Err(wrong) if wrong.seq.is_some_and(|seq| seq <= right.0) => {
            let before = wrong.seq.map_or(Seq::ZERO, |seq| Seq(seq.0.saturating_sub(1)));
            Finding::Wrong { right: (before, None), wrong }
        }
        Err(wrong) => Finding::Wrong { right, wrong },
    }
}

async fn follow(store: &dyn Store, key: GameKey, mut verifier: Verifier) -> Result<Finding, Error> {
    loop {
        let (entries, missing) = page(store, key, verifier.followed(), PAGE_ENTRIES).await?;
        let whole = entries.len() == PAGE_ENTRIES as usize;
        if let Some(wrong) = entries.iter().find_map(|stored| verifier.follow(&stored.line, stored.digest).err()) {
            return Ok(ended(verifier, Some(wrong)));
        }
        if let Some(seq) = missing {
            let missing = verifier.broken(Wrong::entry(seq, Fault::Missing, "it is missing"));
            return Ok(ended(verifier, Some(missing)));
        }
        if !whole {
            return Ok(ended(verifier, None));
        }
    }
}

/// Entries after `after`: up to the first that is missing, which is answered too.
async fn page(store: &dyn Store, key: GameKey, after: Seq, limit: u32) -> Result<(Vec<StoredEntry>, Option<Seq>), Error> {
    match store.history(key, after, limit).await {
        Err(Error::Missing { seq, .. }) => {
            let before = seq.0.saturating_sub(after.0).saturating_sub(1);
            Ok((store.entries(key, after, before).await?, Some(seq)))
        }
        entries => Ok((entries?, None)),
    }
}

fn header(key: GameKey, first: &StoredEntry) -> Result<Header, (Fault, String)> {
    let header = Header::parse(&first.line).map_err(|error| (Fault::Form, error.to_string()))?;
    if header.digest() != first.digest {
        return Err((Fault::Digest, format!("its digest is {}, not {}", header.digest(), first.digest)));
    }
    if header.game != key.game {
        return Err((Fault::Form, format!("it is the header of game {}", header.game)));
    }
    Ok(header)
}

fn at_first(fault: Fault, why: impl Into<String>) -> Finding {
    Finding::Wrong { right: (Seq::ZERO, None), wrong: Wrong::entry(Seq::FIRST, fault, why) }
}
