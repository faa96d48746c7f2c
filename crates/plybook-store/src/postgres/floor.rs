//! What the database itself can do, for benchmarks and for nothing else: `plybook bench` sets what a node
//! does beside it.
//!
//! The same rows that an append stores, through a pool made exactly like a node's, in two ways that need no
//! Plybook: the transaction that a service would write first ([`Floor::plain_transaction`]), and a bare insert
//! ([`Floor::one_row_insert`]). Their tables have a primary key and nothing else: no trigger, no check, no
//! second index. So the floors are as fast as they honestly can be.
//!
//! Invariant: nothing of Plybook's own is written, only what stands in a schema of the floor's own, which
//! [`Floor::close`] drops.

use plybook_core::Uuid;
use sqlx::postgres::{PgConnection, PgPool};
use sqlx::{Connection as _, Row as _, query};

use super::connect::{self, PostgresOptions};
use crate::error::Error;
use crate::fault::{classify, sqlstate};
use crate::store::TenantId;

/// SQLSTATE of a schema that is already there.
const DUPLICATE_SCHEMA: &str = "42P06";

const SCHEMA: &str = "CREATE SCHEMA plybook_bench";
const GAMES: &str = "CREATE TABLE plybook_bench.game (
    tenant_id int NOT NULL, id uuid NOT NULL, head int NOT NULL,
    PRIMARY KEY (tenant_id, id)) WITH (fillfactor = 85)";
const ENTRIES: &str = "CREATE TABLE plybook_bench.entry (
    tenant_id int NOT NULL, game_id uuid NOT NULL, seq int NOT NULL, request_id uuid NOT NULL,
    request_hash bytea NOT NULL, digest bytea NOT NULL, line text COLLATE \"C\" NOT NULL,
    PRIMARY KEY (tenant_id, game_id, seq))";
const DROP: &str = "DROP SCHEMA plybook_bench CASCADE";

const NEW_GAME: &str = "INSERT INTO plybook_bench.game (tenant_id, id, head) VALUES ($1, $2, 1)";
const INSERT: &str = "INSERT INTO plybook_bench.entry (tenant_id, game_id, seq, request_id, request_hash, digest, line)
    VALUES ($1, $2, $3, $4, $5, $6, $7)";
const LOCK: &str = "SELECT head FROM plybook_bench.game WHERE tenant_id = $1 AND id = $2 FOR UPDATE";
const HEAD: &str = "UPDATE plybook_bench.game SET head = $3 WHERE tenant_id = $1 AND id = $2";

/// A database measured without Plybook.
#[derive(Debug)]
pub struct Floor {
    options: PostgresOptions,
    pool: PgPool,
}

/// A row as an append stores it.
#[derive(Clone, Debug)]
pub struct FloorRow {
    /// Of [`Floor::add_game`], or any other where nothing but the row is written.
    pub game: Uuid,
    /// Counts up in its game, from 2.
    pub seq: u32,
    /// A new one for each row.
    pub request_id: Uuid,
    /// 32 bytes.
    pub request_hash: [u8; 32],
    /// 32 bytes.
    pub digest: [u8; 32],
    /// About as long as a move's.
    pub line: String,
}

/// Under which terms a database was measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms {
    /// Its version.
    pub version: String,
    /// Whether it waits for the disk.
    pub fsync: String,
    /// Whether a commit of these sessions waits for the log.
    pub synchronous_commit: String,
}

impl Floor {
    /// Makes the tables. Sessions are those of a node with the same options.
    pub async fn open(options: &PostgresOptions) -> Result<Floor, Error> {
        let pool = connect::pool(options, options.session()?).await?;
        match query(SCHEMA).execute(&pool).await {
            Err(error) if sqlstate(&error).as_deref() == Some(DUPLICATE_SCHEMA) => {
                return Err(Error::Config(format!(
                    "the schema plybook_bench is there already: another bench runs on this database, or one was killed; then: {DROP}"
                )));
            }
            made => made.map_err(classify)?,
        };
        let floor = Floor { options: options.clone(), pool };
        for table in [GAMES, ENTRIES] {
            query(table).execute(&floor.pool).await.map_err(classify)?;
        }
        Ok(floor)
    }

