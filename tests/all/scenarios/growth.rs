//! J: growth and leaks.

use std::time::Duration;

use plybook_core::limits::HISTORY_STEP;
use plybook_proto::v1::{self, action::Shape};
use plybook_tests::injected::{Call, Fault, over_postgres};
use plybook_tests::long_book::LongBook;
use plybook_tests::node::{self, Node};
use plybook_tests::patience::PATIENCE;
use plybook_tests::postgres;
use plybook_tests::refused::DETAILS_BYTES_MAX;
use plybook_tests::table::SEED;
use plybook_tests::wire::{PlayedGame, Wire, seqs};
use prost::Message as _;

/// What any client accepts by default.
const MESSAGE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// The memory that a node holds, in KiB.
pub(super) fn resident_kib(node: &Node) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", node.pid())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("Linux tells what is resident");
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// A game of so many entries, on a board with room for them.
async fn long_game(wire: &Wire, database: &postgres::TestDatabase, entries: u32) -> (PlayedGame, LongBook) {
    let game = wire.game().mnk(1000, 1000, 1000).seed(&SEED).await;
    let mut book = LongBook::of(&wire.book(&game.id).await, SEED);
    book.write_until(database, entries).await;
    (game, book)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_73_rewinding_a_long_game_reads_a_bounded_part_of_it() {
    let database = postgres::database().await;
    let local = over_postgres(&database).await.start().await;
    let wire = local.wire().await;
    let (game, book) = long_game(&wire, &database, 10_000).await;
    // Without snapshots the first ask reads everything, and remembers on its way.
    local.store.breaks(Call::Snapshot, Fault::Away);
    local.store.breaks(Call::SaveSnapshot, Fault::Away);
    let pages = async |what: &str, at_seq: Option<u64>| {
        let before = local.store.count(Call::Entries);
        let told = wire.try_get(&game.id, at_seq).await.unwrap();
        assert_eq!(told.seq, at_seq.unwrap_or(10_000), "{what}");
        local.store.count(Call::Entries) - before
    };
    // Five hundred entries a page.
    assert!(pages("cold", Some(9_000)).await >= 18);
    for at in [9_000, 8_999, 8_700, 8_300, 5_000, 1_025, 1_024, 1_023, 3, 9_100] {
        let read = pages("warm", Some(at)).await;
        assert!(read <= 3, "{read} pages for entry {at}");
    }
    assert!(pages("joining", None).await >= 20);
    let read = pages("joining again", None).await;
    assert!(read <= 1, "{read} pages for the head");
    let folded = wire.try_get(&game.id, None).await.unwrap();
    assert_eq!(folded.position.unwrap().position_digest, book.game().position_digest().0);
    // A stream from near the head does not replay either.
    let before = local.store.count(Call::Entries);
    let mut watching = wire.follow(&game.id).after(9_990).until_head().open().await;
    let (frames, _) = watching.rest().await;
    assert_eq!(seqs(&frames), (9_991..=10_000).collect::<Vec<_>>());
    assert!(local.store.count(Call::Entries) - before <= 3);
}

/// Nodes that know nothing, over a game of a hundred thousand entries.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_73_a_cold_node_answers_any_entry_of_a_very_long_game_from_a_bounded_part_of_it() {
    const ENTRIES: u32 = 100_000;
    let database = postgres::database().await;
    let maker = over_postgres(&database).await.limits(|limits| limits.history_cache_bytes = 0).start().await;
    let wire = maker.wire().await;
    let (game, book) = long_game(&wire, &database, ENTRIES).await;
    // Whoever reads past an entry of which a snapshot is due makes it, while there is room in the queue.
    let mut missing: Vec<u64> = (1..=u64::from(ENTRIES / HISTORY_STEP)).map(|step| step * u64::from(HISTORY_STEP)).collect();
    while let Some(seq) = missing.last() {
        wire.try_get(&game.id, Some(*seq)).await.unwrap();
        let there = database.column("SELECT seq::text FROM snapshot").await;
        missing.retain(|seq| !there.contains(&seq.to_string()));
    }
    let step = u64::from(HISTORY_STEP);
    for (at, most) in [(Some(1), 2), (Some(1_023), step + 4), (Some(1_024), 4), (Some(90_000), step + 4), (None, 500 + step + 4)] {
        let cold = over_postgres(&database).await.start().await;
        let told = cold.wire().await.try_get(&game.id, at).await.unwrap();
        assert_eq!(told.position.unwrap().cells.len() as u64, at.unwrap_or(u64::from(ENTRIES)) - 1);
        assert_eq!(told.book_digest, book.digest_at(told.seq as usize));
        assert!(cold.store.entries_read() <= most, "{} entries for {at:?}", cold.store.entries_read());
    }
}

