//! Nonces that the seats add to the seed: each committed to before any is revealed.
//!
//! The order is the proof. The service's commitment stands in the header; then every seat commits to
//! a nonce, with a signature of its own key if it likes; then the seats reveal; then the first die is
//! thrown. Who reveals last knows every nonce, but not the seed; who knows the seed knows no nonce
//! when the seats commit.
//!
//! Invariants: no nonce is revealed before every seat has committed, and none is exchanged after
//! that; deciding and folding ask the same questions here (`proto/book-format.md`, section 3).

mod packed;

use crate::digest::Digest;
use crate::limits::{NONCE_BYTES_MAX, NONCE_BYTES_MIN};
use crate::outcome::{Outcome, Reason};
use crate::receipt::PublicKey;
use crate::seat::{Seat, SeatSet};
use crate::time::Time;

/// What the header asks of the seats before the first throw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Joint {
    /// How long the seats have to commit, and from then on to reveal, in seconds.
    pub seconds: u32,
    /// What becomes of the game if one of them does not.
    pub if_absent: IfAbsent,
}

/// What becomes of a game in which a seat does not do its part of joining in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IfAbsent {
    /// The game is broken off and has no result.
    Abort,
    /// The seats that did their part win together; if there are none, the game has no result.
    Forfeit,
}

/// A seat's promise of a nonce.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// [`commitment`] of the nonce.
    pub commitment: Digest,
    /// The seat's own key and its signature over [`signed_bytes`], if it has a key.
    pub signed: Option<SeatSignature>,
}

/// A seat's own key and what it signed with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeatSignature {
    /// Ed25519, 32 bytes.
    pub key: [u8; 32],
    /// Its signature, 64 bytes.
    pub signature: [u8; 64],
}

/// SHA-256("plybook-nonce/1" ‖ header digest ‖ seat u16 ‖ nonce): what a seat commits to. The header
/// is in it, so nobody can commit before the service has; the seat is, so that nobody can copy another's.
pub fn commitment(header: &Digest, seat: Seat, nonce: &[u8]) -> Digest {
    Digest::of_parts(&[b"plybook-nonce/1", &header.0, &u16::from(seat.0).to_be_bytes(), nonce])
}

/// What a seat signs: "plybook-commit/1" ‖ header digest ‖ seat u16 ‖ commitment.
pub fn signed_bytes(header: &Digest, seat: Seat, commitment: &Digest) -> [u8; 82] {
    let mut bytes = [0; 82];
    bytes[..16].copy_from_slice(b"plybook-commit/1");
    bytes[16..48].copy_from_slice(&header.0);
    bytes[48..50].copy_from_slice(&u16::from(seat.0).to_be_bytes());
    bytes[50..].copy_from_slice(&commitment.0);
    bytes
}

/// What the seats have to do now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Commit to a nonce.
    Commit,
    /// Reveal it.
    Reveal,
    /// Nothing: all nonces are in.
    Play,
}

impl Step {
    /// The word in the contract.
    pub const fn code(self) -> &'static str {
        match self {
            Step::Commit => "COMMIT",
            Step::Reveal => "REVEAL",
            Step::Play => "PLAY",
        }
    }
}

/// Why a step of joining is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JoinRefusal {
    /// The game asks for no nonces.
    #[error("the game asks the seats for no nonces")]
    NotJoint,
    /// The seat did this before. What was committed or revealed is never exchanged.
    #[error("the seat has done this step before")]
    AlreadyDone,
    /// Some seat has not committed yet.
    #[error("a nonce is revealed after every seat has committed")]
    TooEarly,
    /// The time for it is over.
    #[error("the time for this step is over")]
    TooLate,
    /// Too short or too long.
    #[error("a nonce has {NONCE_BYTES_MIN} to {NONCE_BYTES_MAX} bytes")]
    NonceSize,
    /// It is not the one committed to.
    #[error("the nonce is not the one that the seat has committed to")]
    NonceMismatch,
    /// These bytes are no Ed25519 public key, or a weak one.
    #[error("the seat's key is no Ed25519 public key")]
    BadKey,
    /// The key did not sign this commitment for this seat of this game.
    #[error("the signature is not that of the seat's key over this commitment")]
    BadSignature,
}

impl JoinRefusal {
    /// The word in the contract.
    pub const fn code(self) -> &'static str {
        match self {
            JoinRefusal::NotJoint => "NOT_JOINT",
            JoinRefusal::AlreadyDone => "ALREADY_DONE",
            JoinRefusal::TooEarly => "TOO_EARLY",
            JoinRefusal::TooLate => "TOO_LATE",
            JoinRefusal::NonceSize => "NONCE_SIZE",
            JoinRefusal::NonceMismatch => "NONCE_MISMATCH",
            JoinRefusal::BadKey => "BAD_KEY",
            JoinRefusal::BadSignature => "BAD_SIGNATURE",
        }
    }
}

/// How far the seats are in joining.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Joining {
    rule: Joint,
    header: Digest,
    /// When the present step began.
    since: Time,
    commits: Vec<Option<Commit>>,
    nonces: Vec<Option<Vec<u8>>>,
}

