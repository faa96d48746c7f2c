//! Moves a game on by the entries of its book, checking each against the rules.
//!
//! Invariant: an entry is applied whole or not at all, and what it claims is what the rules say.

use crate::dice::Face;
use crate::digest::Digest;
use crate::entry::{Body, Entry, Move, Undo, in_book_order};
use crate::game::{Game, Head, State};
use crate::header::Header;
use crate::limits;
use crate::rejection::Rejection;
use crate::rules::Verdict;
use crate::seat::Seat;
use crate::seq::Seq;

/// What is wrong with an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The line is no line of a book, or not the one with its number.
    Form,
    /// There must be an entry, and there is none.
    Missing,
    /// The line is chained to something else than what stands before it, or a signature is wrong.
    Digest,
    /// The seed is not the one committed to, or it gives other faces.
    Seed,
    /// The line is whole and in its place, but the rules and policies of its game do not allow it, or
    /// give something else than it claims.
    Rules,
    /// This build has not the rules that the header pins, which is no fault of the book.
    Unsupported,
    /// Nothing: it cannot be judged, because the game was restored from a snapshot and does not know its way
    /// back so far. It is as it was, and is to be lengthened ([`Game::lengthen`]).
    WayBack {
        /// Where the way back has to be picked up.
        below: Seq,
    },
}

/// Why an entry does not follow from the book before it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("entry {seq}: {why}")]
pub struct FoldError {
    /// The first wrong entry.
    pub seq: Seq,
    /// What is wrong with it.
    pub fault: Fault,
    /// The code of the rule that a move breaks, where it is that.
    pub rule: Option<&'static str>,
    /// What it claims, and what the rules say.
    pub why: String,
}

/// What stands against an entry whose place is right.
struct Against {
    fault: Fault,
    rule: Option<&'static str>,
    why: String,
}

impl From<String> for Against {
    fn from(why: String) -> Against {
        Against { fault: Fault::Rules, rule: None, why }
    }
}

impl From<&str> for Against {
    fn from(why: &str) -> Against {
        why.to_owned().into()
    }
}

/// Reads the line of entry `seq`, which stands after the digest `before` and must be chained to it: all that
/// can be checked of it without rules.
pub(crate) fn read_link(header: &Header, seq: Seq, before: Digest, line: &str, digest: Digest) -> Result<Entry, FoldError> {
    let refused = |fault: Fault, why: String| FoldError { seq, fault, rule: None, why };
    let entry = header.read_entry(line).map_err(|error| refused(Fault::Form, format!("the line {error}")))?;
    let follows = before.chain(line);
    if follows != digest {
        return Err(refused(Fault::Digest, format!("its digest is {follows}, not {digest}")));
    }
    if entry.seq != seq {
        return Err(refused(Fault::Form, format!("it is numbered {}", entry.seq)));
    }
    Ok(entry)
}

impl Game {
    /// Moves on by the next line of the book and its stored digest.
    pub fn apply_line(&mut self, line: &str, digest: Digest) -> Result<Entry, FoldError> {
        let seq = self.head.seq.next();
        let entry = read_link(&self.header, seq, self.head.digest, line, digest)?;
        self.apply_linked(&entry, digest)?;
        Ok(entry)
    }

    /// Moves on by an entry, computing its digest.
    pub fn apply(&mut self, entry: &Entry) -> Result<Head, FoldError> {
        let digest = self.head.digest.chain(&entry.to_string());
        self.apply_linked(entry, digest)?;
        Ok(self.head)
    }

    fn apply_linked(&mut self, entry: &Entry, digest: Digest) -> Result<(), FoldError> {
        let seq = self.head.seq.next();
        if let (Body::Undo(_), Some(below)) = (&entry.body, self.way_back_needed(limits::UNDO_PLIES_MAX + 1)) {
            let why = format!("the way back is not known from entry {below} on");
            return Err(FoldError { seq, fault: Fault::WayBack { below }, rule: None, why });
        }
        self.fold(entry).map_err(|Against { fault, rule, why }| FoldError { seq, fault, rule, why })?;
        self.head = Head { seq: entry.seq, digest, time: entry.time };
        self.closed = entry.closes();
        if matches!(entry.body, Body::Given(_) | Body::Move(_) | Body::Undo(_)) {
            self.decided = entry.seq;
        }
        self.note_due();
        Ok(())
    }

