//! K: rules, as a client over the wire sees them; every rule in every direction is asked of the
//! library in `rules/scenarios.rs`.

use plybook_proto::v1;
use plybook_proto::v1::param_value::Value;
use plybook_tests::deal::Deal;
use plybook_tests::random::Random;
use plybook_tests::wire::{PlayedGame, Wire};

use super::{file_node, two_nodes};

fn outcome(event: &v1::Event) -> (Vec<u32>, &str) {
    let outcome = event.outcome.as_ref().expect("the game is over");
    (outcome.winners.clone(), &outcome.reason)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_77_a_win_on_the_last_cell_is_a_win_on_every_node() {
    let pair = two_nodes().await;
    let wires = pair.wires().await;
    let last = wires[0].game().await.play("a1 a3 c3 c1 b3 b1 a2 c2 b2").await;
    assert_eq!((outcome(&last), last.outcome.as_ref().unwrap().cells.len()), ((vec![0], "line"), 3));
    let draw = wires[1].game().await.play("a1 b2 c3 b1 b3 a3 c1 c2 a2").await;
    assert_eq!(outcome(&draw), (vec![], "board_full"));
    // And on 7×6, for a game that fills the board with a line on its last disc.
    let moves = full_board_with_a_line();
    let mut game = wires[0].game().connect_four(6, 7, 4).await;
    for (turn, column) in moves.iter().enumerate() {
        game = game.through(&wires[turn % 2]);
        let event = game.play(column).await;
        assert_eq!(event.outcome.is_some(), turn == 41);
    }
    for wire in &wires {
        let told = wire.get(&game.id).await;
        assert_eq!((told.outcome.unwrap().reason.as_str(), told.state), ("line", v1::GameState::Closed.into()));
    }
}

fn full_board_with_a_line() -> Vec<String> {
    let (deal, mut random) = (Deal::of("connect_four"), Random::new(77));
    loop {
        let (mut play, mut moves) = (deal.play(), Vec::new());
        while let Some((action, _)) = random.action(&play) {
            moves.push(play.rules().write_action(action));
            play.play(action, &[]).unwrap();
        }
        if moves.len() == 42 && !play.position().outcome().unwrap().lines.is_empty() {
            return moves;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_79_which_lines_count_stands_in_the_options_of_every_game() {
    const SIX: &str = "a1 a9 b1 c9 c1 e9 e1 g9 f1 i9 d1";
    let (_folder, node) = file_node();
    let wire = node.wire().await;
    let word = |game: &v1::Game, name: &str| match game.ruleset.as_ref().unwrap().params[name].value.clone() {
        Some(Value::StringValue(word)) => word,
        other => panic!("{name} is {other:?}"),
    };
    let mut given: PlayedGame = wire.game().of("gomoku").with("size", 9).await;
    assert_eq!(word(&given.now().await, "rule"), "freestyle", "a default is written down");
    assert_eq!(outcome(&given.play(SIX).await), (vec![0], "line"));
    let mut exact = wire.game().of("gomoku").with("size", 9).with("rule", "standard").await;
    assert_eq!(word(&exact.now().await, "rule"), "standard");
    assert!(exact.play(SIX).await.outcome.is_none(), "six are not five");
    assert!(wire.book(&exact.id).await.contains("\nparam rule \"standard\"\n"));
    let mut gap = wire.game().of("gomoku").with("size", 9).with("rule", "standard").await;
    let joined = gap.play("a1 a9 b1 c9 c1 e9 e1 g9 d1").await;
    assert_eq!((outcome(&joined), joined.outcome.as_ref().unwrap().cells.len()), ((vec![0], "line"), 5));
}

async fn four_up(wire: &Wire, column: u32) {
    let other = if column == 7 { 1 } else { column + 1 };
    let mut game = wire.game().connect_four(6, 7, 4).await;
    let last = game.play(&format!("{column} {other} {column} {other} {column} {other} {column}")).await;
    let cells = (2..=5).map(|row| row * 7 + column - 1).collect::<Vec<_>>();
    let mut told = last.outcome.clone().unwrap().cells;
    told.sort_unstable();
    assert_eq!((outcome(&last).0, told), (vec![0], cells), "column {column}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_80_a_vertical_four_wins_in_every_column_over_the_wire() {
    let (_folder, node) = file_node();
    let wire = node.wire().await;
    for column in 1..=7 {
        four_up(&wire, column).await;
    }
}
