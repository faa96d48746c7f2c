//! A game being played over one connection.
//!
//! Invariant: what a player asks for is decided on what that player has seen.

use plybook_proto::v1;
use tonic::Status;

use super::{Wire, fresh, notated};
use crate::refused::Refused;

/// A game being played over one connection.
#[derive(Clone)]
pub struct PlayedGame {
    /// The connection.
    pub wire: Wire,
    /// Its id.
    pub id: String,
    /// The last entry that this player has seen.
    pub head: u64,
    /// Whose turn it is then.
    pub to_move: Option<u32>,
}

impl PlayedGame {
    /// The request to move that this player would send now.
    pub fn asks(&self, notation: &str) -> v1::MakeMoveRequest {
        v1::MakeMoveRequest {
            request_id: fresh(),
            game_id: self.id.clone(),
            expected_seq: Some(self.head),
            seat: Some(self.to_move.unwrap_or(0)),
            action: Some(notated(notation)),
            with_position: false,
            with_receipt: false,
        }
    }

    /// The request to undo that this player would send now.
    pub fn asks_undo(&self, seat: u32, target_seq: Option<u64>) -> v1::UndoRequest {
        v1::UndoRequest {
            request_id: fresh(),
            game_id: self.id.clone(),
            expected_seq: Some(self.head),
            seat: Some(seat),
            target_seq,
            with_position: false,
            with_receipt: false,
        }
    }

    /// The request to close that this player would send now.
    pub fn asks_close(&self) -> v1::CloseGameRequest {
        v1::CloseGameRequest { request_id: fresh(), game_id: self.id.clone(), expected_seq: Some(self.head), with_receipt: false }
    }

    /// Makes these moves, one after the other, each by the seat whose turn it is; tells the last.
    pub async fn play(&mut self, notations: &str) -> v1::Event {
        let mut last = v1::Event::default();
        for notation in notations.split_whitespace() {
            let request = self.asks(notation);
            last = self.sends(request).await.unwrap_or_else(|status| panic!("{notation} is refused: {status:?}"));
        }
        last
    }

    /// Sends a move; takes what it comes to as seen.
    pub async fn sends(&mut self, request: v1::MakeMoveRequest) -> Result<v1::Event, Status> {
        let answer = self.wire.games().make_move(request).await?;
        Ok(self.sees(answer.into_inner().event.unwrap()))
    }

    /// Takes a move back.
    pub async fn undo(&mut self, seat: u32) -> v1::Event {
        let request = self.asks_undo(seat, None);
        let answer = self.wire.games().undo(request).await.unwrap();
        self.sees(answer.into_inner().event.unwrap())
    }

    /// Closes the game.
    pub async fn close(&mut self) -> v1::Event {
        let request = self.asks_close();
        let answer = self.wire.games().close_game(request).await.unwrap();
        self.sees(answer.into_inner().event.unwrap())
    }

    /// The move by the seat whose turn it is must be refused.
    pub async fn refuses(&self, notation: &str) -> Refused {
        self.refuses_move(self.asks(notation)).await
    }

    /// The move by this seat must be refused.
    pub async fn refuses_seat(&self, seat: u32, notation: &str) -> Refused {
        self.refuses_move(v1::MakeMoveRequest { seat: Some(seat), ..self.asks(notation) }).await
    }

    /// The request must be refused.
    pub async fn refuses_move(&self, request: v1::MakeMoveRequest) -> Refused {
        Refused::by(self.wire.games().make_move(request).await)
    }

    /// The request must be refused.
    pub async fn refuses_undo(&self, request: v1::UndoRequest) -> Refused {
        Refused::by(self.wire.games().undo(request).await)
    }

    /// The request must be refused.
    pub async fn refuses_close(&self, request: v1::CloseGameRequest) -> Refused {
        Refused::by(self.wire.games().close_game(request).await)
    }

    /// The game as the server has it.
    pub async fn now(&self) -> v1::Game {
        self.wire.get(&self.id).await
    }

    /// The same game through another node.
    #[must_use]
    pub fn through(&self, wire: &Wire) -> PlayedGame {
        PlayedGame { wire: wire.clone(), ..self.clone() }
    }

    /// Takes an entry as seen.
    pub fn sees(&mut self, event: impl Into<Box<v1::Event>>) -> v1::Event {
        let event = *event.into();
        (self.head, self.to_move) = (event.seq, event.seat_to_move);
        event
    }
}
