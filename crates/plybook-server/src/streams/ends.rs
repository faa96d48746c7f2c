//! What ends a stream before its time, whoever it serves.
//!
//! Invariant: nothing that a stream waits for keeps it beyond its caller's deadline or credential, or keeps a
//! node from going away.

use std::future::{Future, pending};

use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::auth::Caller;
use crate::auth::tenure::Tenure;
use crate::deadline::Deadline;
use crate::refusal::Refusal;

/// What ends a stream before its time.
#[derive(Clone, Debug)]
pub struct Ends {
    /// When this node goes away.
    draining: CancellationToken,
    /// When the caller's time is over.
    deadline: Option<Instant>,
    /// When the caller's credential is.
    tenure: Tenure,
}

impl Ends {
    /// Of the stream that this request opens.
    pub fn of<T>(request: &tonic::Request<T>, draining: &CancellationToken) -> Ends {
        let deadline = request.extensions().get::<Deadline>().and_then(|deadline| deadline.asked);
        let tenure = request.extensions().get::<Caller>().map(|caller| caller.tenure.clone()).unwrap_or_default();
        Ends { draining: draining.clone(), deadline, tenure }
    }

    /// Whether one of them has come.
    pub fn check(&self) -> Result<(), Refusal> {
        if self.draining.is_cancelled() {
            return Err(Refusal::Draining);
        }
        self.tenure.check()?;
        match self.deadline {
            Some(deadline) if Instant::now() >= deadline => Err(Refusal::Deadline),
            _ => Ok(()),
        }
    }

    /// Does `work` until one of them comes.
    pub async fn before<T>(&self, work: impl Future<Output = T>) -> Result<T, Refusal> {
        let at_deadline = async {
            match self.deadline {
                Some(deadline) => sleep_until(deadline).await,
                None => pending().await,
            }
        };
        tokio::select! {
            biased;
            () = self.draining.cancelled() => Err(Refusal::Draining),
            () = at_deadline => Err(Refusal::Deadline),
            over = self.tenure.over() => Err(over),
            done = work => Ok(done),
        }
    }
}
