//! The book as a seat reads it while it joins.
//!
//! Invariant: only the text of a line is believed, and only if the digest over it and all before it is
//! the one that was sent: so a server cannot show one book now and another one later.

use plybook_proto::v1;

use super::{JoinError, hashed};

/// What an entry means to a seat that joins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum News {
    /// The game asks for nonces; its entry 1 has this digest.
    Asked { entry_1: [u8; 32] },
    /// Every seat has committed, and this seat to what is expected of it.
    AllCommitted,
    /// Every nonce is in.
    AllRevealed,
    /// Nothing to do.
    Other,
}

/// What was read so far.
#[derive(Debug)]
pub(super) struct Pages {
    seat: u8,
    expected: Option<[u8; 32]>,
    digest: [u8; 32],
    committed: Vec<bool>,
    revealed: Vec<bool>,
}

impl Pages {
    /// Nothing, for this seat.
    pub(super) const fn new(seat: u8) -> Pages {
        Pages { seat, expected: None, digest: [0; 32], committed: Vec::new(), revealed: Vec::new() }
    }

    /// What this seat's commitment must be.
    pub(super) fn expect(&mut self, commitment: [u8; 32]) {
        self.expected = Some(commitment);
    }

    /// The next entry.
    pub(super) fn turn(&mut self, event: &v1::Event) -> Result<News, JoinError> {
        let untrue = |why: &str| JoinError::Untrue { seq: event.seq, why: why.to_owned() };
        let before: &[u8] = if event.seq == 1 { &[] } else { &self.digest };
        self.digest = hashed(&[before, event.line.as_bytes()]);
        if event.book_digest != self.digest {
            return Err(untrue("its digest is not that of its text and all before it"));
        }
        if event.seq == 1 {
            return self.open(&event.line);
        }
        let words: Vec<&str> = event.line.split(' ').collect();
        let [number, _, actor, ask, given, ..] = words[..] else { return Ok(News::Other) };
        if number.parse() != Ok(event.seq) {
            return Err(untrue("its text has another number"));
        }
        let seat = actor.split(':').next().and_then(|seat| seat.parse::<u8>().ok());
        let place = seat.map(usize::from).filter(|seat| *seat < self.committed.len());
        match (ask, place) {
            ("commit", Some(place)) => {
                self.committed[place] = true;
                self.check_own(place, given)?;
                Ok(if self.committed.contains(&false) { News::Other } else { News::AllCommitted })
            }
            ("reveal", Some(_)) if self.committed.contains(&false) => Err(untrue("a nonce is revealed before every seat has committed")),
            ("reveal", Some(place)) => {
                self.revealed[place] = true;
                Ok(if self.revealed.contains(&false) { News::Other } else { News::AllRevealed })
            }
            ("absent", None) => Err(JoinError::Absent(given.split(',').filter_map(|seat| seat.parse().ok()).collect())),
            _ => Ok(News::Other),
        }
    }

    fn open(&mut self, header: &str) -> Result<News, JoinError> {
        let seats = header.lines().filter(|line| line.starts_with("seat ")).count();
        if usize::from(self.seat) >= seats || !header.lines().any(|line| line.starts_with("entropy joint ")) {
            return Err(JoinError::NotAsked(self.seat));
        }
        (self.committed, self.revealed) = (vec![false; seats], vec![false; seats]);
        Ok(News::Asked { entry_1: self.digest })
    }

    fn check_own(&self, place: usize, given: &str) -> Result<(), JoinError> {
        let hex = |bytes: [u8; 32]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        if place == usize::from(self.seat) && self.expected.map(hex).as_deref() != Some(given) {
            return Err(JoinError::OtherNonce(self.seat));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;

    /// A book of two seats that grows line by line.
    struct Written(Pages, [u8; 32], u64);

    impl Written {
        fn with(header: &str) -> (Written, Result<News, JoinError>) {
            let mut written = Written(Pages::new(0), [0; 32], 0);
            let opened = written.line(header);
            written.0.expect([7; 32]);
            (written, opened)
        }

        fn joint() -> Written {
            let (written, opened) = Written::with("plybook 1\nseat 0 \"X\" \"\"\nseat 1 \"O\" \"\"\nentropy joint 60 abort");
            assert_eq!(opened, Ok(News::Asked { entry_1: written.1 }));
            written
        }

        fn event(&mut self, line: &str) -> v1::Event {
            self.2 += 1;
            let before: &[u8] = if self.2 == 1 { &[] } else { &self.1 };
            self.1 = hashed(&[before, line.as_bytes()]);
            v1::Event { seq: self.2, line: line.to_owned(), book_digest: self.1.to_vec(), ..Default::default() }
        }

        fn line(&mut self, line: &str) -> Result<News, JoinError> {
            let event = self.event(line);
            self.0.turn(&event)
        }
    }

    fn own() -> String {
        "07".repeat(32)
    }

    #[test]
    fn a_seat_reveals_after_all_have_committed() {
        let mut book = Written::joint();
        assert_eq!(book.line(&format!("2 t 0:a commit {}", own())), Ok(News::Other));
        assert_eq!(book.line("3 t 1:a commit 00 key=1 sig=2"), Ok(News::AllCommitted));
        assert_eq!(book.line("4 t 1:a reveal 00"), Ok(News::Other));
        assert_eq!(book.line("5 t 0:a reveal 00 next=0"), Ok(News::AllRevealed));
        assert_eq!(book.line("6 t 0:a move roll ply=1"), Ok(News::Other));
    }

    #[test]
    fn what_is_not_as_it_should_be_is_told_before_anything_is_revealed() {
        let untrue = |answer: Result<News, JoinError>| matches!(answer, Err(JoinError::Untrue { .. }));
        assert_eq!(Written::joint().line("2 t 0:a commit 08"), Err(JoinError::OtherNonce(0)));
        assert!(untrue(Written::joint().line("2 t 1:a reveal 00")));
        assert!(untrue(Written::joint().line("3 t 1:a commit 00")));
        assert_eq!(Written::joint().line("2 t -:a absent 0,1 void=yes reason=absent seed=00"), Err(JoinError::Absent(vec![0, 1])));
        let mut book = Written::joint();
        let event = book.event(&format!("2 t 0:a commit {}", own()));
        let other = v1::Event { line: event.line.replace("0:a", "1:a"), ..event };
        assert!(untrue(book.0.turn(&other)), "the text is not the one under the digest");
        for header in ["seat 0 \"X\" \"\"", "entropy joint 60 abort"] {
            assert_eq!(Written::with(header).1, Err(JoinError::NotAsked(0)), "{header}");
        }
    }
}
