//! The moves that stand, as the entries of a book tell them.
//!
//! Invariant: it needs no rules: a move stands until an undo takes it back, and an undo says how many
//! moves stand after it. Whether the entries follow from the rules is [`crate::Game`]'s to say.

use crate::book::Link;
use crate::entry::{Body, Entry, Move};
use crate::header::Header;
use crate::seat::Seat;
use crate::seq::Seq;

/// A move that stands, and the seat that made it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StandingMove {
    /// Who moved.
    pub seat: Seat,
    /// What the entry says of it.
    pub made: Move,
}

/// The moves that stand after some entry, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StandingMoves(Vec<StandingMove>);

impl StandingMoves {
    /// Goes on by an entry; given moves stand like any others.
    pub fn follow(&mut self, entry: Entry) -> Result<(), String> {
        match entry.body {
            Body::Given(made) | Body::Move(made) => {
                let seat = entry.actor.seat.ok_or("a move is a seat's")?;
                self.0.push(StandingMove { seat, made });
                match self.0.last() {
                    Some(last) if last.made.ply as usize == self.0.len() => Ok(()),
                    _ => Err(format!("{} moves stand, and it claims another number", self.0.len())),
                }
            }
            Body::Undo(undo) if (undo.ply as usize) < self.0.len() => {
                self.0.truncate(undo.ply as usize);
                Ok(())
            }
            Body::Undo(undo) => Err(format!("{} moves stand, and it leaves {}", self.0.len(), undo.ply)),
            Body::Commit(_) | Body::Reveal(_) | Body::Absent(_) | Body::Incident(_) | Body::Close => Ok(()),
        }
    }

    /// Those after entry `until` of a book whose lines after the header are these.
    pub fn at(header: &Header, lines: &[Link], until: Seq) -> Result<StandingMoves, String> {
        let mut standing = StandingMoves::default();
        for (seq, link) in (2..=until.0).zip(lines) {
            let read = header.read_entry(&link.text).map_err(|error| error.why);
            read.and_then(|entry| standing.follow(entry)).map_err(|why| format!("entry {seq}: {why}"))?;
        }
        Ok(standing)
    }

    /// The moves.
    pub fn moves(&self) -> &[StandingMove] {
        &self.0
    }
}
