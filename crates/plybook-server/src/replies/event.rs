//! Lines of a book as events.

use plybook_core::change::CellChange;
use plybook_core::entry::{Body, Move, Undo};
use plybook_core::header::{Entropy, Principal, SeedFrom};
use plybook_core::rules::Piece;
use plybook_core::{Content, Entry, Header, Rules, Seat, Seq, dice};
use plybook_proto::v1::{self, event::Body as Wire};
use plybook_store::StoredEntry;

use crate::games::{Beside, Opened};
use crate::refusal::Refusal;
use crate::replies;

/// A stored entry as an event, with what stands beside it.
pub fn stored(opened: &Opened, stored: &StoredEntry, beside: &Beside) -> Result<v1::Event, Refusal> {
    if stored.seq == Seq::FIRST {
        return Ok(created(opened, stored));
    }
    let read = opened.header.read_entry(&stored.line);
    let entry = read.map_err(|error| Refusal::BookCorrupt { first_bad: stored.seq, why: error.why })?;
    Ok(of(opened, &entry, stored, beside))
}

/// The same of an entry that need not be read, since it was just written.
pub fn of(opened: &Opened, entry: &Entry, stored: &StoredEntry, beside: &Beside) -> v1::Event {
    let rules = opened.rules.as_deref().ok();
    let body = match &entry.body {
        Body::Move(made) => Wire::MoveMade(move_made(rules, entry, made)),
        Body::Given(made) => Wire::MoveMade(v1::MoveMade { given: true, ..move_made(rules, entry, made) }),
        Body::Commit(commit) => Wire::NonceCommitted(v1::NonceCommitted {
            seat: entry.actor.seat.map_or(0, replies::seat),
            nonce: Some(replies::joining::commitment(commit)),
        }),
        Body::Reveal(reveal) => Wire::NonceRevealed(v1::NonceRevealed {
            seat: entry.actor.seat.map_or(0, replies::seat),
            nonce: reveal.nonce.clone(),
            next_seat: reveal.next.map(replies::seat),
        }),
        Body::Absent(absent) => Wire::SeatsAbsent(v1::SeatsAbsent { seats: replies::seats(absent.seats) }),
        Body::Undo(undo) => Wire::MoveUndone(move_undone(rules, entry, undo)),
        Body::Incident(incident) => replies::incident::body(&opened.header, entry, incident.act, beside),
        Body::Close => Wire::GameClosed(v1::GameClosed {}),
    };
    v1::Event {
        create_time: Some(replies::time(entry.time)),
        actor: entry.actor.by.to_string(),
        outcome: entry.outcome().map(replies::outcome),
        revealed_seed: entry.seed.as_ref().map_or_else(Vec::new, |seed| seed.reveal().to_vec()),
        seat_to_move: next_seat(&opened.header, entry).map(replies::seat),
        body: Some(body),
        ..frame(opened, stored)
    }
}

fn created(opened: &Opened, stored: &StoredEntry) -> v1::Event {
    let header = &opened.header;
    let body = v1::GameCreated {
        ruleset: Some(replies::ruleset::spec(&header.ruleset, &header.params)),
        seats: replies::game::seats(header),
        seed_commitment: header.commitment.0.to_vec(),
        seed_from_caller: header.seed_from == SeedFrom::Caller,
        dice_scheme: dice::SCHEME.to_owned(),
        undo_policy: Some(replies::game::undo_policy(header.undo)),
        joint_entropy: replies::joining::joint(header),
        receipt_policy: replies::joining::receipts(header.receipts).into(),
        origin: replies::joining::origin(header),
        terms: replies::terms::terms(header),
        rematch_of: replies::terms::rematch_of(header),
    };
    v1::Event {
        seat_to_move: first_seat(header).map(replies::seat),
        create_time: Some(replies::time(header.created)),
        actor: header.by.to_string(),
        body: Some(Wire::GameCreated(body)),
        ..frame(opened, stored)
    }
}

/// Who moves in a game of which only the header is written.
pub fn first_seat(header: &Header) -> Option<Seat> {
    (header.entropy == Entropy::Service).then_some(Seat(0))
}

/// Who moves after an entry. After the moves that a fork begins with, its seats may still have to join.
pub fn next_seat(header: &Header, entry: &Entry) -> Option<Seat> {
    let joins_first = header.entropy != Entropy::Service && matches!(entry.body, Body::Given(_));
    entry.next_seat().filter(|_| !joins_first)
}

fn frame(opened: &Opened, stored: &StoredEntry) -> v1::Event {
    v1::Event {
        game_id: opened.header.game.to_string(),
        seq: u64::from(stored.seq.0),
        request_id: stored.request_id.to_string(),
        book_digest: stored.digest.0.to_vec(),
        line: stored.line.clone(),
        ..v1::Event::default()
    }
}

fn move_made(rules: Option<&dyn Rules>, entry: &Entry, made: &Move) -> v1::MoveMade {
    v1::MoveMade {
        seat: entry.actor.seat.map_or(0, replies::seat),
        notation: made.notation.clone(),
        changes: changes(rules, &made.cells),
        faces: made.faces.iter().map(|face| u32::from(*face)).collect(),
        ply: made.ply,
        next_seat: entry.next_seat().map(replies::seat),
        skipped_seats: replies::seats(made.verdict.skipped()),
        given: false,
        moved_by: moved_by(&entry.actor.by).into(),
    }
}

fn moved_by(by: &Principal) -> v1::MovedBy {
    match by {
        by if *by == Principal::bot() => v1::MovedBy::Bot,
        by if *by == Principal::fallback() => v1::MovedBy::Fallback,
        _ => v1::MovedBy::Caller,
    }
}

fn move_undone(rules: Option<&dyn Rules>, entry: &Entry, undo: &Undo) -> v1::MoveUndone {
    v1::MoveUndone {
        seat: entry.actor.seat.map(replies::seat),
        undone_seq: u64::from(undo.target.0),
        changes: changes(rules, &undo.cells),
        ply: undo.ply,
        next_seat: replies::seat(undo.next),
        agreed: undo.agreed,
        reopened: undo.reopens,
    }
}

/// Only the rules tell what a content is.
fn changes(rules: Option<&dyn Rules>, cells: &[CellChange]) -> Vec<v1::CellChange> {
    let Some(rules) = rules else { return Vec::new() };
    let change = |change: &CellChange| v1::CellChange {
        cell: change.cell.0,
        before: pieces(rules, change.before),
        after: pieces(rules, change.after),
    };
    cells.iter().map(change).collect()
}

/// The pieces of a content, bottom first.
pub fn pieces(rules: &dyn Rules, content: Content) -> Vec<v1::Piece> {
    let piece = |piece: Piece| v1::Piece { seat: replies::seat(piece.seat), kind: piece.kind.to_owned() };
    rules.pieces(content).into_iter().map(piece).collect()
}
