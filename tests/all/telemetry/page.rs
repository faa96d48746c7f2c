//! The page of metrics, of a node that has done everything there is a metric for.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use plybook_proto::v1;
use plybook_server::telemetry::metrics::{Kind, METRICS};
use plybook_tests::live::{bot, fischer};
use plybook_tests::node::{self, Node, root};
use plybook_tests::patience::until;
use plybook_tests::postgres;
use plybook_tests::refused::Refused;
use plybook_tests::wire::Wire;

use super::with_page;

/// One sample: its name as it stands there, labels, value.
pub(super) struct Sample {
    pub(super) name: String,
    pub(super) labels: BTreeMap<String, String>,
    pub(super) value: f64,
}

/// A page, read.
pub(super) struct Read {
    pub(super) samples: Vec<Sample>,
    kinds: BTreeMap<String, String>,
}

impl Read {
    fn of(page: &str) -> Read {
        let sample = |line: &str| {
            let (name, value) = line.rsplit_once(' ').unwrap();
            let (name, labels) = name.split_once('{').unwrap_or((name, "}"));
            let labels = labels.trim_end_matches('}').split("\",").filter(|label| !label.is_empty());
            let pair = |label: &str| label.split_once("=\"").map(|(key, value)| (key.to_owned(), value.trim_end_matches('"').to_owned()));
            Sample { name: name.to_owned(), labels: labels.map(|label| pair(label).unwrap()).collect(), value: value.parse().unwrap() }
        };
        let samples = page.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).map(sample).collect();
        let kind = |line: &str| line.strip_prefix("# TYPE ")?.split_once(' ').map(|(name, kind)| (name.to_owned(), kind.to_owned()));
        Read { samples, kinds: page.lines().filter_map(kind).collect() }
    }

    /// The sum of all samples of this name that have these labels.
    pub(super) fn sum(&self, name: &str, labels: &[(&str, &str)]) -> f64 {
        let has = |sample: &&Sample| labels.iter().all(|(key, value)| sample.labels.get(*key).is_some_and(|found| found == value));
        self.samples.iter().filter(|sample| sample.name == name).filter(has).map(|sample| sample.value).sum()
    }

    /// Families without their suffixes: a histogram's samples are its family's.
    pub(super) fn families(&self) -> BTreeSet<&str> {
        let of = |sample: &Sample| {
            self.kinds.keys().find(|family| {
                sample.name.strip_prefix(family.as_str()).is_some_and(|rest| ["", "_bucket", "_sum", "_count"].contains(&rest))
            })
        };
        self.samples.iter().filter_map(of).map(String::as_str).filter(|family| *family != "target_info").collect()
    }
}

pub(super) async fn page(node: &Node) -> Read {
    let (status, text) = node.page("/metrics").await;
    assert_eq!(status, 200, "{text}");
    Read::of(&text)
}

/// A node over Postgres after games, bots, a stream, refusals and a check. Its games: a finished one, and one of two bots.
pub(super) async fn seasoned() -> (postgres::TestDatabase, Node) {
    let database = postgres::database().await;
    let node = with_page(node::over(&database.url)).with(&["--log", "error"]).start();
    let wire = node.wire().await;
    let mut game = wire.game().clock(fischer(600_000, 0)).await;
    let mut watching = game.wire.follow(&game.id).open().await;
    let mut feed = wire.feed().open().await;
    game.play("b2 a1").await;
    game.refuses("b2").await;
    Refused::by(wire.games().make_move(v1::MakeMoveRequest { expected_seq: Some(1), ..game.asks("c3") }).await).with("STALE_SEQ");
    game.play("a2 b1 c2").await;
    assert_eq!(game.now().await.state(), v1::GameState::Closed);
    for _ in 1..=6 {
        watching.event().await;
        feed.event().await;
    }
    wire.verified(&game.id).await.unwrap();
    let bots = wire.game().bot(0, bot("random", 1)).bot(1, bot("heuristic", 500)).await;
    until("the bots are done", async || bots.now().await.state() == v1::GameState::Closed).await;
    wire.try_get(&game.id, Some(3)).await.unwrap();
    let asks = v1::AnalyzePositionRequest { game_id: game.id.clone(), at_seq: Some(2), nodes: 50, max_actions: 0 };
    wire.games().analyze_position(asks).await.unwrap();
    // A bot's row of the queue is claimed only where its node did not move at once; a clock that runs out is.
    let late = wire.game().clock(fischer(300, 0)).await;
    until("time ended it", async || late.now().await.state() == v1::GameState::Closed).await;
    (database, node)
}

