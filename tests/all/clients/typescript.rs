//! The TypeScript client.

use std::ffi::OsString;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use plybook_client::{Client, Options};
use plybook_tests::patience::PATIENCE;
use plybook_tests::python::environment;
use plybook_tests::{node, ports};

use super::{done, plays_on_while_the_node_comes_and_goes, readme_beside_the_examples, workplace};

/// The oldest Node that will do, as the client's package says.
const NODE_MIN: u32 = 20;

/// A search path with Node: the machine's, or one that comes as a Python package.
fn node_path() -> OsString {
    let version = Command::new("node").arg("--version").output().ok().and_then(|output| String::from_utf8(output.stdout).ok());
    let major = version.and_then(|version| version.trim().trim_start_matches('v').split('.').next()?.parse::<u32>().ok());
    let has_npm = Command::new("npm").arg("--version").output().is_ok_and(|output| output.status.success());
    match std::env::var_os("PATH") {
        Some(path) if has_npm && major.is_some_and(|major| major >= NODE_MIN) => path,
        _ => environment("clients/node-environment", &node::root().join("tests/python/node.txt")).path(),
    }
}

/// The client as its readme has it built, and where Node is.
fn client() -> &'static (PathBuf, OsString) {
    static CLIENT: OnceLock<(PathBuf, OsString)> = OnceLock::new();
    CLIENT.get_or_init(|| {
        let (place, path) = (workplace("typescript"), node_path());
        let run = |program: &str, arguments: &[&str]| {
            done(Command::new(program).args(arguments).env("PATH", &path).current_dir(&place));
        };
        let (locked, installed) = (place.join("package-lock.json"), place.join("node_modules/installed-for.json"));
        let read = |file: &Path| std::fs::read_to_string(file).ok();
        if read(&locked) != read(&installed) {
            run("npm", &["ci", "--ignore-scripts", "--no-audit", "--no-fund"]);
            std::fs::copy(&locked, &installed).unwrap();
        }
        let proto = node::root().join("proto");
        run("node_modules/.bin/buf", &["generate", proto.to_str().unwrap()]);
        run("node_modules/.bin/buf", &["generate", "proto"]);
        readme_beside_the_examples(&place, "ts");
        run("npm", &["run", "build"]);
        (place, path)
    })
}

#[test]
fn typescript_plays_on_while_the_node_comes_and_goes() {
    let (place, path) = client();
    plays_on_while_the_node_comes_and_goes(Command::new("node").env("PATH", path).arg(place.join("dist/examples/play-and-watch.js")));
}

#[test]
fn typescript_keeps_its_promises() {
    let (place, path) = client();
    done(Command::new("npm").arg("test").env("PATH", path).current_dir(place));
}

/// By gRPC-Web over HTTP/1.1 and `fetch`, which are all that a browser has.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_browsers_client_watches_on_while_the_node_is_killed_and_comes_back() {
    let (place, path) = tokio::task::block_in_place(client);
    let folder = tempfile::tempdir().unwrap();
    let (file, listen) = (folder.path().join("games.db"), format!("127.0.0.1:{}", ports::free()));
    let start = || node::over_at(file.to_str().unwrap(), &listen).with(&["--grpc-web"]).start();
    let there = start();
    let service = Client::with(&there.url(), Options { patience: PATIENCE, ..Options::default() }).unwrap();
    let created = service.new_game("mnk").player("ann").player("bob").await.unwrap();
    let mut watch = Command::new("node");
    watch.env("PATH", path).arg(place.join("dist/examples/watch.js")).args([&there.url(), &created.game.game_id]);
    let mut watching = watch.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let mut seen = BufReader::new(watching.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut sees = |seq: u64| {
        let line = tokio::task::block_in_place(|| seen.next());
        assert_eq!(line.unwrap_or_default().split(' ').next(), Some(seq.to_string().as_str()));
    };
    sees(1);
    let mut again = Some(there);
    for (n, notation) in (0..).zip(["a1", "b1", "a2", "b2", "a3"]) {
        if n == 2 {
            again.take().unwrap().kill();
            again = Some(start());
        }
        let seq = u64::from(n) + 1;
        created.table.seat(n % 2).play(notation).at(seq).await.unwrap();
        sees(seq + 1);
    }
    assert!(tokio::task::block_in_place(|| watching.wait()).unwrap().success(), "it ends with the game");
}
