//! What whoever sits at a table does besides moving: take back, offer, answer, leave.
//!
//! Invariant: the server says what is allowed; here it is only found out for which seat one speaks, and to what.

use std::num::NonZero;

use plybook_client::Error;
use plybook_proto::v1;
use plybook_proto::v1::{OfferAnswer, OfferKind, UndoBy};

use super::Table;

impl Table {
    /// Takes moves back: so many plies, or the last move of the seat played here. Where others have to agree, asks them.
    pub(crate) async fn undo(&mut self, plies: Option<NonZero<usize>>) -> Result<(), Error> {
        let last = self.standing.iter().rev().find(|standing| self.plays(standing.seat)).map(|standing| standing.seat);
        let seat = self.place.seat.or(last).or(self.game.seat_to_move).unwrap_or_default();
        let agreement = self.game.undo_policy.is_some_and(|policy| policy.by() == UndoBy::Agreement) && self.has_others(seat);
        let target_seq = self.undo_target(plies, agreement.then_some(seat));
        match target_seq {
            Some(target) if agreement => self.offer_undo(seat, target).await,
            _ => {
                let request = v1::UndoRequest {
                    game_id: self.game.game_id.clone(),
                    expected_seq: Some(self.game.seq),
                    seat: Some(seat),
                    target_seq,
                    with_receipt: self.with_receipt,
                    ..Default::default()
                };
                let response = self.client.undo(request).await?;
                self.receipt = response.receipt;
                self.did(response.event).await
            }
        }
    }

    /// The entry to go back to; none where the server finds a seat's own last move. Where fewer moves stand than are
    /// named it is the header, of which the server says that it is no move.
    fn undo_target(&self, plies: Option<NonZero<usize>>, asks: Option<u32>) -> Option<u64> {
        const HEADER: u64 = 1;
        let mut standing = self.standing.iter().rev();
        let nth = plies.map_or(0, |plies| plies.get() - 1);
        let found = match (plies, asks, self.place.seat) {
            (None, Some(seat), _) => standing.find(|standing| standing.seat == seat),
            (None, None, Some(_)) => None,
            // What bots answered goes with one's own move.
            _ if self.has_bots() => standing.filter(|standing| self.plays(standing.seat)).nth(nth),
            _ => standing.nth(nth),
        };
        let named = plies.is_some() || asks.is_some();
        found.map(|standing| standing.seq).or(named.then_some(HEADER))
    }

    async fn offer_undo(&mut self, seat: u32, target: u64) -> Result<(), Error> {
        let request = v1::OfferUndoRequest {
            game_id: self.game.game_id.clone(),
            expected_seq: Some(self.game.seq),
            seat: Some(seat),
            target_seq: Some(target),
            with_receipt: self.with_receipt,
            ..Default::default()
        };
        let response = self.client.offer_undo(request).await?;
        self.receipt = response.receipt;
        self.did(response.event).await
    }

    /// Offers a draw.
    pub(crate) async fn offer_draw(&mut self) -> Result<(), Error> {
        let request = v1::OfferDrawRequest {
            game_id: self.game.game_id.clone(),
            expected_seq: Some(self.game.seq),
            seat: Some(self.speaks()),
            with_receipt: self.with_receipt,
            ..Default::default()
        };
        let response = self.client.offer_draw(request).await?;
        self.receipt = response.receipt;
        self.did(response.event).await
    }

    /// Accepts or declines what is offered last to a seat played here; declines one's own offer by withdrawing it.
    pub(crate) async fn answer(&mut self, accepts: bool) -> Result<(), Error> {
        let asked = self.game.offers.iter().filter_map(|offer| Some((offer, self.asked_of(offer)?))).max_by_key(|(offer, _)| offer.seq);
        let own = || self.game.offers.iter().filter(|offer| self.plays(offer.seat)).max_by_key(|offer| offer.seq);
        let (offer, seat, answer) = match (asked, own()) {
            (Some((offer, seat)), _) if accepts => (offer.clone(), seat, OfferAnswer::Accept),
            (Some((offer, seat)), _) => (offer.clone(), seat, OfferAnswer::Decline),
            (None, Some(offer)) if !accepts => (offer.clone(), offer.seat, OfferAnswer::Withdraw),
            // The server says that nothing is offered.
            (None, _) => (v1::Offer::default(), self.speaks(), if accepts { OfferAnswer::Accept } else { OfferAnswer::Decline }),
        };
        let (game_id, expected_seq, with_receipt) = (self.game.game_id.clone(), Some(self.game.seq), self.with_receipt);
        let (seat, answer) = (Some(seat), answer.into());
        let event = if offer.kind() == OfferKind::Undo {
            let target_seq = offer.target_seq;
            let request = v1::AnswerUndoRequest { game_id, expected_seq, seat, target_seq, answer, with_receipt, ..Default::default() };
            let response = self.client.answer_undo(request).await?;
            self.receipt = response.receipt;
            response.event
        } else {
            let request = v1::AnswerDrawRequest { game_id, expected_seq, seat, answer, with_receipt, ..Default::default() };
            let response = self.client.answer_draw(request).await?;
            self.receipt = response.receipt;
            response.event
        };
        self.did(event).await
    }

    /// Gives the game up.
    pub(crate) async fn resign(&mut self) -> Result<(), Error> {
        let (game_id, seat, with_receipt) = (self.game.game_id.clone(), Some(self.speaks()), self.with_receipt);
        let response = self.client.resign(v1::ResignRequest { game_id, seat, with_receipt, ..Default::default() }).await?;
        self.receipt = response.receipt;
        self.did(response.event).await
    }

    /// Breaks the game off.
    pub(crate) async fn abort(&mut self) -> Result<(), Error> {
        let (game_id, seat, with_receipt) = (self.game.game_id.clone(), Some(self.speaks()), self.with_receipt);
        let response = self.client.abort_game(v1::AbortGameRequest { game_id, seat, with_receipt, ..Default::default() }).await?;
        self.receipt = response.receipt;
        self.did(response.event).await
    }

    /// Makes the rematch, or finds the one that another seat made.
    pub(crate) async fn rematch(&mut self) -> Result<v1::Game, Error> {
        let request = v1::RematchRequest { game_id: self.game.game_id.clone(), with_receipt: self.with_receipt };
        let response = self.client.rematch(request).await?;
        self.receipt = response.receipt;
        Ok(*response.game.unwrap_or_default())
    }

    /// The seat played here that an offer waits for.
    pub(super) fn asked_of(&self, offer: &v1::Offer) -> Option<u32> {
        offer.waiting_seats.iter().copied().find(|seat| self.plays(*seat))
    }

    /// The seat for which whoever sits here speaks: the one to move, or else the first that is still in the game.
    fn speaks(&self) -> u32 {
        let to_move = self.game.seat_to_move.filter(|seat| self.plays(*seat));
        let first = || (0..self.game.seats.len() as u32).find(|seat| self.plays(*seat) && !self.has_left(*seat));
        self.place.seat.or(to_move).or_else(first).unwrap_or_default()
    }

    /// Whether there is anybody besides this seat who has a say.
    fn has_others(&self, seat: u32) -> bool {
        (0..self.game.seats.len() as u32).any(|other| other != seat && !self.is_bot(other) && !self.has_left(other))
    }

    fn has_left(&self, seat: u32) -> bool {
        self.game.left_seats.iter().any(|left| left.seat == seat)
    }
}
