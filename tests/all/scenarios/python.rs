//! Another language: a Python program that knows the contract alone plays every ruleset, and proves
//! the books with its standard library. (Row 38 asks that a proof needs no server of ours.)

use std::process::Command;

use plybook_tests::node::{self, Node};
use plybook_tests::postgres;
use plybook_tests::python::{Environment, environment};

use super::file_node;

fn python() -> Environment {
    environment("python", &node::root().join("tests/python/requirements.txt"))
}

fn plays_every_ruleset(node: &Node) {
    let program = node::root().join("tests/python/newcomer.py");
    let output = Command::new(python().python()).arg("-B").arg(program).arg(node.address()).output().unwrap();
    let (said, wrong) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}{wrong}");
    let registry = plybook_rulesets::Registry::standard();
    for card in registry.cards() {
        assert!(said.contains(&format!("{}: ", card.id())), "{} was not played:\n{said}", card.id());
    }
    assert_eq!(said.lines().count(), registry.cards().count(), "{said}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn python_plays_every_ruleset() {
    // First of all, so that whoever lacks it is told at once.
    python();
    let (_folder, over_a_file) = file_node();
    let database = postgres::database().await;
    let over_postgres = node::over(&database.url).start();
    for node in [over_a_file, over_postgres] {
        plays_every_ruleset(&node);
    }
}
