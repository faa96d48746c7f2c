//! The client against servers that fail on purpose.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::{Stream, StreamExt, stream};
use plybook_client::{Client, Error, Options};
use plybook_proto::v1;
use plybook_proto::v1::game_service_server::{GameService, GameServiceServer};
use plybook_proto::v1::stream_events_response::Frame;
use tokio::net::TcpSocket;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::{Code, Request, Response, Status};
use tonic_types::{ErrorDetails, StatusExt};

/// The last entry of the game.
const LAST: u64 = 6;

type Frames = Pin<Box<dyn Stream<Item = Result<v1::StreamEventsResponse, Status>> + Send>>;

/// What a server does with the next call.
enum Act {
    Answer,
    Refuse(Status),
    Hang,
    /// Sends these entries, then ends like this; without an end it falls silent.
    Stream(Vec<u64>, Option<Result<(), Status>>),
}

#[derive(Default)]
struct Script {
    acts: Mutex<VecDeque<Act>>,
    /// Request ids of moves, and cursors of streams, as they came.
    heard: Mutex<Vec<String>>,
}

#[derive(Clone, Default)]
struct Fake(Arc<Script>);

impl Fake {
    fn doing(acts: impl IntoIterator<Item = Act>) -> Fake {
        let fake = Fake::default();
        fake.0.acts.lock().unwrap().extend(acts);
        fake
    }

    async fn listen(&self) -> String {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address: SocketAddr = listener.local_addr().unwrap();
        let server = tonic::transport::Server::builder().add_service(GameServiceServer::new(self.clone()));
        tokio::spawn(server.serve_with_incoming(TcpListenerStream::new(listener)));
        format!("http://{address}")
    }

    fn heard(&self) -> Vec<String> {
        self.0.heard.lock().unwrap().clone()
    }

    fn next(&self, heard: String) -> Act {
        self.0.heard.lock().unwrap().push(heard);
        self.0.acts.lock().unwrap().pop_front().unwrap_or(Act::Answer)
    }
}

fn event(seq: u64) -> v1::Event {
    v1::Event { seq, ..Default::default() }
}

fn unavailable(reason: &str, retry: Option<Duration>) -> Status {
    let mut details = ErrorDetails::with_error_info(reason, "plybook", HashMap::new());
    details.set_retry_info(retry);
    Status::with_error_details(Code::Unavailable, "not now", details)
}

#[tonic::async_trait]
impl GameService for Fake {
    type StreamEventsStream = Frames;

    async fn make_move(&self, request: Request<v1::MakeMoveRequest>) -> Result<Response<v1::MakeMoveResponse>, Status> {
        match self.next(request.into_inner().request_id) {
            Act::Refuse(status) => Err(status),
            Act::Hang => std::future::pending().await,
            _ => Ok(Response::new(v1::MakeMoveResponse { event: Some(Box::new(event(2))), position: None, receipt: None })),
        }
    }

    async fn stream_events(&self, request: Request<v1::StreamEventsRequest>) -> Result<Response<Frames>, Status> {
        let after = request.into_inner().after_seq;
        let frame = |seq| Ok(v1::StreamEventsResponse { frame: Some(Frame::Event(event(seq))) });
        match self.next(after.to_string()) {
            Act::Refuse(status) => Err(status),
            Act::Stream(seqs, end) => {
                let frames = stream::iter(seqs.into_iter().map(frame));
                Ok(Response::new(match end {
                    None => frames.chain(stream::pending()).boxed(),
                    Some(Ok(())) => frames.boxed(),
                    Some(Err(status)) => frames.chain(stream::iter([Err(status)])).boxed(),
                }))
            }
            Act::Hang => std::future::pending().await,
            Act::Answer => Ok(Response::new(stream::iter((after + 1..=LAST).map(frame)).boxed())),
        }
    }

