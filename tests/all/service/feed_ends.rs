//! What ends a feed, and what it survives.

use std::time::Duration;

use plybook_tests::held::Held;
use plybook_tests::injected::{Call, Fault, over, over_postgres, over_sqlite};
use plybook_tests::patience::{PATIENCE, in_more_and_more_time, until};
use plybook_tests::postgres::{self, own};
use plybook_tests::refused::Refused;
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, SqliteConnection};
use tonic::Request;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_draining_node_says_so_and_another_one_takes_the_token() {
    let database = postgres::database().await;
    let (mut one, two) = (over_postgres(&database).await.start().await, over_postgres(&database).await.start().await);
    let (a, b) = (one.wire().await, two.wire().await);
    let mut game = b.game().of("gomoku").await;
    let mut feed = a.feed().open().await;
    feed.event().await;
    game.play("a1").await;
    feed.event().await;
    let draining = tokio::spawn(async move { one.drain().await });
    feed.ends().await.with("SERVER_DRAINING").later();
    draining.await.unwrap();
    let event = game.play("a2").await;
    let mut feed = b.feed().from(&feed.token).open().await;
    assert_eq!(feed.event().await, event);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_was_restarted_takes_the_token() {
    let local = over_sqlite().await.start().await;
    let wire = local.wire().await;
    let mut game = wire.game().await;
    let mut feed = wire.feed().open().await;
    feed.event().await;
    let first = game.play("a1").await;
    let local = local.restarted().await;
    let wire = local.wire().await;
    let mut game = game.through(&wire);
    let second = game.play("b1").await;
    let mut feed = wire.feed().from(&feed.token).open().await;
    assert_eq!([feed.event().await, feed.event().await], [first, second]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_feeds_deadline_is_told() {
    let local = over_sqlite().await.start().await;
    let wire = local.wire().await;
    wire.game().await;
    let open = async |time| {
        let mut request = Request::new(wire.feed().request);
        request.set_timeout(time);
        wire.audit().stream_all_events(request).await
    };
    let (_, opened) = in_more_and_more_time(Duration::from_millis(1500), open).await;
    let mut frames = opened.into_inner();
    let ended = loop {
        match tokio::time::timeout(PATIENCE, frames.message()).await.unwrap() {
            Ok(Some(_)) => {}
            Ok(None) => panic!("it ended with OK"),
            Err(status) => break Refused::of(&status),
        }
    };
    ended.with("DEADLINE").only(&[]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_feed_holds_a_place_among_the_streams() {
    let local = over_sqlite().await.limits(|limits| limits.streams = 1).start().await;
    let wire = local.wire().await;
    let game = wire.game().await;
    let mut feed = wire.feed().open().await;
    feed.history().await;
    wire.feed().refused().await.with("TOO_MANY_STREAMS").later();
    wire.follow(&game.id).refused().await.with("TOO_MANY_STREAMS");
    drop(feed);
    until("the place is free", async || wire.feed().until_head().sent().await.is_ok()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_that_is_away_ends_it_and_it_goes_on_from_its_token() {
    let local = over_sqlite().await.start().await;
    let wire = local.wire().await;
    let mut game = wire.game().await;
    let mut feed = wire.feed().open().await;
    feed.history().await;
    local.store.breaks(Call::Feed, Fault::Away);
    let first = game.play("a1").await;
    feed.ends().await.with("STORE_UNAVAILABLE").later();
    wire.feed().from(&feed.token).refused().await.with("STORE_UNAVAILABLE").later();
    local.store.mends();
    // Until the node has looked once more, it may still say that the store is away.
    until("the store is back", async || {
        let mut again = wire.feed().from(&feed.token).open().await;
        matches!(again.frame().await, Ok(Some(plybook_proto::v1::stream_all_events_response::Frame::Event(event))) if event == first)
    })
    .await;
}

/// A backup is restored behind a node: who was sent what is lost is told, who was not goes on along the other line.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn books_that_go_back_in_time_expire_what_was_sent_of_them() {
    let local = over_sqlite().await.start().await;
    let wire = local.wire().await;
    let mut game = wire.game().mnk(10, 10, 9).await;
    game.play("a1").await;
    let mut early = wire.feed().open().await;
    early.history().await;
    let kept = early.token.clone();
    drop(early);
    let backup = local.backup().await;
    let mut feed = wire.feed().open().await;
    feed.history().await;
    let mut lost = game.clone();
    lost.play("b1 c1").await;
    assert_eq!(feed.events(2).await.len(), 2);
    let token = feed.token.clone();

    local.store.becomes(backup.clone());
    let other = over(backup).start().await;
    let mut game = game.through(&other.wire().await);
    // As many entries as were lost, and one more.
    game.play("j1 j2 j3").await;
    // Not told by anybody, the node looks when somebody asks it for something.
    wire.game().await;
    feed.ends().await.with("RESUME_TOKEN_EXPIRED").only(&[]);
    wire.feed().from(&token).refused().await.with("RESUME_TOKEN_EXPIRED").only(&[]);
    let rest = wire.feed().from(&kept).whole().await;
    assert_eq!(rest.iter().map(|event| event.seq).collect::<Vec<_>>(), [3, 4, 5, 1]);
    assert_eq!(rest[..3], wire.history_after(&game.id, 2).await);
}

/// One broken book stops nothing: what cannot be read comes as it is stored.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_read_comes_as_text_and_stops_nothing() {
    let local = over_sqlite().await.start().await;
    let wire = local.wire().await;
    let (mut broken, mut garbled, mut whole) = (wire.game().await, wire.game().await, wire.game().await);
    for game in [&mut broken, &mut garbled, &mut whole] {
        game.play("a1 b1").await;
    }
    let local = {
        let mut file = SqliteConnection::connect(&format!("sqlite://{}", local.file().display())).await.unwrap();
        let sql = format!(
            "DROP TRIGGER book_entry_is_never_updated;
             UPDATE book_entry SET line = 'no header' WHERE seq = 1 AND hex(game_id) = upper(replace('{}', '-', ''));
             UPDATE book_entry SET line = 'no line' WHERE seq = 2 AND hex(game_id) = upper(replace('{}', '-', ''));",
            broken.id, garbled.id
        );
        file.execute(AssertSqlSafe(sql)).await.unwrap();
        file.close().await.unwrap();
        local.restarted().await
    };
    let wire = local.wire().await;
    let events = wire.feed().whole().await;
    assert_eq!(events.len(), 9);
    for event in &events {
        let readable = event.game_id == whole.id || (event.game_id == garbled.id && event.seq != 2);
        assert_eq!(event.body.is_some(), readable, "{event:?}");
        assert!(!event.line.is_empty() && event.book_digest.len() == 32 && !event.request_id.is_empty() && event.seq > 0);
        assert_eq!(event.create_time.is_some(), readable);
    }
    let filtered = wire.feed().of("gomoku").whole().await;
    assert!(filtered.iter().all(|event| event.game_id == broken.id) && filtered.len() == 3, "who filters is told of it too");
}

/// A transaction that stays open somewhere in the cluster: entries wait, the node counts for how long, and says so.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_held_up_is_counted_and_told() {
    let cluster = own::cluster().await;
    let database = cluster.database().await;
    let local = over_postgres(&database).await.start().await;
    let wire = local.wire().await;
    let mut game = wire.game().await;
    let mut feed = wire.feed().heartbeat(1).open().await;
    feed.history().await;
    assert_eq!((local.feeds().held_up(), local.feeds().horizon_still(), local.feeds().count()), (None, None, 1));
    let held = Held::over(&database, "CREATE TABLE elsewhere (n int)").await;
    let event = game.play("a1").await;
    until("the node sees that entries wait", async || local.feeds().horizon_still().is_some_and(|still| still.as_millis() > 20)).await;
    let mut told = feed.checkpoint().await;
    while told.held_up.is_none() {
        told = feed.checkpoint().await;
    }
    held.release().await;
    assert_eq!(feed.event().await, event);
    until("nothing waits any more", async || local.feeds().held_up().is_none()).await;
    drop(feed);
    until("nobody follows any more", async || local.feeds().count() == 0).await;
}
