//! Requests that a game or its policy refused, as they are remembered.
//!
//! Invariant: they are a record beside the books, bounded in number and age. Nothing is decided by them, and
//! losing them loses no game.

use plybook_core::limits::PRINCIPAL_BYTES_MAX;
use plybook_core::{Seq, Time, Uuid};

use crate::error::Error;
use crate::store::GameKey;

/// Longest text of what was asked, in bytes.
pub const ASKED_BYTES_MAX: usize = 64;
/// Longest name of a reason, in bytes.
pub const REASON_BYTES_MAX: usize = 64;
/// Longest text of why, in bytes.
pub const DETAIL_BYTES_MAX: usize = 256;

/// A refused request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Of which game.
    pub key: GameKey,
    /// When, by the node's clock.
    pub at: Time,
    /// Who sent it.
    pub principal: String,
    /// For which seat, where one was named.
    pub seat: Option<u8>,
    /// What was asked, such as `move b2`.
    pub asked: String,
    /// The request.
    pub request_id: Uuid,
    /// The last entry that the caller had decided on.
    pub expected: Seq,
    /// The head against which it was refused.
    pub head: Seq,
    /// The reason's name.
    pub reason: String,
    /// Why, in one line.
    pub detail: String,
}

/// A refused request as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRefusal {
    /// Ascends in the order of writing, over all games; where one node writes, that is the order of time.
    pub number: i64,
    /// What was refused.
    pub refused: Refused,
}

/// What the schema of one database checks and that of the other could not relax later.
pub(crate) fn fits(refused: &[Refused]) -> Result<(), Error> {
    for one in refused {
        let texts = [
            ("principal", &one.principal, 1..=PRINCIPAL_BYTES_MAX),
            ("asked", &one.asked, 1..=ASKED_BYTES_MAX),
            ("reason", &one.reason, 1..=REASON_BYTES_MAX),
            ("detail", &one.detail, 0..=DETAIL_BYTES_MAX),
        ];
        if let Some((name, text, _)) = texts.iter().find(|(_, text, most)| !most.contains(&text.len())) {
            return Err(Error::Failed(format!("a refusal's {name} of {} bytes", text.len())));
        }
    }
    Ok(())
}
