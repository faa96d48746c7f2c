//! What cannot work is one clear sentence: exit code 2 where what was asked makes no sense, 1 where
//! only the surroundings fail.

use std::net::TcpListener;
use std::process::Command;

use plybook_tests::{node, postgres};

/// Runs `plybook serve`, which must not serve.
fn refuses(flags: &[&str], code: i32, sentence: &str) {
    fails(&["serve"], flags, code, sentence);
}

/// Runs a command with the flags of a node, which must fail.
fn fails(command: &[&str], flags: &[&str], code: i32, sentence: &str) {
    let folder = tempfile::tempdir().unwrap();
    let mut serve = Command::new(node::binary());
    serve
        .args(command)
        .args(flags)
        .current_dir(folder.path())
        .env_remove("OTEL_EXPORTER_OTLP_ENDPOINT")
        .env_remove("OTEL_EXPORTER_OTLP_HEADERS");
    if !flags.contains(&"--listen") {
        serve.args(["--listen", "127.0.0.1:0"]);
    }
    let output = serve.output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "{flags:?}: {told}");
    assert!(output.stdout.is_empty(), "{command:?} {flags:?} says that it serves");
    assert!(told.contains(sentence), "{flags:?}: {told:?} does not say {sentence:?}");
    assert!(!told.contains("panicked") && !told.contains("RUST_BACKTRACE"), "{told}");
    let sentences = told.lines().filter(|line| line.starts_with("plybook: ") || line.starts_with("error: ")).count();
    assert_eq!(sentences, 1, "{flags:?}: one sentence: {told:?}");
}

/// A check says of each of them what a start says.
#[test]
fn flags_that_make_no_sense() {
    for (flags, sentence) in [
        (&["--listen", "here"][..], "--listen"),
        (&["--listen", "127.0.0.1:70000"], "--listen"),
        (&["--log-format", "xml"], "--log-format"),
        (&["--log", "plybook=loud"], "the log filter \"plybook=loud\" does not parse"),
        (&["--request-bytes", "many"], "--request-bytes"),
        (&["--request-bytes", "0"], "request-bytes must be at least 4096"),
        (&["--import-bytes", "0"], "import-bytes and imports must be at least 1"),
        (&["--imports", "0"], "import-bytes and imports must be at least 1"),
        (&["--streams", "0"], "streams must be at least 1"),
        (&["--calls-per-connection", "0"], "calls-per-connection must be at least 1"),
        (&["--call-timeout-ms", "0"], "call-timeout must be longer"),
        (&["--poll-floor-ms", "0"], "poll-floor must be longer"),
        (&["--advice-nodes-max", "0"], "advice-nodes-max must be at least 1"),
        (&["--bot-nodes-max", "0"], "bot-nodes-max must be at least 1"),
        (&["--due-poll-ms", "0"], "due-poll must be longer"),
        (&["--due-lease-ms", "99"], "due-lease 100 ms at least"),
        (&["--heartbeat-ms", "0"], "heartbeat must be longer"),
        (&["--outage-after-ms", "5999"], "outage-after twice as long at least"),
        (&["--refusals-keep-days", "0"], "refusals-keep must be longer"),
        (&["--refusals-per-game", "few"], "--refusals-per-game"),
        (&["--database-connections", "0", "--database", "postgres://127.0.0.1/x"], "--database-connections must be at least 1"),
        (&["--listen", ":50051"], "host:port is wanted"),
        (&["--otlp-endpoint", "no url at all"], "begins neither with http:// nor with https://"),
        (&["--otlp-endpoint", "http://no url at all"], "nothing can be sent to the collector at this address"),
        (&["--database", ":memory:"], "no move would outlive the server"),
        (&["--database", "mysql://x"], "neither postgres"),
        (&["--database", "postgres://me@host:port/x"], "--database: the Postgres address cannot be read"),
        (&["--database", "postgres://h/x", "--wake-database", "mysql://h/x"], "--wake-database: a Postgres address begins with"),
        (&["--database", "postgres://h/x", "--read-database", "postgres://h:port/x"], "--read-database: the Postgres address cannot be"),
        (&["--otlp-endpoint", "http://"], "nothing can be sent to the collector at this address"),
        (&["--otlp-endpoint", "http://127.0.0.1:4317", "--otlp-headers", "secret"], "--otlp-headers: number 1 is not name=value"),
        (&["--otlp-headers", "secret"], "--otlp-headers: number 1 is not name=value"),
        (&["--otlp-headers", "api-key=secret"], "--otlp-headers: --otlp-endpoint is wanted with it"),
        (&["--knights", "2"], "--knights"),
    ] {
        refuses(flags, 2, sentence);
        fails(&["config", "--check"], flags, 2, sentence);
    }
}

#[test]
fn addresses_and_files_that_cannot_be_used() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    refuses(&["--listen", &address], 2, &format!("cannot listen on {address}"));
    refuses(&["--database", "/nonexistent/plybook.db"], 2, "cannot open /nonexistent/plybook.db");
    refuses(&["--database", "/"], 2, "cannot open /");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("letter.txt");
    std::fs::write(&file, "Dear Sir or Madam, this is no database, however long it goes on about it. ".repeat(100)).unwrap();
    refuses(&["--database", file.to_str().unwrap()], 2, "letter.txt");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn databases_that_are_not_there_or_not_ready() {
    let nobody = plybook_tests::ports::Nobody::new();
    let free = nobody.address();
    let unreachable = format!("postgres://plybook:secret@{free}/books");
    let empty = postgres::empty_database().await;
    let missing = format!("{}_is_missing", empty.url.split('?').next().unwrap());
    tokio::task::block_in_place(|| {
        refuses(&["--database", &unreachable], 1, &format!("Postgres at {free}"));
        refuses(&["--database", &empty.url], 2, "plybook migrate");
        refuses(&["--database", &missing], 2, "does not exist");
    });
    let newer = postgres::database().await;
    newer
        .execute(
            "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) VALUES (9999, 'later', true, '', 0)",
        )
        .await;
    tokio::task::block_in_place(|| refuses(&["--database", &newer.url], 2, "newer"));
}
