//! A throw with its proof.
//!
//! Invariant: what is said of a throw is what its own book shows, and no more.

use plybook_core::entry::{Body, Entry, Move};
use plybook_core::{Game, Seed};

/// What is said of a throw.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Told {
    /// In words.
    pub(super) text: String,
    /// Whether the seed gives other faces.
    pub(super) wrong: bool,
}

/// What an entry threw; `game` is the game after it. Nothing where no dice were thrown.
pub(super) fn told(entry: &Entry, game: &Game, seed: Option<&Seed>) -> Option<Told> {
    let (made, given) = match &entry.body {
        Body::Move(made) => (made, false),
        Body::Given(made) => (made, true),
        _ => return None,
    };
    if made.faces.is_empty() {
        return None;
    }
    // The throw itself is counted by now.
    let draw = game.position().throws().saturating_sub(1);
    let seat = entry.actor.seat?;
    let shown = format!("dice: draw {draw} by seat {seat} shows {}", list(&made.faces));
    let with = if game.joining().is_some() { "the seed and the seats' nonces give" } else { "the seed gives" };
    let (proof, wrong) = match (given, seed, faces(game, made, draw, seat, seed)) {
        (true, _, _) => ("thrown in the game that this one was forked from, so this game's seed says nothing of it".to_owned(), false),
        (false, None, _) => ("the seed is not revealed, so nothing shows yet whose chance it was".to_owned(), false),
        (false, Some(_), Some(faces)) if faces == made.faces => (format!("{with} the same faces"), false),
        (false, Some(_), Some(faces)) => (format!("WRONG: {with} {}", list(&faces)), true),
        (false, Some(_), None) => return None,
    };
    Some(Told { text: format!("{shown}; {proof}"), wrong })
}

fn faces(game: &Game, made: &Move, draw: u64, seat: plybook_core::Seat, seed: Option<&Seed>) -> Option<Vec<u8>> {
    let rules = game.rules();
    let throw = rules.throw(rules.read_action(&made.notation)?)?;
    Some(game.dice(seed?.clone()).throw(draw, seat, throw))
}

fn list(faces: &[u8]) -> String {
    faces.iter().map(u8::to_string).collect::<Vec<_>>().join(", ")
}
