//! The collector: away, back, and what is sent along.

use plybook_tests::collector::{collector, collector_at};
use plybook_tests::node;
use plybook_tests::patience::until;
use plybook_tests::ports;

/// Once, whatever else speaks of it.
const BACK: &str = "\"the collector is back\"";

/// However many batches of spans and numbers fail, that is one warning, no harm to any call, and one line once it is over.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_collector_that_is_away_is_one_warning_and_its_return_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let (file, log, port) = (folder.path().join("books.db"), folder.path().join("log"), ports::free());
    let node = node::over(file.to_str().unwrap())
        .with(&["--otlp-endpoint", &format!("http://127.0.0.1:{port}"), "--log", "info,plybook_server::telemetry=debug"])
        .env("OTEL_BSP_SCHEDULE_DELAY", "50")
        .env("OTEL_METRIC_EXPORT_INTERVAL", "50")
        .logs_to(&log)
        .start();
    let logged = || std::fs::read_to_string(&log).unwrap();
    let wire = node.wire().await;
    until("several exports failed", async || {
        wire.game().await.play("a1 b1 a2 b2 a3").await;
        logged().matches("is still away").count() >= 3
    })
    .await;
    assert_eq!(logged().matches("does not take what it is sent").count(), 1, "{}", logged());
    assert_eq!(node::complaints(&logged()), 1, "{}", logged());

    let collector = collector_at(([127, 0, 0, 1], port).into()).await;
    until("the collector gets both", async || {
        wire.game().await;
        !collector.spans().is_empty() && !collector.metrics().is_empty()
    })
    .await;
    until("that is said", async || logged().contains(BACK)).await;
    drop(wire);
    node.terminate();
    assert!(node.ended().success());
    assert_eq!(logged().matches(BACK).count(), 1, "{}", logged());
    assert_eq!(node::complaints(&logged()), 1, "{}", logged());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn numbers_and_headers_reach_the_collector() {
    let (folder, collector) = (tempfile::tempdir().unwrap(), collector().await);
    let file = folder.path().join("books.db");
    let node = node::over(file.to_str().unwrap())
        .with(&["--otlp-endpoint", &collector.url()])
        .env("OTEL_EXPORTER_OTLP_HEADERS", "api-key=abc,x-scope=plybook")
        .start();
    node.wire().await.game().await.play("a1 b1").await;
    node.terminate();
    assert!(node.ended().success());
    let names = collector.metrics();
    let known: std::collections::BTreeSet<String> =
        plybook_server::telemetry::metrics::METRICS.iter().map(|metric| metric.name.to_owned()).collect();
    assert!(names.is_subset(&known), "{names:?}");
    for name in ["rpc.server.call.duration", "db.client.operation.duration", "plybook.game.created", "plybook.node.ready"] {
        assert!(names.contains(name), "{name} is not among {names:?}");
    }
    for headers in collector.headers() {
        assert!(headers.contains("\"api-key\": \"abc\"") && headers.contains("\"x-scope\": \"plybook\""), "{headers}");
    }
}
