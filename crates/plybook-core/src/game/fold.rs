//! Moves a game on by the entries of its book, checking each against the rules.
//!
//! Invariant: an entry is applied whole or not at all, and what it claims is what the rules say.

use crate::dice::Face;
use crate::digest::Digest;
use crate::entry::{Act, Body, Entry, Incident, Move, Step, Undo, in_book_order};
use crate::game::{Game, Head, State};
use crate::header::{Header, Principal};
use crate::limits;
use crate::rejection::{Rejection, UndoRefusal};
use crate::rules::Verdict;
use crate::seat::Seat;
use crate::seq::Seq;
use crate::time::Time;

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
        self.apply_as(entry, self.head.digest.chain(&entry.to_string()))
    }

    /// The same of an entry that was printed already, and so has its digest: the head's, chained to its line.
    pub fn apply_as(&mut self, entry: &Entry, digest: Digest) -> Result<Head, FoldError> {
        debug_assert_eq!(digest, self.head.digest.chain(&entry.to_string()), "the digest of another line");
        self.apply_linked(entry, digest)?;
        Ok(self.head)
    }

    fn apply_linked(&mut self, entry: &Entry, digest: Digest) -> Result<(), FoldError> {
        let seq = self.head.seq.next();
        let may_go_back = matches!(&entry.body, Body::Undo(_) | Body::Incident(Incident { act: Act::Undo(Step::Offer, _), .. }));
        if let (true, Some(below)) = (may_go_back, self.way_back_needed(limits::UNDO_PLIES_MAX + 1)) {
            let why = format!("the way back is not known from entry {below} on");
            return Err(FoldError { seq, fault: Fault::WayBack { below }, rule: None, why });
        }
        self.fold(entry).map_err(|Against { fault, rule, why }| FoldError { seq, fault, rule, why })?;
        let acted = entry.actor.seat.filter(|_| !entry.actor.by.is_service() && !is_away(&entry.body));
        if let Some(seat) = acted.filter(|seat| self.living.live.contains(*seat)) {
            // Who acts is there, whatever was reported.
            self.each_presence(|presence| {
                if presence.away(seat).is_some() {
                    presence.is_back(seat, entry.time, false);
                }
            });
        }
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
        if entry.seq.0 > limits::ENTRIES_MAX && !entry.closes() {
            return Err(format!("a game has at most {} entries", limits::ENTRIES_MAX).into());
        }
        if let Some((deadline, _)) = self.due().filter(|(deadline, _)| entry.time > *deadline) {
            return Err(format!("a deadline passed at {deadline}, and nothing settles it before").into());
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
            Body::Given(made) => self.fold_given(entry.seq, entry.actor.seat, made, entry.time),
            Body::Commit(commit) => Ok(self.fold_commit(entry.actor.seat, commit, entry.time)?),
            Body::Reveal(reveal) => Ok(self.fold_reveal(entry.actor.seat, reveal, entry.time)?),
            Body::Absent(absent) => Ok(self.fold_absent(entry.actor.seat, absent, entry.time)?),
            Body::Move(_) | Body::Undo(_) if self.waits_for().is_some() => Err("seats have yet to join".into()),
            Body::Move(made) => {
                if let Some(seat) = entry.actor.seat.filter(|seat| self.to_move() == Some(*seat)) {
                    self.check_hand(seat, &entry.actor.by).map_err(|refused| refused.to_string())?;
                }
                self.fold_move(entry.seq, entry.actor.seat, made, entry.time)
            }
            Body::Undo(undo) => Ok(self.fold_undo(entry.actor.seat, undo, entry.time)?),
            Body::Incident(incident) => Ok(self.fold_incident(entry, incident)?),
            Body::Close if entry.actor.seat.is_some() => Err("a game is closed by nobody at the table".into()),
            Body::Close if self.state() == State::Finished => Ok(()),
            Body::Close => Err("it closes a game that is not finished".into()),
        }
    }

    fn check_seed(&self, entry: &Entry) -> Result<(), Against> {
        let closes = match entry.body {
            Body::Move(_) => entry.outcome().is_some() && !self.header.undo.after_end,
            Body::Given(_) | Body::Commit(_) | Body::Reveal(_) | Body::Undo(_) => false,
            Body::Incident(_) => entry.outcome().is_some(),
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

    /// A given move may be of another seat than the one whose turn it would be: in the other game that turn passed.
    fn fold_given(&mut self, seq: Seq, seat: Option<Seat>, made: &Move, at: Time) -> Result<(), Against> {
        let Some(seat) = seat else { return Err("a move is a seat's".into()) };
        if self.position().to_move() == Some(seat) {
            self.fold_step(seq, Some(seat), made)?;
        } else {
            let before = self.play.clone();
            self.play.pass_to(seat);
            if let Err(against) = self.fold_step(seq, Some(seat), made) {
                self.play = before;
                return Err(against);
            }
        }
        self.living.given(at, self.position().to_move());
        Ok(())
    }

    fn fold_move(&mut self, seq: Seq, seat: Option<Seat>, made: &Move, at: Time) -> Result<(), Against> {
        let seat = self.fold_step(seq, seat, made)?;
        self.living.moved(&self.header, seat, at, self.play.position().to_move());
        Ok(())
    }

    /// The move itself; answers whose it was.
    fn fold_step(&mut self, seq: Seq, seat: Option<Seat>, made: &Move) -> Result<Seat, Against> {
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
        let verdict = self.step(changes, !made.faces.is_empty());
        let ply = self.position().ply();
        if verdict != made.verdict || ply != made.ply {
            self.play.back();
            return Err(format!("it claims another result than the rules give: {}", tell(&verdict)).into());
        }
        self.standing.push(seq);
        self.living.keep_banks();
        Ok(to_move)
    }

    fn fold_incident(&mut self, entry: &Entry, incident: &Incident) -> Result<(), String> {
        let (seat, act, at) = (entry.actor.seat, incident.act, entry.time);
        let by_time = matches!(act, Act::Timeout(_) | Act::Forfeit(_) | Act::Credit(_));
        if by_time {
            if seat.is_some() || entry.actor.by != Principal::service() {
                return Err("a time that is over is told by the service, and by nobody at the table".to_owned());
            }
            self.settles(act, at)?;
        } else {
            if self.state() == State::Finished && !act.concerns_the_end() {
                return Err("the game was finished before it".to_owned());
            }
            self.check_act(seat, act, at).map_err(|refused| format!("it is refused: {refused}"))?;
            if self.agreed_undo(seat, act).is_some() {
                return Err("it completes an agreement to take back, and takes nothing back".to_owned());
            }
        }
        if self.verdict_after(act, seat, at) != incident.verdict {
            return Err("it claims that something else follows from it than does".to_owned());
        }
        self.apply_act(entry.seq, seat, incident, at);
        Ok(())
    }

    fn check_faces(&self, action: crate::Action, faces: &[Face]) -> Result<(), String> {
        let (dice, sides) = self.rules().throw(action).map_or((0, 0), |throw| (throw.dice, throw.sides));
        let fit = faces.len() == usize::from(dice) && faces.iter().all(|face| (1..=sides).contains(face));
        if fit { Ok(()) } else { Err(format!("it shows other dice than {dice} with {sides} sides")) }
    }

    fn fold_undo(&mut self, seat: Option<Seat>, undo: &Undo, at: Time) -> Result<(), String> {
        let asker = self.undo_asker(seat, undo).map_err(|refused| format!("the undo is refused: {refused}"))?;
        let right = match self.undo_to(asker, Some(undo.target), undo.agreed) {
            Ok(right) => right,
            Err(Rejection::NothingToUndo) => return Err(format!("no move {} stands", undo.target)),
            Err(refused) => return Err(format!("move {} may not be taken back: {refused}", undo.target)),
        };
        if (&right.cells, right.ply) != (&undo.cells, undo.ply) {
            return Err("it claims other changes than going back makes".to_owned());
        }
        if right != *undo {
            return Err(format!("it claims that another seat is next than {}, or that it reopens a game where it does not", right.next));
        }
        let standing = right.ply as usize - self.play.floor();
        while self.standing.len() > standing {
            self.standing.pop();
            self.play.back();
        }
        if self.position().to_move() != Some(right.next) {
            self.play.pass_to(right.next);
        }
        self.living.undone(standing, at, right.next);
        Ok(())
    }

    /// Whose undo it is: of an acceptance, that of the seat which offered it.
    fn undo_asker(&self, seat: Option<Seat>, undo: &Undo) -> Result<Seat, Rejection> {
        let Some(seat) = seat else { return Err(Rejection::SeatNeeded) };
        self.check_live(seat)?;
        if self.header.terms.bot(seat).is_some() {
            return Err(Rejection::BotSeat { seat });
        }
        if !undo.agreed {
            return Ok(seat);
        }
        let act = Act::Undo(Step::Accept, undo.target);
        self.check_act(Some(seat), act, self.head.time)?;
        self.agreed_undo(Some(seat), act).map(|(by, _)| by).ok_or(Rejection::UndoNotAllowed(UndoRefusal::NotAgreed))
    }
}

fn is_away(body: &Body) -> bool {
    matches!(body, Body::Incident(Incident { act: Act::Away, .. }))
}

fn tell(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Next { seat, .. } => format!("seat {seat} is next"),
        Verdict::Finished(outcome) if outcome.is_void() => format!("no result ({})", outcome.reason),
        Verdict::Finished(outcome) if outcome.winning_seats().is_empty() => format!("a draw ({})", outcome.reason),
        Verdict::Finished(outcome) => format!("won by {} ({})", outcome.winning_seats(), outcome.reason),
    }
}
