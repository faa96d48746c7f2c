//! Every call of the contract.
//!
//! Invariant: a call is sent until it is answered, refused, or patience ends; always with the same
//! request id, to the next server when one does not answer.

use std::sync::Arc;
use std::time::Duration;

use futures::Stream;
use plybook_proto::v1;
use plybook_proto::v1::audit_service_client::AuditServiceClient;
use plybook_proto::v1::game_service_client::GameServiceClient;
use tonic::codec::CompressionEncoding;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::Channel;
use tonic::{Request, Response, Status};
use uuid::Uuid;

use crate::credentials::Bearer;
use crate::error::{Error, Failure};
use crate::events::Events;
use crate::feed::{Feed, FeedStart};
use crate::options::{BadAddress, Options};
use crate::patience::Patience;
use crate::routes::Routes;

/// Bytes of a file in one message.
const PIECE_BYTES: usize = 64 * 1024;

/// A connection on which every call says who calls.
pub(crate) type Line = InterceptedService<Channel, Bearer>;

/// Speaks with one or several servers of one database. Cheap to clone; clones share connections.
#[derive(Clone, Debug)]
pub struct Client {
    pub(crate) routes: Arc<Routes>,
    pub(crate) options: Arc<Options>,
}

impl Client {
    /// A client of `http://host:port` or `https://host:port`, or of several, separated by commas. Connections are made when
    /// they are first used. Call it inside a Tokio runtime.
    pub fn connect(addresses: &str) -> Result<Client, BadAddress> {
        Client::with(addresses, Options::default())
    }

    /// The same with other waits.
    pub fn with(addresses: &str, options: Options) -> Result<Client, BadAddress> {
        let routes = Arc::new(Routes::new(addresses, &options)?);
        Ok(Client { routes, options: Arc::new(options) })
    }

    /// Creates a game. An empty request id is filled in; where nobody answers, the error tells it.
    pub async fn create_game(&self, request: v1::CreateGameRequest) -> Result<v1::Game, Error> {
        Ok(*self.create_game_answer(request).await?.game.unwrap_or_default())
    }

    /// The same with all that the answer carries, such as a receipt.
    pub async fn create_game_answer(&self, mut request: v1::CreateGameRequest) -> Result<v1::CreateGameResponse, Error> {
        let id = fill(&mut request.request_id);
        self.call(request, |channel, request| async move { self.games(channel).create_game(request).await })
            .await
            .map_err(|error| error.to(id))
    }

    /// Makes a new game that goes on from an entry of another. An empty request id is filled in; where nobody
    /// answers, the error tells it.
    pub async fn fork_game(&self, mut request: v1::ForkGameRequest) -> Result<v1::ForkGameResponse, Error> {
        let id = fill(&mut request.request_id);
        self.call(request, |channel, request| async move { self.games(channel).fork_game(request).await })
            .await
            .map_err(|error| error.to(id))
    }

    /// Makes a move. An empty request id is filled in; where nobody answers, the error tells it.
    pub async fn make_move(&self, mut request: v1::MakeMoveRequest) -> Result<v1::MakeMoveResponse, Error> {
        let id = fill(&mut request.request_id);
        self.call(request, |channel, request| async move { self.games(channel).make_move(request).await })
            .await
            .map_err(|error| error.to(id))
    }

    /// Takes a move back. An empty request id is filled in; where nobody answers, the error tells it.
    pub async fn undo(&self, mut request: v1::UndoRequest) -> Result<v1::UndoResponse, Error> {
        let id = fill(&mut request.request_id);
        self.call(request, |channel, request| async move { self.games(channel).undo(request).await }).await.map_err(|error| error.to(id))
    }

    /// Does one step of joining; [`crate::joining`] does all of it. An empty request id is filled in; where nobody answers,
    /// the error tells it.
    pub async fn join_game(&self, mut request: v1::JoinGameRequest) -> Result<v1::JoinGameResponse, Error> {
        let id = fill(&mut request.request_id);
        self.call(request, |channel, request| async move { self.games(channel).join_game(request).await })
            .await
            .map_err(|error| error.to(id))
    }

    /// Closes a finished game, or one that seats did not join in time. An empty request id is filled in; where nobody answers, the error tells it.
    pub async fn close_game(&self, mut request: v1::CloseGameRequest) -> Result<v1::CloseGameResponse, Error> {
        let id = fill(&mut request.request_id);
        self.call(request, |channel, request| async move { self.games(channel).close_game(request).await })
            .await
            .map_err(|error| error.to(id))
    }

