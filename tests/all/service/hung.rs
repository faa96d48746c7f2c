//! A store that does not answer keeps no stream from what it promises; an export is such a stream too.

use std::time::Duration;

use plybook_proto::v1::stream_events_response::Frame;
use plybook_proto::v1::{GetBookRequest, GetBookResponse, StreamEventsResponse};
use plybook_tests::injected::{Call, Fault, Local, over_sqlite};
use plybook_tests::long;
use plybook_tests::patience::{PATIENCE, in_more_and_more_time};
use plybook_tests::refused::Refused;
use plybook_tests::wire::{Wire, fresh, narrow};
use tokio::time::{Instant, timeout};
use tonic::{Request, Status, Streaming};

async fn restless() -> Local {
    over_sqlite().await.limits(|limits| limits.poll_floor = Duration::from_millis(50)).start().await
}

async fn next(frames: &mut Streaming<StreamEventsResponse>) -> Result<Option<Frame>, Status> {
    let frame = timeout(PATIENCE, frames.message()).await.expect("a hung store hangs nobody")?;
    Ok(frame.and_then(|frame| frame.frame))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hung_look_stops_no_heartbeat_and_no_deadline() {
    let local = restless().await;
    let mut game = local.wire().await.game().await;
    let open = async |allowed: Option<Duration>| {
        let mut request = Request::new(game.wire.follow(&game.id).heartbeat(1).request);
        allowed.into_iter().for_each(|time| request.set_timeout(time));
        let mut frames = game.wire.games().stream_events(request).await?.into_inner();
        assert!(matches!(next(&mut frames).await?, Some(Frame::Event(_))));
        assert!(matches!(next(&mut frames).await?, Some(Frame::CaughtUp(_))));
        Ok::<_, Status>(frames)
    };
    let mut endless = open(None).await.unwrap();
    let (_, mut limited) = in_more_and_more_time(Duration::from_secs(2), async |time| open(Some(time)).await).await;
    local.store.breaks(Call::Entries, Fault::Held);
    let before = local.store.count(Call::Entries);
    for _ in 0..2 {
        let frame = next(&mut endless).await.unwrap();
        assert!(matches!(frame, Some(Frame::Heartbeat(_))), "{frame:?}");
    }
    let looks = local.store.count(Call::Entries) - before;
    assert!(looks <= 3, "{looks} looks: the one that hangs is waited for");
    let ended = loop {
        match next(&mut limited).await {
            Ok(frame) => assert!(matches!(frame, Some(Frame::Heartbeat(_)))),
            Err(status) => break Refused::of(&status),
        }
    };
    ended.with("DEADLINE").only(&[]);
    local.store.mends();
    game.play("a1").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hung_look_does_not_keep_a_node() {
    let mut local = restless().await;
    let game = local.wire().await.game().await;
    let mut watching = game.wire.follow(&game.id).open().await;
    watching.history().await;
    let before = local.store.count(Call::Entries);
    local.store.breaks(Call::Entries, Fault::Held);
    timeout(PATIENCE, async {
        while local.store.count(Call::Entries) == before {
            tokio::task::yield_now().await;
        }
    })
    .await
    .expect("it looks unasked");
    let (_, (_, ended)) = tokio::join!(timeout(PATIENCE, local.drain()), watching.rest());
    ended.expect("the stream is told").with("SERVER_DRAINING").later();
}

/// A reader of a long export, too slow to have read it.
async fn exporting(wire: &Wire, id: &str, within: Option<Duration>) -> Result<Streaming<GetBookResponse>, Status> {
    let mut request = Request::new(GetBookRequest { game_id: id.to_owned() });
    if let Some(within) = within {
        request.set_timeout(within);
    }
    Ok(wire.audit().get_book(request).await?.into_inner())
}

/// Reads on until the reason why there is no more.
async fn refused(mut pieces: Streaming<GetBookResponse>) -> Refused {
    loop {
        match timeout(PATIENCE, pieces.message()).await.expect("an export goes on or ends") {
            Ok(Some(_)) => {}
            Ok(None) => panic!("it is whole"),
            Err(status) => return Refused::of(&status),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_export_ends_in_time_and_with_its_node() {
    let mut local = over_sqlite().await.start().await;
    let id = long::book(&local.file(), 12_000).await;
    let began = Instant::now();
    let least = Duration::from_secs(2);
    let (_, slow) = in_more_and_more_time(least, async |time| exporting(&narrow(local.address()).await, &id, Some(time)).await).await;
    let stalled = exporting(&narrow(local.address()).await, &id, None).await.unwrap();
    local.store.breaks(Call::Entries, Fault::Held);
    refused(slow).await.with("DEADLINE").only(&[]);
    assert!(began.elapsed() >= least.mul_f32(0.9), "not before its time");
    let (_, ended) = tokio::join!(timeout(PATIENCE, local.drain()), refused(stalled));
    ended.with("SERVER_DRAINING").later();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_export_takes_a_place_and_comes_in_small_pieces() {
    let local = over_sqlite().await.limits(|limits| limits.streams = 1).start().await;
    let id = long::book(&local.file(), 12_000).await;
    let (wire, slow) = (local.wire().await, narrow(local.address()).await);
    let mut stalled = exporting(&slow, &id, None).await.unwrap();
    Refused::by(wire.try_book(&id).await).with("TOO_MANY_STREAMS").later();
    wire.follow(&id).refused().await.with("TOO_MANY_STREAMS").later();
    let piece = String::from_utf8(stalled.message().await.unwrap().unwrap().chunk).unwrap();
    assert_eq!(piece.lines().filter(|line| line.starts_with("= ")).count(), 64, "entries in a piece");
    drop(stalled);
    let file = timeout(PATIENCE, async {
        loop {
            match wire.try_book(&id).await {
                Ok(file) => return file,
                Err(status) => Refused::of(&status).with("TOO_MANY_STREAMS").later(),
            };
        }
    });
    assert!(plybook_core::Book::parse(&file.await.expect("the place is free")).is_ok());
    Refused::by(wire.try_book(&fresh()).await).with("GAME_NOT_FOUND");
    assert!(wire.try_book(&id).await.is_ok(), "a refused export holds no place");
}
