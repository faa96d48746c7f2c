//! What was asked in a simulated game, and what was answered.
//!
//! Invariant: an answer that was heard once is the answer for ever; of a request whose answer was lost anything may
//! be true, until it is asked again.

use plybook_core::Uuid;
use plybook_core::game::{Ask, Request};
use plybook_store::{RequestKey, StoredEntry};
use sha2::{Digest as _, Sha256};

use crate::random::Random;

/// A request, and the answer that was heard last.
#[derive(Clone, Debug)]
pub struct Asked {
    /// Its id and hash.
    pub id: RequestKey,
    /// What was asked.
    pub request: Request,
    /// The answer.
    pub answer: Heard,
}

/// An answer, as its caller heard it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Heard {
    /// None: an error, or a node that died.
    Nothing,
    /// This entry.
    Entry(StoredEntry),
    /// No.
    Refused,
}

/// What was asked in a game.
#[derive(Clone, Debug, Default)]
pub struct Ledger(Vec<Asked>);

impl Ledger {
    /// A new request; answers its number.
    pub fn asks(&mut self, request: Request, random: &mut Random) -> usize {
        let id = RequestKey { id: random_uuid(random), hash: hash_of(&request) };
        self.0.push(Asked { id, request, answer: Heard::Nothing });
        self.0.len() - 1
    }

    /// A request.
    pub fn get(&self, number: usize) -> &Asked {
        &self.0[number]
    }

    /// The requests.
    pub fn all(&self) -> &[Asked] {
        &self.0
    }

    /// Whether an entry is known to be the answer.
    pub fn is_answered(&self, number: usize) -> bool {
        matches!(self.0[number].answer, Heard::Entry(_))
    }

    /// The request with this id.
    pub fn find(&self, id: Uuid) -> Option<&Asked> {
        self.0.iter().find(|asked| asked.id.id == id)
    }

    /// Notes what was heard. What was an entry before has to be the same entry.
    pub fn hears(&mut self, number: usize, heard: Heard) -> Result<(), String> {
        let asked = &mut self.0[number];
        match (&asked.answer, &heard) {
            (Heard::Entry(_), Heard::Nothing) => return Ok(()),
            (Heard::Entry(before), now) if *now != Heard::Entry(before.clone()) => {
                return Err(format!("request {} was answered with {before:?}, and now with {now:?}", asked.id.id));
            }
            _ => asked.answer = heard,
        }
        Ok(())
    }
}

/// A hash of a request's body, as a caller's node would make one.
pub fn hash_of(request: &Request) -> [u8; 32] {
    let Request { actor, expected, ask } = request;
    let expected = if matches!(ask, Ask::Commit(_) | Ask::Reveal(_)) { 0 } else { expected.0 };
    Sha256::digest(format!("{actor:?} {expected} {ask:?}")).into()
}

/// A random id.
pub fn random_uuid(random: &mut Random) -> Uuid {
    uuid::Builder::from_random_bytes(random.bytes()).into_uuid()
}
