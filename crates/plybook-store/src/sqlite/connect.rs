//! Options, the writer and the readers.
//!
//! Invariant: a commit returns only after the disk has it (`synchronous = FULL` over a write-ahead log).

use std::path::PathBuf;
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous};

use crate::error::Error;
use crate::fault::classify;

/// What SQLite answers where the path leads to no file that could be opened or made.
const CANNOT_OPEN: &str = "14";

/// Where the file is.
#[derive(Clone, Debug)]
pub struct SqliteOptions {
    /// The file, made where there is none; its folder must exist. Two files of SQLite's stand beside it.
    pub path: PathBuf,
    /// Most connections that read at once.
    pub read_connections: u32,
    /// How long a call waits for a connection, and a write for another process that holds the file.
    pub busy_timeout: Duration,
}

impl SqliteOptions {
    /// These defaults: 4 readers, 5 s of waiting.
    pub fn new(path: impl Into<PathBuf>) -> SqliteOptions {
        SqliteOptions { path: path.into(), read_connections: 4, busy_timeout: Duration::from_secs(5) }
    }

    fn file(&self) -> SqliteConnectOptions {
        SqliteConnectOptions::new().filename(&self.path).busy_timeout(self.busy_timeout).foreign_keys(true)
    }

    fn pool(&self, connections: u32) -> SqlitePoolOptions {
        SqlitePoolOptions::new()
            .max_connections(connections)
            .acquire_timeout(self.busy_timeout)
            // A connection to a file does not age or break.
            .test_before_acquire(false)
            .idle_timeout(None)
            .max_lifetime(None)
    }

    fn refused(&self, error: sqlx::Error) -> Error {
        let cannot_open = error.as_database_error().and_then(|error| error.code()).is_some_and(|code| code == CANNOT_OPEN);
        match classify(error) {
            Error::Unavailable(why) if cannot_open => Error::Config(format!("cannot open {}: {why}", self.path.display())),
            Error::Unavailable(why) => Error::Unavailable(format!("{}: {why}", self.path.display())),
            Error::Corrupt(why) => Error::Corrupt(format!("{}: {why}", self.path.display())),
            other => other,
        }
    }
}

/// The one connection that writes.
pub(super) async fn writer(options: &SqliteOptions) -> Result<SqlitePool, Error> {
    let file = options.file().create_if_missing(true).journal_mode(SqliteJournalMode::Wal).synchronous(SqliteSynchronous::Full);
    options.pool(1).connect_with(file).await.map_err(|error| options.refused(error))
}

/// In the writer's place where nothing is to be written: connections that cannot, made when one is asked for.
pub(super) fn nobody(options: &SqliteOptions) -> SqlitePool {
    options.pool(1).connect_lazy_with(options.file().pragma("query_only", "ON"))
}

/// Connections that cannot write.
pub(super) async fn readers(options: &SqliteOptions) -> Result<SqlitePool, Error> {
    let file = options.file().pragma("query_only", "ON");
    options.pool(options.read_connections.max(1)).connect_with(file).await.map_err(|error| options.refused(error))
}
