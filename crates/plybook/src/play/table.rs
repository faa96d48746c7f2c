//! A game as one who sits at it sees it: the position, and which moves stand.
//!
//! Invariant: the standing moves are those of the entries heard so far, in order; the game is at least
//! as far on. What is sent names the entry that was seen.

use plybook_client::{Client, Error};
use plybook_proto::v1;
use plybook_proto::v1::event::Body;

use crate::drawing::{self, Look, Notation};
use crate::words;

/// A move that stands.
#[derive(Clone, Debug)]
struct Standing {
    seq: u64,
    seat: u32,
    text: String,
    cells: Vec<u32>,
}

/// A game, and the seats played at this keyboard.
#[derive(Debug)]
pub(crate) struct Table {
    client: Client,
    game: v1::Game,
    standing: Vec<Standing>,
    /// What the last entry did, in words.
    news: String,
    heard: u64,
    seat: Option<u32>,
    marks: Vec<String>,
    notation: Notation,
    /// Whether to ask for receipts.
    with_receipt: bool,
    /// The one that came with the last request.
    receipt: Option<v1::Receipt>,
}

impl Table {
    /// Sits down at a game: in one seat, or in all of them.
    pub(crate) async fn sit(client: Client, game_id: &str, seat: Option<u32>, with_receipt: bool) -> anyhow::Result<Table> {
        let game = client.game(game_id, None).await?;
        let seats = game.seats.len() as u32;
        if let Some(seat) = seat.filter(|seat| *seat >= seats) {
            return Err(crate::exit::usage(format!("--seat: the table has {seats} seats; there is no seat {seat}")));
        }
        let marks = words::marks(&game.seats);
        let request = v1::ListLegalActionsRequest { game_id: game_id.to_owned(), page_size: 50, page_token: String::new() };
        let legal = client.list_legal_actions(request).await?;
        let notation = Notation::of(&game, &legal.actions);
        let (standing, news) = (Vec::new(), String::new());
        let mut table = Table { client, game, standing, news, heard: 0, seat, marks, notation, with_receipt, receipt: None };
        table.catch_up().await?;
        Ok(table)
    }

    pub(crate) fn game_id(&self) -> &str {
        &self.game.game_id
    }

    /// The game as it was last read.
    pub(crate) const fn game(&self) -> &v1::Game {
        &self.game
    }

    /// The last entry heard.
    pub(crate) const fn seq(&self) -> u64 {
        self.heard
    }

    pub(crate) fn marks(&self) -> &[String] {
        &self.marks
    }

    /// Whether the result is known.
    pub(crate) const fn finished(&self) -> bool {
        self.game.outcome.is_some()
    }

    /// Whether nothing can happen any more.
    pub(crate) fn closed(&self) -> bool {
        self.game.state() == v1::GameState::Closed
    }

    /// Whether the seat to move is played here.
    pub(crate) fn may_act(&self) -> bool {
        self.game.seat_to_move.is_some_and(|to_move| self.seat.is_none_or(|seat| seat == to_move))
    }

    /// Reads the game again, and the entries up to it.
    pub(crate) async fn refresh(&mut self) -> Result<(), Error> {
        self.game = self.client.game(&self.game.game_id, None).await?;
        self.catch_up().await
    }

    /// Takes in an entry from the stream; answers whether it is news.
    pub(crate) async fn hear(&mut self, event: v1::Event) -> Result<bool, Error> {
        if event.seq <= self.heard {
            return Ok(false);
        }
        self.take(&event);
        if self.game.seq < self.heard {
            self.refresh().await?;
        }
        Ok(true)
    }

    /// Makes a move for the seat to move.
    pub(crate) async fn make_move(&mut self, notation: &str) -> Result<(), Error> {
        let request = v1::MakeMoveRequest {
            game_id: self.game.game_id.clone(),
            expected_seq: Some(self.game.seq),
            seat: Some(self.seat.or(self.game.seat_to_move).unwrap_or_default()),
            action: Some(v1::Action { shape: Some(v1::action::Shape::Notation(notation.to_owned())) }),
            with_receipt: self.with_receipt,
            ..Default::default()
        };
        let response = self.client.make_move(request).await?;
        self.receipt = response.receipt;
        self.did(response.event).await
    }

    /// Takes moves back: so many plies, or the last move of the seat played here.
    pub(crate) async fn undo(&mut self, plies: Option<usize>) -> Result<(), Error> {
        let target = match (plies, self.seat) {
            // The server finds a seat's own last move.
            (None, Some(_)) => None,
            (plies, _) => self.standing.iter().rev().nth(plies.unwrap_or(1).max(1) - 1),
        };
        let last_mover = self.standing.last().map(|standing| standing.seat);
        let request = v1::UndoRequest {
            game_id: self.game.game_id.clone(),
            expected_seq: Some(self.game.seq),
            seat: Some(self.seat.or(last_mover).or(self.game.seat_to_move).unwrap_or_default()),
            target_seq: target.map(|standing| standing.seq),
            with_receipt: self.with_receipt,
            ..Default::default()
        };
        let response = self.client.undo(request).await?;
        self.receipt = response.receipt;
        self.did(response.event).await
    }

