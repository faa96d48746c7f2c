//! Whether a forked game begins with what stood in the other game, where that one is here too.
//!
//! Invariant: both books are read from their rows, and the other one's digests are computed from its lines, so
//! that what was written over since is seen.

use plybook_core::origin::Found;
use plybook_core::standing::StandingMoves;
use plybook_core::{Digest, Header, Origin, Seq};
use plybook_store::{Error, GameKey, Store};

use super::page;
use crate::limits::PAGE_ENTRIES;

/// What the other game shows of a fork's beginning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OriginFinding {
    /// It is so.
    Holds,
    /// The tenant has no such game.
    NotHere,
    /// It is not so, and why.
    Differs(String),
}

/// Checks the beginning of a game of this tenant that was forked from `origin`.
pub async fn check_origin(store: &dyn Store, key: GameKey, fork: &Header, origin: &Origin) -> Result<OriginFinding, Error> {
    let of = GameKey { tenant: key.tenant, game: origin.game };
    if store.last(of).await?.is_none() {
        return Ok(OriginFinding::NotHere);
    }
    let checked = match read(store, of, origin).await? {
        Ok(Stood { header, digest, standing }) => {
            let lines = given(store, key, fork.given()).await?;
            origin.check_moves(fork, lines.iter().map(String::as_str), &Found { header: &header, digest, standing })
        }
        Err(why) => Err(why),
    };
    Ok(checked.map_or_else(OriginFinding::Differs, |()| OriginFinding::Holds))
}

/// What stood at an entry.
struct Stood {
    header: Header,
    digest: Digest,
    standing: StandingMoves,
}

async fn read(store: &dyn Store, key: GameKey, origin: &Origin) -> Result<Result<Stood, String>, Error> {
    let (first, _) = page(store, key, Seq::ZERO, 1).await?;
    let Some(first) = first.into_iter().next() else { return Ok(Err(origin.too_short(Seq::ZERO))) };
    let header = match Header::parse(&first.line) {
        Ok(header) => header,
        Err(error) => return Ok(Err(format!("entry 1 of game {}: {error}", key.game))),
    };
    let (mut at, mut digest, mut standing) = (Seq::FIRST, header.digest(), StandingMoves::default());
    while at < origin.seq {
        let (entries, _) = page(store, key, at, PAGE_ENTRIES.min(origin.seq.0 - at.0)).await?;
        if entries.is_empty() {
            return Ok(Err(origin.too_short(at)));
        }
        for stored in entries {
            let read = header.read_entry(&stored.line).map_err(|error| error.why);
            if let Err(why) = read.and_then(|entry| standing.follow(entry)) {
                return Ok(Err(format!("entry {} of game {}: {why}", stored.seq, key.game)));
            }
            (at, digest) = (stored.seq, digest.chain(&stored.line));
        }
    }
    Ok(Ok(Stood { header, digest, standing }))
}

/// The lines that a fork begins with.
async fn given(store: &dyn Store, key: GameKey, given: u32) -> Result<Vec<String>, Error> {
    let mut lines = Vec::new();
    while lines.len() < given as usize {
        let at = Seq(Seq::FIRST.0 + lines.len() as u32);
        let (entries, _) = page(store, key, at, PAGE_ENTRIES.min(given - lines.len() as u32)).await?;
        if entries.is_empty() {
            break;
        }
        lines.extend(entries.into_iter().map(|stored| stored.line));
    }
    Ok(lines)
}
