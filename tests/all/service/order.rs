//! The order of checks: of two things wrong with a request, the refusal names the earlier.

use plybook_proto::v1::{self, MakeMoveRequest, UndoBy};
use plybook_tests::injected::over_sqlite;
use plybook_tests::wire::{PlayedGame, fresh};

/// What may be wrong with a move, in the documented order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Wrong {
    Shape,
    RequestId,
    Exists,
    Finished,
    Expected,
    Turn,
    Legality,
}

impl Wrong {
    const ALL: [Wrong; 7] = [Wrong::Shape, Wrong::RequestId, Wrong::Exists, Wrong::Finished, Wrong::Expected, Wrong::Turn, Wrong::Legality];

    const fn reason(self) -> &'static str {
        match self {
            Wrong::Shape => "INVALID_PARAMETER",
            Wrong::RequestId => "REQUEST_ID_REUSED",
            Wrong::Exists => "GAME_NOT_FOUND",
            Wrong::Finished => "GAME_FINISHED",
            Wrong::Expected => "STALE_SEQ",
            Wrong::Turn => "NOT_YOUR_TURN",
            Wrong::Legality => "ILLEGAL_MOVE",
        }
    }
}

/// A game after "a1", and one that is over, each with the id of a request that it has answered.
struct Games {
    active: (PlayedGame, String),
    finished: (PlayedGame, String),
}

