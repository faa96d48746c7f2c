//! The feed against the table: writers on two nodes, transactions that commit late, killed backends, restarted nodes, and
//! followers that break off anywhere. What each of them got is what is stored, each once, all in the same order.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use plybook_core::Uuid;
use plybook_proto::v1::stream_all_events_response::Frame;
use plybook_tests::injected::{Local, over_postgres, over_sqlite};
use plybook_tests::patience::{PATIENCE, until};
use plybook_tests::postgres::{self, TestDatabase};
use plybook_tests::random::Random;
use plybook_tests::wire::{PlayedGame, Wire, fresh};
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, SqliteConnection};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

/// Where the nodes are now.
#[derive(Clone, Default)]
struct Nodes(Arc<Mutex<Vec<Wire>>>);

impl Nodes {
    fn any(&self, random: &mut Random) -> Wire {
        random.pick(&self.0.lock().unwrap()).clone()
    }

    fn put(&self, place: usize, wire: Wire) {
        let mut nodes = self.0.lock().unwrap();
        if nodes.len() <= place { nodes.push(wire) } else { nodes[place] = wire }
    }
}

/// An entry, as a feed names it.
type Named = (String, u64);

/// Plays games of its own, each request until it is answered, on whichever node.
async fn write(nodes: Nodes, number: u64, moves: u32) {
    let mut random = Random::new(number);
    let mut games: Vec<PlayedGame> = Vec::new();
    for _ in 0..moves {
        if games.is_empty() || random.below(12) == 0 {
            let mut asks = nodes.any(&mut random).game().of("gomoku").request;
            asks.request_id = fresh();
            loop {
                let wire = nodes.any(&mut random);
                if let Ok(created) = wire.games().create_game(asks.clone()).await {
                    let game = created.into_inner().game.unwrap();
                    games.push(PlayedGame { wire, id: game.game_id, head: 1, to_move: Some(0) });
                    break;
                }
                sleep(Duration::from_millis(5)).await;
            }
            continue;
        }
        let at = random.below(games.len() as u64) as usize;
        let game = &mut games[at];
        // Row by row, so that nobody has five in a row: the seats take turns along each of them.
        let (row, column) = ((game.head - 1) / 15 + 1, (game.head - 1) % 15);
        let asks = game.asks(&format!("{}{row}", char::from(b'a' + column as u8)));
        loop {
            if let Ok(event) = game.through(&nodes.any(&mut random)).sends(asks.clone()).await {
                game.sees(event);
                break;
            }
            sleep(Duration::from_millis(5)).await;
        }
    }
}

/// Writes entries of a game that no node knows, in transactions that stay open for a while, and end either way.
async fn write_late(database: Arc<TestDatabase>, number: u64, entries: u32) {
    let (mut random, game) = (Random::new(number), Uuid::now_v7());
    let mut seq = 1;
    while seq <= entries {
        let mut connection = database.connect().await;
        let pause = random.below(60);
        let commits = random.below(4) > 0;
        let written = async {
            connection.execute("BEGIN").await?;
            let entry = format!(
                "INSERT INTO book_entry (tenant_id, game_id, seq, request_id, request_hash, digest, line)
                 VALUES (1, '{game}', {seq}, gen_random_uuid(), sha256(''), sha256(gen_random_uuid()::text::bytea), 'late')"
            );
            connection.execute(AssertSqlSafe(entry)).await?;
            sleep(Duration::from_millis(pause)).await;
            connection.execute(if commits { "COMMIT" } else { "ROLLBACK" }).await.map(drop)
        };
        // Whatever became of one that was cut: what is there decides.
        let _ = written.await;
        drop(connection);
        let there = format!("SELECT coalesce(max(seq), 0)::text FROM book_entry WHERE game_id = '{game}'");
        seq = loop {
            let mut connection = database.connect().await;
            if let Ok(there) = sqlx::query_scalar::<_, String>(AssertSqlSafe(there.clone())).fetch_one(&mut connection).await {
                break 1 + there.parse::<u32>().unwrap();
            }
        };
    }
}

/// Follows, breaks off anywhere, and goes on from the token, until it has seen so many and all is written.
async fn follow(nodes: Nodes, number: u64, stored: Arc<Mutex<Option<usize>>>) -> Vec<Named> {
    let mut random = Random::new(number);
    let (mut token, mut seen) = (String::new(), Vec::new());
    while stored.lock().unwrap().is_none_or(|stored| seen.len() < stored) {
        let (wire, frames) = (nodes.any(&mut random), random.below(60));
        let Ok(mut feed) = wire.feed().from(&token).heartbeat(1).sent().await else {
            sleep(Duration::from_millis(5)).await;
            continue;
        };
        for _ in 0..frames {
            let frame = timeout(PATIENCE, feed.message()).await.expect("a frame, or the end");
            let Ok(Some(frame)) = frame else { break };
            token = frame.resume_token;
            match frame.frame.unwrap() {
                Frame::Event(event) => seen.push((event.game_id, event.seq)),
                // Idle: perhaps all is there.
                Frame::Checkpoint(_) | Frame::CaughtUp(_) => {
                    if stored.lock().unwrap().is_some() {
                        break;
                    }
                }
            }
        }
    }
    seen
}

