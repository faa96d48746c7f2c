//! Many callers at once, on two nodes and three: one of them wins, and each learns the truth.

use std::collections::HashSet;
use std::sync::Arc;

use plybook_core::{Seq, Uuid};
use plybook_store::{Append, Create, Filter, GameKey, NewEntry, RequestKey, TenantId};
use plybook_tests::postgres;

use super::{AnyStore, new_entry, new_game, new_key, open_game, request, sqlite_in, stored};

const CALLERS: usize = 50;

/// Two nodes over one Postgres, three, and two behind a pooler; and two handles on one SQLite file, which must not be
/// fooled either.
macro_rules! on_several_nodes {
    ($($race:ident),+ $(,)?) => {
        on_several_nodes!(@ on_sqlite: super::sqlite_nodes(); $($race),+);
        on_several_nodes!(@ on_two_nodes: super::nodes(2); $($race),+);
        on_several_nodes!(@ on_three_nodes: super::nodes(3); $($race),+);
        on_several_nodes!(@ on_two_nodes_behind_a_pooler: super::pooled_nodes(); $($race),+);
    };
    (@ $how:ident: $nodes:expr; $($race:ident),+) => {
        mod $how {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $race() {
                let (_kept, nodes) = $nodes.await;
                super::$race(nodes).await;
            })+
        }
    };
}

async fn sqlite_nodes() -> (tempfile::TempDir, Vec<AnyStore>) {
    let folder = tempfile::tempdir().unwrap();
    let nodes = vec![sqlite_in(folder.path()).await, sqlite_in(folder.path()).await];
    (folder, nodes)
}

async fn nodes(count: usize) -> ((), Vec<AnyStore>) {
    let database = postgres::database().await;
    let mut nodes: Vec<AnyStore> = Vec::new();
    for _ in 0..count {
        nodes.push(Arc::new(database.store().await));
    }
    ((), nodes)
}

async fn pooled_nodes() -> ((), Vec<AnyStore>) {
    let database = postgres::database().await;
    ((), vec![Arc::new(database.pooled_store().await), Arc::new(database.pooled_store().await)])
}

on_several_nodes![
    copies_of_one_append_store_it_once,
    different_appends_store_one,
    copies_of_one_creation_make_one_game,
    different_creations_with_one_request_id_make_one_game,
    everybody_who_tries_again_gets_in_once,
];

/// Calls this for each caller at once, by turns on either node.
async fn at_once<T: Send + 'static, F: Future<Output = T> + Send + 'static>(
    nodes: &[AnyStore],
    call: impl Fn(usize, AnyStore) -> F,
) -> Vec<T> {
    let calls: Vec<_> = (0..CALLERS).map(|caller| tokio::spawn(call(caller, nodes[caller % nodes.len()].clone()))).collect();
    let mut answers = Vec::new();
    for call in calls {
        answers.push(call.await.unwrap());
    }
    answers
}

async fn copies_of_one_append_store_it_once(nodes: Vec<AnyStore>) {
    for _ in 0..5 {
        let key = open_game(&*nodes[0]).await;
        let entry = new_entry(key, 2, request(1));
        let answers = at_once(&nodes, |_, node| {
            let entry = entry.clone();
            async move { node.append(entry).await.unwrap() }
        })
        .await;
        assert_eq!(answers.iter().filter(|&answer| *answer == Append::Stored).count(), 1);
        assert_eq!(answers.iter().filter(|&answer| *answer == Append::Repeated(stored(&entry))).count(), CALLERS - 1);
    }
}

async fn different_appends_store_one(nodes: Vec<AnyStore>) {
    let key = open_game(&*nodes[0]).await;
    let answers = at_once(&nodes, |_, node| async move { node.append(new_entry(key, 2, request(1))).await.unwrap() }).await;
    assert_eq!(answers.iter().filter(|&answer| *answer == Append::Stored).count(), 1);
    assert_eq!(answers.iter().filter(|&answer| *answer == Append::Conflict).count(), CALLERS - 1);
    assert_eq!(nodes[1].last(key).await.unwrap().unwrap().seq, Seq(2));
}

