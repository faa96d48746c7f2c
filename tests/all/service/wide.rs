//! A site larger than one machine: nodes restarted one after the other under load, behind a pooler, and with a standby.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use plybook_client::{Client, Options};
use plybook_core::{Seq, Uuid};
use plybook_proto::v1;
use plybook_store::{GameKey, Store as _, StoredEntry, TenantId};
use plybook_tests::node::{self, Node};
use plybook_tests::patience::{PATIENCE, until};
use plybook_tests::ports;
use plybook_tests::postgres::{self, TestDatabase, own, standby};
use plybook_tests::wire::{PlayedGame, notated};
use tokio::sync::watch;

const NODES: usize = 3;
const PLAYERS: usize = 4;
/// Nobody ever has so many in a row before the board is full.
const SIDE: u32 = 15;
/// A game goes on to here at most.
const MOVES_MAX: u32 = 200;

/// Addresses that stay while what listens there is another process.
struct Site {
    database: TestDatabase,
    ports: Vec<u16>,
    nodes: Vec<Node>,
}

impl Site {
    async fn start() -> Site {
        let database = postgres::database().await;
        let ports: Vec<u16> = (0..NODES).map(|_| ports::free()).collect();
        let nodes = ports.iter().map(|port| start(&database, *port)).collect();
        Site { database, ports, nodes }
    }

    /// A client that begins at this node, and goes on to the others.
    fn client(&self, first: usize) -> Client {
        let addresses: Vec<String> = (0..NODES).map(|n| format!("http://127.0.0.1:{}", self.ports[(first + n) % NODES])).collect();
        Client::with(&addresses.join(","), Options { patience: PATIENCE, timeout: PATIENCE, ..Options::default() }).unwrap()
    }
}

fn start(database: &TestDatabase, port: u16) -> Node {
    node::over_at(&database.url, &format!("127.0.0.1:{port}")).start()
}

/// What one player did: the game, and the lines that were acknowledged, by number.
struct Played {
    key: GameKey,
    acknowledged: Vec<(u64, String)>,
}

/// Plays until told to stop. Each move is sent by two clients of different nodes at once, which must get the same answer, and
/// no call may fail.
async fn play(clients: [Client; 2], stop: Arc<AtomicBool>, calls: Arc<AtomicUsize>) -> Played {
    let ruleset = v1::RulesetSpec {
        id: "mnk".into(),
        params: [("rows", SIDE), ("cols", SIDE), ("k", SIDE)].into_iter().map(parameter).collect(),
        ..Default::default()
    };
    let seats = vec![v1::Seat::default(), v1::Seat::default()];
    let created = clients[0].create_game(v1::CreateGameRequest { ruleset: Some(ruleset), seats, ..Default::default() }).await.unwrap();
    let game_id = created.game_id.clone();
    let key = GameKey { tenant: TenantId::DEFAULT, game: game_id.parse().unwrap() };
    let (end, ends) = watch::channel(u64::MAX);
    let watching = tokio::spawn(follow(clients[1].clone(), game_id.clone(), ends));
    let mut acknowledged = Vec::new();
    for cell in 0..MOVES_MAX {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let notation = format!("{}{}", char::from(b'a' + (cell % SIDE) as u8), cell / SIDE + 1);
        let request = v1::MakeMoveRequest {
            request_id: Uuid::new_v4().to_string(),
            game_id: game_id.clone(),
            expected_seq: Some(u64::from(cell) + 1),
            seat: Some(cell % 2),
            action: Some(notated(&notation)),
            ..Default::default()
        };
        let (one, two) = tokio::join!(clients[0].make_move(request.clone()), clients[1].make_move(request));
        let (one, two) = (one.unwrap().event.unwrap(), two.unwrap().event.unwrap());
        assert_eq!(one, two, "a request and its copy have one answer");
        acknowledged.push((one.seq, one.line));
        calls.fetch_add(2, Ordering::Relaxed);
    }
    let head = acknowledged.last().map_or(1, |(seq, _)| *seq);
    end.send_replace(head);
    let watched = watching.await.unwrap();
    assert_eq!(watched[1..], acknowledged, "the stream has each entry once, in order");
    assert_eq!(watched[0].0, 1);
    Played { key, acknowledged }
}

fn parameter((name, value): (&str, u32)) -> (String, v1::ParamValue) {
    (name.to_owned(), v1::ParamValue { value: Some(v1::param_value::Value::IntValue(i64::from(value))) })
}

