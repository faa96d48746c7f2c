//! One game, many callers at once.

use plybook_proto::v1::MakeMoveRequest;
use plybook_tests::injected::{over_postgres, over_sqlite};
use plybook_tests::postgres;
use plybook_tests::refused::Refused;
use plybook_tests::wire::{PlayedGame, Wire, notated};

const CALLERS: usize = 32;
const ROUNDS: u32 = 20;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_racing_moves_one_is_accepted_on_one_node() {
    let local = over_sqlite().await.start().await;
    race(&[local.wire().await]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_racing_moves_one_is_accepted_on_two_nodes() {
    let database = postgres::database().await;
    let (here, there) = (over_postgres(&database).await.start().await, over_postgres(&database).await.start().await);
    race(&[here.wire().await, there.wire().await]).await;
}

/// In each round every caller tries a cell of its own on the same entry.
async fn race(nodes: &[Wire]) {
    let mut game = nodes[0].game().mnk(40, 40, 40).await;
    for round in 0..ROUNDS {
        let tries = (0..CALLERS).map(|caller| {
            let request = try_of(&game, caller, round);
            let mut games = nodes[caller % nodes.len()].games();
            tokio::spawn(async move { games.make_move(request).await })
        });
        let mut accepted = Vec::new();
        for tried in tries.collect::<Vec<_>>() {
            match tried.await.unwrap() {
                Ok(answer) => accepted.push(answer.into_inner().event.unwrap()),
                Err(status) => {
                    let refused = Refused::of(&status);
                    refused.with("STALE_SEQ").meta("expected_seq", game.head).meta("head_seq", game.head + 1);
                }
            }
        }
        assert_eq!(accepted.len(), 1, "round {round}");
        assert_eq!(accepted[0].seq, game.head + 1);
        game.sees(accepted.pop().unwrap());
    }
    for node in nodes {
        assert_eq!(node.get(&game.id).await.seq, u64::from(ROUNDS) + 1);
    }
}

fn try_of(game: &PlayedGame, caller: usize, round: u32) -> MakeMoveRequest {
    let column =
        if caller < 26 { char::from(b'a' + caller as u8).to_string() } else { format!("a{}", char::from(b'a' + caller as u8 - 26)) };
    MakeMoveRequest { action: Some(notated(&format!("{column}{}", round + 1))), ..game.asks("") }
}
