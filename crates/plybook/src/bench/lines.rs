//! Connections from the callers to the nodes.
//!
//! Invariant: callers are spread over nodes and connections in turn. Nothing is retried: a call that fails
//! fails the run, because a figure with failed calls in it means nothing.

use std::time::Duration;

use anyhow::{Context as _, anyhow};
use plybook_proto::v1;
use plybook_proto::v1::audit_service_client::AuditServiceClient;
use plybook_proto::v1::game_service_client::GameServiceClient;
use tokio::time::timeout;
use tonic::transport::Uri;

use super::wire::Wire;

/// Callers that share a connection.
pub(super) const CALLERS_A_CONNECTION: usize = 64;
const CONNECT_WITHIN: Duration = Duration::from_secs(30);
const ANSWER_WITHIN: Duration = Duration::from_secs(10);

/// A caller's way to a node. Answers come unpacked: the generator shares the cores with what it measures.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) games: GameServiceClient<Wire>,
    pub(super) audit: AuditServiceClient<Wire>,
}

impl Line {
    /// A call that does nothing: the answer is empty, or the node's key where it has one, and no store is asked.
    pub(super) async fn empty_call(&mut self) -> anyhow::Result<()> {
        // A status prints what it came from as well, in Rust's own form.
        let answer = self.audit.list_keys(v1::ListKeysRequest {}).await;
        answer.map(drop).map_err(|status| anyhow!("{:?}: {}", status.code(), status.message()))
    }
}

/// Lines for so many callers, of whom so many share a connection; a server takes a thousand calls at once on one.
pub(super) async fn lines(urls: &[String], callers: usize, a_connection: usize) -> anyhow::Result<Vec<Line>> {
    let connections = callers.div_ceil(a_connection).max(1);
    let mut open = Vec::new();
    for _ in 0..connections.max(urls.len().min(callers)).div_ceil(urls.len()) {
        for url in urls {
            let to: Uri = url.parse().with_context(|| format!("{url} is no address"))?;
            let wire = timeout(CONNECT_WITHIN, Wire::open(&to)).await.map_err(|_| anyhow!("no answer within {CONNECT_WITHIN:?}"));
            let wire = wire.and_then(|wire| wire.map_err(anyhow::Error::from_boxed)).with_context(|| format!("{url} does not answer"))?;
            let mut line = Line { games: GameServiceClient::new(wire.clone()), audit: AuditServiceClient::new(wire) };
            // Whoever takes connections need not be a node: told now, and not in the middle of a run.
            let answered = timeout(ANSWER_WITHIN, line.empty_call()).await;
            answered
                .unwrap_or_else(|_| Err(anyhow!("no answer within {ANSWER_WITHIN:?}")))
                .with_context(|| format!("{url} does not answer as a Plybook server does"))?;
            open.push(line);
        }
    }
    Ok(open.into_iter().cycle().take(callers).collect())
}
