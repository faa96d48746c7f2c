//! What becomes of a claimed row.
//!
//! Invariant: a row that cannot be handled comes again, later and later, and never at once: nothing here spins. A node
//! that goes away lets its rows go, so that another need not wait for the end of their leases. The alarm rings once the
//! row is written: whoever looked before would find the claim, and sleep.

use std::time::Duration;

use plybook_core::Time;
use plybook_store::{Arms, Claimed, Error};

use crate::games::Games;
use crate::games::reminder::later;
use crate::limits::{DUE_BACKOFF, DUE_BACKOFF_MAX};
use crate::refusal::Refusal;
use crate::upkeep::Chore;

impl Games {
    /// Something is due, perhaps sooner than whoever looks at the queue here knows.
    pub(super) fn rings_at(&self, arms: &Arms) {
        arms.each().for_each(|(_, at)| self.alarm.rings_at(at));
    }

    /// The row is done with until then, or for good.
    pub async fn settled(&self, claim: &Claimed, next: Option<Time>) {
        let done = self.store.settle_due(claim, next).await;
        self.note(claim, done);
        if let Some(next) = next {
            self.alarm.rings_at(next);
        }
    }

    /// A bot has moved: the row is the next turn's by now, or is done with.
    pub(super) async fn played(&self, claim: &Claimed) {
        let done = self.store.settle_due(claim, None).await;
        self.note(claim, done.map(|_| true));
    }

    /// Somebody else may have it.
    pub async fn let_go(&self, claim: &Claimed) {
        self.note(claim, self.store.hold_due(claim, Duration::ZERO).await);
    }

    /// It comes again after so long.
    pub async fn held_for(&self, claim: &Claimed, time: Duration) {
        let done = self.store.hold_due(claim, time).await;
        self.note(claim, done);
        self.alarm.rings_at(later(self.clock.now(), time));
    }

    /// It cannot be handled here and now.
    pub async fn put_off(&self, claim: &Claimed, refusal: &Refusal) {
        self.upkeep.add(Chore::PutOff);
        let wait = backoff(claim.attempts);
        let (game, kind, attempts) = (claim.key.game.game, claim.key.kind, claim.attempts);
        tracing::warn!(%game, ?kind, attempts, ?wait, ?refusal, "what is due cannot be done now");
        self.held_for(claim, wait).await;
    }

    fn note(&self, claim: &Claimed, done: Result<bool, Error>) {
        match done {
            Ok(true) => {}
            Ok(false) => self.upkeep.add(Chore::ClaimLost),
            // The lease ends by itself.
            Err(error) => tracing::debug!(game = %claim.key.game.game, %error, "a claim was not settled"),
        }
    }
}

/// After so many claims of a row.
fn backoff(attempts: u32) -> Duration {
    DUE_BACKOFF.saturating_mul(1 << attempts.saturating_sub(1).min(16)).min(DUE_BACKOFF_MAX)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::backoff;

    #[test]
    fn a_row_that_cannot_be_handled_comes_later_and_later_up_to_a_limit() {
        let waits: Vec<Duration> = [1, 2, 3, 4, 40, u32::MAX].map(backoff).to_vec();
        let seconds = Duration::from_secs;
        assert_eq!(waits, [seconds(1), seconds(2), seconds(4), seconds(8), seconds(60), seconds(60)]);
    }
}
