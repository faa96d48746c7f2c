//! A seat's part before the first move of a game with joint entropy: it commits to a nonce, and reveals
//! it once every seat has committed.
//!
//! Invariant: a nonce leaves this process only after the book, read from entry 1 with every digest, has
//! a commitment of every seat, this seat's own among them, under its own key where it signs.
//!
//! ```no_run
//! # async fn join(client: plybook_client::Client, game_id: &str) -> Result<(), Box<dyn std::error::Error>> {
//! use plybook_client::joining::{Joiner, Nonce};
//!
//! let nonce = Nonce::draw()?;
//! let last = Joiner::new(0, nonce).join(&client, game_id).await?;
//! println!("all nonces are in at entry {}", last.seq);
//! # Ok(())
//! # }
//! ```

mod pages;

use std::fmt;

use plybook_proto::v1;
use plybook_proto::v1::ErrorReason;
use plybook_proto::v1::join_game_request::Step;
use sha2::{Digest as _, Sha256};

use crate::client::Client;
use crate::error::{Error, Refused};
use pages::{News, Pages};

/// What a seat adds to the dice: a secret until every seat has committed, for whoever learns it earlier
/// may choose the own nonce by it. A process that was restarted goes on with the same nonce or not at
/// all: keep it ([`Nonce::reveal`]) where an absence would be costly.
#[derive(Clone, PartialEq, Eq)]
pub struct Nonce([u8; 32]);

/// The operating system gave no randomness.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the operating system gave no randomness: {0}")]
pub struct NoRandomness(String);

impl Nonce {
    /// A new one, of the operating system's randomness.
    pub fn draw() -> Result<Nonce, NoRandomness> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(|error| NoRandomness(error.to_string()))?;
        Ok(Nonce(bytes))
    }

    /// One that was kept.
    pub const fn from_bytes(bytes: [u8; 32]) -> Nonce {
        Nonce(bytes)
    }

    /// Its bytes, to be kept.
    pub const fn reveal(&self) -> &[u8; 32] {
        &self.0
    }

    /// What `seat` commits to, in the game whose entry 1 has this digest.
    pub fn commitment(&self, entry_1: &[u8; 32], seat: u8) -> [u8; 32] {
        promised(entry_1, seat, &self.0)
    }
}

impl fmt::Debug for Nonce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Nonce(hidden)")
    }
}

/// What the key of `seat` signs: 82 bytes.
pub fn signed_bytes(entry_1: &[u8; 32], seat: u8, commitment: &[u8; 32]) -> Vec<u8> {
    [b"plybook-commit/1".as_slice(), entry_1, &u16::from(seat).to_be_bytes(), commitment].concat()
}

type Sign = Box<dyn Fn(&[u8]) -> [u8; 64] + Send + Sync>;
type Keep = Box<dyn Fn(&v1::Receipt) -> Result<(), String> + Send + Sync>;

/// A seat that is about to join.
pub struct Joiner {
    seat: u8,
    nonce: Nonce,
    key: Option<([u8; 32], Sign)>,
    keep: Option<Keep>,
}

impl fmt::Debug for Joiner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Joiner(seat {}, {}signing, nonce hidden)", self.seat, if self.key.is_some() { "" } else { "not " })
    }
}

/// Why a seat has not joined.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JoinError {
    /// A call was refused, or nobody answered. The same [`Joiner`] may try again.
    #[error(transparent)]
    Call(#[from] Error),
    /// The game asks its seats for no nonces, or has no such seat.
    #[error("the game asks seat {0} for no nonce")]
    NotAsked(u8),
    /// The seat has committed to another nonce, which is not known here.
    #[error("seat {0} has committed to another nonce")]
    OtherNonce(u8),
    /// The book has this seat's commitment, and not under its key. Nothing was revealed: whoever took the
    /// signature off could show another commitment later.
    #[error("the book has the commitment of seat {0} without the signature of its key")]
    Unsigned(u8),
    /// The game ended because these seats did not join in time.
    #[error("the game ended: seats {0:?} did not join in time")]
    Absent(Vec<u8>),
    /// A receipt could not be kept, so nothing more was sent.
    #[error("a receipt could not be kept: {0}")]
    NotKept(String),
    /// What the server sent is no book of seats that join as they should, or not the one that it sent before. The
    /// nonce is revealed only if every seat had committed before this entry.
    #[error("entry {seq} is not what it should be: {why}")]
    Untrue {
        /// The entry.
        seq: u64,
        /// Why.
        why: String,
    },
    /// The server ended the stream before every nonce was in.
    #[error("the stream of events ended before every nonce was in")]
    Ended,
}

