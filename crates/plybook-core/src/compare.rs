//! Where two books part, and where the games in them do.
//!
//! Two books part at the first entry whose lines differ. Two games part at the first standing move that differs,
//! by notation or by faces, whatever was taken back on the way: that is what an arbiter of a mirrored or a forked
//! game wants, whose headers differ from the first entry on.
//!
//! Invariant: it takes the lines at their word and needs no rules, so that evidence compares which no rules accept;
//! of a book it keeps a few bytes a standing move, however long its lines are.

use crate::book::Book;
use crate::digest::Digest;
use crate::entry::{Body, Move};
use crate::header::Header;
use crate::seq::Seq;

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// Entries that are the same in both books, from the first on.
    pub common: u32,
    /// Where the books part; nothing where they are equal.
    pub book: Option<BookPart>,
    /// Where the games part; nothing where the same moves stand in both.
    pub moves: Option<MovePart>,
}

/// The first entry in which two books differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BookPart {
    /// Its number.
    pub seq: Seq,
    /// Its line in the left and in the right book; nothing where the book ends before.
    pub lines: [Option<String>; 2],
}

/// The first standing move in which two games differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MovePart {
    /// How many moves stand once it is made, from 1.
    pub ply: u32,
    /// Where the position before it stands, in the left and in the right book: at the move before, or the header.
    pub before: [Seq; 2],
    /// Its entry in the left and in the right book; nothing where fewer moves stand.
    pub at: [Option<Seq>; 2],
}

/// A line that is no entry of its book.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("entry {seq}: {why}")]
pub struct NotAnEntry {
    /// In which book: 0 is the left one.
    pub side: usize,
    /// Which entry it should be.
    pub seq: Seq,
    /// Why it is none.
    pub why: String,
}

/// A comparison under way, entry by entry.
#[derive(Debug)]
pub struct Comparison {
    sides: [Side; 2],
    /// The last entry seen.
    at: Seq,
    part: Option<BookPart>,
}

#[derive(Debug)]
struct Side {
    header: Header,
    standing: Vec<Standing>,
}

/// A move that stands.
#[derive(Clone, Copy, Debug)]
struct Standing {
    seq: Seq,
    /// Of its notation and faces.
    mark: [u8; 16],
}

impl Comparison {
    /// Begins with the headers of the left and of the right book.
    pub fn begin(left: Header, right: Header) -> Comparison {
        let texts = [left.to_string(), right.to_string()];
        let part = (texts[0] != texts[1]).then(|| BookPart { seq: Seq::FIRST, lines: texts.map(Some) });
        Comparison { sides: [left, right].map(|header| Side { header, standing: Vec::new() }), at: Seq::FIRST, part }
    }

    /// The last entry seen.
    pub const fn at(&self) -> Seq {
        self.at
    }

    /// Goes on with the next line of each book; nothing of one that has ended.
    pub fn follow(&mut self, left: Option<&str>, right: Option<&str>) -> Result<(), NotAnEntry> {
        let seq = self.at.next();
        let lines = [left, right];
        for (number, (side, line)) in self.sides.iter_mut().zip(lines).enumerate() {
            let Some(line) = line else { continue };
            side.follow(seq, line).map_err(|why| NotAnEntry { side: number, seq, why })?;
        }
        if self.part.is_none() && left != right {
            self.part = Some(BookPart { seq, lines: lines.map(|line| line.map(str::to_owned)) });
        }
        self.at = seq;
        Ok(())
    }

    /// What was found.
    pub fn finish(self) -> Divergence {
        let common = self.part.as_ref().map_or(self.at.0, |part| part.seq.0 - 1);
        let [left, right] = &self.sides;
        let same = left.standing.iter().zip(&right.standing).take_while(|(left, right)| left.mark == right.mark).count();
        let at = [left, right].map(|side| side.standing.get(same).map(|standing| standing.seq));
        let before = [left, right].map(|side| same.checked_sub(1).map_or(Seq::FIRST, |last| side.standing[last].seq));
        let moves = at.iter().any(Option::is_some).then(|| MovePart { ply: same as u32 + 1, before, at });
        Divergence { common, book: self.part, moves }
    }
}

impl Side {
    fn follow(&mut self, seq: Seq, line: &str) -> Result<(), String> {
        let entry = self.header.read_entry(line).map_err(|error| error.why)?;
        if entry.seq != seq {
            return Err(format!("it is numbered {}", entry.seq));
        }
        match &entry.body {
            Body::Given(made) | Body::Move(made) => self.standing.push(Standing { seq, mark: mark(made) }),
            // An undo of what does not stand takes nothing back: no rules accept it.
            Body::Undo(undo) => {
                if let Ok(ply) = self.standing.binary_search_by_key(&undo.target, |standing| standing.seq) {
                    self.standing.truncate(ply);
                }
            }
            Body::Commit(_) | Body::Reveal(_) | Body::Absent(_) | Body::Incident(_) | Body::Close => {}
        }
        Ok(())
    }
}

fn mark(made: &Move) -> [u8; 16] {
    // No notation has a zero byte in it.
    let text = [made.notation.as_bytes(), &[0], &made.faces].concat();
    let mut mark = [0; 16];
    mark.copy_from_slice(&Digest::of(&text).0[..16]);
    mark
}

fn text(book: &Book, at: usize) -> Option<&str> {
    book.lines().get(at).map(|link| link.text.as_str())
}

/// Compares two whole books.
pub fn compare(left: &Book, right: &Book) -> Result<Divergence, NotAnEntry> {
    let mut comparison = Comparison::begin(left.header().clone(), right.header().clone());
    for at in 0..left.lines().len().max(right.lines().len()) {
        comparison.follow(text(left, at), text(right, at))?;
    }
    Ok(comparison.finish())
}
