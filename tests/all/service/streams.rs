//! A stream is a cursor over the book: nothing skipped, nothing repeated, and a reason at the end.

use std::time::Duration;

use plybook_proto::v1::stream_events_response::Frame;
use plybook_proto::v1::{self, UndoBy, event::Body};
use plybook_tests::injected::{Call, Fault, Local, over_sqlite};
use plybook_tests::long;
use plybook_tests::patience::{PATIENCE, in_more_and_more_time};
use plybook_tests::refused::Refused;
use plybook_tests::wire::{Watching, Wire, narrow, seqs};
use tokio::time::{Instant, timeout};
use tonic::Request;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_live_stream_is_the_answers_in_order_and_ends_with_the_closing_entry() {
    let local = over_sqlite().await.start().await;
    let mut game = local.wire().await.game().undo(UndoBy::Free).undo_after_end().await;
    let mut early = game.wire.follow(&game.id).open().await;
    assert_eq!(early.history().await, (vec![1], 1));
    let mut answers = Vec::new();
    for notation in ["a1", "b1", "a2", "b2", "a3"] {
        answers.push(game.play(notation).await);
    }
    assert_eq!(game.now().await.state, v1::GameState::Finished as i32);
    answers.push(game.undo(0).await);
    answers.push(game.play("c3").await);
    answers.push(game.play("b3").await);
    answers.push(game.close().await);

    let (frames, refused) = timeout(PATIENCE, early.rest()).await.expect("the closing entry ends the stream");
    assert_eq!(refused, None, "it ends with OK");
    let live: Vec<v1::Event> =
        frames.into_iter().map(|frame| if let Frame::Event(event) = frame { event } else { panic!("{frame:?}") }).collect();
    assert_eq!(live, answers);
    assert!(matches!(live.last().unwrap().body, Some(Body::GameClosed(_))));
    assert_eq!(live.iter().filter(|event| !event.revealed_seed.is_empty()).count(), 1);
    assert_eq!(live.iter().filter(|event| event.outcome.is_some()).map(|event| event.seq).collect::<Vec<_>>(), [6, 9]);

    for after in 0..=10 {
        let (frames, refused) = timeout(PATIENCE, game.wire.follow(&game.id).after(after).open().await.rest()).await.unwrap();
        assert_eq!(refused, None);
        assert_eq!(seqs(&frames), (after + 1..=10).collect::<Vec<_>>(), "what follows {after}, for who comes late");
        let late = frames.iter().filter_map(|frame| if let Frame::Event(event) = frame { Some(event) } else { None });
        assert!(late.filter(|event| event.seq > 1).all(|event| *event == live[event.seq as usize - 2]));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_snapshot_comes_first_and_what_follows_it_next() {
    let local = over_sqlite().await.start().await;
    let mut game = local.wire().await.game().await;
    game.play("a1 b2 c3").await;
    let at_head = game.wire.follow(&game.id).with_snapshot().until_head().open().await.rest().await;
    let [Frame::Snapshot(position), Frame::CaughtUp(caught_up)] = &at_head.0[..] else { panic!("{at_head:?}") };
    assert_eq!((position.seq, caught_up.head_seq), (4, 4));
    assert_eq!(*position, game.now().await.position.unwrap());

    let earlier = game.wire.follow(&game.id).after(2).with_snapshot().until_head().open().await.rest().await;
    let Frame::Snapshot(position) = &earlier.0[0] else { panic!("{earlier:?}") };
    assert_eq!(*position, game.wire.try_get(&game.id, Some(2)).await.unwrap().position.unwrap());
    assert_eq!(seqs(&earlier.0), [3, 4]);
    assert!(matches!(earlier.0[3], Frame::CaughtUp(_)) && earlier.1.is_none());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_closed_game_has_nothing_to_wait_for() {
    let local = over_sqlite().await.start().await;
    let mut game = local.wire().await.game().await;
    game.play("a1 b1 a2 b2 a3").await;
    for following in [game.wire.follow(&game.id).after(6), game.wire.follow(&game.id).with_snapshot()] {
        let (frames, refused) = timeout(PATIENCE, following.open().await.rest()).await.expect("it ends");
        assert_eq!((seqs(&frames), refused), (Vec::new(), None));
        assert!(matches!(frames.last(), Some(Frame::CaughtUp(v1::CaughtUp { head_seq: 6 }))), "{frames:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_silent_stream_shows_that_it_lives() {
    let local = over_sqlite().await.start().await;
    let mut game = local.wire().await.game().await;
    let began = Instant::now();
    let mut watching = game.wire.follow(&game.id).heartbeat(0).open().await;
    watching.history().await;
    for _ in 0..2 {
        let frame = timeout(PATIENCE, watching.frame()).await.unwrap().unwrap();
        let Some(Frame::Heartbeat(beat)) = frame else { panic!("{frame:?}") };
        assert!(beat.head_seq == 1 && beat.time.is_some());
    }
    assert!(began.elapsed() >= Duration::from_millis(1900), "no more often than each second");
    game.play("a1").await;
    assert_eq!(watching.event().await.seq, 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_streams_deadline_is_told() {
    let local = over_sqlite().await.start().await;
    let game = local.wire().await.game().await;
    let began = Instant::now();
    let open = async |time| {
        let mut request = Request::new(game.wire.follow(&game.id).request);
        request.set_timeout(time);
        game.wire.games().stream_events(request).await
    };
    let (time, opened) = in_more_and_more_time(Duration::from_millis(1500), open).await;
    let mut frames = opened.into_inner();
    let ended = loop {
        match timeout(PATIENCE, frames.message()).await.unwrap() {
            Ok(Some(_)) => {}
            Ok(None) => panic!("it ended with OK"),
            Err(status) => break Refused::of(&status),
        }
    };
    ended.with("DEADLINE").only(&[]);
    assert!(began.elapsed() >= time.mul_f32(0.9), "{:?}", began.elapsed());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_leaves_frees_the_place() {
    let local = over_sqlite().await.limits(|limits| limits.streams = 1).start().await;
    let game = local.wire().await.game().await;
    // A refused stream holds no place either.
    game.wire.follow(&game.id).after(9).refused().await.with("CURSOR_BEYOND_HEAD");
    for _ in 0..3 {
        let watching = timeout(PATIENCE, once_free(&game.wire, &game.id, false)).await.expect("the place is free");
        game.wire.follow(&game.id).refused().await.with("TOO_MANY_STREAMS");
        drop(watching);
        let ended = timeout(PATIENCE, once_free(&game.wire, &game.id, true)).await.expect("who left holds no place").rest().await;
        assert_eq!((seqs(&ended.0), ended.1), (vec![1], None), "and neither does a stream that ended by itself");
    }
}

/// A stream, as soon as there is a place for it.
async fn once_free(wire: &Wire, id: &str, stop_at_head: bool) -> Watching {
    loop {
        let mut following = wire.follow(id);
        following.request.stop_at_head = stop_at_head;
        match following.sent().await {
            Ok(frames) => return Watching::over(frames),
            Err(status) => {
                Refused::of(&status).with("TOO_MANY_STREAMS").later();
            }
        }
    }
}

/// The reader stalls at once; the book grows on; nothing is lost, and the server keeps no backlog.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_reader_of_a_long_game_catches_up() {
    let local = over_sqlite().await.start().await;
    let id = long::book(&local.file(), 12_000).await;
    let mut game = local.wire().await.open(&id).await;
    let mut stalled = narrow(local.address()).await.follow(&id).open().await;
    let rules = |n: u64| v1::Action { shape: Some(v1::action::Shape::Place(v1::Place { cell: 11_999 + n as u32 })) };
    for n in 0..100 {
        let request = v1::MakeMoveRequest { action: Some(rules(n)), ..game.asks("") };
        game.sends(request).await.unwrap();
    }
    let sent_so_far = local.store.count(Call::Entries);
    assert!(sent_so_far < 120, "{sent_so_far} pages were read for a reader that does not read");
    let (mut seen, mut caught_up) = (0, 0);
    while seen < 12_100 {
        match stalled.frame().await.unwrap().expect("it goes on") {
            Frame::Event(event) => {
                assert_eq!(event.seq, seen + 1);
                seen = event.seq;
            }
            Frame::CaughtUp(_) => caught_up += 1,
            other => panic!("{other:?}"),
        }
    }
    assert!(caught_up <= 1, "history ends once");
}

/// All that the stalled ones will be sent has been read: for half a second nothing more is.
async fn until_nothing_is_read(local: &Local) {
    let waited = async {
        let mut before = 0;
        while before != local.store.count(Call::Entries) || before == 0 {
            before = local.store.count(Call::Entries);
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    };
    timeout(PATIENCE, waited).await.expect("those who stall are sent no more");
}

/// Readers who stall hold neither a connection of the store nor the lock of their game.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stalled_readers_stand_in_nobodys_way() {
    let local = over_sqlite().await.start().await;
    let id = long::book(&local.file(), 3_000).await;
    // Slow enough that the transport sends what it has while the next page is being read.
    local.store.breaks(Call::Entries, Fault::SlowAfter(Duration::from_millis(20)));
    let (mut streams, mut exports) = (Vec::new(), Vec::new());
    for _ in 0..20 {
        let wire = narrow(local.address()).await;
        streams.push(wire.follow(&id).open().await);
        exports.push(wire.audit().get_book(v1::GetBookRequest { game_id: id.clone() }).await.unwrap());
    }
    until_nothing_is_read(&local).await;
    let wire = local.wire().await;
    timeout(PATIENCE, wire.try_get(&id, Some(2_000))).await.expect("a connection of the store is free").unwrap();
    let mut awake = wire.follow(&id).until_head().open().await;
    let seen = timeout(PATIENCE, awake.history()).await.expect("a watcher of the same game goes on");
    assert_eq!(seen, ((1..=3_000).collect(), 3_000));
    assert!(!timeout(PATIENCE, wire.book(&id)).await.expect("an export goes on").is_empty());
}