impl Joining {
    /// Nobody has committed. `header` is the digest of entry 1, `created` its time.
    pub fn new(rule: Joint, header: Digest, created: Time, seats: u8) -> Joining {
        let seats = usize::from(seats);
        Joining { rule, header, since: created, commits: vec![None; seats], nonces: vec![None; seats] }
    }

    /// What the seats have to do now.
    pub fn step(&self) -> Step {
        match (self.commits.contains(&None), self.nonces.contains(&None)) {
            (true, _) => Step::Commit,
            (false, true) => Step::Reveal,
            (false, false) => Step::Play,
        }
    }

    /// The seats that have yet to do it.
    pub fn waiting(&self) -> SeatSet {
        let absent = |seat: usize| match self.step() {
            Step::Commit => self.commits[seat].is_none(),
            Step::Reveal => self.nonces[seat].is_none(),
            Step::Play => false,
        };
        (0..self.commits.len()).filter(|seat| absent(*seat)).map(|seat| Seat(seat as u8)).collect()
    }

    /// The last moment of the present step.
    pub const fn deadline(&self) -> Time {
        Time::from_unix_ms(self.since.unix_ms().saturating_add(self.rule.seconds as u64 * 1000))
    }

    /// The seats whose commitment their own key has signed.
    pub fn signed(&self) -> SeatSet {
        let signs = |commit: &Option<Commit>| commit.as_ref().is_some_and(|commit| commit.signed.is_some());
        (0..self.commits.len()).filter(|seat| signs(&self.commits[*seat])).map(|seat| Seat(seat as u8)).collect()
    }

    /// What each seat committed to, in seat order.
    pub fn commits(&self) -> &[Option<Commit>] {
        &self.commits
    }

    /// The nonces revealed, in seat order.
    pub fn nonces(&self) -> &[Option<Vec<u8>>] {
        &self.nonces
    }

    /// Whether `seat`, one of the table's, may commit to this at this time.
    pub fn check_commit(&self, seat: Seat, commit: &Commit, at: Time) -> Result<(), JoinRefusal> {
        if self.commits[seat.index()].is_some() {
            return Err(JoinRefusal::AlreadyDone);
        }
        if at > self.deadline() {
            return Err(JoinRefusal::TooLate);
        }
        let Some(signed) = &commit.signed else { return Ok(()) };
        let key = PublicKey::from_bytes(&signed.key).map_err(|_| JoinRefusal::BadKey)?;
        let bytes = signed_bytes(&self.header, seat, &commit.commitment);
        if key.signed(&bytes, &signed.signature) { Ok(()) } else { Err(JoinRefusal::BadSignature) }
    }

    /// Whether `seat`, one of the table's, may reveal this nonce at this time.
    pub fn check_reveal(&self, seat: Seat, nonce: &[u8], at: Time) -> Result<(), JoinRefusal> {
        if !(NONCE_BYTES_MIN..=NONCE_BYTES_MAX).contains(&nonce.len()) {
            return Err(JoinRefusal::NonceSize);
        }
        if self.nonces[seat.index()].is_some() {
            return Err(JoinRefusal::AlreadyDone);
        }
        let promised = match (self.step(), &self.commits[seat.index()]) {
            (Step::Reveal, Some(commit)) => commit.commitment,
            _ => return Err(JoinRefusal::TooEarly),
        };
        if at > self.deadline() {
            return Err(JoinRefusal::TooLate);
        }
        if commitment(&self.header, seat, nonce) == promised { Ok(()) } else { Err(JoinRefusal::NonceMismatch) }
    }

    /// Notes a commitment that was checked.
    pub(crate) fn commit(&mut self, seat: Seat, commit: Commit, at: Time) {
        assert!(self.commits[seat.index()].is_none(), "a seat commits once");
        self.commits[seat.index()] = Some(commit);
        if self.step() != Step::Commit {
            self.since = at;
        }
    }

    /// Notes a nonce that was checked.
    pub(crate) fn reveal(&mut self, seat: Seat, nonce: Vec<u8>) {
        assert!(self.nonces[seat.index()].is_none(), "a seat reveals once");
        self.nonces[seat.index()] = Some(nonce);
    }

    /// Whether `seat` is the only one that is waited for.
    pub(crate) fn completes(&self, seat: Seat) -> bool {
        self.step() == Step::Reveal && self.waiting() == SeatSet::only(seat)
    }

    /// How the game ends now that the waiting seats have let the time pass.
    pub fn absence(&self) -> Outcome {
        let absent = self.waiting();
        let present: SeatSet = SeatSet::all(self.commits.len() as u8).iter().filter(|seat| !absent.contains(*seat)).collect();
        let reason = Reason::new("absent");
        match self.rule.if_absent {
            IfAbsent::Forfeit if !present.is_empty() => Outcome::wins(present, reason),
            IfAbsent::Forfeit | IfAbsent::Abort => Outcome::void(reason),
        }
    }
}
