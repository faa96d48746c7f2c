//! What a batch has stored is signed together, before anybody of it is told.
//!
//! Invariants: nobody's entry is shown to a notary but what this batch has stored, each to his own; whatever a notary does, everybody is told
//! what came of his entry.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use plybook_core::receipt::SignedHead;

use super::Answer;
use super::queue::Batch;
use crate::store::{Append, NewEntry};

/// Whether anybody wants a signature.
pub(super) fn is_wanted(entries: &[NewEntry]) -> bool {
    entries.iter().any(|entry| entry.notary.is_some())
}

/// Signs what was stored, then tells everybody.
pub(super) fn tell(batch: Batch, mut answers: Vec<Answer>) {
    sign(&batch.entries, &mut answers);
    batch.tell(answers);
}

/// Signs for those who want it, and puts the receipts in their answers.
fn sign(entries: &[NewEntry], answers: &mut [Answer]) {
    let wanted = |at: &usize| entries[*at].notary.is_some() && matches!(answers[*at], Ok(Append::Stored));
    let mut unsigned: Vec<usize> = (0..entries.len().min(answers.len())).filter(wanted).collect();
    while let Some(notary) = unsigned.first().and_then(|at| entries[*at].notary.as_ref()) {
        let same = |at: &usize| entries[*at].notary.as_ref().is_some_and(|other| Arc::ptr_eq(other, notary));
        let (its, others): (Vec<usize>, Vec<usize>) = unsigned.into_iter().partition(same);
        let heads: Vec<SignedHead> = its.iter().map(|at| entries[*at].head()).collect();
        // One that panics leaves its callers what is stored, and whatever they then do about a signature.
        let receipts = catch_unwind(AssertUnwindSafe(|| notary.receipts(&heads))).unwrap_or_default();
        for (at, receipt) in its.into_iter().zip(receipts) {
            answers[at] = Ok(Append::Signed(Box::new(receipt)));
        }
        unsigned = others;
    }
}
