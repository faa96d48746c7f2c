//! Checks a whole book: that nothing was added, removed or altered, and that all of it follows.
//!
//! Checked are the form, every digest, legality under the pinned rules, changes, turn order, times,
//! outcome, the seed against its commitment, and every face against the seed; and the signature over the
//! head, where there is one and its public key was given. What no book alone can show is that it was not
//! written anew from its first entry on: only a signature, a receipt or a digest taken earlier does.
//!
//! Where only the rules object, the check goes on through form and digests, and gives two verdicts: what the
//! book shows that was accepted then, and what this build's rules say to it now.
//!
//! Invariant: one path checks files and stored games; on any input it answers, and never panics.

mod tail;
mod wrong;

use std::fmt;
use std::sync::Arc;

use crate::book::Book;
use crate::dice::{Dice, Face, Seed, Throw};
use crate::digest::Digest;
use crate::entry::{Body, Entry};
use crate::game::{Fault, Game, Head, Left, State};
use crate::header::{Header, SeedFrom};
use crate::outcome::Outcome;
use crate::receipt::{KeyId, PublicKeys, Unproved};
use crate::rules::Rules;
use crate::seat::{Seat, SeatSet};
use crate::seq::Seq;

use tail::Tail;
pub use wrong::{Accepted, Kind, Wrong};

/// Where the rules that a header pins are found.
pub trait Rulebook {
    /// The rules, or why there are none.
    fn rules_of(&self, header: &Header) -> Result<Arc<dyn Rules>, NoRules>;
}

/// Why a header has no rules, each with a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoRules {
    /// The ruleset or its version is not in this build.
    Unsupported(String),
    /// The ruleset is, and takes no game with such parameters or seats.
    Refused(String),
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
    /// Who left it, in the order of the book.
    pub left: Vec<Left>,
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
    write!(f, "signed for seats {signed} by keys that stand in the book; that they are the seats' own, it does not prove")
}

/// Checks the text of a `.ply` file without anybody's public key.
pub fn verify(file: &str, rulebook: &dyn Rulebook) -> Result<Report, Wrong> {
    verify_signed(file, rulebook, &PublicKeys::default())
}

/// Checks the text of a `.ply` file, and its signature if one of these keys made it.
pub fn verify_signed(file: &str, rulebook: &dyn Rulebook, keys: &PublicKeys) -> Result<Report, Wrong> {
    let book = match Book::parse_as_far(file) {
        Ok(book) => book,
        // What the rules say to an entry before the break comes first.
        Err((error, Some(book))) => return Err(before_break(&book, rulebook, error.into())),
        Err((error, None)) => return Err(error.into()),
    };
    let found = follow_all(&book, rulebook)?.finish();
    // Last: a wrong entry says more than a signature that is wrong because of it.
    match (found, signed(file, &book, keys)) {
        (Ok(report), signed) => Ok(Report { signed: signed?, ..report }),
        (Err(wrong), Ok(signed)) => Err(wrong.signed(signed)),
        (Err(wrong), Err(signature)) => Err(wrong.broken(&signature)),
    }
}

fn follow_all(book: &Book, rulebook: &dyn Rulebook) -> Result<Verifier, Wrong> {
    let mut verifier = Verifier::new(book.header().clone(), rulebook);
    for link in book.lines() {
        verifier.follow(&link.text, link.digest)?;
    }
    Ok(verifier)
}

fn before_break(book: &Book, rulebook: &dyn Rulebook, broken: Wrong) -> Wrong {
    match follow_all(book, rulebook) {
        Err(wrong) => wrong,
        Ok(verifier) => verifier.broken(broken),
    }
}

fn signed(file: &str, book: &Book, keys: &PublicKeys) -> Result<Signed, Wrong> {
    let Some(signature) = book.signature() else { return Ok(Signed::No) };
    match signature.check(&book.head(), keys) {
        Ok(()) => Ok(Signed::By(signature.key_id)),
        Err(Unproved::UnknownKey(id)) => Ok(Signed::UnknownKey(id)),
        Err(wrong @ Unproved::Wrong(_)) => Err(Wrong { line: Some(file.lines().count()), ..Wrong::book(Fault::Digest, wrong.to_string()) }),
    }
}

/// A check under way, entry by entry.
#[derive(Debug)]
pub struct Verifier {
    /// The entries found right; no game where the header has no rules.
    right: Result<Game, Box<Header>>,
    /// Set from the first entry on that the rules do not allow.
    tail: Option<Tail>,
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
    pub fn new(header: Header, rulebook: &dyn Rulebook) -> Verifier {
        let (fault, why) = match rulebook.rules_of(&header) {
            Ok(rules) => return Verifier::at(Ok(Game::new(header, rules)), None),
            Err(NoRules::Unsupported(why)) => (Fault::Unsupported, why),
            Err(NoRules::Refused(why)) => (Fault::Rules, why),
        };
        let tail = Tail::at_header(&header, Wrong::entry(Seq::FIRST, fault, why));
        Verifier::at(Err(Box::new(header)), Some(tail))
    }

