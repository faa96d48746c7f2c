//! Leaving and ending: resigning, aborting, taking a seat out.

use plybook_proto::v1::{self, LeftBecause, UndoBy, event::Body};
use plybook_server::signing::{Keys, SigningKey};
use plybook_tests::both::on_both;
use plybook_tests::injected::{Local, over_sqlite};
use plybook_tests::live::{Live, bot};
use plybook_tests::wire::{PlayedGame, fresh};

fn left(game: &v1::Game) -> Vec<(u32, LeftBecause, u64)> {
    game.left_seats.iter().map(|left| (left.seat, left.because(), left.seq)).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_64_a_seat_resigns_on_any_turn() {
    on_both(resigning).await;
}

async fn resigning(local: &Local) {
    let wire = local.wire().await;
    for (moves, resigns) in [("", 0), ("", 1), ("a1", 0), ("a1", 1)] {
        let mut game = wire.game().await;
        game.play(moves).await;
        let asked = game.resigning(resigns);
        let event = game.acts(asked.clone()).await;
        assert_eq!(event.body, Some(Body::SeatResigned(v1::SeatResigned { seat: resigns })));
        let outcome = event.outcome.clone().unwrap();
        assert_eq!((outcome.winners.as_slice(), outcome.reason.as_str()), ([1 - resigns].as_slice(), "resigned"));
        assert_eq!((event.seat_to_move, event.revealed_seed.len()), (None, 32), "it closes the game");
        let now = game.now().await;
        assert_eq!((now.state(), left(&now)), (v1::GameState::Closed, vec![(resigns, LeftBecause::Resigned, event.seq)]));
        // Asked again, it is answered as the first time; another request with its id is told apart.
        assert_eq!(wire.asks(asked.clone()).await.unwrap().0, Some(event.clone()));
        game.refuses_act(asked.seat(Some(1 - resigns))).await.with("REQUEST_ID_REUSED").meta("original_seq", event.seq);
        game.refuses_act(game.resigning(1 - resigns)).await.with("GAME_FINISHED").meta("closed", true);
        assert_eq!(wire.history(&game.id).await.last(), Some(&event), "the stream tells the same");
        wire.proves(&game.id).await;
    }
}

/// Numbers never shift, the next seat that is left moves, and the last one wins.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn seats_leave_one_after_the_other() {
    on_both(leaving).await;
}

