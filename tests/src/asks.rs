//! Requests that append, of whatever kind, to be sent as often and by as many ways as a test likes.
//!
//! Invariant: a request keeps its id and its body; nothing is retried that a test does not retry.

use plybook_core::Game;
use plybook_proto::v1;
use plybook_rulesets::Registry;
use tonic::transport::Endpoint;
use tonic::{Request, Status};

use crate::live::Live;
use crate::patience::PATIENCE;
use crate::table::fold;
use crate::wire::{PlayedGame, Wire};

/// A request that appends.
#[derive(Clone, Debug)]
pub enum Asks {
    /// CreateGame.
    Create(Box<v1::CreateGameRequest>),
    /// MakeMove.
    Move(v1::MakeMoveRequest),
    /// Undo.
    Undo(v1::UndoRequest),
    /// JoinGame.
    Join(v1::JoinGameRequest),
    /// CloseGame.
    Close(v1::CloseGameRequest),
    /// Something that is no move; it must append.
    Live(Live),
}

/// What an accepted request is answered with.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// A new game.
    Game(Box<v1::Game>),
    /// An entry.
    Event(Box<v1::Event>),
}

impl Answer {
    /// The game that it is about.
    pub fn game_id(&self) -> &str {
        match self {
            Answer::Game(game) => &game.game_id,
            Answer::Event(event) => &event.game_id,
        }
    }

    /// The entry that was appended.
    #[track_caller]
    pub fn event(self) -> v1::Event {
        match self {
            Answer::Event(event) => *event,
            Answer::Game(game) => panic!("not an event: {game:?}"),
        }
    }
}

impl From<v1::CreateGameRequest> for Asks {
    fn from(request: v1::CreateGameRequest) -> Asks {
        Asks::Create(Box::new(request))
    }
}

impl From<v1::MakeMoveRequest> for Asks {
    fn from(request: v1::MakeMoveRequest) -> Asks {
        Asks::Move(request)
    }
}

impl From<v1::UndoRequest> for Asks {
    fn from(request: v1::UndoRequest) -> Asks {
        Asks::Undo(request)
    }
}

impl From<v1::JoinGameRequest> for Asks {
    fn from(request: v1::JoinGameRequest) -> Asks {
        Asks::Join(request)
    }
}

impl From<v1::CloseGameRequest> for Asks {
    fn from(request: v1::CloseGameRequest) -> Asks {
        Asks::Close(request)
    }
}

impl From<Live> for Asks {
    fn from(live: Live) -> Asks {
        Asks::Live(live)
    }
}

impl Wire {
    /// Connects to `http://host:port` when there is something to say, and again after a cut.
    pub fn lazily(url: &str) -> Wire {
        Wire::of(Endpoint::from_shared(url.to_owned()).unwrap().connect_lazy())
    }

    /// A connection that takes in little at a time: what is not read stays with the server.
    pub fn narrow(url: &str) -> Wire {
        let endpoint = Endpoint::from_shared(url.to_owned()).unwrap();
        let window = 64 * 1024;
        Wire::of(endpoint.initial_stream_window_size(window).initial_connection_window_size(window).connect_lazy())
    }

    /// Sends a request that appends.
    pub async fn sends(&self, asks: impl Into<Asks>) -> Result<Answer, Status> {
        let event = match asks.into() {
            Asks::Create(request) => {
                let game = self.games().create_game(in_time(*request)).await?.into_inner().game;
                return Ok(Answer::Game(game.unwrap()));
            }
            Asks::Move(request) => self.games().make_move(in_time(request)).await?.into_inner().event,
            Asks::Undo(request) => self.games().undo(in_time(request)).await?.into_inner().event,
            Asks::Join(request) => self.games().join_game(in_time(request)).await?.into_inner().event,
            Asks::Close(request) => self.games().close_game(in_time(request)).await?.into_inner().event,
            Asks::Live(live) => self.asks(live).await?.0.map(Box::new),
        };
        Ok(Answer::Event(event.unwrap()))
    }

    /// Every entry from the first to the head.
    pub async fn history(&self, id: &str) -> Vec<v1::Event> {
        self.history_after(id, 0).await
    }

    /// Every entry after this one, to the head.
    pub async fn history_after(&self, id: &str, after_seq: u64) -> Vec<v1::Event> {
        let mut watching = self.follow(id).after(after_seq).until_head().open().await;
        let mut events = Vec::new();
        while let Some(frame) = watching.frame().await.unwrap() {
            if let v1::stream_events_response::Frame::Event(event) = frame {
                events.push(event);
            }
        }
        events
    }

    /// The book folds under the rules alone, and comes to what GetGame says.
    pub async fn proves(&self, id: &str) -> Game {
        // A bot may move between two calls: one book and one game are wanted that are of the same head.
        let (mut file, mut told) = (self.book(id).await, self.get(id).await);
        while plybook_core::Book::parse(&file).unwrap().lines().len() as u64 + 1 < told.seq {
            (file, told) = (self.book(id).await, self.get(id).await);
        }
        let folded = fold(&Registry::standard(), &file, |_, _| ());
        assert_eq!(u64::from(folded.head().seq.0), told.seq, "the head");
        assert_eq!(folded.head().digest.0.to_vec(), told.book_digest, "the book digest");
        assert_eq!(folded.position_digest().0.to_vec(), told.position.unwrap().position_digest, "the position digest");
        assert_eq!(folded.to_move().map(|seat| u32::from(seat.0)), told.seat_to_move, "the seat to move");
        folded
    }
}

impl PlayedGame {
    /// Sends any request that must be accepted, and takes what it comes to as seen.
    pub async fn does(&mut self, asks: impl Into<Asks>) -> v1::Event {
        let asks = asks.into();
        let answer = self.wire.sends(asks.clone()).await.unwrap_or_else(|status| panic!("{asks:?} is refused: {status:?}"));
        self.sees(answer.event())
    }

    /// Takes back the last move.
    pub async fn takes_back(&mut self, seat: u32, target_seq: u64) -> v1::Event {
        self.does(self.asks_undo(seat, Some(target_seq))).await
    }

    /// Looks at the head, past whatever it has not seen.
    pub async fn looks(&mut self) -> v1::Game {
        let game = self.now().await;
        (self.head, self.to_move) = (game.seq, game.seat_to_move);
        game
    }

    /// The digest of the position at the head.
    pub async fn digest(&self) -> Vec<u8> {
        self.now().await.position.unwrap().position_digest
    }
}

fn in_time<T>(message: T) -> Request<T> {
    let mut request = Request::new(message);
    request.set_timeout(PATIENCE);
    request
}
