//! The shape of a ForkGame.

use plybook_proto::v1;
use plybook_store::RequestKey;

use crate::auth::Caller;
use crate::games::fork::ForkPlan;
use crate::refusal::Refusal;
use crate::requests::canon::Canon;
use crate::requests::{game_id, joining, plan, request_id, seq};

/// The shape of a ForkGame.
#[tracing::instrument(name = "check", target = "plybook_step", skip_all)]
pub fn fork(caller: &Caller, message: &v1::ForkGameRequest) -> Result<ForkPlan, Refusal> {
    let id = request_id(&message.request_id)?;
    let of = caller.game(game_id(&message.game_id)?);
    let at = message.at_seq.ok_or_else(|| Refusal::field("at_seq", "is required: the number of the entry to go on from"))?;
    let entropy = joining::entropy(message.joint_entropy.as_ref())?;
    let receipts = joining::receipts(message.receipt_policy)?;
    let canon = Canon::of("ForkGame").bytes(of.game.as_bytes()).number(at);
    let hash = plan::policies(canon, message.joint_entropy.as_ref(), message.receipt_policy).hash();
    Ok(ForkPlan { of, at: seq(at), by: caller.principal.clone(), request: RequestKey { id, hash }, entropy, receipts })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {

    use super::*;

    /// A stored hash must be found again by every later release: these never change.
    #[test]
    fn the_hash_of_a_fork_is_pinned() {
        let caller = Caller::anonymous().unwrap();
        let plain = v1::ForkGameRequest {
            request_id: "01900000-0000-7000-8000-000000000001".to_owned(),
            game_id: "01900000-0000-7000-8000-000000000002".to_owned(),
            at_seq: Some(7),
            ..Default::default()
        };
        let asking = v1::ForkGameRequest { receipt_policy: v1::ReceiptPolicy::Always.into(), ..plain.clone() };
        let signed = v1::ForkGameRequest { with_receipt: true, ..plain.clone() };
        let other = v1::ForkGameRequest { at_seq: Some(8), ..plain.clone() };
        let hashes = [plain, asking, signed, other].map(|message| {
            let hash = fork(&caller, &message).unwrap().request.hash;
            hash[..8].iter().map(|byte| format!("{byte:02x}")).collect::<String>()
        });
        assert_eq!(hashes, ["78c03ab385dfec19", "a4a92cadfe69d7ea", "78c03ab385dfec19", "2797e666d324be51"]);
    }
}
