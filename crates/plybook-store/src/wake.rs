//! Hints between nodes that a book grew, and what carries them.
//!
//! | module | the noun |
//! | --- | --- |
//! | [`postgres::PostgresWakes`](crate::postgres::PostgresWakes) | NOTIFY and LISTEN of the database itself |
//! | `nats` | a NATS server beside it |
//! | [`NoWakes`] | nothing: whoever waits looks by himself |
//! | `packed` | many hints in one message |
//! | `backoff` | longer and longer pauses, and one warning for all of them |
//!
//! Invariant: a hint is never waited for and never relied on. Losing every one costs whoever waits the time up to
//! his next look, never an entry; a bus that is away costs a warning, and no call.

pub(crate) mod backoff;
mod nats;
pub(crate) mod packed;

use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::Duration;

use async_trait::async_trait;
use plybook_core::Seq;
use tokio::sync::mpsc;

pub use self::nats::{NatsOptions, NatsWakes, SITE_DEFAULT};
use crate::counts::WakeCounts;
use crate::store::GameKey;

/// Hints that wait to be sent, and hints that wait to be read.
pub(crate) const QUEUE: usize = 4_096;
/// At most a hundred messages a second from one node.
pub(crate) const INTERVAL: Duration = Duration::from_millis(10);
/// A message, or the opening of a connection, that takes longer has failed.
pub(crate) const ANSWER_WITHIN: Duration = Duration::from_secs(3);
/// How long a listener trusts a line on which nothing comes.
pub(crate) const SILENCE: Duration = Duration::from_secs(15);

/// A hint that a game has new entries, from this node or another. Hints may be lost or repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wake {
    /// Which game.
    pub key: GameKey,
    /// An entry that is durable by now; there may be later ones.
    pub seq: Seq,
}

/// What a node hears of the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News {
    /// A game has new entries.
    Entry(Wake),
    /// Nothing was heard for a while, which is over: any game may have new entries.
    MayHaveMissed,
}

/// What carries hints between the nodes of a site. Lossy, always.
#[async_trait]
pub trait Wakes: Send + Sync + 'static {
    /// Tells other nodes, soon and without waiting, that a game has a new entry.
    fn publish(&self, wake: Wake);

    /// Hints from other nodes. Never ends while this lives: it connects by itself, sends nothing
    /// while it cannot, and [`News::MayHaveMissed`] each time that it could again. Called once.
    fn subscribe(&self) -> mpsc::Receiver<News>;

    /// What became of hints so far.
    fn counts(&self) -> WakeCounts {
        WakeCounts::default()
    }

    /// Hands out what is queued, and ends what [`Wakes::subscribe`] gave.
    async fn close(&self);
}

/// No hints at all: for a node alone, or where looking now and then is enough.
#[derive(Debug, Default)]
pub struct NoWakes {
    /// Held open, so that whoever listens hears nothing rather than the end.
    silent: Mutex<Vec<mpsc::Sender<News>>>,
}

#[async_trait]
impl Wakes for NoWakes {
    fn publish(&self, _wake: Wake) {
        // Nobody listens.
    }

    fn subscribe(&self) -> mpsc::Receiver<News> {
        let (silent, receiver) = mpsc::channel(1);
        self.silent.lock().unwrap_or_else(PoisonError::into_inner).push(silent);
        receiver
    }

    async fn close(&self) {
        self.silent.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// Hands a hint to whoever listens here.
pub(crate) fn hand_on(hints: &mpsc::Sender<News>, wake: Wake) {
    if hints.try_send(News::Entry(wake)).is_err() {
        tracing::debug!("a wake-up was dropped");
    }
}
