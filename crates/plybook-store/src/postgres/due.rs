//! What has to be done later: claimed, settled, listed.
//!
//! Invariant: nothing here waits for the disk, and a claim waits for no row. Losing a claim or a settlement in a
//! crash is harmless: the row is due at an earlier time than it need be. What an append arms is as durable as its entry.

use std::time::Duration;

use plybook_core::{Time, Uuid};
use sqlx::query;

use super::Link;
use crate::due::{Arms, Claimed, DueSoon, LEASE_MAX, StoredDue, kind_column, ms_up_to};
use crate::error::Error;
use crate::fault::classify;
use crate::row::Columns;
use crate::store::{GameKey, TenantId};

/// Takes rows that nobody else is just taking, and writes them by the place where they were found: no plan of that
/// goes through the table. A row that an append moves at this very moment is locked at its new place, which the
/// statement does not see, so it is left for the next claim.
///
/// `now()` and not the time of day: only what does not change during a statement can be sought in an index.
const CLAIM: &str = "
    WITH picked AS MATERIALIZED (
        SELECT ctid, tenant_id, game_id, kind, due_at FROM due
        WHERE due_at <= now() ORDER BY due_at LIMIT $1 FOR UPDATE SKIP LOCKED
    ), claimed AS (
        UPDATE due SET due_at = date_trunc('milliseconds', now()) + $2::bigint * interval '1 millisecond',
                       attempts = attempts + 1, claim = gen_random_uuid()
        WHERE ctid = ANY (ARRAY(SELECT ctid FROM picked))
        RETURNING tenant_id, game_id, kind, attempts, claim
    )
    SELECT c.tenant_id, c.game_id, c.kind, c.attempts, c.claim, (extract(epoch FROM p.due_at) * 1000)::bigint AS due_ms,
           set_config('synchronous_commit', 'off', true)
    FROM claimed c JOIN picked p USING (tenant_id, game_id, kind) ORDER BY p.due_at, c.game_id, c.kind";

const PUT_OFF: &str = "
    WITH settled AS (
        UPDATE due SET due_at = timestamptz 'epoch' + $5::bigint * interval '1 millisecond',
                       armed_for = timestamptz 'epoch' + $5::bigint * interval '1 millisecond', attempts = 0, claim = NULL
        WHERE tenant_id = $1 AND game_id = $2 AND kind = $3 AND claim = $4 RETURNING kind
    )
    SELECT kind, set_config('synchronous_commit', 'off', true) FROM settled";

const HOLD: &str = "
    WITH held AS (
        UPDATE due SET due_at = date_trunc('milliseconds', now()) + $5::bigint * interval '1 millisecond'
        WHERE tenant_id = $1 AND game_id = $2 AND kind = $3 AND claim = $4 RETURNING kind
    )
    SELECT kind, set_config('synchronous_commit', 'off', true) FROM held";

const REMOVE: &str = "
    WITH settled AS (
        DELETE FROM due WHERE tenant_id = $1 AND game_id = $2 AND kind = $3 AND claim = $4 RETURNING kind
    )
    SELECT kind, set_config('synchronous_commit', 'off', true) FROM settled";

pub(super) async fn claim(link: &Link, limit: u32, lease: Duration) -> Result<Vec<Claimed>, Error> {
    let question = query(CLAIM).bind(i64::from(limit)).bind(ms_up_to(lease, LEASE_MAX));
    let rows = link.rows(question).await.map_err(classify)?;
    rows.iter().map(|row| row.claimed(row.time_ms("due_ms")?)).collect()
}

pub(super) async fn settle(link: &Link, claimed: &Claimed, next: Option<Time>) -> Result<bool, Error> {
    let mut question = query(if next.is_some() { PUT_OFF } else { REMOVE })
        .bind(claimed.key.game.tenant.0)
        .bind(claimed.key.game.game)
        .bind(kind_column(claimed.key.kind))
        .bind(claimed.token);
    if let Some(next) = next {
        question = question.bind(next.unix_ms().cast_signed());
    }
    link.row(question).await.map(|row| row.is_some()).map_err(classify)
}

pub(super) async fn hold(link: &Link, claimed: &Claimed, lease: Duration) -> Result<bool, Error> {
    let question = query(HOLD)
        .bind(claimed.key.game.tenant.0)
        .bind(claimed.key.game.game)
        .bind(kind_column(claimed.key.kind))
        .bind(claimed.token)
        .bind(ms_up_to(lease, LEASE_MAX));
    link.row(question).await.map(|row| row.is_some()).map_err(classify)
}

pub(super) async fn next(link: &Link) -> Result<Option<Time>, Error> {
    let question = query("SELECT (extract(epoch FROM due_at) * 1000)::bigint AS due_ms FROM due ORDER BY due_at LIMIT 1");
    link.row(question).await.map_err(classify)?.map(|row| row.time_ms("due_ms")).transpose()
}

pub(super) async fn of(link: &Link, key: GameKey) -> Result<Vec<StoredDue>, Error> {
    let question = query(
        "SELECT kind, (extract(epoch FROM due_at) * 1000)::bigint AS due_ms, attempts FROM due
         WHERE tenant_id = $1 AND game_id = $2 ORDER BY kind",
    )
    .bind(key.tenant.0)
    .bind(key.game);
    let rows = link.rows(question).await.map_err(classify)?;
    rows.iter().map(|row| row.stored_due(row.time_ms("due_ms")?)).collect()
}

pub(super) async fn list(link: &Link, tenant: TenantId, before: Time, after: Option<DueSoon>, limit: u32) -> Result<Vec<DueSoon>, Error> {
    let after = after.unwrap_or(DueSoon { at: Time::default(), game: Uuid::nil() });
    let question = query(
        "SELECT game_id, (extract(epoch FROM armed_for) * 1000)::bigint AS armed_ms FROM due
         WHERE tenant_id = $1 AND kind = 'time' AND armed_for < timestamptz 'epoch' + $2::bigint * interval '1 millisecond'
           AND (armed_for, game_id) > (timestamptz 'epoch' + $3::bigint * interval '1 millisecond', $4)
         ORDER BY armed_for, game_id LIMIT $5",
    )
    .bind(tenant.0)
    .bind(before.unix_ms().cast_signed())
    .bind(after.at.unix_ms().cast_signed())
    .bind(after.game)
    .bind(i64::from(limit));
    let rows = link.rows(question).await.map_err(classify)?;
    rows.iter().map(|row| Ok(DueSoon { at: row.time_ms("armed_ms")?, game: row.uuid("game_id")? })).collect()
}

/// Kinds and times in milliseconds, as the statements that arm take them.
pub(super) fn arms_columns(arms: &Arms) -> (Vec<&'static str>, Vec<i64>) {
    arms.each().map(|(kind, at)| (kind_column(kind), at.unix_ms().cast_signed())).unzip()
}
