//! A real standby: a copy of a cluster that replays what the cluster writes, unless it is told to wait.
//!
//! Invariant: how far it lags is what the test says, and no question of time.

use std::process::Command;

use super::own::Own;
use super::{Cluster, TestDatabase, answers, as_user, binaries, unprivileged, watch};
use crate::patience::until;
use crate::ports;

/// A standby of a test's own cluster.
pub struct Standby {
    own: Own,
    primary: TestDatabase,
    /// Its one database.
    pub database: TestDatabase,
}

/// A standby that has all that its primary has.
pub async fn of(primary: &Own) -> Standby {
    let source = primary.port();
    let cluster =
        tokio::task::spawn_blocking(move || (0..5).find_map(|_| attempt(source, ports::free())).expect("a free port")).await.unwrap();
    let database = TestDatabase { url: cluster.url("postgres") };
    let standby = Standby { own: Own::over(cluster), primary: TestDatabase { url: primary.url() }, database };
    standby.catch_up().await;
    standby
}

impl Standby {
    /// From now on it has nothing new.
    pub async fn pause(&self) {
        self.database.execute("SELECT pg_wal_replay_pause()").await;
        let state = "SELECT pg_get_wal_replay_pause_state()";
        until("the standby has stopped replaying", async || self.database.column(state).await == ["paused"]).await;
    }

    /// It goes on, and soon has all.
    pub async fn resume(&self) {
        self.database.execute("SELECT pg_wal_replay_resume()").await;
        self.catch_up().await;
    }

    /// Waits until it has all that is written by now.
    pub async fn catch_up(&self) {
        let written = self.primary.column("SELECT pg_current_wal_lsn()::text").await;
        let replayed = format!("SELECT (pg_last_wal_replay_lsn() >= '{}')::text", written[0]);
        until("the standby has caught up", async || self.database.column(&replayed).await == ["true"]).await;
    }

    /// Stops it at once.
    pub fn stop(&self) {
        self.own.stop();
    }

    /// Starts it again.
    pub async fn start(&mut self) {
        self.own.start().await;
    }
}

fn attempt(source: u16, port: u16) -> Option<Cluster> {
    let (binaries, user) = (binaries(), unprivileged());
    let folder = tempfile::Builder::new().prefix("plybook-test-standby-").tempdir().unwrap().keep();
    if let Some((uid, gid)) = user {
        std::os::unix::fs::chown(&folder, Some(uid), Some(gid)).unwrap();
    }
    let tool = binaries.join("pg_basebackup");
    let mut copy = Command::new(&tool);
    copy.args(["-h", "127.0.0.1", "-p", &source.to_string(), "-U", "plybook", "-R", "-X", "stream", "-c", "fast", "--no-sync", "-D"]);
    let output = as_user(copy.arg(folder.join("data")), user).current_dir(&folder).output();
    let output =
        output.unwrap_or_else(|why| panic!("a standby is copied by {}, which comes with Postgres' own tools: {why}", tool.display()));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut cluster = Cluster { port, watcher: watch(&binaries, &folder, user, port), folder: folder.clone() };
    if answers(&cluster, &folder) {
        return Some(cluster);
    }
    cluster.watcher.wait().unwrap();
    None
}
