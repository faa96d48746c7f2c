//! Options, the pool and its sessions.
//!
//! Invariant: a session that appends never answers before the database has made the entry durable.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgConnection, PgPool, PgPoolOptions};
use sqlx::{ConnectOptions, Connection};
use tokio::time::timeout;

use crate::error::Error;
use crate::fault::classify;

/// What a session is called in `pg_stat_activity`.
const APPLICATION: &str = "plybook";
/// A connection that lay idle for longer is tried before it is used again.
const TRIED_AFTER: Duration = Duration::from_secs(1);
/// How much later than the statement itself its answer may come.
const ANSWER_SLACK: Duration = Duration::from_secs(3);

/// How to reach Postgres.
#[derive(Clone)]
pub struct PostgresOptions {
    /// `postgres://user:password@host:port/database`, with the options that libpq knows (`sslmode` …).
    pub url: String,
    /// Most connections for reads and writes; two more carry wake-ups.
    pub max_connections: u32,
    /// How long a call waits for a free connection.
    pub acquire_timeout: Duration,
    /// How long the database works on one statement.
    pub statement_timeout: Duration,
    /// How long the database waits for a stalled node inside a transaction, which holds up every feed.
    pub idle_in_transaction_timeout: Duration,
    /// Appends that wait for a batch; more are refused.
    pub appends_queue: usize,
    /// Whether the address leads to a pooler that lends sessions by the transaction.
    pub pooled: bool,
    /// Where sessions of one's own are to be had, for wake-ups; none means at `url`, or nowhere where that is pooled.
    pub wake_url: Option<String>,
    /// A standby that may serve history.
    pub read_url: Option<String>,
}

impl PostgresOptions {
    /// These defaults: 16 connections, 5 s to get one, 10 s a statement, 10 s idle inside a transaction,
    /// 8192 appends waiting.
    pub fn new(url: impl Into<String>) -> PostgresOptions {
        PostgresOptions {
            url: url.into(),
            max_connections: 16,
            acquire_timeout: Duration::from_secs(5),
            statement_timeout: Duration::from_secs(10),
            idle_in_transaction_timeout: Duration::from_secs(10),
            appends_queue: 8_192,
            pooled: false,
            wake_url: None,
            read_url: None,
        }
    }

    /// Checks, without going there, that the address can be read: what is refused here is refused by a connection too.
    pub fn check(&self) -> Result<(), Error> {
        self.session().map(drop)
    }

    /// The address as the driver knows it.
    pub(super) fn session(&self) -> Result<PgConnectOptions, Error> {
        if !(self.url.starts_with("postgres://") || self.url.starts_with("postgresql://")) {
            return Err(Error::Config("a Postgres address begins with postgres://".to_owned()));
        }
        if self.max_connections == 0 {
            return Err(Error::Config("max_connections of Postgres must be at least 1".to_owned()));
        }
        let session = PgConnectOptions::from_str(&self.url)
            .map_err(|error| Error::Config(format!("the Postgres address cannot be read: {error}")))?;
        let session = session.application_name(APPLICATION);
        // A pooler knows few settings of a session, and this one is not needed: all values travel in binary.
        Ok(if self.pooled { session.extra_float_digits(None).statement_cache_capacity(0) } else { session })
    }

    /// Where sessions of one's own are to be had for wake-ups, if anywhere.
    pub(super) fn wake_session(&self) -> Result<Option<PgConnectOptions>, Error> {
        let url = match &self.wake_url {
            Some(url) => url,
            None if self.pooled => return Ok(None),
            None => &self.url,
        };
        PostgresOptions { url: url.clone(), pooled: false, ..self.clone() }.session().map(Some)
    }

    /// Where the schema is changed: locks of sessions are nothing that a pooler could lend.
    pub(super) fn direct_session(&self) -> Result<PgConnectOptions, Error> {
        let nowhere = || Error::Config("the schema is changed over sessions that stay: name the database itself and no pooler".to_owned());
        self.wake_session()?.ok_or_else(nowhere)
    }

    /// When an answer is given up, so that a dead line does not keep its connection.
    pub(super) fn answer_within(&self) -> Duration {
        self.statement_timeout + ANSWER_SLACK
    }
}