/// Each caller's node mints an id of its own.
async fn copies_of_one_creation_make_one_game(nodes: Vec<AnyStore>) {
    let creation = request(1);
    let answers = at_once(&nodes, |_, node| async move {
        let key = new_key();
        match node.create(new_game(key, creation)).await.unwrap() {
            Create::Created => (true, key.game),
            Create::Repeated(game) => (false, game),
            Create::Reused(game) => panic!("{game} was made by the same request"),
        }
    })
    .await;
    assert_eq!(answers.iter().filter(|(made, _)| *made).count(), 1);
    let games: HashSet<Uuid> = answers.iter().map(|&(_, game)| game).collect();
    assert_eq!(games.len(), 1, "all were told of one game");
    let list = nodes[1].list(TenantId::DEFAULT, &Filter::default(), None, 10).await.unwrap();
    assert_eq!(list.iter().map(|summary| summary.game).collect::<HashSet<_>>(), games);
}

async fn different_creations_with_one_request_id_make_one_game(nodes: Vec<AnyStore>) {
    let id = Uuid::new_v4();
    let answers = at_once(&nodes, |caller, node| async move {
        node.create(new_game(new_key(), RequestKey { id, hash: [caller as u8; 32] })).await.unwrap()
    })
    .await;
    assert_eq!(answers.iter().filter(|&answer| *answer == Create::Created).count(), 1);
    assert_eq!(answers.iter().filter(|answer| matches!(answer, Create::Reused(_))).count(), CALLERS - 1);
    assert_eq!(nodes[1].list(TenantId::DEFAULT, &Filter::default(), None, 10).await.unwrap().len(), 1);
}

/// Every request is sent twice, by two callers on different nodes, each of whom appends at whatever
/// head it sees until it is in: all numbers are taken, and each request exactly once.
async fn everybody_who_tries_again_gets_in_once(nodes: Vec<AnyStore>) {
    let key = open_game(&*nodes[0]).await;
    let requests: Vec<RequestKey> = (0..CALLERS / 2).map(|_| request(1)).collect();
    let answers = at_once(&nodes, |caller, node| insist(node, key, requests[caller / 2])).await;
    assert_eq!(answers.iter().filter(|(_, first)| *first).count(), requests.len());

    let book = nodes[1].entries(key, Seq::FIRST, 1_000).await.unwrap();
    let numbers: Vec<u32> = book.iter().map(|entry| entry.seq.0).collect();
    assert_eq!(numbers, (2..2 + requests.len() as u32).collect::<Vec<_>>());
    for (caller, (seq, _)) in answers.iter().enumerate() {
        let request = requests[caller / 2].id;
        let mine: Vec<Seq> = book.iter().filter(|entry| entry.request_id == request).map(|entry| entry.seq).collect();
        assert_eq!(mine, [*seq], "caller {caller} was told the truth");
    }
}

/// The number under which the request got in, and whether it was this call that stored it.
async fn insist(node: AnyStore, key: GameKey, request: RequestKey) -> (Seq, bool) {
    // Each round somebody gets in, so nobody needs many more rounds than there are callers.
    for _ in 0..20 * CALLERS {
        let next = node.last(key).await.unwrap().unwrap().seq.next();
        let entry = NewEntry { seq: next, ..new_entry(key, next.0, request) };
        match node.append(entry).await.unwrap() {
            Append::Stored => return (next, true),
            Append::Repeated(entry) => return (entry.seq, false),
            Append::Conflict => {}
            Append::Reused(entry) => panic!("{entry:?} answers the same request"),
            Append::Signed(receipt) => panic!("nobody wanted {receipt}"),
        }
    }
    panic!("always in conflict")
}
