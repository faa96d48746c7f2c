//! A game as one who sits at it sees it: the position, and which moves stand.
//!
//! Invariant: the standing moves are those of the entries heard so far, in order; the game is at least
//! as far on. What is sent names the entry that was seen.

mod acts;

use std::time::{Duration, Instant};

use plybook_client::{Client, Error};
use plybook_proto::v1;
use plybook_proto::v1::event::Body;

use super::alarms;
use super::place::Place;
use crate::drawing::{self, Clocks, Look, Notation};
use crate::words;

/// A move that stands.
#[derive(Clone, Debug)]
struct Standing {
    seq: u64,
    seat: u32,
    text: String,
    cells: Vec<u32>,
}

/// A game, and the seats played at this keyboard. Bots' are nobody's here.
#[derive(Debug)]
pub(crate) struct Table {
    client: Client,
    game: v1::Game,
    standing: Vec<Standing>,
    /// Everybody's time when the game was last read.
    clocks: Option<Clocks>,
    /// What the last entries did, in words: those that were not shown before, or else the last that were.
    news: Vec<String>,
    /// Whether they were shown.
    news_shown: bool,
    heard: u64,
    place: Place,
    marks: Vec<String>,
    notation: Notation,
    /// Whether to ask for receipts.
    with_receipt: bool,
    /// The one that came with the last request.
    receipt: Option<Box<v1::Receipt>>,
}

