//! One file an RPC, one for what those that append share, and one for what those that advise share.
//!
//! Invariant: an RPC reads its request, asks the games, and makes a reply. It decides nothing.

mod abort_game;
mod advising;
mod analyze_position;
mod answer_draw;
mod answer_undo;
mod appending;
mod claim_absence;
mod close_game;
mod compare_books;
mod create_game;
mod fork_game;
mod get_book;
mod get_game;
mod import_book;
mod join_game;
mod list_games;
mod list_keys;
mod list_legal_actions;
mod list_refusals;
mod list_rulesets;
mod list_strategies;
mod listing;
mod make_move;
mod mint_seat_token;
mod offer_draw;
mod offer_undo;
mod rematch;
mod remove_seat;
mod report_presence;
mod resign;
mod stream_all_events;
mod stream_events;
mod suggest_move;
mod undo;
mod verify_game;

use std::pin::Pin;
use std::sync::Arc;

use futures::Stream;
use plybook_proto::v1;
use plybook_proto::v1::audit_service_server::AuditService;
use plybook_proto::v1::game_service_server::GameService;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tonic::{Request, Response, Status, Streaming};

use crate::auth::{AuthConfig, Rpc};
use crate::clock::Clock;
use crate::games::Games;
use crate::games::pinning::Strategies;
use crate::limits::Limits;
use crate::packing::reply;
use crate::signing::Keys;
use crate::streams::{Hub, Slots};
use crate::telemetry::audit::Audited;
use crate::thinking::Thinking;

/// What every RPC stands on.
pub struct Service {
    pub(crate) games: Arc<Games>,
    pub(crate) thinking: Arc<Thinking>,
    pub(crate) hub: Arc<Hub>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) slots: Slots,
    pub(crate) imports: Arc<Semaphore>,
    pub(crate) limits: Limits,
    pub(crate) keys: Arc<Keys>,
    pub(crate) auth: AuthConfig,
    pub(crate) draining: CancellationToken,
}

impl Service {
    /// What of strategies games may be created with.
    pub(crate) fn strategies(&self) -> Strategies {
        Strategies { bots: self.thinking.bots().clone(), nodes_max: self.limits.bot_nodes_max }
    }
}

/// The frames of a stream.
pub type Frames<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

/// The games' half of a [`Service`].
#[derive(Clone)]
pub struct GameRpc(pub Arc<Service>);

/// The auditors' half of a [`Service`].
#[derive(Clone)]
pub struct AuditRpc(pub Arc<Service>);

#[tonic::async_trait]
impl GameService for GameRpc {
    type StreamEventsStream = Frames<v1::StreamEventsResponse>;

    async fn create_game(&self, request: Request<v1::CreateGameRequest>) -> Result<Response<v1::CreateGameResponse>, Status> {
        Ok(reply(create_game::answer(&self.0, request).await?))
    }

    async fn fork_game(&self, request: Request<v1::ForkGameRequest>) -> Result<Response<v1::ForkGameResponse>, Status> {
        Ok(reply(fork_game::answer(&self.0, request).await?))
    }

    async fn make_move(&self, request: Request<v1::MakeMoveRequest>) -> Result<Response<v1::MakeMoveResponse>, Status> {
        Ok(reply(make_move::answer(&self.0, request).await?))
    }

    async fn undo(&self, request: Request<v1::UndoRequest>) -> Result<Response<v1::UndoResponse>, Status> {
        Ok(reply(undo::answer(&self.0, request).await?))
    }

    async fn join_game(&self, request: Request<v1::JoinGameRequest>) -> Result<Response<v1::JoinGameResponse>, Status> {
        Ok(reply(join_game::answer(&self.0, request).await?))
    }

    async fn close_game(&self, request: Request<v1::CloseGameRequest>) -> Result<Response<v1::CloseGameResponse>, Status> {
        let audited = Audited::begin(Rpc::CloseGame, &request, &request.get_ref().game_id);
        audited.ended(close_game::answer(&self.0, request).await.map_err(Status::from)).map(reply)
    }

    async fn resign(&self, request: Request<v1::ResignRequest>) -> Result<Response<v1::ResignResponse>, Status> {
        Ok(reply(resign::answer(&self.0, request).await?))
    }

    async fn abort_game(&self, request: Request<v1::AbortGameRequest>) -> Result<Response<v1::AbortGameResponse>, Status> {
        let audited = Audited::begin(Rpc::AbortGame, &request, &request.get_ref().game_id);
        audited.ended(abort_game::answer(&self.0, request).await.map_err(Status::from)).map(reply)
    }

    async fn remove_seat(&self, request: Request<v1::RemoveSeatRequest>) -> Result<Response<v1::RemoveSeatResponse>, Status> {
        let audited = Audited::begin(Rpc::RemoveSeat, &request, &request.get_ref().game_id);
        audited.ended(remove_seat::answer(&self.0, request).await.map_err(Status::from)).map(reply)
    }

    async fn offer_draw(&self, request: Request<v1::OfferDrawRequest>) -> Result<Response<v1::OfferDrawResponse>, Status> {
        Ok(reply(offer_draw::answer(&self.0, request).await?))
    }

    async fn answer_draw(&self, request: Request<v1::AnswerDrawRequest>) -> Result<Response<v1::AnswerDrawResponse>, Status> {
        Ok(reply(answer_draw::answer(&self.0, request).await?))
    }