/// What the followers got is what is stored.
fn compare(mut stored: Vec<Named>, followers: Vec<Vec<Named>>) {
    stored.sort();
    for seen in &followers {
        let mut heads: BTreeMap<&str, u64> = BTreeMap::new();
        for (game, seq) in seen {
            let head = heads.entry(game).or_default();
            assert_eq!(*seq, *head + 1, "game {game} comes in its order");
            *head += 1;
        }
        let mut sorted = seen.clone();
        sorted.sort();
        assert_eq!(sorted, stored, "everything once");
        assert_eq!(*seen, followers[0], "everybody sees the same order");
    }
}

fn followers(nodes: &Nodes, stored: &Arc<Mutex<Option<usize>>>) -> Vec<JoinHandle<Vec<Named>>> {
    (0..4).map(|number| tokio::spawn(follow(nodes.clone(), 900 + number, Arc::clone(stored)))).collect()
}

async fn all<T>(tasks: Vec<JoinHandle<T>>) -> Vec<T> {
    let mut done = Vec::new();
    for task in tasks {
        done.push(timeout(PATIENCE, task).await.expect("it comes to its end").unwrap());
    }
    done
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_followers_get_is_what_is_stored_over_postgres() {
    let database = Arc::new(postgres::database().await);
    let nodes = Nodes::default();
    let start = async || over_postgres(&database).await.limits(|limits| limits.poll_floor = Duration::from_millis(500)).start().await;
    let (one, mut two) = (start().await, start().await);
    nodes.put(0, one.wire().await);
    nodes.put(1, two.wire().await);
    let stored = Arc::new(Mutex::new(None));
    let followers = followers(&nodes, &stored);
    let mut writers: Vec<JoinHandle<()>> = (0..4).map(|number| tokio::spawn(write(nodes.clone(), number, 60))).collect();
    writers.extend((0..3).map(|number| tokio::spawn(write_late(Arc::clone(&database), 100 + number, 25))));
    let written = Arc::new(AtomicBool::new(false));
    let harm = tokio::spawn({
        let (database, nodes, written) = (Arc::clone(&database), nodes.clone(), Arc::clone(&written));
        async move {
            let (mut random, mut kills, mut restarts) = (Random::new(7), 0, 0);
            while !written.load(Ordering::SeqCst) {
                sleep(Duration::from_millis(50 + random.below(200))).await;
                if random.below(4) == 0 {
                    two.drain().await;
                    two = over_postgres(&database).await.limits(|limits| limits.poll_floor = Duration::from_millis(500)).start().await;
                    nodes.put(1, two.wire().await);
                    restarts += 1;
                } else {
                    kills += database.kill_all().await;
                }
            }
            // It lives on for who still follows.
            (kills, restarts, two)
        }
    });
    all(writers).await;
    written.store(true, Ordering::SeqCst);
    let (kills, restarts, _two) = timeout(PATIENCE, harm).await.unwrap().unwrap();
    assert!(kills > 0 && restarts > 0, "{kills} backends were killed, and a node restarted {restarts} times");
    let rows = database.column("SELECT game_id || ' ' || seq FROM book_entry").await;
    let rows: Vec<Named> =
        rows.iter().filter_map(|row| row.split_once(' ')).map(|(game, seq)| (game.to_owned(), seq.parse().unwrap())).collect();
    *stored.lock().unwrap() = Some(rows.len());
    compare(rows, all(followers).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_followers_get_is_what_is_stored_over_sqlite() {
    let nodes = Nodes::default();
    let mut local = over_sqlite().await.start().await;
    nodes.put(0, local.wire().await);
    let stored = Arc::new(Mutex::new(None));
    let followers = followers(&nodes, &stored);
    let writers: Vec<JoinHandle<()>> = (0..3).map(|number| tokio::spawn(write(nodes.clone(), 10 + number, 60))).collect();
    for _ in 0..4 {
        until("some more was written", {
            let (before, local) = (entries(&local).await.len(), &local);
            move || async move { entries(local).await.len() > before + 10 || entries(local).await.len() > 150 }
        })
        .await;
        local = local.restarted().await;
        nodes.put(0, local.wire().await);
    }
    all(writers).await;
    let rows = entries(&local).await;
    *stored.lock().unwrap() = Some(rows.len());
    compare(rows, all(followers).await);
}

/// What is in the file, past any store.
async fn entries(local: &Local) -> Vec<Named> {
    let mut file = SqliteConnection::connect(&format!("sqlite://{}", local.file().display())).await.unwrap();
    let rows: Vec<(Uuid, i64)> = sqlx::query_as("SELECT game_id, seq FROM book_entry").fetch_all(&mut file).await.unwrap();
    file.close().await.unwrap();
    rows.into_iter().map(|(game, seq)| (game.to_string(), seq.unsigned_abs())).collect()
}
