//! What a server hands out and reads again, and what it reads of a call's headers.

use std::time::Duration;

use http::{HeaderMap, HeaderValue};
use plybook_proto::v1;
use plybook_server::deadline::Deadline;
use plybook_server::feed::FeedFilter;
use plybook_server::feed::token::Bond;
use plybook_server::requests::{self, page};
use plybook_store::{FeedCursor, TenantId};

use crate::text;

/// The bytes inside a resume token.
pub fn cursor(bytes: &[u8]) {
    let Some(cursor) = FeedCursor::from_bytes(bytes) else { return };
    assert_eq!(cursor.to_bytes(), bytes);
    let bond = bond();
    assert_eq!(bond.place(&bond.token(Some(&cursor))).ok(), Some(Some(cursor)), "a token leads where it was made");
}

/// Tokens as callers send them.
pub fn token(bytes: &[u8]) {
    let Some(token) = text(bytes) else { return };
    let bond = bond();
    if let Ok(place) = bond.place(token) {
        assert!(bond.token(place.as_ref()).eq_ignore_ascii_case(token), "a token was made here");
    }
    if let Ok(Some(at)) = page::at("question", token) {
        assert!(page::token("question", &at).eq_ignore_ascii_case(token), "a token was made here");
    }
    let _ = requests::game_id(token);
    let _ = requests::request_id(token);
}

/// A deadline as a caller sends it.
pub fn timeout(bytes: &[u8]) {
    let Ok(value) = HeaderValue::from_bytes(bytes) else { return };
    let headers = HeaderMap::from_iter([(http::HeaderName::from_static("grpc-timeout"), value)]);
    let limit = Duration::from_secs(30);
    let deadline = Deadline::of(&headers, limit);
    assert!(deadline.asked.is_none_or(|asked| deadline.answer_by <= asked), "a call is answered before its caller has left");
}

fn bond() -> Bond {
    Bond::new(TenantId::DEFAULT, &FeedFilter::of(v1::FeedFilter::default()).expect("it asks for everything"))
}
