//! Terms: what a live game is created with, stands in its header, and is told back.

use plybook_core::Time;
use plybook_proto::v1::{self, IfAway, UndoBy, clock_policy::Pace, event::Body};
use plybook_server::replies;
use plybook_tests::both::on_both;
use plybook_tests::injected::{Local, over_sqlite};
use plybook_tests::live::{bot, fischer, ms, per_move};
use plybook_tests::refused::Refused;
use plybook_tests::wire::Opening;

const BEGIN: u64 = 1_800_000_000_000;

fn at(local: &Local, ms: u64) -> Option<prost_types::Timestamp> {
    let now = Time::from_unix_ms(BEGIN + ms);
    local.clock.set(now);
    Some(replies::time(now))
}

fn paces() -> [v1::ClockPolicy; 5] {
    let with = |pace: Pace| v1::ClockPolicy { pace: Some(pace), ..v1::ClockPolicy::default() };
    let (total, main, period) = (Some(ms(300_000)), Some(ms(0)), Some(ms(30_001)));
    [
        per_move(86_400_001),
        fischer(300_000, 2_000),
        with(Pace::Bronstein(v1::BronsteinPace { total, delay: Some(ms(1)) })),
        with(Pace::ByoYomi(v1::ByoYomiPace { main, period, periods: 5 })),
        with(Pace::CorrespondenceDays(3)),
    ]
}

/// Read back from the answer, from the game, from its first event and from a list; and as a request again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn terms_are_told_as_they_stand() {
    on_both(telling).await;
}

async fn telling(local: &Local) {
    let wire = local.wire().await;
    for clock in paces() {
        let clock = v1::ClockPolicy {
            if_expired: v1::IfExpired::Forfeit.into(),
            on_undo: v1::ClockUndo::Keep.into(),
            outage_credit_max: Some(ms(5_000)),
            ..clock
        };
        let opening = wire.game().undo(UndoBy::Agreement).undo_after_end().clock(clock).absence(90_000, IfAway::ClaimWin);
        let opening = opening.bot(1, bot("minimax", 0)).terms(|terms| {
            terms.undo_limit = Some(3);
            terms.abort_before_plies = Some(4);
            terms.close_after = Some(ms(60_000));
            terms.fallback = Some(bot("heuristic", 100));
        });
        let asked = opening.request.terms.clone().unwrap();
        let game = opening.sent().await.unwrap();
        let told = game.terms.clone().unwrap();
        let pinned = |bot: &v1::Bot| v1::StrategySpec { version: 1, ..bot.strategy.clone().unwrap() };
        let mut expected = asked.clone();
        let fallback = expected.fallback.as_mut().unwrap();
        fallback.strategy = Some(pinned(fallback));
        assert_eq!(told, expected);
        let seated = game.seats[1].bot.clone().unwrap();
        assert_eq!(seated.strategy, Some(v1::StrategySpec { id: "minimax".to_owned(), version: 1 }));
        assert!(seated.nodes > 0 && game.seats[0].bot.is_none(), "the default is filled in");
        let read = wire.try_get(&game.game_id, Some(1)).await.unwrap();
        assert_eq!((&read.terms, &read.seats), (&game.terms, &game.seats));
        let Some(Body::GameCreated(created)) = wire.history(&game.game_id).await.remove(0).body else { panic!() };
        assert_eq!((&created.terms, &created.seats), (&game.terms, &game.seats));
        let games = wire.games().list_games(v1::ListGamesRequest::default()).await.unwrap().into_inner().games;
        let listed = games.into_iter().find(|listed| listed.game_id == game.game_id).unwrap();
        assert_eq!((&listed.terms, &listed.seats), (&game.terms, &game.seats));
        // What is told makes the same game again.
        let mut again = wire.game().undo(UndoBy::Agreement).undo_after_end();
        (again.request.terms, again.request.seats) = (Some(told), game.seats.clone());
        let again = again.sent().await.unwrap();
        assert_eq!((again.terms, again.seats), (game.terms, game.seats));
    }
    let plain = wire.game().sent().await.unwrap();
    assert_eq!((plain.terms, plain.deadline, plain.clock, plain.bot_turn), (None, None, None, None));
    let empty = wire.game().terms(|_| ()).sent().await.unwrap();
    assert_eq!(empty.terms, None, "and nothing is nothing");
}

