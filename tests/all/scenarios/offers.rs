//! C and D: offers whose answers cross.

use plybook_proto::v1::{self, OfferAnswer, UndoBy, event::Body};
use plybook_tests::live::{Live, fischer};
use plybook_tests::refused::Refused;
use plybook_tests::wire::PlayedGame;

use super::{at_once, two_nodes};

/// The acceptance through one node, the withdrawal through the other, decided on the same entry: answers what won, and
/// what the other was told.
async fn crossed(game: &PlayedGame, wires: [&plybook_tests::wire::Wire; 2], accept: Live, withdraw: Live) -> (v1::Event, Refused) {
    let sent = vec![(wires[0].clone(), accept.into()), (wires[1].clone(), withdraw.into())];
    let (won, lost): (Vec<_>, Vec<_>) = at_once(sent).await.into_iter().partition(Result::is_ok);
    assert_eq!((won.len(), lost.len()), (1, 1), "{won:?} {lost:?}");
    let won = won.into_iter().next().unwrap().unwrap().event();
    assert_eq!(won.seq, game.head + 1);
    (won, Refused::by(lost.into_iter().next().unwrap()))
}

/// Whoever wins, exactly one clock runs afterwards: that of the seat to move; or none, where the game is over.
async fn one_clock_runs(game: &PlayedGame) {
    let now = game.now().await;
    let clock = now.clock.unwrap();
    assert_eq!((clock.running_seat, clock.deadline.is_some()), (now.seat_to_move, now.seat_to_move.is_some()));
    game.wire.proves(&game.id).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_19_of_an_acceptance_and_a_withdrawal_one_wins_and_one_clock_runs() {
    let pair = two_nodes().await;
    let [a, b] = pair.wires().await;
    let mut winners = [0, 0];
    for round in 0..12 {
        let mut game = a.game().mnk(5, 5, 5).undo(UndoBy::Agreement).clock(fischer(600_000, 1_000)).await;
        game.play("a1").await;
        let wires = if round % 2 == 0 { [&a, &b] } else { [&b, &a] };

        game.acts(game.offering_undo(0, 2)).await;
        let (accept, withdraw) = (game.answering_undo(1, 2, OfferAnswer::Accept), game.answering_undo(0, 2, OfferAnswer::Withdraw));
        let (won, refused) = crossed(&game, wires, accept, withdraw).await;
        match &won.body {
            Some(Body::MoveUndone(undone)) => {
                assert!(undone.agreed && won.seat_to_move == Some(0));
                refused.with("STALE_SEQ").meta("head_seq", won.seq);
                winners[0] += 1;
            }
            _ => {
                assert_eq!(won.seat_to_move, Some(1));
                refused.with("OFFER_NOT_ALLOWED").meta("cause", "NOT_OPEN").meta("head_seq", won.seq);
                winners[1] += 1;
            }
        }
        one_clock_runs(&game).await;

        game.looks().await;
        game.acts(game.offering_draw(0)).await;
        let (accept, withdraw) = (game.answering_draw(1, OfferAnswer::Accept), game.answering_draw(0, OfferAnswer::Withdraw));
        let (won, refused) = crossed(&game, wires, accept, withdraw).await;
        match &won.outcome {
            Some(outcome) => {
                assert_eq!(outcome.reason, "agreement");
                refused.with("GAME_FINISHED").meta("closed", true);
            }
            None => {
                refused.with("OFFER_NOT_ALLOWED").meta("cause", "NOT_OPEN");
            }
        }
        one_clock_runs(&game).await;
    }
    assert_eq!(winners.iter().sum::<u32>(), 12);
}
