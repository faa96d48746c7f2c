//! Throwaway Postgres: one cluster a test process, one fresh database a test.
//!
//! Invariant: nothing outlives the process, however it ends. The server is the child of a shell that
//! waits on a pipe from this process; when the pipe closes, the shell ends the server and removes its files.

pub mod archive;
pub mod own;
pub mod pooler;
pub mod standby;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::str::FromStr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::patience::PATIENCE;
use crate::ports;
use plybook_store::{Postgres, PostgresOptions, PostgresWakes, Store};
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Executor};

/// Where a test looks first for `initdb` and `postgres`.
pub const BINARIES_ENV: &str = "PLYBOOK_TEST_PG_BIN";

const MISSING: &str = "no Postgres server binaries (initdb, postgres) were found: run ./tests/run, which installs them, \
                       or set PLYBOOK_TEST_PG_BIN to their folder";
const TEMPLATE: &str = "plybook_template";
const START_WITHIN: Duration = PATIENCE;
const SETTINGS: &[&str] = &[
    "listen_addresses=127.0.0.1",
    "unix_socket_directories=",
    "max_connections=200",
    "shared_buffers=64MB",
    "max_wal_size=256MB",
    "log_min_messages=warning",
    // The machine that loses its power loses the test with it.
    "fsync=off",
    "full_page_writes=off",
    // Statistics that come in the middle of a slow test would change its plans.
    "autovacuum=off",
];

/// `$1` the server, `$2` its folder; the rest are its settings.
const WATCH: &str = r#"
server=$1 folder=$2; shift 2
"$server" -D "$folder/data" "$@" </dev/null >"$folder/log" 2>&1 &
child=$!
read -r _
kill -QUIT "$child"
wait "$child"
cd / && rm -rf "$folder"
"#;

/// A database that no other test sees.
#[derive(Debug)]
pub struct TestDatabase {
    /// Its address.
    pub url: String,
}

impl TestDatabase {
    /// A store on it: one node of several, if called more than once.
    pub async fn store(&self) -> Postgres {
        Postgres::connect(&PostgresOptions { max_connections: 8, ..PostgresOptions::new(&self.url) }).await.unwrap()
    }

    /// What wakes a node of it.
    pub fn wakes(&self) -> PostgresWakes {
        PostgresWakes::start(&PostgresOptions::new(&self.url)).unwrap()
    }

    /// A connection past any store.
    pub async fn connect(&self) -> PgConnection {
        connect(&self.url).await.unwrap()
    }

    /// Runs statements; fails the test where the database refuses.
    pub async fn execute(&self, sql: &str) {
        self.try_execute(sql).await.unwrap();
    }

    /// Runs statements that the database may refuse.
    pub async fn try_execute(&self, sql: &str) -> Result<(), sqlx::Error> {
        let mut connection = self.connect().await;
        let result = connection.execute(AssertSqlSafe(sql)).await.map(drop);
        connection.close().await.unwrap();
        result
    }

    /// Fails the test where this role may do one of these.
    pub async fn forbids(&self, role: &str, statements: &[&str]) {
        for sql in statements {
            let refusal = self.try_execute(&format!("SET ROLE {role}; {sql}")).await.expect_err(sql);
            assert_eq!(refusal.as_database_error().unwrap().code().unwrap(), "42501", "{sql}: {refusal}");
        }
    }

    /// The first column of every row, as text: cast it to text.
    pub async fn column(&self, sql: &str) -> Vec<String> {
        let mut connection = self.connect().await;
        let column = sqlx::query_scalar(AssertSqlSafe(sql)).fetch_all(&mut connection).await.unwrap();
        connection.close().await.unwrap();
        column
    }

    /// Ends the backends that listen for wake-ups; says how many there were.
    pub async fn kill_listeners(&self) -> usize {
        self.kill("application_name = 'plybook listener'").await
    }

    /// Ends every other backend of this database; says how many there were.
    pub async fn kill_all(&self) -> usize {
        self.kill("true").await
    }

    async fn kill(&self, which: &str) -> usize {
        self.column(&format!(
            "SELECT pg_terminate_backend(pid)::text FROM pg_stat_activity
             WHERE datname = current_database() AND pid <> pg_backend_pid() AND {which}"
        ))
        .await
        .len()
    }
}

/// A fresh database with Plybook's schema.
pub async fn database() -> TestDatabase {
    create(&format!("TEMPLATE {TEMPLATE}")).await
}

/// A fresh database with nothing in it.
pub async fn empty_database() -> TestDatabase {
    create("").await
}

async fn create(how: &str) -> TestDatabase {
    static NUMBER: AtomicU32 = AtomicU32::new(1);
    let cluster = tokio::task::spawn_blocking(cluster).await.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()));
    let name = format!("t{}", NUMBER.fetch_add(1, Ordering::Relaxed));
    let mut admin = connect(&cluster.url("postgres")).await.unwrap();
    admin.execute(AssertSqlSafe(format!("CREATE DATABASE {name} {how}"))).await.unwrap();
    admin.close().await.unwrap();
    TestDatabase { url: cluster.url(&name) }
}

async fn connect(url: &str) -> Result<PgConnection, sqlx::Error> {
    PgConnectOptions::from_str(url)?.connect().await
}

struct Cluster {
    port: u16,
    folder: PathBuf,
    /// A shell that waits for the end of its standard input, which this process holds.
    watcher: Child,
}

impl Cluster {
    fn url(&self, database: &str) -> String {
        format!("postgres://plybook@127.0.0.1:{}/{database}?sslmode=disable", self.port)
    }
}

fn cluster() -> &'static Cluster {
    static CLUSTER: OnceLock<Cluster> = OnceLock::new();
    CLUSTER.get_or_init(|| {
        let cluster = start();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(make_template(&cluster));
        cluster
    })
}