async fn leaving(local: &Local) {
    let wire = local.wire().await;
    let mut game = wire.game().mnk(5, 5, 4).seats(4).undo(UndoBy::Free).await;
    game.play("a1").await;
    let resigned = game.acts(game.resigning(1)).await;
    assert_eq!((resigned.seat_to_move, resigned.outcome), (Some(2), None), "it was on turn");
    let removed = game.acts(game.removing(3)).await;
    assert_eq!(removed.body, Some(Body::SeatRemoved(v1::SeatRemoved { seat: 3 })));
    assert_eq!(removed.seat_to_move, Some(2), "it was not");
    game.play("a2").await;
    assert_eq!(game.to_move, Some(0), "two seats on");
    game.play("a3 a4").await;
    // Going back across the leave, those who have left stay away.
    let undone = game.takes_back(0, 2).await;
    assert_eq!((undone.seat_to_move, game.now().await.position.unwrap().cells.len()), (Some(0), 0));
    let now = game.now().await;
    assert_eq!(left(&now), vec![(1, LeftBecause::Resigned, 3), (3, LeftBecause::Removed, 4)]);
    game.refuses_seat(1, "b1").await.with("SEAT_LEFT").meta("seat", 1);
    game.play("b1").await;
    assert_eq!(game.to_move, Some(2));
    let last = game.acts(game.removing(0)).await.outcome.unwrap();
    assert_eq!((last.winners, last.reason), (vec![2], "removed".to_owned()));
    wire.proves(&game.id).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_seat_aborts_early_and_the_caller_at_any_time() {
    on_both(aborting).await;
}

async fn aborting(local: &Local) {
    let wire = local.wire().await;
    let mut early = wire.game().await;
    early.play("a1").await;
    let event = early.acts(early.aborting(Some(1))).await;
    assert_eq!(event.body, Some(Body::GameAborted(v1::GameAborted { seat: Some(1) })), "who did stands in the entry");
    let outcome = event.outcome.unwrap();
    assert!(outcome.no_result && outcome.winners.is_empty() && outcome.reason == "aborted");
    assert_eq!(early.now().await.state(), v1::GameState::Closed);

    let mut later = wire.game().terms(|terms| terms.abort_before_plies = Some(3)).await;
    later.play("a1 b1").await;
    later.clone().acts(later.aborting(Some(0))).await;
    let mut never = wire.game().terms(|terms| terms.abort_before_plies = Some(0)).await;
    never.refuses_act(never.aborting(Some(0))).await.with("ABORT_NOT_ALLOWED").meta("before_plies", 0);
    never.play("a1 b1 a2 b2").await;
    let event = never.acts(never.aborting(None)).await;
    assert_eq!(event.body, Some(Body::GameAborted(v1::GameAborted { seat: None })));
    // Also while seats have yet to join.
    let mut waiting = wire.game().of("snakes_and_ladders").joint(60, v1::IfAbsent::Forfeit).await;
    waiting.acts(waiting.aborting(Some(0))).await;
    assert!(waiting.now().await.outcome.unwrap().no_result);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bot_is_taken_out_like_anybody() {
    on_both(async |local: &Local| {
        let wire = local.wire().await;
        let mut game = wire.game().mnk(4, 4, 3).seats(3).bot(1, bot("random", 0)).await;
        let event = game.acts(game.removing(1)).await;
        assert_eq!((event.seat_to_move, event.outcome), (Some(0), None));
        game.play("a1").await;
        assert_eq!(game.to_move, Some(2));
        // A seat that the table has not is no seat that has left.
        for seat in [3, 20, 255, 256] {
            game.refuses_act(game.removing(seat)).await.with("INVALID_PARAMETER").field("seat", "no seat");
            game.refuses_act(game.resigning(seat)).await.with("INVALID_PARAMETER").field("seat", "no seat");
        }
    })
    .await;
}

/// Whatever appends carries a receipt: where it is asked for, and in a game whose policy says always.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_request_may_ask_for_a_receipt() {
    let key = SigningKey::from_seed(&[1; 32]).unwrap();
    let local = over_sqlite().await.keys(Keys::new(Some(key), [])).start().await;
    let wire = local.wire().await;
    let mut game = wire.game().undo(UndoBy::Agreement).absence(1_000, v1::IfAway::ClaimDraw).await;
    game.play("a1").await;
    let steps: [fn(&PlayedGame) -> Live; 6] = [
        |game| game.offering_draw(0),
        |game| game.answering_draw(1, v1::OfferAnswer::Decline),
        |game| game.offering_undo(0, 2),
        |game| game.answering_undo(1, 2, v1::OfferAnswer::Accept),
        |game| game.reporting(1, false),
        |game| game.aborting(Some(0)),
    ];
    for step in steps {
        let (event, receipt) = wire.asks(step(&game).with_receipt()).await.unwrap();
        let (event, receipt) = (game.sees(event.unwrap()), receipt.unwrap());
        assert_eq!((receipt.seq, receipt.book_digest), (event.seq, event.book_digest));
    }
    let request = v1::RematchRequest { game_id: game.id.clone(), with_receipt: true };
    let new = wire.games().rematch(request).await.unwrap().into_inner();
    assert_eq!(new.receipt.unwrap().game_id, new.game.unwrap().game_id);

    let mut always = wire.game().receipts_always().await;
    let (event, receipt) = wire.asks(always.resigning(0)).await.unwrap();
    always.sees(event.unwrap());
    assert!(receipt.is_some());
    let plain = over_sqlite().await.start().await.wire().await;
    let game = plain.game().await;
    game.refuses_act(game.resigning(0).with_receipt()).await.with("RECEIPTS_UNAVAILABLE");
    assert_eq!(game.now().await.seq, 1, "nothing is appended then");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn shapes_are_checked_before_games() {
    let local = over_sqlite().await.start().await;
    let wire = local.wire().await;
    let game = wire.game().await;
    use v1::{AbsenceClaim, OfferAnswer};
    let every = || {
        [
            game.resigning(0),
            game.aborting(Some(0)),
            game.removing(0),
            game.offering_draw(0),
            game.answering_draw(0, OfferAnswer::Accept),
            game.offering_undo(0, 2),
            game.answering_undo(0, 2, OfferAnswer::Accept),
            game.reporting(0, true),
            game.claiming(0, AbsenceClaim::Win),
        ]
    };
    for live in every() {
        game.refuses_act(live.clone().id("x")).await.with("INVALID_REQUEST_ID");
        game.refuses_act(live.clone().game("")).await.with("INVALID_PARAMETER").field("game_id", "required");
        game.refuses_act(live.clone().game("x")).await.with("INVALID_PARAMETER").field("game_id", "UUID");
        game.refuses_act(live.clone().game(&fresh())).await.with("GAME_NOT_FOUND");
        game.refuses_act(live.clone().seat(Some(2))).await.with("INVALID_PARAMETER").field("seat", "no seat 2");
        if !matches!(live, plybook_tests::live::Live::Abort(_)) {
            game.refuses_act(live.seat(None)).await.with("INVALID_PARAMETER").field("seat", "required");
        }
    }
    for live in every().into_iter().skip(3).filter(|live| !matches!(live, plybook_tests::live::Live::Presence(_))) {
        game.refuses_act(live.clone().expecting(None)).await.with("INVALID_PARAMETER").field("expected_seq", "required");
        game.refuses_act(live.expecting(Some(7))).await.with("STALE_SEQ").meta("head_seq", 1);
    }
    let unanswered = game.answering_draw(0, OfferAnswer::Unspecified);
    game.refuses_act(unanswered).await.with("INVALID_PARAMETER").field("answer", "required");
    let unclaimed = game.claiming(0, AbsenceClaim::Unspecified);
    game.refuses_act(unclaimed).await.with("INVALID_PARAMETER").field("claim", "required");
    assert_eq!(game.now().await.seq, 1);
}