/// The table in the code, the page of a real node and the table that people read are one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_exported_is_what_the_tables_say() {
    let (_database, node) = seasoned().await;
    let read = page(&node).await;
    let names: BTreeSet<String> = METRICS.iter().map(plybook_server::telemetry::metrics::Metric::prometheus_name).collect();
    assert_eq!(names.len(), METRICS.len(), "each has a name of its own");
    assert_eq!(read.families(), names.iter().map(String::as_str).collect(), "each is exported, and nothing else");
    for metric in METRICS {
        let name = metric.prometheus_name();
        let kind = match metric.kind {
            Kind::Counter => "counter",
            Kind::UpDown | Kind::Gauge => "gauge",
            Kind::Histogram(_) => "histogram",
        };
        assert_eq!(read.kinds[&name], kind, "{name}");
        let may: BTreeSet<String> = metric.labels.iter().map(|label| label.replace('.', "_")).chain(["le".to_owned()]).collect();
        for sample in read.samples.iter().filter(|sample| sample.name.starts_with(&name)) {
            let has: BTreeSet<String> = sample.labels.keys().cloned().collect();
            assert!(has.is_subset(&may), "{name} has labels {has:?}");
        }
    }

    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let row = |metric: &plybook_server::telemetry::metrics::Metric| {
        let labels = metric.labels.iter().map(|label| format!("`{}`", label.replace('.', "_"))).collect::<Vec<_>>().join(", ");
        format!("| `{}` | {labels} | {} |", metric.prometheus_name(), metric.help)
    };
    let wanted: Vec<String> = METRICS.iter().map(row).collect();
    let there: Vec<&str> =
        readme.lines().skip_while(|line| *line != "| metric | labels | what |").skip(2).take_while(|line| !line.is_empty()).collect();
    assert_eq!(there, wanted, "README.md has this table:\n| metric | labels | what |\n| --- | --- | --- |\n{}", wanted.join("\n"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn numbers_are_those_of_what_was_done() {
    let (_database, node) = seasoned().await;
    let read = page(&node).await;
    let make_move = ("rpc_method", "plybook.v1.GameService/MakeMove");
    let calls = |code| read.sum("rpc_server_call_duration_seconds_count", &[make_move, ("rpc_response_status_code", code)]);
    assert_eq!((calls("OK"), calls("ABORTED"), calls("FAILED_PRECONDITION")), (5.0, 1.0, 1.0));
    for (reason, count) in [("STALE_SEQ", 1.0), ("ILLEGAL_MOVE", 1.0), ("GAME_FINISHED", 0.0)] {
        assert_eq!(read.sum("plybook_call_refusals_total", &[("reason", reason), make_move]), count, "{reason}");
    }
    assert_eq!(read.sum("plybook_game_created_total", &[("ruleset", "mnk")]), 3.0);
    assert_eq!(read.sum("plybook_game_first_move_delay_seconds_count", &[("ruleset", "mnk")]), 2.0, "nobody moved in the third");
    assert_eq!(
        read.sum("plybook_game_length_count", &[("ruleset", "mnk"), ("ending", "line")])
            + read.sum("plybook_game_length_count", &[("ending", "board_full")]),
        2.0
    );
    assert_eq!(read.sum("plybook_game_length_count", &[("ending", "timeout")]), 1.0);
    assert_eq!(read.sum("plybook_verification_verdicts_total", &[("verdict", "verified")]), 1.0);
    assert!(read.sum("plybook_chores_total", &[("chore", "bot_moved")]) >= 5.0);
    assert!(read.sum("plybook_bot_nodes_total", &[]) > 0.0 && read.sum("plybook_bot_searches_total", &[("outcome", "answered")]) >= 6.0);
    assert!(
        read.sum("plybook_append_entries_total", &[]) >= 11.0
            && read.sum("plybook_wake_hints_total", &[("direction", "published")]) >= 11.0
    );
    assert!(
        read.sum("db_client_operation_duration_seconds_count", &[("db_operation_name", "append"), ("db_system_name", "postgresql")])
            >= 11.0
    );
    assert!(read.sum("plybook_cache_lookups_total", &[("cache", "tables"), ("result", "hit")]) > 0.0);
    assert_eq!(read.sum("plybook_game_remembered", &[("state", "closed")]), 3.0);
    assert_eq!(read.sum("plybook_node_ready", &[]), 1.0);
}

/// Whoever is sent away is counted by why, and by which call.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn callers_who_are_sent_away_are_counted_by_why() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("books.db").to_str().unwrap().to_owned();
    let made = |args: &[&str]| {
        let command = std::process::Command::new(node::binary()).args(args).args(["--database", &file]).output().unwrap();
        String::from_utf8(command.stdout).unwrap().trim().to_owned()
    };
    made(&["tenant", "create", "shop"]);
    let key = made(&["token", "create", "--tenant", "shop", "--role", "service", "--name", "svc/rooms"]);
    let flags = ["--auth", "required", "--rate-per-tenant", "1", "--rate-burst", "6", "--streams-per-tenant", "1", "--log", "error"];
    let node = with_page(node::over(&file)).with(&flags).start();
    let bare = node.wire().await;
    let rulesets = |wire: &Wire| {
        let mut games = wire.games();
        async move { games.list_rulesets(v1::ListRulesetsRequest::default()).await }
    };
    for (wire, times) in [(&bare, 2), (&bare.bearing("nonsense"), 3), (&bare.bearing(&format!("{key}0")), 4)] {
        for _ in 0..times {
            rulesets(wire).await.unwrap_err();
        }
    }
    let service = bare.bearing(&key);
    let _feed = service.feed().open().await;
    service.feed().refused().await.with("TOO_MANY_STREAMS");
    until("its calls are used up", async || rulesets(&service).await.is_err()).await;

    let read = page(&node).await;
    let failures = |reason| read.sum("plybook_auth_failures_total", &[("reason", reason)]);
    assert_eq!(failures("no credential"), 2.0);
    assert_eq!(failures("it is no token that can be read"), 3.0);
    assert_eq!(failures("the API key is none that holds"), 4.0);
    assert_eq!(read.sum("plybook_auth_failures_total", &[]), 9.0);
    for (reason, method, count) in [
        ("CREDENTIALS_MISSING", "plybook.v1.GameService/ListRulesets", 2.0),
        ("CREDENTIALS_INVALID", "plybook.v1.GameService/ListRulesets", 7.0),
        ("TOO_MANY_STREAMS", "plybook.v1.AuditService/StreamAllEvents", 1.0),
        ("RATE_LIMITED", "plybook.v1.GameService/ListRulesets", 1.0),
    ] {
        assert_eq!(read.sum("plybook_call_refusals_total", &[("reason", reason), ("rpc_method", method)]), count, "{reason}");
    }
}

/// Whoever sends any path makes no label of it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_path_that_is_no_method_is_no_label() {
    let folder = tempfile::tempdir().unwrap();
    let node = with_page(node::over(folder.path().join("books.db").to_str().unwrap())).with(&["--log", "error"]).start();
    let mut client = tonic::client::Grpc::new(node.channel().await);
    for n in 0..20 {
        client.ready().await.unwrap();
        let path = format!("/plybook.v1.GameService/Method{n}").parse().unwrap();
        let codec = tonic_prost::ProstCodec::<v1::GetGameRequest, v1::GetGameResponse>::default();
        assert!(client.unary(tonic::Request::new(v1::GetGameRequest::default()), path, codec).await.is_err());
    }
    let (_, text) = node.page("/metrics").await;
    assert!(!text.contains("Method1"), "{text}");
    let read = Read::of(&text);
    assert_eq!(read.sum("rpc_server_call_duration_seconds_count", &[("rpc_method", "_OTHER")]), 20.0);
}

/// A stream that ends badly is counted for what it is, though its call was answered long ago.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_streams_end_is_counted_by_its_method() {
    let folder = tempfile::tempdir().unwrap();
    let node = with_page(node::over(folder.path().join("books.db").to_str().unwrap())).with(&["--log", "error"]).start();
    let game = node.wire().await.game().await;
    let mut asks = tonic::Request::new(v1::StreamEventsRequest { game_id: game.id.clone(), ..Default::default() });
    asks.set_timeout(Duration::from_secs(2));
    let mut frames = game.wire.games().stream_events(asks).await.unwrap().into_inner();
    assert_eq!(page(&node).await.sum("plybook_stream_open", &[]), 1.0);
    while let Ok(Some(_)) = frames.message().await {}
    drop(frames);
    let labels = [("reason", "DEADLINE"), ("rpc_method", "plybook.v1.GameService/StreamEvents")];
    until("it is counted", async || page(&node).await.sum("plybook_call_refusals_total", &labels) == 1.0).await;
    until("its place is free", async || page(&node).await.sum("plybook_stream_open", &[]) == 0.0).await;
}
