//! How a client waits, and where it connects.
//!
//! Invariant: every wait has an end.

use std::time::Duration;

/// How long a client waits for what.
#[derive(Clone, Debug, PartialEq, Eq)]
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
