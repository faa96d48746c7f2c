//! `plybook health`, and which Plybook this is.

use plybook_tests::node;
use plybook_tests::postgres::own;

use super::{House, run};

#[test]
fn a_node_that_serves_is_told_from_one_that_does_not() {
    let house = House::open();
    house.run("health", &[], "").ok().says("serving");
    house.run("health", &["--service", "plybook.v1.GameService"], "").ok().says("serving");
    house.run("health", &["--service", "plybook.v1.NoService"], "").fails(1, "");
    let url = house.node.url();
    house.node.kill();
    run(&["health", "--server", &url, "--patience", "0"], "").fails(1, "no answer");
    run(&["health", "--server", "nowhere"], "").fails(2, "--server");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_without_its_database_says_so() {
    let cluster = own::cluster().await;
    let database = cluster.database().await;
    let node = node::over(&database.url).start();
    tokio::task::block_in_place(|| {
        run(&["health", "--server", &node.url()], "").ok();
        cluster.stop();
    });
    plybook_tests::patience::until("it says so", async || {
        let asked = tokio::task::block_in_place(|| run(&["health", "--server", &node.url(), "--patience", "1"], ""));
        asked.code == 1 && asked.err.contains("does not serve")
    })
    .await;
}

#[test]
fn a_version_has_its_commit_and_its_schema() {
    let said = run(&["--version"], "").ok().out;
    let commit = said.split("(commit ").nth(1).and_then(|rest| rest.split(',').next()).unwrap_or_else(|| panic!("{said}"));
    let is_hash = commit.len() >= 7 && commit.chars().all(|c| c.is_ascii_hexdigit());
    assert!(is_hash || commit == "unknown", "{said}");
    assert!(said.starts_with(&format!("plybook {} (", env!("CARGO_PKG_VERSION"))), "{said}");
    assert!(said.contains(&format!("schema {}", plybook_store::schema())), "{said}");
}