    async fn create_game(&self, _: Request<v1::CreateGameRequest>) -> Result<Response<v1::CreateGameResponse>, Status> {
        Err(Status::unimplemented("not scripted"))
    }

    async fn fork_game(&self, _: Request<v1::ForkGameRequest>) -> Result<Response<v1::ForkGameResponse>, Status> {
        Err(Status::unimplemented("not scripted"))
    }

    async fn undo(&self, _: Request<v1::UndoRequest>) -> Result<Response<v1::UndoResponse>, Status> {
        Err(Status::unimplemented("not scripted"))
    }

    async fn join_game(&self, _: Request<v1::JoinGameRequest>) -> Result<Response<v1::JoinGameResponse>, Status> {
        Err(Status::unimplemented("not scripted"))
    }

    async fn close_game(&self, _: Request<v1::CloseGameRequest>) -> Result<Response<v1::CloseGameResponse>, Status> {
        Err(Status::unimplemented("not scripted"))
    }

    async fn get_game(&self, _: Request<v1::GetGameRequest>) -> Result<Response<v1::GetGameResponse>, Status> {
        Err(Status::unimplemented("not scripted"))
    }

    async fn mint_seat_token(&self, _: Request<v1::MintSeatTokenRequest>) -> Result<Response<v1::MintSeatTokenResponse>, Status> {
        Err(Status::unimplemented("not scripted"))
    }

    async fn list_games(&self, _: Request<v1::ListGamesRequest>) -> Result<Response<v1::ListGamesResponse>, Status> {
        Err(Status::unimplemented("not scripted"))
    }

    async fn list_rulesets(&self, _: Request<v1::ListRulesetsRequest>) -> Result<Response<v1::ListRulesetsResponse>, Status> {
        Err(Status::unimplemented("not scripted"))
    }

    async fn list_legal_actions(&self, _: Request<v1::ListLegalActionsRequest>) -> Result<Response<v1::ListLegalActionsResponse>, Status> {
        Err(Status::unimplemented("not scripted"))
    }

    async fn list_strategies(&self, _: Request<v1::ListStrategiesRequest>) -> Result<Response<v1::ListStrategiesResponse>, Status> {
        Err(Status::unimplemented("not scripted"))
    }

    async fn suggest_move(&self, _: Request<v1::SuggestMoveRequest>) -> Result<Response<v1::SuggestMoveResponse>, Status> {
        Err(Status::unimplemented("not scripted"))
    }

    async fn analyze_position(&self, _: Request<v1::AnalyzePositionRequest>) -> Result<Response<v1::AnalyzePositionResponse>, Status> {
        Err(Status::unimplemented("not scripted"))
    }

    async fn resign(&self, _: Request<v1::ResignRequest>) -> Result<Response<v1::ResignResponse>, Status> {
        Err(Status::unimplemented("not scripted"))
    }

    async fn abort_game(&self, _: Request<v1::AbortGameRequest>) -> Result<Response<v1::AbortGameResponse>, Status> {
        Err(Status::unimplemented("not scripted"))
    }

    async fn remove_seat(&self, _: Request<v1::RemoveSeatRequest>) -> Result<Response<v1::RemoveSeatResponse>, Status> {
        Err(Status::unimplemented("not scripted"))
    }

    async fn offer_draw(&self, _: Request<v1::OfferDrawRequest>) -> Result<Response<v1::OfferDrawResponse>, Status> {
        Err(Status::unimplemented("not scripted"))
    }

    async fn answer_draw(&self, _: Request<v1::AnswerDrawRequest>) -> Result<Response<v1::AnswerDrawResponse>, Status> {
        Err(Status::unimplemented("not scripted"))
    }

    async fn offer_undo(&self, _: Request<v1::OfferUndoRequest>) -> Result<Response<v1::OfferUndoResponse>, Status> {
        Err(Status::unimplemented("not scripted"))
    }

