//! Connections from the callers to the nodes.
//!
//! Invariant: callers are spread over nodes and connections in turn. Nothing is retried: a call that fails
//! fails the run, because a figure with failed calls in it means nothing.

use std::io;
use std::time::Duration;

use anyhow::Context as _;
use hyper_util::rt::TokioIo;
use plybook_proto::v1;
use plybook_proto::v1::audit_service_client::AuditServiceClient;
use plybook_proto::v1::game_service_client::GameServiceClient;
use plybook_server::edge::Outgoing;
use tokio::net::TcpStream;
use tonic::transport::{Channel, Endpoint, Uri};

/// Callers that share a connection.
pub(super) const CALLERS_A_CONNECTION: usize = 64;
const CONNECT_WITHIN: Duration = Duration::from_secs(30);

/// A caller's way to a node. Answers come unpacked: the generator shares the cores with what it measures.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) games: GameServiceClient<Channel>,
    pub(super) audit: AuditServiceClient<Channel>,
}

impl Line {
    /// A call that does nothing: the answer is empty, or the node's key where it has one, and no store is asked.
    pub(super) async fn empty_call(&mut self) -> anyhow::Result<()> {
        self.audit.list_keys(v1::ListKeysRequest {}).await?;
        Ok(())
    }
}

/// What callers send at the same time leaves together, as answers do: the generator shares the cores with what it measures.
async fn opened(to: Uri) -> io::Result<TokioIo<Outgoing<TcpStream>>> {
    let host = to.host().unwrap_or_default().trim_matches(['[', ']']);
    let stream = TcpStream::connect((host, to.port_u16().unwrap_or(80))).await?;
    stream.set_nodelay(true)?;
    Ok(TokioIo::new(Outgoing::new(stream)))
}

/// Lines for so many callers, of whom so many share a connection; a server takes a thousand calls at once on one.
pub(super) async fn lines(urls: &[String], callers: usize, a_connection: usize) -> anyhow::Result<Vec<Line>> {
    let connections = callers.div_ceil(a_connection).max(1);
    let mut open = Vec::new();
    for _ in 0..connections.max(urls.len().min(callers)).div_ceil(urls.len()) {
        for url in urls {
            let endpoint = Endpoint::from_shared(url.clone())?.connect_timeout(CONNECT_WITHIN);
            let channel = endpoint.connect_with_connector(tower::service_fn(opened)).await;
            let channel = channel.with_context(|| format!("{url} does not answer"))?;
            open.push(Line { games: GameServiceClient::new(channel.clone()), audit: AuditServiceClient::new(channel) });
        }
    }
    Ok(open.into_iter().cycle().take(callers).collect())
}
