//! Games at some of their entries.
//!
//! Invariant: nothing here knows whether a snapshot is right; it is found by its key or not at all.

use plybook_core::Seq;
use sqlx::query;

use super::Link;
use crate::error::Error;
use crate::fault::classify;
use crate::row::{Columns, NEAREST_SNAPSHOT, SAVE_SNAPSHOT, seq_column, snapshot_fits};
use crate::store::{GameKey, Nearest, Snapshot};

pub(super) async fn save(link: &Link, key: GameKey, snapshot: &Snapshot) -> Result<(), Error> {
    snapshot_fits(snapshot)?;
    let question = query(SAVE_SNAPSHOT)
        .bind(key.tenant.0)
        .bind(key.game)
        .bind(i32::from(snapshot.format))
        .bind(seq_column(snapshot.seq))
        .bind(&snapshot.digest.0[..])
        .bind(&snapshot.bytes);
    link.rows(question).await.map(drop).map_err(classify)
}

pub(super) async fn nearest(link: &Link, key: GameKey, format: u16, at_most: Seq) -> Result<Nearest, Error> {
    let question = query(NEAREST_SNAPSHOT).bind(key.tenant.0).bind(key.game).bind(i32::from(format)).bind(seq_column(at_most));
    link.row(question).await.map_err(classify)?.map_or(Ok(Nearest::Nothing), |row| row.snapshot(format))
}
