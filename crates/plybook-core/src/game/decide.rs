//! What may be appended: turns a request into an entry, or says why not.
//!
//! Order of checks: shape → closed or finished → expected entry → turn → legality → limits.

use crate::action::Action;
use crate::change::Changes;
use crate::dice::Seed;
use crate::entropy::Commit;
use crate::entry::{Act, Actor, Body, Entry, Incident, Move, Step, in_book_order};
use crate::game::{Due, Game, Hand, State};
use crate::header::{Principal, UndoBy};
use crate::limits;
use crate::outcome::{Outcome, Winners};
use crate::rejection::{Rejection, UndoRefusal};
use crate::rules::Verdict;
use crate::seat::{Seat, SeatSet};
use crate::seq::Seq;
use crate::time::Time;

/// What somebody wants of a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Who.
    pub actor: Actor,
    /// The last entry that they decided on; a step of joining depends on none, nor does leaving, aborting or
    /// presence.
    pub expected: Seq,
    /// What.
    pub ask: Ask,
}

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ask {
    /// A move.
    Move(Action),
    /// A move in the ruleset's notation.
    MoveText(String),
    /// To take back the move with this number and everything after it; without a number, the
    /// seat's latest standing move.
    Undo(Option<Seq>),
    /// To commit to a nonce.
    Commit(Commit),
    /// To reveal the nonce committed to.
    Reveal(Vec<u8>),
    /// Something that is no move.
    Act(Act),
    /// To close a finished game, or one in which seats did not join in time.
    Close,
}

impl Ask {
    /// Whether it means something else once another entry has touched the position.
    const fn is_decided_on_an_entry(&self) -> bool {
        match self {
            Ask::Commit(_) | Ask::Reveal(_) => false,
            Ask::Act(act) => matches!(act, Act::Claim(_) | Act::Draw(_) | Act::Undo(..)),
            Ask::Move(_) | Ask::MoveText(_) | Ask::Undo(_) | Ask::Close => true,
        }
    }
}

impl Game {
    /// The entry that this request becomes at `now`, or why it is refused. The game stays as it was.
    pub fn decide(&mut self, request: &Request, now: Time, seed: &Seed) -> Result<Entry, Rejection> {
        let action = self.read_ask(request)?;
        let time = now.max(self.head.time);
        // Of joining every step says for itself that it is too late.
        let settled = |due: &Due| *due == Due::Joining && !matches!(request.ask, Ask::Act(_));
        if let Some((deadline, _)) = self.overdue(time).filter(|(_, due)| !settled(due)) {
            return Err(Rejection::Unsettled { deadline });
        }
        self.check_open(&request.ask, time)?;
        let absence = self.absence(time).filter(|_| request.ask == Ask::Close);
        if request.ask.is_decided_on_an_entry() && (request.expected < self.decided || request.expected > self.head.seq) {
            return Err(Rejection::Stale { expected: request.expected, head: self.head.seq });
        }
        if self.offer_answered(&request.ask).is_some_and(|offer| request.expected < offer) {
            return Err(Rejection::Stale { expected: request.expected, head: self.head.seq });
        }
        let (body, time) = match absence {
            Some((absent, deadline)) => (Body::Absent(absent), deadline),
            None => (self.decide_body(request, action, time, seed)?, time),
        };
        let entry = self.entry(request.actor.clone(), time, body, seed);
        // What closes a game can be appended even then, or its seed would stay hidden.
        if self.head.seq.0 >= limits::ENTRIES_MAX && !entry.closes() {
            return Err(Rejection::Limit { limit: "entries_per_game", most: u64::from(limits::ENTRIES_MAX) });
        }
        if !entry.is_short() && entry.to_string().len() > limits::LINE_BYTES_MAX {
            return Err(Rejection::Limit { limit: "line_bytes", most: limits::LINE_BYTES_MAX as u64 });
        }
        Ok(entry)
    }

    /// The entry of the open offer that this is an answer to: whoever answers has seen it.
    fn offer_answered(&self, ask: &Ask) -> Option<Seq> {
        let offer = match ask {
            Ask::Act(Act::Draw(step)) if *step != Step::Offer => self.living.offers.draw(),
            Ask::Act(Act::Undo(step, _)) if *step != Step::Offer => self.living.offers.undo(),
            _ => None,
        };
        offer.map(|offer| offer.seq)
    }

    fn decide_body(&mut self, request: &Request, action: Option<Action>, at: Time, seed: &Seed) -> Result<Body, Rejection> {
        let seat = request.actor.seat;
        match (&request.ask, action) {
            (Ask::Commit(commit), _) => self.decide_commit(seat, commit, at),
            (Ask::Reveal(nonce), _) => self.decide_reveal(seat, nonce, at),
            (Ask::Undo(target), _) => self.decide_undo(seat, *target),
            (Ask::Act(act), _) => self.decide_act(seat, *act, at),
            (_, Some(action)) => Ok(Body::Move(self.decide_move(&request.actor, action, seed)?)),
            (_, None) => Ok(Body::Close),
        }
    }

