//! The feed is every book of the tenant: nothing skipped, nothing repeated, from any token.

use std::collections::BTreeMap;

use plybook_proto::v1::stream_all_events_response::Frame;
use plybook_proto::v1::{self, GameState, UndoBy, event::Body};
use plybook_tests::injected::{Call, Local, over_sqlite};
use plybook_tests::long;
use plybook_tests::table::table;
use plybook_tests::wire::{PlayedGame, Wire, fresh, narrow};

async fn local() -> (Local, Wire) {
    let local = over_sqlite().await.start().await;
    let wire = local.wire().await;
    (local, wire)
}

/// Games by their ids, each as its own stream tells it.
async fn as_streams_tell(wire: &Wire, events: &[v1::Event]) {
    let mut games: BTreeMap<&str, Vec<&v1::Event>> = BTreeMap::new();
    for event in events {
        games.entry(&event.game_id).or_default().push(event);
    }
    for (id, events) in games {
        let history = wire.history(id).await;
        assert_eq!(events, history.iter().collect::<Vec<_>>());
    }
}

/// Two games interleaved, one of them taken back and closed; a fork; an imported book; a game with offers.
async fn some_of_everything(wire: &Wire) -> usize {
    let mut one = wire.game().undo(UndoBy::Free).undo_after_end().await;
    let mut two = wire.game().of("gomoku").await;
    one.play("a1 b1").await;
    two.play("h8").await;
    one.play("a2 b2 a3").await;
    one.undo(0).await;
    two.play("h9").await;
    one.play("a3").await;
    one.close().await;
    let fork = v1::ForkGameRequest { request_id: fresh(), game_id: two.id.clone(), at_seq: Some(3), ..Default::default() };
    wire.games().fork_game(fork).await.unwrap();
    let foreign = wire.import(table().play("a1 b1 a2").book().print()).await.unwrap();
    let talk = wire.game().undo(UndoBy::Agreement).await;
    wire.games()
        .offer_draw(v1::OfferDrawRequest {
            request_id: fresh(),
            game_id: talk.id,
            expected_seq: Some(1),
            seat: Some(0),
            ..Default::default()
        })
        .await
        .unwrap();
    (1 + 5 + 1 + 1 + 1) + (1 + 2) + 3 + foreign.entries as usize + 2
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_is_every_entry_once_and_goes_on_from_any_of_them() {
    let (_local, wire) = local().await;
    let count = some_of_everything(&wire).await;
    let mut feed = wire.feed().until_head().open().await;
    let (mut events, mut tokens) = (Vec::new(), Vec::new());
    while let Some(frame) = feed.frame().await.unwrap() {
        match frame {
            Frame::Event(event) => events.push(event),
            Frame::CaughtUp(caught_up) => assert!(caught_up.time.is_some() && events.len() == count),
            Frame::Checkpoint(_) => {}
        }
        tokens.push(feed.token.clone());
    }
    assert_eq!((events.len(), tokens.len()), (count, count + 1), "history, and the word that it is over");
    as_streams_tell(&wire, &events).await;
    for (at, token) in tokens.iter().enumerate() {
        let rest = wire.feed().from(token).whole().await;
        assert_eq!(rest, events[(at + 1).min(count)..]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_new_comes_as_it_was_answered_and_history_ends_once() {
    let (_local, wire) = local().await;
    let mut one = wire.game().await;
    let mut feed = wire.feed().heartbeat(1).open().await;
    assert_eq!(feed.history().await.len(), 1);
    for notation in ["a1", "b1", "a2"] {
        let event = one.play(notation).await;
        assert_eq!(feed.event().await, event);
    }
    let mut two = wire.game().await;
    let created = feed.event().await;
    assert!(created.game_id == two.id && matches!(created.body, Some(Body::GameCreated(_))));
    let event = two.play("c3").await;
    assert_eq!(feed.event().await, event);
    // Idle, it says that it lives, and is not over a second time.
    for _ in 0..2 {
        let checkpoint = feed.checkpoint().await;
        assert!(checkpoint.time.is_some() && checkpoint.held_up.is_none());
    }
    let event = one.play("b2").await;
    assert_eq!(feed.event().await, event);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn from_now_on_there_is_no_history() {
    let (_local, wire) = local().await;
    let mut feed = wire.feed().from_now().open().await;
    assert_eq!(feed.history().await, [], "of an empty store");
    let mut game = wire.game().await;
    assert_eq!(feed.event().await.game_id, game.id);
    game.play("a1 b1").await;
    let mut late = wire.feed().from_now().open().await;
    assert_eq!(late.history().await, []);
    let began = late.token.clone();
    let event = game.play("c1").await;
    assert_eq!(late.event().await, event);
    assert_eq!(wire.feed().from(&began).whole().await, [event], "the token of its first frame goes on from there");
    wire.feed().from_now().from(&began).refused().await.with("INVALID_PARAMETER").field("from_now", "resume_token");
}

async fn seated(wire: &Wire, ruleset: &str, players: [&str; 2]) -> PlayedGame {
    let mut opening = wire.game().of(ruleset);
    for (seat, player) in opening.request.seats.iter_mut().zip(players) {
        seat.player_id = player.to_owned();
    }
    opening.await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn filters_are_of_rulesets_a_player_and_states() {
    let (_local, wire) = local().await;
    let mut won = seated(&wire, "mnk", ["ann", "bob"]).await;
    let mut open = seated(&wire, "gomoku", ["ann", "cid"]).await;
    let mut other = seated(&wire, "connect_four", ["dan", "bob"]).await;
    won.play("a1 b1 a2 b2 a3").await;
    open.play("h8 h9").await;
    other.play("4 4").await;
    let whole = wire.feed().whole().await;
    assert_eq!(whole.len(), 6 + 3 + 3);
    let of = |ids: &[&PlayedGame]| -> Vec<v1::Event> {
        whole.iter().filter(|event| ids.iter().any(|game| game.id == event.game_id)).cloned().collect()
    };
    assert_eq!(wire.feed().of("gomoku").whole().await, of(&[&open]));
    assert_eq!(wire.feed().of("gomoku").of("mnk").whole().await, of(&[&open, &won]));
    assert_eq!(wire.feed().with_player("bob").whole().await, of(&[&won, &other]));
    assert_eq!(wire.feed().with_player("bob").of("mnk").whole().await, of(&[&won]));
    assert_eq!(wire.feed().with_player("nobody").whole().await, []);
    assert_eq!(wire.feed().of("chess").whole().await, []);
    let results = wire.feed().states(&[GameState::Finished, GameState::Closed]).whole().await;
    assert_eq!(results.iter().map(|event| (&*event.game_id, event.seq)).collect::<Vec<_>>(), [(&*won.id, 6)]);
    assert_eq!(wire.feed().states(&[GameState::Active]).whole().await.len(), whole.len() - 1);
}

/// Finished, reopened, finished again with talk beside it, closed: each entry is in the state that GetGame tells.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_entrys_state_is_the_games_after_it() {
    let (_local, wire) = local().await;
    let mut game = wire.game().undo(UndoBy::Agreement).undo_after_end().await;
    let last = game.play("a1 b1 a2 b2 a3").await.seq;
    let asks = |game: &PlayedGame| v1::OfferUndoRequest {
        request_id: fresh(),
        game_id: game.id.clone(),
        expected_seq: Some(game.head),
        seat: Some(0),
        target_seq: Some(last),
        ..Default::default()
    };
    let offered = wire.games().offer_undo(asks(&game)).await.unwrap().into_inner().event.unwrap();
    game.sees(offered);
    game.close().await;
    for state in [GameState::Active, GameState::Finished, GameState::Closed] {
        let told: Vec<u64> = wire.feed().states(&[state]).whole().await.iter().map(|event| event.seq).collect();
        let mut wanted = Vec::new();
        for seq in 1..=game.head {
            if wire.try_get(&game.id, Some(seq)).await.unwrap().state() == state {
                wanted.push(seq);
            }
        }
        assert_eq!(told, wanted, "{state:?}");
    }
}

/// What is passed over is not passed over again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_token_moves_on_through_what_is_not_wanted() {
    let (local, _) = local().await;
    long::book(&local.file(), 5_200).await;
    let wire = local.wire().await;
    let mut feed = wire.feed().with_player("nobody").until_head().open().await;
    let mut checkpoints = Vec::new();
    while let Some(frame) = feed.frame().await.unwrap() {
        assert!(matches!(frame, Frame::Checkpoint(_) | Frame::CaughtUp(_)), "{frame:?}");
        checkpoints.push(feed.token.clone());
    }
    assert!(checkpoints.len() >= 6, "{} frames over 5200 entries", checkpoints.len());
    let read = local.store.feed_read();
    assert_eq!(wire.feed().with_player("nobody").from(&checkpoints[4]).whole().await, []);
    let again = local.store.feed_read() - read;
    assert!((200..=202).contains(&again), "{again} were read behind entry 5000");
    // And live: a move that does not fit moves the token, in time.
    let mut live = wire.feed().with_player("nobody").from_now().heartbeat(1).open().await;
    live.history().await;
    let before = live.token.clone();
    wire.game().await;
    while live.token == before {
        live.checkpoint().await;
    }
    assert_eq!(wire.feed().with_player("nobody").from(&live.token).whole().await, []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_is_of_its_filter_alone() {
    let (_local, wire) = local().await;
    wire.game().await.play("a1").await;
    let mut feed = wire.feed().of("mnk").open().await;
    feed.history().await;
    let token = feed.token.clone();
    assert_eq!(wire.feed().of("mnk").from(&token).whole().await, []);
    for other in [wire.feed(), wire.feed().of("gomoku"), wire.feed().of("mnk").with_player("ann"), wire.feed().states(&[GameState::Active])]
    {
        other.from(&token).refused().await.with("RESUME_TOKEN_INVALID").only(&[]);
    }
    for garbage in ["x", "00", "é", &token[2..], &format!("g{}", &token[1..]), &"0".repeat(5_000)] {
        wire.feed().of("mnk").from(garbage).refused().await.with("RESUME_TOKEN_INVALID").only(&[]);
    }
    let mut asks = wire.feed();
    asks.request.filter = Some(v1::FeedFilter { states: vec![9], ..Default::default() });
    asks.refused().await.with("INVALID_PARAMETER").field("filter.states", "9");
    let mut asks = wire.feed();
    asks.request.filter = Some(v1::FeedFilter { ruleset_ids: vec!["x".to_owned(); 65], ..Default::default() });
    asks.refused().await.with("LIMIT_EXCEEDED").meta("limit", "filter_rulesets").meta("most", 64);
    wire.feed().with_player(&"p".repeat(65)).refused().await.with("INVALID_PARAMETER").field("filter.player_id", "longer");
}

/// The reader stalls at once; the books grow on; nothing is lost, and the server keeps no backlog.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_reader_costs_a_page_and_catches_up() {
    let (local, wire) = local().await;
    long::book(&local.file(), 20_000).await;
    let mut stalled = narrow(local.address()).await.feed().open().await;
    let mut game = wire.game().of("gomoku").await;
    for row in 1..=15 {
        game.play(&format!("a{row}")).await;
    }
    let read = local.store.count(Call::Feed);
    assert!(read < 40, "{read} pages were read for a reader that does not read");
    let events = stalled.events(20_016).await;
    assert!(events[..20_000].iter().map(|event| event.seq).eq(1..=20_000));
    assert!(events[20_000..].iter().map(|event| event.seq).eq(1..=16));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crowd_that_follows_costs_one_read_an_entry() {
    let (local, wire) = local().await;
    let mut game = wire.game().of("gomoku").await;
    let mut crowd = Vec::new();
    for _ in 0..50 {
        let mut feed = local.wire().await.feed().open().await;
        feed.history().await;
        crowd.push(feed);
    }
    // One round to be at the tail.
    let event = game.play("a1").await;
    for feed in &mut crowd {
        assert_eq!(feed.event().await, event);
    }
    let read = local.store.feed_read();
    for row in 2..=15 {
        let event = game.play(&format!("a{row}")).await;
        for feed in &mut crowd {
            assert_eq!(feed.event().await, event);
        }
    }
    let again = local.store.feed_read() - read;
    assert!(again <= 14, "{again} entries were read for 14");
    drop(crowd);
}
