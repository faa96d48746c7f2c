//! Offers: a draw, and taking a move back by agreement.

use plybook_proto::v1::{self, OfferAnswer, OfferKind, UndoBy, event::Body};
use plybook_tests::both::on_both;
use plybook_tests::injected::Local;
use plybook_tests::live::bot;
use plybook_tests::wire::PlayedGame;

fn answered(kind: OfferKind, seat: u32, answer: OfferAnswer, waiting: &[u32]) -> Option<Body> {
    let target_seq = (kind == OfferKind::Undo).then_some(2);
    let (kind, answer, waiting_seats) = (kind.into(), answer.into(), waiting.to_vec());
    Some(Body::OfferAnswered(v1::OfferAnswered { kind, seat, answer, target_seq, waiting_seats }))
}

/// The events of the stream are those of the answers, also on a node that has seen nothing.
async fn told_alike(game: &PlayedGame, told: &[v1::Event]) {
    let history = game.wire.history(&game.id).await;
    assert!(told.iter().all(|event| history.contains(event)), "{told:#?} {history:#?}");
    game.wire.proves(&game.id).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_draw_is_agreed_declined_withdrawn_or_played_over() {
    on_both(drawing).await;
}

async fn drawing(local: &Local) {
    let wire = local.wire().await;
    let mut game = wire.game().mnk(5, 5, 5).await;
    game.play("a1").await;
    let offered = game.acts(game.offering_draw(0)).await;
    let offer = v1::Offer { kind: OfferKind::Draw.into(), seat: 0, seq: 3, waiting_seats: vec![1], ..Default::default() };
    assert_eq!(offered.body, Some(Body::OfferMade(v1::OfferMade { offer: Some(offer.clone()) })));
    assert_eq!((offered.seat_to_move, game.now().await.offers), (Some(1), vec![offer]));
    let declined = game.acts(game.answering_draw(1, OfferAnswer::Decline)).await;
    assert_eq!(declined.body, answered(OfferKind::Draw, 1, OfferAnswer::Decline, &[]));
    assert_eq!(game.now().await.offers, vec![]);
    // Who is to answer moves instead: that declines it.
    game.acts(game.offering_draw(1)).await;
    game.play("b1").await;
    assert_eq!(game.now().await.offers.len(), 1, "the seat that offered has moved: the other may still answer");
    game.play("a2").await;
    game.refuses_act(game.answering_draw(0, OfferAnswer::Accept)).await.with("OFFER_NOT_ALLOWED").meta("cause", "NOT_OPEN");
    game.acts(game.offering_draw(0)).await;
    let withdrawn = game.acts(game.answering_draw(0, OfferAnswer::Withdraw)).await;
    assert_eq!(withdrawn.body, answered(OfferKind::Draw, 0, OfferAnswer::Withdraw, &[]));
    game.play("b2").await;
    game.acts(game.offering_draw(1)).await;
    let agreed = game.acts(game.answering_draw(0, OfferAnswer::Accept)).await;
    assert_eq!(agreed.body, answered(OfferKind::Draw, 0, OfferAnswer::Accept, &[]));
    let outcome = agreed.outcome.clone().unwrap();
    assert_eq!((outcome.winners.len(), outcome.no_result, outcome.reason.as_str()), (0, false, "agreement"));
    told_alike(&game, &[offered, declined, withdrawn, agreed]).await;
}

/// An offer is shown on the stream to every seat, with who must answer: those who are people and have not left.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_22_an_offer_is_on_every_stream_with_who_must_answer() {
    on_both(granting).await;
}

