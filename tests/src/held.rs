//! A transaction held open in Postgres, and whatever waits for it.
//!
//! Invariant: what it wrote is seen by nobody before the test lets it commit.

use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Connection as _, Executor as _};

use crate::postgres::TestDatabase;

/// An open transaction.
#[derive(Debug)]
pub struct Held {
    connection: PgConnection,
}

impl Held {
    /// Begins, and runs these statements.
    pub async fn over(database: &TestDatabase, sql: &str) -> Held {
        let mut connection = database.connect().await;
        connection.execute("BEGIN").await.unwrap();
        connection.execute(AssertSqlSafe(sql)).await.unwrap();
        Held { connection }
    }

    /// As if another node were about to append entry `seq` of a game: whoever appends it too must wait.
    pub async fn before_entry(database: &TestDatabase, game: &str, seq: u64) -> Held {
        let sql = format!(
            "INSERT INTO book_entry (tenant_id, game_id, seq, request_id, request_hash, digest, line)
             SELECT 1, '{game}', {seq}, gen_random_uuid(), sha256(''), sha256(''), 'held'"
        );
        Held::over(database, &sql).await
    }

    /// Makes what it did durable, and lets those go on that waited.
    pub async fn commit(mut self) {
        self.connection.execute("COMMIT").await.unwrap();
        self.connection.close().await.unwrap();
    }

    /// Undoes what it did, and lets those go on that waited.
    pub async fn release(mut self) {
        self.connection.execute("ROLLBACK").await.unwrap();
        self.connection.close().await.unwrap();
    }
}
