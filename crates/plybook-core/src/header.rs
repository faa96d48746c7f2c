//! Entry 1 of a book: everything that a game is before its first move.
//!
//! Invariant: a header prints in one way, and what it prints parses back to the same header
//! (`proto/book-format.md`, section 2).

mod read;

use std::fmt;

use uuid::Uuid;

use crate::digest::Digest;
use crate::entropy::{IfAbsent, Joint};
use crate::entry::{Entry, EntryError};
use crate::origin::Origin;
use crate::params::{ParamValue, Params};
use crate::ruleset::RulesetId;
use crate::terms::Terms;
use crate::time::Time;
use crate::{dice, entry, limits, scan};

/// Who sent a request, as the server authenticated it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Principal(String);

impl Principal {
    /// A principal: 1 to 64 of `A–Z a–z 0–9 . _ @ / + -`.
    pub fn parse(text: &str) -> Option<Principal> {
        let allowed = |b: u8| b.is_ascii_alphanumeric() || b"._@/+-".contains(&b);
        let fits = !text.is_empty() && text.len() <= limits::PRINCIPAL_BYTES_MAX && text.bytes().all(allowed);
        fits.then(|| Principal(text.to_owned()))
    }

    /// The service itself, which acts when a time is over.
    pub fn service() -> Principal {
        Principal("plybook".to_owned())
    }

    /// The service, where the bot of a seat moves.
    pub fn bot() -> Principal {
        Principal("plybook/bot".to_owned())
    }

    /// The service, where the fallback moves for a seat.
    pub fn fallback() -> Principal {
        Principal("plybook/fallback".to_owned())
    }

    /// Whether it is the service: no caller is authenticated as that.
    pub fn is_service(&self) -> bool {
        self.0.split('/').next() == Some("plybook")
    }

    /// As it stands in the book.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A place at the table as the header gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// On printed boards; distinct in a game.
    pub mark: String,
    /// The caller's pseudonym for who sits here; may be empty.
    pub player: String,
}

/// Who chose the seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeedFrom {
    /// The service, from the operating system.
    Service,
    /// The caller, to whom the dice were not unpredictable.
    Caller,
}

/// Who may take a move back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UndoBy {
    /// Nobody.
    None,
    /// A seat its own last moves, until another seat has answered.
    OwnLastMove,
    /// A seat any standing move, once everybody else at the table agrees.
    Agreement,
    /// Any seat any standing move: for callers that are trusted.
    Free,
}

/// What may be taken back. Fixed when a game is created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UndoPolicy {
    /// Who may.
    pub by: UndoBy,
    /// Whether a throw that was shown may be taken back.
    pub over_throw: bool,
    /// Whether a finished game may be reopened, until it is closed.
    pub after_end: bool,
}

/// Whose chance it is that the dice are drawn from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entropy {
    /// The seed's alone.
    Service,
    /// The seed's and a nonce of every seat.
    Joint(Joint),
}

/// When an append's answer carries a receipt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Receipts {
    /// Where the caller asks for one.
    OnRequest,
    /// Always.
    Always,
}

/// Entry 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The game's id.
    pub game: Uuid,
    /// When it was created.
    pub created: Time,
    /// Who created it.
    pub by: Principal,
    /// Its rules.
    pub ruleset: RulesetId,
    /// Every parameter.
    pub params: Params,
    /// The seats in turn order.
    pub seats: Vec<Place>,
    /// Of the seed.
    pub commitment: Digest,
    /// Who chose the seed.
    pub seed_from: SeedFrom,
    /// What may be taken back.
    pub undo: UndoPolicy,
    /// The game that this one was forked from, if it was.
    pub origin: Option<Origin>,
    /// Where the dice come from.
    pub entropy: Entropy,
    /// Which answers carry a receipt.
    pub receipts: Receipts,
    /// Bots, clocks, absence, and what may be asked how often.
    pub terms: Terms,
    /// The game that this one is the rematch of, if it is one.
    pub rematch_of: Option<Uuid>,
}

/// Why a header does not parse.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("header line {line}: {why}")]
pub struct HeaderError {
    /// The header's line, from 1.
    pub line: usize,
    /// Why.
    pub why: String,
}

impl Header {
    /// Number of seats.
    pub fn seat_count(&self) -> u8 {
        self.seats.len() as u8
    }

    /// Number of moves that the game begins with, because it was forked.
    pub fn given(&self) -> u32 {
        self.origin.map_or(0, |origin| origin.given)
    }

    /// The first link of the book's chain.
    pub fn digest(&self) -> Digest {
        Digest::of(self.to_string().as_bytes())
    }

