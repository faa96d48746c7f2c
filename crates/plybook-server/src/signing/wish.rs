//! Whether a caller gets a receipt, and of whom.
//!
//! Invariant: who asked for one, or is owed one by the game's policy, gets one or is refused before anything is appended.

use std::sync::Arc;

use plybook_core::header::Receipts;
use plybook_store::Notary;

use super::{Keys, Signer};
use crate::refusal::Refusal;

/// What a caller wants of whoever signs.
#[derive(Clone, Debug)]
pub struct ReceiptWish {
    asked: bool,
    signer: Option<Arc<Signer>>,
}

impl ReceiptWish {
    /// Refused where one was asked for and nobody can sign.
    pub fn new(keys: &Keys, asked: bool) -> Result<ReceiptWish, Refusal> {
        if asked && keys.active.is_none() {
            return Err(Refusal::ReceiptsUnavailable);
        }
        Ok(ReceiptWish { asked, signer: keys.active.clone() })
    }

    /// Who signs what is appended to a game of this policy, where that is wanted.
    pub fn signer(&self, policy: Receipts) -> Result<Option<&Arc<Signer>>, Refusal> {
        if !self.asked && policy != Receipts::Always {
            return Ok(None);
        }
        self.signer.as_ref().map(Some).ok_or(Refusal::ReceiptsUnavailable)
    }

    /// The same, for a store that signs what it stores.
    pub fn notary(&self, policy: Receipts) -> Result<Option<Arc<dyn Notary>>, Refusal> {
        Ok(self.signer(policy)?.map(|signer| Arc::clone(signer) as Arc<dyn Notary>))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::super::SigningKey;
    use super::*;

    #[test]
    fn who_is_owed_a_receipt_gets_one_or_is_refused() {
        let with = Keys::new(Some(SigningKey::from_seed(&[1; 32]).unwrap()), []);
        let without = Keys::default();
        for (asked, policy, owed) in [
            (false, Receipts::OnRequest, false),
            (false, Receipts::Always, true),
            (true, Receipts::OnRequest, true),
            (true, Receipts::Always, true),
        ] {
            assert_eq!(ReceiptWish::new(&with, asked).unwrap().signer(policy).unwrap().is_some(), owed);
            let refused = ReceiptWish::new(&without, asked).map(|wish| wish.signer(policy).is_err());
            assert_eq!(refused.unwrap_or(true), owed);
            assert_eq!(ReceiptWish::new(&without, asked).is_err(), asked, "before any game is read");
        }
    }
}
