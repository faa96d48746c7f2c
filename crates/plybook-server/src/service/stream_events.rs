//! StreamEvents: a cursor over one game's book.

use std::sync::Arc;

use plybook_core::Seq;
use plybook_proto::v1;
use tonic::Request;

use crate::auth::{Rpc, authenticate};
use crate::refusal::Refusal;
use crate::replies;
use crate::requests;
use crate::service::{Frames, Service};
use crate::streams::cursor::{Ground, Wanted};
use crate::streams::{Asker, Cursor, Ends};
use crate::telemetry;

pub(super) async fn answer(
    service: &Service,
    request: Request<v1::StreamEventsRequest>,
) -> Result<Frames<v1::StreamEventsResponse>, Refusal> {
    let caller = authenticate(&request)?;
    let ends = Ends::of(&request, &service.draining);
    let asker = Asker::of(&caller, &request);
    let message = request.into_inner();
    let game = requests::game_id(&message.game_id)?;
    telemetry::record_game(game);
    let heartbeat = requests::heartbeat(message.heartbeat_interval.as_ref())?;
    let key = caller.may_see(Rpc::StreamEvents, game)?;
    ends.check()?;
    let slot = service.slots.take(&asker)?;
    let opened = service.games.opened(key).await?;
    let mut after = requests::seq(message.after_seq);
    let mut snapshot = None;
    if message.snapshot {
        let position = match after {
            Seq::ZERO => service.games.with_head(key, |table| replies::position::of(&table.game)).await?,
            after => replies::position::of(&service.games.at(key, after).await?.0),
        };
        after = requests::seq(position.seq);
        snapshot = Some(position);
    }
    // Read after the snapshot: if an entry at or before it closed the game, this is that entry.
    let last = service.games.store().last(key).await?.ok_or(Refusal::GameNotFound)?;
    if after > last.seq {
        return Err(Refusal::CursorBeyondHead { head: last.seq });
    }
    let foreign = opened.foreign.is_some();
    let closed = after >= last.seq && (foreign || opened.header.read_entry(&last.line).is_ok_and(|entry| entry.closes()));
    let topic = service.hub.watch(key);
    topic.recall(service.games.store().as_ref(), &last).await?;
    // Whatever other watchers have seen, there is an entry with this number.
    topic.wake(last.seq);
    let standing = service.hub.standings().open(&topic, after);
    let ground = Ground {
        opened,
        topic,
        key,
        games: Arc::clone(&service.games),
        clock: Arc::clone(&service.clock),
        ends,
        poll_floor: service.limits.poll_floor,
        standing,
        slot,
    };
    let wanted = Wanted { after, snapshot, stop_at_head: message.stop_at_head, heartbeat, closed, last: foreign.then_some(last.seq) };
    Ok(Box::pin(Cursor::new(ground, wanted).into_stream()))
}
