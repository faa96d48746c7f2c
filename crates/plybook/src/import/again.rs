//! What of a book can be played again, and what cannot.
//!
//! Whatever somebody asked for can be asked for again: moves, undos, offers and their answers, leaving, aborting,
//! closing; a bot's move is asked for as anybody's. What happened by time cannot: the new game would have its own. So it
//! has no clock, no bots and no policy of absence. Entries that changed nobody's turn and nothing on the board are left
//! out; a book with others that only time brought about is refused.
//!
//! A book is also refused where people did what only bots allow, whom nobody asks whether a move is taken back or a draw
//! agreed: that they are the cause is known from playing it again with them.
//!
//! Invariant: what is asked of a server was asked of the core before, under the terms of the new game, and came to the
//! same moves, turns and end.

use std::collections::BTreeMap;

use plybook_core::clock::IfExpired;
use plybook_core::entry::{Act, Actor, Body, Incident, Step as OfferStep};
use plybook_core::game::Request;
use plybook_core::header::Principal;
use plybook_core::rules::Verdict;
use plybook_core::{Entry, Game, Header, Seed, Seq, Terms};
use plybook_rulesets::Registry;

use super::acting::Asked;
use super::plan::{After, Step};

/// What is played again.
pub(super) struct Again {
    /// Of the new game, but for who creates it, and when.
    pub(super) header: Header,
    /// One step an entry.
    pub(super) steps: Vec<Step>,
    /// How it stands at the end.
    pub(super) after: After,
    /// What the new game has not, in words; nothing where it has everything.
    pub(super) without: Option<String>,
}

/// What an entry comes to.
enum Played {
    Again(Step),
    LeftOut,
}

/// The first entry that cannot be played again, and why.
struct Stuck {
    at: Seq,
    why: String,
}

/// Plays a book again here, in a game of the new game's terms. `seed` is the book's, where it reveals one.
pub(super) fn again(header: &Header, entries: &[Entry], seed: Option<&Seed>, registry: &Registry) -> Result<Again, String> {
    let seed = seed.cloned().unwrap_or_else(|| Seed::new([0; 32]));
    let terms = &header.terms;
    let kept = Terms { undo_limit: terms.undo_limit, abort_before: terms.abort_before, ..Terms::default() };
    let under = |terms: Terms| {
        let new = Header { terms, rematch_of: None, commitment: seed.commitment(), ..header.clone() };
        let rules = registry.rules_of(&new).map_err(|error| error.to_string())?;
        let game = Game::new(new.clone(), rules);
        let mut rehearsal = Rehearsal { game, seed: seed.clone(), numbers: BTreeMap::from([(Seq::FIRST, Seq::FIRST)]) };
        let steps = rehearsal.play_all(header, entries);
        Ok::<_, String>((new, rehearsal, steps))
    };
    let (new, rehearsal, steps) = under(kept.clone())?;
    let steps = match steps {
        Ok(steps) => steps,
        Err(Stuck { at, why }) => {
            let with_bots = Terms { bots: terms.bots.clone(), fallback: terms.fallback.clone(), ..kept };
            let passes = !terms.bots.is_empty() && under(with_bots)?.2.map_or_else(|stuck| stuck.at > at, |_| true);
            let because = if passes { ", because of its bots, whom nobody asked: in the new game they are people" } else { "" };
            return Err(format!("entry {at} cannot be played again: {why}{because}"));
        }
    };
    let without = without(header, entries.len() - steps.len());
    Ok(Again { header: new, steps, after: After::of(&rehearsal.game), without })
}

struct Rehearsal {
    game: Game,
    seed: Seed,
    /// The entries of the new game, by those of the book.
    numbers: BTreeMap<Seq, Seq>,
}

impl Rehearsal {
    /// The steps of all entries but for those that are left out.
    fn play_all(&mut self, header: &Header, entries: &[Entry]) -> Result<Vec<Step>, Stuck> {
        let mut steps = Vec::new();
        for entry in entries {
            let stuck = |why| Stuck { at: entry.seq, why };
            if let Played::Again(step) = self.read(header, entry).map_err(stuck)? {
                self.play(entry, &step).map_err(stuck)?;
                steps.push(step);
            }
        }
        Ok(steps)
    }

