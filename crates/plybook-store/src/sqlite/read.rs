//! Entries, requests, seeds, pages of games.
//!
//! Invariant: each read is one statement and so one snapshot, inside a write's transaction or outside.

use plybook_core::{Seed, Seq, Uuid};
use sqlx::sqlite::SqliteRow;
use sqlx::{Executor, Row as _, Sqlite, query, query_scalar};

use crate::error::Error;
use crate::fault::classify;
use crate::migrations::applied::Applied;
use crate::page::page;
use crate::row::{Columns, contiguous, seq_column, state_from};
use crate::store::{Filter, GameKey, State, StoredEntry, Summary, TenantId};

pub(super) async fn entries(
    file: impl Executor<'_, Database = Sqlite>,
    key: GameKey,
    after: Seq,
    limit: u32,
) -> Result<Vec<StoredEntry>, Error> {
    let rows = query(
        "SELECT seq, line, digest, request_id FROM book_entry
         WHERE tenant_id = $1 AND game_id = $2 AND seq > $3 ORDER BY seq LIMIT $4",
    )
    .bind(key.tenant.0)
    .bind(key.game)
    .bind(seq_column(after))
    .bind(i64::from(limit))
    .fetch_all(file)
    .await
    .map_err(classify)?;
    contiguous(key.game, after, &rows)
}

pub(super) async fn last(file: impl Executor<'_, Database = Sqlite>, key: GameKey) -> Result<Option<StoredEntry>, Error> {
    let row = query(
        "SELECT seq, line, digest, request_id FROM book_entry
         WHERE tenant_id = $1 AND game_id = $2 ORDER BY seq DESC LIMIT 1",
    )
    .bind(key.tenant.0)
    .bind(key.game)
    .fetch_optional(file)
    .await
    .map_err(classify)?;
    row.map(|row| row.entry("")).transpose()
}

pub(super) async fn find_request(
    file: impl Executor<'_, Database = Sqlite>,
    key: GameKey,
    request_id: Uuid,
) -> Result<Option<(StoredEntry, [u8; 32])>, Error> {
    let row = query(
        "SELECT seq, line, digest, request_id, request_hash FROM book_entry
         WHERE tenant_id = $1 AND game_id = $2 AND request_id = $3",
    )
    .bind(key.tenant.0)
    .bind(key.game)
    .bind(request_id)
    .fetch_optional(file)
    .await
    .map_err(classify)?;
    row.map(|row| Ok((row.entry("")?, row.bytes32("request_hash")?))).transpose()
}

pub(super) async fn find_creation(
    file: impl Executor<'_, Database = Sqlite>,
    tenant: TenantId,
    request_id: Uuid,
) -> Result<Option<(Uuid, [u8; 32])>, Error> {
    let row = query("SELECT id, request_hash FROM game WHERE tenant_id = $1 AND request_id = $2")
        .bind(tenant.0)
        .bind(request_id)
        .fetch_optional(file)
        .await
        .map_err(classify)?;
    row.map(|row| Ok((row.uuid("id")?, row.bytes32("request_hash")?))).transpose()
}

pub(super) async fn state(file: impl Executor<'_, Database = Sqlite>, key: GameKey) -> Result<Option<State>, Error> {
    let row = query("SELECT state FROM game WHERE tenant_id = $1 AND id = $2")
        .bind(key.tenant.0)
        .bind(key.game)
        .fetch_optional(file)
        .await
        .map_err(classify)?;
    row.map(|row| state_from(&row.text("state")?)).transpose()
}

pub(super) async fn seed(file: impl Executor<'_, Database = Sqlite>, key: GameKey) -> Result<Option<Seed>, Error> {
    let row = query("SELECT seed FROM game_seed WHERE tenant_id = $1 AND game_id = $2")
        .bind(key.tenant.0)
        .bind(key.game)
        .fetch_optional(file)
        .await
        .map_err(classify)?;
    row.map(|row| row.seed()).transpose()
}

pub(super) async fn list(
    file: impl Executor<'_, Database = Sqlite>,
    tenant: TenantId,
    filter: &Filter,
    before: Option<Uuid>,
    limit: u32,
) -> Result<Vec<Summary>, Error> {
    // CROSS JOIN keeps the order in which SQLite goes through the tables.
    let mut sql = page("CROSS JOIN", tenant, filter, before, limit);
    sql.push(
        "SELECT page.id, page.state,
               h.seq AS header_seq, h.line AS header_line, h.digest AS header_digest, h.request_id AS header_request_id,
               l.seq AS last_seq, l.line AS last_line, l.digest AS last_digest, l.request_id AS last_request_id,
               b.seq AS before_seq, b.line AS before_line, b.digest AS before_digest, b.request_id AS before_request_id,
               f.imported_at AS foreign_imported_at, f.imported_by AS foreign_imported_by, f.signature AS foreign_signature
        FROM page
        LEFT JOIN foreign_book f ON f.tenant_id = page.tenant_id AND f.game_id = page.id
        LEFT JOIN book_entry h ON h.tenant_id = page.tenant_id AND h.game_id = page.id AND h.seq = 1
        LEFT JOIN book_entry l ON l.tenant_id = page.tenant_id AND l.game_id = page.id
              AND l.seq = (SELECT max(seq) FROM book_entry WHERE tenant_id = page.tenant_id AND game_id = page.id)
        LEFT JOIN book_entry b ON page.state = 'closed' AND b.tenant_id = page.tenant_id AND b.game_id = page.id AND b.seq = l.seq - 1
        ORDER BY page.id DESC",
    );
    let rows = sql.build().fetch_all(file).await.map_err(classify)?;
    rows.iter().map(Columns::summary).collect()
}

pub(super) async fn clock_unix_ms(file: impl Executor<'_, Database = Sqlite>) -> Result<u64, Error> {
    let ms: i64 = query_scalar("SELECT CAST(round(unixepoch('subsec') * 1000) AS INTEGER)").fetch_one(file).await.map_err(classify)?;
    u64::try_from(ms).map_err(|_| Error::Failed("the database's clock stands before 1970".to_owned()))
}

/// The migrations that were applied, ascending; none in a file that has no schema.
pub(super) async fn schema(file: impl Executor<'_, Database = Sqlite>) -> Result<Vec<Applied>, sqlx::Error> {
    let applied = |row: &SqliteRow| {
        Ok(Applied { version: row.try_get(0)?, name: row.try_get(1)?, is_whole: row.try_get(2)?, checksum: row.try_get(3)? })
    };
    match query("SELECT version, description, success, checksum FROM _sqlx_migrations ORDER BY version").fetch_all(file).await {
        Err(sqlx::Error::Database(error)) if error.message().starts_with("no such table") => Ok(Vec::new()),
        rows => rows?.iter().map(applied).collect(),
    }
}
