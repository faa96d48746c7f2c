//! Entry 1 of a book: everything that a game is before its first move.
//!
//! Invariant: a header prints in one way, and what it prints parses back to the same header
//! (`proto/book-format.md`, section 2).

use std::collections::BTreeMap;
use std::fmt;

use uuid::Uuid;

use crate::digest::Digest;
use crate::entry::{Entry, EntryError};
use crate::params::{ParamValue, Params};
use crate::ruleset::RulesetId;
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
        let mut lines = Lines { rest: text.split('\n').peekable(), line: 0 };
        let header = lines.header().map_err(|why| HeaderError { line: lines.line, why })?;
        let printed = header.to_string();
        if printed != text {
            let differs = printed.split('\n').zip(text.split('\n')).take_while(|(a, b)| a == b).count();
            return Err(HeaderError { line: differs + 1, why: "is not printed in the canonical way".to_owned() });
        }
        Ok(header)
    }
}

struct Lines<'a> {
    rest: std::iter::Peekable<std::str::Split<'a, char>>,
    /// The line last read, from 1.
    line: usize,
}

impl<'a> Lines<'a> {
    fn header(&mut self) -> Result<Header, scan::Why> {
        self.exactly("plybook 1")?;
        let game = self.field("game")?;
        let game = Uuid::try_parse(game).map_err(|_| format!("{game:?} is not a UUID"))?;
        let created = self.field("created")?;
        let created = Time::parse(created).ok_or_else(|| format!("{created:?} is not a time"))?;
        let by = self.field("by")?;
        let by = Principal::parse(by).ok_or_else(|| format!("{by:?} is not a principal"))?;
        let ruleset = ruleset_id(self.field("ruleset")?)?;
        let params = self.params()?;
        let seats = self.seats()?;
        let commitment = self.field("commitment")?;
        let commitment = Digest::parse(commitment).ok_or_else(|| format!("{commitment:?} is not a digest"))?;
        let seed_from = self.one_of("seed-from", &[("service", SeedFrom::Service), ("caller", SeedFrom::Caller)])?;
        self.exactly(&format!("dice {}", dice::SCHEME))?;
        let by_whom = [("none", UndoBy::None), ("own_last_move", UndoBy::OwnLastMove), ("free", UndoBy::Free)];
        let undo = UndoPolicy {
            by: self.one_of("undo", &by_whom)?,
            over_throw: self.one_of("undo-over-throw", &YES_NO)?,
            after_end: self.one_of("undo-after-end", &YES_NO)?,
        };
        check_undo(undo)?;
        if self.rest.next().is_some() {
            self.line += 1;
            return Err("follows the header's last line".to_owned());
        }
        Ok(Header { game, created, by, ruleset, params, seats, commitment, seed_from, undo })
    }

    fn line(&mut self) -> Result<&'a str, scan::Why> {
        self.line += 1;
        self.rest.next().ok_or_else(|| "is missing".to_owned())
    }

    fn exactly(&mut self, want: &str) -> Result<(), scan::Why> {
        let line = self.line()?;
        if line == want { Ok(()) } else { Err(format!("{line:?} is not {want:?}")) }
    }

    fn field(&mut self, key: &str) -> Result<&'a str, scan::Why> {
        let line = self.line()?;
        line.strip_prefix(key).and_then(|rest| rest.strip_prefix(' ')).ok_or_else(|| format!("{line:?} is not the field {key:?}"))
    }

    fn one_of<T: Copy>(&mut self, key: &str, words: &[(&str, T)]) -> Result<T, scan::Why> {
        let word = self.field(key)?;
        let found = words.iter().find(|(known, _)| *known == word);
        found.map(|(_, value)| *value).ok_or_else(|| format!("{word:?} is not a value of {key:?}"))
    }

    fn next_is(&mut self, key: &str) -> bool {
        self.rest.peek().is_some_and(|line| line.strip_prefix(key).is_some_and(|rest| rest.starts_with(' ')))
    }

    fn params(&mut self) -> Result<Params, scan::Why> {
        let mut values = BTreeMap::new();
        while self.next_is("param") {
            let field = self.field("param")?;
            let (name, value) = field.split_once(' ').ok_or("the value is missing")?;
            let value = read_value(value)?;
            if values.insert(scan::name(name)?.to_owned(), value).is_some() {
                return Err(format!("parameter {name} occurs twice"));
            }
        }
        Ok(Params::unchecked(values))
    }

    fn seats(&mut self) -> Result<Vec<Place>, scan::Why> {
        let mut seats: Vec<Place> = Vec::new();
        while self.next_is("seat") {
            let field = self.field("seat")?;
            let (seat, rest) = field.split_once(' ').ok_or("the mark is missing")?;
            if scan::seat(seat)?.index() != seats.len() {
                return Err(format!("seat {} is expected", seats.len()));
            }
            let (mark, rest) = scan::unquote(rest)?;
            let (player, rest) = scan::unquote(rest.strip_prefix(' ').ok_or("the player is missing")?)?;
            if !rest.is_empty() {
                return Err("something follows the player".to_owned());
            }
            let place = Place { mark, player };
            check_place(&place, &seats)?;
            seats.push(place);
        }
        if seats.is_empty() {
            // The line that should be a seat was looked at but not taken.
            self.line += 1;
            return Err("a seat is missing".to_owned());
        }
        Ok(seats)
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

const YES_NO: [(&str, bool); 2] = [("yes", true), ("no", false)];

fn ruleset_id(text: &str) -> Result<RulesetId, scan::Why> {
    let (name, version) = text.split_once('@').ok_or("the version is missing")?;
    let version = scan::number(version)?;
    if version == 0 {
        return Err("versions begin with 1".to_owned());
    }
    Ok(RulesetId::new(scan::name(name)?, version))
}

fn read_value(text: &str) -> Result<ParamValue, scan::Why> {
    if text.starts_with('"') {
        let (word, rest) = scan::unquote(text)?;
        return if rest.is_empty() { Ok(ParamValue::Text(word)) } else { Err("something follows the value".to_owned()) };
    }
    if let Some(list) = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        let items = list.split(',').filter(|_| !list.is_empty());
        return Ok(ParamValue::IntList(items.map(scan::int).collect::<Result<_, _>>()?));
    }
    match text {
        "true" => Ok(ParamValue::Bool(true)),
        "false" => Ok(ParamValue::Bool(false)),
        _ => Ok(ParamValue::Int(scan::int(text)?)),
    }
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
            UndoBy::Free => "free",
        };
        writeln!(f, "commitment {}\nseed-from {seed_from}\ndice {}\nundo {undo}", self.commitment, dice::SCHEME)?;
        write!(f, "undo-over-throw {}\nundo-after-end {}", yes_no(self.undo.over_throw), yes_no(self.undo.after_end))
    }
}
