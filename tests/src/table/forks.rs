//! Games that begin with moves of another one.
//!
//! Invariant: a fork is given the moves that stood at the entry it was forked from, as they were made there,
//! with the time and the principal of its own header.

use plybook_core::entry::{Actor, Body, Move};
use plybook_core::{Entry, Game, Header, Origin, Seq};

use super::{Started, Table};

impl Table {
    /// The same game as at `of`, going on from its entry `at` with a seed of its own.
    #[track_caller]
    pub fn fork(mut self, of: &Table, at: u32) -> Table {
        self.laying_out();
        let book = of.book();
        let (begins_with, digest) = stood_at(book.header(), of, at);
        let given = begins_with.len() as u32;
        self.origin = Some(Origin { game: book.header().game, seq: Seq(at), digest, given });
        self.begins_with = begins_with;
        self.registry = of.registry.clone();
        (self.ruleset, self.version, self.given) = (of.ruleset.clone(), of.version, of.given.clone());
        (self.seats, self.marks, self.players, self.undo) = (of.seats, of.marks.clone(), of.players.clone(), of.undo);
        self
    }
}

/// The moves that stood at entry `at`, and its digest.
#[track_caller]
fn stood_at(header: &Header, of: &Table, at: u32) -> (Vec<Move>, plybook_core::Digest) {
    let mut game = Game::new(header.clone(), of.rulesets().rules_of(header).unwrap());
    let mut entries = Vec::new();
    for link in &of.book().lines()[..at as usize - 1] {
        entries.push(game.apply_line(&link.text, link.digest).unwrap());
    }
    assert_eq!(game.outcome(), None, "a game that is over is not gone on with");
    let made = |seq: &Seq| match &entries[seq.0 as usize - 2].body {
        Body::Move(made) | Body::Given(made) => made.clone(),
        other => panic!("no move stands there: {other:?}"),
    };
    (game.standing().iter().map(made).collect(), game.head().digest)
}

impl Started {
    #[track_caller]
    pub(super) fn give(&mut self, made: &Move) {
        let Header { created, by, .. } = self.game.header().clone();
        // Not whom the game waits for: a fork may have nonces to wait for first.
        let seat = self.game.position().to_move();
        let (seq, actor) = (self.game.head().seq.next(), Actor { seat, by });
        self.append(&Entry { seq, time: created, actor, body: Body::Given(made.clone()), seed: None });
    }
}
