//! One line of a book after the header.
//!
//! Invariant: an entry prints in one way, and what it prints parses back to the same entry
//! (`proto/book-format.md`, section 3). One append is one entry is one line.

mod incident;
mod read;

use std::fmt;

use crate::change::CellChange;
use crate::dice::{Face, Seed};
use crate::entropy::Commit;
use crate::header::Principal;
use crate::outcome::{Outcome, Winners};
use crate::rules::Verdict;
use crate::seat::{Seat, SeatSet};
use crate::seq::Seq;
use crate::time::Time;

pub use incident::{Act, Claim, Incident, Step};

/// Who is behind an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Actor {
    /// The seat acted for; nobody at the table for what concerns the whole game.
    pub seat: Option<Seat>,
    /// Who sent the request.
    pub by: Principal,
}

/// An entry after the header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its number, from 2.
    pub seq: Seq,
    /// When; players' clocks come from it, order never does.
    pub time: Time,
    /// Who.
    pub actor: Actor,
    /// What.
    pub body: Body,
    /// The seed, in the entry that closes the game.
    pub seed: Option<Seed>,
}

/// What an entry did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// A move of the game that this one was forked from.
    Given(Move),
    /// A seat commits to a nonce.
    Commit(Commit),
    /// A seat reveals the nonce that it committed to.
    Reveal(Reveal),
    /// The game ends because seats did not join in time.
    Absent(Absent),
    /// A move stands.
    Move(Move),
    /// Moves were taken back.
    Undo(Undo),
    /// Something that is no move.
    Incident(Incident),
    /// A finished game can no longer be reopened.
    Close,
}

/// A move, as asked for and as it turned out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    /// What was asked, in the ruleset's notation.
    pub notation: String,
    /// Standing moves after it.
    pub ply: u32,
    /// Dice shown, in order.
    pub faces: Vec<Face>,
    /// What it changed on the board, in the order of a book.
    pub cells: Vec<CellChange>,
    /// What follows.
    pub verdict: Verdict,
}

/// A nonce revealed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reveal {
    /// Its bytes.
    pub nonce: Vec<u8>,
    /// Who moves now; nobody while other seats have yet to reveal theirs.
    pub next: Option<Seat>,
}

/// Seats that did not join in time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Absent {
    /// The seats.
    pub seats: SeatSet,
    /// How the game ends.
    pub outcome: Outcome,
}

/// Moves taken back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undo {
    /// The move taken back, with everything after it.
    pub target: Seq,
    /// Standing moves after it.
    pub ply: u32,
    /// What it changed on the board, in the order of a book.
    pub cells: Vec<CellChange>,
    /// Who moves now.
    pub next: Seat,
    /// Whether it is the answer that completes an offer, and not a request of the seat's own.
    pub agreed: bool,
    /// Whether the game was finished before it.
    pub reopens: bool,
}

/// Why a line does not parse.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct EntryError {
    /// Why.
    pub why: String,
}

impl Entry {
    /// How the entry ended the game, if it did.
    pub const fn outcome(&self) -> Option<&Outcome> {
        match &self.body {
            Body::Move(Move { verdict: Verdict::Finished(outcome), .. })
            | Body::Absent(Absent { outcome, .. })
            | Body::Incident(Incident { verdict: Some(Verdict::Finished(outcome)), .. }) => Some(outcome),
            _ => None,
        }
    }

    /// Who moves after this entry; nobody if the game is over.
    pub const fn next_seat(&self) -> Option<Seat> {
        match &self.body {
            Body::Move(made) | Body::Given(made) => match made.verdict {
                Verdict::Next { seat, .. } => Some(seat),
                Verdict::Finished(_) => None,
            },
            Body::Incident(Incident { verdict: Some(Verdict::Next { seat, .. }), .. }) => Some(*seat),
            Body::Reveal(reveal) => reveal.next,
            Body::Undo(undo) => Some(undo.next),
            _ => None,
        }
    }

    /// Whether its line certainly fits ([`crate::limits::LINE_BYTES_MAX`]), without printing it: a move that ends nothing
    /// and changes a few cells. What it leaves out takes less than 400 bytes, a cell or a face less than 24.
    pub fn is_short(&self) -> bool {
        const PARTS: usize = 64;
        match &self.body {
            Body::Move(Move { notation, faces, cells, verdict: Verdict::Next { .. }, .. }) => {
                self.seed.is_none() && notation.len() <= PARTS && faces.len() + cells.len() <= PARTS
            }
            _ => false,
        }
    }

