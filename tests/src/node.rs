//! Real server processes: start them, talk to them, kill them.
//!
//! Invariant: a node ends with its handle, so a failed test leaves no process behind.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use plybook_proto::v1::audit_service_client::AuditServiceClient;
use plybook_proto::v1::game_service_client::GameServiceClient;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tonic::transport::{Channel, Endpoint};

use crate::patience::{PATIENCE, until};

/// The server binary of this workspace, built if it is not up to date.
/// `PLYBOOK_TEST_BIN` names another one.
pub fn binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| {
        if let Some(given) = std::env::var_os("PLYBOOK_TEST_BIN") {
            return PathBuf::from(given);
        }
        // The same selection of packages as `cargo test --workspace`, so that nothing is built twice.
        let built = Command::new(env!("CARGO"))
            .args(["build", "--quiet", "--workspace", "--bin", "plybook"])
            .current_dir(root())
            .status()
            .expect("cargo runs");
        assert!(built.success(), "the server binary builds");
        let test = std::env::current_exe().expect("a test knows its own path");
        test.parent().and_then(Path::parent).expect("tests lie in target/debug/deps").join("plybook")
    })
}

/// The workspace's root.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests lie in the workspace").to_owned()
}

/// How many warnings and errors are in a log, but for what every node says that asks nobody for credentials.
pub fn complaints(log: &str) -> usize {
    let complains = |line: &&str| line.contains("\"WARN\"") || line.contains("\"ERROR\"");
    log.lines().filter(complains).filter(|line| !line.contains("there are no credentials")).count()
}

/// A running server process.
pub struct Node {
    child: Child,
    address: String,
    said: Arc<Mutex<Vec<String>>>,
}

/// A server process to be started.
pub struct Setup {
    command: Command,
}

/// A node over a database address: a `postgres://` URL, or a file.
pub fn over(database: &str) -> Setup {
    over_at(database, "127.0.0.1:0")
}

/// The same, listening at this address.
pub fn over_at(database: &str, listen: &str) -> Setup {
    let mut command = Command::new(binary());
    command.args(["serve", "--listen", listen, "--database", database]);
    // By the environment, so that a test's own flag counts for more.
    command.env("PLYBOOK_LOG", "warn");
    command.stdout(Stdio::piped()).stderr(Stdio::inherit()).stdin(Stdio::null());
    for variable in ["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_HEADERS", "PLYBOOK_METRICS_LISTEN"] {
        command.env_remove(variable);
    }
    Setup { command }
}

/// A node that this command starts.
pub fn by(command: Command) -> Setup {
    Setup { command }
}

impl Setup {
    /// And these flags.
    #[must_use]
    pub fn with(mut self, flags: &[&str]) -> Setup {
        self.command.args(flags);
        self
    }

    /// And this in its environment.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Setup {
        self.command.env(name, value);
        self
    }

    /// With its logs in a file.
    #[must_use]
    pub fn logs_to(mut self, file: &Path) -> Setup {
        self.command.stderr(std::fs::File::create(file).expect("the file can be written"));
        self
    }

    /// Starts it and waits until it says where it listens.
    pub fn start(mut self) -> Node {
        let mut child = self.command.spawn().expect("the server starts");
        let stdout = child.stdout.take().expect("its output is piped");
        let mut lines = BufReader::new(stdout).lines();
        let first = lines.next().and_then(Result::ok).unwrap_or_default();
        let Some((_, address)) = first.rsplit_once("listening on ") else {
            let _ = child.kill();
            panic!("the server said {first:?} and not where it listens");
        };
        let address = address.to_owned();
        let said = Arc::<Mutex<Vec<String>>>::default();
        let saying = Arc::clone(&said);
        // Keep reading, so that the server never waits for somebody to read its output.
        std::thread::spawn(move || lines.map_while(Result::ok).for_each(|line| saying.lock().expect("nobody panics").push(line)));
        Node { child, address, said }
    }
}

impl Node {
    /// `127.0.0.1:port`.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// `http://127.0.0.1:port`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What it answers at a path of its page of metrics and health: status and text.
    pub async fn page(&self, path: &str) -> (u16, String) {
        let found = || {
            let said = self.said.lock().expect("nobody panics");
            said.iter().find_map(|line| Some(line.strip_prefix("metrics are shown at http://")?.strip_suffix("/metrics")?.to_owned()))
        };
        until("the node says where its page is", async || found().is_some()).await;
        let address = found().expect("it was said");
        let mut stream = TcpStream::connect(address).await.expect("the page is there");
        let request = format!("GET {path} HTTP/1.1\r\nHost: plybook\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.expect("it answers");
        let (head, text) = answer.split_once("\r\n\r\n").expect("a head and a page");
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        (status, text.to_owned())
    }

    /// A connection of one's own.
    pub async fn channel(&self) -> Channel {
        let endpoint = Endpoint::from_shared(self.url()).expect("an address");
        endpoint.connect().await.expect("the node answers")
    }

    /// The games' RPCs over a connection of one's own.
    pub async fn games(&self) -> GameServiceClient<Channel> {
        GameServiceClient::new(self.channel().await).max_decoding_message_size(8 << 20)
    }

    /// The auditors' RPCs over a connection of one's own.
    pub async fn audit(&self) -> AuditServiceClient<Channel> {
        AuditServiceClient::new(self.channel().await)
    }

    /// The process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// kill -9.
    pub fn kill(mut self) {
        self.child.kill().expect("the process can be killed");
        self.child.wait().expect("it ends");
    }

    /// SIGTERM, without waiting.
    pub fn terminate(&self) {
        self.signal("TERM");
    }

    /// Sends a signal by name: `TERM`, `STOP`, `CONT`.
    pub fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([&format!("-{name}"), &self.child.id().to_string()]).status();
        assert!(sent.expect("kill runs").success(), "the process gets its signal");
    }

    /// Waits for the process to end by itself.
    pub fn ended(mut self) -> ExitStatus {
        let by = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().expect("the process can be asked") {
                return status;
            }
            assert!(Instant::now() < by, "the process ends");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
