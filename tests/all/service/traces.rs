//! What an operator sees of a node: a span a call, logs by line, and no secret in either.

use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use plybook_tests::collector::{Collector, attribute, collector};
use plybook_tests::node::{self, Node};
use plybook_tests::patience::until;
use plybook_tests::ports::Nobody;
use plybook_tests::postgres;
use plybook_tests::refused::Refused;
use plybook_tests::wire::PlayedGame;
use tonic::Request;

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const PARENT: &str = "b7ad6b7169203331";

/// A request inside the caller's own span.
fn traced<T>(message: T) -> Request<T> {
    let mut request = Request::new(message);
    request.metadata_mut().insert("traceparent", format!("00-{TRACE}-{PARENT}-01").parse().unwrap());
    request
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_call_is_a_span_of_the_callers_trace() {
    let (folder, collector) = (tempfile::tempdir().unwrap(), collector().await);
    let file = folder.path().join("books.db");
    let node = node::over(file.to_str().unwrap()).with(&["--otlp-endpoint", &collector.url()]).start();
    let wire = node.wire().await;
    let mut game = wire.game().await;
    let answer = wire.games().make_move(traced(game.asks("b2"))).await.unwrap();
    game.sees(answer.into_inner().event.unwrap());
    let refused = Refused::by(wire.games().make_move(traced(game.asks("b2"))).await);
    let get = plybook_proto::v1::GetGameRequest { game_id: game.id.clone(), at_seq: None };
    wire.games().get_game(traced(get)).await.unwrap();
    let stream = plybook_proto::v1::StreamEventsRequest { game_id: game.id.clone(), ..Default::default() };
    drop(wire.games().stream_events(traced(stream)).await.unwrap());
    drop(wire);
    node.terminate();
    assert!(node.ended().success());

    let spans = collector.spans();
    let is_call = |span: &&Span| span.kind() == SpanKind::Server && span.trace_id == bytes(TRACE);
    let ours: Vec<&Span> = spans.iter().filter(is_call).collect();
    assert_eq!(ours.len(), 4, "one span a call: {ours:#?}");
    assert!(ours.iter().all(|span| span.parent_span_id == bytes(PARENT)), "each continues the caller's span");
    let calls: Vec<_> = ours.iter().map(|span| told(span)).collect();
    let (id, some) = (Some(game.id.clone()), |text: &str| Some(text.to_owned()));
    let wanted = [
        ("plybook.v1.GameService/MakeMove", id.clone(), some("2"), some("OK")),
        ("plybook.v1.GameService/MakeMove", id.clone(), None, Some(refused.reason)),
        ("plybook.v1.GameService/GetGame", id.clone(), some("2"), some("OK")),
        ("plybook.v1.GameService/StreamEvents", id, None, some("OK")),
    ];
    for wanted in wanted {
        assert!(calls.contains(&wanted), "{wanted:?} is not among {calls:#?}");
    }
    let created = spans.iter().find(|span| span.name.ends_with("/CreateGame")).expect("a call without a trace begins one");
    assert!(created.parent_span_id.is_empty() && created.trace_id != bytes(TRACE));
    assert_eq!(told(created).2, Some("1".to_owned()));
}

/// Neither a call nor the node's end waits for a collector that takes the line and says nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_collector_that_hangs_harms_nobody() {
    let hanging = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("books.db");
    let endpoint = format!("http://{}", hanging.local_addr().unwrap());
    // In milliseconds: whoever waited for it would wait longer than the test.
    let node =
        node::over(file.to_str().unwrap()).with(&["--otlp-endpoint", &endpoint]).env("OTEL_EXPORTER_OTLP_TIMEOUT", "3600000").start();
    let mut game = node.wire().await.game().await;
    game.play("a1 b1 a2 b2").await;
    drop(game);
    node.terminate();
    assert!(tokio::task::block_in_place(|| node.ended()).success());
}

fn told(span: &Span) -> (&str, Option<String>, Option<String>, Option<String>) {
    (span.name.as_str(), attribute(span, "game.id"), attribute(span, "entry.seq"), attribute(span, "outcome"))
}

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn logs_are_json_by_line_where_nobody_reads_them_and_human_on_demand() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("books.db");
    let logs_of = |flags: &[&str]| {
        let log = folder.path().join("log");
        let node = node::over(file.to_str().unwrap()).with(&["--log", "info"]).with(flags).logs_to(&log).start();
        node.terminate();
        assert!(node.ended().success());
        std::fs::read_to_string(log).unwrap()
    };
    let json = logs_of(&[]);
    assert!(json.lines().count() >= 2, "{json}");
    for line in json.lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap_or_else(|why| panic!("{line}: {why}"));
        assert!(line["timestamp"].is_string() && line["level"].is_string() && line["fields"]["message"].is_string(), "{line}");
    }
    let human = logs_of(&["--log-format", "human"]);
    assert!(human.lines().any(|line| line.contains("INFO") && line.contains("serving")), "{human}");
    assert!(human.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_err()), "{human}");
}

