//! ListRefusals: what was asked of a game in vain, newest first.

use plybook_proto::v1;
use plybook_store::StoredRefusal;
use tonic::Request;

use crate::auth::{Rpc, authenticate};
use crate::limits::{PAGE_ITEMS_DEFAULT, PAGE_ITEMS_MAX};
use crate::refusal::Refusal;
use crate::replies;
use crate::requests::{self, page};
use crate::service::Service;
use crate::status;
use crate::telemetry;

pub(super) async fn answer(service: &Service, request: Request<v1::ListRefusalsRequest>) -> Result<v1::ListRefusalsResponse, Refusal> {
    let caller = authenticate(&request)?;
    let message = request.into_inner();
    let key = caller.game(requests::game_id(&message.game_id)?);
    telemetry::record_game(key.game);
    let size = page::size(message.page_size, PAGE_ITEMS_DEFAULT, PAGE_ITEMS_MAX)?;
    let question = format!("refusals {} {}", caller.tenant.0, key.game);
    let before = match page::at(&question, &message.page_token)? {
        Some(at) => Some(i64::from_be_bytes(at.try_into().map_err(|_| page::foreign())?)),
        None => None,
    };
    caller.may_see(Rpc::ListRefusals, key.game)?;
    let store = service.games.store();
    let mut refusals = store.refusals(key, before, size + 1).await?;
    if refusals.is_empty() {
        store.last(key).await?.ok_or(Refusal::GameNotFound)?;
    }
    let more = refusals.len() > size as usize;
    refusals.truncate(size as usize);
    let next_page_token = match refusals.last() {
        Some(last) if more => page::token(&question, &last.number.to_be_bytes()),
        _ => String::new(),
    };
    Ok(v1::ListRefusalsResponse { refusals: refusals.into_iter().map(told).collect(), next_page_token })
}

fn told(stored: StoredRefusal) -> v1::RefusedRequest {
    let refused = stored.refused;
    v1::RefusedRequest {
        refuse_time: Some(replies::time(refused.at)),
        actor: refused.principal,
        seat: refused.seat.map(u32::from),
        asked: refused.asked,
        request_id: refused.request_id.to_string(),
        expected_seq: u64::from(refused.expected.0),
        head_seq: u64::from(refused.head.0),
        reason: status::reason_named(&refused.reason).into(),
        detail: refused.detail,
    }
}
