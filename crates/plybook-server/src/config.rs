//! What an operator sets.
//!
//! Invariant: a configuration that cannot work is refused with one clear sentence before anything
//! is opened.

use std::net::SocketAddr;
use std::time::Duration;

use crate::auth::AuthConfig;
use crate::edge::{RateLimits, TlsFiles, Web};
use crate::limits::{Limits, REPLY_BYTES_MAX};
use crate::signing::Keys;

/// What an operator sets.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where to listen; port 0 takes a free one.
    pub listen: SocketAddr,
    /// What a node accepts.
    pub limits: Limits,
    /// What it signs with, if with anything.
    pub keys: Keys,
    /// Who may call.
    pub auth: AuthConfig,
    /// The node's certificates, if it speaks TLS.
    pub tls: Option<TlsFiles>,
    /// How often whom may call.
    pub rates: RateLimits,
    /// Whether browsers may call.
    pub web: Option<Web>,
}

/// Why a configuration cannot work.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ConfigError(pub String);

impl Default for Config {
    fn default() -> Config {
        Config {
            listen: SocketAddr::from(([127, 0, 0, 1], 50051)),
            limits: Limits::default(),
            keys: Keys::default(),
            auth: AuthConfig::default(),
            tls: None,
            rates: RateLimits::default(),
            web: None,
        }
    }
}

impl Config {
    /// Checks what types cannot.
    pub fn check(&self) -> Result<(), ConfigError> {
        let limits = &self.limits;
        let refuse = |what: &str| Err(ConfigError(what.to_owned()));
        if limits.request_bytes < 4 * 1024 {
            return refuse("request-bytes must be at least 4096, or no request with a header's worth of seats fits");
        }
        if limits.import_bytes == 0 || limits.imports == 0 {
            return refuse("import-bytes and imports must be at least 1");
        }
        if limits.streams == 0 {
            return refuse("streams must be at least 1");
        }
        if limits.calls_per_connection == 0 {
            return refuse("calls-per-connection must be at least 1");
        }
        check_edge(limits)?;
        if limits.poll_floor.is_zero() {
            return refuse("poll-floor must be longer than nothing, or idle streams would read without pause");
        }
        if limits.call_timeout.is_zero() {
            return refuse("call-timeout must be longer than nothing");
        }
        if limits.advice_nodes_max == 0 {
            return refuse("advice-nodes-max must be at least 1");
        }
        if limits.bot_nodes_max == 0 {
            return refuse("bot-nodes-max must be at least 1");
        }
        if limits.due_poll.is_zero() || limits.due_lease < Duration::from_millis(100) {
            return refuse("due-poll must be longer than nothing, and due-lease 100 ms at least");
        }
        if limits.heartbeat.is_zero() || limits.outage_after < limits.heartbeat * 2 {
            return refuse("heartbeat must be longer than nothing, and outage-after twice as long at least");
        }
        if limits.refusals_keep.is_zero() {
            return refuse("refusals-keep must be longer than nothing (refusals-per-game 0 remembers none)");
        }
        if limits.refusals_queue == 0 || limits.refusals_ageing.is_zero() {
            return refuse("refusals-queue and refusals-ageing must be at least 1");
        }
        self.auth.check()
    }
}

/// What of the limits of connections cannot work.
fn check_edge(limits: &Limits) -> Result<(), ConfigError> {
    let refuse = |what: &str| Err(ConfigError(what.to_owned()));
    let counts = [limits.connections, limits.handshakes, limits.streams_per_tenant, limits.streams_per_connection];
    if counts.contains(&0) || limits.left_calls == 0 {
        return refuse("connections, handshakes, streams-per-tenant, streams-per-connection and left-calls must be at least 1");
    }
    if limits.handshake_timeout.is_zero() || limits.keepalive.is_zero() || limits.keepalive_timeout.is_zero() {
        return refuse("handshake-timeout, keepalive and keepalive-timeout must be longer than nothing");
    }
    if limits.header_bytes < 1024 {
        return refuse("header-bytes must be at least 1024, or no call has room for its headers");
    }
    if limits.waiting_answer_bytes < REPLY_BYTES_MAX || limits.waiting_answer_timeout.is_zero() {
        return refuse("waiting-answer-bytes must have room for one reply, and waiting-answer-timeout be longer than nothing");
    }
    Ok(())
}
