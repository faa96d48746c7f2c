//! Processes are killed while one of their bots thinks.

use plybook_core::Time;
use plybook_core::entry::Entry;
use plybook_core::{Book, Seat};
use plybook_server::limits::QUICK_BOT_NODES;
use plybook_tests::live::{bot, per_move};
use plybook_tests::node::{self, Node};
use plybook_tests::patience::until;
use plybook_tests::postgres::{self, TestDatabase};
use plybook_tests::wire::{PlayedGame, Wire};

fn short_lease(database: &TestDatabase) -> Node {
    node::over(&database.url).with(&["--due-lease-ms", "500"]).start()
}

/// A game whose bot is to move, and a node that was killed while it thought: it had claimed the turn, and appends
/// nothing more. Nothing, where it had moved before it could be killed.
async fn killed_in_thought(database: &TestDatabase, opening: impl AsyncFn(Wire) -> PlayedGame) -> Option<PlayedGame> {
    let node = short_lease(database);
    let game = opening(node.wire().await).await;
    let claims = format!("SELECT attempts::text FROM due WHERE game_id = '{0}' AND kind = 'bot' AND claim IS NOT NULL", game.id);
    let entries = format!("SELECT line FROM book_entry WHERE game_id = '{0}'", game.id);
    let begun = async || !database.column(&claims).await.is_empty() || database.column(&entries).await.len() > 2;
    until("the bot thinks", begun).await;
    node.signal("STOP");
    let found = database.column(&entries).await.len();
    node.kill();
    (found == 2).then_some(game)
}

fn entries(file: &str) -> Vec<Entry> {
    let book = Book::parse(file).unwrap();
    book.lines().iter().map(|link| book.header().read_entry(&link.text).unwrap()).collect()
}

/// The entries, once there is one after the person's.
async fn answered(wire: &Wire, game: &PlayedGame) -> Vec<Entry> {
    until("somebody has answered", || async { wire.get(&game.id).await.seq > 2 }).await;
    entries(&wire.book(&game.id).await)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_68_a_node_is_killed_in_the_middle_of_a_bots_thinking_and_another_ones_bot_moves() {
    let database = postgres::database().await;
    let mut nodes = 2 * QUICK_BOT_NODES;
    let game = loop {
        let opening = async |wire: Wire| {
            let mut game = wire.game().of("connect_four").bot(1, bot("minimax", nodes)).await;
            game.play("4").await;
            game
        };
        match killed_in_thought(&database, opening).await {
            Some(game) => break game,
            None => nodes *= 2,
        }
    };
    let other = short_lease(&database);
    let wire = other.wire().await;
    let found = answered(&wire, &game).await;
    let by: Vec<_> = found.iter().map(|entry| (entry.actor.seat, entry.actor.by.as_str())).collect();
    assert_eq!(by, [(Some(Seat(0)), "anonymous"), (Some(Seat(1)), "plybook/bot")]);
    let mut game = game.through(&wire);
    game.looks().await;
    game.play("3").await;
    wire.proves(&game.id).await;
}

/// So many nodes that the other one's bot would be too late as well.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_68_where_the_other_nodes_bot_would_be_too_late_the_fallback_moves_before_the_deadline() {
    let database = postgres::database().await;
    let most = plybook_server::limits::Limits::default().bot_nodes_max;
    let other = short_lease(&database);
    let wire = other.wire().await;
    // On a machine that is so busy that nobody comes to it in time, it is tried again with more of it.
    for turn_ms in [6_000, 12_000, 24_000, 48_000] {
        let opening = async |wire: Wire| {
            let mut game = wire.game().mnk(15, 15, 5).bot(1, bot("minimax", most)).clock(per_move(turn_ms)).await;
            game.play("h8").await;
            game
        };
        let game = killed_in_thought(&database, opening).await.expect("nobody has answered yet");
        let found = answered(&wire, &game).await;
        let [asked, answer] = found.as_slice() else { panic!("{found:?}") };
        if answer.to_string().contains("-:plybook timeout 1 ") {
            continue;
        }
        assert_eq!((answer.actor.seat, answer.actor.by.as_str()), (Some(Seat(1)), "plybook/fallback"));
        assert!(answer.time <= Time::from_unix_ms(asked.time.unix_ms() + turn_ms as u64), "{answer} after {asked}");
        wire.proves(&game.id).await;
        return;
    }
    panic!("the time of the bot was over again and again, and no fallback moved");
}
