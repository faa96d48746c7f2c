//! A node: this same binary as a child, on loopback.
//!
//! Invariant: a node is killed with its handle. It need not be asked: no acknowledged move is lost by that.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, bail};
use tokio::sync::oneshot;

use super::keeper::{Keeper, Kept};

const START_WITHIN: Duration = Duration::from_secs(120);

/// A running node.
#[derive(Debug)]
pub(super) struct Node {
    url: String,
    process: u32,
    _kept: Kept,
}

impl Node {
    /// Starts one over a database, with these flags of `serve` besides. It has this process's environment, so
    /// that its variables tune it.
    pub(super) async fn start(database: &str, flags: &[String]) -> anyhow::Result<Node> {
        let binary = std::env::current_exe().context("this binary's own file is not known")?;
        let mut keeper = Keeper::new(&binary, "KILL", None);
        let command = keeper.command();
        command.args(["serve", "--listen", "127.0.0.1:0", "--log", "warn"]).args(flags);
        // Not as a flag: addresses carry passwords, and everybody sees the flags of a process.
        command.env("PLYBOOK_DATABASE", database).env_remove("OTEL_EXPORTER_OTLP_ENDPOINT").env_remove("PLYBOOK_METRICS_LISTEN");
        command.stdout(Stdio::piped());
        let mut kept = keeper.start().context("a node could not be started")?;
        let output = kept.output().context("the node's output is not piped")?;

        let (say, said) = oneshot::channel();
        std::thread::spawn(move || {
            let mut lines = BufReader::new(output).lines().map_while(Result::ok);
            let first: Vec<String> = lines.by_ref().take(2).collect();
            // Whoever asked may have left.
            let _ = say.send(first);
            // Read on, so that the node never waits for somebody to read its output.
            lines.for_each(drop);
        });
        let first = tokio::time::timeout(START_WITHIN, said).await.context("a node did not say where it listens")??;
        // The shell and the node speak at the same time.
        let process = first.iter().find_map(|line| line.parse().ok());
        let address = first.iter().find_map(|line| Some(line.rsplit_once("listening on ")?.1));
        match (process, address) {
            (Some(process), Some(address)) => Ok(Node { url: format!("http://{address}"), process, _kept: kept }),
            _ => bail!("a node ended before it listened; what it said stands above"),
        }
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// Its memory, where the system tells it.
    pub(super) fn resident_bytes(&self) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process)).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        let kib: u64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
        Some(kib * 1024)
    }
}
