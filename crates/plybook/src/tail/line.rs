//! An entry of the feed as one line.
//!
//! Invariant: every entry is one line, whatever is in it: also one that neither the server nor this build can read.

use std::collections::HashMap;

use plybook_client::Client;
use plybook_core::Time;
use plybook_proto::v1;
use plybook_proto::v1::event::Body;
use serde_json::{Value, json};

use crate::words;

/// Games whose marks are remembered; with one more all are forgotten.
const GAMES_REMEMBERED: usize = 10_000;

/// Makes lines.
pub(super) struct Lines {
    client: Client,
    json: bool,
    marks: HashMap<String, Vec<String>>,
}

impl Lines {
    pub(super) fn new(client: Client, json: bool) -> Lines {
        Lines { client, json, marks: HashMap::new() }
    }

    /// The line of an entry.
    pub(super) async fn of(&mut self, event: &v1::Event, token: &str) -> String {
        if self.json {
            let mut told = object(event);
            told["resume_token"] = token.into();
            return told.to_string();
        }
        let told = match &event.body {
            None => format!("cannot be read here: {}", one_line(&event.line)),
            Some(Body::GameCreated(created)) => self.created(event, created),
            Some(_) => {
                let marks = self.marks(&event.game_id).await;
                let end = event.outcome.as_ref().map_or_else(String::new, |outcome| format!(". {}", words::outcome(outcome, &marks)));
                format!("{}{end}", words::told(event, &marks))
            }
        };
        format!("{}  {}  {:>6}  {told}", time(event), event.game_id, event.seq)
    }

    fn created(&mut self, event: &v1::Event, created: &v1::GameCreated) -> String {
        self.remember(&event.game_id, words::marks(&created.seats));
        let players: Vec<&str> = created.seats.iter().map(|seat| if seat.player_id.is_empty() { "-" } else { &*seat.player_id }).collect();
        let ruleset = created.ruleset.as_ref().map_or_else(String::new, |ruleset| format!("{}@{}", ruleset.id, ruleset.version));
        one_line(&format!("{ruleset} was created for {}", players.join(", ")))
    }

    /// Of a game whose beginning was not seen they are asked for; without an answer seats have numbers.
    async fn marks(&mut self, game: &str) -> Vec<String> {
        if let Some(marks) = self.marks.get(game) {
            return marks.clone();
        }
        let asked = self.client.game(game, Some(1)).await;
        let marks = asked.map(|game| words::marks(&game.seats)).unwrap_or_default();
        self.remember(game, marks.clone());
        marks
    }

    fn remember(&mut self, game: &str, marks: Vec<String>) {
        if self.marks.len() >= GAMES_REMEMBERED {
            self.marks.clear();
        }
        self.marks.insert(game.to_owned(), marks);
    }
}

/// The entry as an object.
pub(crate) fn object(event: &v1::Event) -> Value {
    let outcome = event.outcome.as_ref().map(
        |outcome| json!({ "winners": outcome.winners, "cells": outcome.cells, "reason": outcome.reason, "no_result": outcome.no_result }),
    );
    json!({
        "game_id": event.game_id, "seq": event.seq, "create_time": event.create_time.as_ref().map(|_| time(event)),
        "kind": event.body.as_ref().map(kind), "actor": event.actor, "request_id": event.request_id, "line": event.line,
        "book_digest": hex(&event.book_digest), "outcome": outcome, "seat_to_move": event.seat_to_move,
        "revealed_seed": (!event.revealed_seed.is_empty()).then(|| hex(&event.revealed_seed)),
    })
}

/// The body's name in the contract.
const fn kind(body: &Body) -> &'static str {
    match body {
        Body::GameCreated(_) => "game_created",
        Body::MoveMade(_) => "move_made",
        Body::MoveUndone(_) => "move_undone",
        Body::GameClosed(_) => "game_closed",
        Body::NonceCommitted(_) => "nonce_committed",
        Body::NonceRevealed(_) => "nonce_revealed",
        Body::SeatsAbsent(_) => "seats_absent",
        Body::SeatResigned(_) => "seat_resigned",
        Body::GameAborted(_) => "game_aborted",
        Body::SeatRemoved(_) => "seat_removed",
        Body::TimeExpired(_) => "time_expired",
        Body::SeatForfeited(_) => "seat_forfeited",
        Body::AbsenceClaimed(_) => "absence_claimed",
        Body::PresenceChanged(_) => "presence_changed",
        Body::OfferMade(_) => "offer_made",
        Body::OfferAnswered(_) => "offer_answered",
        Body::TimeCredited(_) => "time_credited",
    }
}

/// As in the book; nothing is known of an entry that cannot be read.
fn time(event: &v1::Event) -> String {
    let Some(time) = &event.create_time else { return "-".repeat(24) };
    let ms = time.seconds.max(0).cast_unsigned().saturating_mul(1000);
    Time::from_unix_ms(ms.saturating_add(u64::from(time.nanos.max(0).cast_unsigned()) / 1_000_000)).to_string()
}

/// Bytes as digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
