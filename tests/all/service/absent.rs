//! Seats that do not join in time: the game ends by its policy, and never before.

use plybook_core::{Seed, Time};
use plybook_proto::v1::{self, GameState, IfAbsent};
use plybook_tests::injected::{Local, over_postgres, over_sqlite};
use plybook_tests::postgres;
use plybook_tests::refused::Refused;
use plybook_tests::wire::{PlayedGame, seqs};

const BEGIN: &str = "2026-11-30T12:00:00.000Z";

/// So many milliseconds after the beginning.
fn after(ms: u64) -> Time {
    Time::from_unix_ms(Time::parse(BEGIN).unwrap().unix_ms() + ms)
}

fn stamp(time: Time) -> prost_types::Timestamp {
    prost_types::Timestamp { seconds: (time.unix_ms() / 1000) as i64, nanos: (time.unix_ms() % 1000) as i32 * 1_000_000 }
}

/// A game of three seats that begins now, with a minute for each step.
async fn begun(local: &Local, if_absent: IfAbsent) -> PlayedGame {
    local.clock.set(after(0));
    local.wire().await.game().of("snakes_and_ladders").seats(3).joint(60, if_absent).await
}

/// The end of a game whose deadline is over.
async fn ends(local: &Local, mut game: PlayedGame, deadline: Time, absent: &[u32], winners: &[u32]) {
    let mut watching = local.wire().await.follow(&game.id).after(game.head).open().await;
    // To the very end of the time, seats may still come.
    local.clock.set(deadline);
    game.refuses_close(game.asks_close()).await.with("GAME_NOT_FINISHED").only(&["head_seq"]).meta("head_seq", game.head);
    local.clock.set(Time::from_unix_ms(deadline.unix_ms() + 1));
    let late = match game.now().await.joining.unwrap().step() {
        v1::JoinStep::Commit => game.asks_commit(absent[0]).await,
        _ => game.asks_reveal(absent[0]),
    };
    game.refuses_join(late.clone()).await.with("JOIN_NOT_ALLOWED").meta("cause", "TOO_LATE").meta("head_seq", game.head);
    game.refuses("roll").await.with("NOT_JOINED").meta("deadline", deadline);
    assert_eq!(game.now().await.seq, game.head, "time alone appends nothing");

    // Whenever somebody closes it, it ended when the time was over.
    local.clock.set(Time::from_unix_ms(deadline.unix_ms() + 3_600_000));
    let request = game.asks_close();
    let event = game.wire.games().close_game(request.clone()).await.unwrap().into_inner().event.unwrap();
    assert_eq!(event.create_time, Some(stamp(deadline)));
    assert_eq!(event.body, Some(v1::event::Body::SeatsAbsent(v1::SeatsAbsent { seats: absent.to_vec() })));
    let outcome = v1::Outcome { winners: winners.to_vec(), cells: vec![], reason: "absent".to_owned(), no_result: winners.is_empty() };
    assert_eq!(event.outcome, Some(outcome));
    let seed = Seed::new(event.revealed_seed.as_slice().try_into().unwrap());
    let (frames, refused) = watching.rest().await;
    assert_eq!((seqs(&frames), refused), (vec![event.seq], None), "the stream ends with it");

    game.sees(event.clone());
    let now = game.now().await;
    assert_eq!((now.state(), &now.outcome, &now.joining, now.seat_to_move), (GameState::Closed, &event.outcome, &None, None));
    assert_eq!(now.seed_commitment, seed.commitment().0);
    let listed = game.wire.games().list_games(v1::ListGamesRequest { state: GameState::Closed.into(), ..Default::default() }).await;
    let listed = listed.unwrap().into_inner().games.into_iter().find(|listed| listed.game_id == game.id).unwrap();
    assert_eq!((listed.outcome, listed.revealed_seed), (now.outcome, now.revealed_seed));
    let again = game.wire.games().close_game(request).await.unwrap().into_inner().event;
    assert_eq!(again, Some(event), "a repeated request gets the same answer");
    for refused in [
        game.refuses_join(late).await,
        game.refuses("roll").await,
        game.refuses_close(game.asks_close()).await,
        game.refuses_undo(game.asks_undo(0, None)).await,
    ] {
        refused.with("GAME_FINISHED").meta("closed", true).meta("outcome_reason", "absent");
    }
    game.wire.proves(&game.id).await;
    let verified = game.wire.audit().verify_game(v1::VerifyGameRequest { game_id: game.id.clone() }).await.unwrap().into_inner();
    assert_eq!((verified.entries, verified.why.as_str()), (game.head, ""));
}

async fn every_way(local: &Local) {
    // Nobody comes.
    for if_absent in [IfAbsent::Abort, IfAbsent::Forfeit] {
        let game = begun(local, if_absent).await;
        ends(local, game, after(60_000), &[0, 1, 2], &[]).await;
    }
    // One does not commit.
    for (if_absent, winners) in [(IfAbsent::Abort, vec![]), (IfAbsent::Forfeit, vec![0, 2])] {
        let mut game = begun(local, if_absent).await;
        local.clock.set(after(59_000));
        game.commit(2).await;
        local.clock.set(after(60_000));
        game.commit(0).await;
        ends(local, game, after(60_000), &[1], &winners).await;
    }
    // All commit, and two do not reveal: their time counts from the last commitment.
    for (if_absent, winners) in [(IfAbsent::Abort, vec![]), (IfAbsent::Forfeit, vec![1])] {
        let mut game = begun(local, if_absent).await;
        game.commit(0).await;
        game.commit(1).await;
        local.clock.set(after(12_345));
        game.commit(2).await;
        local.clock.set(after(20_000));
        game.reveal(1).await;
        ends(local, game, after(72_345), &[0, 2], &winners).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_game_that_is_not_joined_in_time_ends_by_its_policy_over_sqlite() {
    every_way(&over_sqlite().await.start().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_game_that_is_not_joined_in_time_ends_by_its_policy_over_postgres() {
    let database = postgres::database().await;
    every_way(&over_postgres(&database).await.start().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_who_end_it_at_once_one_does() {
    let database = postgres::database().await;
    let (one, other) = (over_postgres(&database).await.start().await, over_postgres(&database).await.start().await);
    for _ in 0..8 {
        let mut game = begun(&one, IfAbsent::Forfeit).await;
        game.commit(1).await;
        for local in [&one, &other] {
            local.clock.set(after(60_001));
        }
        let wires = [one.wire().await, other.wire().await];
        let [mut a, mut b] = wires.each_ref().map(plybook_tests::wire::Wire::games);
        let (first, second) = tokio::join!(a.close_game(game.asks_close()), b.close_game(game.asks_close()));
        let (won, lost) = if first.is_ok() { (first, second) } else { (second, first) };
        assert_eq!(won.unwrap().into_inner().event.unwrap().seq, 3);
        Refused::by(lost).with("GAME_FINISHED").meta("head_seq", 3).meta("winners", 1);
        assert_eq!(game.wire.proves(&game.id).await.head().seq.0, 3);
    }
}

#[tokio::test]
async fn once_all_have_joined_nobody_is_absent() {
    let local = over_sqlite().await.start().await;
    let mut game = begun(&local, IfAbsent::Forfeit).await;
    game.joined().await;
    local.clock.set(after(3_600_000));
    game.refuses_close(game.asks_close()).await.with("GAME_NOT_FINISHED");
    game.play("roll").await;
}
