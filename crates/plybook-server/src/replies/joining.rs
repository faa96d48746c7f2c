//! What seats are asked for before the first move, and how far they are.

use plybook_core::entropy::{Commit, IfAbsent, Joining, Step};
use plybook_core::header::{Entropy, Header, Receipts};
use plybook_proto::v1;

use crate::replies;

/// What a header asks of the seats.
pub fn joint(header: &Header) -> Option<v1::JointEntropy> {
    let Entropy::Joint(joint) = header.entropy else { return None };
    let if_absent = match joint.if_absent {
        IfAbsent::Abort => v1::IfAbsent::Abort,
        IfAbsent::Forfeit => v1::IfAbsent::Forfeit,
    };
    let step_time = prost_types::Duration { seconds: i64::from(joint.seconds), nanos: 0 };
    Some(v1::JointEntropy { step_time: Some(step_time), if_absent: if_absent.into() })
}

/// How far the seats are, while any is waited for.
pub fn joining(joining: &Joining) -> v1::Joining {
    let step = match joining.step() {
        Step::Commit => v1::JoinStep::Commit,
        Step::Reveal => v1::JoinStep::Reveal,
        Step::Play => v1::JoinStep::Unspecified,
    };
    v1::Joining { step: step.into(), waiting_seats: replies::seats(joining.waiting()), deadline: Some(replies::time(joining.deadline())) }
}

/// What a seat promised.
pub fn commitment(commit: &Commit) -> v1::NonceCommitment {
    let (public_key, signature) =
        commit.signed.as_ref().map_or_else(Default::default, |signed| (signed.key.to_vec(), signed.signature.to_vec()));
    v1::NonceCommitment { commitment: commit.commitment.0.to_vec(), public_key, signature }
}

/// Which answers carry a receipt.
pub const fn receipts(receipts: Receipts) -> v1::ReceiptPolicy {
    match receipts {
        Receipts::OnRequest => v1::ReceiptPolicy::OnRequest,
        Receipts::Always => v1::ReceiptPolicy::Always,
    }
}

/// The game that a header says it was forked from.
pub fn origin(header: &Header) -> Option<v1::Origin> {
    header.origin.map(|origin| v1::Origin {
        game_id: origin.game.to_string(),
        seq: u64::from(origin.seq.0),
        book_digest: origin.digest.0.to_vec(),
        given_moves: origin.given,
    })
}
