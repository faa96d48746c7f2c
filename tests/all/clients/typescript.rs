//! The TypeScript client.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use plybook_tests::node;
use plybook_tests::python::environment;

use super::{done, plays_on_while_the_node_comes_and_goes, workplace};

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