    /// Reads a line of this book. Which grammar it is in is the header's to say, so every reader of
    /// lines comes through here.
    pub fn read_entry(&self, line: &str) -> Result<Entry, EntryError> {
        entry::read_format_1(line)
    }

    /// Reads the text of entry 1.
    pub fn parse(text: &str) -> Result<Header, HeaderError> {
        if text.len() > limits::LINE_BYTES_MAX {
            return Err(HeaderError { line: 1, why: format!("the header is longer than {} bytes", limits::LINE_BYTES_MAX) });
        }
        let header = read::read(text)?;
        let printed = header.to_string();
        if printed != text {
            let differs = printed.split('\n').zip(text.split('\n')).take_while(|(a, b)| a == b).count();
            return Err(HeaderError { line: differs + 1, why: "is not printed in the canonical way".to_owned() });
        }
        Ok(header)
    }
}

/// Whether `place` can sit beside the seats before it: limits, characters, distinct marks.
pub fn check_place(place: &Place, before: &[Place]) -> Result<(), String> {
    let Place { mark, player } = place;
    if mark.is_empty() || mark.len() > limits::MARK_BYTES_MAX {
        return Err(format!("a mark has 1 to {} bytes", limits::MARK_BYTES_MAX));
    }
    if mark.chars().any(|c| scan::is_control(c) || c.is_whitespace()) || mark == "." {
        return Err("a mark has no spaces or control characters and is not the full stop".to_owned());
    }
    if player.len() > limits::PLAYER_BYTES_MAX || player.chars().any(scan::is_control) {
        return Err(format!("a player's id has at most {} bytes and no control characters", limits::PLAYER_BYTES_MAX));
    }
    if before.iter().any(|other| other.mark == *mark) {
        return Err(format!("the mark {mark:?} is taken"));
    }
    Ok(())
}

/// Whether a policy makes sense: where nobody may undo, nothing may be undone over or after anything.
pub fn check_undo(policy: UndoPolicy) -> Result<(), String> {
    if policy.by == UndoBy::None && (policy.over_throw || policy.after_end) {
        return Err("nothing can be taken back over a throw or after the end where nobody may undo".to_owned());
    }
    Ok(())
}

/// Whether the time for joining is one that a header may give.
pub fn check_joint(joint: Joint) -> Result<(), String> {
    if (1..=limits::JOIN_SECONDS_MAX).contains(&joint.seconds) {
        return Ok(());
    }
    Err(format!("the seats have 1 to {} seconds for a step of joining", limits::JOIN_SECONDS_MAX))
}

fn write_value(value: &ParamValue) -> String {
    match value {
        ParamValue::Int(n) => n.to_string(),
        ParamValue::Bool(flag) => flag.to_string(),
        ParamValue::Text(word) => scan::quote(word),
        ParamValue::IntList(list) => format!("[{}]", list.iter().map(i64::to_string).collect::<Vec<_>>().join(",")),
    }
}

/// The text of entry 1.
impl fmt::Display for Header {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let yes_no = |flag: bool| if flag { "yes" } else { "no" };
        writeln!(f, "plybook 1\ngame {}\ncreated {}\nby {}\nruleset {}", self.game, self.created, self.by, self.ruleset)?;
        for (name, value) in self.params.values() {
            writeln!(f, "param {name} {}", write_value(value))?;
        }
        for (seat, place) in self.seats.iter().enumerate() {
            writeln!(f, "seat {seat} {} {}", scan::quote(&place.mark), scan::quote(&place.player))?;
        }
        let seed_from = match self.seed_from {
            SeedFrom::Service => "service",
            SeedFrom::Caller => "caller",
        };
        let undo = match self.undo.by {
            UndoBy::None => "none",
            UndoBy::OwnLastMove => "own_last_move",
            UndoBy::Agreement => "agreement",
            UndoBy::Free => "free",
        };
        writeln!(f, "commitment {}\nseed-from {seed_from}\ndice {}\nundo {undo}", self.commitment, dice::SCHEME)?;
        write!(f, "undo-over-throw {}\nundo-after-end {}", yes_no(self.undo.over_throw), yes_no(self.undo.after_end))?;
        if let Some(origin) = &self.origin {
            write!(f, "\norigin {origin}")?;
        }
        if let Entropy::Joint(Joint { seconds, if_absent }) = self.entropy {
            let if_absent = match if_absent {
                IfAbsent::Abort => "abort",
                IfAbsent::Forfeit => "forfeit",
            };
            write!(f, "\nentropy joint {seconds} {if_absent}")?;
        }
        if self.receipts == Receipts::Always {
            f.write_str("\nreceipts always")?;
        }
        write!(f, "{}", self.terms)?;
        self.rematch_of.map_or(Ok(()), |game| write!(f, "\nrematch {game}"))
    }
}
