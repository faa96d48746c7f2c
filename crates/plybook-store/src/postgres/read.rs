//! Entries, requests, seeds.
//!
//! Invariant: each read is one statement and so one snapshot; a book read in pages is still gap-free,
//! because entries only ever appear at its end. Where nothing is found of a game that may be packed, that is looked up in a
//! statement of its own, so after the first one.

use plybook_core::{Seed, Seq, Uuid};
use sqlx::postgres::{PgConnection, PgRow};
use sqlx::{Row, query};

use super::{Link, packed};
use crate::error::Error;
use crate::fault::{UNDEFINED_TABLE, classify, sqlstate};
use crate::migrations::applied::Applied;
use crate::row::{Columns, contiguous, seq_column, state_from};
use crate::store::{GameKey, State, StoredEntry, TenantId};

pub(super) async fn entries(link: &Link, key: GameKey, after: Seq, limit: u32) -> Result<Vec<StoredEntry>, Error> {
    let question = query(
        "SELECT seq, line, digest, request_id FROM book_entry
         WHERE tenant_id = $1 AND game_id = $2 AND seq > $3 ORDER BY seq LIMIT $4",
    )
    .bind(key.tenant.0)
    .bind(key.game)
    .bind(seq_column(after))
    .bind(i64::from(limit));
    let found = contiguous(key.game, after, &link.rows(question).await.map_err(classify)?)?;
    if found.is_empty() && packed::may_have(key.game) { packed::entries(link, key, after, limit).await } else { Ok(found) }
}

pub(super) async fn last(link: &Link, key: GameKey) -> Result<Option<StoredEntry>, Error> {
    let question = query(
        "SELECT seq, line, digest, request_id FROM book_entry
         WHERE tenant_id = $1 AND game_id = $2 ORDER BY seq DESC LIMIT 1",
    )
    .bind(key.tenant.0)
    .bind(key.game);
    match link.row(question).await.map_err(classify)? {
        None if packed::may_have(key.game) => packed::last(link, key).await,
        row => row.map(|row| row.entry("")).transpose(),
    }
}

pub(super) async fn find_request(link: &Link, key: GameKey, request_id: Uuid) -> Result<Option<(StoredEntry, [u8; 32])>, Error> {
    let question = query(
        "SELECT seq, line, digest, request_id, request_hash FROM book_entry
         WHERE tenant_id = $1 AND game_id = $2 AND request_id = $3",
    )
    .bind(key.tenant.0)
    .bind(key.game)
    .bind(request_id);
    match link.row(question).await.map_err(classify)? {
        None if packed::may_have(key.game) => packed::find_request(link, key, request_id).await,
        row => row.map(|row| Ok((row.entry("")?, row.bytes32("request_hash")?))).transpose(),
    }
}

pub(super) async fn find_creation(link: &Link, tenant: TenantId, request_id: Uuid) -> Result<Option<(Uuid, [u8; 32])>, Error> {
    let question = query("SELECT id, request_hash FROM game WHERE tenant_id = $1 AND request_id = $2").bind(tenant.0).bind(request_id);
    let row = link.row(question).await.map_err(classify)?;
    row.map(|row| Ok((row.uuid("id")?, row.bytes32("request_hash")?))).transpose()
}

pub(super) async fn seed(link: &Link, key: GameKey) -> Result<Option<Seed>, Error> {
    let question = query("SELECT seed FROM game_seed WHERE tenant_id = $1 AND game_id = $2").bind(key.tenant.0).bind(key.game);
    link.row(question).await.map_err(classify)?.map(|row| row.seed()).transpose()
}

pub(super) async fn state(link: &Link, key: GameKey) -> Result<Option<State>, Error> {
    let question = query("SELECT state FROM game WHERE tenant_id = $1 AND id = $2").bind(key.tenant.0).bind(key.game);
    link.row(question).await.map_err(classify)?.map(|row| state_from(&row.text("state")?)).transpose()
}

pub(super) async fn clock_unix_ms(link: &Link) -> Result<u64, Error> {
    let question = query("SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint");
    let row = link.row(question).await.and_then(|row| row.ok_or(sqlx::Error::RowNotFound)).map_err(classify)?;
    let ms: i64 = row.try_get(0).map_err(classify)?;
    u64::try_from(ms).map_err(|_| Error::Failed("the database's clock stands before 1970".to_owned()))
}

/// The migrations that were applied, ascending, and whether the database only reads.
pub(super) async fn schema(link: &Link) -> Result<(Vec<Applied>, bool), sqlx::Error> {
    let question = query("SELECT version, description, success, checksum, pg_is_in_recovery() FROM _sqlx_migrations ORDER BY version");
    let rows = link.rows(question).await?;
    let reads_only = rows.first().map(|row| row.try_get(4)).transpose()?.unwrap_or(false);
    Ok((rows.iter().map(applied).collect::<Result<_, _>>()?, reads_only))
}

/// The same for whoever is connected already; nothing where there is no schema.
pub(super) async fn applied_to(connection: &mut PgConnection) -> Result<Vec<Applied>, Error> {
    let question = query("SELECT version, description, success, checksum FROM _sqlx_migrations ORDER BY version");
    match question.fetch_all(connection).await {
        Err(error) if sqlstate(&error).as_deref() == Some(UNDEFINED_TABLE) => Ok(Vec::new()),
        rows => rows.and_then(|rows| rows.iter().map(applied).collect()).map_err(classify),
    }
}

fn applied(row: &PgRow) -> Result<Applied, sqlx::Error> {
    Ok(Applied { version: row.try_get(0)?, name: row.try_get(1)?, is_whole: row.try_get(2)?, checksum: row.try_get(3)? })
}