/// The same request again makes the same game; with other terms it is another.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn terms_are_part_of_what_makes_a_request_the_same() {
    let local = over_sqlite().await.start().await;
    let wire = local.wire().await;
    let opening = wire.game().clock(fischer(1_000, 10)).bot(1, bot("random", 0));
    let request = opening.request.clone();
    let created = opening.sent().await.unwrap();
    let again = wire.games().create_game(request.clone()).await.unwrap().into_inner().game.unwrap();
    assert_eq!(*again, created);
    type Change = fn(&mut v1::CreateGameRequest);
    let changes: [Change; 9] = [
        |request| request.terms = None,
        |request| request.terms.as_mut().unwrap().clock = Some(fischer(1_000, 11)),
        |request| request.terms.as_mut().unwrap().clock.as_mut().unwrap().if_expired = v1::IfExpired::Forfeit.into(),
        |request| request.terms.as_mut().unwrap().undo_limit = Some(1),
        |request| request.terms.as_mut().unwrap().abort_before_plies = Some(2),
        |request| request.terms.as_mut().unwrap().fallback = Some(bot("random", 0)),
        |request| request.terms.as_mut().unwrap().absence = Some(v1::AbsencePolicy { grace: Some(ms(1)), if_away: 1 }),
        |request| request.seats[1].bot = None,
        |request| request.seats[1].bot = Some(bot("random", 1)),
    ];
    for change in changes {
        let mut other = request.clone();
        change(&mut other);
        let refused = Refused::by(wire.games().create_game(other).await);
        refused.with("REQUEST_ID_REUSED").meta("original_game_id", &created.game_id);
    }
}

/// Only what is needed is filled in.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_fallback_is_random_where_one_is_needed() {
    let local = over_sqlite().await.start().await;
    let wire = local.wire().await;
    let bots = v1::ClockPolicy { if_expired: v1::IfExpired::Bot.into(), ..fischer(1_000, 10) };
    for opening in [wire.game().bot(0, bot("heuristic", 0)), wire.game().clock(bots)] {
        let fallback = opening.sent().await.unwrap().terms.unwrap().fallback.unwrap();
        assert_eq!(fallback.strategy.unwrap().id, "random");
    }
    let none = wire.game().clock(fischer(1_000, 10)).sent().await.unwrap();
    assert_eq!(none.terms.unwrap().fallback, None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn terms_that_no_game_can_have_are_refused() {
    let local = over_sqlite().await.start().await;
    let wire = local.wire().await;
    let clock = |change: fn(&mut v1::ClockPolicy)| {
        let mut clock = fischer(1_000, 10);
        change(&mut clock);
        wire.game().clock(clock)
    };
    let paced = |pace: Pace| wire.game().clock(v1::ClockPolicy { pace: Some(pace), ..Default::default() });
    let duration = |seconds, nanos| prost_types::Duration { seconds, nanos };
    let day_ms = 86_400_000;
    let cases: Vec<(Opening, &str, &str)> = vec![
        (clock(|clock| clock.pace = None), "terms.clock.pace", "required"),
        (clock(|clock| clock.if_expired = 9), "terms.clock.if_expired", "9"),
        (clock(|clock| clock.on_undo = 9), "terms.clock.on_undo", "9"),
        (clock(|clock| clock.outage_credit_max = Some(ms(0))), "terms.clock", "1 to"),
        (paced(Pace::PerMove(duration(0, 0))), "terms.clock", "1 to"),
        (paced(Pace::PerMove(duration(-1, 0))), "terms.clock.per_move", "negative"),
        (paced(Pace::PerMove(duration(0, 1))), "terms.clock.per_move", "whole milliseconds"),
        (paced(Pace::PerMove(duration(1, 1_000_000_000))), "terms.clock.per_move", "whole milliseconds"),
        (paced(Pace::PerMove(duration(i64::MAX, 0))), "terms.clock", "31622400000"),
        (wire.game().clock(per_move(366 * day_ms + 1)), "terms.clock", "31622400000"),
        (paced(Pace::Fischer(v1::FischerPace { total: Some(ms(1)), increment: None })), "terms.clock.fischer.increment", "required"),
        (paced(Pace::ByoYomi(v1::ByoYomiPace { main: Some(ms(1)), period: Some(ms(1)), periods: 101 })), "terms.clock", "1 to 100"),
        (paced(Pace::CorrespondenceDays(367)), "terms.clock", "1 to 366"),
        (
            clock(|clock| (clock.pace, clock.if_expired) = (fischer(1_000, 0).pace, v1::IfExpired::Skip.into())),
            "terms.clock",
            "time of their own",
        ),
        (wire.game().absence(0, IfAway::Forfeit), "terms.absence.grace", "1 to"),
        (wire.game().absence(30 * day_ms + 1, IfAway::Forfeit), "terms.absence.grace", "2592000000"),
        (wire.game().absence(1, IfAway::Unspecified), "terms.absence.if_away", "required"),
        (wire.game().terms(|terms| terms.undo_limit = Some(0)), "terms.undo_limit", "is 1 to 200000"),
        (wire.game().undo(UndoBy::None).terms(|terms| terms.undo_limit = Some(1)), "terms.undo_limit", "somebody may undo"),
        (wire.game().terms(|terms| terms.abort_before_plies = Some(200_001)), "terms.abort_before_plies", "0 to 200000"),
        (wire.game().terms(|terms| terms.close_after = Some(ms(1_000))), "terms.close_after", "reopened"),
        (wire.game().undo_after_end().terms(|terms| terms.close_after = Some(ms(0))), "terms.close_after", "1 to"),
        (wire.game().terms(|terms| terms.fallback = Some(bot("random", 0))), "terms.fallback", "only where"),
        (wire.game().bot(1, v1::Bot::default()), "seats[1].bot.strategy.id", "required"),
        (wire.game().bot(1, bot("", 0)), "seats[1].bot.strategy.id", "required"),
        (wire.game().undo_over_throw(), "undo_policy.over_throw", "consent"),
        (wire.game().snakes(100, &[]).seats(3).bot(2, bot("random", 0)).undo_over_throw(), "undo_policy.over_throw", "consent"),
    ];
    for (opening, field, why) in cases {
        opening.refused().await.with("INVALID_PARAMETER").field(field, why);
    }
    wire.game().snakes(100, &[]).bot(1, bot("random", 0)).undo_over_throw().await;
    wire.game().snakes(100, &[]).undo(UndoBy::Agreement).undo_over_throw().await;
}

/// Strategies that are not there, that play another game, or that may not spend so much.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bots_that_no_game_can_have_are_refused() {
    let local = over_sqlite().await.limits(|limits| limits.bot_nodes_max = 2_000).start().await;
    let wire = local.wire().await;
    wire.game().bot(0, bot("stockfish", 0)).refused().await.with("UNKNOWN_STRATEGY").only(&["known"]);
    let newer = v1::Bot { strategy: Some(v1::StrategySpec { id: "random".to_owned(), version: 9 }), nodes: 0 };
    wire.game().bot(0, newer).refused().await.with("UNKNOWN_STRATEGY");
    wire.game().bot(0, bot("random", 0)).terms(|terms| terms.fallback = Some(bot("x", 0))).refused().await.with("UNKNOWN_STRATEGY");
    let elsewhere = wire.game().snakes(100, &[]).bot(1, bot("perfect", 0)).refused().await;
    elsewhere.with("INVALID_PARAMETER").field("seats[1].bot.strategy", "does not play snakes_and_ladders@1");
    let refused = wire.game().bot(0, bot("minimax", 2_001)).refused().await;
    refused.with("LIMIT_EXCEEDED").meta("limit", "bot_nodes_max").meta("most", 2_000);
    wire.game().bot(0, bot("minimax", 2_000)).await;
    let own = wire.game().bot(0, bot("random", 2)).refused().await;
    own.with("LIMIT_EXCEEDED").meta("limit", "strategy_nodes");
    // A default that is more than the node allows is held to that.
    let capped = wire.game().bot(1, bot("minimax", 0)).sent().await.unwrap();
    assert_eq!(capped.seats[1].bot.as_ref().unwrap().nodes, 2_000);
}