async fn granting(local: &Local) {
    let wire = local.wire().await;
    let mut game = wire.game().mnk(6, 6, 4).seats(5).bot(4, bot("random", 0)).await;
    let mut streams = Vec::new();
    for _ in 0..5 {
        streams.push(wire.follow(&game.id).open().await);
    }
    game.acts(game.resigning(3)).await;
    let offered = game.acts(game.offering_draw(1)).await;
    let Some(Body::OfferMade(v1::OfferMade { offer: Some(offer) })) = &offered.body else { panic!("{offered:?}") };
    assert_eq!((offer.seat, offer.waiting_seats.as_slice()), (1, [0, 2].as_slice()));
    let accepted = game.acts(game.answering_draw(2, OfferAnswer::Accept)).await;
    assert_eq!(accepted.body, answered(OfferKind::Draw, 2, OfferAnswer::Accept, &[0]));
    let open = game.now().await.offers.remove(0);
    assert_eq!((open.accepted_seats, open.waiting_seats), (vec![2], vec![0]));
    let agreed = game.acts(game.answering_draw(0, OfferAnswer::Accept)).await;
    assert_eq!(agreed.outcome.as_ref().unwrap().reason, "agreement");
    for mut stream in streams {
        let (frames, end) = stream.rest().await;
        assert!(end.is_none(), "the game is closed: {end:?}");
        let events: Vec<v1::Event> = frames.into_iter().filter_map(plybook_tests::live::event_of).collect();
        assert_eq!(events[2..], [offered.clone(), accepted.clone(), agreed.clone()]);
    }
    told_alike(&game, &[offered, accepted, agreed]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn moves_are_taken_back_by_agreement() {
    on_both(agreeing).await;
}

async fn agreeing(local: &Local) {
    let wire = local.wire().await;
    let mut game = wire.game().mnk(5, 5, 5).seats(3).undo(UndoBy::Agreement).await;
    game.play("a1 a2").await;
    game.refuses_undo(game.asks_undo(0, None)).await.with("UNDO_NOT_ALLOWED").meta("cause", "NOT_AGREED");
    game.refuses_act(game.offering_undo(0, 9)).await.with("NOTHING_TO_UNDO");
    let offered = game.acts(game.offering_undo(0, 2)).await;
    let Some(Body::OfferMade(v1::OfferMade { offer: Some(offer) })) = &offered.body else { panic!("{offered:?}") };
    assert_eq!((offer.kind(), offer.target_seq, offer.waiting_seats.as_slice()), (OfferKind::Undo, Some(2), [1, 2].as_slice()));
    // An answer names the offer that it answers.
    game.refuses_act(game.answering_undo(1, 3, OfferAnswer::Accept)).await.with("OFFER_NOT_ALLOWED").meta("cause", "NOT_OPEN");
    let first = game.acts(game.answering_undo(1, 2, OfferAnswer::Accept)).await;
    assert_eq!(first.body, answered(OfferKind::Undo, 1, OfferAnswer::Accept, &[2]));
    let plybook_tests::live::Live::AnswerUndo(mut last) = game.answering_undo(2, 2, OfferAnswer::Accept) else { panic!() };
    last.with_position = true;
    let done = wire.games().answer_undo(last).await.unwrap().into_inner();
    let event = game.sees(done.event.unwrap());
    let Some(Body::MoveUndone(undone)) = &event.body else { panic!("{event:?}") };
    assert_eq!((undone.seat, undone.undone_seq, undone.ply, undone.agreed, undone.reopened), (Some(2), 2, 0, true, false));
    assert_eq!((done.position.unwrap().cells.len(), event.seat_to_move, game.now().await.undos), (0, Some(0), 1));
    told_alike(&game, &[offered, first, event]).await;
}

/// After the end, where the policy allows it; a list goes on saying how the game ended while it is talked about.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_finished_game_is_reopened_by_agreement() {
    on_both(reopening).await;
}

async fn reopening(local: &Local) {
    let wire = local.wire().await;
    let mut game = wire.game().undo(UndoBy::Agreement).undo_after_end().await;
    game.play("a1 b1 a2 b2 a3").await;
    let listed = async |state: v1::GameState| {
        let games = wire.games().list_games(v1::ListGamesRequest { state: state.into(), ..Default::default() }).await.unwrap();
        games.into_inner().games.into_iter().find(|listed| listed.game_id == game.id).unwrap()
    };
    let end = listed(v1::GameState::Finished).await.outcome;
    assert!(end.is_some());
    let mut player = game.clone();
    let offered = player.acts(player.offering_undo(1, 6)).await;
    assert_eq!((offered.seat_to_move, offered.outcome), (None, None));
    assert_eq!(listed(v1::GameState::Finished).await.outcome, end, "an offer stands after the end");
    let mut other = player.clone();
    other.acts(other.answering_undo(0, 6, OfferAnswer::Decline)).await;
    other.close().await;
    assert_eq!(listed(v1::GameState::Closed).await.outcome, end, "and a close after that");

    let mut game = wire.game().undo(UndoBy::Agreement).undo_after_end().await;
    game.play("a1 b1 a2 b2 a3").await;
    game.acts(game.offering_undo(1, 6)).await;
    let event = game.acts(game.answering_undo(0, 6, OfferAnswer::Accept)).await;
    let Some(Body::MoveUndone(undone)) = &event.body else { panic!("{event:?}") };
    assert!(undone.agreed && undone.reopened && event.line.ends_with(" reopens=yes"), "{event:?}");
    assert_eq!((event.seat_to_move, game.now().await.state()), (Some(0), v1::GameState::Active));
    wire.proves(&game.id).await;
}

/// A seat whose others are all bots agrees with itself: it takes back its own choice, and what the bots made of it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_16_the_only_active_seat_may_take_back() {
    on_both(async |local: &Local| {
        let wire = local.wire().await;
        for by in [UndoBy::OwnLastMove, UndoBy::Agreement] {
            let mut game = wire.game().mnk(5, 5, 5).bot(1, bot("minimax", 1_000)).undo(by).await;
            game.play("a1").await;
            let undone = loop {
                // The bot may answer in between: then the person has not seen the head.
                let asked = game.asks_undo(0, Some(2));
                match wire.games().undo(asked).await {
                    Ok(answer) => break answer.into_inner().event.unwrap(),
                    Err(status) => assert_eq!(plybook_tests::refused::Refused::of(&status).reason, "STALE_SEQ"),
                }
                game.looks().await;
            };
            assert_eq!(undone.seat_to_move, Some(0), "{by:?}");
        }
        // Alone at the table, over shown throws too.
        let mut alone = wire.game().snakes(100, &[]).seats(1).undo_over_throw().await;
        alone.play("roll").await;
        alone.undo(0).await;
        assert_eq!(alone.now().await.undos, 1);
    })
    .await;
}
