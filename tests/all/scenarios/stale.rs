//! B: stale state, silent refusal.

use plybook_core::entry::read_format_1;
use plybook_proto::v1;
use plybook_proto::v1::action::Shape;
use plybook_tests::node::{self, Node};
use plybook_tests::refused::Refused;
use plybook_tests::wire::{Opening, PlayedGame};

use super::{file_node, two_nodes};

/// Everything that a caller can see of a game.
async fn all_of(game: &PlayedGame) -> (v1::Game, String) {
    (game.now().await, game.wire.book(&game.id).await)
}

/// A refused move says why, and where the game stands.
async fn refused_with(game: &PlayedGame, notation: &str, rule: &str) {
    let before = all_of(game).await;
    let refused = game.refuses(notation).await;
    refused.with("ILLEGAL_MOVE").meta("rule", rule).meta("head_seq", game.head);
    assert!(!refused.message.is_empty(), "and in words");
    assert_eq!(all_of(game).await, before, "{notation} changed something");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_10_an_illegal_move_comes_back_with_code_reason_and_head() {
    let (_folder, node) = file_node();
    let wire = node.wire().await;
    let mut grid = wire.game().mnk(3, 3, 3).await;
    grid.play("b2").await;
    refused_with(&grid, "b2", "CELL_OCCUPIED").await;
    let mut columns = wire.game().connect_four(2, 3, 2).await;
    columns.play("1 1").await;
    refused_with(&columns, "1", "COLUMN_FULL").await;
    let mut popping = wire.game().connect_four(4, 4, 4).with("pop_out", true).await;
    popping.play("1 2").await;
    refused_with(&popping, "2^", "NOT_YOUR_PIECE").await;
    refused_with(&popping, "3^", "NOT_YOUR_PIECE").await;
    let turning = wire.game().of("othello").await;
    refused_with(&turning, "a1", "NO_CAPTURE").await;
    refused_with(&turning, "d4", "CELL_OCCUPIED").await;
    // What is no action of the game at all is told apart, with the shapes that are.
    let track = wire.game().of("snakes_and_ladders").await;
    for (game, notation, accepted) in [(&grid, "d4", "place,notation"), (&columns, "9", "drop,notation"), (&track, "b2", "roll,notation")] {
        let before = all_of(game).await;
        let refused = game.refuses(notation).await;
        refused.with("INVALID_ACTION");
        let told = &refused.metadata["accepted"];
        assert!(told == accepted || format!("{told},notation") == accepted, "{told}");
        assert_eq!(all_of(game).await, before);
    }
}

/// A client that saw entry `head` and no more sends what it decided; it is told what it missed, reads
/// that, and goes on.
async fn catches_up(stale: &mut PlayedGame, notation: &str, missed: &[v1::Event]) -> v1::Event {
    let refused = stale.refuses(notation).await;
    let head = missed.last().unwrap().seq;
    refused.with("STALE_SEQ").meta("expected_seq", stale.head).meta("head_seq", head);
    for event in missed {
        refused.meta(&format!("missed_{}", event.seq), &event.line);
        let entry = read_format_1(&refused.metadata[&format!("missed_{}", event.seq)]).unwrap();
        assert_eq!(u64::from(entry.seq.0), event.seq);
        stale.to_move = entry.next_seat().map(|seat| seat.0.into());
    }
    // A stream from where it stood tells the same.
    let mut watching = stale.wire.follow(&stale.id).after(stale.head).until_head().open().await;
    for event in missed {
        assert_eq!(&watching.event().await, event);
    }
    stale.head = head;
    stale.play(notation).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_11_when_every_node_was_killed_a_stale_client_catches_up_and_moves() {
    let mut pair = two_nodes().await;
    let [a, _] = pair.wires().await;
    let mut first = a.game().of("gomoku").await;
    let mut second = first.clone();
    for round in 1..=4 {
        // The first client sees only its own move, the second also the answer; then all nodes die.
        first.play(&format!("a{round}")).await;
        second = second.through(&first.wire);
        let seen = first.clone();
        second.looks().await;
        let answer = second.play(&format!("b{round}")).await;
        pair.replace();
        let wires = pair.wires().await;
        let mut stale = seen.through(&wires[round % 2]);
        let moved = catches_up(&mut stale, &format!("c{round}"), std::slice::from_ref(&answer)).await;
        assert_eq!(moved.seq, answer.seq + 1);
        second = stale.through(&wires[1 - round % 2]);
        second.play(&format!("d{round}")).await;
        first = second.through(&wires[0]);
    }
    assert_eq!(first.wire.proves(&first.id).await.head().seq.0, 17);
}

/// The same with the embedded store, which has one node.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_11_a_killed_node_over_a_file_comes_back_with_every_acknowledged_move() {
    let (folder, mut node) = file_node();
    let mut game = node.wire().await.game().of("gomoku").await;
    for row in 1..=6 {
        let asks = game.asks(&format!("a{row}"));
        let event = game.does(asks.clone()).await;
        node.kill();
        node = node::over(folder.path().join("books.db").to_str().unwrap()).start();
        game = game.through(&node.wire().await);
        // What the dead node had acknowledged is there, and is answered as before.
        assert_eq!(game.wire.sends(asks).await.unwrap().event(), event);
        assert_eq!(game.now().await.seq, game.head);
    }
    game.wire.proves(&game.id).await;
}

/// A node that is stopped, not dead: others go on, and when it wakes up it believes nothing of old.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_11_a_node_that_slept_through_the_game_is_not_believed() {
    let pair = two_nodes().await;
    let [a, b] = pair.wires().await;
    let mut game = a.game().of("gomoku").await;
    game.play("a1 b1").await;
    let mut stale = game.clone();
    pair.nodes[0].signal("STOP");
    let mut there = game.through(&b);
    let missed = [there.play("a2").await, there.play("b2").await];
    pair.nodes[0].signal("CONT");
    catches_up(&mut stale, "a3", &missed).await;
    b.proves(&game.id).await;
}

