//! The Rust client follows the feed: through broken connections, other nodes and silence, each entry once.

use std::time::Duration;

use plybook_client::{Client, Error, Fed, FeedStart, Options};
use plybook_proto::v1::{self, ErrorReason};
use plybook_tests::injected::{over_postgres, over_sqlite};
use plybook_tests::patience::PATIENCE;
use plybook_tests::postgres;
use plybook_tests::proxy::Proxy;
use tokio::time::timeout;

fn patient() -> Options {
    Options { patience: PATIENCE, ..Options::default() }
}

async fn next(feed: &mut plybook_client::Feed) -> v1::Event {
    timeout(PATIENCE, feed.next_event()).await.expect("an entry comes in time").expect("the feed goes on").unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_broken_connection_costs_no_entry_and_repeats_none() {
    let local = over_sqlite().await.start().await;
    let proxy = Proxy::to(local.address()).await;
    let client = Client::with(&proxy.url(), patient()).unwrap();
    let mut game = local.wire().await.game().of("gomoku").await;
    let mut feed = client.feed(FeedStart::default());
    next(&mut feed).await;
    let mut caught_up = 0;
    for row in 1..=12 {
        let played = game.play(&format!("a{row}")).await;
        loop {
            match timeout(PATIENCE, feed.next()).await.unwrap().unwrap().unwrap() {
                Fed::Event(event) => break assert_eq!(*event, played),
                Fed::CaughtUp => caught_up += 1,
                Fed::Checkpoint(_) => {}
            }
        }
        if row % 3 == 0 {
            proxy.cut();
        }
    }
    assert_eq!(caught_up, 1, "history is over once");
    // Another one, from the token of this one.
    let start = FeedStart { resume_token: feed.resume_token().to_owned(), ..FeedStart::default() };
    let mut other = client.feed(start);
    let played = game.play("b1").await;
    assert_eq!((next(&mut feed).await, next(&mut other).await), (played.clone(), played));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_feed_that_falls_silent_is_opened_again() {
    let local = over_sqlite().await.start().await;
    let proxy = Proxy::to(local.address()).await;
    let options = Options { silence: Duration::from_secs(3), timeout: Duration::from_secs(3), ..patient() };
    let client = Client::with(&format!("{},http://{}", proxy.url(), local.address()), options).unwrap();
    let mut game = local.wire().await.game().await;
    let mut feed = client.feed(FeedStart::default());
    next(&mut feed).await;
    proxy.hold_replies();
    let played = game.play("a1").await;
    assert_eq!(next(&mut feed).await, played, "by the other address");
    proxy.release();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_goes_over_to_another_node() {
    let database = postgres::database().await;
    let (mut one, two) = (over_postgres(&database).await.start().await, over_postgres(&database).await.start().await);
    let client = Client::with(&format!("http://{},http://{}", one.address(), two.address()), patient()).unwrap();
    let mut feed = client.feed(FeedStart { from_now: true, ..FeedStart::default() });
    assert_eq!(timeout(PATIENCE, feed.next()).await.unwrap().unwrap().unwrap(), Fed::CaughtUp);
    let mut game = two.wire().await.game().await;
    assert_eq!(next(&mut feed).await.game_id, game.id);
    one.drain().await;
    for notation in ["a1", "b2"] {
        let played = game.play(notation).await;
        assert_eq!(next(&mut feed).await, played);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_end_that_was_asked_for_and_a_refusal_are_final() {
    let local = over_sqlite().await.start().await;
    let client = Client::with(&format!("http://{}", local.address()), patient()).unwrap();
    local.wire().await.game().await;
    let mut feed = client.feed(FeedStart { stop_at_head: true, ..FeedStart::default() });
    assert!(matches!(feed.next().await, Some(Ok(Fed::Event(_)))) && matches!(feed.next().await, Some(Ok(Fed::CaughtUp))));
    assert!(feed.next().await.is_none() && feed.next().await.is_none());
    let mut other = client.feed(FeedStart { resume_token: "00".to_owned(), ..FeedStart::default() });
    match other.next().await {
        Some(Err(Error::Refused(refused))) => assert!(refused.is(ErrorReason::ResumeTokenInvalid)),
        other => panic!("{other:?}"),
    }
    assert!(other.next().await.is_none());
}