    /// Reads a game at its head, or at an earlier entry.
    pub async fn game(&self, game_id: &str, at_seq: Option<u64>) -> Result<v1::Game, Error> {
        let request = v1::GetGameRequest { game_id: game_id.to_owned(), at_seq };
        let response = self.call(request, |channel, request| async move { self.games(channel).get_game(request).await }).await?;
        Ok(*response.game.unwrap_or_default())
    }

    /// One page of games.
    pub async fn list_games(&self, request: v1::ListGamesRequest) -> Result<v1::ListGamesResponse, Error> {
        self.call(request, |channel, request| async move { self.games(channel).list_games(request).await }).await
    }

    /// One page of legal actions.
    pub async fn list_legal_actions(&self, request: v1::ListLegalActionsRequest) -> Result<v1::ListLegalActionsResponse, Error> {
        self.call(request, |channel, request| async move { self.games(channel).list_legal_actions(request).await }).await
    }

    /// One page of rulesets.
    pub async fn list_rulesets(&self, request: v1::ListRulesetsRequest) -> Result<v1::ListRulesetsResponse, Error> {
        self.call(request, |channel, request| async move { self.games(channel).list_rulesets(request).await }).await
    }

    /// Every ruleset of the server.
    pub async fn rulesets(&self) -> Result<Vec<v1::Ruleset>, Error> {
        let mut rulesets = Vec::new();
        let mut page_token = String::new();
        loop {
            let page = self.list_rulesets(v1::ListRulesetsRequest { page_size: 0, page_token }).await?;
            rulesets.extend(page.rulesets);
            page_token = page.next_page_token;
            if page_token.is_empty() {
                return Ok(rulesets);
            }
        }
    }

    /// One page of strategies.
    pub async fn list_strategies(&self, request: v1::ListStrategiesRequest) -> Result<v1::ListStrategiesResponse, Error> {
        self.call(request, |channel, request| async move { self.games(channel).list_strategies(request).await }).await
    }

    /// Every strategy of the server.
    pub async fn strategies(&self) -> Result<Vec<v1::Strategy>, Error> {
        let mut strategies = Vec::new();
        let mut page_token = String::new();
        loop {
            let page = self.list_strategies(v1::ListStrategiesRequest { page_size: 0, page_token }).await?;
            strategies.extend(page.strategies);
            page_token = page.next_page_token;
            if page_token.is_empty() {
                return Ok(strategies);
            }
        }
    }

    /// What a strategy would play. A server whose thinkers are all at work is asked again while patience lasts.
    pub async fn suggest_move(&self, request: v1::SuggestMoveRequest) -> Result<v1::SuggestMoveResponse, Error> {
        let send = |channel, request| async move { self.games(channel).suggest_move(request).await };
        self.call_within(self.options.advice_timeout, request, send).await
    }

    /// What every legal action is worth, and who threatens what. A server whose thinkers are all at work is asked
    /// again while patience lasts.
    pub async fn analyze_position(&self, request: v1::AnalyzePositionRequest) -> Result<v1::AnalyzePositionResponse, Error> {
        let send = |channel, request| async move { self.games(channel).analyze_position(request).await };
        self.call_within(self.options.advice_timeout, request, send).await
    }

    /// Follows a game from the entry after `after_seq` (0: from the beginning) until it is closed.
    pub fn events(&self, game_id: &str, after_seq: u64) -> Events {
        Events::new(self.clone(), game_id, after_seq)
    }

    /// Follows every game of the tenant.
    pub fn feed(&self, start: FeedStart) -> Feed {
        Feed::new(self.clone(), start)
    }

    /// A game as a `.ply` file.
    pub async fn book(&self, game_id: &str) -> Result<Vec<u8>, Error> {
        let request = v1::GetBookRequest { game_id: game_id.to_owned() };
        let fetch = |channel, request| async move {
            let mut pieces = self.audit(channel).get_book(request).await?.into_inner();
            let mut file = Vec::new();
            while let Some(piece) = pieces.message().await? {
                file.extend_from_slice(&piece.chunk);
            }
            Ok(Response::new(file))
        };
        self.call(request, fetch).await
    }

    /// One page of the requests that a game refused.
    pub async fn list_refusals(&self, request: v1::ListRefusalsRequest) -> Result<v1::ListRefusalsResponse, Error> {
        self.call(request, |channel, request| async move { self.audit(channel).list_refusals(request).await }).await
    }

    /// Keeps a `.ply` file as evidence. Sent again after whatever went wrong, it is kept once.
    pub async fn import_book(&self, file: Vec<u8>) -> Result<v1::ImportBookResponse, Error> {
        let send = |channel, request: Request<Arc<[u8]>>| async move { self.audit(channel).import_book(request.map(pieces)).await };
        self.call_within(self.options.upload_timeout, Arc::from(file), send).await
    }

