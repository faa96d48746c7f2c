//! Deadlines become entries: by whoever appends, and by nobody twice.

use std::sync::Arc;
use std::time::Duration;

use plybook_core::entry::{Act, Actor};
use plybook_core::game::{Ask, Request};
use plybook_core::{Seat, Time};
use plybook_proto::v1::GameState;
use plybook_server::upkeep::Chore;
use plybook_store::{Arms, DueKind, Store};
use plybook_tests::held::Held;
use plybook_tests::injected::{Call, Fault, Local, Setup, over, over_postgres};
use plybook_tests::laid::{LONG, Laid, live, until_after, until_queue_is_empty};
use plybook_tests::live::per_move;
use plybook_tests::patience::{NEVER, until};
use plybook_tests::postgres;
use plybook_tests::table::{START, tester};
use plybook_tests::wire::PlayedGame;
use uuid::Uuid;

/// Runs each behaviour once over a SQLite file and once over Postgres.
macro_rules! on_both {
    ($($behaviour:ident),+ $(,)?) => {
        mod on_sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $behaviour() {
                super::$behaviour(plybook_tests::injected::over_sqlite().await).await;
            })+
        }
        mod on_postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $behaviour() {
                let database = plybook_tests::postgres::database().await;
                super::$behaviour(plybook_tests::injected::over_postgres(&database).await).await;
            })+
        }
    };
}
pub(super) use on_both;

on_both![
    scenario_62_a_move_at_the_deadline_is_in_time_and_a_later_one_finds_the_timeout,
    scenario_59_a_game_that_ends_leaves_the_queue_and_a_late_timer_does_nothing,
    a_request_that_is_refused_has_settled_what_was_overdue,
    a_foreseen_request_id_stops_no_deadline,
    a_chain_of_deadlines_is_settled_in_a_row,
    the_queue_is_written_only_where_something_is_due_earlier,
    a_game_without_terms_has_no_rows,
    a_finished_game_closes_itself,
    whoever_is_away_for_too_long_leaves,
    what_is_put_off_is_not_overslept,
    what_could_not_be_done_is_not_overslept,
    many_moves_and_a_sweeper_settle_each_deadline_once,
];

pub(super) async fn open(local: &Local, laid: &Laid) -> PlayedGame {
    local.wire().await.open(&laid.id).await
}

fn store(local: &Local) -> Arc<dyn Store> {
    local.store.inner()
}

async fn scenario_62_a_move_at_the_deadline_is_in_time_and_a_later_one_finds_the_timeout(setup: Setup) {
    let local = setup.start().await;
    let store = store(&local);
    local.clock.set(START);
    let laid = live().clock("per_move 1000 forfeit restore").created(START).laid_into(&*store).await;
    let mut game = open(&local, &laid).await;
    local.clock.set(laid.after(1_000));
    assert_eq!(game.play("a1").await.seq, 2);
    local.clock.set(laid.after(2_001));
    let refused = game.refuses("b2").await;
    refused.with("GAME_FINISHED").meta("closed", true).meta("head_seq", 3).meta("outcome_reason", "timeout");
    let lines = laid.lines(&*store).await;
    assert_eq!(lines.len(), 2);
    // No time is left, and the entry says so by its own time.
    assert!(lines[1].contains(&laid.after(2_000).to_string()) && lines[1].contains("-:plybook timeout 1"), "{lines:?}");
    assert_eq!(local.chores(Chore::Settled), 1);
}

/// A node that looks after the queue of another node's store, at the same time.
async fn sweeper_beside(local: &Local) -> Local {
    let sweeper = over(store(local)).sweeping().start().await;
    sweeper.clock.set(START);
    sweeper
}

