//! Bots move, at once or by the queue; and whatever becomes of one, its game goes on.

use std::sync::Arc;
use std::time::Duration;

use plybook_bots::Bots;
use plybook_core::Time;
use plybook_proto::v1;
use plybook_server::upkeep::Chore;
use plybook_store::{DueKind, Store};
use plybook_tests::injected::{Call, Fault, Local, Setup, over, over_postgres};
use plybook_tests::laid::{LONG, Laid, live, until_queue_is_empty};
use plybook_tests::patience::until;
use plybook_tests::postgres;
use plybook_tests::random::Random;
use plybook_tests::strategies::{self, Fragile, Ponder, Stubborn};
use plybook_tests::table::START;
use plybook_tests::unplayed;
use plybook_tests::wire::PlayedGame;

use super::settling::{on_both, open};

on_both![
    scenario_67_an_undo_while_a_bot_thinks_stops_it_and_the_next_turn_is_thought_about_anew,
    scenario_68_the_fallback_moves_before_the_time_of_a_bot_that_is_silent_is_over,
    scenario_68_a_bot_whose_node_is_silent_is_another_nodes_once_the_lease_is_over,
    scenario_70_an_undo_against_a_bot_leads_back_to_the_persons_choice,
    scenario_70_a_bot_that_cannot_move_is_skipped_and_the_game_goes_on_to_its_end,
    a_bot_at_fault_is_replaced_for_its_turn_by_the_fallback,
    games_of_bots_alone_are_played_to_their_end_and_leave_nothing_behind,
    a_node_that_goes_away_lets_go_what_its_bots_have_not_begun,
    a_quick_bots_move_that_the_store_did_not_take_comes_again_soon,
    a_quick_bots_move_that_the_store_does_not_take_is_left_to_the_queue,
];

/// Up to [`plybook_server::limits::QUICK_BOT_NODES`] a bot is quick, and with so many it is slow.
const QUICK_AND_SLOW: [u64; 2] = [1, plybook_server::limits::QUICK_BOT_NODES + 1];

fn ponder() -> (Arc<Ponder>, Bots) {
    let ponder = Arc::new(Ponder::default());
    let bots = strategies::with(vec![Arc::<Ponder>::clone(&ponder)]);
    (ponder, bots)
}

/// Lets a seat play, and waits until the bot thinks about what to answer.
async fn play_into_thought(game: &mut PlayedGame, notation: &str, ponder: &Ponder) {
    let begun = ponder.begun();
    game.play(notation).await;
    until("the bot thinks", || async { ponder.begun() > begun }).await;
}

/// A time by which whatever a claim puts off by the database's clock is due again.
async fn soon(store: &dyn Store) -> Time {
    Time::from_unix_ms(store.clock_unix_ms().await.unwrap() + 3_600_000)
}

/// The row of a quick bot is removed by whoever finds that it has moved, a lease later.
async fn leaves_no_row(local: &Local, laid: &Laid) {
    let store = local.store.inner();
    local.clock.set(soon(&*store).await);
    laid.until_no_row(&*store).await;
    local.clock.set(START);
}

async fn until_idle(local: &Local) {
    until("no bot is at work", || async { local.bot_jobs() == 0 }).await;
}

fn moves_of(lines: &[String], who: &str) -> usize {
    lines.iter().filter(|line| line.contains(&format!("plybook/{who} move"))).count()
}