    /// Whether nothing may follow this entry.
    pub const fn closes(&self) -> bool {
        self.seed.is_some()
    }
}

/// Cell changes in the order of a book: by (before, after), then by cell.
#[must_use]
pub fn in_book_order(mut cells: Vec<CellChange>) -> Vec<CellChange> {
    cells.sort_unstable_by_key(|change| (change.before, change.after, change.cell));
    cells
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} ", self.seq, self.time)?;
        match self.actor.seat {
            Some(seat) => write!(f, "{seat}:{} ", self.actor.by)?,
            None => write!(f, "-:{} ", self.actor.by)?,
        }
        match &self.body {
            Body::Given(made) => write_move(f, "given", made)?,
            Body::Commit(commit) => {
                write!(f, "commit {}", commit.commitment)?;
                if let Some(signed) = &commit.signed {
                    write!(f, " key={} sig={}", hex::encode(signed.key), hex::encode(signed.signature))?;
                }
            }
            Body::Reveal(reveal) => {
                write!(f, "reveal {}", hex::encode(&reveal.nonce))?;
                if let Some(next) = reveal.next {
                    write!(f, " next={next}")?;
                }
            }
            Body::Absent(absent) => {
                write!(f, "absent {}", absent.seats)?;
                write_outcome(f, &absent.outcome)?;
            }
            Body::Move(made) => write_move(f, "move", made)?,
            Body::Undo(undo) => {
                let ask = if undo.agreed { "undo-accept" } else { "undo" };
                write!(f, "{ask} {} ply={}", undo.target, undo.ply)?;
                write_cells(f, &undo.cells)?;
                write!(f, " next={}{}", undo.next, if undo.reopens { " reopens=yes" } else { "" })?;
            }
            Body::Incident(Incident { act, verdict }) => {
                write!(f, "{act}")?;
                verdict.as_ref().map_or(Ok(()), |verdict| write_verdict(f, verdict))?;
            }
            Body::Close => f.write_str("close")?,
        }
        match &self.seed {
            Some(seed) => write!(f, " seed={}", hex::encode(seed.reveal())),
            None => Ok(()),
        }
    }
}

fn write_move(f: &mut fmt::Formatter<'_>, ask: &str, made: &Move) -> fmt::Result {
    write!(f, "{ask} {} ply={}", made.notation, made.ply)?;
    for (i, face) in made.faces.iter().enumerate() {
        write!(f, "{}{face}", if i == 0 { " throw=" } else { "," })?;
    }
    write_cells(f, &made.cells)?;
    write_verdict(f, &made.verdict)
}

fn write_verdict(f: &mut fmt::Formatter<'_>, verdict: &Verdict) -> fmt::Result {
    match verdict {
        Verdict::Next { seat, skipped } => {
            if !skipped.is_empty() {
                write!(f, " skip={skipped}")?;
            }
            write!(f, " next={seat}")
        }
        Verdict::Finished(outcome) => write_outcome(f, outcome),
    }
}

fn write_outcome(f: &mut fmt::Formatter<'_>, outcome: &Outcome) -> fmt::Result {
    match outcome.winners {
        Winners::Seats(seats) => write!(f, " win={seats}")?,
        Winners::Draw => f.write_str(" draw=yes")?,
        Winners::Void => f.write_str(" void=yes")?,
    }
    write!(f, " reason={}", outcome.reason)?;
    for (i, run) in outcome.lines.iter().enumerate() {
        write!(f, "{}{}+{}*{}", if i == 0 { " line=" } else { ";" }, run.first.0, run.step, run.count)?;
    }
    Ok(())
}

fn write_cells(f: &mut fmt::Formatter<'_>, cells: &[CellChange]) -> fmt::Result {
    let mut group = None;
    for change in cells {
        let this = (change.before, change.after);
        if group == Some(this) {
            write!(f, ",{}", change.cell.0)?;
        } else {
            let open = if group.is_none() { " cells=" } else { ";" };
            write!(f, "{open}{}>{}:{}", this.0.0, this.1.0, change.cell.0)?;
            group = Some(this);
        }
    }
    Ok(())
}

/// Reads a line of a book of format 1; of a book at hand, [`crate::Header::read_entry`] does.
pub fn read_format_1(line: &str) -> Result<Entry, EntryError> {
    let entry = read::read(line).map_err(|why| EntryError { why })?;
    if entry.to_string() == line { Ok(entry) } else { Err(EntryError { why: "is not printed in the canonical way".to_owned() }) }
}
