//! A real PgBouncer before the tests' Postgres, lending sessions by the transaction.
//!
//! Invariant: it lends two sessions a database, fewer than a store wants, so that whatever a session would have to
//! remember is asked of another one. It ends with the process, however that ends.

use std::net::TcpStream;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::Instant;

use plybook_store::{Postgres, PostgresOptions};

use super::{START_WITHIN, TestDatabase, as_user, cluster, on_the_path, unprivileged};
use crate::ports;

/// Where a test looks first for `pgbouncer`.
pub const BINARY_ENV: &str = "PLYBOOK_TEST_PGBOUNCER";

const MISSING: &str = "pgbouncer was not found: run ./tests/run, which installs it, or set PLYBOOK_TEST_PGBOUNCER to it";

/// `$1` the pooler, `$2` its folder.
const WATCH: &str = r#"
server=$1 folder=$2
"$server" "$folder/pgbouncer.ini" </dev/null >"$folder/log" 2>&1 &
child=$!
read -r _
kill -TERM "$child"
wait "$child"
cd / && rm -rf "$folder"
"#;

struct Pooler {
    port: u16,
    folder: PathBuf,
    /// A shell that waits for the end of its standard input, which this process holds.
    watcher: Child,
}

impl TestDatabase {
    /// Its address behind the pooler.
    pub async fn pooled_url(&self) -> String {
        let port = tokio::task::spawn_blocking(|| pooler().port).await.unwrap();
        let (_, database) = self.url.rsplit_once('/').unwrap();
        format!("postgres://plybook@127.0.0.1:{port}/{database}")
    }

    /// A store behind the pooler, whose wake-ups go past it.
    pub async fn pooled_store(&self) -> Postgres {
        let options = PostgresOptions { pooled: true, wake_url: Some(self.url.clone()), ..PostgresOptions::new(self.pooled_url().await) };
        Postgres::connect(&PostgresOptions { max_connections: 8, ..options }).await.unwrap()
    }
}

fn pooler() -> &'static Pooler {
    static POOLER: OnceLock<Pooler> = OnceLock::new();
    POOLER.get_or_init(|| {
        let server = cluster().port;
        (0..5).find_map(|_| attempt(server, ports::free())).expect("PgBouncer found no free port")
    })
}

fn attempt(server: u16, port: u16) -> Option<Pooler> {
    let folder = tempfile::Builder::new().prefix("plybook-test-pooler-").tempdir().unwrap().keep();
    let ini = folder.join("pgbouncer.ini");
    // Its newest versions keep prepared statements for their clients; the oldest in use does not, and so none shall.
    let settings = format!(
        "[databases]\n* = host=127.0.0.1 port={server} user=plybook\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\n\
         unix_socket_dir =\nauth_type = any\npool_mode = transaction\ndefault_pool_size = 2\nmax_client_conn = 500\n\
         server_idle_timeout = 1\nlog_connections = 0\nlog_disconnections = 0\n"
    );
    std::fs::write(&ini, settings).unwrap();
    let user = unprivileged();
    if let Some((uid, gid)) = user {
        for path in [&folder, &ini] {
            chown(path, Some(uid), Some(gid)).unwrap();
        }
    }
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", WATCH, "plybook-test-pooler"]).arg(binary()).arg(&folder);
    let shell = as_user(&mut shell, user).process_group(0).current_dir(&folder);
    let watcher = shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let mut pooler = Pooler { port, folder, watcher };
    if listens(&pooler) {
        return Some(pooler);
    }
    // Waiting closes the pipe first, so the shell tidies up.
    pooler.watcher.wait().unwrap();
    None
}

/// False where somebody else took its port.
fn listens(pooler: &Pooler) -> bool {
    let began = Instant::now();
    loop {
        let log = std::fs::read_to_string(pooler.folder.join("log")).unwrap_or_default();
        if log.contains("Address already in use") {
            return false;
        }
        if log.contains("process up") && TcpStream::connect(("127.0.0.1", pooler.port)).is_ok() {
            return true;
        }
        assert!(began.elapsed() < START_WITHIN, "PgBouncer did not start: {log}");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

fn binary() -> PathBuf {
    if let Some(told) = std::env::var_os(BINARY_ENV) {
        return PathBuf::from(told);
    }
    let there = Path::new("/usr/sbin/pgbouncer");
    if there.is_file() {
        return there.to_owned();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folder = on_the_path(&path, |folder| folder.join("pgbouncer").is_file()).unwrap_or_else(|| panic!("{MISSING}"));
    folder.join("pgbouncer")
}
