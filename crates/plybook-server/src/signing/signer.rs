//! What signs receipts: those who ask at the same time are signed together.
//!
//! What one batch of a store stores is signed by it; here come creations, repeated requests and the entries of stores that append one by
//! one. Whoever comes first lets the others have their turn
//! once, then signs for all who came meanwhile; a signature costs far more than a place in a tree.
//!
//! Invariants: nobody waits for a timer, and nobody for who may come; whoever is alone is signed alone. A caller who goes
//! away is missed by nobody: the first one's turn ends by being dropped, and then all are signed for.

use std::fmt;
use std::future::poll_fn;
use std::mem;
use std::sync::{Mutex, PoisonError};
use std::task::Poll;

use plybook_core::Receipt;
use plybook_core::limits::HEADS_SIGNED_MAX;
use plybook_core::receipt::SignedHead;
use plybook_store::Notary;
use tokio::sync::oneshot;

use super::SigningKey;

/// A key, and who waits for its signature.
pub struct Signer {
    key: SigningKey,
    waiting: Mutex<Vec<Waiting>>,
}

struct Waiting {
    head: SignedHead,
    caller: oneshot::Sender<Receipt>,
}

/// The turn of whoever came first.
struct Turn<'a>(&'a Signer);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.sign();
    }
}

impl Signer {
    pub(super) const fn new(key: SigningKey) -> Signer {
        Signer { key, waiting: Mutex::new(Vec::new()) }
    }

    pub(super) const fn key(&self) -> &SigningKey {
        &self.key
    }

    /// Signs a head, together with those of whoever asks at the same time.
    pub async fn receipt(&self, head: SignedHead) -> Receipt {
        let (caller, receipt) = oneshot::channel();
        match self.enter(Waiting { head, caller }) {
            1 => {
                let turn = Turn(self);
                others_first().await;
                drop(turn);
            }
            // Whoever is first finds nobody then, or who came later.
            full if full == HEADS_SIGNED_MAX as usize => self.sign(),
            _ => {}
        }
        // It always comes; were it otherwise, this one would still be owed a receipt.
        receipt.await.unwrap_or_else(|_| self.key.receipt(head))
    }

    /// Adds one; tells how many there are with it.
    fn enter(&self, one: Waiting) -> usize {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.push(one);
        waiting.len()
    }

    /// Signs for all who wait.
    fn sign(&self) {
        let mut waiting = mem::take(&mut *self.waiting.lock().unwrap_or_else(PoisonError::into_inner));
        waiting.retain(|one| !one.caller.is_closed());
        let heads: Vec<SignedHead> = waiting.iter().map(|one| one.head).collect();
        for (one, receipt) in waiting.into_iter().zip(self.key.receipts(&heads)) {
            // Whoever went away meanwhile wants none.
            let _ = one.caller.send(receipt);
        }
    }
}

impl Notary for Signer {
    fn receipts(&self, heads: &[SignedHead]) -> Vec<Receipt> {
        self.key.receipts(heads)
    }
}

/// Lets the tasks that are ready have their turn. Tokio's own yield waits until there is nothing at all left to do, and
/// a whole batch would wait with it.
async fn others_first() {
    let mut gave_way = false;
    poll_fn(|context| {
        if mem::replace(&mut gave_way, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.key, f)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use futures::future::join_all;
    use plybook_core::receipt::PublicKeys;
    use plybook_core::{Digest, Seq, Uuid};

    use super::*;

    fn signer() -> Signer {
        Signer::new(SigningKey::from_seed(&[1; 32]).unwrap())
    }

    fn head(number: u32) -> SignedHead {
        SignedHead { game: Uuid::from_u128(number.into()), seq: Seq(number), digest: Digest::of(&number.to_be_bytes()) }
    }

    /// It holds, and tells how many were signed with it.
    #[track_caller]
    fn size(signer: &Signer, number: u32, receipt: &Receipt) -> u32 {
        assert_eq!(receipt.head(), head(number));
        assert_eq!(receipt.check(&PublicKeys::from_iter([*signer.key().public()])), Ok(()));
        receipt.inclusion.as_ref().map_or(1, |inclusion| inclusion.size())
    }

    #[tokio::test]
    async fn whoever_is_alone_is_signed_alone() {
        let signer = signer();
        for number in 1..=3 {
            assert_eq!(signer.receipt(head(number)).await, signer.key().receipt(head(number)));
        }
    }

    #[tokio::test]
    async fn who_ask_at_once_are_signed_together() {
        let signer = signer();
        for callers in [2, 3, 64, HEADS_SIGNED_MAX] {
            let receipts = join_all((0..callers).map(|number| signer.receipt(head(number)))).await;
            let sizes: Vec<u32> = (0..).zip(&receipts).map(|(number, receipt)| size(&signer, number, receipt)).collect();
            assert_eq!(sizes, vec![callers; callers as usize]);
        }
    }

    #[tokio::test]
    async fn more_than_a_tree_holds_are_several_trees() {
        let (signer, callers) = (signer(), HEADS_SIGNED_MAX + 3);
        let receipts = join_all((0..callers).map(|number| signer.receipt(head(number)))).await;
        let sizes: Vec<u32> = (0..).zip(&receipts).map(|(number, receipt)| size(&signer, number, receipt)).collect();
        let (first, rest) = sizes.split_at(HEADS_SIGNED_MAX as usize);
        assert!(first.iter().all(|size| *size == HEADS_SIGNED_MAX) && rest == [3; 3], "{sizes:?}");
    }

    #[tokio::test]
    async fn others_are_signed_for_when_the_first_goes_away() {
        let signer = signer();
        let mut callers: Vec<_> = (0..3).map(|number| Box::pin(signer.receipt(head(number)))).collect();
        for caller in &mut callers {
            assert!(futures::poll!(caller).is_pending());
        }
        drop(callers.remove(0));
        for (number, caller) in (1..).zip(callers) {
            size(&signer, number, &caller.await);
        }
        assert_eq!(signer.receipt(head(9)).await, signer.key().receipt(head(9)), "the next one comes first again");
    }

    #[tokio::test]
    async fn who_goes_away_is_in_no_tree() {
        let signer = signer();
        let mut callers: Vec<_> = (0..3).map(|number| Box::pin(signer.receipt(head(number)))).collect();
        for caller in &mut callers {
            assert!(futures::poll!(caller).is_pending());
        }
        drop(callers.remove(1));
        let receipts = join_all(callers).await;
        assert_eq!([0, 2].map(|number| size(&signer, number, &receipts[number as usize / 2])), [2, 2]);
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn many_threads_are_all_served() {
        let signer = std::sync::Arc::new(signer());
        let ask = |number: u32| {
            let signer = signer.clone();
            // Every seventh goes away, the first of a tree or another.
            tokio::spawn(async move {
                let mut asked = Box::pin(signer.receipt(head(number)));
                match futures::poll!(&mut asked) {
                    Poll::Ready(receipt) => Some(receipt),
                    Poll::Pending if number.is_multiple_of(7) => None,
                    Poll::Pending => Some(asked.await),
                }
            })
        };
        let tasks: Vec<_> = (0..3_000).map(ask).collect();
        for (number, task) in (0..).zip(tasks) {
            if let Some(receipt) = task.await.unwrap() {
                size(&signer, number, &receipt);
            }
        }
    }
}
