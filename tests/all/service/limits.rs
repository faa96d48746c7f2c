//! One over each limit of the service, and what callers may send at its expense.
//!
//! Entries a game and bytes a line are the core's, and asked of it in `book/limits.rs`.

use std::time::Duration;

use plybook_proto::v1::{self, UndoBy};
use plybook_tests::injected::over_sqlite;
use plybook_tests::patience::PATIENCE;
use plybook_tests::refused::Refused;
use plybook_tests::wire::{Opening, Wire, fresh};
use tonic::codec::CompressionEncoding::Gzip;

fn exceeds(refused: &Refused, limit: &str, most: u64) {
    refused.with("LIMIT_EXCEEDED").meta("limit", limit).meta("most", most);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_has_so_many_bytes() {
    let local = over_sqlite().await.limits(|limits| limits.request_bytes = 4096).start().await;
    let wire = local.wire().await;
    let most = 4096;
    exceeds(&wire.game().seed(&[0; 4096]).refused().await, "request_bytes", most);
    exceeds(&Refused::by(wire.try_book(&"g".repeat(4096)).await), "request_bytes", most);
    exceeds(&wire.follow(&"g".repeat(4096)).refused().await, "request_bytes", most);
    wire.game().seed(&[0; 3_900]).refused().await.with("INVALID_PARAMETER").field("seed", "32 bytes");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_may_not_grow_when_it_is_unpacked() {
    let local = over_sqlite().await.start().await;
    let mut client = local.wire().await.games().send_compressed(Gzip);
    let request = local.wire().await.game().seed(&vec![0; 64 << 20]).request;
    let packed = Refused::by(client.create_game(request).await);
    exceeds(&packed, "request_bytes", 256 * 1024);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_creation_has_limits() {
    let local = over_sqlite().await.start().await;
    let wire = local.wire().await;
    exceeds(&wire.game().seats(9).refused().await, "seats", 8);
    let many = |count: usize| (0..count).fold(wire.game(), |opening, n| opening.with(&format!("p{n}"), 1));
    exceeds(&many(65).refused().await, "params", 64);
    many(64).refused().await.with("INVALID_PARAMETER");
    exceeds(&long_header(&wire, 64).refused().await, "line_bytes", 2400);
    long_header(&wire, 1).await;
}

/// Eight players whose names must be escaped, and a hundred jumps.
fn long_header(wire: &Wire, name_bytes: usize) -> Opening {
    let jumps: Vec<i64> = (0..100).flat_map(|n| [102 + n, 301 + n]).collect();
    let name = "\"".repeat(name_bytes);
    wire.game().snakes(900, &jumps).players(&[name.as_str(); 8])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_undo_takes_so_many_plies() {
    let local = over_sqlite().await.start().await;
    let mut game = local.wire().await.game().mnk(20, 20, 20).undo(UndoBy::Free).await;
    for column in ('a'..='t').take(6) {
        for row in 1..=if column == 'f' { 1 } else { 20 } {
            game.play(&format!("{column}{row}")).await;
        }
    }
    exceeds(&game.refuses_undo(game.asks_undo(0, Some(2))).await, "undo_plies", 100);
    let request = game.asks_undo(0, Some(3));
    let event = game.wire.games().undo(request).await.unwrap().into_inner().event.unwrap();
    let Some(v1::event::Body::MoveUndone(undone)) = event.body else { panic!("{event:?}") };
    assert_eq!((undone.ply, undone.changes.len()), (1, 100));
}

/// Refusals are held to their size wherever they are read; here is what might burst it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hostile_text_is_echoed_briefly() {
    let local = over_sqlite().await.start().await;
    let wire = local.wire().await;
    let game = wire.game().await;
    let texts =
        ["a".repeat(100_000), "é".repeat(50_000), "\n\r\0\u{1b}[31m".repeat(5_000), "\"\\".repeat(30_000), "\u{10ffff}".repeat(20_000)];
    for text in &texts {
        wire.game().of(text).refused().await.with("UNKNOWN_RULESET");
        let mut versioned = wire.game().of(text);
        versioned.request.ruleset.as_mut().unwrap().version = u32::MAX;
        versioned.refused().await.with("UNKNOWN_RULESET");
        wire.game().with(text, 1).refused().await.with("INVALID_PARAMETER");
        wire.game().with("win", text.as_str()).refused().await.with("INVALID_PARAMETER");
        wire.game().with("rows", text.as_str()).refused().await.with("INVALID_PARAMETER");
        wire.game().players(&[text, "b"]).refused().await.with("INVALID_PARAMETER");
        let mut marked = wire.game();
        marked.request.seats[1].mark.clone_from(text);
        marked.refused().await.with("INVALID_PARAMETER");
        game.refuses(text).await.with("INVALID_ACTION");
        let start: String = text.chars().take_while(|c| c.len_utf8() < 4).take(8).collect();
        game.refuses(&start).await.with("INVALID_ACTION");
        Refused::by(wire.try_get(text, None).await).with("INVALID_PARAMETER");
        game.refuses_move(v1::MakeMoveRequest { game_id: text.clone(), ..game.asks("a1") }).await.with("INVALID_PARAMETER");
        game.refuses_move(v1::MakeMoveRequest { request_id: text.clone(), ..game.asks("a1") }).await.with("INVALID_REQUEST_ID");
        let tokened = v1::ListGamesRequest { page_token: text.clone(), ..Default::default() };
        Refused::by(wire.games().list_games(tokened).await).with("INVALID_PARAMETER");
    }
    let longest = vec![i64::MIN; 20_000];
    wire.game().of("snakes_and_ladders").with("jumps", longest).refused().await.with("INVALID_PARAMETER");
}

/// The lines missed are as many as fit, even where each is as long as a line can be.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn missed_lines_are_bounded() {
    let local = over_sqlite().await.start().await;
    let mut game = local.wire().await.game().mnk(20, 20, 20).undo(UndoBy::Free).await;
    let late = game.asks("t20");
    for column in 'a'..='d' {
        for row in 1..=20 {
            game.play(&format!("{column}{row}")).await;
        }
    }
    let before_undo = game.head;
    let request = game.asks_undo(0, Some(2));
    game.wire.games().undo(request).await.unwrap();
    let short = game.refuses_move(late.clone()).await;
    assert!(short.with("STALE_SEQ").metadata.contains_key("missed_2"));
    let long = v1::MakeMoveRequest { expected_seq: Some(before_undo), request_id: fresh(), ..late };
    game.refuses_move(long).await.with("STALE_SEQ").meta("head_seq", before_undo + 1);
}

/// A connection has so many calls in flight; the next one waits for a place.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_has_so_many_calls() {
    let local = over_sqlite().await.limits(|limits| limits.calls_per_connection = 2).start().await;
    let wire = local.wire().await;
    let game = wire.game().await;
    let first = wire.follow(&game.id).open().await;
    let _second = wire.follow(&game.id).open().await;
    let mut third = tokio::spawn({
        let game = game.clone();
        async move { game.now().await.seq }
    });
    tokio::time::timeout(Duration::from_millis(300), &mut third).await.expect_err("it waits");
    assert_eq!(local.wire().await.get(&game.id).await.seq, 1, "another connection has calls of its own");
    drop(first);
    assert_eq!(tokio::time::timeout(PATIENCE, third).await.expect("its turn has come").unwrap(), 1);
}
