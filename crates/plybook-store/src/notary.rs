//! Who signs what is stored.
//!
//! Invariant: only what is durable is shown to it. Whoever has a neighbour's place in a tree has the hash of a head beside
//! it, and could guess what was never stored.

use std::fmt;

use plybook_core::Receipt;
use plybook_core::receipt::SignedHead;

/// Signs heads, those that were stored together by one signature.
pub trait Notary: fmt::Debug + Send + Sync {
    /// A receipt for each, in their order.
    fn receipts(&self, heads: &[SignedHead]) -> Vec<Receipt>;
}
