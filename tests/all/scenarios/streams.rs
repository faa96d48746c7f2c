//! F: event streams.

use std::time::Duration;

use plybook_core::Digest;
use plybook_proto::v1::stream_events_response::Frame;
use plybook_proto::v1::{self, UndoBy};
use plybook_tests::held::Held;
use plybook_tests::injected::over_postgres;
use plybook_tests::long_book::LongBook;
use plybook_tests::patience::{PATIENCE, until};
use plybook_tests::postgres;
use plybook_tests::refused::Refused;
use plybook_tests::table::SEED;
use plybook_tests::wire::{PlayedGame, Watching, Wire, seqs};

use super::{file_node, two_nodes};

async fn next(watching: &mut Watching) -> v1::Event {
    tokio::time::timeout(PATIENCE, watching.event()).await.expect("an entry comes in time")
}

/// The next frame is the end, and it is OK.
async fn ends(watching: &mut Watching) {
    let frame = tokio::time::timeout(PATIENCE, watching.frame()).await.expect("the stream ends");
    assert_eq!(frame.unwrap(), None);
}

/// A row's neighbour in what exists: a transaction of one game that commits late holds up nobody else.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_46_an_open_transaction_in_one_game_holds_up_no_other_stream() {
    let pair = two_nodes().await;
    let [a, b] = pair.wires().await;
    let (mut one, mut other) = (a.game().of("gomoku").await, a.game().of("gomoku").await);
    let mut watch_one = b.follow(&one.id).open().await;
    let mut watch_other = b.follow(&other.id).open().await;
    watch_one.history().await;
    watch_other.history().await;
    let held = Held::before_entry(&pair.database, &one.id, 2).await;
    let sending = tokio::spawn({
        let (wire, asks) = (a.clone(), one.asks("h8"));
        // As long as it waits, and as often: a statement has a time limit of its own.
        async move {
            loop {
                match wire.sends(asks.clone()).await {
                    Err(status) => Refused::of(&status).with("STORE_UNAVAILABLE").later(),
                    Ok(answer) => return answer.event(),
                };
            }
        }
    });
    for cell in ["a1", "a2", "a3"] {
        let event = other.play(cell).await;
        assert_eq!(next(&mut watch_other).await, event);
    }
    assert!(!sending.is_finished(), "the other game's append waits");
    held.release().await;
    let event = sending.await.unwrap();
    assert_eq!(next(&mut watch_one).await, event);
    one.sees(event);
    let event = one.play("h9").await;
    assert_eq!(next(&mut watch_one).await, event);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_47_a_resumed_stream_begins_after_its_cursor_and_never_beyond_the_head() {
    let pair = two_nodes().await;
    let [a, b] = pair.wires().await;
    let mut game = a.game().of("gomoku").await;
    game.play("a1 b1 a2 b2 a3 b3 a4 b4").await;
    let whole = a.history(&game.id).await;
    for wire in [&a, &b] {
        for after in 0..=game.head {
            let mut watching = wire.follow(&game.id).after(after).until_head().open().await;
            let (frames, refused) = watching.rest().await;
            assert_eq!((seqs(&frames), refused), ((after + 1..=game.head).collect(), None));
        }
        for beyond in [game.head + 1, game.head + 100, u64::from(u32::MAX), u64::MAX] {
            for following in [wire.follow(&game.id).after(beyond), wire.follow(&game.id).after(beyond).with_snapshot()] {
                following.refused().await.with("CURSOR_BEYOND_HEAD").meta("head_seq", game.head);
            }
        }
    }
    // Cut again and again, on either node: what was read once is not read again.
    let mut read: Vec<v1::Event> = Vec::new();
    while read.len() < whole.len() {
        let wire = if read.len().is_multiple_of(2) { &a } else { &b };
        let mut watching = wire.follow(&game.id).after(read.len() as u64).open().await;
        for _ in 0..3.min(whole.len() - read.len()) {
            read.push(next(&mut watching).await);
        }
    }
    assert_eq!(read, whole);
}

/// A stream that may end with a reason.
type Frail = tonic::Streaming<v1::StreamEventsResponse>;

async fn entry_or_end(frail: &mut Frail) -> Result<v1::Event, tonic::Status> {
    let entry = async {
        loop {
            let response = frail.message().await?.expect("a live game's stream does not end with OK");
            if let Some(Frame::Event(event)) = response.frame {
                return Ok(event);
            }
        }
    };
    tokio::time::timeout(PATIENCE, entry).await.expect("an entry comes in time")
}

