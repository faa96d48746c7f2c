//! The feed: every entry of a tenant, in the order of commits.
//!
//! Invariant: there is one writer, and positions are never given again, so nothing can come to stand before an entry
//! that is there: nothing is ever hidden.

use plybook_core::Uuid;
use sqlx::sqlite::SqliteRow;
use sqlx::{Executor, QueryBuilder, Sqlite, query, query_scalar};

use crate::error::Error;
use crate::fault::classify;
use crate::feed::{FeedCursor, FeedPage, FeedRow, Heading, Place, check_of, not_here};
use crate::row::Columns;
use crate::store::{GameKey, TenantId};

macro_rules! select {
    ($which:literal) => {
        concat!("SELECT position, game_id, seq, line, digest, request_id FROM book_entry ", $which)
    };
}

const PAGE: &str = select!("WHERE tenant_id = $1 AND position > $2 ORDER BY position LIMIT $3");
const END: &str = select!("WHERE tenant_id = $1 ORDER BY position DESC LIMIT 1");

pub(super) async fn page<'f>(
    file: impl Executor<'f, Database = Sqlite> + Copy,
    tenant: TenantId,
    after: Option<&FeedCursor>,
    limit: u32,
) -> Result<FeedPage, Error> {
    let position = match after.map(|cursor| cursor.0) {
        None => 0,
        Some(Place::Sqlite { position, check }) => {
            known(file, tenant, position, &check).await?;
            position
        }
        Some(Place::Postgres { .. }) => return Err(not_here()),
    };
    let question = query(PAGE).bind(tenant.0).bind(position).bind(i64::from(limit));
    let rows = question.fetch_all(file).await.map_err(classify)?;
    Ok(FeedPage { rows: rows.iter().map(|row| feed_row(tenant, row)).collect::<Result<_, _>>()?, hidden_by: None })
}

/// Entries are never removed, so it need not be seen by the same snapshot as the page.
async fn known<'f>(file: impl Executor<'f, Database = Sqlite>, tenant: TenantId, position: i64, check: &[u8]) -> Result<(), Error> {
    let question = query_scalar::<_, i64>(
        "SELECT count(*) FROM book_entry WHERE position = $1 AND tenant_id = $2 AND substr(digest, 1, length($3)) = $3",
    );
    match question.bind(position).bind(tenant.0).bind(check).fetch_one(file).await.map_err(classify)? {
        0 => Err(Error::Expired),
        _ => Ok(()),
    }
}

pub(super) async fn end<'f>(file: impl Executor<'f, Database = Sqlite>, tenant: TenantId) -> Result<Option<FeedCursor>, Error> {
    let row = query(END).bind(tenant.0).fetch_optional(file).await.map_err(classify)?;
    row.map(|row| feed_row(tenant, &row).map(|row| row.cursor)).transpose()
}

pub(super) async fn headings<'f>(
    file: impl Executor<'f, Database = Sqlite>,
    tenant: TenantId,
    games: &[Uuid],
) -> Result<Vec<Heading>, Error> {
    let mut sql = QueryBuilder::new(
        "SELECT h.game_id, h.seq, h.line, h.digest, h.request_id,
                f.imported_at AS foreign_imported_at, f.imported_by AS foreign_imported_by, f.signature AS foreign_signature
         FROM book_entry h LEFT JOIN foreign_book f ON f.tenant_id = h.tenant_id AND f.game_id = h.game_id
         WHERE h.seq = 1 AND h.tenant_id = ",
    );
    sql.push_bind(tenant.0).push(" AND h.game_id IN (");
    let mut ids = sql.separated(", ");
    for game in games {
        ids.push_bind(*game);
    }
    sql.push(")");
    let rows = sql.build().fetch_all(file).await.map_err(classify)?;
    rows.iter().map(|row| Ok(Heading { game: row.uuid("game_id")?, header: row.entry("")?, foreign: row.foreign()? })).collect()
}

fn feed_row(tenant: TenantId, row: &SqliteRow) -> Result<FeedRow, Error> {
    let (key, entry) = (GameKey { tenant, game: row.uuid("game_id")? }, row.entry("")?);
    let cursor = FeedCursor(Place::Sqlite { position: row.wide("position")?, check: check_of(&entry) });
    Ok(FeedRow { key, entry, cursor })
}
