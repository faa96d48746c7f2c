//! A throwaway Postgres, from binaries of this machine.
//!
//! Invariant: it waits for the disk at every commit, as one in earnest does, and leaves nothing behind.
//! Checkpoints stay out of a run, so that the log has rows in it and no pages that a checkpoint would add.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{DirBuilderExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use plybook_store::{Postgres, PostgresOptions};
use uuid::Uuid;

use super::keeper::{Keeper, Kept};
use crate::exit::usage;

const SETTINGS: &[&str] = &[
    "listen_addresses=127.0.0.1",
    "unix_socket_directories=",
    "fsync=on",
    "synchronous_commit=on",
    "full_page_writes=on",
    "shared_buffers=256MB",
    "checkpoint_timeout=1h",
    "max_wal_size=16GB",
    "log_min_messages=warning",
];
/// Where systems install it: a folder, what the names in it begin with before the version, and what is below.
const PLACES: &[(&str, &str, &str)] = &[
    ("/usr/lib/postgresql", "", "bin"),
    ("/usr/libexec", "postgresql", ""),
    ("/usr", "pgsql", "bin"),
    ("/opt/homebrew/opt", "postgresql", "bin"),
    ("/usr/local/opt", "postgresql", "bin"),
];
/// Sessions beside those of the nodes and of the floor.
const SESSIONS_MORE: u32 = 20;
const START_WITHIN: Duration = Duration::from_secs(120);
const ASK_AGAIN: Duration = Duration::from_millis(20);

/// A running server.
#[derive(Debug)]
pub(super) struct Cluster {
    url: String,
    // Goes when the server has.
    _kept: Kept,
    folder: Folder,
}

/// A folder of the run's own. Whoever kills this process leaves it to the shell, which may lack the right to remove
/// more than what is in it.
#[derive(Debug)]
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        // The shell may have been first.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// What a server is made of.
#[derive(Debug)]
pub(super) struct Plan {
    /// The folder of `initdb` and `postgres`.
    pub(super) binaries: PathBuf,
    /// Where its folder is made.
    pub(super) scratch: PathBuf,
    /// Connections that will be wanted.
    pub(super) connections: u32,
}

impl Cluster {
    /// Makes one and waits for its answer.
    pub(super) async fn start(plan: &Plan) -> anyhow::Result<Cluster> {
        let user = unprivileged()?;
        let folder = Folder(plan.scratch.join(format!("plybook-bench-{}", Uuid::new_v4().simple())));
        fs::DirBuilder::new().mode(0o700).create(&folder.0).with_context(|| format!("{} cannot be made", folder.0.display()))?;
        let cluster = start(plan, folder, user)?;
        cluster.answers().await?;
        Ok(cluster)
    }

    /// Its address, password included.
    pub(super) fn url(&self) -> &str {
        &self.url
    }

    async fn answers(&self) -> anyhow::Result<()> {
        let began = Instant::now();
        loop {
            let options = PostgresOptions { acquire_timeout: Duration::from_secs(5), ..PostgresOptions::new(&self.url) };
            match Postgres::connect(&options).await {
                Ok(store) => {
                    plybook_store::Store::close(&store).await;
                    return Ok(());
                }
                Err(why) if began.elapsed() > START_WITHIN => {
                    let log = fs::read_to_string(self.folder.0.join("log")).unwrap_or_default();
                    bail!("the throwaway Postgres does not answer: {why}; its log: {log}");
                }
                Err(_) => tokio::time::sleep(ASK_AGAIN).await,
            }
        }
    }
}

