//! A sampled call's steps are spans; of a call that is not sampled nothing is sent.

use std::collections::BTreeSet;

use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use plybook_proto::v1;
use plybook_tests::collector::{Collector, attribute, collector};
use plybook_tests::node;
use plybook_tests::refused::Refused;
use sqlx::Connection as _;
use tonic::Request;

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";

/// Inside a caller's span, which is sampled or not.
fn within<T>(message: T, trace: &str, sampled: bool) -> Request<T> {
    let mut request = Request::new(message);
    let parent = format!("00-{trace}-b7ad6b7169203331-0{}", u8::from(sampled));
    request.metadata_mut().insert("traceparent", parent.parse().unwrap());
    request
}

fn of_trace<'a>(spans: &'a [Span], trace: &str) -> Vec<&'a Span> {
    spans.iter().filter(|span| hex(&span.trace_id) == trace).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A node with these flags plays a move in a trace, sampled or not, and one in none; then it ends, and has sent all.
async fn played(flags: &[&str], sampled: bool) -> (Collector, String) {
    let (folder, collector) = (tempfile::tempdir().unwrap(), collector().await);
    let file = folder.path().join("books.db");
    let url = collector.url();
    let start = || node::over(file.to_str().unwrap()).with(&["--otlp-endpoint", &url]).with(flags).start();
    let game = start().wire().await.game().await;
    // A cold node has to load it.
    let node = start();
    let wire = node.wire().await;
    let mut game = game.through(&wire);
    let answer = wire.games().make_move(within(game.asks("b2"), TRACE, sampled)).await.unwrap();
    game.sees(answer.into_inner().event.unwrap());
    game.play("a1").await;
    let id = game.id.clone();
    drop((wire, game));
    node.terminate();
    assert!(node.ended().success());
    (collector, id)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sampled_move_is_seen_step_by_step() {
    let (collector, id) = played(&[], true).await;
    let spans = collector.spans();
    let ours = of_trace(&spans, TRACE);
    let call = ours.iter().find(|span| span.kind() == SpanKind::Server).expect("the call");
    assert_eq!(call.name, "plybook.v1.GameService/MakeMove");
    let told = ["rpc.system.name", "rpc.method", "rpc.response.status_code", "game.id"].map(|key| attribute(call, key).unwrap_or_default());
    assert_eq!(told, ["grpc", "plybook.v1.GameService/MakeMove", "OK", &id]);
    let steps: BTreeSet<&str> = ours.iter().filter(|span| span.kind() == SpanKind::Internal).map(|span| span.name.as_str()).collect();
    assert_eq!(steps, BTreeSet::from(["check", "load", "decide", "append", "wake"]));
    for step in ours.iter().filter(|span| span.kind() == SpanKind::Internal) {
        assert_eq!(step.parent_span_id, call.span_id, "{} is a step of the call", step.name);
        assert!(step.start_time_unix_nano >= call.start_time_unix_nano && step.end_time_unix_nano >= step.start_time_unix_nano);
    }
}

/// The caller decides; a call without one is kept unless the sampler says otherwise.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_sampler_decides_what_is_kept() {
    for (flags, sampled, callers, own) in [
        (&[][..], false, false, true),
        (&["--traces-sampler", "parentbased_always_off"], true, true, false),
        (&["--traces-sampler", "always_off"], true, false, false),
        (&["--traces-sampler", "parentbased_traceidratio", "--traces-sampler-arg", "0"], true, true, false),
        (&["--traces-sampler", "traceidratio", "--traces-sampler-arg", "1"], false, true, true),
        (&["--traces-exporter", "none"], true, false, false),
    ] {
        let (collector, _) = played(flags, sampled).await;
        let spans = collector.spans();
        let of_caller = of_trace(&spans, TRACE);
        assert_eq!(!of_caller.is_empty(), callers, "{flags:?}: {of_caller:#?}");
        assert_eq!(of_caller.iter().any(|span| span.name == "append"), callers, "{flags:?}: steps go with their call");
        assert_eq!(of_caller.len() < spans.len(), own, "{flags:?}: calls in no trace");
    }
}

/// What an INTERNAL error tells is where its trace is found, and nothing else.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_internal_error_names_the_callers_trace() {
    let (folder, collector) = (tempfile::tempdir().unwrap(), collector().await);
    let (file, log) = (folder.path().join("books.db"), folder.path().join("log"));
    let node = node::over(file.to_str().unwrap()).with(&["--otlp-endpoint", &collector.url()]).logs_to(&log).start();
    let game = node.wire().await.game().await;
    let mut connection = sqlx::SqliteConnection::connect(&format!("sqlite://{}", file.display())).await.unwrap();
    sqlx::query("ALTER TABLE refusal RENAME TO gone").execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    let asks = v1::ListRefusalsRequest { game_id: game.id.clone(), ..Default::default() };
    let status = game.wire.audit().list_refusals(within(asks, TRACE, true)).await.unwrap_err();
    let refused = Refused::of(&status);
    assert_eq!((status.code(), refused.reason.as_str()), (tonic::Code::Internal, "INTERNAL"));
    assert_eq!((status.message(), refused.metadata["trace_id"].as_str()), ("internal error", TRACE));
    assert_eq!(refused.metadata.len(), 1);
    drop(game);
    node.terminate();
    assert!(node.ended().success());
    assert!(std::fs::read_to_string(log).unwrap().contains(TRACE), "the log has it too");
    assert!(!of_trace(&collector.spans(), TRACE).is_empty());
}
