//! Checks a whole book: that nothing was added, removed or altered, and that all of it follows.
//!
//! Checked are the form, every digest, legality under the pinned rules, changes, turn order, times,
//! outcome, the seed against its commitment, and every face against the seed; and the signature over the
//! head, where there is one and its public key was given. What no book alone can show is that it was not
//! written anew from its first entry on: only a signature, a receipt or a digest taken earlier does.
//!
//! Invariant: one path checks files and stored games; on any input it answers, and never panics.

use std::fmt;
use std::sync::Arc;

use crate::book::{Book, BookError};
use crate::dice::{Dice, Face, Seed, Throw};
use crate::digest::Digest;
use crate::entry::{Body, Entry};
use crate::game::{Fault, FoldError, Game, Head, State};
use crate::header::{Header, SeedFrom};
use crate::outcome::Outcome;
use crate::receipt::{KeyId, PublicKeys, Unproved};
use crate::rules::Rules;
use crate::seat::{Seat, SeatSet};
use crate::seq::Seq;

/// Where the rules that a header pins are found.
pub trait Rulebook {
    /// The rules, or a sentence that says why there are none.
    fn rules_of(&self, header: &Header) -> Result<Arc<dyn Rules>, String>;
}

/// What a whole book shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The header.
    pub header: Header,
    /// Number of entries.
    pub entries: u32,
    /// Digest of the last entry.
    pub digest: Digest,
    /// What may still happen.
    pub state: State,
    /// How the game ended, if it did.
    pub outcome: Option<Outcome>,
    /// Throws checked or still to be checked, those that were taken back included.
    pub throws: u64,
    /// What may be claimed of the dice.
    pub dice: DiceClaim,
    /// Who signed the head.
    pub signed: Signed,
}

/// Who signed a book's head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signed {
    /// Nobody.
    No,
    /// A key that was not given: this proves nothing to who checks.
    UnknownKey(KeyId),
    /// The key with this id.
    By(KeyId),
}

/// What may be claimed of a book's dice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiceClaim {
    /// Nothing was thrown.
    NoThrows,
    /// The seed is not revealed yet: the faces are possible, and that is all that is known.
    NotRevealed,
    /// The dice were fixed before the first throw and not changed. The service chose the seed alone.
    FixedByService,
    /// The same, but the caller chose the seed, and could know every face in advance.
    FixedByCaller,
    /// Drawn from the seed and a nonce of every seat, each committed to before any was revealed.
    FixedJointly {
        /// Who chose the seed, before the seats committed.
        seed_from: SeedFrom,
        /// The seats whose own keys signed what they committed to.
        signed: SeatSet,
    },
}

impl fmt::Display for DiceClaim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            DiceClaim::FixedJointly { seed_from, signed } => return write_joint(f, *seed_from, *signed),
            DiceClaim::NoThrows => "nothing was thrown",
            DiceClaim::NotRevealed => "the seed is not revealed yet, so the faces cannot be checked",
            DiceClaim::FixedByService => "the dice were fixed before the first throw and not changed; the service chose the seed alone",
            DiceClaim::FixedByCaller => {
                "the dice were fixed before the first throw and not changed; the caller chose the seed and could know every face"
            }
        };
        f.write_str(text)
    }
}

fn write_joint(f: &mut fmt::Formatter<'_>, seed_from: SeedFrom, signed: SeatSet) -> fmt::Result {
    let whose = match seed_from {
        SeedFrom::Service => "the service's",
        SeedFrom::Caller => "the caller's",
    };
    write!(f, "the dice were drawn from {whose} seed and a nonce of every seat, each committed to before any was revealed; ")?;
    if signed.is_empty() {
        return f.write_str("no seat signed with a key of its own, so only who kept a nonce knows that it is the one sent");
    }
    write!(f, "signed by the own keys of seats {signed}")
}

/// The first thing that is wrong with a book.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{why}", place(self))]
pub struct Wrong {
    /// Line of the file, from 1, where the book came as a file and its form is wrong.
    pub line: Option<usize>,
    /// The first wrong entry, where it is one.
    pub seq: Option<Seq>,
    /// What is wrong with it.
    pub fault: Fault,
    /// What it claims, and what the rules say.
    pub why: String,
}

fn place(wrong: &Wrong) -> String {
    match (wrong.line, wrong.seq) {
        (Some(line), Some(seq)) => format!("line {line}, entry {seq}: "),
        (Some(line), None) => format!("line {line}: "),
        (None, Some(seq)) => format!("entry {seq}: "),
        (None, None) => String::new(),
    }
}

impl From<BookError> for Wrong {
    fn from(error: BookError) -> Wrong {
        Wrong { line: Some(error.line), seq: error.seq, fault: Fault::Form, why: error.why }
    }
}

/// Checks the text of a `.ply` file without anybody's public key.
pub fn verify(file: &str, rulebook: &dyn Rulebook) -> Result<Report, Wrong> {
    verify_signed(file, rulebook, &PublicKeys::default())
}

