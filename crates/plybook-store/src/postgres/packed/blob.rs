//! Many entries as one value: a piece of a game's book, or a piece of the feed.
//!
//! Invariant: what comes out is what went in, byte for byte, or nothing: the last bytes are a digest of the others.
//!
//! Columns stand one after the other, the lines first: a database that compresses looks at the beginning to see
//! whether that pays, and digests are noise.

use plybook_core::{Digest, Seq, Uuid};

use crate::error::Error;
use crate::store::StoredEntry;

/// Entries in a value; one more where a single one would be left over.
pub(crate) const ENTRIES: usize = 1_000;
const CHECK_BYTES: usize = 8;
const BOOK: u8 = b'b';
const FEED: u8 = b'f';
const VERSION: u8 = 1;

/// An entry with all that its row had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Packed {
    pub(crate) game: Uuid,
    pub(crate) entry: StoredEntry,
    pub(crate) epoch: i16,
    pub(crate) xid: u64,
    /// Of the request; the feed does without.
    pub(crate) hash: Option<[u8; 32]>,
}

impl Packed {
    /// Its place in the feed.
    pub(crate) fn place(&self) -> (i16, u64, Uuid, Seq) {
        (self.epoch, self.xid, self.game, self.entry.seq)
    }
}

/// As a value of a book, where every entry has its request's hash, else of the feed.
pub(crate) fn encode(entries: &[Packed]) -> Vec<u8> {
    let is_book = entries.iter().all(|packed| packed.hash.is_some());
    let mut bytes = vec![if is_book { BOOK } else { FEED }, VERSION];
    bytes.extend((entries.len() as u32).to_be_bytes());
    entries.iter().for_each(|packed| bytes.extend((packed.entry.line.len() as u16).to_be_bytes()));
    entries.iter().for_each(|packed| bytes.extend(packed.entry.line.as_bytes()));
    entries.iter().for_each(|packed| bytes.extend(packed.game.as_bytes()));
    entries.iter().for_each(|packed| bytes.extend(packed.entry.seq.0.to_be_bytes()));
    entries.iter().for_each(|packed| bytes.extend(packed.epoch.to_be_bytes()));
    entries.iter().for_each(|packed| bytes.extend(packed.xid.to_be_bytes()));
    entries.iter().for_each(|packed| bytes.extend(packed.entry.digest.0));
    entries.iter().for_each(|packed| bytes.extend(packed.entry.request_id.as_bytes()));
    if is_book {
        entries.iter().filter_map(|packed| packed.hash).for_each(|hash| bytes.extend(hash));
    }
    let check = check_of(&bytes);
    bytes.extend(check);
    bytes
}

/// The entries of a value.
pub(crate) fn decode(bytes: &[u8]) -> Result<Vec<Packed>, Error> {
    read(bytes).ok_or_else(|| Error::Corrupt(format!("{} packed bytes are not what was packed", bytes.len())))
}

fn read(bytes: &[u8]) -> Option<Vec<Packed>> {
    let (mut rest, check) = bytes.split_last_chunk::<CHECK_BYTES>()?;
    if check_of(rest) != *check {
        return None;
    }
    let [kind, version] = take(&mut rest)?;
    if version != VERSION || ![BOOK, FEED].contains(&kind) {
        return None;
    }
    let count = u32::from_be_bytes(take(&mut rest)?) as usize;
    let lengths = column(&mut rest, count, u16::from_be_bytes)?;
    let mut lines = Vec::with_capacity(count);
    for length in lengths {
        let (line, more) = rest.split_at_checked(usize::from(length))?;
        lines.push(String::from_utf8(line.to_vec()).ok()?);
        rest = more;
    }
    let games = column(&mut rest, count, Uuid::from_bytes)?;
    let seqs = column(&mut rest, count, |bytes| Seq(u32::from_be_bytes(bytes)))?;
    let epochs = column(&mut rest, count, i16::from_be_bytes)?;
    let xids = column(&mut rest, count, u64::from_be_bytes)?;
    let digests = column(&mut rest, count, Digest)?;
    let requests = column(&mut rest, count, Uuid::from_bytes)?;
    let hashes = if kind == BOOK { column(&mut rest, count, Some)? } else { vec![None; count] };
    let packed = lines.into_iter().enumerate().map(|(place, line)| Packed {
        game: games[place],
        entry: StoredEntry { seq: seqs[place], line, digest: digests[place], request_id: requests[place] },
        epoch: epochs[place],
        xid: xids[place],
        hash: hashes[place],
    });
    rest.is_empty().then(|| packed.collect())
}

fn column<const N: usize, T>(rest: &mut &[u8], count: usize, value: impl Fn([u8; N]) -> T) -> Option<Vec<T>> {
    let (column, more) = rest.split_at_checked(count.checked_mul(N)?)?;
    *rest = more;
    Some(column.as_chunks::<N>().0.iter().map(|bytes| value(*bytes)).collect())
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (first, more) = rest.split_first_chunk::<N>()?;
    *rest = more;
    Some(*first)
}

fn check_of(bytes: &[u8]) -> [u8; CHECK_BYTES] {
    let mut check = [0; CHECK_BYTES];
    check.copy_from_slice(&Digest::of(bytes).0[..CHECK_BYTES]);
    check
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn entries(hash: Option<[u8; 32]>, count: u32) -> Vec<Packed> {
        let entry = |n: u32| StoredEntry {
            seq: Seq(n),
            line: "é line ".repeat(n as usize),
            digest: Digest::of(&n.to_be_bytes()),
            request_id: Uuid::from_u128(u128::from(n) << 7),
        };
        (1..=count).map(|n| Packed { game: Uuid::from_u128(9), entry: entry(n), epoch: -1, xid: u64::MAX - u64::from(n), hash }).collect()
    }

    #[test]
    fn entries_come_back_as_they_were() {
        for (hash, count) in [(None, 1), (Some([7; 32]), 1), (None, 30), (Some([8; 32]), 30)] {
            assert_eq!(decode(&encode(&entries(hash, count))).unwrap(), entries(hash, count));
        }
    }

    #[test]
    fn other_bytes_are_no_entries() {
        let bytes = encode(&entries(Some([7; 32]), 3));
        for place in 0..bytes.len() {
            let mut flipped = bytes.clone();
            flipped[place] ^= 1;
            assert!(decode(&flipped).is_err(), "{place}");
            assert!(decode(&bytes[..place]).is_err(), "{place}");
        }
    }
}
