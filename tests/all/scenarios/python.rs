//! Another language: a Python program that knows the contract alone plays every ruleset, and proves
//! the books with its standard library. (Row 38 asks that a proof needs no server of ours.)

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use plybook_tests::node::{self, Node};
use plybook_tests::postgres;

use super::file_node;

const NEEDED: &str = "this test needs python3 with venv, and pip with an index it can reach: install python3, python3-venv and python3-pip";

/// A virtual environment under `target/`, made once for each list of requirements.
fn python() -> &'static Path {
    static PYTHON: OnceLock<PathBuf> = OnceLock::new();
    PYTHON.get_or_init(|| {
        let test = std::env::current_exe().expect("a test knows its own path");
        let target = test.ancestors().nth(3).expect("tests lie in target/debug/deps");
        let (folder, wanted) = (target.join("python"), node::root().join("tests/python/requirements.txt"));
        let (python, made) = (folder.join("bin/python"), folder.join("made-for.txt"));
        let requirements = std::fs::read_to_string(&wanted).unwrap();
        if std::fs::read_to_string(&made).is_ok_and(|made| made == requirements) && python.exists() {
            return python;
        }
        let _ = std::fs::remove_dir_all(&folder);
        run(Command::new("python3").args(["-m", "venv"]).arg(&folder));
        run(Command::new(&python).args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"]).arg(&wanted));
        std::fs::write(made, requirements).unwrap();
        python
    })
}

#[track_caller]
fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|why| panic!("{NEEDED} ({why})"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{NEEDED} ({})", said.lines().last().unwrap_or_default());
}

fn plays_every_ruleset(node: &Node) {
    let program = node::root().join("tests/python/newcomer.py");
    let output = Command::new(python()).arg("-B").arg(program).arg(node.address()).output().unwrap();
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
