//! Whether a node lives, and whether it should be given work.

use std::time::{Duration, Instant};

use plybook_tests::node::{self, Node};
use plybook_tests::patience::until;
use plybook_tests::postgres::{self, own};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;

use super::with_page;

/// What gRPC health says of the whole node and of both services.
async fn says(node: &Node) -> [ServingStatus; 3] {
    let mut health = HealthClient::new(node.channel().await);
    let mut said = [ServingStatus::Unknown; 3];
    for (said, service) in said.iter_mut().zip(["", "plybook.v1.GameService", "plybook.v1.AuditService"]) {
        let answer = health.check(HealthCheckRequest { service: service.to_owned() }).await.unwrap();
        *said = answer.into_inner().status();
    }
    said
}

async fn becomes(node: &Node, ready: bool, because: &str) {
    let (status, serving) = if ready { (200, ServingStatus::Serving) } else { (503, ServingStatus::NotServing) };
    until(because, async || {
        let (found, words) = node.page("/readyz").await;
        found == status && words.contains(because) && says(node).await == [serving; 3]
    })
    .await;
    assert_eq!(node.page("/livez").await, (200, "alive\n".to_owned()), "whatever its database does, it lives");
    let shown = format!("plybook_node_ready {}\n", u8::from(ready));
    until("the page says so too", async || node.page("/metrics").await.1.contains(&shown)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_is_ready_while_its_database_answers() {
    let mut cluster = own::cluster().await;
    let database = cluster.database().await;
    let node = with_page(node::over(&database.url)).with(&["--log", "error"]).start();
    becomes(&node, true, "ready").await;
    cluster.stop();
    becomes(&node, false, "does not answer").await;
    cluster.start().await;
    becomes(&node, true, "ready").await;
}

/// One that hangs refuses nothing and closes nothing: it is told by its silence, and sooner than a connection or a statement is
/// given up, which takes 5 s and more. A slow machine has another try.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_hangs_is_noticed_by_its_silence() {
    let cluster = own::cluster().await;
    let database = cluster.database().await;
    let node = with_page(node::over(&database.url)).with(&["--log", "error"]).start();
    let mut tries = 0;
    loop {
        becomes(&node, true, "ready").await;
        let held = cluster.hold();
        let began = Instant::now();
        until("it is noticed", async || node.page("/readyz").await.0 == 503).await;
        let noticed = began.elapsed();
        becomes(&node, false, "does not answer").await;
        drop(held);
        if noticed < Duration::from_secs(4) {
            break;
        }
        tries += 1;
        assert!(tries < 5, "it took {noticed:?}");
    }
    becomes(&node, true, "ready").await;
}

/// Somebody migrated it beyond this build, or a restore brought back a schema from before it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_is_not_ready_on_a_schema_that_it_does_not_know() {
    let database = postgres::database().await;
    let node = with_page(node::over(&database.url)).with(&["--log", "error"]).start();
    becomes(&node, true, "ready").await;
    database
        .execute(
            "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) VALUES (9999, 'later', true, '', 0)",
        )
        .await;
    becomes(&node, false, "schema 9999 is newer").await;
    database.execute("DELETE FROM _sqlx_migrations WHERE version = 9999").await;
    becomes(&node, true, "ready").await;
}

/// Streams are still being told when nobody is to come any more.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_goes_away_is_not_ready() {
    let database = postgres::database().await;
    let node = with_page(node::over(&database.url)).with(&["--log", "error", "--drain-timeout-ms", "600000"]).start();
    becomes(&node, true, "ready").await;
    // A call that lasts keeps the node: an upload that does not end.
    let mut audit = node.audit().await;
    let (_more, pieces) = tokio::sync::mpsc::channel::<plybook_proto::v1::ImportBookRequest>(1);
    let upload = tokio::spawn(async move { audit.import_book(tokio_stream::wrappers::ReceiverStream::new(pieces)).await });
    let mut health = HealthClient::new(node.channel().await);
    let mut watch = health.watch(HealthCheckRequest { service: String::new() }).await.unwrap().into_inner();
    assert_eq!(watch.message().await.unwrap().unwrap().status(), ServingStatus::Serving);
    node.terminate();
    let next = watch.message().await.unwrap().unwrap();
    assert_eq!(next.status(), ServingStatus::NotServing);
    drop((watch, health));
    upload.abort();
    assert!(node.ended().success());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_else_is_at_the_address() {
    let folder = tempfile::tempdir().unwrap();
    let node = with_page(node::over(folder.path().join("books.db").to_str().unwrap())).start();
    for path in ["/", "/metrics/", "/debug", "/plybook.v1.GameService/GetGame"] {
        assert_eq!(node.page(path).await.0, 404, "{path}");
    }
}
