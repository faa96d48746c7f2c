//! Every entry of a tenant's games in one order: the feed.
//!
//! Invariants: an entry is shown only once no entry can come to stand before it, so whoever reads on from the last
//! one that was shown never misses any, however late its transaction commits; the entries of a game are in their
//! order; and a cursor names an entry that is there, so that books which went back in time are noticed.
//!
//! Over Postgres the order is that of transaction ids, and what may still change is everything at or above the oldest
//! transaction that is under way: the horizon. Over SQLite there is one writer, so the order of rows is the order of commits.

use plybook_core::{Seq, Uuid};

use crate::error::Error;
use crate::store::{Foreign, GameKey, StoredEntry};

/// How much of an entry's digest stands in a cursor.
pub(crate) const CHECK_BYTES: usize = 8;
/// The most bytes that a cursor has.
pub const FEED_CURSOR_BYTES_MAX: usize = 39;

const POSTGRES: u8 = b'p';
const SQLITE: u8 = b's';

/// An entry's place in the feed. Only the store knows what is in it; of two in the same store the greater one comes later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FeedCursor(pub(crate) Place);

/// Where an entry stands, and the beginning of its digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Place {
    Sqlite { position: i64, check: [u8; CHECK_BYTES] },
    Postgres { epoch: i16, xid: u64, game: Uuid, seq: Seq, check: [u8; CHECK_BYTES] },
}

impl FeedCursor {
    /// As bytes, at most [`FEED_CURSOR_BYTES_MAX`].
    pub fn to_bytes(&self) -> Vec<u8> {
        match self.0 {
            Place::Sqlite { position, check } => [&[SQLITE][..], &position.to_be_bytes(), &check].concat(),
            Place::Postgres { epoch, xid, game, seq, check } => {
                [&[POSTGRES][..], &epoch.to_be_bytes(), &xid.to_be_bytes(), game.as_bytes(), &seq.0.to_be_bytes(), &check].concat()
            }
        }
    }

    /// What was made of [`FeedCursor::to_bytes`]; nothing of any other bytes.
    pub fn from_bytes(bytes: &[u8]) -> Option<FeedCursor> {
        let (kind, mut rest) = bytes.split_first()?;
        let place = match *kind {
            SQLITE => Place::Sqlite { position: i64::from_be_bytes(take(&mut rest)?), check: take(&mut rest)? },
            POSTGRES => Place::Postgres {
                epoch: i16::from_be_bytes(take(&mut rest)?),
                xid: u64::from_be_bytes(take(&mut rest)?),
                game: Uuid::from_bytes(take(&mut rest)?),
                seq: Seq(u32::from_be_bytes(take(&mut rest)?)),
                check: take(&mut rest)?,
            },
            _ => return None,
        };
        rest.is_empty().then_some(FeedCursor(place))
    }
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (first, more) = rest.split_first_chunk::<N>()?;
    *rest = more;
    Some(*first)
}

/// What of an entry stands in its cursor.
pub(crate) fn check_of(entry: &StoredEntry) -> [u8; CHECK_BYTES] {
    let mut check = [0; CHECK_BYTES];
    check.copy_from_slice(&entry.digest.0[..CHECK_BYTES]);
    check
}

/// A cursor of the other kind of store.
pub(crate) fn not_here() -> Error {
    Error::Expired
}

/// An entry in the feed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeedRow {
    /// Of which game.
    pub key: GameKey,
    /// The entry.
    pub entry: StoredEntry,
    /// Its place: the feed goes on behind it.
    pub cursor: FeedCursor,
}

/// A piece of the feed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeedPage {
    /// In the order of the feed, which goes on behind the last one.
    pub rows: Vec<FeedRow>,
    /// Where entries are there that cannot be shown yet, what they wait for: it is another one once the oldest
    /// transaction has ended.
    pub hidden_by: Option<u64>,
}

/// What a game's entries are read with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heading {
    /// Which game.
    pub game: Uuid,
    /// Entry 1.
    pub header: StoredEntry,
    /// Set where the game was played elsewhere.
    pub foreign: Option<Foreign>,
}

/// Who keeps entries from being shown: the oldest transaction that writes, whatever and in whichever database of the
/// cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// The backend's process id; none of a transaction that is prepared and has no backend.
    pub pid: Option<i32>,
    /// What its session is called, or the name under which it is prepared.
    pub name: String,
    /// Its database.
    pub database: String,
    /// What the backend is at, such as "idle in transaction"; empty where this role may not see it.
    pub state: String,
    /// For how long it has been open, in seconds; nothing where this role may not see it.
    pub open_seconds: Option<u64>,
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn cursors() -> [FeedCursor; 2] {
        let check = [1, 2, 3, 4, 5, 6, 7, 8];
        [
            FeedCursor(Place::Sqlite { position: i64::MAX, check }),
            FeedCursor(Place::Postgres { epoch: i16::MAX, xid: u64::MAX - 1, game: Uuid::from_u128(7 << 90), seq: Seq(9), check }),
        ]
    }

    #[test]
    fn a_cursor_comes_back_from_its_bytes_and_from_no_others() {
        for cursor in cursors() {
            let bytes = cursor.to_bytes();
            assert!(bytes.len() <= FEED_CURSOR_BYTES_MAX);
            assert_eq!(FeedCursor::from_bytes(&bytes), Some(cursor));
            for cut in 0..bytes.len() {
                assert_eq!(FeedCursor::from_bytes(&bytes[..cut]), None);
            }
            assert_eq!(FeedCursor::from_bytes(&[&bytes[..], &[0]].concat()), None);
            assert_eq!(FeedCursor::from_bytes(&[b"x", &bytes[1..]].concat()), None);
        }
    }

    #[test]
    fn cursors_are_in_the_order_of_the_feed() {
        let place = |epoch, xid, game, seq| {
            FeedCursor(Place::Postgres { epoch, xid, game: Uuid::from_u128(game), seq: Seq(seq), check: [255 - seq as u8; 8] })
        };
        let ascending = [place(1, 2, 3, 4), place(1, 2, 3, 5), place(1, 2, 4, 1), place(1, 3, 1, 1), place(2, 1, 1, 1)];
        assert!(ascending.is_sorted_by(|one, next| one < next));
    }
}
