//! Games that ask their seats for nonces.

use plybook_core::entropy::{Commit, IfAbsent, Joint, commitment};
use plybook_core::game::Ask;
use plybook_core::header::Entropy;
use plybook_core::{Seat, Time};

use super::Table;

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
        Commit { commitment: commitment(&self.header().digest(), Seat(seat), &nonce(seat)), signed: None }
    }

    /// `seat` commits to its [`nonce`].
    #[track_caller]
    pub fn commit(mut self, seat: u8) -> Table {
        let promise = self.promise(seat);
        self.must(Some(Seat(seat)), Ask::Commit(promise));
        self
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

    /// The next request comes so late after the last entry.
    pub fn later(mut self, seconds: u64) -> Table {
        let started = self.playing();
        started.now = Time::from_unix_ms(started.game.head().time.unix_ms() + 1000 * seconds);
        self
    }
}
