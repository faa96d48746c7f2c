//! What is asked before the first move: the shape of a JoinGame, and of the policies behind it.

use plybook_core::entropy::{Commit, IfAbsent, Joint, SeatSignature};
use plybook_core::entry::Actor;
use plybook_core::game::{Ask, Request};
use plybook_core::header::{Entropy, Receipts, check_joint};
use plybook_core::{Digest, Seq, limits};
use plybook_proto::v1::{self, join_game_request::Step};
use plybook_store::RequestKey;

use crate::auth::Caller;
use crate::refusal::Refusal;
use crate::requests::canon::Canon;
use crate::requests::{Asked, game_id, request_id, required_seat};

/// The shape of a JoinGame.
#[tracing::instrument(name = "check", target = "plybook_step", skip_all)]
pub fn join(caller: &Caller, message: &v1::JoinGameRequest) -> Result<Asked, Refusal> {
    let id = request_id(&message.request_id)?;
    let key = caller.game(game_id(&message.game_id)?);
    let seat = required_seat(message.seat)?;
    let canon = Canon::of("JoinGame").number(seat.0.into());
    let step = message.step.as_ref().ok_or_else(|| Refusal::field("step", "is required: commit or reveal"))?;
    let (ask, canon) = match step {
        Step::Commit(given) => {
            let canon = canon.text("commit").bytes(&given.commitment).bytes(&given.public_key).bytes(&given.signature);
            (Ask::Commit(commit(given)?), canon)
        }
        Step::Reveal(nonce) => (Ask::Reveal(bounded(nonce)?), canon.text("reveal").bytes(nonce)),
    };
    let actor = Actor { seat: Some(seat), by: caller.principal.clone() };
    // Joining depends on no entry: the game does not ask which one was expected.
    Ok(Asked { key, id: RequestKey { id, hash: canon.hash() }, request: Request { actor, expected: Seq::FIRST, ask } })
}

fn commit(given: &v1::NonceCommitment) -> Result<Commit, Refusal> {
    let commitment = sized(&given.commitment, "commit.commitment")?;
    let signed = match (given.public_key.is_empty(), given.signature.is_empty()) {
        (true, true) => None,
        (true, false) => return Err(Refusal::field("commit.public_key", "is required with a signature")),
        (false, _) => Some(SeatSignature {
            key: sized(&given.public_key, "commit.public_key")?,
            signature: sized(&given.signature, "commit.signature")?,
        }),
    };
    Ok(Commit { commitment: Digest(commitment), signed })
}

fn sized<const N: usize>(bytes: &[u8], field: &str) -> Result<[u8; N], Refusal> {
    bytes.try_into().map_err(|_| Refusal::field(field, format!("has {N} bytes")))
}

fn bounded(nonce: &[u8]) -> Result<Vec<u8>, Refusal> {
    let (least, most) = (limits::NONCE_BYTES_MIN, limits::NONCE_BYTES_MAX);
    if (least..=most).contains(&nonce.len()) {
        return Ok(nonce.to_vec());
    }
    Err(Refusal::field("reveal", format!("has {least} to {most} bytes")))
}

/// Where the dice of a new game come from.
pub fn entropy(asked: Option<&v1::JointEntropy>) -> Result<Entropy, Refusal> {
    let Some(asked) = asked else { return Ok(Entropy::Service) };
    let if_absent = match v1::IfAbsent::try_from(asked.if_absent) {
        Ok(v1::IfAbsent::Abort) => IfAbsent::Abort,
        Ok(v1::IfAbsent::Forfeit) => IfAbsent::Forfeit,
        Ok(v1::IfAbsent::Unspecified) | Err(_) => {
            return Err(Refusal::field("joint_entropy.if_absent", "is required: abort or forfeit"));
        }
    };
    let field = "joint_entropy.step_time";
    let time = asked.step_time.ok_or_else(|| Refusal::field(field, "is required"))?;
    let seconds = u32::try_from(time.seconds).map_err(|_| Refusal::field(field, "is 1 second to 30 days"))?;
    if time.nanos != 0 {
        return Err(Refusal::field(field, "is in whole seconds"));
    }
    let joint = Joint { seconds, if_absent };
    check_joint(joint).map_err(|why| Refusal::field(field, why))?;
    Ok(Entropy::Joint(joint))
}

/// Which answers of a new game carry a receipt.
pub fn receipts(policy: i32) -> Result<Receipts, Refusal> {
    match v1::ReceiptPolicy::try_from(policy) {
        Ok(v1::ReceiptPolicy::Unspecified | v1::ReceiptPolicy::OnRequest) => Ok(Receipts::OnRequest),
        Ok(v1::ReceiptPolicy::Always) => Ok(Receipts::Always),
        Err(_) => Err(Refusal::field("receipt_policy", format!("{policy} is not one of its values"))),
    }
}
