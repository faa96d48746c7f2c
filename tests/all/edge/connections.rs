//! Many connections: who goes where there is no room, and who does not.

use std::process::{Command, Stdio};
use std::time::Duration;

use plybook_proto::v1;
use plybook_proto::v1::game_service_client::GameServiceClient;
use plybook_server::limits::Limits;
use plybook_tests::frames::{HELLO, left, silent};
use plybook_tests::injected::over_sqlite;
use plybook_tests::node;
use plybook_tests::patience::until;
use plybook_tests::wire::connect;
use tonic::transport::Endpoint;

use super::{others_go_on, plays};

/// Strangers push out strangers: whoever has made a call keeps a connection, and a stream.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_of_connections_ends_its_own() {
    let local = over_sqlite().await.limits(|limits| limits.connections = 4).start().await;
    let wire = local.wire().await;
    let mut game = wire.game().await;
    let mut watched = wire.follow(&game.id).open().await;
    let mut lines = Vec::new();
    for _ in 0..50 {
        lines.push(silent(local.address(), HELLO).await);
        until("it has opened", || async { local.connections().count() <= 4 + 1 }).await;
    }
    others_go_on(&local).await;
    game.play("a1 b1").await;
    for seq in 1..=3 {
        assert_eq!(watched.event().await.seq, seq);
    }
    for line in &mut lines[..46] {
        left(line).await;
    }
    assert!(local.connections().count() <= 5 && local.connections().let_go() >= 46);
}

/// Whoever is known and does nothing for longer than a call may take makes room for whoever comes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn idle_connections_make_room_and_streams_do_not() {
    let few = |limits: &mut Limits| (limits.connections, limits.call_timeout) = (3, Duration::from_secs(8));
    let local = over_sqlite().await.limits(few).start().await;
    let (busy, idle, other) = (local.wire().await, local.wire().await, local.wire().await);
    let mut game = busy.game().await;
    let mut watched = busy.follow(&game.id).open().await;
    plays(&idle).await;
    plays(&other).await;
    until("one that is idle has gone", || is_let_in(local.address())).await;
    game.play("a1").await;
    assert_eq!((watched.event().await.seq, watched.event().await.seq), (1, 2), "a stream is no idleness");
}

/// Where a connection ends while its first call is on its way, the caller's transport may leave the call without an end.
const ANSWERED_WITHIN: Duration = Duration::from_secs(10);

async fn is_let_in(address: &str) -> bool {
    let endpoint = Endpoint::from_shared(format!("http://{address}")).unwrap();
    let asked = async {
        let channel = endpoint.connect().await.ok()?;
        GameServiceClient::new(channel).list_rulesets(v1::ListRulesetsRequest::default()).await.ok()
    };
    tokio::time::timeout(ANSWERED_WITHIN, asked).await.is_ok_and(|answer| answer.is_some())
}

/// Where the system gives no more descriptors, connections that have made no call give theirs back.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_without_descriptors_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("books.db");
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -n 96 && exec \"$@\"", "sh"]).arg(node::binary());
    command.args(["serve", "--listen", "127.0.0.1:0", "--database", database.to_str().unwrap()]);
    command.env("PLYBOOK_LOG", "error").stdin(Stdio::null()).stdout(Stdio::piped());
    let node = node::by(command).start();
    let wire = node.wire().await;
    plays(&wire).await;
    let mut lines = Vec::new();
    for _ in 0..200 {
        lines.push(silent(node.address(), HELLO).await);
    }
    plays(&connect(node.address()).await).await;
    plays(&wire).await;
}
