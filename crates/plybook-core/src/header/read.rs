//! Reads the text of entry 1, line by line.
//!
//! Invariant: whatever is read here is held against what the header prints (see [`Header::parse`]), so
//! that two texts never give one header.

use std::collections::BTreeMap;

use uuid::Uuid;

use super::{Entropy, Header, HeaderError, Place, Principal, Receipts, SeedFrom, UndoBy, UndoPolicy, check_joint, check_place, check_undo};
use crate::digest::Digest;
use crate::entropy::{IfAbsent, Joint};
use crate::origin::Origin;
use crate::params::{ParamValue, Params};
use crate::ruleset::RulesetId;
use crate::terms::Terms;
use crate::time::Time;
use crate::{dice, scan};

pub(super) fn read(text: &str) -> Result<Header, HeaderError> {
    let mut lines = Lines { rest: text.split('\n').peekable(), line: 0 };
    lines.header().map_err(|why| HeaderError { line: lines.line, why })
}

struct Lines<'a> {
    rest: std::iter::Peekable<std::str::Split<'a, char>>,
    /// The line last read, from 1.
    line: usize,
}

impl<'a> Lines<'a> {
    fn header(&mut self) -> Result<Header, scan::Why> {
        self.format()?;
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
        let by_whom =
            [("none", UndoBy::None), ("own_last_move", UndoBy::OwnLastMove), ("agreement", UndoBy::Agreement), ("free", UndoBy::Free)];
        let undo = UndoPolicy {
            by: self.one_of("undo", &by_whom)?,
            over_throw: self.one_of("undo-over-throw", &YES_NO)?,
            after_end: self.one_of("undo-after-end", &YES_NO)?,
        };
        check_undo(undo)?;
        let origin = self.optional("origin")?.map(Origin::parse).transpose()?;
        let entropy = self.optional("entropy")?.map_or(Ok(Entropy::Service), joint)?;
        let receipts = match self.optional("receipts")? {
            None => Receipts::OnRequest,
            Some("always") => Receipts::Always,
            Some(other) => return Err(format!("{other:?} is not a value of \"receipts\"")),
        };
        let terms = Terms::read(|key| self.optional(key))?;
        terms.check(seats.len() as u8, undo).map_err(|unkept| unkept.to_string())?;
        let rematch_of = self.optional("rematch")?;
        let rematch_of = rematch_of.map(|text| Uuid::try_parse(text).map_err(|_| format!("{text:?} is not a UUID"))).transpose()?;
        if self.rest.next().is_some() {
            self.line += 1;
            return Err("follows the header's last line".to_owned());
        }
        Ok(Header { game, created, by, ruleset, params, seats, commitment, seed_from, undo, origin, entropy, receipts, terms, rematch_of })
    }

    /// The number that says which grammar all that follows is in; there is one so far.
    fn format(&mut self) -> Result<(), scan::Why> {
        match scan::number::<u32>(self.field("plybook")?)? {
            1 => Ok(()),
            other => Err(format!("says that the book is of format {other}; this build reads format 1")),
        }
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

    /// A line that only some games have.
    fn optional(&mut self, key: &str) -> Result<Option<&'a str>, scan::Why> {
        if self.next_is(key) { self.field(key).map(Some) } else { Ok(None) }
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

const YES_NO: [(&str, bool); 2] = [("yes", true), ("no", false)];

fn joint(text: &str) -> Result<Entropy, scan::Why> {
    let mut tokens = text.split(' ');
    let (word, seconds, policy) = (tokens.next(), tokens.next(), tokens.next());
    let if_absent = match (word, policy, tokens.next()) {
        (Some("joint"), Some("abort"), None) => IfAbsent::Abort,
        (Some("joint"), Some("forfeit"), None) => IfAbsent::Forfeit,
        _ => return Err(format!("{text:?} is not a value of \"entropy\"")),
    };
    let joint = Joint { seconds: scan::number(seconds.unwrap_or_default())?, if_absent };
    check_joint(joint)?;
    Ok(Entropy::Joint(joint))
}

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
