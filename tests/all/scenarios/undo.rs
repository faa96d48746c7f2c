//! C: undo and takeback.

use plybook_core::Seq;
use plybook_proto::v1::{self, UndoBy};
use plybook_rulesets::Registry;
use plybook_tests::deal::Deal;
use plybook_tests::held::Held;
use plybook_tests::injected::{Call, Fault, over_postgres, over_sqlite};
use plybook_tests::postgres;
use plybook_tests::random::Random;
use plybook_tests::refused::Refused;
use plybook_tests::table::fold;
use plybook_tests::wire::{Opening, PlayedGame, Wire, fresh};

use super::{JUMPS, file_node, random_moves, two_nodes, until};

fn free(opening: Opening) -> Opening {
    opening.undo(UndoBy::Free).undo_over_throw().undo_after_end()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_16_a_seat_takes_back_its_own_last_move() {
    let (_folder, node) = file_node();
    let wire = node.wire().await;
    // Nobody else is there to answer.
    let mut alone = wire.game().snakes(100, &JUMPS).seats(1).undo_over_throw().await;
    alone.play("roll roll").await;
    let at_three = alone.digest().await;
    alone.play("roll").await;
    alone.undo(0).await;
    assert_eq!(alone.digest().await, at_three);
    alone.undo(0).await;
    alone.undo(0).await;
    alone.refuses_undo(alone.asks_undo(0, None)).await.with("NOTHING_TO_UNDO");

    // Until another seat has answered.
    let mut two = wire.game().of("gomoku").await;
    two.play("h8").await;
    two.refuses_undo(two.asks_undo(1, None)).await.with("NOTHING_TO_UNDO");
    two.undo(0).await;
    two.play("h8 i8").await;
    let refused = two.refuses_undo(two.asks_undo(0, None)).await;
    refused.with("UNDO_NOT_ALLOWED").meta("cause", "NOT_YOUR_MOVE");
    two.undo(1).await;
    two.undo(0).await;
    assert_eq!(two.now().await.position.unwrap().ply, 0);
}

/// Where the other seat was skipped, both of the mover's last moves are its own.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_16_two_moves_in_a_row_are_both_ones_own() {
    let (_folder, node) = file_node();
    let mut found = 0;
    for number in 0..60 {
        let mut game = node.wire().await.game().of("othello").with("size", 6).await;
        let mut last = None;
        for notation in random_moves(&Deal::of("othello").with("size", 6), number) {
            let mover = game.to_move.unwrap();
            if last == Some(mover) {
                game.play(&notation).await;
                if game.to_move.is_none() {
                    break;
                }
                let taken = game.takes_back(mover, game.head - 1).await;
                let Some(v1::event::Body::MoveUndone(undone)) = taken.body else { panic!("not an undo") };
                assert_eq!((undone.seat, undone.next_seat), (Some(mover), mover));
                found += 1;
                break;
            }
            game.play(&notation).await;
            last = Some(mover);
        }
        game.wire.proves(&game.id).await;
        if found == 2 {
            return;
        }
    }
    panic!("Othello skipped a seat in {found} games only");
}

