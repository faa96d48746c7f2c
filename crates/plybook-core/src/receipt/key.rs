//! Public keys, and what they are called.
//!
//! Invariant: a key that anybody could sign for is none.

use std::collections::BTreeMap;
use std::fmt;

use ed25519_dalek::{Signature as Ed25519, VerifyingKey};

use super::hex_array;
use crate::digest::{Digest, parse_hex32};

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