/// The stream again, from where it stood, as soon as the node reaches its database again.
async fn resumed(wire: &Wire, game: &PlayedGame) -> Frail {
    loop {
        match wire.follow(&game.id).after(game.head).sent().await {
            Ok(stream) => return stream,
            Err(status) => Refused::of(&status).with("STORE_UNAVAILABLE").later(),
        };
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_49_a_lost_listener_costs_no_entry() {
    let pair = two_nodes().await;
    let [a, b] = pair.wires().await;
    let mut game = a.game().of("gomoku").await;
    let mut watching = b.follow(&game.id).after(1).sent().await.unwrap();
    for (round, row) in (1..=8).enumerate() {
        if round % 2 == 0 {
            until("there is a listener to kill", async || pair.database.kill_listeners().await > 0).await;
        } else {
            // Every session: the pool's too. The move is repeated until it is answered, as clients do.
            pair.database.kill_all().await;
        }
        let asks = game.asks(&format!("a{row}"));
        let event = loop {
            match a.sends(asks.clone()).await {
                Ok(answer) => break answer.event(),
                Err(status) => Refused::of(&status).with("STORE_UNAVAILABLE").later(),
            };
        };
        // A stream whose node lost all its sessions may end, with a reason; it resumes where it stood.
        let heard = match entry_or_end(&mut watching).await {
            Ok(heard) => heard,
            Err(status) => {
                Refused::of(&status).with("STORE_UNAVAILABLE").later();
                watching = resumed(&b, &game).await;
                entry_or_end(&mut watching).await.unwrap()
            }
        };
        assert_eq!(heard, event);
        game.sees(event);
    }
}

/// A game on a board with room for all its entries.
async fn long_game(wire: &Wire) -> (PlayedGame, LongBook) {
    let game = wire.game().mnk(1000, 1000, 1000).seed(&SEED).await;
    let book = LongBook::of(&wire.book(&game.id).await, SEED);
    (game, book)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_50_a_reader_that_stalls_for_ten_thousand_events_catches_up() {
    let pair = two_nodes().await;
    let [a, _] = pair.wires().await;
    let (mut game, mut book) = long_game(&a).await;
    let slow = Wire::narrow(&pair.nodes[1].url());
    let mut stalled = slow.follow(&game.id).open().await;
    stalled.history().await;
    let before = super::growth::resident_kib(&pair.nodes[1]);
    for last in [2_500, 5_000, 7_500, 10_001] {
        book.write_until(&pair.database, last).await;
        game.looks().await;
        // A move through the node, so that every watcher is woken while this one does not read.
        let cell = game.head as u32 - 1;
        let asks = v1::MakeMoveRequest { action: Some(place(cell)), ..game.asks("") };
        game.does(asks).await;
        book.follow(&a.history_after(&game.id, game.head - 1).await);
    }
    let grown = super::growth::resident_kib(&pair.nodes[1]).saturating_sub(before);
    assert!(grown < 64 * 1024, "the node buffers {grown} KiB for a reader that does not read");
    let mut digest = None;
    for seq in 2..=game.head {
        let event = next(&mut stalled).await;
        assert_eq!(event.seq, seq, "no gap, no repeat");
        digest = Some(event.book_digest);
    }
    assert_eq!(digest.unwrap(), a.get(&game.id).await.book_digest);
    // And it is live again.
    let cell = game.head as u32 - 1;
    let event = game.does(v1::MakeMoveRequest { action: Some(place(cell)), ..game.asks("") }).await;
    assert_eq!(next(&mut stalled).await, event);
}

fn place(cell: u32) -> v1::Action {
    v1::Action { shape: Some(v1::action::Shape::Place(v1::Place { cell })) }
}

/// Two nodes that never hear of each other: the book is what feeds a stream.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_52_a_lost_notification_loses_no_move() {
    let database = postgres::database().await;
    let floor = Duration::from_millis(300);
    let mut locals = Vec::new();
    for _ in 0..2 {
        let local = over_postgres(&database).await.limits(|limits| limits.poll_floor = floor).start().await;
        local.bus.loses_hints();
        locals.push(local);
    }
    let (a, b) = (locals[0].wire().await, locals[1].wire().await);
    let mut game = a.game().of("gomoku").await;
    let mut watching = b.follow(&game.id).open().await;
    watching.history().await;
    for row in 1..=10 {
        let event = game.play(&format!("a{row}")).await;
        assert_eq!(next(&mut watching).await, event);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_53_many_streams_of_one_principal_live_beside_each_other() {
    let pair = two_nodes().await;
    let [a, b] = pair.wires().await;
    let mut game = a.game().of("gomoku").await;
    let mut streams = Vec::new();
    for number in 0..12 {
        // Over one connection, over another, and over the other node.
        let wire = [&a, &b, &pair.nodes[0].wire().await][number % 3].clone();
        streams.push((wire.follow(&game.id).open().await, Vec::new()));
        game.play(&format!("{}1", char::from(b'a' + number as u8))).await;
    }
    for (watching, seen) in &mut streams {
        for _ in 1..=game.head {
            seen.push(next(watching).await);
        }
    }
    let whole = a.history(&game.id).await;
    for (_, seen) in &streams {
        assert_eq!(*seen, whole);
        let started = seen.iter().filter(|event| matches!(event.body, Some(v1::event::Body::GameCreated(_)))).count();
        assert_eq!(started, 1, "the start comes once per cursor");
    }
    // One that leaves takes nobody along.
    streams.truncate(6);
    let event = game.play("a2").await;
    for (watching, _) in &mut streams {
        assert_eq!(next(watching).await, event);
    }
}

/// A live stream and a late one, over either node: the same entries, the terminal one last, then OK.
async fn one_terminal_event(wires: &[Wire; 2], game: PlayedGame, moves: &str, close: bool) {
    let mut live = Vec::new();
    for wire in wires {
        live.push(wire.follow(&game.id).open().await);
    }
    let mut game = game;
    let mut last = game.play(moves).await;
    if close {
        last = game.close().await;
    }
    assert!(!last.revealed_seed.is_empty());
    let whole = wires[0].history(&game.id).await;
    assert_eq!(whole.last(), Some(&last));
    assert_eq!(whole.iter().filter(|event| event.outcome.is_some()).count(), 1, "one entry tells the outcome");
    assert_eq!(whole.iter().filter(|event| !event.revealed_seed.is_empty()).count(), 1, "one entry closes the game");
    for wire in wires {
        live.push(wire.follow(&game.id).open().await);
        live.push(wire.follow(&game.id).with_snapshot().after(1).open().await);
    }
    for (number, mut watching) in live.into_iter().enumerate() {
        let skipped = usize::from(number >= 2 && number % 2 == 1);
        for event in &whole[skipped..] {
            assert_eq!(&next(&mut watching).await, event);
        }
        ends(&mut watching).await;
    }
    // From the end there is nothing more, and that is no error.
    let (frames, refused) = wires[1].follow(&game.id).after(game.head).open().await.rest().await;
    assert_eq!((frames.len(), refused), (1, None));
    assert!(matches!(frames[0], Frame::CaughtUp(_)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_55_every_ending_is_one_terminal_event_then_ok() {
    let pair = two_nodes().await;
    let wires = pair.wires().await;
    let a = &wires[0];
    one_terminal_event(&wires, a.game().await, "a1 b1 a2 b2 a3", false).await;
    one_terminal_event(&wires, a.game().await, "a1 b1 a2 b2 c1 b3", false).await;
    one_terminal_event(&wires, a.game().await, "a1 b2 c3 b1 b3 a3 c1 c2 a2", false).await;
    one_terminal_event(&wires, a.game().with("misere", true).await, "a1 b1 a2 b2 a3", false).await;
    one_terminal_event(&wires, a.game().connect_four(2, 2, 2).await, "1 2 1", false).await;
    one_terminal_event(&wires, a.game().connect_four(4, 4, 3).version(1).with("pop_out", true).await, "1 2 1^ 2^ 1 2 1^ 2^", false).await;
    one_terminal_event(&wires, a.game().undo_after_end().await, "a1 b1 a2 b2 a3", true).await;
    one_terminal_event(&wires, a.game().undo_after_end().await, "a1 b2 c3 b1 b3 a3 c1 c2 a2", true).await;
}

/// An ending that was taken back is none: the stream goes on until the game is closed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_55_a_reopened_game_has_not_ended() {
    let (_folder, node) = file_node();
    let wire = node.wire().await;
    let mut game = wire.game().undo(UndoBy::Free).undo_after_end().await;
    let mut watching = wire.follow(&game.id).heartbeat(1).open().await;
    watching.history().await;
    game.play("a1 b1 a2 b2 a3").await;
    for _ in 0..5 {
        next(&mut watching).await;
    }
    // Finished, and still open: a heartbeat and no end.
    let frame = tokio::time::timeout(PATIENCE, watching.frame()).await.expect("a heartbeat comes").unwrap();
    assert!(matches!(frame, Some(Frame::Heartbeat(_))), "{frame:?}");
    game.undo(0).await;
    game.play("c3 b3").await;
    game.close().await;
    let mut digest = None;
    for seq in 7..=10 {
        let event = next(&mut watching).await;
        assert_eq!(event.seq, seq);
        digest = Some(Digest(event.book_digest.try_into().unwrap()));
    }
    ends(&mut watching).await;
    assert_eq!(digest, Some(wire.proves(&game.id).await.head().digest));
}