async fn not_on_turn(node: &Node, opening: impl Fn(&plybook_tests::wire::Wire) -> Opening, seats: u32, moves: &[&str]) {
    let wire = node.wire().await;
    let mut game = opening(&wire).await;
    for (turn, notation) in moves.iter().enumerate() {
        let to_move = turn as u32 % seats;
        assert_eq!(game.to_move, Some(to_move));
        for other in (0..seats).filter(|seat| *seat != to_move) {
            let refused = game.refuses_seat(other, notation).await;
            refused.with("NOT_YOUR_TURN").meta("seat_to_move", to_move).meta("head_seq", game.head).only(&["head_seq", "seat_to_move"]);
        }
        game.refuses_seat(seats, notation).await.with("INVALID_PARAMETER");
        game.play(notation).await;
    }
    assert_eq!(game.now().await.seq, 1 + moves.len() as u64);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_13_a_seat_that_is_not_on_turn_is_told_whose_turn_it_is() {
    let (_folder, node) = file_node();
    not_on_turn(&node, |wire| wire.game().of("gomoku"), 2, &["h8", "i8", "h9", "i9"]).await;
    not_on_turn(&node, |wire| wire.game().mnk(6, 6, 6).seats(5), 5, &["a1", "b1", "c1", "d1", "e1", "f1"]).await;
    not_on_turn(&node, |wire| wire.game().connect_four(6, 7, 4).seats(3), 3, &["1", "2", "3", "4"]).await;
    not_on_turn(&node, |wire| wire.game().of("snakes_and_ladders").seats(4), 4, &["roll"; 6]).await;
}

/// A player that decides on an old board cannot move twice, whether or not it is on turn again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_13_a_move_decided_on_an_old_board_is_stale_even_on_ones_own_turn() {
    let pair = two_nodes().await;
    let [a, b] = pair.wires().await;
    let mut game = a.game().of("gomoku").await;
    let old = game.clone();
    game.play("a1 b1").await;
    assert_eq!(game.to_move, Some(0));
    for wire in [&a, &b] {
        old.through(wire).refuses("c1").await.with("STALE_SEQ").meta("head_seq", 3);
        // A board from the future is as wrong as one from the past.
        let future = PlayedGame { head: 9, ..game.through(wire) };
        Refused::by(wire.sends(future.asks("c1")).await).with("STALE_SEQ").meta("head_seq", 3);
    }
    assert_eq!(game.now().await.seq, 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_14_a_refused_move_is_no_pass() {
    let pair = two_nodes().await;
    let [a, b] = pair.wires().await;
    let mut game = a.game().mnk(5, 5, 5).await;
    for (turn, cell) in ["a1", "b1", "c1", "d1", "e1"].into_iter().enumerate() {
        let seat = game.to_move.unwrap();
        game.play(cell).await;
        for wire in [&a, &b] {
            let game = game.through(wire);
            game.refuses(cell).await.with("ILLEGAL_MOVE").meta("rule", "CELL_OCCUPIED");
            game.refuses("z9").await.with("INVALID_ACTION");
            game.refuses("").await.with("INVALID_ACTION");
            game.refuses("pass").await.with("INVALID_ACTION");
            for shape in [Shape::Roll(v1::Roll {}), Shape::Drop(v1::Drop { column: 0 }), Shape::Place(v1::Place { cell: 25 })] {
                let asks = v1::MakeMoveRequest { action: Some(v1::Action { shape: Some(shape) }), ..game.asks("a1") };
                let refused = Refused::by(wire.sends(asks).await);
                assert!(["INVALID_ACTION", "ILLEGAL_MOVE"].contains(&refused.reason.as_str()), "{refused:?}");
            }
            let now = game.now().await;
            assert_eq!((now.seq, now.seat_to_move), (2 + turn as u64, Some(1 - seat)), "the turn stays where it was");
        }
    }
    b.proves(&game.id).await;
}
