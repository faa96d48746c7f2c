//! Single words that stand in requests, headers and files.

use plybook_core::clock::ClockPolicy;
use plybook_core::header::Principal;
use plybook_core::outcome::Reason;
use plybook_core::receipt::{KeyId, PublicKey, Signature};
use plybook_core::{Digest, Receipt, Time, diagram};

use crate::text;

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