async fn scenario_67_an_undo_while_a_bot_thinks_stops_it_and_the_next_turn_is_thought_about_anew(setup: Setup) {
    let (ponder, bots) = ponder();
    let local = setup.sweeping().bots(bots).start().await;
    let store = local.store.inner();
    local.clock.set(START);
    for nodes in QUICK_AND_SLOW {
        let laid = live().bot(1, &format!("ponder@1 {nodes}")).created(START).laid_into(&*store).await;
        let mut game = open(&local, &laid).await;
        let discarded = local.chores(Chore::Discarded);
        play_into_thought(&mut game, "a1", &ponder).await;
        game.undo(0).await;
        until_idle(&local).await;
        assert_eq!(local.chores(Chore::Discarded), discarded + 1);
        assert_eq!(laid.lines(&*store).await.len(), 2, "nothing is answered to the old position");
        play_into_thought(&mut game, "b2", &ponder).await;
        ponder.answers(1);
        let lines = laid.until_lines(&*store, 1, "1:plybook/bot move").await;
        assert_eq!(lines.len(), 4, "{lines:?}");
        until_idle(&local).await;
        leaves_no_row(&local, &laid).await;
    }
    assert_eq!((local.chores(Chore::BotMoved), local.chores(Chore::FallbackMoved)), (2, 0));
}

async fn scenario_68_the_fallback_moves_before_the_time_of_a_bot_that_is_silent_is_over(setup: Setup) {
    let (_silent, bots) = ponder();
    let local = setup.sweeping().bots(bots).start().await;
    let store = local.store.inner();
    local.clock.set(START);
    for nodes in QUICK_AND_SLOW {
        let live = live().clock("per_move 1000 forfeit restore").bot(1, &format!("ponder@1 {nodes}"));
        let laid = live.created(START).laid_into(&*store).await;
        let mut game = open(&local, &laid).await;
        game.play("a1").await;
        let lines = laid.until_lines(&*store, 1, "1:plybook/fallback move").await;
        assert_eq!(lines.len(), 2, "{lines:?}");
    }
    assert_eq!((local.chores(Chore::BotLate), local.chores(Chore::BotMoved), local.chores(Chore::BotFault)), (2, 0, 0));
}

/// A node that has a bot's row and a bot that thinks, and its game.
async fn thinking(setup: Setup, lease: Duration) -> (Local, Arc<Ponder>, Laid) {
    let (ponder, bots) = ponder();
    let local = setup.sweeping().bots(bots).limits(|limits| limits.due_lease = lease).start().await;
    local.clock.set(START);
    let live = live().bot(1, &format!("ponder@1 {}", QUICK_AND_SLOW[1]));
    let laid = live.created(START).laid_into(&*local.store.inner()).await;
    let mut game = open(&local, &laid).await;
    play_into_thought(&mut game, "a1", &ponder).await;
    (local, ponder, laid)
}

async fn scenario_68_a_bot_whose_node_is_silent_is_another_nodes_once_the_lease_is_over(setup: Setup) {
    let (silent, thinks_on, laid) = thinking(setup, Duration::from_millis(100)).await;
    let store = silent.store.inner();
    silent.store.breaks(Call::Settle, Fault::Held);
    let (ponder, bots) = ponder();
    ponder.answers(1);
    let other = over(Arc::clone(&store)).sweeping().bots(bots).start().await;
    other.clock.set(soon(&*store).await);
    let lines = laid.until_lines(&*store, 1, "1:plybook/bot move").await;
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert_eq!(other.chores(Chore::BotMoved), 1);
    // The first one has an answer too, and comes too late.
    silent.store.mends();
    thinks_on.answers(1);
    until_idle(&silent).await;
    assert_eq!((silent.chores(Chore::BotMoved), laid.lines(&*store).await), (0, lines));
}

/// Its lease would last for longer than the test.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_goes_away_lets_its_bots_go() {
    let database = postgres::database().await;
    let (mut leaving, _unanswered, laid) = thinking(over_postgres(&database).await, LONG).await;
    let (ponder, bots) = ponder();
    ponder.answers(1);
    let other = over_postgres(&database).await.sweeping().bots(bots).start().await;
    let store = other.store.inner();
    other.clock.set(soon(&*store).await);
    leaving.drain().await;
    let lines = laid.until_lines(&*store, 1, "1:plybook/bot move").await;
    assert_eq!(lines.len(), 2, "{lines:?}");
    until("the other one has moved", || async { other.chores(Chore::BotMoved) == 1 }).await;
}

