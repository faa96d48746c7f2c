//! Seats that join a game with joint entropy.
//!
//! Invariant: a seat's nonce is the one of `table::nonce`, unless a test says otherwise.

use plybook_core::entropy::{commitment, signed_bytes};
use plybook_core::{Digest, Seat};
use plybook_proto::v1::join_game_request::Step;
use plybook_proto::v1::{self, IfAbsent};

use super::{Opening, PlayedGame, fresh};
use crate::refused::Refused;
use crate::table::nonce;

impl Opening {
    /// Every seat is asked for a nonce, with so many seconds for each step.
    #[must_use]
    pub fn joint(mut self, seconds: i64, if_absent: IfAbsent) -> Opening {
        let step_time = Some(prost_types::Duration { seconds, nanos: 0 });
        self.request.joint_entropy = Some(v1::JointEntropy { step_time, if_absent: if_absent.into() });
        self
    }

    /// Every answer carries a receipt.
    #[must_use]
    pub fn receipts_always(mut self) -> Opening {
        self.request.receipt_policy = v1::ReceiptPolicy::Always.into();
        self
    }
}

impl PlayedGame {
    /// The request to join that a seat would send now.
    pub fn asks_join(&self, seat: u32, step: Step) -> v1::JoinGameRequest {
        v1::JoinGameRequest { request_id: fresh(), game_id: self.id.clone(), seat: Some(seat), step: Some(step), with_receipt: false }
    }

    /// The request to commit to a seat's nonce.
    pub async fn asks_commit(&self, seat: u32) -> v1::JoinGameRequest {
        self.asks_join(seat, Step::Commit(self.promise(seat).await))
    }

    /// The request to reveal a seat's nonce.
    pub fn asks_reveal(&self, seat: u32) -> v1::JoinGameRequest {
        self.asks_join(seat, Step::Reveal(nonce(seat as u8)))
    }

    /// What a seat promises, without a key.
    pub async fn promise(&self, seat: u32) -> v1::NonceCommitment {
        let promise = commitment(&self.entry_1().await, Seat(seat as u8), &nonce(seat as u8));
        v1::NonceCommitment { commitment: promise.0.to_vec(), ..Default::default() }
    }

    /// The same, signed for a seat by a key.
    pub async fn signed_promise(&self, seat: u32, key: &ed25519_dalek::SigningKey) -> v1::NonceCommitment {
        use ed25519_dalek::Signer as _;
        let promise = self.promise(seat).await;
        let commitment = Digest(promise.commitment.as_slice().try_into().unwrap());
        let signature = key.sign(&signed_bytes(&self.entry_1().await, Seat(seat as u8), &commitment)).to_vec();
        v1::NonceCommitment { public_key: key.verifying_key().to_bytes().to_vec(), signature, ..promise }
    }

    /// A seat commits to its nonce.
    pub async fn commit(&mut self, seat: u32) -> v1::Event {
        let request = self.asks_commit(seat).await;
        self.joins(request).await
    }

    /// A seat reveals its nonce.
    pub async fn reveal(&mut self, seat: u32) -> v1::Event {
        let request = self.asks_reveal(seat);
        self.joins(request).await
    }

    /// Sends a step of joining; takes what it comes to as seen.
    pub async fn joins(&mut self, request: v1::JoinGameRequest) -> v1::Event {
        let answer = self.wire.games().join_game(request).await.unwrap();
        self.sees(answer.into_inner().event.unwrap())
    }

    /// Every seat commits, and every seat reveals.
    pub async fn joined(&mut self) {
        let seats = self.now().await.seats.len() as u32;
        for seat in 0..seats {
            self.commit(seat).await;
        }
        for seat in 0..seats {
            self.reveal(seat).await;
        }
    }

    /// The request must be refused.
    pub async fn refuses_join(&self, request: v1::JoinGameRequest) -> Refused {
        Refused::by(self.wire.games().join_game(request).await)
    }

    async fn entry_1(&self) -> Digest {
        let first = self.wire.try_get(&self.id, Some(1)).await.unwrap();
        Digest(first.book_digest.as_slice().try_into().unwrap())
    }
}