    async fn offer_undo(&self, request: Request<v1::OfferUndoRequest>) -> Result<Response<v1::OfferUndoResponse>, Status> {
        Ok(reply(offer_undo::answer(&self.0, request).await?))
    }

    async fn answer_undo(&self, request: Request<v1::AnswerUndoRequest>) -> Result<Response<v1::AnswerUndoResponse>, Status> {
        Ok(reply(answer_undo::answer(&self.0, request).await?))
    }

    async fn report_presence(&self, request: Request<v1::ReportPresenceRequest>) -> Result<Response<v1::ReportPresenceResponse>, Status> {
        Ok(reply(report_presence::answer(&self.0, request).await?))
    }

    async fn claim_absence(&self, request: Request<v1::ClaimAbsenceRequest>) -> Result<Response<v1::ClaimAbsenceResponse>, Status> {
        Ok(reply(claim_absence::answer(&self.0, request).await?))
    }

    async fn rematch(&self, request: Request<v1::RematchRequest>) -> Result<Response<v1::RematchResponse>, Status> {
        Ok(reply(rematch::answer(&self.0, request).await?))
    }

    async fn get_game(&self, request: Request<v1::GetGameRequest>) -> Result<Response<v1::GetGameResponse>, Status> {
        Ok(reply(get_game::answer(&self.0, request).await?))
    }

    async fn mint_seat_token(&self, request: Request<v1::MintSeatTokenRequest>) -> Result<Response<v1::MintSeatTokenResponse>, Status> {
        let audited = Audited::begin(Rpc::MintSeatToken, &request, &request.get_ref().game_id);
        audited.ended(mint_seat_token::answer(&self.0, request).await.map_err(Status::from)).map(reply)
    }

    async fn list_games(&self, request: Request<v1::ListGamesRequest>) -> Result<Response<v1::ListGamesResponse>, Status> {
        Ok(reply(list_games::answer(&self.0, request).await?))
    }

    async fn list_rulesets(&self, request: Request<v1::ListRulesetsRequest>) -> Result<Response<v1::ListRulesetsResponse>, Status> {
        Ok(reply(list_rulesets::answer(&self.0, request)?))
    }

    async fn list_legal_actions(
        &self,
        request: Request<v1::ListLegalActionsRequest>,
    ) -> Result<Response<v1::ListLegalActionsResponse>, Status> {
        Ok(reply(list_legal_actions::answer(&self.0, request).await?))
    }

    async fn list_strategies(&self, request: Request<v1::ListStrategiesRequest>) -> Result<Response<v1::ListStrategiesResponse>, Status> {
        Ok(reply(list_strategies::answer(&self.0, request)?))
    }

    async fn suggest_move(&self, request: Request<v1::SuggestMoveRequest>) -> Result<Response<v1::SuggestMoveResponse>, Status> {
        Ok(reply(suggest_move::answer(&self.0, request).await?))
    }

    async fn analyze_position(
        &self,
        request: Request<v1::AnalyzePositionRequest>,
    ) -> Result<Response<v1::AnalyzePositionResponse>, Status> {
        Ok(reply(analyze_position::answer(&self.0, request).await?))
    }

    async fn stream_events(&self, request: Request<v1::StreamEventsRequest>) -> Result<Response<Self::StreamEventsStream>, Status> {
        Ok(Response::new(stream_events::answer(&self.0, request).await?))
    }
}

#[tonic::async_trait]
impl AuditService for AuditRpc {
    type GetBookStream = Frames<v1::GetBookResponse>;
    type StreamAllEventsStream = Frames<v1::StreamAllEventsResponse>;

    async fn get_book(&self, request: Request<v1::GetBookRequest>) -> Result<Response<Self::GetBookStream>, Status> {
        Ok(Response::new(get_book::answer(&self.0, request).await?))
    }

    async fn verify_game(&self, request: Request<v1::VerifyGameRequest>) -> Result<Response<v1::VerifyGameResponse>, Status> {
        Ok(reply(verify_game::answer(&self.0, request).await?))
    }

    async fn list_refusals(&self, request: Request<v1::ListRefusalsRequest>) -> Result<Response<v1::ListRefusalsResponse>, Status> {
        Ok(reply(list_refusals::answer(&self.0, request).await?))
    }

    async fn import_book(&self, request: Request<Streaming<v1::ImportBookRequest>>) -> Result<Response<v1::ImportBookResponse>, Status> {
        let audited = Audited::begin(Rpc::ImportBook, &request, "");
        let answer = import_book::answer(&self.0, request).await.map_err(Status::from);
        audited.ended_about(answer, |imported| &imported.game_id).map(reply)
    }

    async fn compare_books(&self, request: Request<v1::CompareBooksRequest>) -> Result<Response<v1::CompareBooksResponse>, Status> {
        Ok(reply(compare_books::answer(&self.0, request).await?))
    }

    async fn stream_all_events(
        &self,
        request: Request<v1::StreamAllEventsRequest>,
    ) -> Result<Response<Self::StreamAllEventsStream>, Status> {
        Ok(Response::new(stream_all_events::answer(&self.0, request).await?))
    }

    async fn list_keys(&self, request: Request<v1::ListKeysRequest>) -> Result<Response<v1::ListKeysResponse>, Status> {
        Ok(reply(list_keys::answer(&self.0, request)?))
    }
}