    fn fold(&mut self, entry: &Entry) -> Result<(), Against> {
        if self.state() == State::Closed {
            return Err("the game was closed before it".into());
        }
        if entry.seq != self.head.seq.next() {
            return Err(format!("it is numbered {}", entry.seq).into());
        }
        if entry.time < self.head.time {
            return Err(format!("its time {} is before {}", entry.time, self.head.time).into());
        }
        if let Some(seat) = entry.actor.seat.filter(|seat| seat.0 >= self.header.seat_count()) {
            return Err(format!("the table has no seat {seat}").into());
        }
        if entry.seq.0 > limits::ENTRIES_MAX && !matches!(entry.body, Body::Close) {
            return Err(format!("a game has at most {} entries", limits::ENTRIES_MAX).into());
        }
        self.check_seed(entry)?;
        let given = self.position().ply() < self.header.given();
        if given != matches!(entry.body, Body::Given(_)) {
            return Err(format!("the game begins with {} moves given to it, no more and no less", self.header.given()).into());
        }
        match &entry.body {
            Body::Given(Move { verdict: Verdict::Finished(_), .. }) => Err("a move that ended a game is given".into()),
            Body::Given(_) if entry.time != self.header.created || entry.actor.by != self.header.by => {
                Err("a given move has the time and the principal of the header".into())
            }
            Body::Given(made) => self.fold_move(entry.seq, entry.actor.seat, made),
            Body::Commit(commit) => Ok(self.fold_commit(entry.actor.seat, commit, entry.time)?),
            Body::Reveal(reveal) => Ok(self.fold_reveal(entry.actor.seat, reveal, entry.time)?),
            Body::Absent(absent) => Ok(self.fold_absent(entry.actor.seat, absent, entry.time)?),
            Body::Move(_) | Body::Undo(_) if self.waits_for().is_some() => Err("seats have yet to join".into()),
            Body::Move(made) => self.fold_move(entry.seq, entry.actor.seat, made),
            Body::Undo(undo) => Ok(self.fold_undo(entry.actor.seat, undo)?),
            Body::Close if entry.actor.seat.is_some() => Err("a game is closed by nobody at the table".into()),
            Body::Close if self.state() == State::Finished => Ok(()),
            Body::Close => Err("it closes a game that is not finished".into()),
        }
    }

    fn check_seed(&self, entry: &Entry) -> Result<(), Against> {
        let closes = match entry.body {
            Body::Move(_) => entry.outcome().is_some() && !self.header.undo.after_end,
            Body::Given(_) | Body::Commit(_) | Body::Reveal(_) | Body::Undo(_) => false,
            Body::Absent(_) | Body::Close => true,
        };
        match &entry.seed {
            Some(_) if !closes => Err("it reveals the seed but does not close the game".into()),
            None if closes => Err("it closes the game but does not reveal the seed".into()),
            Some(seed) if seed.commitment() != self.header.commitment => {
                Err(Against { fault: Fault::Seed, rule: None, why: "its seed is not the one committed to".to_owned() })
            }
            _ => Ok(()),
        }
    }

    fn fold_move(&mut self, seq: Seq, seat: Option<Seat>, made: &Move) -> Result<(), Against> {
        let to_move = self.position().to_move().ok_or("the game was finished before it")?;
        if seat != Some(to_move) {
            return Err(format!("it is a move of another seat than {to_move}, whose turn it is").into());
        }
        let action =
            self.rules().read_action(&made.notation).ok_or_else(|| format!("{:?} is not an action of this game", made.notation))?;
        if !self.rules().shapes().contains(&action.shape()) {
            return Err(format!("{:?} is not an action of this game", made.notation).into());
        }
        self.check_faces(action, &made.faces)?;
        let changes = self.play.resolve(action, &made.faces).map_err(|illegal| Against {
            fault: Fault::Rules,
            rule: Some(illegal.rule),
            why: format!("the move is illegal: {illegal}"),
        })?;
        if in_book_order(changes.cells().to_vec()) != made.cells {
            return Err("it claims other changes than the rules make".into());
        }
        let verdict = self.play.step(changes, !made.faces.is_empty());
        let ply = self.position().ply();
        if verdict != made.verdict || ply != made.ply {
            self.play.back();
            return Err(format!("it claims another result than the rules give: {}", tell(&verdict)).into());
        }
        self.standing.push(seq);
        Ok(())
    }

    fn check_faces(&self, action: crate::Action, faces: &[Face]) -> Result<(), String> {
        let (dice, sides) = self.rules().throw(action).map_or((0, 0), |throw| (throw.dice, throw.sides));
        let fit = faces.len() == usize::from(dice) && faces.iter().all(|face| (1..=sides).contains(face));
        if fit { Ok(()) } else { Err(format!("it shows other dice than {dice} with {sides} sides")) }
    }

    fn fold_undo(&mut self, seat: Option<Seat>, undo: &Undo) -> Result<(), String> {
        let at = match self.undoable(seat, Some(undo.target)) {
            Ok(at) => at,
            Err(Rejection::NothingToUndo) => return Err(format!("no move {} stands", undo.target)),
            Err(refused) => return Err(format!("move {} may not be taken back: {refused}", undo.target)),
        };
        let cells = in_book_order(self.play.changes_back_by(self.standing.len() - at));
        if self.standing[at] != undo.target || cells != undo.cells || undo.ply as usize != self.play.floor() + at {
            return Err("it claims other changes than going back makes".to_owned());
        }
        if self.play.standing()[at].seat != undo.next {
            return Err("it claims that another seat is next than the one whose move was taken back".to_owned());
        }
        while self.standing.len() > at {
            self.standing.pop();
            self.play.back();
        }
        Ok(())
    }
}

fn tell(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Next { seat, .. } => format!("seat {seat} is next"),
        Verdict::Finished(outcome) if outcome.is_void() => format!("no result ({})", outcome.reason),
        Verdict::Finished(outcome) if outcome.winning_seats().is_empty() => format!("a draw ({})", outcome.reason),
        Verdict::Finished(outcome) => format!("won by {} ({})", outcome.winning_seats(), outcome.reason),
    }
}
