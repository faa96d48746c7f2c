//! A signature, and whether it proves anything.
//!
//! Invariant: it is checked over what names its own format, never over bytes that somebody brings along.

use std::fmt;

use super::head::{SignedHead, SignedHeads};
use super::hex_array;
use super::key::{KeyId, PublicKeys};

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
        self.over(&head.bytes(), keys)
    }

    /// Whether its key is among these and signed these heads together.
    pub fn check_heads(&self, heads: &SignedHeads, keys: &PublicKeys) -> Result<(), Unproved> {
        self.over(&heads.bytes(), keys)
    }

    fn over(&self, bytes: &[u8], keys: &PublicKeys) -> Result<(), Unproved> {
        let key = keys.get(self.key_id).ok_or(Unproved::UnknownKey(self.key_id))?;
        if key.signed(bytes, &self.bytes) { Ok(()) } else { Err(Unproved::Wrong(self.key_id)) }
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
