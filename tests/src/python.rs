//! Python for tests: virtual environments under `target/`, made once for each list of requirements.
//!
//! Invariant: an environment holds what its list says and nothing else, whatever an earlier checkout has left there.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

const NEEDED: &str = "this test needs python3 with venv, and pip with an index it can reach: install python3, python3-venv and python3-pip";

/// A virtual environment.
#[derive(Clone, Debug)]
pub struct Environment(PathBuf);

/// The environment of this name, with what the file lists.
pub fn environment(name: &str, requirements: &Path) -> Environment {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = target().join(name);
    let (environment, made) = (Environment(folder.clone()), folder.join("made-for.txt"));
    let wanted = std::fs::read_to_string(requirements).unwrap();
    if std::fs::read_to_string(&made).is_ok_and(|made| made == wanted) && environment.python().exists() {
        return environment;
    }
    let _ = std::fs::remove_dir_all(&folder);
    run(Command::new("python3").args(["-m", "venv"]).arg(&folder));
    run(Command::new(environment.python())
        .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"])
        .arg(requirements));
    std::fs::write(made, wanted).unwrap();
    environment
}

/// The folder of what is built.
pub fn target() -> PathBuf {
    let test = std::env::current_exe().expect("a test knows its own path");
    test.ancestors().nth(3).expect("tests lie in target/debug/deps").to_owned()
}

impl Environment {
    /// Its interpreter.
    pub fn python(&self) -> PathBuf {
        self.0.join("bin/python")
    }

    /// A search path with its programs before all others.
    pub fn path(&self) -> OsString {
        let others = std::env::var_os("PATH").unwrap_or_default();
        let all = std::iter::once(self.0.join("bin")).chain(std::env::split_paths(&others));
        std::env::join_paths(all).expect("no colon is in these paths")
    }
}

#[track_caller]
fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|why| panic!("{NEEDED} ({why})"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{NEEDED} ({})", said.lines().last().unwrap_or_default());
}