async fn scenario_59_a_game_that_ends_leaves_the_queue_and_a_late_timer_does_nothing(setup: Setup) {
    let local = setup.start().await;
    let (store, sweeper) = (store(&local), sweeper_beside(&local).await);
    local.clock.set(START);
    // The timer has fired by the sweeper's clock, and stands still before it has looked.
    sweeper.store.breaks(Call::Entries, Fault::Held);
    let laid = live().clock("per_move 1000 forfeit restore").created(START).laid_into(&*store).await;
    sweeper.clock.set(laid.after(5_000));
    until("the row is claimed", || async { sweeper.chores(Chore::Claimed) >= 1 }).await;
    let mut game = open(&local, &laid).await;
    game.play("a1 b1 a2 b2 a3").await;
    assert_eq!(laid.rows(&*store).await, []);
    let lines = laid.lines(&*store).await;
    let next = live().clock("per_move 1000 forfeit restore").created(laid.after(10_000)).laid_into(&*store).await;
    sweeper.store.mends();
    until("the claim is found to be gone", || async { sweeper.chores(Chore::ClaimLost) >= 1 }).await;
    assert_eq!(laid.lines(&*store).await, lines);
    assert_eq!((laid.rows(&*store).await, next.rows(&*store).await), (vec![], vec![DueKind::Time]));
    assert_eq!(next.lines(&*store).await, [""; 0], "and nothing happens to the next game");
    assert_eq!(sweeper.chores(Chore::Settled) + local.chores(Chore::Settled), 0);
}

async fn a_request_that_is_refused_has_settled_what_was_overdue(setup: Setup) {
    let local = setup.start().await;
    let store = store(&local);
    local.clock.set(START);
    let laid = live().at(|table| table.seats(3)).clock("per_move 1000 forfeit restore").created(START).laid_into(&*store).await;
    let game = open(&local, &laid).await;
    local.clock.set(laid.after(1_500));
    // Seat 0 has left by then, so what it was shown is stale.
    game.refuses_seat(1, "b2").await.with("STALE_SEQ").meta("expected_seq", 1).meta("head_seq", 2);
    let lines = laid.lines(&*store).await;
    assert!(lines.len() == 1 && lines[0].contains("timeout 0"), "{lines:?}");
    let mut game = open(&local, &laid).await;
    assert_eq!(game.to_move, Some(1));
    game.play("b2").await;
    // Whoever would close a game whose last deadline has passed is told that it is over, not that it goes on.
    local.clock.set(laid.after(2_501));
    game.refuses_close(game.asks_close()).await.with("GAME_FINISHED").meta("closed", true).meta("outcome_reason", "timeout");
    assert_eq!(laid.lines(&*store).await.len(), 3);
}

/// Request ids of what is settled can be foreseen, and somebody takes one for a move of theirs.
async fn a_foreseen_request_id_stops_no_deadline(setup: Setup) {
    let local = setup.start().await;
    let store = store(&local);
    local.clock.set(START);
    let laid = live().clock("per_move 1000 forfeit restore").created(START).laid_into(&*store).await;
    let mut game = open(&local, &laid).await;
    let foreseen = Uuid::new_v5(&laid.key.game, b"timeout/2").to_string();
    let request = plybook_proto::v1::MakeMoveRequest { request_id: foreseen, ..game.asks("a1") };
    assert_eq!(game.sends(request.clone()).await.unwrap().seq, 2);
    local.clock.set(laid.after(1_001));
    game.refuses("b2").await.with("GAME_FINISHED").meta("head_seq", 3).meta("outcome_reason", "timeout");
    assert_eq!(game.sends(request).await.unwrap().seq, 2, "and the move keeps its id");
}

/// Every seat lets its time pass twice while nobody is there; then the game is abandoned.
async fn a_chain_of_deadlines_is_settled_in_a_row(setup: Setup) {
    let local = setup.sweeping().start().await;
    let store = store(&local);
    local.clock.set(START);
    let laid = live().at(|table| table.seats(3)).clock("per_move 1000 skip restore").created(START).laid_into(&*store).await;
    local.clock.set(laid.after(2_500));
    let lines = laid.until_lines(&*store, 2, "timeout").await;
    assert_eq!(lines.len(), 2, "{lines:?}");
    local.clock.set(laid.after(60_000));
    let lines = laid.until_closed(&*store).await;
    assert_eq!(lines.len(), 6, "{lines:?}");
    for (n, line) in lines.iter().enumerate() {
        assert!(line.contains(&format!("timeout {}", n % 3)) && line.contains(&laid.after(1_000 * (n as u64 + 1)).to_string()), "{line}");
    }
    assert!(lines[5].contains("abandoned"), "{lines:?}");
    laid.until_no_row(&*store).await;
}

