//! Entries in words.
//!
//! Invariant: a sentence says what the entry says; text that came from outside shows no control characters.

use plybook_core::entry::{Body, Entry, Move};
use plybook_core::header::{Entropy, Header};
use plybook_core::{Game, SeatSet, Verdict};
use plybook_server::replies;

use super::timeline::Timeline;
use crate::words;

/// What an entry did.
pub(super) fn entry(timeline: &Timeline, entry: &Entry, marks: &[String]) -> String {
    let who = entry.actor.seat.map_or_else(|| "Nobody at the table".to_owned(), |seat| name(seat.0, marks));
    match &entry.body {
        Body::Move(made) => format!("{who} {}.", played(made, marks)),
        Body::Given(made) => format!("{who} {}: given, a move of the game that this one was forked from.", played(made, marks)),
        Body::Undo(undo) => {
            let taken = timeline.ply_at(plybook_core::Seq(entry.seq.0 - 1)).saturating_sub(undo.ply);
            let first = match timeline.entry(undo.target).map(|entry| entry.body) {
                Some(Body::Move(made)) => format!("{} of entry {}", made.notation, undo.target),
                _ => format!("the move of entry {}", undo.target),
            };
            match taken {
                0 | 1 => format!("{who} took back {first}."),
                taken => format!("{who} took back {taken} moves: {first} and what was played after it."),
            }
        }
        Body::Commit(commit) if commit.signed.is_some() => format!("{who} committed to a nonce, signed with a key of its own."),
        Body::Commit(_) => format!("{who} committed to a nonce."),
        Body::Reveal(reveal) => format!("{who} revealed its nonce, {} bytes.", reveal.nonce.len()),
        Body::Absent(absent) => format!("{} did not join in time.", seats(absent.seats, marks)),
        Body::Incident(incident) => format!("{who}: {}.", incident.act),
        Body::Close => "The game was closed.".to_owned(),
    }
}

fn played(made: &Move, marks: &[String]) -> String {
    let mut text = match made.faces.as_slice() {
        [] => format!("played {}", made.notation),
        faces => format!("threw {}", faces.iter().map(u8::to_string).collect::<Vec<_>>().join(", ")),
    };
    if let Verdict::Next { skipped, .. } = &made.verdict
        && !skipped.is_empty()
    {
        text.push_str(&format!("; {} cannot move", seats(*skipped, marks)));
    }
    text
}

/// How it stands: who won, or who is to move.
pub(super) fn turn(game: &Game, marks: &[String]) -> Vec<String> {
    if let Some(outcome) = game.outcome() {
        return vec![words::outcome(&replies::outcome(outcome), marks)];
    }
    if let Some(joining) = game.waits_for() {
        return vec![format!("{} may join until {}.", seats(joining.waiting(), marks), joining.deadline())];
    }
    game.to_move().map(|seat| format!("{} to move.", name(seat.0, marks))).into_iter().collect()
}

/// Who did it, for whom, and when.
pub(super) fn who(header: &Header, entry: &Entry) -> String {
    let seat = entry.actor.seat.map_or_else(|| "nobody at the table".to_owned(), |seat| place(header, seat.index()));
    format!("{}, {seat}, by {}", entry.time, entry.actor.by)
}

fn place(header: &Header, seat: usize) -> String {
    match header.seats.get(seat) {
        Some(place) if place.player.is_empty() => format!("seat {seat} {}", plain(&place.mark)),
        Some(place) => format!("seat {seat} {} ({})", plain(&place.mark), plain(&place.player)),
        None => format!("seat {seat}"),
    }
}

/// What else stands in an entry.
pub(super) fn more(entry: &Entry) -> Option<String> {
    entry.seed.as_ref().map(|_| "it reveals the seed, which is the one committed to; nothing follows it".to_owned())
}

/// Entry 1, for whoever opens the book.
pub(super) fn header(header: &Header) -> Vec<String> {
    let mut lines = vec![format!("{}, by {}", header.created, header.by)];
    lines.push((0..header.seats.len()).map(|seat| place(header, seat)).collect::<Vec<_>>().join(", "));
    if let Some(origin) = &header.origin {
        lines.push(format!(
            "forked from game {} at entry {}, and begins with the {} moves that stood there",
            origin.game, origin.seq, origin.given
        ));
    }
    if let Entropy::Joint(joint) = header.entropy {
        lines.push(format!("every seat adds a nonce to the seed, and has {} s to commit and {0} s to reveal", joint.seconds));
    }
    lines
}

fn seats(seats: SeatSet, marks: &[String]) -> String {
    seats.iter().map(|seat| name(seat.0, marks)).collect::<Vec<_>>().join(", ")
}

fn name(seat: u8, marks: &[String]) -> String {
    words::seat_name(u32::from(seat), marks)
}

/// One line of text that no terminal takes for anything else.
pub(super) fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c }).collect()
}
