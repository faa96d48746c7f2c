//! Options, the writer, the readers and the schema.
//!
//! Invariant: a commit returns only after the disk has it (`synchronous = FULL` over a write-ahead log).

use std::path::PathBuf;
use std::time::Duration;

use sqlx::migrate::MigrateError;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous};

use super::busy::Patience;
use super::{read, write};
use crate::error::Error;
use crate::fault::classify;
use crate::migrations::{self, applied};

/// What SQLite answers where the path leads to no file that could be opened or made.
const CANNOT_OPEN: &str = "14";

/// Where the file is.
#[derive(Clone, Debug)]
pub struct SqliteOptions {
    /// The file, made where there is none; its folder must exist. Two files of SQLite's stand beside it.
    pub path: PathBuf,
    /// Most connections that read at once.
    pub read_connections: u32,
    /// How long a call waits for a connection, and opening or a write for another process that holds the file.
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

    pub(super) fn patience(&self) -> Patience {
        Patience::of(self.busy_timeout)
    }

    fn refused(&self, error: sqlx::Error) -> Error {
        let cannot_open = error.as_database_error().and_then(|error| error.code()).is_some_and(|code| code == CANNOT_OPEN);
        if matches!(error, sqlx::Error::PoolTimedOut) {
            let time = self.busy_timeout;
            return Error::Unavailable(format!(
                "{}: it could not be opened within {time:?}: another process may hold it",
                self.path.display()
            ));
        }
        match classify(error) {
            Error::Unavailable(why) if cannot_open => Error::Config(format!("cannot open {}: {why}", self.path.display())),
            Error::Unavailable(why) => Error::Unavailable(format!("{}: {why}", self.path.display())),
            Error::Corrupt(why) => Error::Corrupt(format!("{}: {why}", self.path.display())),
            other => other,
        }
    }
}

/// The one connection that writes.
pub(super) async fn writer(options: &SqliteOptions, patience: Patience) -> Result<SqlitePool, Error> {
    let file = options.file().create_if_missing(true).journal_mode(SqliteJournalMode::Wal).synchronous(SqliteSynchronous::Full);
    let opened = patience.until_done(|| options.pool(1).connect_with(file.clone())).await;
    opened.map_err(|error| options.refused(error))
}

/// In the writer's place where nothing is to be written: connections that cannot, made when one is asked for.
pub(super) fn nobody(options: &SqliteOptions) -> SqlitePool {
    options.pool(1).connect_lazy_with(options.file().pragma("query_only", "ON"))
}

/// Connections that cannot write.
pub(super) async fn readers(options: &SqliteOptions, patience: Patience) -> Result<SqlitePool, Error> {
    let file = options.file().pragma("query_only", "ON");
    let connections = options.read_connections.max(1);
    let opened = patience.until_done(|| options.pool(connections).connect_with(file.clone())).await;
    opened.map_err(|error| options.refused(error))
}

/// Brings the file's schema up to this build's.
pub(super) async fn migrate(options: &SqliteOptions, writer: &SqlitePool, patience: Patience) -> Result<(), Error> {
    let done = patience.until_done(|| migrate_once(writer)).await.map_err(|error| match error {
        sqlx::Error::Migrate(error) => migrations::refused(*error),
        other => options.refused(other),
    });
    done?
}

/// The driver takes no lock between looking at the schema and changing it, so the file's write lock is
/// taken first: of those who open a new file at once, one makes the schema and the others find it made.
/// Where nothing is to be changed no lock is taken, for the file may be another process's, which is writing.
async fn migrate_once(writer: &SqlitePool) -> Result<Result<(), Error>, sqlx::Error> {
    let migrator = migrations::migrator(migrations::SQLITE);
    if applied::check(migrations::SQLITE, &read::schema(writer).await?).is_ok() {
        return Ok(Ok(()));
    }
    let mut transaction = writer.begin_with(write::BEGIN).await?;
    if let Err(refusal) = applied::check_migrate(migrations::SQLITE, &read::schema(&mut *transaction).await?) {
        return Ok(Err(refusal));
    }
    // `run` with a connection is no future that a task could own; this is what it calls: to the end, skipping nothing.
    migrator.run_direct(None, &mut *transaction, false).await.map_err(driver_error)?;
    transaction.commit().await.map(Ok)
}

/// What the database said, where the migration's error only passes it on.
fn driver_error(error: MigrateError) -> sqlx::Error {
    match error {
        MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => error,
        other => sqlx::Error::Migrate(Box::new(other)),
    }
}