/// Checks the text of a `.ply` file, and its signature if one of these keys made it.
pub fn verify_signed(file: &str, rulebook: &dyn Rulebook, keys: &PublicKeys) -> Result<Report, Wrong> {
    let book = Book::parse(file)?;
    let mut verifier = Verifier::new(book.header().clone(), rulebook)?;
    for link in book.lines() {
        verifier.follow(&link.text, link.digest)?;
    }
    // Last: a wrong entry says more than a signature that is wrong because of it.
    let report = verifier.finish()?;
    Ok(Report { signed: signed(file, &book, keys)?, ..report })
}

fn signed(file: &str, book: &Book, keys: &PublicKeys) -> Result<Signed, Wrong> {
    let Some(signature) = book.signature() else { return Ok(Signed::No) };
    match signature.check(&book.head(), keys) {
        Ok(()) => Ok(Signed::By(signature.key_id)),
        Err(Unproved::UnknownKey(id)) => Ok(Signed::UnknownKey(id)),
        Err(wrong @ Unproved::Wrong(_)) => {
            Err(Wrong { line: Some(file.lines().count()), seq: None, fault: Fault::Digest, why: wrong.to_string() })
        }
    }
}

/// A check under way, entry by entry.
#[derive(Debug)]
pub struct Verifier {
    game: Game,
    throws: Vec<Thrown>,
    seed: Option<(Seq, Seed)>,
}

/// A throw as the book shows it.
#[derive(Debug)]
struct Thrown {
    seq: Seq,
    draw: u64,
    seat: Seat,
    throw: Throw,
    faces: Vec<Face>,
}

impl Verifier {
    /// Begins with entry 1.
    pub fn new(header: Header, rulebook: &dyn Rulebook) -> Result<Verifier, Wrong> {
        let rules = rulebook.rules_of(&header).map_err(|why| wrong(Seq::FIRST, why))?;
        Ok(Verifier { game: Game::new(header, rules), throws: Vec::new(), seed: None })
    }

    /// The last entry found right.
    pub const fn head(&self) -> Head {
        self.game.head()
    }

    /// Checks the next line with its stored digest. After a wrong one nothing more can be said.
    pub fn follow(&mut self, line: &str, digest: Digest) -> Result<(), Wrong> {
        let draw = self.game.position().throws();
        let entry =
            self.game.apply_line(line, digest).map_err(|FoldError { seq, fault, why }| Wrong { line: None, seq: Some(seq), fault, why })?;
        if let Some(thrown) = self.thrown(&entry, draw) {
            self.throws.push(thrown);
        }
        if let Some(seed) = entry.seed {
            self.seed = Some((entry.seq, seed));
        }
        Ok(())
    }

    /// Checks what needs the whole book, and says what it shows.
    pub fn finish(self) -> Result<Report, Wrong> {
        if let Some((_, seed)) = &self.seed {
            let dice = self.game.dice(seed.clone());
            self.throws.iter().try_for_each(|thrown| thrown.check(&dice))?;
        }
        let header = self.game.header();
        if (self.game.standing().len() as u32) < header.given() {
            let why = format!("the game begins with {} moves given to it, and this one is missing", header.given());
            return Err(wrong(self.game.head().seq.next(), why));
        }
        let joined = self.game.joining().map(|joining| joining.signed());
        let dice = match (self.throws.is_empty(), &self.seed, header.seed_from) {
            (true, _, _) => DiceClaim::NoThrows,
            (false, None, _) => DiceClaim::NotRevealed,
            (false, Some(_), seed_from) if joined.is_some() => DiceClaim::FixedJointly { seed_from, signed: joined.unwrap_or_default() },
            (false, Some(_), SeedFrom::Service) => DiceClaim::FixedByService,
            (false, Some(_), SeedFrom::Caller) => DiceClaim::FixedByCaller,
        };
        Ok(Report {
            header: header.clone(),
            entries: self.game.head().seq.0,
            digest: self.game.head().digest,
            state: self.game.state(),
            outcome: self.game.outcome().cloned(),
            throws: self.throws.len() as u64,
            dice,
            signed: Signed::No,
        })
    }

    fn thrown(&self, entry: &Entry, draw: u64) -> Option<Thrown> {
        let Body::Move(made) = &entry.body else { return None };
        let rules = self.game.rules();
        let throw = rules.throw(rules.read_action(&made.notation)?)?;
        Some(Thrown { seq: entry.seq, draw, seat: entry.actor.seat?, throw, faces: made.faces.clone() })
    }
}

impl Thrown {
    fn check(&self, dice: &Dice) -> Result<(), Wrong> {
        let faces = dice.throw(self.draw, self.seat, self.throw);
        if faces == self.faces {
            return Ok(());
        }
        Err(wrong(self.seq, format!("it shows {:?}, but the seed gives {faces:?}", self.faces)))
    }
}

fn wrong(seq: Seq, why: String) -> Wrong {
    Wrong { line: None, seq: Some(seq), fault: Fault::Rules, why }
}
