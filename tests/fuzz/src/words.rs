//! Tokens, and single words that stand in requests, headers and files.

use plybook_core::clock::ClockPolicy;
use plybook_core::header::Principal;
use plybook_core::outcome::Reason;
use plybook_core::receipt::{KeyId, PublicKey, Signature};
use plybook_core::{Digest, Receipt, Time, diagram};
use plybook_proto::v1;
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

/// Every word, as whatever it may be; what is read is printed so that it is read again.
pub fn word(bytes: &[u8]) {
    let Some(word) = text(bytes) else { return };
    if let Ok(policy) = ClockPolicy::parse(word) {
        assert_eq!(ClockPolicy::parse(&policy.to_string()), Ok(policy));
    }
    if let Some(time) = Time::parse(word) {
        assert_eq!(time.to_string(), word);
    }
    if let Some(digest) = Digest::parse(word) {
        assert_eq!(digest.to_string(), word);
    }
    if let Some(receipt) = Receipt::parse(word) {
        assert_eq!(receipt.to_string(), word);
    }
    if let Ok(key) = PublicKey::parse(word) {
        assert_eq!(PublicKey::parse(&key.print()).map(|again| again.bytes()).ok(), Some(key.bytes()));
    }
    if let Some(board) = diagram::read(word, &["X", "O", "A"]) {
        assert_eq!(diagram::read(&diagram::draw(&board, &["X", "O", "A"]), &["X", "O", "A"]).map(|again| again == board), Some(true));
    }
    let _ = (Principal::parse(word), Reason::parse(word), KeyId::parse(word), Signature::parse(word));
}

fn bond() -> Bond {
    Bond::new(TenantId::DEFAULT, &FeedFilter::of(v1::FeedFilter::default()).expect("it asks for everything"))
}
