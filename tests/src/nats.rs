//! Throwaway NATS servers, to be killed and started again.
//!
//! Invariant: nothing outlives the process, however it ends. The server is the child of a shell that waits on a
//! pipe from this process; when the pipe closes, the shell kills the server.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::TcpStream;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::patience::PATIENCE;
use crate::ports;

/// Where a test looks first for the server.
pub const BINARY_ENV: &str = "PLYBOOK_TEST_NATS_SERVER";

const MISSING: &str = "no nats-server was found: run ./tests/run, which installs it, or set PLYBOOK_TEST_NATS_SERVER to it";
/// Where distributions put it.
const FOLDERS: &[&str] = &["/usr/sbin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"];

/// `$1` the log; the rest is the server. Its process id is the first line that this says.
const WATCH: &str = r#"
log=$1; shift
"$@" </dev/null >>"$log" 2>&1 &
child=$!
echo "$child"
read -r _
kill -KILL "$child" 2>/dev/null
wait "$child"
"#;

/// A server of a test's own.
#[derive(Debug)]
pub struct Nats {
    port: u16,
    folder: TempDir,
    flags: Vec<String>,
    running: Option<Running>,
}

#[derive(Debug)]
struct Running {
    /// A shell that waits for the end of its standard input, which this process holds.
    watcher: Child,
    pid: u32,
}

/// A server with streams, running.
pub fn server() -> Nats {
    server_with(&[])
}

/// The same with more flags.
pub fn server_with(flags: &[&str]) -> Nats {
    let folder = tempfile::Builder::new().prefix("plybook-test-nats-").tempdir().unwrap();
    let flags = flags.iter().map(|flag| (*flag).to_owned()).collect();
    let mut server = Nats { port: ports::free(), folder, flags, running: None };
    server.start();
    server
}

impl Nats {
    /// `nats://127.0.0.1:port`.
    pub fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    /// `127.0.0.1:port`.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Kills it, as a power cut would; answers once its port is closed.
    pub fn kill(&mut self) {
        let mut running = self.running.take().expect("it runs");
        let sent = Command::new("kill").args(["-KILL", &running.pid.to_string()]).status();
        assert!(sent.unwrap().success());
        // Waiting closes the pipe first, so the shell ends.
        running.watcher.wait().unwrap();
        let began = Instant::now();
        while TcpStream::connect(("127.0.0.1", self.port)).is_ok() {
            assert!(began.elapsed() < PATIENCE, "the NATS server did not end");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Starts it, with what it kept, and waits until it answers.
    pub fn start(&mut self) {
        assert!(self.running.is_none(), "it does not run");
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", WATCH, "plybook-test-nats"]).arg(self.folder.path().join("log")).arg(binary());
        shell.args(["-a", "127.0.0.1", "-p", &self.port.to_string(), "-n", &self.name(), "-js", "-sd"]).arg(self.folder.path());
        shell.args(&self.flags).process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut watcher = shell.spawn().unwrap();
        let mut said = String::new();
        BufReader::new(watcher.stdout.take().unwrap()).read_line(&mut said).unwrap();
        self.running = Some(Running { watcher, pid: said.trim().parse().unwrap() });
        let began = Instant::now();
        while !self.answers() {
            assert!(began.elapsed() < PATIENCE, "the NATS server did not start: {}", self.log());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// What it said of itself.
    pub fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    fn name(&self) -> String {
        self.folder.path().file_name().unwrap().to_string_lossy().into_owned()
    }

    /// Whether it is this very server that greets at its port.
    fn answers(&self) -> bool {
        let greeting = || {
            let line = TcpStream::connect(("127.0.0.1", self.port)).ok()?;
            line.set_read_timeout(Some(Duration::from_secs(5))).ok()?;
            let mut greeting = String::new();
            BufReader::new(line).read_line(&mut greeting).ok()?;
            Some(greeting)
        };
        greeting().is_some_and(|greeting| greeting.starts_with("INFO ") && greeting.contains(&self.name()))
    }
}

impl Drop for Nats {
    fn drop(&mut self) {
        if let Some(mut running) = self.running.take() {
            let _ = running.watcher.wait();
        }
    }
}

/// The server: as told, else on the path, else where distributions put it.
pub fn binary() -> PathBuf {
    if let Some(told) = std::env::var_os(BINARY_ENV) {
        let told = PathBuf::from(told);
        assert!(told.is_file(), "{BINARY_ENV} names {}, which is no file: {MISSING}", told.display());
        return told;
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(FOLDERS.iter().map(|folder| Path::new(folder).to_owned()));
    folders.map(|folder| folder.join("nats-server")).find(|file| file.is_file()).unwrap_or_else(|| panic!("{MISSING}"))
}
