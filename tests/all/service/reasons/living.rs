//! The reasons of live games.

use plybook_core::Time;
use plybook_proto::v1::{self, AbsenceClaim, IfAway, OfferAnswer, UndoBy};
use plybook_tests::live::bot;
use plybook_tests::refused::Refused;

use super::Bench;

/// A bot's seat is the service's: nobody else moves for it, resigns for it or answers for it.
pub(super) async fn seat_is_bot(bench: &Bench) -> Refused {
    let game = bench.wire.game().bot(1, bot("minimax", 1_000_000)).await;
    for live in [game.resigning(1), game.aborting(Some(1)), game.offering_draw(1), game.answering_draw(1, OfferAnswer::Accept)] {
        game.refuses_act(live).await.with("SEAT_IS_BOT").meta("seat", 1);
    }
    let refused = game.refuses_undo(game.asks_undo(1, None)).await;
    assert_eq!(refused.message, "a bot moves for seat 1", "also of a person's seat whose time ran out");
    refused.only(&["head_seq", "seat"]).meta("seat", 1).meta("head_seq", 1).clone()
}

pub(super) async fn offer_not_allowed(bench: &Bench) -> Refused {
    let mut game = bench.wire.game().await;
    let cause = async |game: &plybook_tests::wire::PlayedGame, live, cause: &str| {
        let refused = game.refuses_act(live).await;
        refused.with("OFFER_NOT_ALLOWED").only(&["cause", "head_seq"]).meta("cause", cause).clone()
    };
    cause(&game, game.offering_undo(0, 2), "POLICY").await;
    cause(&game, game.answering_draw(1, OfferAnswer::Accept), "NOT_OPEN").await;
    game.acts(game.offering_draw(0)).await;
    cause(&game, game.offering_draw(1), "ALREADY_OPEN").await;
    cause(&game, game.answering_draw(0, OfferAnswer::Accept), "OWN").await;
    cause(&game, game.answering_draw(1, OfferAnswer::Withdraw), "NOT_OWN").await;
    game.acts(game.answering_draw(0, OfferAnswer::Withdraw)).await;
    cause(&game, game.offering_draw(0), "REPEATED").await;
    let against_bot = bench.wire.game().bot(1, bot("random", 0)).await;
    cause(&against_bot, against_bot.offering_draw(0), "NOBODY_TO_ANSWER").await;
    let mut three = bench.wire.game().mnk(4, 4, 3).seats(3).await;
    three.acts(three.offering_draw(0)).await;
    three.acts(three.answering_draw(1, OfferAnswer::Accept)).await;
    cause(&three, three.answering_draw(1, OfferAnswer::Accept), "ANSWERED").await
}

/// A seat aborts early, and the calling service whenever it likes.
pub(super) async fn abort_not_allowed(bench: &Bench) -> Refused {
    let mut game = bench.wire.game().await;
    game.play("a1 b1").await;
    let refused = game.refuses_act(game.aborting(Some(0))).await;
    game.acts(game.aborting(None)).await;
    refused.only(&["before_plies", "head_seq"]).meta("before_plies", 2).clone()
}

pub(super) async fn claim_not_allowed(bench: &Bench) -> Refused {
    let none = bench.wire.game().await;
    none.refuses_act(none.claiming(0, AbsenceClaim::Win)).await.with("CLAIM_NOT_ALLOWED").meta("cause", "POLICY");
    let since = Time::from_unix_ms(1_800_000_000_000);
    bench.local.clock.set(since);
    let mut game = bench.wire.game().absence(60_000, IfAway::ClaimWin).await;
    game.refuses_act(game.claiming(0, AbsenceClaim::Win)).await.with("CLAIM_NOT_ALLOWED").meta("cause", "NOBODY_AWAY");
    game.acts(game.reporting(1, false)).await;
    game.refuses_act(game.claiming(1, AbsenceClaim::Draw)).await.with("CLAIM_NOT_ALLOWED").meta("cause", "NOT_THERE");
    let refused = game.refuses_act(game.claiming(0, AbsenceClaim::Win)).await;
    let until = Time::from_unix_ms(since.unix_ms() + 60_000);
    refused.only(&["cause", "grace_until", "head_seq"]).meta("cause", "GRACE").meta("grace_until", until).clone()
}

/// Whatever it is asked for.
pub(super) async fn seat_left(bench: &Bench) -> Refused {
    let mut game = bench.wire.game().mnk(4, 4, 3).seats(3).undo(UndoBy::Free).await;
    game.play("a1").await;
    game.acts(game.resigning(0)).await;
    for live in [game.resigning(0), game.removing(0), game.aborting(Some(0)), game.offering_draw(0)] {
        game.refuses_act(live).await.with("SEAT_LEFT").meta("seat", 0);
    }
    game.refuses_undo(game.asks_undo(0, None)).await.with("SEAT_LEFT").meta("seat", 0);
    game.refuses_seat(0, "b1").await.only(&["head_seq", "seat"]).meta("seat", 0).clone()
}

pub(super) async fn presence_not_kept(bench: &Bench) -> Refused {
    let game = bench.wire.game().await;
    game.refuses_act(game.reporting(0, false)).await.only(&["head_seq"]).clone()
}

pub(super) async fn game_not_over(bench: &Bench) -> Refused {
    let mut game = bench.wire.game().await;
    game.play("a1").await;
    Refused::by(bench.wire.rematch(&game.id).await).only(&["head_seq"]).meta("head_seq", 2).clone()
}

/// Agreement has a cause of its own among those of undo; so has a limit.
pub(super) async fn undo_causes(bench: &Bench) {
    let mut agreed = bench.wire.game().undo(UndoBy::Agreement).await;
    agreed.play("a1").await;
    agreed.refuses_undo(agreed.asks_undo(0, None)).await.with("UNDO_NOT_ALLOWED").meta("cause", "NOT_AGREED");
    let mut limited = bench.wire.game().undo(UndoBy::Free).terms(|terms| terms.undo_limit = Some(1)).await;
    limited.play("a1").await;
    limited.undo(0).await;
    limited.play("a1").await;
    limited.refuses_undo(limited.asks_undo(0, None)).await.with("UNDO_NOT_ALLOWED").meta("cause", "USED_UP");
    let unknown =
        bench.wire.game().bot(0, v1::Bot { strategy: Some(v1::StrategySpec { id: "stockfish".to_owned(), version: 0 }), nodes: 0 });
    unknown.refused().await.with("UNKNOWN_STRATEGY").only(&["known"]);
}
