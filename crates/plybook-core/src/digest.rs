//! SHA-256 digests and the chain that makes a book tamper-evident.
//!
//! Invariant: digest(1) = SHA-256(header); digest(n) = SHA-256(digest(n−1) ‖ line n).
//! Book digests and position digests share this type and are never mixed up in names.

use std::fmt;

use sha2::{Digest as _, Sha256};

/// A SHA-256 digest, printed as 64 lowercase hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(pub [u8; 32]);

impl Digest {
    /// Of some bytes; of a header, the first link of a book's chain.
    pub fn of(bytes: &[u8]) -> Digest {
        Digest::of_parts(&[bytes])
    }

    /// Of several pieces, one after the other.
    pub fn of_parts(parts: &[&[u8]]) -> Digest {
        let mut hash = Sha256::new();
        for part in parts {
            hash.update(part);
        }
        Digest(hash.finalize().into())
    }

    /// The next link of a book's chain.
    #[must_use]
    pub fn chain(&self, line: &str) -> Digest {
        Digest::of_parts(&[&self.0, line.as_bytes()])
    }

    /// Reads 64 lowercase hexadecimal digits.
    pub fn parse(text: &str) -> Option<Digest> {
        parse_hex32(text).map(Digest)
    }
}

pub(crate) fn parse_hex32(text: &str) -> Option<[u8; 32]> {
    if text.bytes().any(|b| b.is_ascii_uppercase()) {
        return None;
    }
    let mut bytes = [0; 32];
    hex::decode_to_slice(text, &mut bytes).ok().map(|()| bytes)
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}
