//! What has to be done later: armed, claimed, settled, listed.
//!
//! Invariant: a claim holds the writer from its look to its commit, so no two get the same row, not even through two
//! handles on the file; a look that finds nothing leaves the writer alone.

use std::time::Duration;

use plybook_core::{Time, Uuid};
use sqlx::sqlite::{SqliteConnection, SqlitePool};
use sqlx::{Executor, Sqlite, query};

use super::read::clock_unix_ms;
use super::write::BEGIN;
use crate::due::{Arms, Claimed, DueSoon, LEASE_MAX, StoredDue, kind_column, ms_up_to};
use crate::error::Error;
use crate::fault::classify;
use crate::row::Columns;
use crate::store::{GameKey, TenantId};

/// Inside the transaction of the entry that makes it due. A claim that stands is taken away even where nothing moves:
/// its claimer decides without this entry, and must not put the row off behind what this entry makes due.
pub(super) async fn arm(transaction: &mut SqliteConnection, key: GameKey, arms: &Arms) -> Result<(), sqlx::Error> {
    for (kind, at) in arms.each() {
        query(
            "INSERT INTO due (tenant_id, game_id, kind, due_at, armed_for) VALUES ($1, $2, $3, $4, $4)
             ON CONFLICT (tenant_id, game_id, kind) DO UPDATE
             SET due_at = min(due_at, excluded.due_at), armed_for = min(armed_for, excluded.armed_for), attempts = 0, claim = NULL
             WHERE due_at > excluded.due_at OR claim IS NOT NULL",
        )
        .bind(key.tenant.0)
        .bind(key.game)
        .bind(kind_column(kind))
        .bind(at.to_string())
        .execute(&mut *transaction)
        .await?;
    }
    Ok(())
}

/// Inside the transaction of the entry that ends the game.
pub(super) async fn disarm(transaction: &mut SqliteConnection, key: GameKey) -> Result<(), sqlx::Error> {
    let question = query("DELETE FROM due WHERE tenant_id = $1 AND game_id = $2").bind(key.tenant.0).bind(key.game);
    question.execute(transaction).await.map(drop)
}

/// Whether a row is due.
pub(super) async fn is_any(readers: &SqlitePool) -> Result<bool, Error> {
    match next(readers).await? {
        Some(next) => Ok(next.unix_ms() <= clock_unix_ms(readers).await?),
        None => Ok(false),
    }
}

pub(super) async fn claim(writer: &SqlitePool, limit: u32, lease: Duration) -> Result<Vec<Claimed>, Error> {
    let mut transaction = writer.begin_with(BEGIN).await.map_err(classify)?;
    let now = clock_unix_ms(&mut *transaction).await?;
    let until = Time::from_unix_ms(now.saturating_add(ms_up_to(lease, LEASE_MAX).cast_unsigned()));
    let rows = query("SELECT tenant_id, game_id, kind, due_at FROM due WHERE due_at <= $1 ORDER BY due_at, game_id, kind LIMIT $2")
        .bind(Time::from_unix_ms(now).to_string())
        .bind(i64::from(limit))
        .fetch_all(&mut *transaction)
        .await
        .map_err(classify)?;
    let mut claimed = Vec::with_capacity(rows.len());
    for row in &rows {
        let taken = query(
            "UPDATE due SET due_at = $4, attempts = attempts + 1, claim = randomblob(16)
             WHERE tenant_id = $1 AND game_id = $2 AND kind = $3
             RETURNING tenant_id, game_id, kind, attempts, claim",
        )
        .bind(row.number("tenant_id")?)
        .bind(row.uuid("game_id")?)
        .bind(row.text("kind")?)
        .bind(until.to_string())
        .fetch_one(&mut *transaction)
        .await
        .map_err(classify)?;
        claimed.push(taken.claimed(row.time_text("due_at")?)?);
    }
    transaction.commit().await.map_err(classify)?;
    Ok(claimed)
}

pub(super) async fn settle(writer: &SqlitePool, claimed: &Claimed, next: Option<Time>) -> Result<bool, Error> {
    let sql = match next {
        Some(_) => {
            "UPDATE due SET due_at = $5, armed_for = $5, attempts = 0, claim = NULL
             WHERE tenant_id = $1 AND game_id = $2 AND kind = $3 AND claim = $4"
        }
        None => "DELETE FROM due WHERE tenant_id = $1 AND game_id = $2 AND kind = $3 AND claim = $4",
    };
    let mut question =
        query(sql).bind(claimed.key.game.tenant.0).bind(claimed.key.game.game).bind(kind_column(claimed.key.kind)).bind(claimed.token);
    if let Some(next) = next {
        question = question.bind(next.to_string());
    }
    question.execute(writer).await.map(|done| done.rows_affected() > 0).map_err(classify)
}

pub(super) async fn hold(writer: &SqlitePool, claimed: &Claimed, lease: Duration) -> Result<bool, Error> {
    let mut transaction = writer.begin_with(BEGIN).await.map_err(classify)?;
    let now = clock_unix_ms(&mut *transaction).await?;
    let until = Time::from_unix_ms(now.saturating_add(ms_up_to(lease, LEASE_MAX).cast_unsigned()));
    let held = query("UPDATE due SET due_at = $5 WHERE tenant_id = $1 AND game_id = $2 AND kind = $3 AND claim = $4")
        .bind(claimed.key.game.tenant.0)
        .bind(claimed.key.game.game)
        .bind(kind_column(claimed.key.kind))
        .bind(claimed.token)
        .bind(until.to_string())
        .execute(&mut *transaction)
        .await
        .map_err(classify)?;
    transaction.commit().await.map_err(classify)?;
    Ok(held.rows_affected() > 0)
}

pub(super) async fn next(file: impl Executor<'_, Database = Sqlite>) -> Result<Option<Time>, Error> {
    let row = query("SELECT due_at FROM due ORDER BY due_at LIMIT 1").fetch_optional(file).await.map_err(classify)?;
    row.map(|row| row.time_text("due_at")).transpose()
}

pub(super) async fn of(file: impl Executor<'_, Database = Sqlite>, key: GameKey) -> Result<Vec<StoredDue>, Error> {
    let rows = query("SELECT kind, due_at, attempts FROM due WHERE tenant_id = $1 AND game_id = $2 ORDER BY kind")
        .bind(key.tenant.0)
        .bind(key.game)
        .fetch_all(file)
        .await
        .map_err(classify)?;
    rows.iter().map(|row| row.stored_due(row.time_text("due_at")?)).collect()
}

pub(super) async fn list(
    file: impl Executor<'_, Database = Sqlite>,
    tenant: TenantId,
    before: Time,
    after: Option<DueSoon>,
    limit: u32,
) -> Result<Vec<DueSoon>, Error> {
    let after = after.unwrap_or(DueSoon { at: Time::default(), game: Uuid::nil() });
    let rows = query(
        "SELECT game_id, armed_for FROM due
         WHERE tenant_id = $1 AND kind = 'time' AND armed_for < $2 AND (armed_for, game_id) > ($3, $4)
         ORDER BY armed_for, game_id LIMIT $5",
    )
    .bind(tenant.0)
    .bind(before.to_string())
    .bind(after.at.to_string())
    .bind(after.game)
    .bind(i64::from(limit))
    .fetch_all(file)
    .await
    .map_err(classify)?;
    rows.iter().map(|row| Ok(DueSoon { at: row.time_text("armed_for")?, game: row.uuid("game_id")? })).collect()
}
