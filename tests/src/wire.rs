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

use plybook_proto::v1;
use plybook_proto::v1::action::Shape;
use plybook_proto::v1::audit_service_client::AuditServiceClient;
use plybook_proto::v1::game_service_client::GameServiceClient;
use plybook_proto::v1::param_value::Value;
use tonic::Status;
use tonic::metadata::AsciiMetadataValue;
use tonic::service::Interceptor;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Channel, Endpoint};
use uuid::Uuid;

use crate::node::Node;
use crate::refused::Refused;

mod evidence;
mod feed;
mod following;
mod joining;
mod playing;
mod remembered;

pub use evidence::pieces;
pub use feed::{AskedFeed, Feed};
pub use following::{Following, Watching, seqs};
pub use playing::PlayedGame;

/// A request id that no other request has.
pub fn fresh() -> String {
    Uuid::new_v4().to_string()
}

/// A connection to a node.
#[derive(Clone)]
pub struct Wire {
    /// Where it leads.
    pub channel: Channel,
    bears: Bears,
}

/// A line on which every call bears the same credential, or none.
pub type Line = InterceptedService<Channel, Bears>;

/// Puts a credential into every call.
#[derive(Clone, Default)]
pub struct Bears(Option<AsciiMetadataValue>);

impl Interceptor for Bears {
    fn call(&mut self, mut request: tonic::Request<()>) -> Result<tonic::Request<()>, Status> {
        if let Some(credential) = &self.0 {
            request.metadata_mut().insert("authorization", credential.clone());
        }
        Ok(request)
    }
}

/// Connects to `127.0.0.1:port`.
pub async fn connect(address: &str) -> Wire {
    let endpoint = Endpoint::from_shared(format!("http://{address}")).unwrap();
    Wire::of(endpoint.connect().await.unwrap())
}

/// Connects to `127.0.0.1:port`, with so little room for answers that a reader who stalls is felt.
pub async fn narrow(address: &str) -> Wire {
    let endpoint = Endpoint::from_shared(format!("http://{address}")).unwrap();
    let endpoint = endpoint.initial_stream_window_size(64 * 1024).initial_connection_window_size(64 * 1024);
    Wire::of(endpoint.connect().await.unwrap())
}

impl Node {
    /// A connection to this process.
    pub async fn wire(&self) -> Wire {
        connect(self.address()).await
    }
}

impl Wire {
    /// Over a connection that is there, with no credential.
    pub fn of(channel: Channel) -> Wire {
        Wire { channel, bears: Bears::default() }
    }

    /// The games' RPCs. Accepts what a client accepts by default: 4 MiB a message.
    pub fn games(&self) -> GameServiceClient<Line> {
        GameServiceClient::with_interceptor(self.channel.clone(), self.bears.clone())
    }

    /// The auditors' RPCs.
    pub fn audit(&self) -> AuditServiceClient<Line> {
        AuditServiceClient::with_interceptor(self.channel.clone(), self.bears.clone())
    }

    /// The same connection, on which every call bears this token or API key.
    #[must_use]
    pub fn bearing(&self, token: &str) -> Wire {
        self.sending(&format!("Bearer {token}"))
    }

    /// The same connection, on which every call says this for its authorization.
    #[must_use]
    pub fn sending(&self, authorization: &str) -> Wire {
        Wire { channel: self.channel.clone(), bears: Bears(Some(authorization.parse().unwrap())) }
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
        self.games().get_game(request).await.map(|answer| *answer.into_inner().game.unwrap())
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

    /// By this version of its ruleset; the default one where none is named.
    #[must_use]
    pub fn version(mut self, version: u32) -> Opening {
        self.spec().version = version;
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
        let seat = |player: &&str| v1::Seat { player_id: (*player).to_owned(), mark: String::new(), ..Default::default() };
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
        self.wire.games().create_game(self.request).await.map(|answer| *answer.into_inner().game.unwrap())
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

/// An action in the ruleset's own notation.
pub fn notated(notation: &str) -> v1::Action {
    v1::Action { shape: Some(Shape::Notation(notation.to_owned())) }
}

/// Text metadata as a map, for the headers of an answer.
pub fn headers(metadata: &tonic::metadata::MetadataMap) -> HashMap<String, String> {
    let text = |pair: tonic::metadata::KeyAndValueRef<'_>| match pair {
        tonic::metadata::KeyAndValueRef::Ascii(key, value) => Some((key.to_string(), value.to_str().ok()?.to_owned())),
        tonic::metadata::KeyAndValueRef::Binary(..) => None,
    };
    metadata.iter().filter_map(text).collect()
}