async fn scenario_70_an_undo_against_a_bot_leads_back_to_the_persons_choice(setup: Setup) {
    let local = setup.sweeping().start().await;
    let store = local.store.inner();
    local.clock.set(START);
    let laid = live().bot(1, "random@1 1").created(START).laid_into(&*store).await;
    open(&local, &laid).await.play("a1").await;
    laid.until_lines(&*store, 1, "1:plybook/bot move").await;
    let mut game = open(&local, &laid).await;
    game.undo(0).await;
    assert_eq!(game.now().await.seat_to_move, Some(0));
    until_idle(&local).await;
    assert_eq!(laid.lines(&*store).await.len(), 3, "the bot does not move again");
    game.play("b2").await;
    let lines = laid.until_lines(&*store, 2, "1:plybook/bot move").await;
    assert_eq!(lines.len(), 5, "{lines:?}");
}

/// Othello on a small board, where that comes often, and to either seat.
async fn scenario_70_a_bot_that_cannot_move_is_skipped_and_the_game_goes_on_to_its_end(setup: Setup) {
    let local = setup.sweeping().start().await;
    let (store, wire) = (local.store.inner(), local.wire().await);
    local.clock.set(START);
    let mut skipped = [0, 0];
    for nodes in QUICK_AND_SLOW {
        for number in 0..8 {
            let mut random = Random::new(number);
            let live = live().at(|table| table.of("othello").with("size", 6)).bot(1, &format!("random@1 {nodes}"));
            let laid = live.created(START).laid_into(&*store).await;
            let mut game = open(&local, &laid).await;
            loop {
                until("it is the person's turn, or nobody's", || async { game.now().await.seat_to_move != Some(1) }).await;
                if game.looks().await.seat_to_move.is_none() {
                    break;
                }
                let request = v1::ListLegalActionsRequest { game_id: laid.id.clone(), ..Default::default() };
                let legal = wire.games().list_legal_actions(request).await.unwrap().into_inner().actions;
                game.play(&random.pick(&legal).notation).await;
            }
            let events = wire.history(&laid.id).await;
            for event in &events {
                if let Some(v1::event::Body::MoveMade(made)) = &event.body {
                    made.skipped_seats.iter().for_each(|seat| skipped[*seat as usize] += 1);
                }
            }
            let outcome = events.last().unwrap().outcome.clone().unwrap();
            assert!(["most_discs", "equal_discs"].contains(&outcome.reason.as_str()), "{outcome:?}");
            wire.proves(&laid.id).await;
        }
    }
    assert!(skipped.iter().all(|times| *times > 0), "each seat is skipped now and then: {skipped:?}");
    assert_eq!((local.chores(Chore::FallbackMoved), local.chores(Chore::BotFault)), (0, 0));
}

async fn a_bot_at_fault_is_replaced_for_its_turn_by_the_fallback(setup: Setup) {
    let local = setup.sweeping().bots(strategies::with(vec![Arc::new(Stubborn), Arc::new(Fragile)])).start().await;
    let store = local.store.inner();
    local.clock.set(START);
    let mut faults = 0;
    // One chooses what is taken, one panics, and one is unknown to this build.
    for strategy in ["stubborn", "fragile", "nobody"] {
        for nodes in QUICK_AND_SLOW {
            let laid = live().bot(1, &format!("{strategy}@1 {nodes}")).created(START).laid_into(&*store).await;
            open(&local, &laid).await.play("a3").await;
            let lines = laid.until_lines(&*store, 1, "1:plybook/fallback move").await;
            assert_eq!(lines.len(), 2, "{strategy}: {lines:?}");
            faults += 1;
            until("it is counted", || async { local.chores(Chore::FallbackMoved) == faults }).await;
            assert_eq!(local.chores(Chore::BotFault), faults, "{strategy}");
            leaves_no_row(&local, &laid).await;
        }
    }
    assert_eq!(local.chores(Chore::BotMoved), 0);
}