/// An entry that writes to the queue takes the claim away, and one that does not leaves it.
async fn the_queue_is_written_only_where_something_is_due_earlier(setup: Setup) {
    let local = setup.start().await;
    let store = store(&local);
    local.clock.set(START);
    let claimed = async || store.claim_due(1, LONG).await.unwrap()[0];
    // Each turn ends later than the one before.
    let laid = live().clock("per_move 1000 forfeit restore").created(START).laid_into(&*store).await;
    let mut game = open(&local, &laid).await;
    let claim = claimed().await;
    for (n, notation) in ["a1", "b1", "a2"].into_iter().enumerate() {
        local.clock.set(laid.after(n as u64));
        game.play(notation).await;
    }
    assert!(store.settle_due(&claim, None).await.unwrap(), "nothing was written");
    // The first seat has 15 s after its move, the other thinks until it has 6.5 s, and the first moves at once.
    let laid = live().clock("fischer 10000 5000 forfeit restore").created(START).laid_into(&*store).await;
    let mut game = open(&local, &laid).await;
    let claim = claimed().await;
    for (notation, at) in [("a1", 0), ("b1", 8_500)] {
        local.clock.set(laid.after(at));
        game.play(notation).await;
    }
    assert!(store.settle_due(&claim, Some(laid.after(23_501))).await.unwrap(), "nothing was written");
    let claim = claimed().await;
    game.play("a2").await;
    assert!(!store.settle_due(&claim, Some(laid.after(23_501))).await.unwrap(), "it is due earlier");
    let row = store.due_of(laid.key).await.unwrap()[0];
    assert_eq!(row.attempts, 0);
    local.clock.set(laid.after(15_001));
    game.refuses("b2").await.with("GAME_FINISHED").meta("outcome_reason", "timeout");
}

async fn a_game_without_terms_has_no_rows(setup: Setup) {
    let local = setup.start().await;
    let mut game = local.wire().await.game().await;
    game.play("a1 b1").await;
    assert_eq!(store(&local).next_due().await.unwrap(), None);
    game.play("a2 b2 a3").await;
    assert_eq!(store(&local).next_due().await.unwrap(), None);
}

async fn a_finished_game_closes_itself(setup: Setup) {
    let local = setup.sweeping().start().await;
    let store = store(&local);
    local.clock.set(START);
    let laid = live().closes_after(60_000).created(START).laid_into(&*store).await;
    assert_eq!(laid.rows(&*store).await, []);
    let mut game = open(&local, &laid).await;
    game.play("a1 b1 a2 b2 a3").await;
    assert_eq!(laid.rows(&*store).await, [DueKind::Time]);
    // By the database's clock both rows are long due, so whoever claims the one claims the other too, and looks at it in vain.
    let other = live().clock("per_move 1000 forfeit restore").created(START).laid_into(&*store).await;
    local.clock.set(laid.after(1_001));
    other.until_closed(&*store).await;
    until("it is looked at in vain", || async { local.chores(Chore::Claimed) >= 2 }).await;
    assert_eq!((laid.lines(&*store).await.len(), laid.is_closed(&*store).await), (5, false));
    // By the database's clock the row was put off from now.
    local.clock.set(Time::from_unix_ms(store.clock_unix_ms().await.unwrap() + 3_600_000));
    let lines = laid.until_closed(&*store).await;
    assert!(lines[5].contains(&laid.after(60_000).to_string()) && lines[5].contains("-:plybook close"), "{lines:?}");
    assert_eq!(laid.rows(&*store).await, []);
}

async fn whoever_is_away_for_too_long_leaves(setup: Setup) {
    let local = setup.sweeping().start().await;
    let store = store(&local);
    local.clock.set(START);
    let laid = live().forfeits_after(5_000).created(START).laid_into(&*store).await;
    assert_eq!(laid.rows(&*store).await, []);
    laid.appends(&*store, |game, seed| {
        let actor = Actor { seat: Some(Seat(1)), by: tester() };
        let request = Request { actor, expected: game.head().seq, ask: Ask::Act(Act::Away) };
        game.decide(&request, laid.after(10), seed).unwrap()
    })
    .await;
    local.clock.set(laid.after(5_010));
    let mut game = open(&local, &laid).await;
    game.play("a1").await;
    assert_eq!(laid.rows(&*store).await, [DueKind::Time]);
    local.clock.set(laid.after(5_011));
    let lines = laid.until_closed(&*store).await;
    assert!(lines[2].contains("-:plybook forfeit 1") && lines[2].contains(&laid.after(5_010).to_string()), "{lines:?}");
}

async fn what_is_put_off_is_not_overslept(setup: Setup) {
    overslept(setup, None).await;
}

