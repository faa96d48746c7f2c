//! How a statement travels: over sessions that are this node's alone, or over ones that a pooler lends by the transaction.
//!
//! Invariant: over a pooler nothing outlives its transaction. What is parsed in one would be looked for in another
//! backend afterwards, or be somebody else's there; so each statement has no name and comes in a transaction that also
//! sets what its session would have been told once.

use std::sync::Arc;
use std::time::Duration;

use sqlx::postgres::{PgConnection, PgRow};
use sqlx::{AssertSqlSafe, Connection as _};
use tokio::time::timeout;

use super::Question;
use super::connect::PostgresOptions;

type Transaction<'c> = sqlx::Transaction<'c, sqlx::Postgres>;

/// How long an answer may take, and whose the sessions are.
#[derive(Clone, Debug)]
pub(super) struct Manner {
    within: Duration,
    /// What begins a transaction over a pooler; nothing where sessions stay.
    begin: Option<Arc<str>>,
}

impl Manner {
    pub(super) fn of(options: &PostgresOptions) -> Manner {
        let (statement, idle) = (options.statement_timeout.as_millis(), options.idle_in_transaction_timeout.as_millis());
        let begin = format!(
            "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL statement_timeout = {statement};
             SET LOCAL idle_in_transaction_session_timeout = {idle};
             SELECT set_config('synchronous_commit', CASE
                 WHEN current_setting('synchronous_commit') IN ('off', 'local') THEN 'on'
                 ELSE current_setting('synchronous_commit') END, true)"
        );
        Manner { within: options.answer_within(), begin: options.pooled.then(|| begin.into()) }
    }

    /// The same, with less time.
    pub(super) fn hurried(mut self, within: Duration) -> Manner {
        self.within = self.within.min(within);
        self
    }

    /// A statement by itself.
    pub(super) async fn row(&self, connection: &mut PgConnection, question: Question<'_>) -> Result<Option<PgRow>, sqlx::Error> {
        let Some(begin) = &self.begin else { return self.late(question.fetch_optional(connection)).await };
        self.late(async {
            let mut transaction = connection.begin_with(AssertSqlSafe(Arc::clone(begin))).await?;
            let row = question.persistent(false).fetch_optional(&mut *transaction).await?;
            transaction.commit().await?;
            Ok(row)
        })
        .await
    }

    /// The same, of which many rows come back.
    pub(super) async fn rows(&self, connection: &mut PgConnection, question: Question<'_>) -> Result<Vec<PgRow>, sqlx::Error> {
        let Some(begin) = &self.begin else { return self.late(question.fetch_all(connection)).await };
        self.late(async {
            let mut transaction = connection.begin_with(AssertSqlSafe(Arc::clone(begin))).await?;
            let rows = question.persistent(false).fetch_all(&mut *transaction).await?;
            transaction.commit().await?;
            Ok(rows)
        })
        .await
    }

    /// Begins a transaction of several statements.
    pub(super) async fn begin<'c>(&self, connection: &'c mut PgConnection) -> Result<Transaction<'c>, sqlx::Error> {
        match &self.begin {
            None => self.late(connection.begin()).await,
            Some(begin) => self.late(connection.begin_with(AssertSqlSafe(Arc::clone(begin)))).await,
        }
    }

    /// One of them.
    pub(super) async fn row_of(&self, transaction: &mut Transaction<'_>, question: Question<'_>) -> Result<Option<PgRow>, sqlx::Error> {
        self.late(question.persistent(self.begin.is_none()).fetch_optional(&mut **transaction)).await
    }

    /// Makes them durable.
    pub(super) async fn commit(&self, transaction: Transaction<'_>) -> Result<(), sqlx::Error> {
        self.late(transaction.commit()).await
    }

    async fn late<T>(&self, answer: impl Future<Output = Result<T, sqlx::Error>>) -> Result<T, sqlx::Error> {
        match timeout(self.within, answer).await {
            Ok(answer) => answer,
            Err(_) => {
                Err(sqlx::Error::Io(std::io::Error::new(std::io::ErrorKind::TimedOut, format!("no answer within {:?}", self.within))))
            }
        }
    }
}

/// Whether nobody may be at the other end of the line any more.
pub(super) fn is_late(error: &sqlx::Error) -> bool {
    matches!(error, sqlx::Error::Io(error) if error.kind() == std::io::ErrorKind::TimedOut)
}