    pub(super) fn entry(&self, actor: Actor, time: Time, body: Body, seed: &Seed) -> Entry {
        let closes = match &body {
            Body::Move(Move { verdict: Verdict::Finished(_), .. }) => !self.header.undo.after_end,
            Body::Incident(Incident { verdict: Some(Verdict::Finished(_)), .. }) | Body::Close | Body::Absent(_) => true,
            _ => false,
        };
        // What concerns the game and not a seat is nobody's at the table, whoever asked for it.
        let seat = if matches!(body, Body::Close | Body::Absent(_)) { None } else { actor.seat };
        let actor = Actor { seat, ..actor };
        Entry { seq: self.head.seq.next(), time, actor, body, seed: closes.then(|| seed.clone()) }
    }

    fn read_ask(&self, request: &Request) -> Result<Option<Action>, Rejection> {
        let seats = self.header.seat_count();
        let named = if let Ask::Act(act) = &request.ask { act.names() } else { None };
        if let Some(seat) = request.actor.seat.into_iter().chain(named).find(|seat| seat.0 >= seats) {
            return Err(Rejection::NoSuchSeat { seat, seats });
        }
        let shapes = self.rules().shapes();
        let refuse = |detail: String| Rejection::InvalidAction { detail, accepted: shapes.iter().map(|shape| shape.name()).collect() };
        match &request.ask {
            Ask::Undo(_) | Ask::Commit(_) | Ask::Reveal(_) | Ask::Act(_) | Ask::Close => Ok(None),
            Ask::Move(action) if shapes.contains(&action.shape()) => Ok(Some(*action)),
            Ask::Move(action) => Err(refuse(format!("this game has no action {:?}", action.shape().name()))),
            Ask::MoveText(text) if text.len() > limits::NOTATION_BYTES_MAX => {
                Err(refuse(format!("a notation has at most {} bytes", limits::NOTATION_BYTES_MAX)))
            }
            Ask::MoveText(text) => {
                self.rules().read_action(text).map(Some).ok_or_else(|| refuse(format!("{text:?} is not an action of this game")))
            }
        }
    }

    fn check_open(&self, ask: &Ask, now: Time) -> Result<(), Rejection> {
        let finished = |outcome: &Outcome, closed| Err(Rejection::Finished { outcome: outcome.clone(), closed });
        match (self.state(), self.outcome(), ask) {
            (State::Active, _, Ask::Close) if self.absence(now).is_none() => Err(Rejection::NotFinished),
            (State::Closed, Some(outcome), _) => finished(outcome, true),
            (State::Finished, Some(_), Ask::Undo(_) | Ask::Close) => Ok(()),
            (State::Finished, Some(_), Ask::Act(act)) if act.concerns_the_end() => Ok(()),
            (State::Finished, Some(outcome), _) => finished(outcome, false),
            _ => Ok(()),
        }
    }

    fn decide_move(&mut self, actor: &Actor, action: Action, seed: &Seed) -> Result<Move, Rejection> {
        if let Some(rejection) = self.not_joined() {
            return Err(rejection);
        }
        let to_move = self.to_move().ok_or(Rejection::NotFinished)?;
        if let Some(seat) = actor.seat {
            self.check_live(seat)?;
        }
        if actor.seat != Some(to_move) {
            return Err(Rejection::NotYourTurn { to_move });
        }
        self.check_hand(to_move, &actor.by)?;
        let throw = self.rules().throw(action);
        let draw = self.position().throws();
        let faces = throw.map_or_else(Vec::new, |throw| self.dice(seed.clone()).throw(draw, to_move, throw));
        let changes = self.play.resolve(action, &faces).map_err(Rejection::Illegal)?;
        let cells = in_book_order(changes.cells().to_vec());
        let verdict = self.step(changes, throw.is_some());
        let ply = self.position().ply();
        let stepped = self.play.back();
        assert!(stepped.is_some(), "the trial step is taken back");
        Ok(Move { notation: self.rules().write_action(action), ply, faces, cells, verdict })
    }

    /// One step forward: where the rules give the turn to a seat that has left, the next one has it.
    pub(super) fn step(&mut self, changes: Changes, threw: bool) -> Verdict {
        let live = self.living.live;
        let (seat, skipped) = match self.play.step(changes, threw) {
            Verdict::Next { seat, skipped } => (seat, skipped),
            Verdict::Finished(outcome) => return Verdict::Finished(self.without_leavers(outcome)),
        };
        let skipped: SeatSet = skipped.iter().filter(|seat| live.contains(*seat)).collect();
        if live.contains(seat) {
            return Verdict::Next { seat, skipped };
        }
        // Where none of them can move, the rules are waited for in vain, and the service has to abort the game.
        let Some((next, passed_over)) = self.play.next_mover(live) else { return Verdict::Next { seat, skipped } };
        self.play.pass_to(next);
        Verdict::Next { seat: next, skipped: passed_over.iter().fold(skipped, SeatSet::with) }
    }

