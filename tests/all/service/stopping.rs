//! Who tells a node to go, once, twice at once, or again.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use plybook_tests::node::{self, Node};
use plybook_tests::patience::until;

/// A node that a silent peer keeps from being done, for as long as it may take.
fn kept(folder: &Path, drain_timeout_ms: &str) -> (Node, TcpStream) {
    let flags = ["--log", "info", "--drain-timeout-ms", drain_timeout_ms];
    let node = node::over(folder.join("books.db").to_str().unwrap()).with(&flags).logs_to(&folder.join("log")).start();
    let mut silent = TcpStream::connect(node.address()).unwrap();
    // The preface and empty settings; after that this peer says nothing.
    silent.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00").unwrap();
    // It is a connection once the node has answered.
    silent.read_exact(&mut [0; 9]).unwrap();
    (node, silent)
}

fn log(folder: &Path) -> String {
    std::fs::read_to_string(folder.join("log")).unwrap()
}

const AT_ONCE: &str = "stopped without draining";

/// As `timeout` sends it: to the process, and to its group.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_signal_that_comes_twice_at_once_is_one() {
    let folder = tempfile::tempdir().unwrap();
    let (node, _silent) = kept(folder.path(), "3000");
    let game = node.wire().await.game().await;
    let mut watching = node.wire().await.follow(&game.id).open().await;
    watching.history().await;
    let pid = node.pid().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid, &pid]).status().unwrap().success());
    let (_, ended) = watching.rest().await;
    ended.expect("the stream is told").with("SERVER_DRAINING").later();
    assert!(tokio::task::block_in_place(|| node.ended()).success());
    let log = log(folder.path());
    assert!(log.contains("draining") && !log.contains(AT_ONCE), "{log}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_asks_again_is_not_kept_waiting() {
    let folder = tempfile::tempdir().unwrap();
    let (node, _silent) = kept(folder.path(), "3600000");
    node.terminate();
    until("it drains", async || log(folder.path()).contains("draining")).await;
    // Less than a second later it would be the same request.
    tokio::time::sleep(Duration::from_millis(1_100)).await;
    node.terminate();
    assert!(tokio::task::block_in_place(|| node.ended()).success());
    let log = log(folder.path());
    assert!(log.contains(AT_ONCE), "{log}");
}