impl Games {
    /// A move with which these things are wrong.
    fn request(&self, wrong: &[Wrong]) -> MakeMoveRequest {
        let is = |what| wrong.contains(&what);
        let (game, used) = if is(Wrong::Finished) { &self.finished } else { &self.active };
        let mut request = game.asks(if is(Wrong::Legality) { "a1" } else { "c1" });
        if is(Wrong::Turn) {
            request.seat = Some(0);
        }
        if is(Wrong::Expected) {
            request.expected_seq = Some(1);
        }
        if is(Wrong::Exists) {
            request.game_id = fresh();
        }
        if is(Wrong::RequestId) {
            request.request_id.clone_from(used);
        }
        match () {
            () if !is(Wrong::Shape) => {}
            // Each in another field than the other fault's.
            () if is(Wrong::Turn) => request.action = None,
            () => request.seat = None,
        }
        request
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_earlier_check_speaks() {
    let local = over_sqlite().await.start().await;
    let wire = local.wire().await;
    let mut games = Vec::new();
    for moves in ["", "b1 a2 b2 a3"] {
        let mut game = wire.game().undo(UndoBy::Free).await;
        let first = game.asks("a1");
        game.sends(first.clone()).await.unwrap();
        game.play(moves).await;
        games.push((game, first.request_id));
    }
    let finished = games.pop().unwrap();
    let games = Games { active: games.pop().unwrap(), finished };

    for wrong in Wrong::ALL {
        let refused = games.active.0.refuses_move(games.request(&[wrong])).await;
        refused.with(wrong.reason());
    }
    for earlier in Wrong::ALL {
        for later in Wrong::ALL.into_iter().filter(|later| earlier < *later) {
            if (earlier, later) == (Wrong::RequestId, Wrong::Exists) {
                // A request id belongs to a game: where there is none, none was used.
                continue;
            }
            let refused = games.active.0.refuses_move(games.request(&[earlier, later])).await;
            assert_eq!(refused.reason, earlier.reason(), "{earlier:?} and {later:?}: {refused:?}");
        }
    }
}

/// The same of an answer to an offer, which is nobody's turn; its legality is the offer's to say.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_earlier_check_speaks_of_offers_too() {
    let local = over_sqlite().await.start().await;
    let wire = local.wire().await;
    let mut games = Vec::new();
    for ends in [false, true] {
        let mut game = wire.game().mnk(5, 5, 5).undo(UndoBy::Agreement).await;
        let first = game.asks("a1");
        game.sends(first.clone()).await.unwrap();
        if ends {
            game.acts(game.resigning(0)).await;
        } else {
            game.acts(game.offering_undo(0, 2)).await;
        }
        games.push((game, first.request_id));
    }
    let request = |wrong: &[Wrong]| {
        let is = |what| wrong.contains(&what);
        let (game, used) = &games[usize::from(is(Wrong::Finished))];
        let target = if is(Wrong::Legality) { 1 } else { 2 };
        let mut live = game.answering_undo(1, target, v1::OfferAnswer::Accept);
        if is(Wrong::Expected) {
            live = live.expecting(Some(1));
        }
        if is(Wrong::Exists) {
            live = live.game(&fresh());
        }
        if is(Wrong::RequestId) {
            live = live.id(used);
        }
        if is(Wrong::Shape) { live.seat(None) } else { live }
    };
    let checks: Vec<Wrong> = Wrong::ALL.into_iter().filter(|wrong| *wrong != Wrong::Turn).collect();
    for earlier in &checks {
        for later in checks.iter().filter(|later| earlier <= *later) {
            if (*earlier, *later) == (Wrong::RequestId, Wrong::Exists) {
                continue;
            }
            let refused = games[0].0.refuses_act(request(&[*earlier, *later])).await;
            let reason = if *earlier == Wrong::Legality { "OFFER_NOT_ALLOWED" } else { earlier.reason() };
            assert_eq!(refused.reason, reason, "{earlier:?} and {later:?}: {refused:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_move_may_not_have_the_id_of_its_games_creation() {
    let local = over_sqlite().await.start().await;
    let wire = local.wire().await;
    let opening = wire.game();
    let id = opening.request.request_id.clone();
    let mut game = opening.await;
    game.play("a1").await;
    let late = MakeMoveRequest { request_id: id.clone(), expected_seq: Some(1), ..game.asks("a1") };
    game.refuses_move(late.clone()).await.with("REQUEST_ID_REUSED").meta("original_seq", 1);
    let cold = local.restarted().await;
    game.through(&cold.wire().await).refuses_move(late).await.with("REQUEST_ID_REUSED").meta("original_seq", 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_retried_winning_move_is_answered_as_the_first_time() {
    let local = over_sqlite().await.start().await;
    let mut game = local.wire().await.game().await;
    game.play("a1 b1 a2 b2").await;
    let winning = MakeMoveRequest { with_position: true, ..game.asks("a3") };
    let first = game.wire.games().make_move(winning.clone()).await.unwrap().into_inner();
    assert!(first.event.as_ref().unwrap().outcome.is_some());
    let second = game.wire.games().make_move(winning.clone()).await.unwrap().into_inner();
    assert_eq!(second, first);
    let cold = local.restarted().await;
    let third = cold.wire().await.games().make_move(winning).await.unwrap().into_inner();
    assert_eq!(third, first);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_retried_old_move_is_answered_with_the_position_of_then() {
    let local = over_sqlite().await.start().await;
    let mut game = local.wire().await.game().await;
    let asked = MakeMoveRequest { with_position: true, ..game.asks("a1") };
    let first = game.wire.games().make_move(asked.clone()).await.unwrap().into_inner();
    game.sees(first.event.clone().unwrap());
    game.play("b1 a2").await;
    let again = game.wire.games().make_move(asked).await.unwrap().into_inner();
    assert_eq!(again, first);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_retried_creation_is_answered_as_the_first_time() {
    let local = over_sqlite().await.start().await;
    let wire = local.wire().await;
    let request = wire.game().request;
    let create = |wire: plybook_tests::wire::Wire| {
        let request = request.clone();
        async move { wire.games().create_game(request).await.unwrap().into_inner() }
    };
    let first = create(wire.clone()).await;
    wire.open(&first.game.as_ref().unwrap().game_id).await.play("a1").await;
    assert_eq!(create(wire).await, first);
    let cold = local.restarted().await;
    assert_eq!(create(cold.wire().await).await, first);
}