    const fn at(right: Result<Game, Box<Header>>, tail: Option<Tail>) -> Verifier {
        Verifier { right, tail, throws: Vec::new(), seed: None }
    }

    /// The last entry found right; nothing where the header itself has no rules.
    pub fn right(&self) -> Option<Head> {
        self.right.as_ref().ok().map(Game::head)
    }

    /// The last entry followed.
    pub fn followed(&self) -> Seq {
        match (&self.tail, &self.right) {
            (Some(tail), _) => tail.seq(),
            (None, Ok(game)) => game.head().seq,
            (None, Err(_)) => Seq::FIRST,
        }
    }

    /// Checks the next line with its stored digest: after an entry that only the rules refuse, without asking
    /// them any more. After an error nothing more can be said.
    pub fn follow(&mut self, line: &str, digest: Digest) -> Result<(), Wrong> {
        let entry = match (&mut self.tail, &mut self.right) {
            (Some(tail), Ok(game)) => tail.follow(game.header(), line, digest)?,
            (Some(tail), Err(header)) => tail.follow(header, line, digest)?,
            (None, Err(_)) => return Ok(()),
            (None, Ok(game)) => {
                let draw = game.position().throws();
                match game.apply_line(line, digest) {
                    Ok(entry) => {
                        self.throws.extend(Thrown::of(game, &entry, draw));
                        entry
                    }
                    Err(refused) if refused.fault == Fault::Rules => {
                        let (tail, entry) = Tail::after(game, refused, line, digest)?;
                        self.tail = Some(tail);
                        entry
                    }
                    Err(error) => return Err(error.into()),
                }
            }
        };
        if let Some(seed) = entry.seed {
            self.seed = Some((entry.seq, seed));
        }
        Ok(())
    }

    /// What is to be said where the book breaks after what was followed.
    pub fn broken(&self, broken: Wrong) -> Wrong {
        match &self.tail {
            Some(tail) => tail.wrong().broken(&broken),
            None => broken,
        }
    }

    /// Checks what needs the whole book, and says what it shows.
    pub fn finish(self) -> Result<Report, Wrong> {
        if let (Some((_, seed)), Ok(game)) = (&self.seed, &self.right) {
            let dice = game.dice(seed.clone());
            self.throws.iter().try_for_each(|thrown| thrown.check(&dice))?;
        }
        let (game, header) = match (self.tail, self.right) {
            (Some(tail), right) => {
                let ruleset = right.map_or_else(|header| header.ruleset.clone(), |game| game.header().ruleset.clone());
                return Err(tail.accepted(ruleset));
            }
            (None, Err(header)) => return Err(Wrong::book(Fault::Unsupported, format!("{} has no rules", header.ruleset))),
            (None, Ok(game)) => {
                let header = game.header().clone();
                (game, header)
            }
        };
        if game.position().ply() < header.given() {
            let why = format!("the game begins with {} moves given to it, and this one is missing", header.given());
            return Err(Wrong::entry(game.head().seq.next(), Fault::Missing, why));
        }
        let joined = game.joining().map(|joining| joining.signed());
        let dice = match (self.throws.is_empty(), &self.seed, header.seed_from) {
            (true, _, _) => DiceClaim::NoThrows,
            (false, None, _) => DiceClaim::NotRevealed,
            (false, Some(_), seed_from) if joined.is_some() => DiceClaim::FixedJointly { seed_from, signed: joined.unwrap_or_default() },
            (false, Some(_), SeedFrom::Service) => DiceClaim::FixedByService,
            (false, Some(_), SeedFrom::Caller) => DiceClaim::FixedByCaller,
        };
        Ok(Report {
            header,
            entries: game.head().seq.0,
            digest: game.head().digest,
            state: game.state(),
            outcome: game.outcome().cloned(),
            left: game.left().to_vec(),
            throws: self.throws.len() as u64,
            dice,
            signed: Signed::No,
        })
    }
}

impl Thrown {
    /// The throw of an entry that was just applied, if it is one.
    fn of(game: &Game, entry: &Entry, draw: u64) -> Option<Thrown> {
        let Body::Move(made) = &entry.body else { return None };
        let rules = game.rules();
        let throw = rules.throw(rules.read_action(&made.notation)?)?;
        Some(Thrown { seq: entry.seq, draw, seat: entry.actor.seat?, throw, faces: made.faces.clone() })
    }

    fn check(&self, dice: &Dice) -> Result<(), Wrong> {
        let faces = dice.throw(self.draw, self.seat, self.throw);
        if faces == self.faces {
            return Ok(());
        }
        Err(Wrong::entry(self.seq, Fault::Seed, format!("it shows {:?}, but the seed gives {faces:?}", self.faces)))
    }
}
