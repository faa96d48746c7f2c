//! A cluster of a test's own, to be stopped and started again.
//!
//! Invariant: it ends with its handle.

use std::net::TcpStream;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use plybook_store::{Postgres, PostgresOptions, Store as _};

use super::{Cluster, START_WITHIN, TestDatabase, answers, binaries, start, unprivileged, watch};

/// A cluster of a test's own.
pub struct Own {
    cluster: Cluster,
    /// The shell that watches each later start.
    later: Vec<Child>,
}

/// A cluster of a test's own, running.
pub async fn cluster() -> Own {
    let cluster = tokio::task::spawn_blocking(start).await.unwrap();
    Own::over(cluster)
}

impl Own {
    pub(super) fn over(cluster: Cluster) -> Own {
        Own { cluster, later: Vec::new() }
    }

    pub(super) fn port(&self) -> u16 {
        self.cluster.port
    }

    pub(super) fn url(&self) -> String {
        self.cluster.url("postgres")
    }

    /// Its one database, with Plybook's schema.
    pub async fn database(&self) -> TestDatabase {
        let url = self.cluster.url("postgres");
        let store = Postgres::connect(&PostgresOptions::new(&url)).await.unwrap();
        store.migrate().await.unwrap();
        store.close().await;
        TestDatabase { url }
    }

    /// Stops it at once, as a power cut would; answers when its port is closed.
    pub fn stop(&self) {
        let pid = std::fs::read_to_string(self.cluster.folder.join("data/postmaster.pid")).unwrap();
        let sent = Command::new("kill").args(["-QUIT", pid.lines().next().unwrap()]).status();
        assert!(sent.unwrap().success());
        let began = Instant::now();
        while TcpStream::connect(("127.0.0.1", self.cluster.port)).is_ok() {
            assert!(began.elapsed() < START_WITHIN, "Postgres did not stop");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Holds it: its connections stay, and nothing is answered until what this gives back is dropped.
    pub fn hold(&self) -> Frozen {
        let pid = std::fs::read_to_string(self.cluster.folder.join("data/postmaster.pid")).unwrap();
        let pid = pid.lines().next().unwrap().to_owned();
        // The first alone, or it would have others come while they are looked for.
        signal("-STOP", std::slice::from_ref(&pid));
        let held = Frozen(Vec::from([pid.clone()]));
        let others = Command::new("pgrep").args(["-P", &pid]).output().unwrap().stdout;
        let others: Vec<String> = String::from_utf8(others).unwrap().lines().map(str::to_owned).collect();
        assert!(others.len() > 2, "its processes are found");
        signal("-STOP", &others);
        Frozen([held.release(), others].concat())
    }

    /// Starts it again.
    pub async fn start(&mut self) {
        self.later.push(watch(&binaries(), &self.cluster.folder, unprivileged(), self.cluster.port));
        let answers = tokio::task::block_in_place(|| answers(&self.cluster, &self.cluster.folder));
        assert!(answers, "the port is free again");
    }
}

/// The processes of a cluster that are held; they go on when this is dropped.
#[derive(Debug)]
pub struct Frozen(Vec<String>);

impl Frozen {
    fn release(mut self) -> Vec<String> {
        std::mem::take(&mut self.0)
    }
}

impl Drop for Frozen {
    fn drop(&mut self) {
        if !self.0.is_empty() {
            signal("-CONT", &self.0);
        }
    }
}

/// Some may be gone by now.
fn signal(which: &str, processes: &[String]) {
    let _ = Command::new("kill").arg(which).args(processes).output().unwrap();
}

impl Drop for Own {
    fn drop(&mut self) {
        // Waiting closes the pipe first, so the shells tidy up.
        for watcher in self.later.iter_mut().rev().chain([&mut self.cluster.watcher]) {
            let _ = watcher.wait();
        }
    }
}
