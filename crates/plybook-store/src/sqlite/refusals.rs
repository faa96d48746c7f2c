//! Refused requests: a batch in one transaction, pages, and what has grown old.
//!
//! Invariant: the writer is the one that moves wait for, so a batch is two statements and one more for each
//! game in it, and its caller keeps it small.

use plybook_core::Time;
use sqlx::sqlite::SqlitePool;
use sqlx::{Executor, QueryBuilder, Sqlite, query};

use super::write::BEGIN;
use crate::error::Error;
use crate::fault::classify;
use crate::refused::{Refused, StoredRefusal, fits};
use crate::row::Columns;
use crate::store::GameKey;

/// Most rows in one statement, so that its values stay far below what SQLite takes.
const ROWS: usize = 500;

pub(super) async fn remember(writer: &SqlitePool, refused: &[Refused], keep: u32) -> Result<(), Error> {
    fits(refused)?;
    let mut keys: Vec<GameKey> = refused.iter().map(|one| one.key).collect();
    keys.sort_unstable();
    keys.dedup();
    let mut transaction = writer.begin_with(BEGIN).await.map_err(classify)?;
    for rows in refused.chunks(ROWS) {
        // Each number of rows is a text of its own, so keeping it prepared would only push out others.
        insert(rows).build().persistent(false).execute(&mut *transaction).await.map_err(classify)?;
    }
    for key in keys {
        query(
            "DELETE FROM refusal WHERE tenant_id = $1 AND game_id = $2 AND number <=
                 (SELECT number FROM refusal WHERE tenant_id = $1 AND game_id = $2 ORDER BY number DESC LIMIT 1 OFFSET $3)",
        )
        .bind(key.tenant.0)
        .bind(key.game)
        .bind(i64::from(keep))
        .execute(&mut *transaction)
        .await
        .map_err(classify)?;
    }
    transaction.commit().await.map_err(classify)
}

/// In the order in which they came; what concerns no game that is there is left out.
fn insert(rows: &[Refused]) -> QueryBuilder<Sqlite> {
    let mut sql = QueryBuilder::new(
        "INSERT INTO refusal (tenant_id, game_id, refused_at, principal, seat, asked, request_id, expected_seq, head_seq, reason, detail)
         SELECT t.column2, t.column3, t.column4, t.column5, t.column6, t.column7, t.column8, t.column9, t.column10, t.column11, t.column12
         FROM (",
    );
    sql.push_values(rows.iter().enumerate(), |mut row, (place, one)| {
        row.push_bind(place as i64)
            .push_bind(one.key.tenant.0)
            .push_bind(one.key.game)
            .push_bind(one.at.to_string())
            .push_bind(one.principal.clone())
            .push_bind(one.seat.map(i32::from))
            .push_bind(one.asked.clone())
            .push_bind(one.request_id)
            .push_bind(i64::from(one.expected.0))
            .push_bind(i64::from(one.head.0))
            .push_bind(one.reason.clone())
            .push_bind(one.detail.clone());
    });
    sql.push(") AS t CROSS JOIN game g ON g.tenant_id = t.column2 AND g.id = t.column3 ORDER BY t.column1");
    sql
}

pub(super) async fn page(
    file: impl Executor<'_, Database = Sqlite>,
    key: GameKey,
    before: Option<i64>,
    limit: u32,
) -> Result<Vec<StoredRefusal>, Error> {
    let rows = query(
        "SELECT number, refused_at, principal, seat, asked, request_id, expected_seq, head_seq, reason, detail
         FROM refusal WHERE tenant_id = $1 AND game_id = $2 AND number < $3 ORDER BY number DESC LIMIT $4",
    )
    .bind(key.tenant.0)
    .bind(key.game)
    .bind(before.unwrap_or(i64::MAX))
    .bind(i64::from(limit))
    .fetch_all(file)
    .await
    .map_err(classify)?;
    let at = |text: String| Time::parse(&text).ok_or_else(|| Error::Corrupt(format!("a refusal at {text:?}")));
    rows.iter().map(|row| row.refusal(key, at(row.text("refused_at")?)?)).collect()
}

pub(super) async fn forget(writer: &SqlitePool, older_than: Time, limit: u32) -> Result<u64, Error> {
    let gone = query("DELETE FROM refusal WHERE number IN (SELECT number FROM refusal WHERE refused_at < $1 ORDER BY refused_at LIMIT $2)")
        .bind(older_than.to_string())
        .bind(i64::from(limit))
        .execute(writer)
        .await
        .map_err(classify)?;
    Ok(gone.rows_affected())
}
