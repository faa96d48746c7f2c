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

    /// Starts it again.
    pub async fn start(&mut self) {
        self.later.push(watch(&binaries(), &self.cluster.folder, unprivileged(), self.cluster.port));
        let answers = tokio::task::block_in_place(|| answers(&self.cluster, &self.cluster.folder));
        assert!(answers, "the port is free again");
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        // Waiting closes the pipe first, so the shells tidy up.
        for watcher in self.later.iter_mut().rev().chain([&mut self.cluster.watcher]) {
            let _ = watcher.wait();
        }
    }
}