/// Every entry of a game up to the one that is told to be the last.
async fn follow(client: Client, game_id: String, mut until: watch::Receiver<u64>) -> Vec<(u64, String)> {
    let (mut events, mut seen) = (client.events(&game_id, 0), Vec::new());
    while events.last_seq() < *until.borrow() {
        tokio::select! {
            event = events.next() => {
                let event = event.unwrap().unwrap();
                seen.push((event.seq, event.line));
            }
            _ = until.changed() => {}
        }
    }
    seen
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_restarted_one_after_the_other_fail_no_call() {
    let mut site = Site::start().await;
    let (stop, calls) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let players: Vec<_> = (0..PLAYERS)
        .map(|player| {
            let (clients, stop, calls) = ([site.client(player), site.client(player + 1)], Arc::clone(&stop), Arc::clone(&calls));
            tokio::spawn(async move {
                let mut played = Vec::new();
                while !stop.load(Ordering::Relaxed) {
                    played.push(play(clients.clone(), Arc::clone(&stop), Arc::clone(&calls)).await);
                }
                played
            })
        })
        .collect();
    let more = async |wanted: usize| {
        let from = calls.load(Ordering::Relaxed);
        until("calls go on", async || calls.load(Ordering::Relaxed) >= from + wanted || players.iter().any(|player| player.is_finished()))
            .await;
    };
    more(40).await;
    for place in 0..NODES {
        let (port, database) = (site.ports[place], &site.database);
        let old = site.nodes.remove(place);
        old.terminate();
        more(20).await;
        let ended = tokio::task::spawn_blocking(move || old.ended()).await.unwrap();
        assert!(ended.success(), "a drained node ends well: {ended}");
        site.nodes.insert(place, tokio::task::block_in_place(|| start(database, port)));
        more(40).await;
    }
    stop.store(true, Ordering::Relaxed);
    let store = site.database.store().await;
    let mut games = 0;
    for player in players {
        for played in player.await.unwrap() {
            let book: Vec<StoredEntry> = store.entries(played.key, Seq::FIRST, 1_000).await.unwrap();
            let stored: Vec<(u64, String)> = book.into_iter().map(|entry| (u64::from(entry.seq.0), entry.line)).collect();
            assert_eq!(stored, played.acknowledged, "the book has what was acknowledged, each once, and nothing else");
            games += 1;
        }
    }
    assert!(games >= PLAYERS);
}

/// Sentences on behalf of one game, told by both nodes.
async fn plays_across(nodes: &[Node; 2]) -> PlayedGame {
    let wires = [nodes[0].wire().await, nodes[1].wire().await];
    let mut game = wires[0].game().mnk(3, 3, 3).await;
    let mut watching = wires[1].follow(&game.id).open().await;
    assert_eq!(watching.event().await.seq, 1);
    for (turn, notation) in ["b2", "a1", "b3", "c1", "b1"].into_iter().enumerate() {
        game = game.through(&wires[turn % 2]);
        let event = game.play(notation).await;
        assert_eq!(watching.event().await, event);
    }
    assert_eq!(wires[1].verified(&game.id).await.unwrap().first_wrong_seq, None);
    assert_eq!(wires[0].book(&game.id).await, wires[1].book(&game.id).await);
    game
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_game_is_played_behind_a_pooler() {
    let database = postgres::database().await;
    let pooled = database.pooled_url().await;
    let never = Duration::from_secs(3_600).as_millis().to_string();
    // Wake-ups past the pooler: no watcher would come to know anything by looking by itself.
    let woken =
        || node::over(&pooled).with(&["--database-sessions", "lent", "--wake-database", &database.url, "--poll-floor-ms", &never]).start();
    plays_across(&[woken(), woken()]).await;
    let looking = || node::over(&pooled).with(&["--database-sessions", "lent", "--poll-floor-ms", "50"]).start();
    plays_across(&[looking(), looking()]).await;
    let listeners = "SELECT pid::text FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'plybook listener'";
    until("nobody listens any more", async || database.column(listeners).await.is_empty()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_game_is_played_with_a_standby_that_lags_and_goes() {
    let first = own::cluster().await;
    let database = first.database().await;
    let standby = standby::of(&first).await;
    let over = || node::over(&database.url).with(&["--read-database", &standby.database.url]).start();
    let nodes = [over(), over()];
    let one = plays_across(&nodes).await;
    standby.pause().await;
    let two = plays_across(&nodes).await;
    standby.stop();
    let three = plays_across(&nodes).await;
    // And on a node that remembers nothing.
    let cold = over();
    let wire = cold.wire().await;
    for game in [one, two, three] {
        assert_eq!(wire.verified(&game.id).await.unwrap().first_wrong_seq, None);
        assert_eq!(wire.get(&game.id).await.seq, 6);
        assert_eq!(wire.try_get(&game.id, Some(4)).await.unwrap().seq, 4);
    }
}
