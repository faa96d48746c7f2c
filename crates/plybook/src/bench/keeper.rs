//! A child process that does not outlive this one.
//!
//! Invariant: however this process ends, killed included, the child ends too. It is the child of a shell that
//! waits on a pipe from here; when the pipe closes, the shell kills the child and removes its folder.

use std::ffi::OsStr;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

/// `$1` the signal, `$2` a folder or nothing; the rest is the command. The child's number is said first.
const KEEP: &str = r#"
signal=$1 folder=$2; shift 2
"$@" </dev/null &
child=$!
echo "$child"
exec >/dev/null 2>&1
read -r _
kill -s "$signal" "$child"
wait "$child"
[ -z "$folder" ] || { cd / && rm -rf "$folder"; }
"#;

/// A command that is to be kept.
pub(super) struct Keeper {
    shell: Command,
}

impl Keeper {
    /// Ends by this signal; with it goes this folder.
    pub(super) fn new(program: &Path, signal: &str, folder: Option<&Path>) -> Keeper {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", KEEP, "plybook-bench", signal]);
        shell.arg(folder.map_or_else(|| OsStr::new(""), Path::as_os_str)).arg(program);
        // In a process group of its own, so that Ctrl-C leaves it to this process.
        shell.process_group(0).stdin(Stdio::piped());
        Keeper { shell }
    }

    /// What else the command is given.
    pub(super) fn command(&mut self) -> &mut Command {
        &mut self.shell
    }

    pub(super) fn start(mut self) -> io::Result<Kept> {
        Ok(Kept { shell: self.shell.spawn()? })
    }
}

/// A running child.
#[derive(Debug)]
pub(super) struct Kept {
    shell: Child,
}

impl Kept {
    /// What it prints, where that was piped; to be taken once.
    pub(super) fn output(&mut self) -> Option<ChildStdout> {
        self.shell.stdout.take()
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        drop(self.shell.stdin.take());
        // A shell that is gone has nothing left to wait for.
        let _ = self.shell.wait();
    }
}
