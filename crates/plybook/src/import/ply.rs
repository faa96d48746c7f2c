//! `.ply` files: a book becomes the requests that wrote it, as far as they can be made again ([`super::again`]).
//!
//! Invariant: a book that does not hold under its pinned rules is refused before anything is created,
//! and so is one whose dice could not be shown again.

use plybook_core::entry::Body;
use plybook_core::header::Entropy;
use plybook_core::{Book, Entry, Game};
use plybook_rulesets::Registry;

use super::again::{Again, again};
use super::plan::{self, After, Plan};

/// The plan for a file, or why it is refused.
pub(crate) fn read(text: &str, registry: &Registry) -> Result<Plan, String> {
    let book = Book::parse(text).map_err(|error| error.to_string())?;
    if book.header().entropy != Entropy::Service || book.header().origin.is_some() {
        return Err("only its seats, or the game that it was forked from, could play it again".to_owned());
    }
    let rules = registry.rules_of(book.header()).map_err(|error| error.to_string())?;
    let mut game = Game::new(book.header().clone(), rules);
    let mut entries: Vec<Entry> = Vec::new();
    for link in book.lines() {
        entries.push(game.apply_line(&link.text, link.digest).map_err(|error| error.to_string())?);
    }
    let seed = entries.iter().find_map(|entry| entry.seed.clone());
    let threw = entries.iter().find(|entry| matches!(&entry.body, Body::Move(made) if !made.faces.is_empty()));
    if let (None, Some(entry)) = (&seed, threw) {
        return Err(format!("entry {} throws dice, and the seed is not revealed: the same faces could not be shown again", entry.seq));
    }
    let Again { header, steps, after, without } = again(book.header(), &entries, seed.as_ref(), registry)?;
    if after != After::of(&game) {
        return Err("played again without its clock and bots, it would end otherwise".to_owned());
    }
    let seed = seed.map_or_else(Vec::new, |seed| seed.reveal().to_vec());
    Ok(Plan { create: plan::create(&header, seed), steps, after, without })
}
