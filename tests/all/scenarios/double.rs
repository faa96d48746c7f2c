//! A: double, lost and racing moves.

use plybook_proto::v1::{self, UndoBy};
use plybook_tests::asks::{Answer, Asks};
use plybook_tests::deal::Deal;
use plybook_tests::proxy::Proxy;
use plybook_tests::refused::Refused;
use plybook_tests::wire::{PlayedGame, Wire, fresh};

use super::{JUMPS, Pair, at_once, file_node, made, random_moves, two_nodes, until};

/// One was accepted as the next entry; every other was told so, with that entry.
fn one_of(answers: Vec<Result<Answer, tonic::Status>>, next: u64) -> v1::Event {
    let (won, lost): (Vec<_>, Vec<_>) = answers.into_iter().partition(Result::is_ok);
    assert_eq!(won.len(), 1, "exactly one is accepted: {won:?}");
    let won = won.into_iter().next().unwrap().unwrap().event();
    assert_eq!(won.seq, next);
    for answer in lost {
        let refused = Refused::by(answer);
        refused.with("STALE_SEQ").meta("expected_seq", next - 1).meta("head_seq", next).meta(&format!("missed_{next}"), &won.line);
    }
    won
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_01_of_two_moves_at_once_one_is_accepted_and_the_other_told() {
    let pair = two_nodes().await;
    let [a, b] = pair.wires().await;
    let mut game = a.game().of("gomoku").await;
    for round in 0..12 {
        let cells = [round, round + 15].map(|cell| format!("{}{}", char::from(b'a' + cell % 15), cell / 15 * 7 + 1));
        let sent = vec![(a.clone(), game.asks(&cells[0]).into()), (b.clone(), game.asks(&cells[1]).into())];
        let won = one_of(at_once(sent).await, game.head + 1);
        game.sees(won);
    }
    assert_eq!(b.proves(&game.id).await.head().seq.0, 13);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_01_of_eight_moves_at_once_on_one_node_one_is_accepted() {
    let (_folder, node) = file_node();
    let wire = node.wire().await;
    let mut game = wire.game().of("gomoku").await;
    for row in 1..=6 {
        let sent = "abcdefgh".chars().map(|col| (wire.clone(), game.asks(&format!("{col}{row}")).into())).collect();
        let won = one_of(at_once(sent).await, game.head + 1);
        game.sees(won);
    }
    wire.proves(&game.id).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_01_of_a_move_and_an_undo_at_once_one_is_accepted() {
    let pair = two_nodes().await;
    let [a, b] = pair.wires().await;
    let mut game = a.game().of("gomoku").undo(UndoBy::Free).await;
    game.play("h8").await;
    for round in 0..10 {
        let cell = format!("{}1", char::from(b'a' + round));
        let asks: [Asks; 2] = [game.asks(&cell).into(), game.asks_undo(1 - game.to_move.unwrap(), None).into()];
        let sent = vec![(a.clone(), asks[usize::from(round % 2)].clone()), (b.clone(), asks[usize::from(1 - round % 2)].clone())];
        let won = one_of(at_once(sent).await, game.head + 1);
        game.sees(won);
        if b.get(&game.id).await.position.unwrap().ply == 0 {
            game.play("h8").await;
        }
    }
    a.proves(&game.id).await;
}

/// A finished game is reopened or closed, never both.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_01_of_an_undo_and_a_close_at_once_one_is_accepted() {
    let pair = two_nodes().await;
    let [a, b] = pair.wires().await;
    for _ in 0..8 {
        let mut game = a.game().undo(UndoBy::Free).undo_after_end().await;
        game.play("a1 b1 a2 b2 a3").await;
        let sent = vec![(a.clone(), game.asks_undo(0, None).into()), (b.clone(), game.asks_close().into())];
        let (won, lost): (Vec<_>, Vec<_>) = at_once(sent).await.into_iter().partition(Result::is_ok);
        assert_eq!((won.len(), lost.len()), (1, 1));
        let won = won.into_iter().next().unwrap().unwrap().event();
        let refused = Refused::by(lost.into_iter().next().unwrap());
        match won.body {
            Some(v1::event::Body::GameClosed(_)) => refused.with("GAME_FINISHED").meta("closed", true),
            _ => refused.with("GAME_NOT_FINISHED").meta("head_seq", 7),
        };
        a.proves(&game.id).await;
    }
}

/// Fifty copies of one request through both nodes have one answer, and one effect.
async fn fifty_copies(wires: &[Wire; 2], asks: Asks) -> Answer {
    let copies = (0..50).map(|copy| (wires[copy % 2].clone(), asks.clone())).collect();
    let mut answers =
        at_once(copies).await.into_iter().map(|answer| answer.unwrap_or_else(|status| panic!("a copy is refused: {status:?}")));
    let first = answers.next().unwrap();
    answers.for_each(|answer| assert_eq!(answer, first, "every copy has the same answer"));
    first
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_02_fifty_copies_of_one_move_are_one_entry_and_the_game_still_loads() {
    let mut pair = two_nodes().await;
    let wires = pair.wires().await;
    let mut game = wires[0].game().of("gomoku").await;
    for (count, cell) in (2..).zip(["h8", "h9", "i8", "i9"]) {
        game.sees(fifty_copies(&wires, game.asks(cell).into()).await.event());
        assert_eq!(game.head, count);
    }
    let cold = pair.replaced(&game).await;
    assert_eq!(cold.wire.proves(&game.id).await.head().seq.0, 5);
    assert_eq!(cold.wire.history(&game.id).await.len(), 5);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_02_fifty_copies_of_anything_else_are_one_entry_too() {
    let mut pair = two_nodes().await;
    let wires = pair.wires().await;
    let opening = wires[0].game().players(&["fifty", "copies"]).undo(UndoBy::Free).undo_over_throw().undo_after_end();
    let created = fifty_copies(&wires, opening.request.into()).await;
    let mut game = wires[1].open(created.game_id()).await;
    assert_eq!(games_of(&wires[0], "fifty").await.len(), 1);

    game.play("a1 b1 a2 b2").await;
    game.sees(fifty_copies(&wires, game.asks("a3").into()).await.event());
    game.sees(fifty_copies(&wires, game.asks_undo(0, None).into()).await.event());
    game.play("a3").await;
    let closed = fifty_copies(&wires, game.asks_close().into()).await.event();
    assert_eq!((closed.seq, closed.revealed_seed.len()), (9, 32));

    let mut snakes = wires[0].game().snakes(100, &JUMPS).await;
    for _ in 0..5 {
        snakes.sees(fifty_copies(&wires, snakes.asks("roll").into()).await.event());
    }
    assert_eq!(snakes.head, 6);
    for game in [game, snakes] {
        let cold = pair.replaced(&game).await;
        cold.wire.proves(&game.id).await;
    }
}

async fn games_of(wire: &Wire, player: &str) -> Vec<v1::Game> {
    let request = v1::ListGamesRequest { player_id: player.to_owned(), ..Default::default() };
    wire.games().list_games(request).await.unwrap().into_inner().games
}

/// Sends through a wire that is cut after the commit and before the reply: the caller learns nothing.
async fn sent_in_vain(proxy: &Proxy, direct: &Wire, game: &PlayedGame, asks: Asks) {
    let through = Wire::lazily(&proxy.url());
    through.get(&game.id).await;
    proxy.hold_replies();
    let sending = tokio::spawn(async move { through.sends(asks).await });
    until("the entry is stored", || async { direct.get(&game.id).await.seq > game.head }).await;
    assert!(!sending.is_finished(), "the reply is held");
    proxy.cut();
    assert!(sending.await.unwrap().is_err(), "the caller does not know");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_04_a_roll_that_is_sent_again_shows_the_same_dice_and_takes_no_second_turn() {
    let pair = two_nodes().await;
    let [a, b] = pair.wires().await;
    let proxy = Proxy::to(pair.nodes[0].address()).await;
    let mut game = a.game().snakes(100, &JUMPS).await;
    for _ in 0..6 {
        let (seat, roll) = (game.to_move.unwrap(), game.asks("roll"));
        sent_in_vain(&proxy, &b, &game, roll.clone().into()).await;
        let stored = b.history(&game.id).await.pop().unwrap();
        // The same through the cut wire, the same node, the other node.
        for wire in [&Wire::lazily(&proxy.url()), &a, &b] {
            let again = wire.sends(roll.clone()).await.unwrap().event();
            assert_eq!(again, stored);
            assert_eq!(made(&again).faces.len(), 1);
        }
        game.sees(stored);
        assert_eq!(game.to_move, Some(1 - seat), "one turn was taken");
        game.refuses_seat(seat, "roll").await.with("NOT_YOUR_TURN");
        // And the same long after, when others have thrown.
        let later = game.play("roll").await;
        let again = a.sends(roll.clone()).await.unwrap().event();
        assert_eq!((again.seq, made(&again).seat), (later.seq - 1, seat));
        assert_eq!(b.get(&game.id).await.seq, game.head);
    }
    b.proves(&game.id).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_05_a_reply_lost_after_the_commit_is_found_again() {
    let pair = two_nodes().await;
    let [a, b] = pair.wires().await;
    let proxy = Proxy::to(pair.nodes[0].address()).await;
    let mut game = a.game().undo(UndoBy::Free).undo_after_end().await;
    game.play("a1 b1 a2").await;
    // A move, the winning move, its undo, the winning move again, the close.
    for step in ["b2", "a3", "undo", "a3", "close"] {
        let asks: Asks = match step {
            "undo" => game.asks_undo(0, None).into(),
            "close" => game.asks_close().into(),
            cell => game.asks(cell).into(),
        };
        sent_in_vain(&proxy, &b, &game, asks.clone()).await;
        let by_proxy = Wire::lazily(&proxy.url()).sends(asks.clone()).await.unwrap();
        let by_other = b.sends(asks).await.unwrap();
        assert_eq!(by_proxy, by_other);
        game.sees(by_proxy.event());
        assert_eq!(a.get(&game.id).await.seq, game.head, "once, not twice");
    }
    assert_eq!(b.get(&game.id).await.state(), v1::GameState::Closed);
    b.proves(&game.id).await;
}

/// Not the wire is lost but the node, after the commit and before its reply.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_05_a_node_killed_between_commit_and_reply_is_answered_for_by_another() {
    let mut pair = two_nodes().await;
    let [a, b] = pair.wires().await;
    let game = a.game().of("gomoku").await;
    let proxy = Proxy::to(pair.nodes[0].address()).await;
    let through = Wire::lazily(&proxy.url());
    through.get(&game.id).await;
    proxy.hold_replies();
    let asks = game.asks("h8");
    let sending = tokio::spawn({
        let asks = asks.clone();
        async move { through.sends(asks).await }
    });
    until("the entry is stored", || async { b.get(&game.id).await.seq == 2 }).await;
    pair.nodes.remove(0).kill();
    proxy.cut();
    assert!(sending.await.unwrap().is_err(), "the caller does not know");
    let answer = b.sends(asks).await.unwrap().event();
    assert_eq!((answer.seq, made(&answer).notation.as_str()), (2, "h8"));
    assert_eq!(b.proves(&game.id).await.head().seq.0, 2);
}

/// The client of this workspace needs nobody to retry for it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_05_the_client_finds_its_answer_by_itself() {
    let pair = two_nodes().await;
    let [a, _] = pair.wires().await;
    let proxy = Proxy::to(pair.nodes[0].address()).await;
    let client = plybook_client::Client::connect(&proxy.url()).unwrap();
    let mut game = a.game().of("gomoku").await;
    client.game(&game.id, None).await.unwrap();
    for cell in ["a1", "b1", "c1"] {
        let asks = game.asks(cell);
        proxy.hold_replies();
        let sending = tokio::spawn({
            let client = client.clone();
            async move { client.make_move(asks).await }
        });
        until("the entry is stored", || async { a.get(&game.id).await.seq > game.head }).await;
        proxy.cut();
        let event = sending.await.unwrap().unwrap().event.unwrap();
        assert_eq!(event.seq, game.head + 1);
        game.sees(event);
    }
    assert_eq!(a.get(&game.id).await.seq, 4);
}

/// Every move goes to the other node the moment that the last one is answered.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_07_the_next_move_on_another_node_is_judged_against_the_committed_head() {
    let pair = two_nodes().await;
    let wires = pair.wires().await;
    for number in 0..5 {
        let mut game = wires[0].game().connect_four(6, 7, 4).await;
        for (turn, column) in random_moves(&Deal::of("connect_four"), number).iter().enumerate() {
            let mut there = game.through(&wires[turn % 2]);
            there.play(column).await;
            // Who moved a moment ago has moved, on either node.
            game = there.through(&wires[1 - turn % 2]);
            if let Some(next) = game.to_move {
                game.refuses_seat(1 - next, "7").await.with("NOT_YOUR_TURN").meta("head_seq", game.head);
            }
        }
        assert_eq!(game.refuses("1").await.with("GAME_FINISHED").metadata["head_seq"], game.head.to_string());
        wires[1].proves(&game.id).await;
    }
    let mut game = wires[0].game().mnk(9, 9, 9).await;
    for (turn, cell) in ["a1", "b1", "c1", "d1", "e1", "f1", "g1", "h1"].into_iter().enumerate() {
        let mut there = game.through(&wires[turn % 2]);
        there.play(cell).await;
        game = there.through(&wires[1 - turn % 2]);
        game.refuses(cell).await.with("ILLEGAL_MOVE").meta("rule", "CELL_OCCUPIED").meta("head_seq", game.head);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_08_one_creation_through_two_nodes_makes_one_game() {
    let pair = two_nodes().await;
    let [a, b] = pair.wires().await;
    let proxy = Proxy::to(pair.nodes[0].address()).await;
    let slow = Wire::lazily(&proxy.url());
    slow.games().list_rulesets(v1::ListRulesetsRequest::default()).await.unwrap();
    let opening = a.game().of("gomoku").with("size", 9).players(&["eve", "bob"]);
    proxy.hold_replies();
    let first = tokio::spawn({
        let request = opening.request.clone();
        async move { slow.sends(request).await }
    });
    until("the game is stored", || async { games_of(&b, "eve").await.len() == 1 }).await;
    // The caller gave up on the first node and asks the second, which may not make another game.
    let second = b.sends(opening.request.clone()).await.unwrap();
    assert!(!first.is_finished(), "the first reply is held");
    proxy.release();
    assert_eq!(first.await.unwrap().unwrap(), second);
    assert_eq!(games_of(&a, "eve").await.len(), 1);
    other_options_are_refused(&pair, &opening.request, second.game_id()).await;
}

/// The same key with anything else in it, through either node.
async fn other_options_are_refused(pair: &Pair, request: &v1::CreateGameRequest, id: &str) {
    let wires = pair.wires().await;
    let book = wires[0].book(id).await;
    let changed = |change: &dyn Fn(&mut v1::CreateGameRequest)| {
        let mut request = request.clone();
        change(&mut request);
        request
    };
    let others = [
        changed(&|request| request.ruleset.as_mut().unwrap().params.clear()),
        changed(&|request| request.ruleset.as_mut().unwrap().version = 1),
        changed(&|request| *request = wires[0].game().of("othello").players(&["eve", "bob"]).request),
        changed(&|request| request.seats.swap(0, 1)),
        changed(&|request| request.seats[0].mark = "#".to_owned()),
        changed(&|request| request.seats[1].player_id = "mallory".to_owned()),
        changed(&|request| request.undo_policy = Some(v1::UndoPolicy { by: UndoBy::Free.into(), ..Default::default() })),
        changed(&|request| request.seed = vec![1; 32]),
    ];
    for (number, mut other) in others.into_iter().enumerate() {
        other.request_id.clone_from(&request.request_id);
        let refused = Refused::by(wires[number % 2].sends(other).await);
        refused.with("REQUEST_ID_REUSED").meta("original_game_id", id);
    }
    assert_eq!(wires[1].book(id).await, book, "the first game is untouched");
    for player in ["eve", "bob"] {
        assert_eq!(games_of(&wires[0], player).await.len(), 1);
    }
    assert!(games_of(&wires[0], "mallory").await.is_empty());
    // A key belongs to its creation alone: a game may know it as a move's.
    let mut game = wires[0].open(id).await;
    let asks = v1::MakeMoveRequest { request_id: request.request_id.clone(), ..game.asks("a1") };
    Refused::by(wires[1].sends(asks).await).with("REQUEST_ID_REUSED").meta("original_seq", 1);
    game.does(v1::MakeMoveRequest { request_id: fresh(), ..game.asks("a1") }).await;
}
