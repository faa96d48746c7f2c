//! Games over gRPC, for tests that read like prose.
//!
//! ```ignore
//! let mut game = node.game().connect_four(6, 7, 4).await;
//! game.play("4 4 3").await;
//! game.refuses_seat(0, "4").await.with("NOT_YOUR_TURN");
//! ```
//!
//! Invariant: every request has a fresh id and the head that the last answer named, unless a test
//! says otherwise; every refusal is held against what all refusals promise.

use std::collections::HashMap;
use std::future::{Future, IntoFuture};
use std::pin::Pin;

use plybook_proto::v1::action::Shape;
use plybook_proto::v1::audit_service_client::AuditServiceClient;
use plybook_proto::v1::game_service_client::GameServiceClient;
use plybook_proto::v1::param_value::Value;
use plybook_proto::v1::{self, stream_events_response::Frame};
use tonic::Status;
use tonic::transport::{Channel, Endpoint};
use uuid::Uuid;

use crate::node::Node;
use crate::refused::Refused;

/// A request id that no other request has.
pub fn fresh() -> String {
    Uuid::new_v4().to_string()
}

/// A connection to a node.
#[derive(Clone)]
pub struct Wire {
    /// Where it leads.
    pub channel: Channel,
}

/// Connects to `127.0.0.1:port`.
pub async fn connect(address: &str) -> Wire {
    let endpoint = Endpoint::from_shared(format!("http://{address}")).unwrap();
    Wire { channel: endpoint.connect().await.unwrap() }
}

/// Connects to `127.0.0.1:port`, with so little room for answers that a reader who stalls is felt.
pub async fn narrow(address: &str) -> Wire {
    let endpoint = Endpoint::from_shared(format!("http://{address}")).unwrap();
    let endpoint = endpoint.initial_stream_window_size(64 * 1024).initial_connection_window_size(64 * 1024);
    Wire { channel: endpoint.connect().await.unwrap() }
}

impl Node {
    /// A connection to this process.
    pub async fn wire(&self) -> Wire {
        connect(self.address()).await
    }
}

impl Wire {
    /// The games' RPCs. Accepts what a client accepts by default: 4 MiB a message.
    pub fn games(&self) -> GameServiceClient<Channel> {
        GameServiceClient::new(self.channel.clone())
    }

    /// The auditors' RPCs.
    pub fn audit(&self) -> AuditServiceClient<Channel> {
        AuditServiceClient::new(self.channel.clone())
    }

    /// A game to be created: tic-tac-toe until told otherwise.
    pub fn game(&self) -> Opening {
        let request = v1::CreateGameRequest {
            request_id: fresh(),
            ruleset: Some(v1::RulesetSpec { id: "mnk".to_owned(), ..v1::RulesetSpec::default() }),
            seats: vec![v1::Seat::default(); 2],
            ..v1::CreateGameRequest::default()
        };
        Opening { wire: self.clone(), request }
    }

    /// A game that is there already, at its head.
    pub async fn open(&self, id: &str) -> PlayedGame {
        let game = self.get(id).await;
        PlayedGame { wire: self.clone(), id: game.game_id, head: game.seq, to_move: game.seat_to_move }
    }

    /// GetGame at the head.
    pub async fn get(&self, id: &str) -> v1::Game {
        self.try_get(id, None).await.unwrap()
    }

    /// GetGame, or its refusal.
    pub async fn try_get(&self, id: &str, at_seq: Option<u64>) -> Result<v1::Game, Status> {
        let request = v1::GetGameRequest { game_id: id.to_owned(), at_seq };
        self.games().get_game(request).await.map(|answer| answer.into_inner().game.unwrap())
    }

    /// GetBook, joined.
    pub async fn book(&self, id: &str) -> String {
        self.try_book(id).await.unwrap()
    }

    /// GetBook, joined, or its refusal.
    pub async fn try_book(&self, id: &str) -> Result<String, Status> {
        let mut pieces = self.audit().get_book(v1::GetBookRequest { game_id: id.to_owned() }).await?.into_inner();
        let mut file = Vec::new();
        while let Some(piece) = pieces.message().await? {
            file.extend(piece.chunk);
        }
        Ok(String::from_utf8(file).unwrap())
    }

    /// StreamEvents, to be told what it should send.
    pub fn follow(&self, id: &str) -> Following {
        Following { wire: self.clone(), request: v1::StreamEventsRequest { game_id: id.to_owned(), ..Default::default() } }
    }
}