    async fn answer_undo(&self, _: Request<v1::AnswerUndoRequest>) -> Result<Response<v1::AnswerUndoResponse>, Status> {
        Err(Status::unimplemented("not scripted"))
    }

    async fn report_presence(&self, _: Request<v1::ReportPresenceRequest>) -> Result<Response<v1::ReportPresenceResponse>, Status> {
        Err(Status::unimplemented("not scripted"))
    }

    async fn claim_absence(&self, _: Request<v1::ClaimAbsenceRequest>) -> Result<Response<v1::ClaimAbsenceResponse>, Status> {
        Err(Status::unimplemented("not scripted"))
    }

    async fn rematch(&self, _: Request<v1::RematchRequest>) -> Result<Response<v1::RematchResponse>, Status> {
        Err(Status::unimplemented("not scripted"))
    }
}

/// Longer than anything takes, on any machine.
const LONG: Duration = Duration::from_secs(300);

/// A client that goes on until it is answered.
fn patient() -> Options {
    Options { timeout: LONG, silence: LONG, patience: LONG, connect_timeout: LONG, ..Options::default() }
}

/// The same, with little time for each attempt: on a busy machine some fail that no script lets fail.
fn restless() -> Options {
    Options { timeout: Duration::from_millis(300), silence: Duration::from_millis(400), ..patient() }
}

/// An address where nobody listens, for as long as the socket is held.
fn nobody() -> (TcpSocket, String) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(([127, 0, 0, 1], 0).into()).unwrap();
    let address = format!("http://{}", socket.local_addr().unwrap());
    (socket, address)
}

#[tokio::test]
async fn one_request_id_through_all_attempts() {
    let draining = unavailable("SERVER_DRAINING", Some(Duration::from_millis(10)));
    let fake = Fake::doing([Act::Refuse(draining), Act::Hang, Act::Refuse(Status::unknown("a proxy fell over")), Act::Answer]);
    let client = Client::with(&fake.listen().await, restless()).unwrap();
    let response = client.make_move(v1::MakeMoveRequest::default()).await.unwrap();
    assert_eq!(response.event, Some(Box::new(event(2))));
    let heard = fake.heard();
    assert!(heard.len() >= 4, "{heard:?}");
    assert!(heard.iter().all(|id| *id == heard[0] && id.len() == 36), "{heard:?}");

    client.make_move(v1::MakeMoveRequest { request_id: "given".into(), ..Default::default() }).await.unwrap();
    assert_eq!(fake.heard().last().unwrap(), "given");
}

/// Or its caller could only ask again with a new one, and move twice.
#[tokio::test]
async fn who_is_not_answered_learns_the_id_of_the_request() {
    let patience = Duration::from_millis(100);
    let fake = Fake::doing((0..100).map(|_| Act::Refuse(unavailable("STORE_UNAVAILABLE", None))));
    let client = Client::with(&fake.listen().await, Options { patience, ..patient() }).unwrap();
    let id = |error: Error| match error {
        Error::Unavailable(unavailable) => unavailable.request_id,
        Error::Refused(refused) => panic!("{refused}"),
    };
    let filled_in = id(client.make_move(v1::MakeMoveRequest::default()).await.unwrap_err());
    assert_eq!(filled_in, fake.heard().last().cloned());
    assert_eq!(filled_in.unwrap().len(), 36);
    let given = v1::MakeMoveRequest { request_id: "given".into(), ..Default::default() };
    assert_eq!(id(client.make_move(given).await.unwrap_err()).as_deref(), Some("given"));

    let (_socket, address) = nobody();
    let gone = Client::with(&address, Options { patience, ..patient() }).unwrap();
    let ids = [
        id(gone.create_game(v1::CreateGameRequest::default()).await.unwrap_err()),
        id(gone.undo(v1::UndoRequest::default()).await.unwrap_err()),
        id(gone.close_game(v1::CloseGameRequest::default()).await.unwrap_err()),
    ];
    assert!(ids.iter().all(|id| id.as_ref().is_some_and(|id| id.len() == 36)), "{ids:?}");
    assert_eq!(id(gone.game("a game", None).await.unwrap_err()), None, "what only reads has none");
}

