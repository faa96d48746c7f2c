//! The Python client.

use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use plybook_tests::node;
use plybook_tests::python::{Environment, environment};

use super::{done, plays_on_while_the_node_comes_and_goes, readme_beside_the_examples, workplace};

/// The client as its readme has it built, and the environment that it is installed in.
fn client() -> &'static (PathBuf, Environment) {
    static CLIENT: OnceLock<(PathBuf, Environment)> = OnceLock::new();
    CLIENT.get_or_init(|| {
        let place = workplace("python");
        let python = environment("clients/python-environment", &place.join("requirements-dev.txt"));
        done(Command::new("buf").env("PATH", python.path()).current_dir(&place).arg("generate").arg(node::root().join("proto")));
        let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-build-isolation", "."];
        done(Command::new(python.python()).args(install).current_dir(&place));
        (place, python)
    })
}

#[test]
fn python_plays_on_while_the_node_comes_and_goes() {
    let (place, python) = client();
    plays_on_while_the_node_comes_and_goes(Command::new(python.python()).arg("-B").arg(place.join("examples/play_and_watch.py")));
}

#[test]
fn python_keeps_its_promises_and_its_types() {
    let (place, python) = client();
    readme_beside_the_examples(place, "python");
    done(Command::new(python.python()).args(["-B", "-m", "unittest", "discover", "tests"]).current_dir(place));
    done(Command::new(python.python()).args(["-m", "mypy", "--no-error-summary"]).current_dir(place));
}