    /// Where two books part.
    pub async fn compare_books(&self, request: v1::CompareBooksRequest) -> Result<v1::CompareBooksResponse, Error> {
        self.call(request, |channel, request| async move { self.audit(channel).compare_books(request).await }).await
    }

    /// A short-lived token for the client of the player at a seat of a game, or, without a seat, for somebody who watches it.
    pub async fn mint_seat_token(
        &self,
        game_id: &str,
        seat: Option<u32>,
        ttl: Option<Duration>,
    ) -> Result<v1::MintSeatTokenResponse, Error> {
        use v1::mint_seat_token_request::Holder;
        let holder = Some(seat.map_or(Holder::Spectator(true), Holder::Seat));
        // A time that the contract cannot say is longer than any limit.
        let ttl = ttl.map(|ttl| prost_types::Duration { seconds: i64::try_from(ttl.as_secs()).unwrap_or(i64::MAX), nanos: 0 });
        let request = v1::MintSeatTokenRequest { game_id: game_id.to_owned(), holder, ttl };
        self.call(request, |channel, request| async move { self.games(channel).mint_seat_token(request).await }).await
    }

    /// The public keys that check receipts and signed books.
    pub async fn keys(&self) -> Result<Vec<v1::PublicKey>, Error> {
        let request = v1::ListKeysRequest {};
        let response = self.call(request, |channel, request| async move { self.audit(channel).list_keys(request).await }).await?;
        Ok(response.keys)
    }

    /// For one call, or until the next frame of a stream.
    pub(crate) fn patience(&self) -> Patience {
        Patience::new(&self.options, self.routes.len())
    }

    pub(crate) fn games(&self, channel: Channel) -> GameServiceClient<Line> {
        GameServiceClient::with_interceptor(channel, self.bearer())
            .accept_compressed(CompressionEncoding::Gzip)
            .max_decoding_message_size(self.options.answer_bytes_max)
    }

    pub(crate) fn audit(&self, channel: Channel) -> AuditServiceClient<Line> {
        AuditServiceClient::with_interceptor(channel, self.bearer())
            .accept_compressed(CompressionEncoding::Gzip)
            .max_decoding_message_size(self.options.answer_bytes_max)
    }

    fn bearer(&self) -> Bearer {
        Bearer(self.options.token.clone())
    }

    pub(crate) async fn call<Q, R, F>(&self, request: Q, send: impl Fn(Channel, Request<Q>) -> F) -> Result<R, Error>
    where
        Q: Clone,
        F: Future<Output = Result<Response<R>, Status>>,
    {
        self.call_within(self.options.timeout, request, send).await
    }

    async fn call_within<Q, R, F>(&self, timeout: Duration, request: Q, send: impl Fn(Channel, Request<Q>) -> F) -> Result<R, Error>
    where
        Q: Clone,
        F: Future<Output = Result<Response<R>, Status>>,
    {
        // The server ends an attempt first and says why; this only catches one that does not.
        let longest = timeout + Duration::from_millis(500);
        let mut patience = self.patience();
        loop {
            let (route, channel) = self.routes.current();
            let mut message = Request::new(request.clone());
            message.set_timeout(timeout);
            let failure = match tokio::time::timeout(longest, send(channel, message)).await {
                Ok(Ok(response)) => return Ok(response.into_inner()),
                Ok(Err(status)) => Failure::of(&status),
                Err(_) => Failure::Again { why: format!("no answer in {longest:?}"), not_before: None },
            };
            match failure {
                Failure::Final(refused) => return Err(refused.into()),
                Failure::Again { why, not_before } => {
                    tracing::debug!(why, "trying again");
                    self.routes.leave(route);
                    tokio::time::sleep(patience.spend(why, not_before)?).await;
                }
            }
        }
    }
}

/// A file in pieces that any server takes by default.
fn pieces(file: Arc<[u8]>) -> impl Stream<Item = v1::ImportBookRequest> + Send + 'static {
    let bytes = file.len();
    let piece = move |at: usize| {
        let end = bytes.min(at + PIECE_BYTES);
        v1::ImportBookRequest { chunk: file[at..end].to_vec(), last: end == bytes }
    };
    // An empty file has one piece too.
    futures::stream::iter((0..bytes.max(1)).step_by(PIECE_BYTES).map(piece))
}

/// The request's id, made up where the caller has none.
pub(crate) fn fill(request_id: &mut String) -> String {
    if request_id.is_empty() {
        *request_id = Uuid::now_v7().to_string();
    }
    request_id.clone()
}