/// A game to be created.
pub struct Opening {
    wire: Wire,
    /// The request as it will be sent.
    pub request: v1::CreateGameRequest,
}

/// A parameter's value as a test writes it.
pub struct Given(Value);

impl From<i64> for Given {
    fn from(n: i64) -> Given {
        Given(Value::IntValue(n))
    }
}

impl From<bool> for Given {
    fn from(flag: bool) -> Given {
        Given(Value::BoolValue(flag))
    }
}

impl From<&str> for Given {
    fn from(word: &str) -> Given {
        Given(Value::StringValue(word.to_owned()))
    }
}

impl From<Vec<i64>> for Given {
    fn from(values: Vec<i64>) -> Given {
        Given(Value::IntList(v1::IntList { values }))
    }
}

impl Opening {
    /// By this ruleset.
    #[must_use]
    pub fn of(mut self, ruleset: &str) -> Opening {
        self.spec().id = ruleset.to_owned();
        self
    }

    /// With this parameter.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Given>) -> Opening {
        self.spec().params.insert(name.to_owned(), v1::ParamValue { value: Some(value.into().0) });
        self
    }

    /// Rows, columns, and how many in a row.
    #[must_use]
    pub fn mnk(self, rows: i64, cols: i64, k: i64) -> Opening {
        self.of("mnk").with("rows", rows).with("cols", cols).with("k", k)
    }

    /// Rows, columns, and how many in a row.
    #[must_use]
    pub fn connect_four(self, rows: i64, cols: i64, k: i64) -> Opening {
        self.of("connect_four").with("rows", rows).with("cols", cols).with("k", k)
    }

    /// A track with these jumps.
    #[must_use]
    pub fn snakes(self, size: i64, jumps: &[i64]) -> Opening {
        self.of("snakes_and_ladders").with("size", size).with("jumps", jumps.to_vec())
    }

    /// With so many seats.
    #[must_use]
    pub fn seats(mut self, seats: usize) -> Opening {
        self.request.seats = vec![v1::Seat::default(); seats];
        self
    }

    /// With these players, in turn order.
    #[must_use]
    pub fn players(mut self, players: &[&str]) -> Opening {
        let seat = |player: &&str| v1::Seat { player_id: (*player).to_owned(), mark: String::new() };
        self.request.seats = players.iter().map(seat).collect();
        self
    }

    /// Who may take moves back.
    #[must_use]
    pub fn undo(mut self, by: v1::UndoBy) -> Opening {
        self.request.undo_policy.get_or_insert_default().by = by.into();
        self
    }

    /// Shown throws may be taken back.
    #[must_use]
    pub fn undo_over_throw(mut self) -> Opening {
        self.request.undo_policy.get_or_insert_default().over_throw = true;
        self
    }

    /// A finished game may be reopened.
    #[must_use]
    pub fn undo_after_end(mut self) -> Opening {
        self.request.undo_policy.get_or_insert_default().after_end = true;
        self
    }

    /// With the caller's seed.
    #[must_use]
    pub fn seed(mut self, seed: &[u8]) -> Opening {
        self.request.seed = seed.to_vec();
        self
    }

    /// Sends it; answers as the server did.
    pub async fn sent(self) -> Result<v1::Game, Status> {
        self.wire.games().create_game(self.request).await.map(|answer| answer.into_inner().game.unwrap())
    }

    /// Sends it; the server must refuse.
    pub async fn refused(self) -> Refused {
        Refused::by(self.sent().await)
    }

    fn spec(&mut self) -> &mut v1::RulesetSpec {
        self.request.ruleset.get_or_insert_default()
    }
}

impl IntoFuture for Opening {
    type Output = PlayedGame;
    type IntoFuture = Pin<Box<dyn Future<Output = PlayedGame> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let wire = self.wire.clone();
            let game = self.sent().await.unwrap();
            PlayedGame { wire, id: game.game_id, head: game.seq, to_move: game.seat_to_move }
        })
    }
}

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
        }
    }

    /// The request to close that this player would send now.
    pub fn asks_close(&self) -> v1::CloseGameRequest {
        v1::CloseGameRequest { request_id: fresh(), game_id: self.id.clone(), expected_seq: Some(self.head) }
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
    pub fn sees(&mut self, event: v1::Event) -> v1::Event {
        use v1::event::Body;
        self.head = event.seq;
        self.to_move = match event.body.as_ref().unwrap() {
            Body::GameCreated(_) => Some(0),
            Body::MoveMade(made) => made.next_seat,
            Body::MoveUndone(undone) => Some(undone.next_seat),
            Body::GameClosed(_) => None,
        };
        event
    }
}

