//! Flags of connections: what each may cost.
//!
//! Invariant: a flag that is not given leaves the server's own default.

use std::time::Duration;

use plybook_server::limits::Limits;

/// What connections may cost.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Connections")]
pub(super) struct EdgeArgs {
    /// Connections that have opened; for one more, one that has made no call, or none for long, is let go
    #[arg(long, env = "PLYBOOK_CONNECTIONS", default_value_t = Limits::default().connections)]
    connections: usize,
    /// Connections that open at once; for one more, the oldest of them is let go
    #[arg(long, env = "PLYBOOK_HANDSHAKES", default_value_t = Limits::default().handshakes)]
    handshakes: usize,
    /// How long a connection may take to open, in ms
    #[arg(long, env = "PLYBOOK_HANDSHAKE_TIMEOUT_MS", default_value_t = Limits::default().handshake_timeout.as_millis() as u64)]
    handshake_timeout_ms: u64,
    /// How long a connection may be silent before its peer is asked whether it is there, in ms
    #[arg(long, env = "PLYBOOK_KEEPALIVE_MS", default_value_t = Limits::default().keepalive.as_millis() as u64)]
    keepalive_ms: u64,
    /// And how long its peer may take to answer, in ms
    #[arg(long, env = "PLYBOOK_KEEPALIVE_TIMEOUT_MS", default_value_t = Limits::default().keepalive_timeout.as_millis() as u64)]
    keepalive_timeout_ms: u64,
    /// Largest headers of a request, in bytes
    #[arg(long, env = "PLYBOOK_HEADER_BYTES", default_value_t = Limits::default().header_bytes)]
    header_bytes: u32,
    /// Calls of one connection in a minute that its caller may leave before they are answered
    #[arg(long, env = "PLYBOOK_LEFT_CALLS", default_value_t = Limits::default().left_calls)]
    left_calls: u32,
    /// Bytes of large answers that may wait on one connection for its caller to take them
    #[arg(long, env = "PLYBOOK_WAITING_ANSWER_BYTES", default_value_t = Limits::default().waiting_answer_bytes)]
    waiting_answer_bytes: usize,
    /// How long a large answer may wait to be taken, in ms
    #[arg(long, env = "PLYBOOK_WAITING_ANSWER_TIMEOUT_MS", default_value_t = Limits::default().waiting_answer_timeout.as_millis() as u64)]
    waiting_answer_timeout_ms: u64,
    /// Streams open of one tenant, on this node
    #[arg(long, env = "PLYBOOK_STREAMS_PER_TENANT", default_value_t = Limits::default().streams_per_tenant)]
    streams_per_tenant: usize,
    /// Streams open on one connection
    #[arg(long, env = "PLYBOOK_STREAMS_PER_CONNECTION", default_value_t = Limits::default().streams_per_connection)]
    streams_per_connection: usize,
}

impl EdgeArgs {
    /// These limits, and of the others what is given.
    pub(super) fn read(&self, others: Limits) -> Limits {
        Limits {
            connections: self.connections,
            handshakes: self.handshakes,
            handshake_timeout: Duration::from_millis(self.handshake_timeout_ms),
            keepalive: Duration::from_millis(self.keepalive_ms),
            keepalive_timeout: Duration::from_millis(self.keepalive_timeout_ms),
            header_bytes: self.header_bytes,
            left_calls: self.left_calls,
            waiting_answer_bytes: self.waiting_answer_bytes,
            waiting_answer_timeout: Duration::from_millis(self.waiting_answer_timeout_ms),
            streams_per_tenant: self.streams_per_tenant,
            streams_per_connection: self.streams_per_connection,
            ..others
        }
    }
}
