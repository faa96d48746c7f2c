//! A cluster that keeps its write-ahead log, and what comes of it: the same books as they were at some time.
//!
//! Invariant: what is restored is a cluster of its own, beside the one that it was saved from.

use std::fs;
use std::os::unix::fs::chown;
use std::path::Path;
use std::process::Command;

use super::own::{self, Own};
use super::{Cluster, TestDatabase, answers, as_user, binaries, unprivileged, watch};
use crate::patience::until;
use crate::ports;

/// A cluster whose log is archived, and the archive.
pub struct Archived {
    own: Own,
    archive: tempfile::TempDir,
    /// Its one database, with Plybook's schema.
    pub database: TestDatabase,
}

/// A copy of a cluster's files, taken while it served.
pub struct Base(tempfile::TempDir);

/// A cluster that keeps its log from now on.
pub async fn archived() -> Archived {
    let mut own = own::cluster().await;
    let database = own.database().await;
    let archive = tempfile::Builder::new().prefix("plybook-test-archive-").tempdir().unwrap();
    give(archive.path());
    let command = format!("test ! -f {0}/%f && cp %p {0}/%f", archive.path().display());
    database.execute("ALTER SYSTEM SET archive_mode = on").await;
    database.execute(&format!("ALTER SYSTEM SET archive_command = '{command}'")).await;
    own.stop();
    own.start().await;
    Archived { own, archive, database }
}

impl Archived {
    /// Copies the cluster's files.
    pub async fn base(&self) -> Base {
        let port = self.own.port();
        tokio::task::spawn_blocking(move || copied(port)).await.unwrap()
    }

    /// The database's time.
    pub async fn now(&self) -> String {
        self.database.column("SELECT clock_timestamp()::text").await.remove(0)
    }

    /// Waits until all that is written by now is in the archive.
    pub async fn archive(&self) {
        let file = self.database.column("SELECT pg_walfile_name(pg_current_wal_insert_lsn())").await.remove(0);
        self.database.execute("SELECT pg_switch_wal()").await;
        until("the log is archived", async || self.archive.path().join(&file).exists()).await;
    }

    /// A cluster as this one was at that time.
    pub async fn restored(&self, base: Base, at: &str) -> Restored {
        let settings = format!(
            "\nrestore_command = 'cp {}/%f %p'\nrecovery_target_time = '{at}'\nrecovery_target_action = 'promote'\narchive_mode = off\n",
            self.archive.path().display()
        );
        let cluster = tokio::task::spawn_blocking(move || begun(base.0.path(), &settings)).await.unwrap();
        let database = TestDatabase { url: cluster.url("postgres") };
        until("the log is replayed", async || database.column("SELECT pg_is_in_recovery()::text").await == ["false"]).await;
        Restored { database, _own: Own::over(cluster) }
    }
}

/// What came of a backup.
pub struct Restored {
    /// Its one database.
    pub database: TestDatabase,
    _own: Own,
}

fn give(folder: &Path) {
    if let Some((uid, gid)) = unprivileged() {
        chown(folder, Some(uid), Some(gid)).unwrap();
    }
}

fn copied(port: u16) -> Base {
    let folder = tempfile::Builder::new().prefix("plybook-test-base-").tempdir().unwrap();
    give(folder.path());
    let mut copy = Command::new(binaries().join("pg_basebackup"));
    copy.args(["-h", "127.0.0.1", "-p", &port.to_string(), "-U", "plybook", "-X", "none", "-c", "fast", "--no-sync", "-D"]);
    run(copy.arg(folder.path().join("data")), folder.path());
    Base(folder)
}

/// Another process may take the port before the server does, so there are several attempts.
fn begun(base: &Path, settings: &str) -> Cluster {
    (0..5).find_map(|_| attempt(base, settings, ports::free())).expect("a free port")
}

fn attempt(base: &Path, settings: &str, port: u16) -> Option<Cluster> {
    let folder = tempfile::Builder::new().prefix("plybook-test-restored-").tempdir().unwrap().keep();
    give(&folder);
    run(Command::new("cp").args(["-a"]).arg(base.join("data")).arg(&folder), &folder);
    let auto = folder.join("data/postgresql.auto.conf");
    let before = fs::read_to_string(&auto).unwrap();
    fs::write(&auto, before + settings).unwrap();
    let signal = folder.join("data/recovery.signal");
    fs::write(&signal, "").unwrap();
    give(&signal);
    let mut cluster = Cluster { port, watcher: watch(&binaries(), &folder, unprivileged(), port), folder: folder.clone() };
    if answers(&cluster, &folder) {
        return Some(cluster);
    }
    // Waiting closes the pipe first, so the shell tidies up.
    cluster.watcher.wait().unwrap();
    None
}

fn run(command: &mut Command, folder: &Path) {
    let output = as_user(command, unprivileged()).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}
