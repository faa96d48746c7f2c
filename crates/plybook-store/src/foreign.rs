//! A book that was played elsewhere and is kept here as evidence.
//!
//! Invariant: it is kept as it came. Its rows are like those of any other book; what tells it from them stands
//! beside the book, and nothing is ever appended to it.

use plybook_core::book::Link;
use plybook_core::{Digest, Seq, Time};

use crate::error::Error;
use crate::store::{GameKey, RequestKey, State, StoredEntry};

/// A book to be imported.
#[derive(Clone, Debug)]
pub struct ForeignBook {
    /// Where it will be found: under the game's own id.
    pub key: GameKey,
    /// The header and the lines after it, each with its digest; at least the header.
    pub links: Vec<Link>,
    /// The time in the header.
    pub created: Time,
    /// The ruleset's name, for lists.
    pub ruleset: String,
    /// Its version, from 1.
    pub ruleset_version: u32,
    /// The players in seat order, for lists; empty ids are left out of them.
    pub players: Vec<String>,
    /// The state after the last line, for lists.
    pub state: State,
    /// What is kept beside it.
    pub foreign: Foreign,
}

/// What is kept beside a book that was played elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Foreign {
    /// When it was imported.
    pub imported: Time,
    /// By whom.
    pub by: String,
    /// The signature of its file, as the file printed it, where there was one.
    pub signature: Option<String>,
}

/// What came of an import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Import {
    /// The book is kept.
    Imported,
    /// The same file was imported before: the same lines under the same signature.
    Repeated,
    /// A game of this id is there: one of this store's own, or another file.
    Exists,
}

impl ForeignBook {
    /// What stands in the place of the request that created the game.
    pub(crate) fn request(&self) -> Result<RequestKey, Error> {
        let header = self.links.first().ok_or_else(|| Error::Failed("a book without a header".to_owned()))?;
        Ok(request_of(Seq::FIRST, header.digest))
    }

    /// What an import comes to where the game's id is taken, by these.
    pub(crate) fn beside(&self, foreign: Option<Foreign>, last: Option<StoredEntry>) -> Import {
        let head = self.links.last().map(|link| (self.links.len(), link.digest));
        let same = foreign.is_some_and(|there| there.signature == self.foreign.signature)
            && last.map(|last| (last.seq.0 as usize, last.digest)) == head;
        if same { Import::Repeated } else { Import::Exists }
    }
}

/// What stands in the place of the request that an entry answered, which an imported book does not tell: a
/// UUID of version 8 made from the entry's number and digest, and the digest. No caller's request is of that hash. The
/// number comes first, so that an index takes them in their order: at random places 200,000 would take far longer.
pub(crate) fn request_of(seq: Seq, digest: Digest) -> RequestKey {
    let mut bytes = [0; 16];
    bytes[..4].copy_from_slice(&seq.0.to_be_bytes());
    bytes[4..].copy_from_slice(&digest.0[..12]);
    RequestKey { id: uuid::Builder::from_custom_bytes(bytes).into_uuid(), hash: digest.0 }
}

#[cfg(test)]
mod tests {
    use plybook_core::Uuid;

    use super::*;

    #[test]
    fn the_stand_ins_of_requests_never_change() {
        let request = request_of(Seq(7), Digest([0xff; 32]));
        assert_eq!(request.id, Uuid::from_u128(0x0000_0007_ffff_8fff_bfff_ffff_ffff_ffff));
        assert_eq!((request.id.get_version_num(), request.hash), (8, [0xff; 32]));
    }
}
