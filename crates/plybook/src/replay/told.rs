//! Entries in words.
//!
//! Invariant: a sentence says what the entry says; text that came from outside shows no control characters.

use plybook_bots::again::hand;
use plybook_core::bot::Bot;
use plybook_core::entropy::Joining;
use plybook_core::entry::{Act, Body, Entry, Move};
use plybook_core::game::Hand;
use plybook_core::header::{Entropy, Header};
use plybook_core::{Game, SeatSet, Verdict};
use plybook_proto::v1;
use plybook_server::games::Beside;
use plybook_server::replies;

use super::terms;
use super::timeline::Timeline;
use crate::words;

/// What an entry did.
pub(super) fn entry(timeline: &Timeline, entry: &Entry, beside: &Beside, marks: &[String]) -> String {
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
            let what = match taken {
                0 | 1 => first,
                taken => format!("{taken} moves: {first} and what was played after it"),
            };
            let did = if undo.agreed { "agreed to take back" } else { "took back" };
            let reopened = if undo.reopens { " That reopened the game." } else { "" };
            format!("{who} {did} {what}.{reopened}")
        }
        Body::Commit(commit) if commit.signed.is_some() => format!("{who} committed to a nonce, signed with a key of its own."),
        Body::Commit(_) => format!("{who} committed to a nonce."),
        Body::Reveal(reveal) => format!("{who} revealed its nonce, {} bytes.", reveal.nonce.len()),
        Body::Absent(absent) => format!("{} did not join in time.", seats(absent.seats, marks)),
        Body::Incident(incident) => happened(timeline.header(), entry, incident.act, beside, marks),
        Body::Close => "The game was closed.".to_owned(),
    }
}

/// What happened that is no move, with its full stop.
fn happened(header: &Header, entry: &Entry, act: Act, beside: &Beside, marks: &[String]) -> String {
    let body = Some(replies::incident::body(header, entry, act, beside));
    words::happened(&v1::Event { body, ..v1::Event::default() }, marks).map_or_else(|| format!("{act}."), |told| format!("{told}."))
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

/// How it stands: who won, or who is to move, and what there is beside the board.
pub(super) fn stands(game: &Game, shown: &v1::Game, marks: &[String]) -> Vec<String> {
    let joins = |joining: &Joining| format!("{} may join until {}.", seats(joining.waiting(), marks), joining.deadline());
    game.waits_for().map(joins).into_iter().chain(words::standing(shown, marks)).collect()
}

/// What every seat's clock has left, and whose runs until when, to the millisecond.
pub(super) fn clocks(shown: &v1::Game, marks: &[String]) -> Option<String> {
    let clock = shown.clock.as_ref()?;
    let time = |(seat, left): (u32, &v1::SeatTime)| {
        let periods = match left.periods {
            0 => String::new(),
            1 => " and 1 period".to_owned(),
            periods => format!(" and {periods} periods"),
        };
        let ms = words::left::millis(left.remaining.as_ref());
        format!("{} {}{periods}", words::seat_name(seat, marks), words::left::exact(ms))
    };
    let times: Vec<String> = (0..).zip(&clock.seats).map(time).collect();
    let runs = clock.running_seat.zip(clock.deadline.as_ref()).map_or_else(String::new, |(seat, until)| {
        format!("; {} is in time until {}", words::seat_name(seat, marks), words::time(Some(until)))
    });
    Some(format!("clocks: {}{runs}", times.join(", ")))
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
pub(super) fn more(header: &Header, entry: &Entry) -> Vec<String> {
    let bot = match (hand(entry), entry.actor.seat) {
        (Some(Hand::Bot), Some(seat)) => header.terms.bot(seat).map(|bot| format!("chosen by its bot, {}", strategy(bot))),
        (Some(Hand::Fallback), _) => header.terms.fallback.as_ref().map(|bot| format!("chosen by the fallback, {}", strategy(bot))),
        _ => None,
    };
    let seed = entry.seed.as_ref().map(|_| "it reveals the seed, which is the one committed to; nothing follows it".to_owned());
    bot.into_iter().chain(seed).collect()
}

/// `minimax@1 with 20000 nodes`.
pub(super) fn strategy(bot: &Bot) -> String {
    words::with_nodes(&bot.strategy, bot.version, bot.nodes)
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
    lines.extend(terms::told(header));
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
