//! Entries, requests, seeds, pages of games.
//!
//! Invariant: each read is one statement and so one snapshot, inside a write's transaction or outside.

use plybook_core::{Seed, Seq, Uuid};
use sqlx::{Executor, QueryBuilder, Sqlite, query, query_scalar};

use crate::error::Error;
use crate::fault::classify;
use crate::row::{Columns, contiguous, seq_column, state_column};
use crate::store::{Filter, GameKey, StoredEntry, Summary, TenantId};

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
    contiguous(after, &rows)
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
    let rows = page(tenant, filter, before, limit).build().fetch_all(file).await.map_err(classify)?;
    rows.iter().map(Columns::summary).collect()
}

/// The text depends on which filters there are, so that each combination gets a plan of its own.
fn page(tenant: TenantId, filter: &Filter, before: Option<Uuid>, limit: u32) -> QueryBuilder<Sqlite> {
    let mut sql = QueryBuilder::new("WITH page AS (SELECT g.tenant_id, g.id, g.state FROM ");
    let id = if let Some(player) = &filter.player {
        sql.push("game_player p CROSS JOIN game g ON g.tenant_id = p.tenant_id AND g.id = p.game_id WHERE p.player = ")
            .push_bind(player.clone())
            .push(" AND p.tenant_id = ")
            .push_bind(tenant.0);
        "p.game_id"
    } else {
        sql.push("game g WHERE g.tenant_id = ").push_bind(tenant.0);
        "g.id"
    };
    if let Some(ruleset) = &filter.ruleset {
        sql.push(" AND g.ruleset = ").push_bind(ruleset.clone());
    }
    if let Some(state) = filter.state {
        sql.push(" AND g.state = ").push_bind(state_column(state));
    }
    if let Some(before) = before {
        sql.push(" AND ").push(id).push(" < ").push_bind(before);
    }
    sql.push(" ORDER BY ").push(id).push(" DESC LIMIT ").push_bind(i64::from(limit));
    sql.push(
        ")
        SELECT page.id, page.state,
               h.seq AS header_seq, h.line AS header_line, h.digest AS header_digest, h.request_id AS header_request_id,
               l.seq AS last_seq, l.line AS last_line, l.digest AS last_digest, l.request_id AS last_request_id
        FROM page
        LEFT JOIN book_entry h ON h.tenant_id = page.tenant_id AND h.game_id = page.id AND h.seq = 1
        LEFT JOIN book_entry l ON l.tenant_id = page.tenant_id AND l.game_id = page.id
              AND l.seq = (SELECT max(seq) FROM book_entry WHERE tenant_id = page.tenant_id AND game_id = page.id)
        ORDER BY page.id DESC",
    );
    sql
}

pub(super) async fn clock_unix_ms(file: impl Executor<'_, Database = Sqlite>) -> Result<u64, Error> {
    let ms: i64 = query_scalar("SELECT CAST(round(unixepoch('subsec') * 1000) AS INTEGER)").fetch_one(file).await.map_err(classify)?;
    u64::try_from(ms).map_err(|_| Error::Failed("the database's clock stands before 1970".to_owned()))
}

/// The newest migration that was applied.
pub(super) async fn schema(file: impl Executor<'_, Database = Sqlite>) -> Result<Option<i64>, sqlx::Error> {
    query_scalar("SELECT max(version) FROM _sqlx_migrations WHERE success").fetch_one(file).await
}