#[tokio::test]
async fn a_refusal_is_not_tried_again() {
    let details = ErrorDetails::with_error_info("STALE_SEQ", "plybook", HashMap::from([("head_seq".to_owned(), "9".to_owned())]));
    let fake = Fake::doing([Act::Refuse(Status::with_error_details(Code::Aborted, "the head is 9", details))]);
    let client = Client::with(&fake.listen().await, patient()).unwrap();
    let error = client.make_move(v1::MakeMoveRequest::default()).await.unwrap_err();
    let refused = error.refused().unwrap();
    assert!(refused.is(v1::ErrorReason::StaleSeq) && refused.number("head_seq") == Some(9), "{refused:?}");
    assert_eq!(fake.heard().len(), 1);
}

#[tokio::test]
async fn the_next_server_is_asked_at_once_and_kept() {
    let fake = Fake::default();
    let (_socket, address) = nobody();
    let servers = format!("{address},{}", fake.listen().await);
    // No pause before a server that was not asked yet: any would be longer than the client's patience.
    let client = Client::with(&servers, Options { first_pause: LONG * 4, longest_pause: LONG * 4, ..patient() }).unwrap();
    client.make_move(v1::MakeMoveRequest::default()).await.unwrap();
    client.make_move(v1::MakeMoveRequest::default()).await.unwrap();
    assert_eq!(fake.heard().len(), 2);
}

#[tokio::test]
async fn patience_ends() {
    let (_socket, address) = nobody();
    let client = Client::with(&address, Options { patience: Duration::from_millis(200), ..patient() }).unwrap();
    let error = client.make_move(v1::MakeMoveRequest::default()).await.unwrap_err();
    let Error::Unavailable(unavailable) = error else { panic!("{error:?}") };
    assert!(unavailable.attempts >= 1 && !unavailable.last.is_empty(), "{unavailable:?}");
    assert_eq!(client.events("game", 0).next().await.map(|event| event.is_err()), Some(true));
}

#[tokio::test]
async fn a_stream_goes_on_where_it_broke_without_gap_or_repeat() {
    let script = [
        Act::Stream(vec![1, 2], Some(Err(unavailable("SERVER_DRAINING", None)))),
        Act::Refuse(unavailable("STORE_UNAVAILABLE", None)),
        // A server that repeats, and one that skips.
        Act::Stream(vec![1, 2, 3], Some(Err(Status::unknown("broken")))),
        Act::Stream(vec![5], None),
        // One that falls silent.
        Act::Stream(vec![4], None),
        Act::Stream(vec![5, 6], Some(Ok(()))),
    ];
    let fake = Fake::doing(script);
    let client = Client::with(&fake.listen().await, restless()).unwrap();
    let events: Vec<_> = client.events("game", 0).into_stream().map(|event| event.unwrap().seq).collect().await;
    assert_eq!(events, [1, 2, 3, 4, 5, 6]);
    // Unless the machine was so busy that more than the script broke, and then still in order.
    let heard = fake.heard();
    assert!(heard == ["0", "2", "2", "3", "3", "4"] || heard.len() > 6 && heard.is_sorted(), "{heard:?}");
}

#[tokio::test]
async fn a_refused_stream_ends() {
    let fake = Fake::doing([Act::Refuse(Status::not_found("no such game"))]);
    let client = Client::with(&fake.listen().await, patient()).unwrap();
    let mut events = client.events("game", 7);
    assert!(matches!(events.next().await, Some(Err(Error::Refused(_)))));
    assert!(events.next().await.is_none());
    assert_eq!((events.last_seq(), fake.heard()), (7, vec!["7".to_owned()]));
}