impl Joiner {
    /// A seat with its nonce.
    pub const fn new(seat: u8, nonce: Nonce) -> Joiner {
        Joiner { seat, nonce, key: None, keep: None }
    }

    /// The same with a key of its own (Ed25519): `sign` answers its signature over the bytes given. With it, an
    /// operator who drops or alters what the seat sent is caught.
    #[must_use]
    pub fn signing(mut self, public_key: [u8; 32], sign: impl Fn(&[u8]) -> [u8; 64] + Send + Sync + 'static) -> Joiner {
        self.key = Some((public_key, Box::new(sign)));
        self
    }

    /// The same with a receipt asked for with each step and given to `keep`, which answers why it cannot keep it.
    /// A receipt shows later that the server had the step, also to who doubts it.
    #[must_use]
    pub fn keeping(mut self, keep: impl Fn(&v1::Receipt) -> Result<(), String> + Send + Sync + 'static) -> Joiner {
        self.keep = Some(Box::new(keep));
        self
    }

    /// What the seat promises in the game whose entry 1 has this digest.
    pub fn promise(&self, entry_1: &[u8; 32]) -> v1::NonceCommitment {
        let commitment = self.nonce.commitment(entry_1, self.seat);
        let (public_key, signature) = self
            .key
            .as_ref()
            .map_or_else(Default::default, |(key, sign)| (key.to_vec(), sign(&signed_bytes(entry_1, self.seat, &commitment)).to_vec()));
        v1::NonceCommitment { commitment: commitment.to_vec(), public_key, signature }
    }

    /// Commits, waits for the other seats, reveals, and waits until every nonce is in; answers the
    /// entry with the last one. What was done before is not done again.
    ///
    /// It waits as long as the game does: once the deadline of `Game.joining` is over, somebody calls
    /// [`Client::close_game`], and this ends with [`JoinError::Absent`].
    pub async fn join(&self, client: &Client, game_id: &str) -> Result<v1::Event, JoinError> {
        let mut events = client.events(game_id, 0);
        let mut pages = Pages::new(self.seat);
        while let Some(event) = events.next().await {
            let event = event?;
            match pages.turn(&event)? {
                News::Asked { entry_1 } => {
                    pages.expect(self.nonce.commitment(&entry_1, self.seat), self.key.as_ref().map(|(key, _)| *key));
                    self.send(client, game_id, Step::Commit(self.promise(&entry_1))).await?;
                }
                News::AllCommitted => self.send(client, game_id, Step::Reveal(self.nonce.0.to_vec())).await?,
                News::AllRevealed => return Ok(event),
                News::Other => {}
            }
        }
        Err(JoinError::Ended)
    }

    async fn send(&self, client: &Client, game_id: &str, step: Step) -> Result<(), JoinError> {
        let (game_id, seat, step) = (game_id.to_owned(), Some(u32::from(self.seat)), Some(step));
        let request = v1::JoinGameRequest { game_id, seat, step, with_receipt: self.keep.is_some(), ..Default::default() };
        let answer = match client.join_game(request).await {
            // Then the book tells, further on, what was done.
            Err(Error::Refused(refused)) if done_before(&refused) => return Ok(()),
            answer => answer?,
        };
        match (&self.keep, &answer.receipt) {
            (Some(keep), Some(receipt)) => keep(receipt).map_err(JoinError::NotKept),
            _ => Ok(()),
        }
    }
}

fn done_before(refused: &Refused) -> bool {
    let twice = refused.is(ErrorReason::JoinNotAllowed) && refused.metadata.get("cause").is_some_and(|cause| cause == "ALREADY_DONE");
    twice || refused.is(ErrorReason::GameFinished)
}

fn promised(entry_1: &[u8; 32], seat: u8, nonce: &[u8]) -> [u8; 32] {
    hashed(&[b"plybook-nonce/1", entry_1, &u16::from(seat).to_be_bytes(), nonce])
}

fn hashed(parts: &[&[u8]]) -> [u8; 32] {
    let mut hash = Sha256::new();
    parts.iter().for_each(|part| hash.update(part));
    hash.finalize().into()
}
