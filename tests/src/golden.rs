//! Golden books: whole games that must come out the same for ever, however they are run.
//!
//! `tests/golden/<name>.ply` is the book and `<name>.positions` the position digest at every entry.
//! Each is run through a pure fold, through the core's decisions, and by other tests through the
//! service over each store.
//!
//! Invariant: a golden is closed, so its own last entry reveals the seed it was played with.

use std::path::{Path, PathBuf};

use plybook_core::entry::{Act, Body, Step};
use plybook_core::game::{Ask, Request};
use plybook_core::header::Principal;
use plybook_core::{Book, Digest, Entry, Game, Rejection, Seed, Seq, Time};
use plybook_rulesets::Registry;

use crate::toy;

/// One golden.
#[derive(Clone, Debug)]
pub struct Golden {
    /// The file's name without its extension; it begins with the ruleset's.
    pub name: String,
    /// The book.
    pub book: Book,
    /// The seed that the caller gave when the game was created.
    pub seed: Seed,
    /// The position digest at every entry, the header's first.
    pub positions: Vec<(Seq, Digest)>,
}

/// The rulesets that goldens are played under: those of the release and the toy.
pub fn registry() -> Registry {
    toy::registry()
}

/// Where goldens are.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("golden")
}

/// Every golden, by name.
pub fn all() -> Vec<Golden> {
    let mut names: Vec<String> = std::fs::read_dir(folder())
        .expect("the folder of goldens is there")
        .map(|entry| entry.expect("it can be listed").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "ply"))
        .map(|path| path.file_stem().expect("a file has a name").to_string_lossy().into_owned())
        .collect();
    names.sort();
    names.into_iter().map(read).collect()
}

fn read(name: String) -> Golden {
    let text = |extension: &str| {
        let path = folder().join(format!("{name}.{extension}"));
        std::fs::read_to_string(&path).unwrap_or_else(|why| panic!("{}: {why}", path.display()))
    };
    let book = Book::parse(&text("ply")).unwrap_or_else(|why| panic!("{name}.ply, {why}"));
    let position = |line: &str| {
        let (seq, digest) = line.split_once(' ')?;
        Some((Seq(seq.parse().ok()?), Digest::parse(digest)?))
    };
    let positions = text("positions").lines().map(|line| position(line).unwrap_or_else(|| panic!("{name}.positions: {line}"))).collect();
    let golden = Golden { seed: Seed::new([0; 32]), name, book, positions };
    let closing = golden.entries().pop().and_then(|entry| entry.seed);
    Golden { seed: closing.unwrap_or_else(|| panic!("{} is closed", golden.name)), ..golden }
}

impl Golden {
    /// The entries after the header.
    pub fn entries(&self) -> Vec<Entry> {
        self.book
            .lines()
            .iter()
            .map(|link| self.book.header().read_entry(&link.text).unwrap_or_else(|why| panic!("{}: {why}", self.name)))
            .collect()
    }
}

/// The entry as the game comes to it again: decided, settled, or given as it stands.
pub fn again(game: &mut Game, entry: &Entry, seed: &Seed) -> Result<Entry, Rejection> {
    match &entry.body {
        Body::Given(_) => Ok(entry.clone()),
        _ if is_settled(entry) => {
            let later = Time::from_unix_ms(entry.time.unix_ms() + 1);
            Ok(game.settle(later, &outages(game, entry), seed).expect("a deadline has passed"))
        }
        _ => game.decide(&request_of(entry), asked_at(entry), seed),
    }
}

/// Whether nobody asks for this entry: it settles a deadline.
pub fn is_settled(entry: &Entry) -> bool {
    let by_time =
        matches!(&entry.body, Body::Incident(incident) if matches!(incident.act, Act::Timeout(_) | Act::Forfeit(_) | Act::Credit(_)));
    by_time || (entry.body == Body::Close && entry.actor.by == Principal::service())
}

/// An outage that this entry credits, if it credits one.
pub fn outages(game: &Game, entry: &Entry) -> Vec<(Time, Time)> {
    match (&entry.body, game.clock()) {
        (Body::Incident(incident), Some(clock)) => match incident.act {
            Act::Credit(ms) => vec![(clock.since(), Time::from_unix_ms(clock.since().unix_ms() + clock.credited_ms() + ms))],
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// The request that led to `entry`, by a caller who had seen everything before it.
pub fn request_of(entry: &Entry) -> Request {
    let ask = match &entry.body {
        Body::Move(made) => Ask::MoveText(made.notation.clone()),
        Body::Undo(undo) if undo.agreed => Ask::Act(Act::Undo(Step::Accept, undo.target)),
        Body::Undo(undo) => Ask::Undo(Some(undo.target)),
        Body::Incident(incident) => Ask::Act(incident.act),
        Body::Commit(commit) => Ask::Commit(commit.clone()),
        Body::Reveal(reveal) => Ask::Reveal(reveal.nonce.clone()),
        Body::Close | Body::Absent(_) => Ask::Close,
        Body::Given(_) => panic!("a move that was given is asked for by nobody"),
    };
    Request { actor: entry.actor.clone(), expected: Seq(entry.seq.0 - 1), ask }
}

/// When that request came: an absence is told once its time is over, and stamped with the end of it.
pub fn asked_at(entry: &Entry) -> Time {
    let late = u64::from(matches!(entry.body, Body::Absent(_)));
    Time::from_unix_ms(entry.time.unix_ms() + late)
}

/// The text of a `.positions` file.
pub fn print_positions(positions: &[(Seq, Digest)]) -> String {
    positions.iter().map(|(seq, digest)| format!("{seq} {digest}\n")).collect()
}
