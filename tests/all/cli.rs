//! The binary as a person meets it: commands, what they print, and how they end.

mod advice;
mod backup;
mod bench;
mod config;
mod evidence;
mod export;
mod health;
mod import;
mod import_again;
mod import_formats;
mod import_live;
mod kept;
mod keys;
mod migrate;
mod partitions;
mod play;
mod play_bots;
mod play_joint;
mod play_live;
mod refusals;
mod replay;
mod replay_live;
mod seat;
mod settings;
mod sink;
mod tail;
mod terminal;
mod token;
mod verify;
mod verify_bots;
mod verify_build;
mod verify_database;
mod watch;

use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use plybook_client::Client;
use plybook_proto::v1;
use plybook_tests::node::{self, Node};

/// What a command printed, and how it ended.
#[derive(Debug)]
struct Ran {
    code: i32,
    out: String,
    err: String,
}

impl Ran {
    /// The command did all that was asked.
    #[track_caller]
    fn ok(self) -> Ran {
        assert_eq!(self.code, 0, "{self:#?}");
        self
    }

    /// The command failed like this, in one sentence that says this, without a panic.
    #[track_caller]
    fn fails(self, code: i32, because: &str) -> Ran {
        assert_eq!(self.code, code, "{self:#?}");
        assert!(self.err.contains(because), "{because:?} is not told: {self:#?}");
        assert!(!self.err.contains("panicked"), "{self:#?}");
        self
    }

    /// The command printed this.
    #[track_caller]
    fn says(self, text: &str) -> Ran {
        assert!(self.out.contains(text), "{text:?} is not printed: {self:#?}");
        self
    }

    /// The game that `play` created.
    fn game(&self) -> String {
        let first = self.out.lines().next().unwrap();
        first.strip_prefix("Game ").unwrap_or_else(|| panic!("{self:#?}")).to_owned()
    }
}

/// A command of the binary, without whatever the environment says.
fn command(args: &[&str]) -> Command {
    let mut command = Command::new(node::binary());
    command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("PLYBOOK_") || name.starts_with("OTEL_")) {
        command.env_remove(name);
    }
    command
}

/// Runs a command to its end.
fn run(args: &[&str], input: &str) -> Ran {
    let mut child = command(args).stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    // A command that ends early does not read all of it: that is its right.
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()).is_ok());
    let ran = ended(child);
    writer.join().unwrap();
    ran
}

/// Waits for a command to end.
fn ended(child: Child) -> Ran {
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Ran { code: output.status.code().unwrap_or(-1), out: text(output.stdout), err: text(output.stderr) }
}

/// Sends a signal, such as INT.
fn send(signal: &str, child: &Child) {
    let sent = Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status().unwrap();
    assert!(sent.success(), "{signal}");
}

/// A server over a file of its own.
struct House {
    node: Node,
    folder: tempfile::TempDir,
}

impl House {
    fn open() -> House {
        House::open_with(&[])
    }

    /// With these flags of `serve`.
    fn open_with(flags: &[&str]) -> House {
        let folder = tempfile::tempdir().unwrap();
        let node = node::over(folder.path().join("books.db").to_str().unwrap()).with(flags).start();
        House { node, folder }
    }

    /// Runs a command against this server.
    fn run(&self, command: &str, args: &[&str], input: &str) -> Ran {
        let url = self.node.url();
        run(&[&[command, "--server", &url], args].concat(), input)
    }

    /// Plays these moves, separated by spaces, at one keyboard.
    fn play(&self, args: &[&str], moves: &str) -> Ran {
        self.run("play", args, &format!("{}\n", moves.split(' ').collect::<Vec<_>>().join("\n")))
    }

    /// Imports files.
    fn import(&self, args: &[&str]) -> Ran {
        self.run("import", args, "")
    }

    /// Writes a file, and answers its path.
    fn file(&self, name: &str, text: &str) -> String {
        let path = self.folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// A client; call it inside a runtime.
    fn client(&self) -> Client {
        Client::connect(&self.node.url()).unwrap()
    }

    async fn games(&self) -> Vec<v1::Game> {
        games(&self.client()).await
    }
}

/// Every game of a server.
async fn games(client: &Client) -> Vec<v1::Game> {
    let mut games = Vec::new();
    let mut page_token = String::new();
    loop {
        let page = client.list_games(v1::ListGamesRequest { page_size: 500, page_token, ..Default::default() }).await.unwrap();
        games.extend(page.games);
        page_token = page.next_page_token;
        if page_token.is_empty() {
            return games;
        }
    }
}
