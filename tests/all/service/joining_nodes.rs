//! Joint entropy through several nodes: seats that join at the same moment, and nodes that die in between.

use plybook_core::Time;
use plybook_proto::v1::{self, IfAbsent};
use plybook_tests::asks::Asks;
use plybook_tests::held::Held;
use plybook_tests::injected::{Call, Local, over_postgres};
use plybook_tests::node;
use plybook_tests::patience::until;
use plybook_tests::postgres::{self, TestDatabase};
use plybook_tests::refused::Refused;
use plybook_tests::wire::{PlayedGame, Wire};

async fn two(database: &TestDatabase) -> [Local; 2] {
    [over_postgres(database).await.start().await, over_postgres(database).await.start().await]
}

/// Sends one request for each seat at the same moment, by turns through each node; all must be accepted.
async fn at_once(wires: &[Wire], asks: Vec<Asks>) -> Vec<v1::Event> {
    let sent = asks.into_iter().zip(wires.iter().cycle().cloned());
    let running: Vec<_> = sent.map(|(asks, wire)| tokio::spawn(async move { wire.sends(asks).await })).collect();
    let mut events = Vec::new();
    for run in running {
        events.push(run.await.unwrap().unwrap().event());
    }
    events
}

fn seqs(events: &[v1::Event]) -> Vec<u64> {
    let mut seqs: Vec<u64> = events.iter().map(|event| event.seq).collect();
    seqs.sort_unstable();
    seqs
}

/// The seat to move, as the last of these entries says, and none before it.
fn next_seat(events: &[v1::Event]) -> Vec<(u64, u32)> {
    let next = |event: &v1::Event| match &event.body {
        Some(v1::event::Body::NonceRevealed(revealed)) => revealed.next_seat.map(|next| (event.seq, next)),
        _ => None,
    };
    events.iter().filter_map(next).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_seat_that_joins_at_the_same_moment_joins_once() {
    let database = postgres::database().await;
    let nodes = two(&database).await;
    let wires = [nodes[0].wire().await, nodes[1].wire().await];
    for seats in [8, 8, 2] {
        let mut game = wires[0].game().of("snakes_and_ladders").seats(seats).joint(3600, IfAbsent::Abort).await;
        let mut commits: Vec<Asks> = Vec::new();
        for seat in 0..seats as u32 {
            commits.push(game.asks_commit(seat).await.into());
        }
        let reveals: Vec<Asks> = (0..seats as u32).map(|seat| game.asks_reveal(seat).into()).collect();
        let last = seats as u64 * 2 + 1;
        for (step, first) in [(commits, 2), (reveals, 2 + seats as u64)] {
            // Each request twice, so that its copy comes through the other node.
            let copies = step.iter().flat_map(|asks| [asks.clone(), asks.clone()]).collect();
            let mut events = at_once(&wires, copies).await;
            for pair in events.chunks(2) {
                assert_eq!(pair[0], pair[1], "a request and its copy are one entry");
            }
            events.dedup();
            assert_eq!(seqs(&events), (first..first + seats as u64).collect::<Vec<_>>());
            assert_eq!(next_seat(&events), if first == 2 { vec![] } else { vec![(last, 0)] });
        }
        game.looks().await;
        game.play("roll").await;
        assert_eq!(wires[1].proves(&game.id).await.head().seq.0, last as u32 + 1);
    }
}

/// Both nodes stand before the same entry with another seat's step: one comes second, and decides again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_step_that_comes_second_is_decided_again() {
    let database = postgres::database().await;
    let nodes = two(&database).await;
    let wires = [nodes[0].wire().await, nodes[1].wire().await];
    let game = wires[0].game().of("snakes_and_ladders").joint(3600, IfAbsent::Abort).await;
    // The other node knows the game too.
    assert_eq!(wires[1].get(&game.id).await.seq, 1);
    let commits = [game.asks_commit(0).await, game.asks_commit(1).await];
    let reveals = [game.asks_reveal(0), game.asks_reveal(1)];
    for (asks, head) in [(commits, 1), (reveals, 3)] {
        wires[1].get(&game.id).await;
        let appends = || nodes.iter().map(|node| node.store.count(Call::Append)).sum::<u64>();
        let before = appends();
        let held = Held::before_entry(&database, &game.id, head + 1).await;
        let asks = asks.map(Asks::from).to_vec();
        let joining = tokio::spawn({
            let wires = wires.clone();
            async move { at_once(&wires, asks).await }
        });
        let waiting = "SELECT pid::text FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
        until("both wait for the same entry", || async { database.column(waiting).await.len() == 2 }).await;
        held.release().await;
        assert_eq!(seqs(&joining.await.unwrap()), [head + 1, head + 2]);
        assert_eq!(appends() - before, 3, "one of two was appended at the second attempt");
    }
    wires[1].proves(&game.id).await;
}

