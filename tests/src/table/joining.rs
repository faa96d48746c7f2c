//! Games that ask their seats for nonces.
//!
//! Invariant: where nothing else is said, a seat's nonce is the same in every run.

use ed25519_dalek::{Signer as _, SigningKey};
use plybook_core::entropy::{Commit, IfAbsent, Joint, SeatSignature, commitment, signed_bytes};
use plybook_core::game::Ask;
use plybook_core::header::Entropy;
use plybook_core::{Seat, Time};

use super::Table;
use crate::random::Random;

/// The nonce of a seat of the tests: 16 bytes, one seat's unlike another's.
pub fn nonce(seat: u8) -> Vec<u8> {
    vec![0xa0 + seat; 16]
}

impl Table {
    /// Every seat is asked for a nonce, with so many seconds for each step.
    pub fn joint(mut self, seconds: u32, if_absent: IfAbsent) -> Table {
        self.laying_out();
        self.entropy = Entropy::Joint(Joint { seconds, if_absent });
        self
    }

    /// What `seat` promises by its [`nonce`].
    pub fn promise(&self, seat: u8) -> Commit {
        self.promise_of(seat, &nonce(seat), None)
    }

    /// `seat` commits to its [`nonce`].
    #[track_caller]
    pub fn commit(mut self, seat: u8) -> Table {
        let promise = self.promise(seat);
        self.must(Some(Seat(seat)), Ask::Commit(promise));
        self
    }

    /// `seat` commits to its [`nonce`] and signs that with a key of its own.
    #[track_caller]
    pub fn commit_signed(mut self, seat: u8, key: [u8; 32]) -> Table {
        let promise = self.promise_of(seat, &nonce(seat), Some(key));
        self.must(Some(Seat(seat)), Ask::Commit(promise));
        self
    }

    fn promise_of(&self, seat: u8, nonce: &[u8], key: Option<[u8; 32]>) -> Commit {
        let (header, seat) = (self.header().digest(), Seat(seat));
        let commitment = commitment(&header, seat, nonce);
        let sign = |key: [u8; 32]| {
            let key = SigningKey::from_bytes(&key);
            let signature = key.sign(&signed_bytes(&header, seat, &commitment)).to_bytes();
            SeatSignature { key: key.verifying_key().to_bytes(), signature }
        };
        Commit { commitment, signed: key.map(sign) }
    }

    /// `seat` reveals its [`nonce`].
    #[track_caller]
    pub fn reveal(mut self, seat: u8) -> Table {
        self.must(Some(Seat(seat)), Ask::Reveal(nonce(seat)));
        self
    }

    /// `seat` asks for whatever it is, and gets it.
    #[track_caller]
    pub fn asks(mut self, seat: Option<Seat>, ask: Ask) -> Table {
        self.must(seat, ask);
        self
    }

    /// Every seat commits, and every seat reveals.
    #[track_caller]
    pub fn joined(mut self) -> Table {
        for seat in 0..self.seats {
            self = self.commit(seat);
        }
        for seat in 0..self.seats {
            self = self.reveal(seat);
        }
        self
    }

    /// The seats join in any order with any nonces, some with keys of their own; sometimes one never does
    /// and the game is closed, more than `seconds` after the last entry. `at` sees the table after every entry.
    pub fn joined_at_random(mut self, seconds: u64, random: &mut Random, mut at: impl FnMut(&Table)) -> Table {
        let mut nonces = Vec::new();
        for _ in 0..self.seats {
            let bytes = random.from_to(16, 64);
            nonces.push((0..bytes).map(|_| random.bits() as u8).collect::<Vec<u8>>());
        }
        for revealing in [false, true] {
            let mut waiting: Vec<u8> = (0..self.seats).collect();
            while !waiting.is_empty() {
                if random.once_in(40) {
                    self = self.later(seconds + 1).close();
                    at(&self);
                    return self;
                }
                let seat = waiting.swap_remove(random.below(waiting.len() as u64) as usize);
                let nonce = &nonces[usize::from(seat)];
                let key = random.once_in(3).then(|| random.bytes());
                let ask = if revealing { Ask::Reveal(nonce.clone()) } else { Ask::Commit(self.promise_of(seat, nonce, key)) };
                self.must(Some(Seat(seat)), ask);
                at(&self);
            }
        }
        self
    }

    /// The next request comes so late after the last entry.
    pub fn later(mut self, seconds: u64) -> Table {
        let started = self.playing();
        started.now = Time::from_unix_ms(started.game.head().time.unix_ms() + 1000 * seconds);
        self
    }
}