impl fmt::Debug for PostgresOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The address carries the password.
        f.debug_struct("PostgresOptions").field("max_connections", &self.max_connections).finish_non_exhaustive()
    }
}

/// Opens the pool, after one connection has told whether the address works at all.
pub(super) async fn pool(options: &PostgresOptions, session: PgConnectOptions) -> Result<PgPool, Error> {
    let place = format!("{}:{}", session.get_host(), session.get_port());
    let first = timeout(options.acquire_timeout, session.connect()).await;
    match first {
        Err(_) => return Err(Error::Unavailable(format!("no answer from Postgres at {place} within {:?}", options.acquire_timeout))),
        Ok(Err(error)) => return Err(at(&place, refused(error))),
        Ok(Ok(connection)) => connection.close().await.map_err(classify)?,
    }
    Ok(pool_when_asked(options, session))
}

/// Opens the pool, which connects when it is first asked.
pub(super) fn pool_when_asked(options: &PostgresOptions, session: PgConnectOptions) -> PgPool {
    let (statement, pooled) = (options.statement_timeout.as_millis().to_string(), options.pooled);
    let idle = options.idle_in_transaction_timeout.as_millis().to_string();
    PgPoolOptions::new()
        .max_connections(options.max_connections)
        .acquire_timeout(options.acquire_timeout)
        // A ping before every statement would double the round trips.
        .test_before_acquire(false)
        .before_acquire(|connection, meta| {
            Box::pin(async move {
                if meta.idle_for > TRIED_AFTER {
                    connection.ping().await?;
                }
                Ok(true)
            })
        })
        .after_connect(move |connection, _| {
            let (statement, idle) = (statement.clone(), idle.clone());
            // Over a pooler each transaction sets it for itself.
            Box::pin(async move { if pooled { Ok(()) } else { settle(connection, statement, idle).await } })
        })
        .connect_lazy_with(session)
}

/// Sets what every appending session needs, whatever the database's or the role's defaults are.
async fn settle(connection: &mut PgConnection, statement_ms: String, idle_ms: String) -> Result<(), sqlx::Error> {
    sqlx::query(
        "SELECT set_config('statement_timeout', $1, false),
                set_config('idle_in_transaction_session_timeout', $2, false),
                set_config('default_transaction_isolation', 'read committed', false),
                set_config('synchronous_commit', CASE
                    WHEN current_setting('synchronous_commit') IN ('off', 'local') THEN 'on'
                    ELSE current_setting('synchronous_commit') END, false)",
    )
    .bind(statement_ms)
    .bind(idle_ms)
    .execute(connection)
    .await
    .map(drop)
}

/// A connection without time limits, for migrations.
pub(super) async fn unlimited(session: PgConnectOptions) -> Result<PgConnection, Error> {
    let mut connection = session.connect().await.map_err(refused)?;
    sqlx::query("SELECT set_config('statement_timeout', '0', false)").execute(&mut connection).await.map_err(classify)?;
    Ok(connection)
}

/// Why there is no session. Postgres knows every setting that a session begins with, and a pooler only some; whatever else a
/// pooler says in the same code may pass.
fn refused(error: sqlx::Error) -> Error {
    match error.as_database_error().filter(|said| said.message().contains("startup parameter")) {
        Some(said) => {
            Error::Config(format!("this is a pooler and no database ({said}): name the database itself, or say that its sessions are lent"))
        }
        None => classify(error),
    }
}

fn at(place: &str, error: Error) -> Error {
    match error {
        Error::Unavailable(why) => Error::Unavailable(format!("Postgres at {place}: {why}")),
        Error::Config(why) => Error::Config(format!("Postgres at {place}: {why}")),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_address_is_a_sentence_and_no_secret_is_printed() {
        for url in ["", "mysql://x", "/tmp/file", "postgres://host:port/x"] {
            assert!(matches!(PostgresOptions::new(url).session(), Err(Error::Config(_))), "{url}");
        }
        let options = PostgresOptions::new("postgres://me:secret@127.0.0.1/books");
        assert!(options.session().is_ok());
        assert!(!format!("{options:?}").contains("secret"));
        assert!(matches!(PostgresOptions { max_connections: 0, ..options }.session(), Err(Error::Config(_))));
    }
}