/// One node's time for the last reveal is just over, the other's is not, and both write at once: the game has one
/// end, and whoever comes second is told of it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_close_and_a_late_reveal_at_the_same_moment_are_one_entry() {
    let database = postgres::database().await;
    let nodes = two(&database).await;
    let wires = [nodes[0].wire().await, nodes[1].wire().await];
    let begin = Time::parse("2026-11-30T12:00:00.000Z").unwrap();
    for _ in 0..3 {
        nodes.iter().for_each(|node| node.clock.set(begin));
        let mut game = wires[0].game().snakes(12, &[]).joint(60, IfAbsent::Forfeit).await;
        for seat in [0, 1] {
            game.commit(seat).await;
        }
        game.reveal(1).await;
        wires[1].get(&game.id).await;
        let over = begin.unix_ms() + 60_000;
        nodes[0].clock.set(Time::from_unix_ms(over + 1));
        nodes[1].clock.set(Time::from_unix_ms(over));
        let (close, reveal) = (Asks::from(game.asks_close()), Asks::from(game.asks_reveal(0)));
        let held = Held::before_entry(&database, &game.id, 5).await;
        let sent = [(close, wires[0].clone()), (reveal, wires[1].clone())];
        let running = sent.map(|(asks, wire)| tokio::spawn(async move { wire.sends(asks).await }));
        let waiting = "SELECT pid::text FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
        until("both wait for the same entry", || async { database.column(waiting).await.len() == 2 }).await;
        held.release().await;
        let [close, reveal] = running;
        match (close.await.unwrap(), reveal.await.unwrap()) {
            (Ok(closed), revealed) => {
                assert_eq!(closed.event().seq, 5);
                Refused::by(revealed).with("GAME_FINISHED").meta("closed", true).meta("outcome_reason", "absent");
            }
            (closed, Ok(revealed)) => {
                assert_eq!(next_seat(&[revealed.event()]), [(5, 0)]);
                Refused::by(closed).with("GAME_NOT_FINISHED").meta("head_seq", 5);
            }
            neither => panic!("{neither:?}"),
        }
        for wire in &wires {
            assert_eq!(wire.get(&game.id).await.seq, 5);
            assert_eq!(wire.verified(&game.id).await.unwrap().why, "");
        }
    }
}

/// No node keeps anything that joining needs.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_may_be_killed_between_any_two_steps() {
    let database = postgres::database().await;
    let first = node::over(&database.url).start();
    let mut game = first.wire().await.game().snakes(12, &[]).seats(3).joint(3600, IfAbsent::Forfeit).await;
    let mut asks = Vec::new();
    for seat in [2, 0, 1] {
        asks.push(game.asks_commit(seat).await);
    }
    asks.extend([1, 2, 0].map(|seat| game.asks_reveal(seat)));
    first.kill();
    let mut answered: Vec<(v1::JoinGameRequest, v1::Event)> = Vec::new();
    for request in asks {
        let node = node::over(&database.url).start();
        game = game.through(&node.wire().await);
        if let Some((before, event)) = answered.last() {
            assert_eq!(&game.clone().joins(before.clone()).await, event, "what was acknowledged is remembered");
        }
        let event = game.joins(request.clone()).await;
        answered.push((request, event));
        node.kill();
    }
    let node = node::over(&database.url).start();
    let mut game: PlayedGame = game.through(&node.wire().await);
    assert_eq!(game.to_move, Some(0));
    while game.to_move.is_some() {
        game.play("roll").await;
    }
    let verified = game.wire.audit().verify_game(v1::VerifyGameRequest { game_id: game.id.clone() }).await.unwrap().into_inner();
    assert_eq!((verified.why.as_str(), verified.dice_claim()), ("", v1::DiceClaim::Joint));
}