/// With everything logged that can be, over Postgres with a password.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_seed_and_no_password_is_in_logs_or_spans() {
    const PASSWORD: &str = "correct-horse-battery";
    let (database, folder, collector) = (postgres::database().await, tempfile::tempdir().unwrap(), collector().await);
    let log = folder.path().join("log");
    let url = database.url.replacen("plybook@", &format!("plybook:{PASSWORD}@"), 1);
    let node = node::over(&url).with(&["--log", "trace", "--otlp-endpoint", &collector.url()]).logs_to(&log).start();
    let given: Vec<u8> = (0..32).map(|n| 0xa1_u8.wrapping_add(n * 7)).collect();
    let wire = node.wire().await;
    let mut games = vec![wire.game().snakes(100, &[]).seed(&given).await, wire.game().snakes(100, &[]).await];
    for game in &mut games {
        exercise(game).await;
    }
    drop(wire);
    end(node);

    let logged = as_text(&std::fs::read(&log).unwrap());
    assert!(logged.contains("sqlx::query") && logged.contains("\"TRACE\""), "everything is logged");
    let traced = as_text(&Collector::everything(&collector));
    assert!(traced.contains("MakeMove"), "spans were received");
    let shown = logged + &traced;
    let drawn = database.column("SELECT encode(seed, 'hex') FROM game_seed").await;
    assert_eq!(drawn.len(), 2);
    assert!(drawn.contains(&hex(&given)));
    for seed in drawn.iter().map(|seed| bytes(seed)) {
        let decimal = format!("{:?}", &seed[..8]);
        let texts = [hex(&seed[..8]), hex(&seed[..8]).to_uppercase(), base64(&seed), decimal.trim_matches(['[', ']']).to_owned()];
        for form in texts.into_iter().chain([as_text(&seed[..8])]) {
            assert!(!shown.contains(&form), "a seed is in the logs as {form:?}");
        }
    }
    for form in [PASSWORD.to_owned(), base64(PASSWORD.as_bytes())] {
        assert!(!shown.contains(&form), "the password is in the logs");
    }
}

/// The server is away: that is one warning, however often it is looked for, and no call is harmed. User, password and
/// token are in no line, whatever is logged.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_nats_server_that_is_away_is_one_warning_without_its_password() {
    const USER: &str = "wakes-for-plybook";
    const PASSWORD: &str = "correct-horse-battery";
    let (database, folder, nobody) = (postgres::database().await, tempfile::tempdir().unwrap(), Nobody::new());
    for login in [format!("{USER}:{PASSWORD}"), PASSWORD.to_owned()] {
        for (level, name) in [("info,plybook_store=debug", "quiet"), ("trace,async_nats=trace", "loud")] {
            let log = folder.path().join(name);
            let wake = format!("nats://{login}@{}", nobody.address());
            let node = node::over(&database.url).with(&["--log", level, "--wake", &wake]).logs_to(&log).start();
            node.wire().await.game().await.play("a1 b1 a2 b2 a3").await;
            let logged = || as_text(&std::fs::read(&log).unwrap());
            until("it was looked for again", async || logged().matches("over NATS are still lost").count() >= 2).await;
            end(node);
            let logged = logged();
            assert_eq!(logged.contains("async_nats"), name == "loud");
            assert_eq!(logged.matches("over NATS are lost").count(), 1, "{logged}");
            for secret in [USER, PASSWORD, &base64(PASSWORD.as_bytes())] {
                assert!(!logged.contains(secret), "{secret} is in the logs");
            }
            if name == "quiet" {
                assert_eq!(node::complaints(&logged), 1, "{logged}");
            }
        }
    }
}

/// Throws, refusals, readings, a stream: whatever a game goes through before it is closed.
async fn exercise(game: &mut PlayedGame) {
    game.play("roll roll roll").await;
    game.refuses_seat(0, "roll").await;
    game.refuses("b2").await;
    game.now().await;
    game.wire.try_get(&game.id, Some(2)).await.unwrap();
    game.wire.book(&game.id).await;
    game.wire.follow(&game.id).with_snapshot().until_head().open().await.rest().await;
}

fn end(node: Node) {
    node.terminate();
    assert!(node.ended().success());
}

/// Bytes as characters of the same number, so that text and bytes are searched alike.
fn as_text(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| char::from(*byte)).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Without the last group, which may be padded.
fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let sextets = |group: &[u8]| {
        let bits = u32::from(group[0]) << 16 | u32::from(group[1]) << 8 | u32::from(group[2]);
        [18, 12, 6, 0].map(|shift| char::from(ALPHABET[(bits >> shift & 63) as usize]))
    };
    bytes.chunks_exact(3).flat_map(sextets).collect()
}