impl Table {
    /// Sits down at a game: in one seat, or in all that are people's.
    pub(crate) async fn sit(client: Client, game_id: &str, place: Place, with_receipt: bool) -> anyhow::Result<Table> {
        let game = client.game(game_id, None).await?;
        let seats = game.seats.len() as u32;
        if let Some(seat) = place.seat.filter(|seat| *seat >= seats) {
            return Err(crate::exit::usage(format!("--seat: the table has {seats} seats; there is no seat {seat}")));
        }
        if let Some(seat) = place.seat.filter(|seat| game.seats.get(*seat as usize).is_some_and(|seat| seat.bot.is_some())) {
            return Err(crate::exit::usage(format!("--seat: a bot plays seat {seat}; `plybook watch` shows how")));
        }
        let marks = words::marks(&game.seats);
        let request = v1::ListLegalActionsRequest { game_id: game_id.to_owned(), page_size: 50, page_token: String::new() };
        let legal = client.list_legal_actions(request).await?;
        let notation = Notation::of(&game, &legal.actions);
        let (clocks, standing, news) = (Clocks::of(&game), Vec::new(), Vec::new());
        let mut table =
            Table { client, game, standing, clocks, news, news_shown: true, heard: 0, place, marks, notation, with_receipt, receipt: None };
        table.catch_up().await?;
        // Of what went before, the last is enough to go on from.
        table.news.drain(..table.news.len().saturating_sub(1));
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

    pub(crate) const fn notation(&self) -> Notation {
        self.notation
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
        self.game.bot_turn.is_none() && self.game.seat_to_move.is_some_and(|to_move| self.plays(to_move))
    }

    /// Whether a seat played here has to answer an offer.
    pub(crate) fn is_asked(&self) -> bool {
        self.asked().is_some()
    }

    fn asked(&self) -> Option<u32> {
        self.game.offers.iter().find_map(|offer| self.asked_of(offer))
    }

    /// Whether nobody plays here: every seat is a bot's.
    pub(crate) fn only_watches(&self) -> bool {
        (0..self.game.seats.len() as u32).all(|seat| !self.plays(seat))
    }

    /// How long until whoever is to move here should be told that so many seconds are left.
    pub(crate) fn alarm(&self) -> Option<(Duration, u64)> {
        let (_, left) = self.clocks.as_ref().filter(|_| self.may_act())?.running(Instant::now())?;
        alarms::next(left)
    }

    /// Whether a seat is played here.
    fn plays(&self, seat: u32) -> bool {
        self.place.has(seat) && !self.is_bot(seat)
    }

    fn is_bot(&self, seat: u32) -> bool {
        self.game.seats.get(seat as usize).is_some_and(|seat| seat.bot.is_some())
    }

    fn has_bots(&self) -> bool {
        self.game.seats.iter().any(|seat| seat.bot.is_some())
    }

    /// Reads the game again, and the entries up to it.
    pub(crate) async fn refresh(&mut self) -> Result<(), Error> {
        self.game = self.client.game(&self.game.game_id, None).await?;
        self.clocks = Clocks::of(&self.game);
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
            seat: Some(self.place.seat.or(self.game.seat_to_move).unwrap_or_default()),
            action: Some(v1::Action { shape: Some(v1::action::Shape::Notation(notation.to_owned())) }),
            with_receipt: self.with_receipt,
            ..Default::default()
        };
        let response = self.client.make_move(request).await?;
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
    pub(crate) const fn take_receipt(&mut self) -> Option<Box<v1::Receipt>> {
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

    /// Board, last moves, and whose turn it is or who won. While a bot thinks about its answer, no board.
    pub(crate) fn picture(&mut self) -> String {
        if self.game.bot_turn.is_some() && !self.only_watches() && !self.news_shown {
            return self.told().join("\n");
        }
        self.board()
    }

    /// The same with the board, whatever happens.
    pub(crate) fn board(&mut self) -> String {
        let last = self.standing.last();
        let bright = match (&self.game.outcome, last) {
            (Some(outcome), _) => outcome.cells.clone(),
            (None, Some(last)) => last.cells.clone(),
            (None, None) => Vec::new(),
        };
        let mut lines = Vec::new();
        if let Some(position) = &self.game.position {
            let board = drawing::draw(position, Look { marks: &self.marks, notation: self.notation, bright: &bright });
            let clocks = self.clocks.as_ref().map(|clocks| clocks.lines(&self.marks, Instant::now()));
            lines.push(drawing::beside(&board, &clocks.unwrap_or_default()));
        }
        lines.extend(self.told());
        lines.join("\n")
    }

    /// What happened last, whose turn it is, and what is offered.
    fn told(&mut self) -> Vec<String> {
        self.news_shown = true;
        let mut lines = self.news.clone();
        lines.push(self.turn());
        for offer in &self.game.offers {
            let told = words::open_offer(offer, &self.marks);
            match self.asked_of(offer) {
                Some(_) => lines.push(format!("{told} Answer: accept, or decline.")),
                None => lines.push(told),
            }
        }
        lines
    }

    /// What stands before the place where one types.
    pub(crate) fn prompt(&self) -> String {
        let to_move = self.game.seat_to_move.filter(|_| self.may_act());
        let Some(seat) = to_move.or_else(|| self.asked()) else { return "> ".to_owned() };
        let mark = words::seat_name(seat, &self.marks);
        if to_move.is_none() {
            return format!("{mark} (accept or decline)> ");
        }
        let running = self.clocks.as_ref().and_then(|clocks| clocks.running(Instant::now()));
        match running.and_then(|(_, left)| alarms::at_the_prompt(left)) {
            Some(seconds) => format!("{mark} ({seconds} s left)> "),
            None => format!("{mark}> "),
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
        let who = words::seat_and_player(self.game.seat_to_move.unwrap_or_default(), &self.game, &self.marks);
        match &self.game.bot_turn {
            Some(turn) if turn.stands_in => format!("A bot makes this move for {who} …"),
            Some(_) => format!("{who} is thinking …"),
            None if self.may_act() => format!("{who} to move."),
            None => format!("Waiting for {who}."),
        }
    }

    async fn did(&mut self, event: Option<Box<v1::Event>>) -> Result<(), Error> {
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
        if std::mem::take(&mut self.news_shown) {
            self.news.clear();
        }
        match &event.body {
            Some(Body::MoveMade(made)) => {
                let standing = standing(event.seq, made, &self.marks);
                self.news.push(standing.text.clone());
                self.standing.push(standing);
            }
            Some(Body::MoveUndone(undone)) => {
                let kept = self.standing.partition_point(|standing| standing.seq < undone.undone_seq);
                let taken = self.standing.split_off(kept).len();
                let who = match undone.seat {
                    Some(_) if undone.agreed => "Everybody agreed, and".to_owned(),
                    Some(seat) => words::seat_name(seat, &self.marks),
                    None => "The caller".to_owned(),
                };
                let taken = if taken == 1 { "the last move".to_owned() } else { format!("{taken} moves") };
                let told = if undone.agreed { format!("{who} {taken} went back.") } else { format!("{who} took {taken} back.") };
                self.news.push(told);
            }
            // It is told for as long as it is open.
            Some(Body::OfferMade(_)) => {}
            _ => self.news.extend(words::happened(event, &self.marks).map(|happened| format!("{happened}."))),
        }
        self.heard = event.seq;
    }
}

fn standing(seq: u64, made: &v1::MoveMade, marks: &[String]) -> Standing {
    let mover = words::seat_name(made.seat, marks);
    let faces: Vec<String> = made.faces.iter().map(u32::to_string).collect();
    let mut text =
        if faces.is_empty() { format!("{mover} played {}", made.notation) } else { format!("{mover} threw {}", faces.join(", ")) };
    if made.moved_by() == v1::MovedBy::Fallback {
        text.push_str(", by the hand of a stand-in");
    }
    for seat in &made.skipped_seats {
        text.push_str(&format!("; {} cannot move", words::seat_name(*seat, marks)));
    }
    text.push('.');
    let put = |change: &&v1::CellChange| change.before.is_empty();
    let cells: Vec<u32> = made.changes.iter().filter(put).map(|change| change.cell).collect();
    Standing { seq, seat: made.seat, text, cells }
}
