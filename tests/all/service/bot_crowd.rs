//! Games of bots alone, many at once, on two nodes.

use plybook_bots::Bots;
use plybook_bots::again::Again;
use plybook_core::{Book, Game};
use plybook_proto::v1;
use plybook_rulesets::Registry;
use plybook_server::upkeep::Chore;
use plybook_tests::injected::over_postgres;
use plybook_tests::laid::until_queue_is_empty;
use plybook_tests::live::bot;
use plybook_tests::patience::until;
use plybook_tests::postgres;
use plybook_tests::wire::{Opening, Wire};

const GAMES: usize = 1_000;

/// The game with this number: every ruleset in turn, small, and every strategy that plays it.
fn opening(wire: &Wire, number: usize) -> Opening {
    let game = match number % 5 {
        0 => wire.game(),
        1 => wire.game().connect_four(4, 4, 3),
        2 => wire.game().of("gomoku").with("size", 5),
        3 => wire.game().of("othello").with("size", 4),
        _ => wire.game().snakes(12, &[2, 7, 9, 4]),
    };
    // 0: its own default.
    let (random, heuristic, minimax, mcts) = (bot("random", 0), bot("heuristic", 40), bot("minimax", 40), bot("mcts", 40));
    let [first, second] = match number / 5 % 4 {
        0 => [random, heuristic],
        1 => [minimax, random],
        2 => [heuristic, mcts],
        _ => [random.clone(), random],
    };
    game.bot(0, first).bot(1, second)
}

/// All of them come to their end, with every move made once; nothing is left behind, and what is chosen again is the same.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_games_of_bots_alone_on_two_nodes_come_to_their_end() {
    let database = postgres::database().await;
    let nodes = [over_postgres(&database).await.sweeping().start().await, over_postgres(&database).await.sweeping().start().await];
    let store = nodes[0].store.inner();
    let wires = [nodes[0].wire().await, nodes[1].wire().await];
    let mut ids = Vec::new();
    for number in 0..GAMES {
        ids.push(opening(&wires[number % 2], number).sent().await.unwrap().game_id);
    }
    let mut moves = 0;
    for (number, id) in ids.iter().enumerate() {
        let wire = &wires[(number + 1) % 2];
        until(&format!("game {number} is over"), || async { wire.get(id).await.state() == v1::GameState::Closed }).await;
        let file = wire.book(id).await;
        let book = Book::parse(&file).unwrap();
        let by_bots = book.lines().iter().filter(|link| link.text.contains(":plybook/bot move ")).count();
        assert_eq!(by_bots, book.lines().len(), "{file}");
        moves += by_bots as u64;
        if number % 20 < 5 {
            chosen_again(&book, &wire.get(id).await);
        }
    }
    until_queue_is_empty(&*store).await;
    for node in &nodes {
        until("no bot is at work", || async { node.bot_jobs() == 0 }).await;
    }
    let count = |chore: Chore| nodes.iter().map(|node| node.chores(chore)).sum::<u64>();
    assert_eq!((count(Chore::BotMoved), count(Chore::FallbackMoved), count(Chore::BotFault)), (moves, 0, 0));
}

/// What `plybook verify --bots` asks of a book.
fn chosen_again(book: &Book, told: &v1::Game) {
    let header = book.header();
    let seed = plybook_core::Seed::new(told.revealed_seed.as_slice().try_into().unwrap());
    let game = Game::new(header.clone(), Registry::standard().rules_of(header).unwrap());
    let mut again = Again::new(Bots::standard(), game, seed);
    for link in book.lines() {
        let followed = again.follow(&link.text, link.digest, &|| false);
        followed.unwrap_or_else(|why| panic!("{why} in\n{}", book.print()));
    }
    assert_eq!(again.moves().by_bots, book.lines().len() as u64);
}
