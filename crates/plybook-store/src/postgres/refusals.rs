//! Refused requests: a batch in one statement, pages, and what has grown old.
//!
//! Invariant: nothing here waits for the disk or for a row that a move needs. The table is logged like any
//! other, so that backups and standbys have it, but its commits are asynchronous: a crash may cost the
//! refusals of the last moments, and never an entry.

use plybook_core::Time;
use sqlx::{Row, query};

use super::Link;
use crate::error::Error;
use crate::fault::classify;
use crate::refused::{Refused, StoredRefusal, fits};
use crate::row::Columns;
use crate::store::GameKey;

/// Inserts what concerns games that are there, and deletes what is too much in them.
///
/// A statement does not see its own inserts, so the old rows may be as many fewer as the new ones are. Two
/// nodes that write at once do not see each other's: a game may then keep a batch too much until its next
/// refusal. Rows to delete are named by `ctid`, because a scan by it goes in the order of the table: nodes
/// that delete the same rows wait for each other, and never in a circle.
const REMEMBER: &str = "
    WITH told AS (
        SELECT t.*, row_number() OVER (PARTITION BY t.tenant_id, t.game_id ORDER BY t.place DESC) AS from_newest
        FROM unnest($1::int[], $2::uuid[], $3::bigint[], $4::text[], $5::int[], $6::text[], $7::uuid[], $8::bigint[],
                    $9::bigint[], $10::text[], $11::text[])
             WITH ORDINALITY AS t (tenant_id, game_id, at_ms, principal, seat, asked, request_id, expected_seq,
                                   head_seq, reason, detail, place)
        WHERE (SELECT g.id FROM game g WHERE g.tenant_id = t.tenant_id AND g.id = t.game_id) IS NOT NULL
    ), kept AS (
        INSERT INTO refusal (tenant_id, game_id, refused_at, principal, seat, asked, request_id, expected_seq,
                             head_seq, reason, detail)
        SELECT tenant_id, game_id, timestamptz 'epoch' + at_ms * interval '1 millisecond', principal, seat, asked,
               request_id, expected_seq, head_seq, reason, detail
        FROM told WHERE from_newest <= $12::bigint ORDER BY place
    ), grown AS (
        SELECT tenant_id, game_id, least(count(*), $12::bigint) AS more FROM told GROUP BY tenant_id, game_id
    ), pruned AS (
        DELETE FROM refusal WHERE ctid = ANY (ARRAY(
            SELECT old.ctid FROM grown, LATERAL (
                SELECT r.ctid FROM refusal r
                WHERE r.tenant_id = grown.tenant_id AND r.game_id = grown.game_id
                ORDER BY r.number DESC OFFSET $12::bigint - grown.more) old))
    )
    SELECT set_config('synchronous_commit', 'off', true)";

const FORGET: &str = "
    WITH gone AS (
        DELETE FROM refusal WHERE ctid = ANY (ARRAY(
            SELECT ctid FROM refusal WHERE refused_at < timestamptz 'epoch' + $1::bigint * interval '1 millisecond'
            ORDER BY refused_at LIMIT $2))
        RETURNING 1
    )
    SELECT count(*) AS gone, set_config('synchronous_commit', 'off', true) FROM gone";

pub(super) async fn remember(link: &Link, refused: &[Refused], keep: u32) -> Result<(), Error> {
    fits(refused)?;
    let column = |of: fn(&Refused) -> &str| refused.iter().map(|one| of(one).to_owned()).collect::<Vec<_>>();
    let question = query(REMEMBER)
        .bind(refused.iter().map(|one| one.key.tenant.0).collect::<Vec<_>>())
        .bind(refused.iter().map(|one| one.key.game).collect::<Vec<_>>())
        .bind(refused.iter().map(|one| one.at.unix_ms().cast_signed()).collect::<Vec<_>>())
        .bind(column(|one| &one.principal))
        .bind(refused.iter().map(|one| one.seat.map(i32::from)).collect::<Vec<_>>())
        .bind(column(|one| &one.asked))
        .bind(refused.iter().map(|one| one.request_id).collect::<Vec<_>>())
        .bind(refused.iter().map(|one| i64::from(one.expected.0)).collect::<Vec<_>>())
        .bind(refused.iter().map(|one| i64::from(one.head.0)).collect::<Vec<_>>())
        .bind(column(|one| &one.reason))
        .bind(column(|one| &one.detail))
        .bind(i64::from(keep));
    link.row(question).await.map(drop).map_err(classify)
}

pub(super) async fn page(link: &Link, key: GameKey, before: Option<i64>, limit: u32) -> Result<Vec<StoredRefusal>, Error> {
    let question = query(
        "SELECT number, (extract(epoch FROM refused_at) * 1000)::bigint AS at_ms, principal, seat, asked, request_id,
                expected_seq, head_seq, reason, detail
         FROM refusal WHERE tenant_id = $1 AND game_id = $2 AND number < $3 ORDER BY number DESC LIMIT $4",
    )
    .bind(key.tenant.0)
    .bind(key.game)
    .bind(before.unwrap_or(i64::MAX))
    .bind(i64::from(limit));
    let rows = link.rows(question).await.map_err(classify)?;
    rows.iter().map(|row| row.refusal(key, Time::from_unix_ms(row.wide("at_ms")?.max(0).cast_unsigned()))).collect()
}

pub(super) async fn forget(link: &Link, older_than: Time, limit: u32) -> Result<u64, Error> {
    let question = query(FORGET).bind(older_than.unix_ms().cast_signed()).bind(i64::from(limit));
    let row = link.row(question).await.and_then(|row| row.ok_or(sqlx::Error::RowNotFound)).map_err(classify)?;
    row.try_get::<i64, _>("gone").map(|gone| gone.max(0).cast_unsigned()).map_err(classify)
}
