//! An entry as a message.
//!
//! Invariant: the subject is the game's for ever, and the id is the entry's: nothing of either depends on when it is sent.

use async_nats::HeaderMap;
use async_nats::header::NATS_MESSAGE_ID;
use clap::ValueEnum;
use plybook_proto::v1;
use prost::Message as _;

use crate::tail::line::{hex, object};

/// The header with the entry's number.
pub(super) const SEQ: &str = "Plybook-Seq";
const GAME: &str = "Plybook-Game";
/// The header with the digest of the book up to it.
pub(super) const DIGEST: &str = "Plybook-Digest";
const CONTENT_TYPE: &str = "Content-Type";

/// What a body is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// plybook.v1.Event, as the feed has it
    Protobuf,
    /// One object, as plybook tail --json prints it
    Json,
}

impl Format {
    /// The entry's body.
    pub(super) fn body(self, event: &v1::Event) -> Vec<u8> {
        match self {
            Format::Protobuf => event.encode_to_vec(),
            Format::Json => object(event).to_string().into_bytes(),
        }
    }

    const fn content_type(self) -> &'static str {
        match self {
            Format::Protobuf => "application/protobuf; proto=plybook.v1.Event",
            Format::Json => "application/json",
        }
    }

    /// The entry's headers.
    pub(super) fn headers(self, event: &v1::Event) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(NATS_MESSAGE_ID, format!("{}:{}", event.game_id, event.seq));
        headers.insert(GAME, event.game_id.as_str());
        headers.insert(SEQ, event.seq.to_string());
        headers.insert(DIGEST, hex(&event.book_digest));
        headers.insert(CONTENT_TYPE, self.content_type());
        headers
    }
}
