//! A store that does not answer keeps no stream from what it promises; an export is such a stream too.

use std::time::Duration;

use plybook_proto::v1::stream_events_response::Frame;
use plybook_proto::v1::{GetBookRequest, GetBookResponse};
use plybook_tests::injected::{Call, Fault, Local, over_sqlite};
use plybook_tests::long;
use plybook_tests::refused::Refused;
use plybook_tests::wire::{Wire, fresh, narrow};
use tokio::time::{Instant, timeout};
use tonic::{Request, Streaming};

const SOON: Duration = Duration::from_secs(10);
const HUNG: Fault = Fault::Slow(Duration::from_secs(60));

async fn restless() -> Local {
    over_sqlite().await.limits(|limits| limits.poll_floor = Duration::from_millis(50)).start().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hung_look_stops_no_heartbeat_and_no_deadline() {
    let local = restless().await;
    let mut game = local.wire().await.game().await;
    let mut request = Request::new(game.wire.follow(&game.id).heartbeat(1).request);
    request.set_timeout(Duration::from_millis(3_500));
    let mut frames = game.wire.games().stream_events(request).await.unwrap().into_inner();
    let mut next = async || timeout(SOON, frames.message()).await.expect("a hung store hangs nobody");
    assert!(matches!(next().await.unwrap().unwrap().frame, Some(Frame::Event(_))));
    assert!(matches!(next().await.unwrap().unwrap().frame, Some(Frame::CaughtUp(_))));
    let before = local.store.count(Call::Entries);
    local.store.breaks(Call::Entries, HUNG);
    for _ in 0..2 {
        let frame = next().await.unwrap().unwrap().frame;
        assert!(matches!(frame, Some(Frame::Heartbeat(_))), "{frame:?}");
    }
    let looks = local.store.count(Call::Entries) - before;
    assert!(looks <= 3, "{looks} looks: the one that hangs is waited for");
    let ended = loop {
        match next().await {
            Ok(frame) => assert!(matches!(frame.unwrap().frame, Some(Frame::Heartbeat(_)))),
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
    local.store.breaks(Call::Entries, HUNG);
    timeout(SOON, async {
        while local.store.count(Call::Entries) == before {
            tokio::task::yield_now().await;
        }
    })
    .await
    .expect("it looks unasked");
    let (_, (_, ended)) = tokio::join!(timeout(SOON, local.drain()), watching.rest());
    ended.expect("the stream is told").with("SERVER_DRAINING").later();
}

/// A reader of a long export, too slow to have read it.
async fn exporting(wire: &Wire, id: &str, within: Option<Duration>) -> Streaming<GetBookResponse> {
    let mut request = Request::new(GetBookRequest { game_id: id.to_owned() });
    if let Some(within) = within {
        request.set_timeout(within);
    }
    wire.audit().get_book(request).await.unwrap().into_inner()
}

/// Reads on until the reason why there is no more.
async fn refused(mut pieces: Streaming<GetBookResponse>) -> Refused {
    loop {
        match timeout(SOON, pieces.message()).await.expect("an export goes on or ends") {
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
    let slow = exporting(&narrow(local.address()).await, &id, Some(Duration::from_secs(2))).await;
    let stalled = exporting(&narrow(local.address()).await, &id, None).await;
    local.store.breaks(Call::Entries, HUNG);
    refused(slow).await.with("DEADLINE").only(&[]);
    assert!(began.elapsed() >= Duration::from_millis(1_500), "not before its time");
    let (_, ended) = tokio::join!(timeout(SOON, local.drain()), refused(stalled));
    ended.with("SERVER_DRAINING").later();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_export_takes_a_place_and_comes_in_small_pieces() {
    let local = over_sqlite().await.limits(|limits| limits.streams = 1).start().await;
    let id = long::book(&local.file(), 12_000).await;
    let (wire, slow) = (local.wire().await, narrow(local.address()).await);
    let mut stalled = exporting(&slow, &id, None).await;
    Refused::by(wire.try_book(&id).await).with("TOO_MANY_STREAMS").later();
    wire.follow(&id).refused().await.with("TOO_MANY_STREAMS").later();
    let piece = String::from_utf8(stalled.message().await.unwrap().unwrap().chunk).unwrap();
    assert_eq!(piece.lines().filter(|line| line.starts_with("= ")).count(), 64, "entries in a piece");
    drop(stalled);
    let file = timeout(SOON, async {
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
