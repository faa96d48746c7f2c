//! Refused requests as a server remembers them.
//!
//! Invariant: they are written a moment after they were refused, so whoever looks waits for them.

use std::time::Duration;

use plybook_proto::v1;
use tonic::Status;

use super::Wire;

/// Longer than any machine needs.
const PATIENCE: Duration = Duration::from_secs(60);

impl Wire {
    /// ListRefusals, all of its pages of this size.
    pub async fn try_refusals(&self, id: &str, page_size: i32) -> Result<Vec<v1::RefusedRequest>, Status> {
        let mut request = v1::ListRefusalsRequest { game_id: id.to_owned(), page_size, page_token: String::new() };
        let mut refusals = Vec::new();
        loop {
            let page = self.audit().list_refusals(request.clone()).await?.into_inner();
            assert!(page_size == 0 || page.refusals.len() <= page_size as usize, "a page is no longer");
            refusals.extend(page.refusals);
            request.page_token = page.next_page_token;
            if request.page_token.is_empty() {
                return Ok(refusals);
            }
        }
    }

    /// All that is remembered of a game, newest first.
    pub async fn refusals(&self, id: &str) -> Vec<v1::RefusedRequest> {
        self.try_refusals(id, 0).await.unwrap()
    }

    /// The same, once it is what it must come to.
    pub async fn refusals_once(&self, id: &str, what: &str, holds: impl Fn(&[v1::RefusedRequest]) -> bool) -> Vec<v1::RefusedRequest> {
        let by = tokio::time::Instant::now() + PATIENCE;
        loop {
            let refusals = self.refusals(id).await;
            if holds(&refusals) {
                return refusals;
            }
            assert!(tokio::time::Instant::now() < by, "it never comes to this: {what}; {} are remembered: {refusals:?}", refusals.len());
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// The same, once there are at least so many.
    pub async fn remembers(&self, id: &str, least: usize) -> Vec<v1::RefusedRequest> {
        self.refusals_once(id, &format!("{least} refusals"), |refusals| refusals.len() >= least).await
    }
}