async fn what_could_not_be_done_is_not_overslept(setup: Setup) {
    overslept(setup, Some((Call::Entries, Fault::Failed))).await;
}

/// A node that looks only when its alarm rings looks at a game before its time, and just as its row is put off looks at the
/// queue and finds its own claim.
async fn overslept(setup: Setup, fault: Option<(Call, Fault)>) {
    let local = setup.limits(|limits| (limits.sweepers, limits.due_poll, limits.due_lease) = (4, NEVER, LONG)).start().await;
    local.store.breaks(Call::Settle, Fault::Held);
    if let Some((call, fault)) = fault {
        local.store.breaks(call, fault);
    }
    local.store.arms_next(Arms { time: Some(START), bot: None });
    let game = local.wire().await.game().clock(per_move(1_000)).await;
    until("it is being put off", || async { local.store.count(Call::Settle) == 1 }).await;
    until("nobody looks any more", || async {
        let looks = local.store.count(Call::Due);
        tokio::time::sleep(Duration::from_millis(50)).await;
        local.store.count(Call::Due) == looks
    })
    .await;
    local.store.mends();
    until("its time is over", || async { game.now().await.state() == GameState::Closed }).await;
}

/// The database's own clock and short times: at every deadline a move, its copy and the sweeper come together.
async fn many_moves_and_a_sweeper_settle_each_deadline_once(setup: Setup) {
    let local = setup.sweeping().start().await;
    let store = store(&local);
    let mut running = Vec::new();
    for _ in 0..20 {
        let laid = live().clock("per_move 200 forfeit restore").laid_into(&*store).await;
        let game = open(&local, &laid).await;
        let (store, wire) = (Arc::clone(&store), local.wire().await);
        running.push(tokio::spawn(async move {
            until_after(&*store, laid.after(200)).await;
            let (one, two) = (game.asks("a1"), game.asks("b2"));
            let (first, second) = (game.through(&wire), game.clone());
            let (first, second) = tokio::join!(first.refuses_move(one), second.refuses_move(two));
            for refused in [first, second] {
                refused.with("GAME_FINISHED").meta("outcome_reason", "timeout");
            }
            let lines = laid.lines(&*store).await;
            assert!(lines.len() == 1 && lines[0].contains(&laid.after(200).to_string()), "{lines:?}");
        }));
    }
    for run in running {
        run.await.unwrap();
    }
    assert_eq!(local.chores(Chore::Settled), 20);
    until_queue_is_empty(&*store).await;
}

/// Two nodes look after the queue and a third one gets a move: all of them stand before the same entry. Whoever is
/// first, it is one entry, and the move is refused.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_58_two_sweepers_and_a_move_at_the_same_moment_are_one_entry() {
    let database = postgres::database().await;
    let short = |setup: Setup| setup.sweeping().limits(|limits| limits.due_lease = Duration::from_millis(100));
    let mut nodes = vec![over_postgres(&database).await.start().await];
    for _ in 0..2 {
        nodes.push(short(over_postgres(&database).await).start().await);
    }
    let store = nodes[0].store.inner();
    for _ in 0..3 {
        nodes.iter().for_each(|node| node.clock.set(START));
        let laid = live().clock("per_move 1000 forfeit restore").created(START).laid_into(&*store).await;
        let game = open(&nodes[0], &laid).await;
        let held = Held::before_entry(&database, &laid.id, 2).await;
        // Leases end by the database's clock, and the nodes' have to be past that.
        let over = Time::from_unix_ms(store.clock_unix_ms().await.unwrap() + 3_600_000);
        nodes.iter().for_each(|node| node.clock.set(over));
        let moving = tokio::spawn({
            let game = game.clone();
            async move { game.refuses("a1").await }
        });
        let waiting = "SELECT pid::text FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
        until("all wait for the same entry", || async { database.column(waiting).await.len() >= 3 }).await;
        let settled = |nodes: &[Local]| nodes.iter().map(|node| node.chores(Chore::Settled)).sum::<u64>();
        let before = settled(&nodes);
        held.release().await;
        moving.await.unwrap().with("GAME_FINISHED").meta("outcome_reason", "timeout").meta("head_seq", 2);
        let lines = laid.lines(&*store).await;
        assert!(lines.len() == 1 && lines[0].contains("timeout 0"), "{lines:?}");
        assert_eq!(settled(&nodes) - before, 1);
        assert_eq!(laid.rows(&*store).await, []);
    }
}
