//! The hash that makes two copies of a request the same request.
//!
//! Invariant: every piece is length-prefixed, so different requests never run together. What a
//! stored hash was made of never changes: words and numbers written out here and in [`super`], not
//! what some type happens to print.

use sha2::{Digest as _, Sha256};

/// A hash in the making.
pub struct Canon(Sha256);

impl Canon {
    /// For one RPC.
    pub fn of(rpc: &str) -> Canon {
        Canon(Sha256::new()).text("plybook-request/1").text(rpc)
    }

    /// And a text.
    #[must_use]
    pub fn text(self, text: &str) -> Canon {
        self.bytes(text.as_bytes())
    }

    /// And some bytes.
    #[must_use]
    pub fn bytes(mut self, bytes: &[u8]) -> Canon {
        self.0.update((bytes.len() as u64).to_be_bytes());
        self.0.update(bytes);
        self
    }

    /// And a number.
    #[must_use]
    pub fn number(self, number: u64) -> Canon {
        self.bytes(&number.to_be_bytes())
    }

    /// And a number that may be negative.
    #[must_use]
    pub fn signed(self, number: i64) -> Canon {
        self.bytes(&number.to_be_bytes())
    }

    /// And a yes or no.
    #[must_use]
    pub fn flag(self, flag: bool) -> Canon {
        self.bytes(&[u8::from(flag)])
    }

    /// The hash.
    pub fn hash(self) -> [u8; 32] {
        self.0.finalize().into()
    }
}