fn start(plan: &Plan, kept_in: Folder, user: Option<(u32, u32)>) -> anyhow::Result<Cluster> {
    let folder = kept_in.0.as_path();
    let password = Uuid::new_v4().simple().to_string();
    let secret = folder.join("password");
    fs::write(&secret, &password)?;
    if let Some((uid, gid)) = user {
        for path in [folder, &secret] {
            chown(path, Some(uid), Some(gid))?;
        }
    }
    let mut initdb = Command::new(plan.binaries.join("initdb"));
    initdb.args(["--no-sync", "-A", "scram-sha-256", "-U", "plybook", "-E", "UTF8", "--locale=C"]);
    initdb.arg("--pwfile").arg(&secret).arg("-D").arg(folder.join("data"));
    let made = as_user(&mut initdb, user).current_dir(folder).stdin(Stdio::null()).output().context("initdb does not run")?;
    if !made.status.success() {
        bail!("initdb failed: {}", String::from_utf8_lossy(&made.stderr).trim());
    }
    let port = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
    let log = fs::File::create(folder.join("log"))?;
    let mut keeper = Keeper::new(&plan.binaries.join("postgres"), "QUIT", Some(folder));
    let command = keeper.command();
    command.arg("-D").arg(folder.join("data")).args(["-p", &port.to_string()]);
    for setting in SETTINGS {
        command.args(["-c", setting]);
    }
    command.args(["-c", &format!("max_connections={}", plan.connections + SESSIONS_MORE)]);
    as_user(command, user).current_dir(folder).stdout(log.try_clone()?).stderr(log);
    let kept = keeper.start().context("a shell for Postgres does not start")?;
    let url = format!("postgres://plybook:{password}@127.0.0.1:{port}/postgres?sslmode=disable");
    Ok(Cluster { url, _kept: kept, folder: kept_in })
}

fn as_user(command: &mut Command, user: Option<(u32, u32)>) -> &mut Command {
    match user {
        Some((uid, gid)) => command.uid(uid).gid(gid),
        None => command,
    }
}

/// Whom the server runs as where this process is root, which Postgres refuses to be.
fn unprivileged() -> anyhow::Result<Option<(u32, u32)>> {
    if number_of(&["-u"]) != Some(0) {
        return Ok(None);
    }
    let user = ["postgres", "nobody"].iter().find_map(|name| Some((number_of(&["-u", name])?, number_of(&["-g", name])?)));
    user.map(Some).ok_or_else(|| usage("Postgres does not run as root, and there is no user postgres or nobody to run it as"))
}

fn number_of(arguments: &[&str]) -> Option<u32> {
    let output = Command::new("id").args(arguments).stderr(Stdio::null()).output().ok()?;
    String::from_utf8(output.stdout).ok()?.trim().parse().ok()
}

/// The folder of the server's binaries: as told, else the newest of those that are known, else on the path.
pub(super) fn binaries(told: Option<&Path>) -> anyhow::Result<PathBuf> {
    let complete = |folder: &Path| folder.join("initdb").is_file() && folder.join("postgres").is_file();
    if let Some(told) = told {
        let missing = || usage(format!("--postgres: {} has no initdb and postgres in it", told.display()));
        return complete(told).then(|| told.to_owned()).ok_or_else(missing);
    }
    let mut found: Vec<(u32, PathBuf)> = PLACES.iter().flat_map(installed).filter(|(_, folder)| complete(folder)).collect();
    found.sort();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let newest = found.pop().map(|(_, folder)| folder);
    newest.or_else(|| std::env::split_paths(&path).find(|folder| complete(folder))).ok_or_else(|| {
        usage(
            "no Postgres server binaries (initdb, postgres) were found in /usr/lib/postgresql, its like or on the path: install the PostgreSQL \
             server, name their folder by --postgres, or measure another database by --database or a running server by --server",
        )
    })
}

/// Versions that are installed in such a place.
fn installed((parent, prefix, below): &(&str, &str, &str)) -> Vec<(u32, PathBuf)> {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    let version = |name: &str| name.strip_prefix(*prefix)?.trim_start_matches(['@', '-']).parse().ok();
    entries.filter_map(|entry| Some((version(entry.file_name().to_str()?)?, entry.path().join(below)))).collect()
}
