//! A signature over a game's head: what is signed, by which key, and how it is checked.
//!
//! A digest chain shows that a book follows from itself, not that nobody wrote it anew. A signature
//! over a head does, for whoever has the public key; so does a receipt that somebody kept.
//!
//! Invariants: private keys are nowhere in this crate; what is signed names its own format, its game
//! and its entry, so that no signature can be shown for another head.

use std::collections::BTreeMap;
use std::fmt;

use ed25519_dalek::{Signature as Ed25519, VerifyingKey};
use uuid::Uuid;

use crate::book::Book;
use crate::digest::{Digest, parse_hex32};
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

/// Names a public key: the first eight bytes of its SHA-256, printed as 16 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyId(pub [u8; 8]);

impl KeyId {
    /// Reads 16 lowercase hexadecimal digits.
    pub fn parse(text: &str) -> Option<KeyId> {
        hex_array(text).map(KeyId)
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyId({self})")
    }
}

/// An Ed25519 public key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PublicKey(VerifyingKey);

/// Why some text or bytes are no public key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadKey {
    /// The text has another form.
    #[error("a public key is its key id, a space, and 64 lowercase hexadecimal digits")]
    Form,
    /// No point of the curve, or one of small order, for which anybody could sign.
    #[error("these 32 bytes are no Ed25519 public key")]
    Point,
    /// The id before the key is not the key's.
    #[error("the key id {given} stands before the key {key}")]
    OtherId {
        /// As it stands there.
        given: KeyId,
        /// As it should be.
        key: KeyId,
    },
}

impl PublicKey {
    /// From its 32 bytes.
    pub fn from_bytes(bytes: &[u8; 32]) -> Result<PublicKey, BadKey> {
        let key = VerifyingKey::from_bytes(bytes).map_err(|_| BadKey::Point)?;
        if key.is_weak() { Err(BadKey::Point) } else { Ok(PublicKey(key)) }
    }

    /// Reads what [`PublicKey::print`] writes.
    pub fn parse(text: &str) -> Result<PublicKey, BadKey> {
        let (id, digits) = text.split_once(' ').ok_or(BadKey::Form)?;
        let given = KeyId::parse(id).ok_or(BadKey::Form)?;
        let key = PublicKey::from_bytes(&parse_hex32(digits).ok_or(BadKey::Form)?)?;
        if key.id() == given { Ok(key) } else { Err(BadKey::OtherId { given, key: key.id() }) }
    }

    /// Key id and key, as they stand in a file.
    pub fn print(&self) -> String {
        format!("{} {}", self.id(), hex::encode(self.bytes()))
    }

    /// Its 32 bytes.
    pub fn bytes(&self) -> [u8; 32] {
        self.0.to_bytes()
    }

    /// Whether it signed these bytes: strictly, so that no two implementations disagree.
    pub fn signed(&self, bytes: &[u8], signature: &[u8; 64]) -> bool {
        self.0.verify_strict(bytes, &Ed25519::from_bytes(signature)).is_ok()
    }

    /// Its name.
    pub fn id(&self) -> KeyId {
        let digest = Digest::of(&self.bytes());
        let mut id = [0; 8];
        id.copy_from_slice(&digest.0[..8]);
        KeyId(id)
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({})", self.id())
    }
}

/// Public keys by their ids.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PublicKeys(BTreeMap<KeyId, PublicKey>);

impl PublicKeys {
    /// The key with this id.
    pub fn get(&self, id: KeyId) -> Option<&PublicKey> {
        self.0.get(&id)
    }

    /// Every key, by id.
    pub fn iter(&self) -> impl Iterator<Item = &PublicKey> {
        self.0.values()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<PublicKey> for PublicKeys {
    fn from_iter<I: IntoIterator<Item = PublicKey>>(keys: I) -> PublicKeys {
        PublicKeys(keys.into_iter().map(|key| (key.id(), key)).collect())
    }
}

/// A signature with the id of the key that made it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Signature {
    /// The key.
    pub key_id: KeyId,
    /// The 64 bytes.
    pub bytes: [u8; 64],
}

/// Why a signature proves nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unproved {
    /// Its key is not among those given.
    #[error("signed by a key that was not given: {0}")]
    UnknownKey(KeyId),
    /// The key did not sign this.
    #[error("the signature is not that of key {0} over this game, entry and digest")]
    Wrong(KeyId),
}

impl Signature {
    /// Reads what it prints: key id, a space, 128 lowercase hexadecimal digits.
    pub fn parse(text: &str) -> Option<Signature> {
        let (id, digits) = text.split_once(' ')?;
        Some(Signature { key_id: KeyId::parse(id)?, bytes: hex_array(digits)? })
    }

    /// Whether its key is among these and signed this head.
    pub fn check(&self, head: &SignedHead, keys: &PublicKeys) -> Result<(), Unproved> {
        let key = keys.get(self.key_id).ok_or(Unproved::UnknownKey(self.key_id))?;
        if key.signed(&head.bytes(), &self.bytes) { Ok(()) } else { Err(Unproved::Wrong(self.key_id)) }
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.key_id, hex::encode(self.bytes))
    }
}

impl fmt::Debug for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Signature({self})")
    }
}

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
}

impl Receipt {
    /// Of a signed head.
    pub const fn new(head: SignedHead, signature: Signature) -> Receipt {
        Receipt { game: head.game, seq: head.seq, digest: head.digest, key_id: signature.key_id, signature: signature.bytes }
    }

    /// The head that it is about.
    pub const fn head(&self) -> SignedHead {
        SignedHead { game: self.game, seq: self.seq, digest: self.digest }
    }

    /// Whether one of these keys signed it.
    pub fn check(&self, keys: &PublicKeys) -> Result<(), Unproved> {
        Signature { key_id: self.key_id, bytes: self.signature }.check(&self.head(), keys)
    }

    /// Whether this book has the very entry that the receipt is about. A book that was written anew
    /// up to there has another digest.
    pub fn is_of(&self, book: &Book) -> bool {
        self.head().in_book(book) == InBook::Same
    }

    /// Reads the line that it prints.
    pub fn parse(line: &str) -> Option<Receipt> {
        let mut words = line.strip_prefix("receipt ")?.splitn(4, ' ');
        let game = Uuid::try_parse(words.next()?).ok()?;
        let seq = Seq(words.next()?.parse().ok().filter(|seq| *seq >= 1)?);
        let digest = Digest::parse(words.next()?)?;
        let receipt = Receipt::new(SignedHead { game, seq, digest }, Signature::parse(words.next()?)?);
        // One receipt has one form: no sign, no leading zero, no other spelling of the game.
        (receipt.to_string() == line).then_some(receipt)
    }
}

/// One line: `receipt <game> <entry> <digest> <key id> <signature>`.
impl fmt::Display for Receipt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let signature = Signature { key_id: self.key_id, bytes: self.signature };
        write!(f, "receipt {} {} {} {signature}", self.game, self.seq, self.digest)
    }
}

pub(crate) fn hex_array<const N: usize>(text: &str) -> Option<[u8; N]> {
    if text.bytes().any(|b| b.is_ascii_uppercase()) {
        return None;
    }
    let mut bytes = [0; N];
    hex::decode_to_slice(text, &mut bytes).ok().map(|()| bytes)
}