/// What everybody has left, at the head and at an earlier entry; the deadline needs no adding up.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clocks_are_told_as_of_a_moment() {
    on_both(timing).await;
}

async fn timing(local: &Local) {
    let begin = at(local, 0);
    let wire = local.wire().await;
    let mut game = wire.game().clock(fischer(10_000, 500)).undo(UndoBy::Free).await;
    let left = |clock: &v1::Clock| clock.seats.iter().map(|seat| seat.remaining.unwrap()).collect::<Vec<_>>();
    let moved = at(local, 3_000);
    let now = game.now().await;
    let clock = now.clock.unwrap();
    assert_eq!((clock.as_of, left(&clock), clock.running_seat), (moved, vec![ms(7_000), ms(10_000)], Some(0)));
    let deadline = Some(replies::time(Time::from_unix_ms(BEGIN + 10_000)));
    assert_eq!((clock.deadline, now.deadline.as_ref().unwrap().time), (deadline, deadline));
    assert_eq!((now.deadline.unwrap().kind(), clock.seats[0].periods), (v1::DeadlineKind::Turn, 0));
    game.play("a1").await;
    at(local, 4_250);
    let clock = game.now().await.clock.unwrap();
    assert_eq!((left(&clock), clock.running_seat), (vec![ms(7_500), ms(8_750)], Some(1)));
    let then = wire.try_get(&game.id, Some(1)).await.unwrap().clock.unwrap();
    assert_eq!((then.as_of, left(&then)), (begin, vec![ms(10_000); 2]), "at an entry, its own time counts");
    game.undo(0).await;
    let clock = game.now().await.clock.unwrap();
    assert_eq!((left(&clock), clock.running_seat), (vec![ms(10_000); 2], Some(0)), "restored");
    game.acts(game.resigning(1)).await;
    at(local, 9_999);
    let clock = game.now().await.clock.unwrap();
    assert_eq!((clock.as_of, clock.running_seat, clock.deadline), (at(local, 4_250), None, None), "time stands when the game is over");
}
