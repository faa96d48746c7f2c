//! What is asked of a live game besides moves: leaving, offers, presence, and another game after it.

use plybook_proto::v1;

use crate::client::{Client, fill};
use crate::error::Error;

impl Client {
    /// Has a seat leave the game. An empty request id is filled in; where nobody answers, the error tells it.
    pub async fn resign(&self, mut request: v1::ResignRequest) -> Result<v1::ResignResponse, Error> {
        let id = fill(&mut request.request_id);
        self.call(request, |channel, request| async move { self.games(channel).resign(request).await }).await.map_err(|error| error.to(id))
    }

    /// Ends a game without a result. An empty request id is filled in; where nobody answers, the error tells it.
    pub async fn abort_game(&self, mut request: v1::AbortGameRequest) -> Result<v1::AbortGameResponse, Error> {
        let id = fill(&mut request.request_id);
        self.call(request, |channel, request| async move { self.games(channel).abort_game(request).await })
            .await
            .map_err(|error| error.to(id))
    }

    /// Takes a seat out of the game. An empty request id is filled in; where nobody answers, the error tells it.
    pub async fn remove_seat(&self, mut request: v1::RemoveSeatRequest) -> Result<v1::RemoveSeatResponse, Error> {
        let id = fill(&mut request.request_id);
        self.call(request, |channel, request| async move { self.games(channel).remove_seat(request).await })
            .await
            .map_err(|error| error.to(id))
    }

    /// Offers a draw. An empty request id is filled in; where nobody answers, the error tells it.
    pub async fn offer_draw(&self, mut request: v1::OfferDrawRequest) -> Result<v1::OfferDrawResponse, Error> {
        let id = fill(&mut request.request_id);
        self.call(request, |channel, request| async move { self.games(channel).offer_draw(request).await })
            .await
            .map_err(|error| error.to(id))
    }

    /// Accepts, declines or withdraws the offer of a draw. An empty request id is filled in; where nobody answers, the error tells it.
    pub async fn answer_draw(&self, mut request: v1::AnswerDrawRequest) -> Result<v1::AnswerDrawResponse, Error> {
        let id = fill(&mut request.request_id);
        self.call(request, |channel, request| async move { self.games(channel).answer_draw(request).await })
            .await
            .map_err(|error| error.to(id))
    }

    /// Offers to take a move back. An empty request id is filled in; where nobody answers, the error tells it.
    pub async fn offer_undo(&self, mut request: v1::OfferUndoRequest) -> Result<v1::OfferUndoResponse, Error> {
        let id = fill(&mut request.request_id);
        self.call(request, |channel, request| async move { self.games(channel).offer_undo(request).await })
            .await
            .map_err(|error| error.to(id))
    }

    /// Accepts, declines or withdraws the offer to take a move back. An empty request id is filled in; where nobody answers, the error tells it.
    pub async fn answer_undo(&self, mut request: v1::AnswerUndoRequest) -> Result<v1::AnswerUndoResponse, Error> {
        let id = fill(&mut request.request_id);
        self.call(request, |channel, request| async move { self.games(channel).answer_undo(request).await })
            .await
            .map_err(|error| error.to(id))
    }

    /// Reports whether a seat's player is there. An empty request id is filled in; where nobody answers, the error tells it.
    pub async fn report_presence(&self, mut request: v1::ReportPresenceRequest) -> Result<v1::ReportPresenceResponse, Error> {
        let id = fill(&mut request.request_id);
        self.call(request, |channel, request| async move { self.games(channel).report_presence(request).await })
            .await
            .map_err(|error| error.to(id))
    }

    /// Claims what a seat may while others are away. An empty request id is filled in; where nobody answers, the error tells it.
    pub async fn claim_absence(&self, mut request: v1::ClaimAbsenceRequest) -> Result<v1::ClaimAbsenceResponse, Error> {
        let id = fill(&mut request.request_id);
        self.call(request, |channel, request| async move { self.games(channel).claim_absence(request).await })
            .await
            .map_err(|error| error.to(id))
    }

    /// Makes the rematch of a game that is over, or finds it: a game has one.
    pub async fn rematch(&self, request: v1::RematchRequest) -> Result<v1::RematchResponse, Error> {
        self.call(request, |channel, request| async move { self.games(channel).rematch(request).await }).await
    }
}