/// An action in the ruleset's own notation.
pub fn notated(notation: &str) -> v1::Action {
    v1::Action { shape: Some(Shape::Notation(notation.to_owned())) }
}

/// A stream to be opened.
pub struct Following {
    wire: Wire,
    /// The request as it will be sent.
    pub request: v1::StreamEventsRequest,
}

impl Following {
    /// What follows this entry.
    #[must_use]
    pub fn after(mut self, seq: u64) -> Following {
        self.request.after_seq = seq;
        self
    }

    /// The position first.
    #[must_use]
    pub fn with_snapshot(mut self) -> Following {
        self.request.snapshot = true;
        self
    }

    /// No longer than to the head.
    #[must_use]
    pub fn until_head(mut self) -> Following {
        self.request.stop_at_head = true;
        self
    }

    /// With a heartbeat at this interval.
    #[must_use]
    pub fn heartbeat(mut self, seconds: i64) -> Following {
        self.request.heartbeat_interval = Some(prost_types::Duration { seconds, nanos: 0 });
        self
    }

    /// Opens it.
    pub async fn open(self) -> Watching {
        Watching::over(self.sent().await.unwrap())
    }

    /// The server must refuse.
    pub async fn refused(self) -> Refused {
        Refused::by(self.sent().await)
    }

    /// Opens it; answers as the server did.
    pub async fn sent(self) -> Result<tonic::Streaming<v1::StreamEventsResponse>, Status> {
        self.wire.games().stream_events(self.request).await.map(tonic::Response::into_inner)
    }
}

/// An open stream.
pub struct Watching(tonic::Streaming<v1::StreamEventsResponse>);

impl Watching {
    /// Reads these frames.
    pub fn over(frames: tonic::Streaming<v1::StreamEventsResponse>) -> Watching {
        Watching(frames)
    }

    /// The next frame; nothing after the last.
    pub async fn frame(&mut self) -> Result<Option<Frame>, Status> {
        Ok(self.0.message().await?.map(|frame| frame.frame.unwrap()))
    }

    /// The next event, past whatever else comes.
    pub async fn event(&mut self) -> v1::Event {
        loop {
            match self.frame().await.unwrap() {
                Some(Frame::Event(event)) => return event,
                Some(_) => {}
                None => panic!("the stream ended"),
            }
        }
    }

    /// Reads until history is over; answers the numbers of the entries and the head.
    pub async fn history(&mut self) -> (Vec<u64>, u64) {
        let mut seen = Vec::new();
        loop {
            match self.frame().await.unwrap() {
                Some(Frame::Event(event)) => seen.push(event.seq),
                Some(Frame::CaughtUp(caught_up)) => return (seen, caught_up.head_seq),
                Some(_) => {}
                None => panic!("the stream ended before it caught up"),
            }
        }
    }

    /// Reads to the end of the stream.
    pub async fn rest(&mut self) -> (Vec<Frame>, Option<Refused>) {
        let mut frames = Vec::new();
        loop {
            match self.frame().await {
                Ok(Some(frame)) => frames.push(frame),
                Ok(None) => return (frames, None),
                Err(status) => return (frames, Some(Refused::of(&status))),
            }
        }
    }
}

/// The numbers of the entries among frames.
pub fn seqs(frames: &[Frame]) -> Vec<u64> {
    let seq = |frame: &Frame| match frame {
        Frame::Event(event) => Some(event.seq),
        _ => None,
    };
    frames.iter().filter_map(seq).collect()
}

/// Text metadata as a map, for the headers of an answer.
pub fn headers(metadata: &tonic::metadata::MetadataMap) -> HashMap<String, String> {
    let text = |pair: tonic::metadata::KeyAndValueRef<'_>| match pair {
        tonic::metadata::KeyAndValueRef::Ascii(key, value) => Some((key.to_string(), value.to_str().ok()?.to_owned())),
        tonic::metadata::KeyAndValueRef::Binary(..) => None,
    };
    metadata.iter().filter_map(text).collect()
}
