//! Pages of lists, and the tokens between them.
//!
//! Invariant: a token is opaque to callers, and only the same question accepts it: it carries a
//! checksum over where to go on and over the filter that it belongs to. A checksum is no signature: it
//! finds mistakes, and whoever makes up a token gains nothing, for it says where in a list to go on and
//! never whose list it is.

use crate::limits;
use crate::refusal::Refusal;
use crate::requests::canon::Canon;

const CHECK_BYTES: usize = 8;

/// How many items a page has.
pub fn size(wanted: i32, default: u32, most: u32) -> Result<u32, Refusal> {
    match u32::try_from(wanted) {
        Ok(0) => Ok(default),
        Ok(wanted) => Ok(wanted.min(most)),
        Err(_) => Err(Refusal::field("page_size", "is negative")),
    }
}

/// A token that goes on at `at` in the list that `question` asks for.
pub fn token(question: &str, at: &[u8]) -> String {
    let mut bytes = check(question, at).to_vec();
    bytes.extend_from_slice(at);
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A token of another list, or of this one as it was before.
pub fn foreign() -> Refusal {
    Refusal::field("page_token", "is not from a page of this list as it is now: begin again")
}

/// Where a token goes on; nothing for the first page.
pub fn at(question: &str, token: &str) -> Result<Option<Vec<u8>>, Refusal> {
    if token.is_empty() {
        return Ok(None);
    }
    let bytes = bytes(token).ok_or_else(foreign)?;
    let (sum, at) = bytes.split_at_checked(CHECK_BYTES).ok_or_else(foreign)?;
    if sum == check(question, at) { Ok(Some(at.to_vec())) } else { Err(foreign()) }
}

fn bytes(token: &str) -> Option<Vec<u8>> {
    if token.len() > limits::PAGE_TOKEN_BYTES_MAX || !token.len().is_multiple_of(2) || !token.is_ascii() {
        return None;
    }
    (0..token.len()).step_by(2).map(|i| u8::from_str_radix(&token[i..i + 2], 16).ok()).collect()
}

fn check(question: &str, at: &[u8]) -> [u8; CHECK_BYTES] {
    let hash = Canon::of("page").text(question).bytes(at).hash();
    let mut sum = [0; CHECK_BYTES];
    sum.copy_from_slice(&hash[..CHECK_BYTES]);
    sum
}
