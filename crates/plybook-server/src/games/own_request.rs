//! The ids of what the service asks of a game by itself.
//!
//! Invariant: they follow from what is asked and from the head that was seen, the same on every node and in every release,
//! so that one of two that ask the same is the other's copy.

use plybook_core::Seq;
use plybook_core::game::{Due, Hand};
use plybook_store::{GameKey, RequestKey};
use uuid::Uuid;

use crate::requests::canon::Canon;

/// What is asked.
#[derive(Clone, Copy)]
pub(super) enum OwnRequest {
    /// A deadline is settled.
    Settle(Due),
    /// A bot moves.
    Move(Hand),
}

impl OwnRequest {
    /// Ids of a kind that a caller could have foreseen and taken are no reason to stop: `taken` asks for one that nobody
    /// has, and the head alone decides then.
    pub(super) fn key(self, key: GameKey, head: Seq, taken: bool) -> RequestKey {
        let word = self.word();
        let named = format!("{word}/{head}");
        let id = if taken { Uuid::new_v4() } else { Uuid::new_v5(&key.game, named.as_bytes()) };
        RequestKey { id, hash: Canon::of("Service").text(word).number(head.0.into()).hash() }
    }

    const fn word(self) -> &'static str {
        match self {
            OwnRequest::Settle(Due::Joining) => "absent",
            OwnRequest::Settle(Due::Turn(_)) => "timeout",
            OwnRequest::Settle(Due::Presence(_)) => "forfeit",
            OwnRequest::Settle(Due::Reopening) => "close",
            OwnRequest::Move(Hand::Bot) => "bot",
            OwnRequest::Move(Hand::Fallback) => "fallback",
        }
    }
}
