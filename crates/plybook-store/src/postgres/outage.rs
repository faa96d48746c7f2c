//! Beats, and the gaps between them.
//!
//! Invariant: beats of all nodes come one after the other, by the lock on the one row, and each tells the time after
//! it has the lock: so a gap is seen by the first beat behind it and by no other. Nothing here waits for the disk:
//! whatever is decided on an outage is committed after it.

use std::time::Duration;

use plybook_core::{Time, Uuid};
use sqlx::query;

use super::Link;
use crate::due::ms_up_to;
use crate::error::Error;
use crate::fault::classify;
use crate::outage::{OUTAGES_KEPT, Outage, SILENCE_MAX};
use crate::row::Columns;

/// A clock that was set back makes no gap, and is taken as it is: a beat that kept the later time would hide what
/// comes until then.
const BEAT: &str = "
    WITH before AS MATERIALIZED (
        SELECT beat_at FROM heartbeat FOR UPDATE
    ), this AS MATERIALIZED (
        SELECT beat_at AS last, date_trunc('milliseconds', clock_timestamp()) AS at FROM before
    ), beaten AS (
        UPDATE heartbeat SET beat_at = this.at, node = $1::uuid FROM this
    ), found AS (
        INSERT INTO outage (from_at, to_at)
        SELECT last, at FROM this WHERE at - last > $2::bigint * interval '1 millisecond'
        ON CONFLICT DO NOTHING
        RETURNING from_at, to_at
    ), forgotten AS (
        DELETE FROM outage
        WHERE EXISTS (SELECT FROM found)
          AND from_at <= (SELECT from_at FROM outage ORDER BY from_at DESC OFFSET $3 LIMIT 1)
    )
    SELECT (extract(epoch FROM found.from_at) * 1000)::bigint AS from_ms, (extract(epoch FROM found.to_at) * 1000)::bigint AS to_ms,
           (found.to_at IS NOT NULL)::int AS is_found, set_config('synchronous_commit', 'off', true)
    FROM this LEFT JOIN found ON true";

pub(super) async fn beat(link: &Link, node: Uuid, silence: Duration) -> Result<Option<Outage>, Error> {
    // A statement does not see its own insert, so one row fewer of the others stays.
    let others = i64::from(OUTAGES_KEPT) - 1;
    let question = query(BEAT).bind(node).bind(ms_up_to(silence, SILENCE_MAX)).bind(others);
    let row = link.row(question).await.and_then(|row| row.ok_or(sqlx::Error::RowNotFound)).map_err(classify)?;
    (row.number("is_found")? == 1).then(|| outage(&row)).transpose()
}

pub(super) async fn between(link: &Link, from: Time, to: Time, limit: u32) -> Result<Vec<Outage>, Error> {
    let question = query(
        "SELECT (extract(epoch FROM from_at) * 1000)::bigint AS from_ms, (extract(epoch FROM to_at) * 1000)::bigint AS to_ms FROM outage
         WHERE to_at > timestamptz 'epoch' + $1::bigint * interval '1 millisecond'
           AND from_at < timestamptz 'epoch' + $2::bigint * interval '1 millisecond'
         ORDER BY from_at LIMIT $3",
    )
    .bind(from.unix_ms().cast_signed())
    .bind(to.unix_ms().cast_signed())
    .bind(i64::from(limit));
    let rows = link.rows(question).await.map_err(classify)?;
    rows.iter().map(outage).collect()
}

fn outage(row: &impl Columns) -> Result<Outage, Error> {
    Ok(Outage { from: row.time_ms("from_ms")?, to: row.time_ms("to_ms")? })
}
