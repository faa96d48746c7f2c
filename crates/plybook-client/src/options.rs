//! How a client waits, where it connects, and who it is there.
//!
//! Invariant: every wait has an end.

use std::time::Duration;

use crate::credentials::{Token, Trust};

/// How long a client waits for what, who it is, and whom it trusts.
#[derive(Clone, Debug)]
pub struct Options {
    /// For the answer to one attempt; the server hears of it as `grpc-timeout`.
    pub timeout: Duration,
    /// For the answer to one attempt to import a file, which must arrive first. A server gives no more by default.
    pub upload_timeout: Duration,
    /// For the answer to one attempt to get advice, which takes as long as its nodes do. A server gives no more by default.
    pub advice_timeout: Duration,
    /// In all, over the attempts of one call; also for a broken stream to come back.
    pub patience: Duration,
    /// Before the second round of attempts; doubled each round.
    pub first_pause: Duration,
    /// At most, between two rounds of attempts.
    pub longest_pause: Duration,
    /// For a connection to be made.
    pub connect_timeout: Duration,
    /// Between two pings on a connection, and for their answer.
    pub keepalive: Duration,
    /// Without any frame on a stream, before it counts as broken. Heartbeats come thrice as often.
    pub silence: Duration,
    /// Largest answer, in bytes.
    pub answer_bytes_max: usize,
    /// What says who calls, if anything does.
    pub token: Option<Token>,
    /// Whether the token may go to a server that is neither on this machine nor reached through TLS. Whoever is on the way reads it then.
    pub token_in_clear: bool,
    /// Whom to trust behind `https://`, and which certificate to show.
    pub trust: Trust,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            timeout: Duration::from_secs(10),
            upload_timeout: Duration::from_secs(30),
            advice_timeout: Duration::from_secs(30),
            patience: Duration::from_secs(30),
            first_pause: Duration::from_millis(50),
            longest_pause: Duration::from_secs(2),
            connect_timeout: Duration::from_secs(3),
            keepalive: Duration::from_secs(20),
            silence: Duration::from_secs(30),
            answer_bytes_max: 64 << 20,
            token: None,
            token_in_clear: false,
            trust: Trust::system(),
        }
    }
}

/// Why a client cannot connect there, ever.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{address:?} is no address of a server: {why}")]
pub struct BadAddress {
    /// What was given.
    pub address: String,
    /// Why.
    pub why: String,
}