/// Moves and undos at random, on two nodes in turn; at every entry the book and GetGame are one.
async fn replay_is_live(wires: &[Wire; 2], opening: Opening, random: &mut Random) {
    let mut game = free(opening).await;
    let mut standing: Vec<u64> = Vec::new();
    while game.head < 60 {
        game = game.through(&wires[random.below(2) as usize]);
        let over = game.to_move.is_none();
        if !standing.is_empty() && (over || random.once_in(3)) {
            let at = standing.len() - 1 - random.below(standing.len().min(3) as u64) as usize;
            game.takes_back(random.below(2) as u32, standing[at]).await;
            standing.truncate(at);
            continue;
        }
        let request = v1::ListLegalActionsRequest { game_id: game.id.clone(), ..Default::default() };
        let legal = game.wire.games().list_legal_actions(request).await.unwrap().into_inner().actions;
        standing.push(game.play(&random.pick(&legal).notation).await.seq);
    }
    let file = wires[0].book(&game.id).await;
    let mut digests = Vec::new();
    fold(&Registry::standard(), &file, |seq, game| digests.push((seq, game.position_digest())));
    for (Seq(seq), digest) in digests {
        let told = wires[seq as usize % 2].try_get(&game.id, Some(u64::from(seq))).await.unwrap();
        assert_eq!(told.position.unwrap().position_digest, digest.0, "entry {seq}");
    }
    wires[1].proves(&game.id).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_17_and_25_after_undos_a_replay_is_the_live_game_at_every_entry() {
    let pair = two_nodes().await;
    let wires = pair.wires().await;
    let mut random = Random::new(17);
    for _ in 0..2 {
        replay_is_live(&wires, wires[0].game().mnk(3, 3, 3), &mut random).await;
        replay_is_live(&wires, wires[0].game().of("gomoku"), &mut random).await;
        replay_is_live(&wires, wires[0].game().connect_four(4, 4, 3).with("pop_out", true), &mut random).await;
        replay_is_live(&wires, wires[0].game().of("othello").with("size", 4), &mut random).await;
        replay_is_live(&wires, wires[0].game().snakes(100, &JUMPS), &mut random).await;
    }
}

/// That a move was taken back, by whom and who moves now, is told to everybody; of offers `service/offers.rs` holds it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_22_an_undo_is_told_on_every_stream() {
    let pair = two_nodes().await;
    let wires = pair.wires().await;
    let mut game = free(wires[0].game().of("gomoku")).await;
    let mut streams = Vec::new();
    for number in 0..4 {
        let mut watching = wires[number % 2].follow(&game.id).open().await;
        watching.history().await;
        streams.push(watching);
    }
    game.play("h8 i8").await;
    let taken = game.takes_back(1, 2).await;
    for watching in &mut streams {
        for seq in 2..=3 {
            assert_eq!(watching.event().await.seq, seq);
        }
        let told = watching.event().await;
        assert_eq!(told, taken);
        let Some(v1::event::Body::MoveUndone(undone)) = told.body else { panic!("not an undo") };
        assert_eq!((undone.seat, undone.undone_seq, undone.next_seat, undone.ply), (Some(1), 2, 0, 0));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_23_undo_goes_down_to_the_start_one_move_at_a_time() {
    let pair = two_nodes().await;
    let wires = pair.wires().await;
    let mut game = free(wires[0].game().of("othello")).await;
    let mut digests = vec![game.digest().await];
    let moves: Vec<String> = random_moves(&Deal::of("othello"), 23).into_iter().take(30).collect();
    for notation in &moves {
        game.play(notation).await;
        digests.push(game.digest().await);
    }
    for (turn, taken) in (2..=game.head).rev().enumerate() {
        game = game.through(&wires[turn % 2]);
        let event = game.takes_back(turn as u32 % 2, taken).await;
        digests.pop();
        assert_eq!(event.seq, 32 + turn as u64, "an undo is one entry");
        assert_eq!(game.digest().await, *digests.last().unwrap(), "after {} undos", turn + 1);
    }
    game.refuses_undo(game.asks_undo(0, None)).await.with("NOTHING_TO_UNDO");
    assert_eq!(wires[0].proves(&game.id).await.head().seq.0, 61);
    // All of it played again comes to the same.
    game.play(&moves.join(" ")).await;
    assert_eq!(wires[1].proves(&game.id).await.position().ply(), 30);
}

/// Whatever goes wrong in the database while an undo is written: it is refused with a type, nothing
/// changes, and the same request succeeds later.
async fn undo_survives(wire: &Wire, fault: impl AsyncFn(&PlayedGame, v1::UndoRequest)) {
    let mut game = free(wire.game().of("gomoku")).await;
    game.play("h8 i8 h9").await;
    let before = (game.now().await, wire.book(&game.id).await);
    let asks = game.asks_undo(0, Some(3));
    fault(&game, asks.clone()).await;
    assert_eq!((game.now().await, wire.book(&game.id).await), before, "nothing changed");
    let event = game.does(asks).await;
    assert_eq!((event.seq, game.to_move), (5, Some(1)));
    game.play("i8 h9").await;
    wire.proves(&game.id).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_23_an_injected_database_error_leaves_an_undo_undone() {
    let database = postgres::database().await;
    for local in [over_sqlite().await.start().await, over_postgres(&database).await.start().await] {
        let wire = local.wire().await;
        for (fault, reason) in [(Fault::Away, "STORE_UNAVAILABLE"), (Fault::Failed, "INTERNAL"), (Fault::Panic, "INTERNAL")] {
            undo_survives(&wire, async |game, asks| {
                local.store.breaks(Call::Append, fault);
                game.refuses_undo(asks).await.with(reason);
                local.store.mends();
            })
            .await;
        }
        // Written, and the answer lost: the same request finds its entry, and the node that was told
        // nothing goes on from it.
        let mut game = free(wire.game().of("gomoku")).await;
        game.play("h8 i8 h9").await;
        let asks = game.asks_undo(0, Some(3));
        local.store.breaks(Call::Append, Fault::LosesReply);
        game.refuses_undo(asks.clone()).await.with("STORE_UNAVAILABLE").later();
        local.store.mends();
        game.refuses_undo(v1::UndoRequest { request_id: fresh(), ..asks.clone() }).await.with("STALE_SEQ").meta("head_seq", 5);
        let event = game.does(asks).await;
        assert_eq!(event.seq, 5);
        game.play("j9").await;
        wire.proves(&game.id).await;
    }
}

/// A real error: the database ends the session that is about to write.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_23_a_session_that_the_database_ends_leaves_an_undo_undone() {
    let pair = two_nodes().await;
    let [a, _] = pair.wires().await;
    undo_survives(&a, async |game, asks| {
        let held = Held::before_entry(&pair.database, &game.id, game.head + 1).await;
        let wire = game.wire.clone();
        let sending = tokio::spawn(async move { wire.sends(asks).await });
        let waiting = "SELECT pid::text FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
        until("the append waits", async || sending.is_finished() || !pair.database.column(waiting).await.is_empty()).await;
        pair.database
            .column(
                "SELECT pg_terminate_backend(pid)::text FROM pg_stat_activity
                 WHERE datname = current_database() AND wait_event_type = 'Lock'",
            )
            .await;
        Refused::by(sending.await.unwrap()).with("STORE_UNAVAILABLE").later();
        held.release().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_26_two_undos_leave_one_disc_and_the_right_side_to_move() {
    let pair = two_nodes().await;
    let [a, b] = pair.wires().await;
    for at_once in [true, false] {
        let mut game = free(a.game().connect_four(6, 7, 4)).await;
        game.play("4 4 5").await;
        let mut there = game.through(&b);
        if at_once {
            there.takes_back(1, 3).await;
        } else {
            there.takes_back(0, 4).await;
            there.takes_back(1, 3).await;
        }
        for wire in [&a, &b] {
            let now = wire.get(&game.id).await;
            let cells = now.position.unwrap().cells;
            assert_eq!((cells.len(), cells[0].cell, now.seat_to_move), (1, 38, Some(1)));
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_28_played_taken_back_and_played_again_is_the_straight_game() {
    let pair = two_nodes().await;
    let [a, b] = pair.wires().await;
    type Opens = fn(&Wire) -> Opening;
    let openings: [(Opens, Deal); 4] = [
        (|wire| wire.game().mnk(4, 4, 3), Deal::of("mnk").with("rows", 4).with("cols", 4)),
        (|wire| small_popping(wire), Deal::of("connect_four").with("rows", 4).with("cols", 4).with("pop_out", true)),
        (|wire| wire.game().of("othello"), Deal::of("othello")),
        (|wire| wire.game().of("gomoku"), Deal::of("gomoku")),
    ];
    for (opening, deal) in openings {
        let moves = random_moves(&deal, 28);
        // The end, where there is one near, is taken back too.
        let count = moves.len().min(24);
        let mut straight = free(opening(&a)).await;
        straight.play(&moves[..count].join(" ")).await;
        for back in [1, count / 2, count] {
            let mut winding = free(opening(&a)).await;
            winding.play(&moves[..count].join(" ")).await;
            winding.takes_back(0, 2 + (count - back) as u64).await;
            winding = winding.through(&b);
            winding.play(&moves[count - back..count].join(" ")).await;
            same_position(&straight, &winding).await;
        }
    }
}

fn small_popping(wire: &Wire) -> Opening {
    wire.game().connect_four(4, 4, 4).with("pop_out", true)
}

async fn same_position(one: &PlayedGame, other: &PlayedGame) {
    let strip = |game: v1::Game| {
        let position = v1::Position { seq: 0, ..game.position.clone().unwrap() };
        (position, game.state, game.seat_to_move, game.outcome)
    };
    assert_eq!(strip(one.now().await), strip(other.now().await));
    assert_ne!(one.now().await.book_digest, other.now().await.book_digest, "the book remembers");
}