    /// Who has left does not win, whatever the rules say of its pieces; where that leaves nobody, it is a draw.
    fn without_leavers(&mut self, outcome: Outcome) -> Outcome {
        let winners: SeatSet = outcome.winning_seats().iter().filter(|seat| self.living.live.contains(*seat)).collect();
        if winners == outcome.winning_seats() {
            return outcome;
        }
        let winners = if winners.is_empty() { Winners::Draw } else { Winners::Seats(winners) };
        let outcome = Outcome { winners, ..outcome };
        self.play.ends_by(outcome.clone());
        outcome
    }

    /// Whether whoever is behind `by` moves for this seat, whose turn it is.
    pub(super) fn check_hand(&self, seat: Seat, by: &Principal) -> Result<(), Rejection> {
        let fits = match self.waits_for_bot() {
            Some(Hand::Bot) => *by == Principal::bot() || *by == Principal::fallback(),
            Some(Hand::Fallback) => *by == Principal::fallback(),
            None => !by.is_service(),
        };
        if fits { Ok(()) } else { Err(Rejection::BotSeat { seat }) }
    }

    fn decide_undo(&self, seat: Option<Seat>, target: Option<Seq>) -> Result<Body, Rejection> {
        if let Some(rejection) = self.not_joined() {
            return Err(rejection);
        }
        let Some(seat) = seat else { return Err(Rejection::UndoNotAllowed(UndoRefusal::NotYourMove)) };
        self.check_live(seat)?;
        if self.header.terms.bot(seat).is_some() {
            return Err(Rejection::BotSeat { seat });
        }
        Ok(Body::Undo(self.undo_to(seat, target, false)?))
    }

    /// Which of the standing moves that are known is the first to go once `seat` takes back the move with
    /// this number, or, without a number, its latest standing move; or why it may not. Deciding and
    /// folding both ask here.
    ///
    /// The answer depends on the last moves alone, one more than an undo takes back, so that it is the
    /// same for whoever knows no more: of what lies further back it is not asked whether it stands.
    pub(super) fn undoable(&self, seat: Seat, target: Option<Seq>, agreed: bool) -> Result<usize, Rejection> {
        const LOOK: usize = limits::UNDO_PLIES_MAX + 1;
        let refuse = |why| Err(Rejection::UndoNotAllowed(why));
        let (policy, given) = (self.header.undo, self.header.given() as usize);
        if policy.by == UndoBy::None || (self.state() == State::Finished && !policy.after_end) {
            return refuse(UndoRefusal::Policy);
        }
        if policy.by == UndoBy::Agreement && !agreed && !self.others(seat).is_empty() {
            return refuse(UndoRefusal::NotAgreed);
        }
        if self.header.terms.undo_limit.is_some_and(|most| self.living.undos >= most) {
            return refuse(UndoRefusal::UsedUp);
        }
        // They are the first entries after the header, and always stand.
        if target.is_some_and(|target| target > Seq::FIRST && target.0 as usize <= given + 1) {
            return refuse(UndoRefusal::Given);
        }
        if let Some(below) = self.way_back_needed(LOOK) {
            return Err(Rejection::WayBack { below });
        }
        let first = self.standing.len().saturating_sub(LOOK);
        let found = match target {
            Some(target) => self.standing[first..].binary_search(&target),
            None => self.play.standing()[first..].iter().rposition(|standing| standing.seat == seat).ok_or(0),
        };
        let further_back = first > 0 || self.play.floor() > 0;
        let at = match found {
            Ok(at) => first + at,
            Err(0) if further_back => first,
            Err(_) => return Err(Rejection::NothingToUndo),
        };
        if self.play.floor() + at < given {
            return refuse(UndoRefusal::Given);
        }
        let taken = &self.play.standing()[at..];
        // What bots did is no answer: an undo against them goes back to the person's own choice.
        let answers = |other: Seat| other != seat && self.header.terms.bot(other).is_none();
        if policy.by == UndoBy::OwnLastMove && (taken[0].seat != seat || taken.iter().any(|standing| answers(standing.seat))) {
            return refuse(UndoRefusal::NotYourMove);
        }
        if !policy.over_throw && taken.iter().any(|standing| standing.threw) {
            return refuse(UndoRefusal::ChanceRevealed);
        }
        if taken.len() > limits::UNDO_PLIES_MAX {
            return Err(Rejection::Limit { limit: "undo_plies", most: limits::UNDO_PLIES_MAX as u64 });
        }
        Ok(at)
    }
}
