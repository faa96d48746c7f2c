//! StreamAllEvents: a cursor over every book of the tenant.

use std::sync::Arc;

use plybook_proto::v1;
use tonic::Request;

use crate::auth::{Rpc, authenticate};
use crate::feed::token::Bond;
use crate::feed::{FeedFilter, Follower, Ground, Wanted};
use crate::refusal::Refusal;
use crate::requests;
use crate::service::{Frames, Service};
use crate::streams::{Asker, Ends};

pub(super) async fn answer(
    service: &Service,
    request: Request<v1::StreamAllEventsRequest>,
) -> Result<Frames<v1::StreamAllEventsResponse>, Refusal> {
    let caller = authenticate(&request)?;
    let ends = Ends::of(&request, &service.draining);
    let asker = Asker::of(&caller, &request);
    let message = request.into_inner();
    let (tenant, store) = (caller.tenant, service.games.store());
    let heartbeat = requests::heartbeat(message.heartbeat_interval.as_ref())?;
    let filter = FeedFilter::of(message.filter.unwrap_or_default())?;
    let after = match message.resume_token.as_str() {
        "" => None,
        _ if message.from_now => return Err(Refusal::field("from_now", "cannot stand together with a resume_token")),
        token => Bond::new(tenant, &filter).place(token)?,
    };
    caller.may(Rpc::StreamAllEvents)?;
    ends.check()?;
    let slot = service.slots.take(&asker)?;
    let after = match after {
        None if message.from_now => ends.before(store.feed_end(tenant)).await??,
        Some(after) => {
            // Whoever comes with a token is told at once whether it still holds.
            ends.before(store.feed(tenant, Some(&after), 1)).await??;
            Some(after)
        }
        None => None,
    };
    let ground = Ground {
        tail: service.hub.feeds().follow(store, tenant, service.limits.poll_floor),
        games: Arc::clone(&service.games),
        clock: Arc::clone(&service.clock),
        ends,
        poll_floor: service.limits.poll_floor,
        slot,
    };
    let wanted = Wanted { tenant, filter, after, stop_at_head: message.stop_at_head, heartbeat };
    Ok(Box::pin(Follower::new(ground, wanted).into_stream()))
}