    /// Closes a finished game.
    pub(crate) async fn close(&mut self) -> Result<(), Error> {
        let game_id = self.game.game_id.clone();
        let (expected_seq, with_receipt) = (Some(self.game.seq), self.with_receipt);
        let request = v1::CloseGameRequest { game_id, expected_seq, with_receipt, ..Default::default() };
        let response = self.client.close_game(request).await?;
        self.receipt = response.receipt;
        self.did(response.event).await
    }

    /// The receipt that came with the last request, once.
    pub(crate) const fn take_receipt(&mut self) -> Option<v1::Receipt> {
        self.receipt.take()
    }

    /// What may be played, in the ruleset's notation.
    pub(crate) async fn legal(&self) -> Result<Vec<String>, Error> {
        let mut all = Vec::new();
        let mut page_token = String::new();
        loop {
            let request = v1::ListLegalActionsRequest { game_id: self.game.game_id.clone(), page_size: 0, page_token };
            let page = self.client.list_legal_actions(request).await?;
            all.extend(page.actions.into_iter().map(|legal| legal.notation));
            page_token = page.next_page_token;
            if page_token.is_empty() {
                return Ok(all);
            }
        }
    }

    /// Board, last move, and whose turn it is or who won.
    pub(crate) fn picture(&self) -> String {
        let last = self.standing.last();
        let bright = match (&self.game.outcome, last) {
            (Some(outcome), _) => outcome.cells.clone(),
            (None, Some(last)) => last.cells.clone(),
            (None, None) => Vec::new(),
        };
        let mut lines = Vec::new();
        if let Some(position) = &self.game.position {
            lines.push(drawing::draw(position, Look { marks: &self.marks, notation: self.notation, bright: &bright }));
        }
        if !self.news.is_empty() {
            lines.push(self.news.clone());
        }
        lines.push(self.turn());
        lines.join("\n")
    }

    /// What stands before the place where one types.
    pub(crate) fn prompt(&self) -> String {
        match self.game.seat_to_move {
            Some(seat) => format!("{}> ", words::seat_name(seat, &self.marks)),
            None => "> ".to_owned(),
        }
    }

    fn turn(&self) -> String {
        if let Some(outcome) = &self.game.outcome {
            let told = words::outcome(outcome, &self.marks);
            return if self.closed() { told } else { format!("{told} It may be reopened: undo; or closed for good: close.") };
        }
        if let Some(joining) = &self.game.joining {
            return words::joining(joining, &self.marks);
        }
        let seat = self.game.seat_to_move.unwrap_or_default();
        let mark = words::seat_name(seat, &self.marks);
        let player = self.game.seats.get(seat as usize).map(|seat| seat.player_id.as_str()).filter(|player| !player.is_empty());
        let who = player.map_or_else(|| mark.clone(), |player| format!("{mark} ({player})"));
        if self.may_act() { format!("{who} to move.") } else { format!("Waiting for {who}.") }
    }

    async fn did(&mut self, event: Option<v1::Event>) -> Result<(), Error> {
        if let Some(event) = event.filter(|event| event.seq == self.heard + 1) {
            self.take(&event);
        }
        self.refresh().await
    }

    async fn catch_up(&mut self) -> Result<(), Error> {
        let mut events = self.client.events(&self.game.game_id, self.heard);
        while self.heard < self.game.seq {
            match events.next().await {
                Some(event) => self.take(&event?),
                None => break,
            }
        }
        Ok(())
    }

    fn take(&mut self, event: &v1::Event) {
        match &event.body {
            Some(Body::MoveMade(made)) => {
                let standing = standing(event.seq, made, &self.marks);
                self.news = standing.text.clone();
                self.standing.push(standing);
            }
            Some(Body::MoveUndone(undone)) => {
                let kept = self.standing.partition_point(|standing| standing.seq < undone.undone_seq);
                let taken = self.standing.split_off(kept).len();
                let who = undone.seat.map_or_else(|| "The caller".to_owned(), |seat| words::seat_name(seat, &self.marks));
                self.news = if taken == 1 { format!("{who} took the last move back.") } else { format!("{who} took {taken} moves back.") };
            }
            _ => {
                if let Some(joined) = words::joined(event, &self.marks) {
                    self.news = format!("{joined}.");
                }
            }
        }
        self.heard = event.seq;
    }
}

fn standing(seq: u64, made: &v1::MoveMade, marks: &[String]) -> Standing {
    let mover = words::seat_name(made.seat, marks);
    let faces: Vec<String> = made.faces.iter().map(u32::to_string).collect();
    let mut text =
        if faces.is_empty() { format!("{mover} played {}", made.notation) } else { format!("{mover} threw {}", faces.join(", ")) };
    for seat in &made.skipped_seats {
        text.push_str(&format!("; {} cannot move", words::seat_name(*seat, marks)));
    }
    text.push('.');
    let put = |change: &&v1::CellChange| change.before.is_empty();
    let cells: Vec<u32> = made.changes.iter().filter(put).map(|change| change.cell).collect();
    Standing { seq, seat: made.seat, text, cells }
}
