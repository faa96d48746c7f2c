//! The book as a seat reads it while it joins.
//!
//! Invariant: only the text of a line is believed, and only if the digest over it and all before it is
//! the one that was sent: so a server cannot show one book now and another one later.

use plybook_proto::v1;

use super::{JoinError, hashed, promised};

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
    expected: Option<Own>,
    digest: [u8; 32],
    entry_1: [u8; 32],
    /// What each seat has committed to, in hexadecimal digits.
    committed: Vec<Option<String>>,
    revealed: Vec<bool>,
}

/// What this seat's own commitment says.
#[derive(Debug)]
struct Own {
    commitment: [u8; 32],
    /// The key that signs it, if one does.
    key: Option<[u8; 32]>,
}

impl Pages {
    /// Nothing, for this seat.
    pub(super) const fn new(seat: u8) -> Pages {
        Pages { seat, expected: None, digest: [0; 32], entry_1: [0; 32], committed: Vec::new(), revealed: Vec::new() }
    }

    /// What this seat's commitment must be, and whose signature stands beside it.
    pub(super) fn expect(&mut self, commitment: [u8; 32], key: Option<[u8; 32]>) {
        self.expected = Some(Own { commitment, key });
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
        let [number, _, actor, ask, given, ref facts @ ..] = words[..] else { return Ok(News::Other) };
        if number.parse() != Ok(event.seq) {
            return Err(untrue("its text has another number"));
        }
        let seat = actor.split(':').next().and_then(|seat| seat.parse::<u8>().ok());
        let place = seat.map(usize::from).filter(|seat| *seat < self.committed.len());
        match (ask, place) {
            ("commit", Some(place)) => {
                if self.committed[place].replace(given.to_owned()).is_some() {
                    return Err(untrue("a seat commits for the second time"));
                }
                self.check_own(place, given, facts)?;
                Ok(if self.committed.contains(&None) { News::Other } else { News::AllCommitted })
            }
            ("reveal", Some(_)) if self.committed.contains(&None) => Err(untrue("a nonce is revealed before every seat has committed")),
            ("reveal", Some(place)) => {
                if std::mem::replace(&mut self.revealed[place], true) {
                    return Err(untrue("a seat reveals for the second time"));
                }
                if !self.keeps_its_word(place, given) {
                    return Err(untrue("the nonce is not the one that its seat has committed to"));
                }
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
        (self.committed, self.revealed, self.entry_1) = (vec![None; seats], vec![false; seats], self.digest);
        Ok(News::Asked { entry_1: self.digest })
    }

    /// A commitment that lost its signature on the way proves nothing against whoever took it off.
    fn check_own(&self, place: usize, given: &str, facts: &[&str]) -> Result<(), JoinError> {
        if place != usize::from(self.seat) {
            return Ok(());
        }
        let Some(own) = self.expected.as_ref().filter(|own| hex(&own.commitment) == given) else {
            return Err(JoinError::OtherNonce(self.seat));
        };
        match own.key.map(|key| format!("key={}", hex(&key))) {
            Some(key) if !facts.contains(&key.as_str()) => Err(JoinError::Unsigned(self.seat)),
            _ => Ok(()),
        }
    }

    fn keeps_its_word(&self, place: usize, nonce: &str) -> bool {
        let word = |nonce: Vec<u8>| hex(&promised(&self.entry_1, place as u8, &nonce));
        self.committed[place].is_some() && self.committed[place] == unhex(nonce).map(word)
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(digits: &str) -> Option<Vec<u8>> {
    let whole = digits.len().is_multiple_of(2) && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    let byte = |at: usize| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
    if whole { (0..digits.len()).step_by(2).map(byte).collect() } else { None }
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
            written.0.expect(promised(&written.1, 0, &NONCES[0]), None);
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

    const NONCES: [[u8; 16]; 2] = [[7; 16], [8; 16]];

    /// What both seats commit to.
    fn words(book: &Written) -> [String; 2] {
        [0, 1].map(|seat| hex(&promised(&book.0.entry_1, seat, &NONCES[usize::from(seat)])))
    }

    #[test]
    fn a_seat_reveals_after_all_have_committed() {
        let mut book = Written::joint();
        let words = words(&book);
        assert_eq!(book.line(&format!("2 t 0:a commit {}", words[0])), Ok(News::Other));
        assert_eq!(book.line(&format!("3 t 1:a commit {} key=1 sig=2", words[1])), Ok(News::AllCommitted));
        assert_eq!(book.line(&format!("4 t 1:a reveal {}", hex(&NONCES[1]))), Ok(News::Other));
        assert_eq!(book.line(&format!("5 t 0:a reveal {} next=0", hex(&NONCES[0]))), Ok(News::AllRevealed));
        assert_eq!(book.line("6 t 0:a move roll ply=1"), Ok(News::Other));
    }

    fn untrue(answer: Result<News, JoinError>) -> bool {
        matches!(answer, Err(JoinError::Untrue { .. }))
    }

    #[test]
    fn what_is_not_as_it_should_be_is_told_before_anything_is_revealed() {
        assert_eq!(Written::joint().line("2 t 0:a commit 08"), Err(JoinError::OtherNonce(0)));
        assert!(untrue(Written::joint().line("2 t 1:a reveal 00")));
        assert!(untrue(Written::joint().line("3 t 1:a commit 00")));
        assert_eq!(Written::joint().line("2 t -:a absent 0,1 void=yes reason=absent seed=00"), Err(JoinError::Absent(vec![0, 1])));
        let mut book = Written::joint();
        let event = book.event(&format!("2 t 0:a commit {}", words(&book)[0]));
        let other = v1::Event { line: event.line.replace("0:a", "1:a"), ..event };
        assert!(untrue(book.0.turn(&other)), "the text is not the one under the digest");
        for header in ["seat 0 \"X\" \"\"", "entropy joint 60 abort"] {
            assert_eq!(Written::with(header).1, Err(JoinError::NotAsked(0)), "{header}");
        }
    }

    #[test]
    fn a_seat_that_signs_finds_its_key_in_the_book_or_reveals_nothing() {
        let key = [9; 32];
        for (facts, signed) in [
            (format!(" key={} sig=00", hex(&key)), true),
            (String::new(), false),
            (format!(" key={} sig=00", hex(&[8; 32])), false),
            (format!(" sig={}", hex(&key)), false),
        ] {
            let mut book = Written::joint();
            let word = words(&book)[0].clone();
            book.0.expect(promised(&book.1, 0, &NONCES[0]), Some(key));
            let want = if signed { Ok(News::Other) } else { Err(JoinError::Unsigned(0)) };
            assert_eq!(book.line(&format!("2 t 0:a commit {word}{facts}")), want, "{facts:?}");
        }
    }

    #[test]
    fn a_seat_that_takes_its_word_back_is_told() {
        let committed = || {
            let mut book = Written::joint();
            let [own, other] = words(&book);
            book.line(&format!("2 t 0:a commit {own}")).unwrap();
            book.line(&format!("3 t 1:a commit {other}")).unwrap();
            book
        };
        assert!(untrue(committed().line(&format!("4 t 1:a commit {}", hex(&[1; 32])))));
        for nonce in [hex(&[1; 16]), hex(&NONCES[0]), hex(&NONCES[1][1..]), String::from("0"), String::from("é"), String::from("0é8")] {
            assert!(untrue(committed().line(&format!("4 t 1:a reveal {nonce}"))), "{nonce:?}");
        }
        let mut book = committed();
        book.line(&format!("4 t 1:a reveal {}", hex(&NONCES[1]))).unwrap();
        assert!(untrue(book.line(&format!("5 t 1:a reveal {}", hex(&NONCES[1])))));
    }
}