    /// Adds a game whose head is 1.
    pub async fn add_game(&self, game: Uuid) -> Result<(), Error> {
        query(NEW_GAME).bind(TenantId::DEFAULT.0).bind(game).execute(&self.pool).await.map(drop).map_err(classify)
    }

    /// Begin, select the game for update, insert the row, update the game, commit.
    pub async fn plain_transaction(&self, row: &FloorRow) -> Result<(), Error> {
        let tenant = TenantId::DEFAULT.0;
        let mut transaction = self.pool.begin().await.map_err(classify)?;
        let locked = query(LOCK).bind(tenant).bind(row.game).fetch_one(&mut *transaction).await.map_err(classify)?;
        let head: i32 = locked.try_get("head").map_err(classify)?;
        if i64::from(head) + 1 != i64::from(row.seq) {
            return Err(Error::Failed(format!("the head is {head}, and the row is number {}", row.seq)));
        }
        insert(row)?.execute(&mut *transaction).await.map_err(classify)?;
        query(HEAD).bind(tenant).bind(row.game).bind(number(row.seq)?).execute(&mut *transaction).await.map_err(classify)?;
        transaction.commit().await.map_err(classify)
    }

    /// The row in a transaction of its own.
    pub async fn one_row_insert(&self, row: &FloorRow) -> Result<(), Error> {
        insert(row)?.execute(&self.pool).await.map(drop).map_err(classify)
    }

    /// How far the write-ahead log has been written, in bytes since the cluster's beginning.
    pub async fn wal_bytes(&self) -> Result<u64, Error> {
        self.number("SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint AS n").await
    }

    /// Bytes of all books, tables and indexes; 0 where there are none.
    pub async fn book_bytes(&self) -> Result<u64, Error> {
        let question =
            "SELECT coalesce(sum(pg_total_relation_size(relid)), 0)::bigint AS n FROM pg_partition_tree(to_regclass('book_entry'))";
        self.number(question).await
    }

    /// What the sessions of this pool are told.
    pub async fn terms(&self) -> Result<Terms, Error> {
        let question = "SELECT current_setting('server_version') AS version, current_setting('fsync') AS fsync,
                               current_setting('synchronous_commit') AS synchronous_commit";
        let row = query(question).fetch_one(&self.pool).await.map_err(classify)?;
        let text = |column: &str| row.try_get(column).map_err(classify);
        Ok(Terms { version: text("version")?, fsync: text("fsync")?, synchronous_commit: text("synchronous_commit")? })
    }

    /// Drops the tables, also while statements of somebody who left are still under way.
    pub async fn close(&self) -> Result<(), Error> {
        self.pool.close().await;
        let mut connection: PgConnection = connect::unlimited(self.options.session()?).await?;
        query(DROP).execute(&mut connection).await.map_err(classify)?;
        connection.close().await.map_err(classify)
    }

    async fn number(&self, question: &'static str) -> Result<u64, Error> {
        let row = query(question).fetch_one(&self.pool).await.map_err(classify)?;
        let n: i64 = row.try_get("n").map_err(classify)?;
        Ok(n.max(0).cast_unsigned())
    }
}

fn insert(row: &FloorRow) -> Result<super::Question<'_>, Error> {
    Ok(query(INSERT)
        .bind(TenantId::DEFAULT.0)
        .bind(row.game)
        .bind(number(row.seq)?)
        .bind(row.request_id)
        .bind(&row.request_hash[..])
        .bind(&row.digest[..])
        .bind(&row.line))
}

fn number(seq: u32) -> Result<i32, Error> {
    i32::try_from(seq).map_err(|_| Error::Failed(format!("{seq} is no number of a row")))
}