/// Nobody is connected, and two nodes look after the queue.
async fn games_of_bots_alone_are_played_to_their_end_and_leave_nothing_behind(setup: Setup) {
    let local = setup.sweeping().start().await;
    let store = local.store.inner();
    let other = over(Arc::clone(&store)).sweeping().start().await;
    let now = soon(&*store).await;
    [&local, &other].into_iter().for_each(|node| node.clock.set(now));
    let mut games = Vec::new();
    for _ in 0..100 {
        games.push(live().bot(0, "random@1 1").bot(1, "heuristic@1 100").created(START).laid_into(&*store).await);
    }
    let mut moves = 0;
    for laid in &games {
        let lines = laid.until_closed(&*store).await;
        assert_eq!(moves_of(&lines, "bot"), lines.len(), "{lines:?}");
        moves += lines.len() as u64;
    }
    until_queue_is_empty(&*store).await;
    for node in [&local, &other] {
        until_idle(node).await;
    }
    assert_eq!(local.chores(Chore::BotMoved) + other.chores(Chore::BotMoved), moves);
}

/// A claim has come to the node that goes away, and nobody has taken it up.
async fn a_node_that_goes_away_lets_go_what_its_bots_have_not_begun(setup: Setup) {
    let local = setup.start().await;
    let store = local.store.inner();
    let laid = live().bot(0, "random@1 1").laid_into(&*store).await;
    let claim = store.claim_due(1, LONG).await.unwrap()[0];
    let (games, draining) = unplayed::games(&store);
    assert!(games.take_bot_turn(claim));
    draining.cancel();
    Arc::clone(&games).play_bots().await;
    let row = store.due_of(laid.key).await.unwrap()[0];
    assert!(row.at.unix_ms() <= store.clock_unix_ms().await.unwrap(), "{row:?}");
    assert_eq!((laid.lines(&*store).await, games.bot_jobs()), (vec![], 0));
    assert!(!games.take_bot_turn(claim), "nobody would play for it any more");
}

/// A quick bot that thinks, on a node that does not look at the queue, and its game.
async fn thinking_quickly(setup: Setup, lease: Duration) -> (Local, Arc<Ponder>, Laid) {
    let (ponder, bots) = ponder();
    let local = setup.bots(bots).limits(|limits| limits.due_lease = lease).start().await;
    local.clock.set(START);
    let laid = live().bot(1, "ponder@1 1").created(START).laid_into(&*local.store.inner()).await;
    play_into_thought(&mut open(&local, &laid).await, "a1", &ponder).await;
    (local, ponder, laid)
}

async fn a_quick_bots_move_that_the_store_did_not_take_comes_again_soon(setup: Setup) {
    let (local, ponder, laid) = thinking_quickly(setup, LONG).await;
    let tried = local.store.count(Call::Append);
    local.store.breaks(Call::Append, Fault::Away);
    ponder.answers(1_000);
    until("it was refused twice", || async { local.store.count(Call::Append) >= tried + 2 }).await;
    local.store.mends();
    let lines = laid.until_lines(&*local.store.inner(), 1, "1:plybook/bot move").await;
    assert_eq!(lines.len(), 2, "{lines:?}");
    until_idle(&local).await;
}

/// Later and later, and no longer than until its row is due.
async fn a_quick_bots_move_that_the_store_does_not_take_is_left_to_the_queue(setup: Setup) {
    let (local, ponder, laid) = thinking_quickly(setup, Duration::from_secs(1)).await;
    let tried = local.store.count(Call::Append);
    local.store.breaks(Call::Append, Fault::Away);
    ponder.answers(1_000);
    until_idle(&local).await;
    // Again after 100, 200 and 400 ms.
    assert_eq!(local.store.count(Call::Append), tried + 4);
    let store = local.store.inner();
    assert_eq!((laid.lines(&*store).await.len(), laid.rows(&*store).await), (1, vec![DueKind::Bot]));
}
