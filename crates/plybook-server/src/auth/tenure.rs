//! Until when a credential that was taken goes on to hold.
//!
//! Invariant: a stream outlives neither the end of its credential nor, by more than what the node trusts it for, its being
//! revoked.

use std::future::pending;
use std::sync::Arc;

use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::refusal::Refusal;

/// Until when a credential goes on to hold. By default for ever.
#[derive(Clone, Debug, Default)]
pub struct Tenure {
    /// When it ends.
    pub until: Option<Instant>,
    /// Cancelled once it is known to be revoked.
    pub revoked: Option<Arc<CancellationToken>>,
}

impl Tenure {
    /// Whether it is over.
    pub fn check(&self) -> Result<(), Refusal> {
        if self.until.is_some_and(|until| Instant::now() >= until) {
            return Err(EXPIRED);
        }
        if self.revoked.as_ref().is_some_and(|revoked| revoked.is_cancelled()) {
            return Err(REVOKED);
        }
        Ok(())
    }

    /// Waits until it is over.
    pub async fn over(&self) -> Refusal {
        let ends = async {
            match self.until {
                Some(until) => sleep_until(until).await,
                None => pending().await,
            }
        };
        let revoked = async {
            match &self.revoked {
                Some(revoked) => revoked.cancelled().await,
                None => pending().await,
            }
        };
        tokio::select! {
            () = ends => EXPIRED,
            () = revoked => REVOKED,
        }
    }
}

const EXPIRED: Refusal = Refusal::CredentialsInvalid { why: "it has expired" };
const REVOKED: Refusal = Refusal::CredentialsInvalid { why: "it was revoked" };