    fn read(&self, header: &Header, entry: &Entry) -> Result<Played, String> {
        let seat = entry.actor.seat;
        let renumbered = |target: Seq| self.numbers.get(&target).copied().ok_or_else(|| format!("entry {target} is left out"));
        Ok(Played::Again(match &entry.body {
            Body::Move(made) => Step::Move { seat: seat.map_or(0, |seat| u32::from(seat.0)), notation: made.notation.clone() },
            Body::Undo(undo) if undo.agreed => Step::Act { seat, asked: Asked::Undo(OfferStep::Accept, renumbered(undo.target)?) },
            Body::Undo(undo) => Step::Undo { seat: seat.map(|seat| u32::from(seat.0)), target: u64::from(renumbered(undo.target)?.0) },
            Body::Close => Step::Close,
            Body::Incident(incident) => match incident.act {
                Act::Undo(step, target) => Step::Act { seat, asked: Asked::Undo(step, renumbered(target)?) },
                Act::Resign => Step::Act { seat, asked: Asked::Resign },
                Act::Abort => Step::Act { seat, asked: Asked::Abort },
                Act::Remove(whom) => Step::Act { seat, asked: Asked::Remove(whom) },
                Act::Draw(step) => Step::Act { seat, asked: Asked::Draw(step) },
                Act::Away | Act::Back | Act::Credit(_) => return Ok(Played::LeftOut),
                Act::Timeout(_) if stood_in(header, incident) => return Ok(Played::LeftOut),
                act @ (Act::Timeout(_) | Act::Forfeit(_) | Act::Claim(_)) => {
                    return Err(format!("\"{act}\" came about by time, and the new game has a time of its own"));
                }
            },
            Body::Given(_) | Body::Commit(_) | Body::Reveal(_) | Body::Absent(_) => {
                return Err("only its seats, or the game that it was forked from, could play it again".to_owned());
            }
        }))
    }

    /// Does what the server will be asked to do; it must come to what the book has.
    fn play(&mut self, entry: &Entry, step: &Step) -> Result<(), String> {
        let by = match self.game.waits_for_bot() {
            Some(_) if matches!(step, Step::Move { .. }) => Principal::bot(),
            _ => Principal::parse("import").ok_or("nobody plays it")?,
        };
        let request = Request { actor: Actor { seat: entry.actor.seat, by }, expected: self.game.head().seq, ask: step.ask() };
        let new = self.game.decide(&request, entry.time, &self.seed).map_err(|refused| format!("the new game refuses it: {refused}"))?;
        if (new.next_seat(), new.outcome()) != (entry.next_seat(), entry.outcome()) {
            return Err("something else would follow from it in the new game".to_owned());
        }
        self.game.apply(&new).map_err(|error| error.to_string())?;
        self.numbers.insert(entry.seq, new.seq);
        Ok(())
    }
}

/// Whether a turn went on by the fallback's hand.
fn stood_in(header: &Header, incident: &Incident) -> bool {
    let bot = header.terms.clock.as_ref().is_some_and(|clock| clock.if_expired == IfExpired::Bot);
    bot && matches!(incident.verdict, Some(Verdict::Next { .. }))
}

fn without(header: &Header, left_out: usize) -> Option<String> {
    let terms = &header.terms;
    let mut without: Vec<String> = [
        (terms.clock.is_some(), "its clock"),
        (!terms.bots.is_empty(), "its bots, whose moves are made as anybody's"),
        (terms.absence.is_some(), "its policy of absence"),
        (terms.close_after_ms.is_some(), "closing by itself"),
        (header.rematch_of.is_some(), "the game that it was the rematch of"),
    ]
    .into_iter()
    .filter(|(has, _)| *has)
    .map(|(_, what)| what.to_owned())
    .collect();
    match left_out {
        0 => {}
        1 => without.push("1 entry about presence or time".to_owned()),
        _ => without.push(format!("{left_out} entries about presence or time")),
    }
    (!without.is_empty()).then(|| without.join(", "))
}