async fn make_template(cluster: &Cluster) {
    let mut admin = connect(&cluster.url("postgres")).await.unwrap();
    admin.execute(AssertSqlSafe(format!("CREATE DATABASE {TEMPLATE}"))).await.unwrap();
    let store = Postgres::connect(&PostgresOptions::new(cluster.url(TEMPLATE))).await.unwrap();
    store.migrate().await.unwrap();
    store.close().await;
    // A session on the template, be it only autovacuum's, would refuse the next copy.
    admin.execute(AssertSqlSafe(format!("ALTER DATABASE {TEMPLATE} ALLOW_CONNECTIONS false IS_TEMPLATE true"))).await.unwrap();
    admin.close().await.unwrap();
}

/// Another process may take the port before the server does, so there are several attempts.
fn start() -> Cluster {
    let binaries = binaries();
    let user = unprivileged();
    (0..5).find_map(|_| attempt(&binaries, user, ports::free())).expect("Postgres found no free port")
}

fn attempt(binaries: &Path, user: Option<(u32, u32)>, port: u16) -> Option<Cluster> {
    let folder = tempfile::Builder::new().prefix("plybook-test-pg-").tempdir().unwrap().keep();
    if let Some((uid, gid)) = user {
        chown(&folder, Some(uid), Some(gid)).unwrap();
    }
    init(binaries, &folder, user);
    let mut cluster = Cluster { port, watcher: watch(binaries, &folder, user, port), folder: folder.clone() };
    if answers(&cluster, &folder) {
        return Some(cluster);
    }
    // Waiting closes the pipe first, so the shell tidies up.
    cluster.watcher.wait().unwrap();
    None
}

fn init(binaries: &Path, folder: &Path, user: Option<(u32, u32)>) {
    let mut initdb = Command::new(binaries.join("initdb"));
    initdb.args(["--no-sync", "-A", "trust", "-U", "plybook", "-E", "UTF8", "--locale=C", "-D"]).arg(folder.join("data"));
    let output = as_user(&mut initdb, user).current_dir(folder).output().unwrap();
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr).into_owned();
        fs::remove_dir_all(folder).unwrap();
        panic!("initdb failed: {why}");
    }
}

fn watch(binaries: &Path, folder: &Path, user: Option<(u32, u32)>, port: u16) -> Child {
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", WATCH, "plybook-test-postgres"]).arg(binaries.join("postgres")).arg(folder);
    for setting in SETTINGS {
        shell.args(["-c", setting]);
    }
    shell.args(["-p", &port.to_string()]);
    // In a process group of its own, so that Ctrl-C leaves it time to tidy up.
    as_user(&mut shell, user)
        .process_group(0)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Waits for a real answer, from this very server; false where its port was taken.
fn answers(cluster: &Cluster, folder: &Path) -> bool {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let began = Instant::now();
    loop {
        let question = async {
            let mut connection = connect(&cluster.url("postgres")).await.ok()?;
            sqlx::query_scalar::<_, String>("SHOW data_directory").fetch_one(&mut connection).await.ok()
        };
        // Whatever else has the port need not speak Postgres.
        let folder_served = runtime.block_on(async { tokio::time::timeout(Duration::from_secs(20), question).await.ok()? });
        if folder_served.is_some_and(|served| Path::new(&served) == folder.join("data")) {
            return true;
        }
        let log = log(folder);
        if log.contains("could not create any TCP/IP sockets") {
            return false;
        }
        assert!(began.elapsed() < START_WITHIN, "Postgres did not start: {log}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn log(folder: &Path) -> String {
    fs::read_to_string(folder.join("log")).unwrap_or_default()
}

fn as_user(command: &mut Command, user: Option<(u32, u32)>) -> &mut Command {
    match user {
        Some((uid, gid)) => command.uid(uid).gid(gid),
        None => command,
    }
}

/// Whom the server runs as where this process is root, which Postgres refuses to be.
fn unprivileged() -> Option<(u32, u32)> {
    if number_of(&["-u"]) != Some(0) {
        return None;
    }
    let user = ["postgres", "nobody"].iter().find_map(|name| Some((number_of(&["-u", name])?, number_of(&["-g", name])?)));
    Some(user.expect("run by root, the tests need a user `postgres` or `nobody` to run Postgres as"))
}

fn number_of(arguments: &[&str]) -> Option<u32> {
    let output = Command::new("id").args(arguments).stderr(Stdio::null()).output().unwrap();
    String::from_utf8(output.stdout).ok()?.trim().parse().ok()
}

/// The folder of `initdb` and `postgres`: as told, else Debian's newest, else on the path.
pub fn binaries() -> PathBuf {
    let complete = |folder: &PathBuf| folder.join("initdb").is_file() && folder.join("postgres").is_file();
    if let Some(told) = std::env::var_os(BINARIES_ENV) {
        let told = PathBuf::from(told);
        assert!(complete(&told), "{BINARIES_ENV} names {}, which has no initdb and postgres: {MISSING}", told.display());
        return told;
    }
    let mut versions: Vec<(u32, PathBuf)> = fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path().join("bin"))))
        .filter(|(_, folder)| complete(folder))
        .collect();
    versions.sort();
    let newest = versions.pop().map(|(_, folder)| folder);
    newest.or_else(|| on_the_path(&std::env::var_os("PATH").unwrap_or_default(), complete)).unwrap_or_else(|| panic!("{MISSING}"))
}

fn on_the_path(path: &OsStr, complete: impl Fn(&PathBuf) -> bool) -> Option<PathBuf> {
    std::env::split_paths(path).find(complete)
}
