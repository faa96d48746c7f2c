//! What broke in other people's systems, asked of running servers: one test a row of the list of
//! scenarios, with the row's neighbours beside it. Rows of rules alone are in `rules/scenarios.rs`.

mod dice;
mod double;
mod feed;
mod growth;
mod offers;
mod python;
mod replays;

mod rules;
pub(crate) mod secrets;
mod stale;
mod streams;
mod undo;

use plybook_proto::v1;
use plybook_tests::asks::{Answer, Asks};
use plybook_tests::deal::Deal;
use plybook_tests::node::{self, Node};
use plybook_tests::patience::until;
use plybook_tests::postgres::{self, TestDatabase};
use plybook_tests::random::Random;
use plybook_tests::wire::{PlayedGame, Wire};
use tonic::Status;

/// Milton Bradley's jumps that touch neither end.
const JUMPS: [i64; 34] =
    [4, 14, 9, 31, 16, 6, 21, 42, 28, 84, 36, 44, 47, 26, 49, 11, 51, 67, 56, 53, 62, 19, 64, 60, 71, 91, 87, 24, 93, 73, 95, 75, 98, 78];

/// Two server processes over one Postgres.
struct Pair {
    database: TestDatabase,
    nodes: Vec<Node>,
}

async fn two_nodes() -> Pair {
    let database = postgres::database().await;
    let nodes = start_two(&database);
    Pair { database, nodes }
}

fn start_two(database: &TestDatabase) -> Vec<Node> {
    (0..2).map(|_| node::over(&database.url).start()).collect()
}

impl Pair {
    async fn wires(&self) -> [Wire; 2] {
        [self.nodes[0].wire().await, self.nodes[1].wire().await]
    }

    /// kill -9 for both, and two others in their place, which know nothing.
    fn replace(&mut self) {
        self.nodes.drain(..).for_each(Node::kill);
        self.nodes = start_two(&self.database);
    }

    /// The same, and the game through the first of them.
    async fn replaced(&mut self, game: &PlayedGame) -> PlayedGame {
        self.replace();
        game.through(&self.nodes[0].wire().await)
    }
}

/// A node over a file of its own.
fn file_node() -> (tempfile::TempDir, Node) {
    let folder = tempfile::tempdir().unwrap();
    let node = node::over(folder.path().join("books.db").to_str().unwrap()).start();
    (folder, node)
}

/// Sends all of them at once, each by its wire.
async fn at_once(sent: Vec<(Wire, Asks)>) -> Vec<Result<Answer, Status>> {
    let running: Vec<_> = sent.into_iter().map(|(wire, asks)| tokio::spawn(async move { wire.sends(asks).await })).collect();
    let mut answers = Vec::new();
    for run in running {
        answers.push(run.await.unwrap());
    }
    answers
}

/// A game without dice, played at random to its end: the same number, the same game.
fn random_moves(deal: &Deal, number: u64) -> Vec<String> {
    let (mut play, mut random, mut moves) = (deal.play(), Random::new(number), Vec::new());
    while let Some((action, _)) = random.action(&play) {
        moves.push(play.rules().write_action(action));
        play.play(action, &[]).unwrap();
    }
    moves
}

/// What a move did.
#[track_caller]
fn made(event: &v1::Event) -> &v1::MoveMade {
    match &event.body {
        Some(v1::event::Body::MoveMade(made)) => made,
        other => panic!("not a move: {other:?}"),
    }
}
