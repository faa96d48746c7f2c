//! Beats, and the gaps between them.
//!
//! Invariant: a beat holds the writer from its look to its commit, so a gap is seen by the first beat behind it and by
//! no other, not even through two handles on the file.

use std::time::Duration;

use plybook_core::{Time, Uuid};
use sqlx::sqlite::{SqliteConnection, SqlitePool};
use sqlx::{Executor, Sqlite, query};

use super::read::clock_unix_ms;
use super::write::BEGIN;
use crate::due::ms_up_to;
use crate::error::Error;
use crate::fault::classify;
use crate::outage::{OUTAGES_KEPT, Outage, SILENCE_MAX};
use crate::row::Columns;

/// A clock that was set back makes no gap, and is taken as it is: a beat that kept the later time would hide what
/// comes until then.
pub(super) async fn beat(writer: &SqlitePool, node: Uuid, silence: Duration) -> Result<Option<Outage>, Error> {
    let mut transaction = writer.begin_with(BEGIN).await.map_err(classify)?;
    let row = query("SELECT beat_at FROM heartbeat").fetch_one(&mut *transaction).await.map_err(classify)?;
    let last = row.text_if_any("beat_at")?.map(|_| row.time_text("beat_at")).transpose()?;
    let now = Time::from_unix_ms(clock_unix_ms(&mut *transaction).await?);
    query("UPDATE heartbeat SET beat_at = $1, node = $2")
        .bind(now.to_string())
        .bind(node)
        .execute(&mut *transaction)
        .await
        .map_err(classify)?;
    let most = ms_up_to(silence, SILENCE_MAX).cast_unsigned();
    let mut found = last.filter(|last| now.unix_ms().saturating_sub(last.unix_ms()) > most).map(|from| Outage { from, to: now });
    if let Some(outage) = found
        && !record(&mut transaction, outage).await.map_err(classify)?
    {
        found = None;
    }
    transaction.commit().await.map_err(classify)?;
    Ok(found)
}

/// False where one that began then is recorded already.
async fn record(transaction: &mut SqliteConnection, outage: Outage) -> Result<bool, sqlx::Error> {
    let recorded = query("INSERT INTO outage (from_at, to_at) VALUES ($1, $2) ON CONFLICT DO NOTHING")
        .bind(outage.from.to_string())
        .bind(outage.to.to_string())
        .execute(&mut *transaction)
        .await?;
    query("DELETE FROM outage WHERE from_at <= (SELECT from_at FROM outage ORDER BY from_at DESC LIMIT 1 OFFSET $1)")
        .bind(i64::from(OUTAGES_KEPT))
        .execute(&mut *transaction)
        .await?;
    Ok(recorded.rows_affected() > 0)
}

pub(super) async fn between(file: impl Executor<'_, Database = Sqlite>, from: Time, to: Time, limit: u32) -> Result<Vec<Outage>, Error> {
    let rows = query("SELECT from_at, to_at FROM outage WHERE to_at > $1 AND from_at < $2 ORDER BY from_at LIMIT $3")
        .bind(from.to_string())
        .bind(to.to_string())
        .bind(i64::from(limit))
        .fetch_all(file)
        .await
        .map_err(classify)?;
    rows.iter().map(|row| Ok(Outage { from: row.time_text("from_at")?, to: row.time_text("to_at")? })).collect()
}
