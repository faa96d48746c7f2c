//! Where a node listens by an oversight: it does not start, and says the cure.

use std::process::{Command, Output};

use plybook_tests::certificates::{Authority, Safe};
use plybook_tests::node;

fn plybook(args: &[&str]) -> Output {
    let mut command = Command::new(node::binary());
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("PLYBOOK_") || name.starts_with("OTEL_")) {
        command.env_remove(name);
    }
    command.args(args).output().unwrap()
}

fn refused(args: &[&str], because: &str) {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("books.db");
    let output = plybook(&[&["serve", "--database", database.to_str().unwrap()], args].concat());
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
    assert!(said.contains(because) && said.lines().count() == 1, "{because:?} is not told in one sentence: {said}");
    assert!(!database.exists(), "nothing was opened");
}

#[test]
fn a_node_that_everybody_may_use_does_not_start_by_an_oversight() {
    for listen in ["0.0.0.0:0", "[::]:0", "192.0.2.7:50051"] {
        refused(&["--listen", listen], "everybody who reaches this address could do everything");
        refused(&["--listen", listen, "--tls-elsewhere"], "--insecure starts nevertheless");
    }
    let home = plybook(&["config", "--check", "--listen", "127.0.0.1:0"]);
    assert!(home.status.success(), "{home:?}");
    let told = plybook(&["config", "--check", "--listen", "0.0.0.0:0", "--insecure"]);
    assert!(told.status.success(), "{told:?}");
}

#[test]
fn a_node_says_aloud_that_everybody_may_do_everything() {
    let folder = tempfile::tempdir().unwrap();
    let logs = folder.path().join("log");
    let node = node::over(folder.path().join("books.db").to_str().unwrap()).logs_to(&logs).start();
    node.terminate();
    assert!(node.ended().success());
    let said = std::fs::read_to_string(&logs).unwrap();
    assert!(said.contains("WARN") && said.contains("everybody on this machine may do everything"), "{said}");
}

#[test]
fn half_of_a_pair_is_refused() {
    let authority = Authority::new();
    let safe = Safe::with(&authority.server(), Some("no roots"));
    let [certificate, key, roots] = ["node.pem", "node.key", "clients.pem"].map(|name| safe.flag(name));
    let (certificate, key, roots) = (certificate.as_str(), key.as_str(), roots.as_str());
    refused(&["--listen", "127.0.0.1:0", "--tls-cert", certificate], "--tls-key is wanted");
    refused(&["--listen", "127.0.0.1:0", "--tls-key", key], "--tls-cert is wanted");
    refused(&["--listen", "127.0.0.1:0", "--tls-client-ca", roots], "there is no TLS without");
    refused(&["--listen", "127.0.0.1:0", "--tls-cert", key, "--tls-key", key], "node.key: there is no certificate in it");
    refused(&["--listen", "127.0.0.1:0", "--tls-cert", certificate, "--tls-key", certificate], "node.pem: there is no private key in it");
    refused(&["--listen", "127.0.0.1:0", "--tls-cert", certificate, "--tls-key", certificate], "--tls-key: ");
    refused(&["--listen", "127.0.0.1:0", "--tls-cert", "/nonexistent.pem", "--tls-key", key], "--tls-cert: /nonexistent.pem: No such");
    refused(&["--listen", "127.0.0.1:0", "--tls-cert", certificate, "--tls-key", "/nonexistent.key"], "--tls-key: /nonexistent.key: No");
    let with_roots = ["--listen", "127.0.0.1:0", "--tls-cert", certificate, "--tls-key", key, "--tls-client-ca", roots];
    refused(&with_roots, "clients.pem: there is no certificate in it");
    refused(&with_roots, "--tls-client-ca: ");
}

#[test]
fn what_cannot_work_of_connections_is_refused() {
    for (args, because) in [
        (&["--rate-burst", "5"][..], "--rate-per-tenant is wanted"),
        (&["--rate-per-tenant", "5", "--rate-burst", "0"], "--rate-burst must be at least 1"),
        (&["--grpc-web-origin", "https://play.example"], "--grpc-web is wanted"),
        (&["--grpc-web", "--grpc-web-origin", "play.example"], "is no origin"),
        (&["--connections", "0"], "must be at least 1"),
        (&["--handshake-timeout-ms", "0"], "must be longer than nothing"),
        (&["--header-bytes", "100"], "header-bytes must be at least"),
        (&["--waiting-answer-bytes", "100"], "must have room for one reply"),
    ] {
        refused(&[&["--listen", "127.0.0.1:0"], args].concat(), because);
    }
}
