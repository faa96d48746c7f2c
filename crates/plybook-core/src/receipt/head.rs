//! What is signed: one head, or the root over several.
//!
//! Invariant: the bytes begin with the name of their own format, so that neither kind can be shown for the other.

use uuid::Uuid;

use crate::book::Book;
use crate::digest::Digest;
use crate::seq::Seq;

/// A head of a game, as it is signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignedHead {
    /// The game.
    pub game: Uuid,
    /// The entry.
    pub seq: Seq,
    /// Its digest.
    pub digest: Digest,
}

impl SignedHead {
    /// The bytes that are signed.
    pub fn bytes(&self) -> [u8; 66] {
        let mut bytes = [0; 66];
        let (tag, rest) = bytes.split_at_mut(14);
        tag.copy_from_slice(b"plybook-head/1");
        let (game, rest) = rest.split_at_mut(16);
        game.copy_from_slice(self.game.as_bytes());
        let (seq, digest) = rest.split_at_mut(4);
        seq.copy_from_slice(&self.seq.0.to_be_bytes());
        digest.copy_from_slice(&self.digest.0);
        bytes
    }

    /// What this book has in its place.
    pub fn in_book(&self, book: &Book) -> InBook {
        let links = book.links();
        match (self.seq.0 as usize).checked_sub(1).and_then(|at| links.get(at)) {
            _ if book.header().game != self.game => InBook::OtherGame(book.header().game),
            None => InBook::Nothing(Seq(links.len() as u32)),
            Some(link) if link.digest != self.digest => InBook::OtherDigest(link.digest),
            Some(_) => InBook::Same,
        }
    }
}

/// What a book has in the place of a head that somebody kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InBook {
    /// The same: it begins with all that the head covers.
    #[error("the book has this very entry there")]
    Same,
    /// Another digest: it was written anew, there or before.
    #[error("the book has another digest there: {0}")]
    OtherDigest(Digest),
    /// No such entry; this is its last. It was cut, or taken away before the head was.
    #[error("the book has no such entry: its last is {0}")]
    Nothing(Seq),
    /// It is the book of another game.
    #[error("the book is of another game: {0}")]
    OtherGame(Uuid),
}

/// Heads that were signed together: how many, and the root of the tree over them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignedHeads {
    /// How many.
    pub size: u32,
    /// The root.
    pub root: Digest,
}

impl SignedHeads {
    /// The bytes that are signed.
    pub fn bytes(&self) -> [u8; 51] {
        let mut bytes = [0; 51];
        let (tag, rest) = bytes.split_at_mut(15);
        tag.copy_from_slice(b"plybook-heads/1");
        let (size, root) = rest.split_at_mut(4);
        size.copy_from_slice(&self.size.to_be_bytes());
        root.copy_from_slice(&self.root.0);
        bytes
    }
}
