//! Games at some of their entries.
//!
//! Invariant: nothing here knows whether a snapshot is right; it is found by its key or not at all. A save
//! is one statement and holds the writer for no longer.

use plybook_core::Seq;
use sqlx::query;
use sqlx::sqlite::SqlitePool;

use crate::error::Error;
use crate::fault::classify;
use crate::row::{Columns, NEAREST_SNAPSHOT, SAVE_SNAPSHOT, seq_column, snapshot_fits};
use crate::store::{GameKey, Nearest, Snapshot};

pub(super) async fn save(writer: &SqlitePool, key: GameKey, snapshot: &Snapshot) -> Result<(), Error> {
    snapshot_fits(snapshot)?;
    query(SAVE_SNAPSHOT)
        .bind(key.tenant.0)
        .bind(key.game)
        .bind(i32::from(snapshot.format))
        .bind(seq_column(snapshot.seq))
        .bind(&snapshot.digest.0[..])
        .bind(&snapshot.bytes)
        .execute(writer)
        .await
        .map(drop)
        .map_err(classify)
}

pub(super) async fn nearest(readers: &SqlitePool, key: GameKey, format: u16, at_most: Seq) -> Result<Nearest, Error> {
    let row = query(NEAREST_SNAPSHOT)
        .bind(key.tenant.0)
        .bind(key.game)
        .bind(i32::from(format))
        .bind(seq_column(at_most))
        .fetch_optional(readers)
        .await
        .map_err(classify)?;
    row.map_or(Ok(Nearest::Nothing), |row| row.snapshot(format))
}
