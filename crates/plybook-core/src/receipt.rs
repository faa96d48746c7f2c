//! A signature over a game's head: what is signed, by which key, and how it is checked.
//!
//! A digest chain shows that a book follows from itself, not that nobody wrote it anew. A signature
//! over a head does, for whoever has the public key; so does a receipt that somebody kept. A head is
//! signed alone, or together with others by one signature over the root of a tree; then its receipt
//! says where it stands in the tree, and by which path the root follows from it.
//!
//! | module | the noun |
//! | --- | --- |
//! | `head` | what is signed: one head, or several |
//! | `key`, `signature` | who signs, and what comes of it |
//! | `tree`, `inclusion` | the tree over heads, and the place of one of them |
//!
//! Invariants: private keys are nowhere in this crate; what is signed names its own format, its game
//! and its entry, so that no signature can be shown for another head.

mod head;
mod inclusion;
mod key;
mod signature;
mod tree;

pub use head::{InBook, SignedHead, SignedHeads};
pub use inclusion::{BadInclusion, Inclusion};
pub use key::{BadKey, KeyId, PublicKey, PublicKeys};
pub use signature::{Signature, Unproved};
pub use tree::Tree;

use std::fmt;

use uuid::Uuid;

use crate::book::Book;
use crate::digest::Digest;
use crate::seq::Seq;

/// What a caller keeps: that this server had this entry, with everything before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// The game.
    pub game: Uuid,
    /// The entry.
    pub seq: Seq,
    /// Its digest, which covers everything before it.
    pub digest: Digest,
    /// The key that signed.
    pub key_id: KeyId,
    /// Its signature.
    pub signature: [u8; 64],
    /// Where it stands among the heads that were signed together; `None` where it was signed alone.
    pub inclusion: Option<Inclusion>,
}

impl Receipt {
    /// Of a head that was signed alone.
    pub const fn new(head: SignedHead, signature: Signature) -> Receipt {
        let SignedHead { game, seq, digest } = head;
        Receipt { game, seq, digest, key_id: signature.key_id, signature: signature.bytes, inclusion: None }
    }

    /// The head that it is about.
    pub const fn head(&self) -> SignedHead {
        SignedHead { game: self.game, seq: self.seq, digest: self.digest }
    }

    /// Whether one of these keys signed it, alone or where its path says.
    pub fn check(&self, keys: &PublicKeys) -> Result<(), Unproved> {
        let signature = Signature { key_id: self.key_id, bytes: self.signature };
        match &self.inclusion {
            None => signature.check(&self.head(), keys),
            Some(inclusion) => signature.check_heads(&inclusion.heads(&self.head()), keys),
        }
    }

    /// Whether this book has the very entry that the receipt is about. A book that was written anew
    /// up to there has another digest.
    pub fn is_of(&self, book: &Book) -> bool {
        self.head().in_book(book) == InBook::Same
    }

    /// Reads the line that it prints.
    pub fn parse(line: &str) -> Option<Receipt> {
        let (alone, inclusion) = match line.split_once(" leaf ") {
            Some((alone, leaf)) => (alone, Some(Inclusion::parse(leaf)?)),
            None => (line, None),
        };
        let mut words = alone.strip_prefix("receipt ")?.splitn(4, ' ');
        let game = Uuid::try_parse(words.next()?).ok()?;
        let seq = Seq(words.next()?.parse().ok().filter(|seq| *seq >= 1)?);
        let digest = Digest::parse(words.next()?)?;
        let receipt = Receipt { inclusion, ..Receipt::new(SignedHead { game, seq, digest }, Signature::parse(words.next()?)?) };
        // One receipt has one form: no sign, no leading zero, no other spelling of the game.
        (receipt.to_string() == line).then_some(receipt)
    }
}

/// One line: `receipt <game> <entry> <digest> <key id> <signature>`, and behind it, where heads were signed together,
/// ` leaf <leaf index> of <tree size> <digest>,<digest>…`.
impl fmt::Display for Receipt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let signature = Signature { key_id: self.key_id, bytes: self.signature };
        write!(f, "receipt {} {} {} {signature}", self.game, self.seq, self.digest)?;
        self.inclusion.iter().try_for_each(|inclusion| write!(f, " leaf {inclusion}"))
    }
}

pub(crate) fn hex_array<const N: usize>(text: &str) -> Option<[u8; N]> {
    if text.bytes().any(|b| b.is_ascii_uppercase()) {
        return None;
    }
    let mut bytes = [0; N];
    hex::decode_to_slice(text, &mut bytes).ok().map(|()| bytes)
}