/// Opens so many games, moves once in each, looks at it from behind, and leaves them.
async fn open_and_leave(wire: &Wire, games: u32) {
    let workers = (0..8).map(|worker| {
        let wire = wire.clone();
        tokio::spawn(async move {
            for number in (worker..games).step_by(8) {
                let mut game = wire.game().mnk(3, 3, 3).players(&[&format!("player-{number}"), ""]).await;
                game.play("b2").await;
                if number % 4 == 0 {
                    wire.try_get(&game.id, Some(1)).await.unwrap();
                    wire.follow(&game.id).until_head().open().await.rest().await;
                }
            }
        })
    });
    for worker in workers.collect::<Vec<_>>() {
        worker.await.unwrap();
    }
}

/// `PLYBOOK_TEST_GAMES` asks for more than these, and the test tells what it measured.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_74_games_that_were_left_take_no_memory() {
    let games: u32 = std::env::var("PLYBOOK_TEST_GAMES").map_or(800, |games| games.parse().unwrap());
    let database = postgres::database().await;
    let node = node::over(&database.url).with(&["--games-cache-mib", "1", "--history-cache-mib", "1"]).start();
    let wire = node.wire().await;
    open_and_leave(&wire, games).await;
    let once = resident_kib(&node);
    open_and_leave(&wire, 4 * games).await;
    let five_times = resident_kib(&node);
    println!("resident after {games} games: {once} KiB; after {}: {five_times} KiB", 5 * games);
    let grown = five_times.saturating_sub(once);
    // A game that stayed would take 2 KiB and more, 6 MiB together. The allocator takes and gives back up to 2 MiB at a time.
    assert!(grown < 4 * 1024, "{grown} KiB more after {} more games", 4 * games);
}

/// Streams that were opened and left give everything back too.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_74_streams_that_were_left_take_no_slot() {
    let database = postgres::database().await;
    let node = node::over(&database.url).with(&["--streams", "8"]).start();
    let mut game = node.wire().await.game().of("gomoku").await;
    for round in 0..40u8 {
        let wire = node.wire().await;
        let mut open = Vec::new();
        for _ in 0..8 {
            // A stream that was just left may need a moment to be noticed.
            let opened = async {
                loop {
                    match wire.follow(&game.id).sent().await {
                        Ok(stream) => return stream,
                        Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
                    }
                }
            };
            open.push(tokio::time::timeout(PATIENCE, opened).await.expect("a slot is free"));
        }
        if round == 0 {
            wire.follow(&game.id).refused().await.with("TOO_MANY_STREAMS").meta("most", 8).later();
            game.play("h8").await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_76_twenty_thousand_entries_come_in_messages_that_any_client_takes() {
    let database = postgres::database().await;
    let nodes = [node::over(&database.url).start(), node::over(&database.url).start()];
    let wire = nodes[0].wire().await;
    let (mut game, book) = long_game(&wire, &database, 20_000).await;
    let cold = nodes[1].wire().await;
    // A client that sets no limit of its own takes 4 MiB, and refuses more.
    let mut stream = cold.follow(&game.id).until_head().sent().await.unwrap();
    let (mut seq, mut largest) = (0, 0);
    while let Some(frame) = stream.message().await.unwrap() {
        largest = largest.max(frame.encoded_len());
        if let Some(v1::stream_events_response::Frame::Event(event)) = frame.frame {
            seq += 1;
            assert_eq!(event.seq, seq);
        }
    }
    assert_eq!(seq, 20_000);
    let mut pieces = cold.audit().get_book(v1::GetBookRequest { game_id: game.id.clone() }).await.unwrap().into_inner();
    let mut file = Vec::new();
    while let Some(piece) = pieces.message().await.unwrap() {
        largest = largest.max(piece.encoded_len());
        file.extend(piece.chunk);
    }
    let file = plybook_core::Book::parse(&String::from_utf8(file).unwrap()).unwrap();
    assert_eq!((file.links().len(), file.digest()), (20_000, book.game().head().digest));
    let told = cold.get(&game.id).await;
    largest = largest.max(told.encoded_len());
    assert_eq!(told.position.unwrap().cells.len(), 19_999);
    assert!(largest < MESSAGE_BYTES_MAX / 2, "{largest} bytes");

    // It is played on, and whoever missed all of it is told so in a refusal of bounded size.
    game.looks().await;
    let asks = v1::MakeMoveRequest { action: Some(v1::Action { shape: Some(Shape::Place(v1::Place { cell: 999_999 })) }), ..game.asks("") };
    game.does(asks.clone()).await;
    for expected in [1, 2, 10_000, 19_990, 20_000] {
        let stale = v1::MakeMoveRequest { request_id: plybook_tests::wire::fresh(), expected_seq: Some(expected), ..asks.clone() };
        let status = cold.games().make_move(stale).await.unwrap_err();
        assert!(status.details().len() < DETAILS_BYTES_MAX, "{} bytes of details", status.details().len());
        let refused = plybook_tests::refused::Refused::of(&status);
        refused.with("STALE_SEQ").meta("head_seq", 20_001);
        assert!(refused.metadata.contains_key(&format!("missed_{}", expected + 1)), "it begins with the next one: {refused:?}");
    }
}
