//! The feed: every entry of a tenant, in the order of transaction ids, below the horizon.
//!
//! Invariant: the page, what is hidden and the cursor's own entry are read by one statement, so by one snapshot. It
//! reads the index of the feed from the cursor on and no further than the horizon, however many entries are hidden
//! behind it. So that it does whatever the planner knows of the table, it is a function of the schema with settings of its own.

use std::collections::HashSet;

use plybook_core::{Seq, Uuid};
use sqlx::postgres::{PgConnection, PgRow};
use sqlx::{QueryBuilder, Row as _, query, raw_sql};

use super::import::{self, FOREIGN_COLUMNS};
use super::packed::blob::Packed;
use super::{Link, packed};
use crate::error::Error;
use crate::fault::classify;
use crate::feed::{CHECK_BYTES, FeedCursor, FeedPage, FeedRow, Heading, Holder, Place, check_of, not_here};
use crate::row::{Columns, seq_column};
use crate::store::{GameKey, TenantId};

/// At least one row: the first columns are the same in all, the others are an entry's where there is one.
const PAGE: &str = "SELECT * FROM plybook_feed($1::int, $2::smallint, $3::text, $4::uuid, $5::int, $6::bytea, $7::bigint)";
const END: &str = "SELECT * FROM plybook_feed_end($1::int)";

/// Whoever has a transaction id has written, or is about to. Prepared transactions have no backend.
const HOLDER: &str = "
    SELECT pid, name, datname, state, floor(extract(epoch FROM clock_timestamp() - since))::bigint AS open_seconds FROM (
        SELECT pid, application_name AS name, coalesce(datname, '') AS datname, coalesce(state, '') AS state,
               xact_start AS since, age(backend_xid) AS age
        FROM pg_stat_activity WHERE backend_xid IS NOT NULL AND pid <> pg_backend_pid()
        UNION ALL
        SELECT NULL, gid, database, 'prepared', prepared, age(transaction) FROM pg_prepared_xacts) AS writers
    ORDER BY age DESC LIMIT 1";

/// The newest entries of transactions that this cluster has not come to: they were restored from another.
macro_rules! foreign {
    () => {
        " FROM (
              SELECT e.epoch, e.xid FROM tenant t CROSS JOIN LATERAL (
                  SELECT b.epoch, b.xid FROM book_entry b WHERE b.tenant_id = t.id AND b.epoch >= 0
                  ORDER BY b.epoch DESC, b.xid DESC LIMIT 1) AS e
              UNION ALL SELECT last_epoch, last_xid FROM packed_month) AS n
          WHERE n.xid >= pg_snapshot_xmax(pg_current_snapshot()) AND n.epoch >= plybook_epoch()"
    };
}

const IS_FOREIGN: &str = concat!("SELECT EXISTS (SELECT", foreign!(), ") AS is_foreign");

/// Where books were restored from another cluster, whose transaction ids were further on, those of this one begin anew: a new
/// epoch puts what comes now behind what was restored. The lock that ALTER takes lets no append be of two minds.
const BEGIN_EPOCH: &str = concat!(
    "DO $$
     DECLARE
         next int;
     BEGIN
         SELECT max(n.epoch) + 1 INTO next",
    foreign!(),
    ";
         IF next IS NOT NULL THEN
             EXECUTE format('ALTER TABLE book_entry ALTER COLUMN epoch SET DEFAULT %s', next);
         END IF;
     END
     $$"
);

/// A cursor before the first entry: no epoch is negative.
const BEFORE_ALL: Place = Place::Postgres { epoch: -1, xid: 0, game: Uuid::nil(), seq: Seq(0), check: [0; CHECK_BYTES] };

pub(super) async fn page(link: &Link, tenant: TenantId, after: Option<&FeedCursor>, limit: u32) -> Result<FeedPage, Error> {
    let Place::Postgres { epoch, xid, game, seq, check } = after.map_or(BEFORE_ALL, |cursor| cursor.0) else { return Err(not_here()) };
    let question = query(PAGE)
        .bind(tenant.0)
        .bind(epoch)
        .bind(xid.to_string())
        .bind(game)
        .bind(seq_column(seq))
        .bind(&check[..])
        .bind(i64::from(limit));
    let rows = link.rows(question).await.map_err(classify)?;
    let first = rows.first().ok_or_else(|| Error::Corrupt("the feed's statement answered nothing".to_owned()))?;
    if after.is_some() && !first.try_get::<bool, _>("is_known").map_err(classify)? {
        let packed = packed::at(link, tenant, (epoch, xid, game, seq)).await?;
        if packed.is_none_or(|entry| check_of(&entry) != check) {
            return Err(Error::Expired);
        }
    }
    let set = |column: &str| first.try_get::<Option<bool>, _>(column).map(|set| set == Some(true)).map_err(classify);
    if set("is_foreign")? {
        return Err(restored());
    }
    let horizon = (first.try_get::<i16, _>("horizon_epoch").map_err(classify)?, xid_from(&first.text("horizon")?)?);
    let hidden_by = if set("is_hidden")? { Some(horizon.1) } else { None };
    let there = rows.iter().filter(|row| row.is_there("seq").unwrap_or(true));
    let mut rows = there.map(|row| feed_row(tenant, row)).collect::<Result<Vec<_>, _>>()?;
    // After the live ones, in a statement of its own: what was packed meanwhile is in both, and never in neither. Nothing
    // is shown behind the horizon of the live ones, where some may have been hidden that are before it.
    let packed = packed::feed(link, tenant, (epoch, xid, game, seq), limit).await?.into_iter().filter(|packed| {
        let (epoch, xid, ..) = packed.place();
        (epoch, xid) < horizon
    });
    rows.extend(packed.map(|packed| packed_row(tenant, packed)));
    rows.sort_unstable_by_key(|row| row.cursor);
    rows.dedup_by_key(|row| row.cursor);
    rows.truncate(limit as usize);
    Ok(FeedPage { rows, hidden_by })
}

pub(super) async fn end(link: &Link, tenant: TenantId) -> Result<Option<FeedCursor>, Error> {
    let row = link.row(query(END).bind(tenant.0)).await.map_err(classify)?;
    let live = row.map(|row| feed_row(tenant, &row).map(|row| row.cursor)).transpose()?;
    let packed = packed::feed_end(link, tenant).await?.map(|packed| packed_row(tenant, packed).cursor);
    Ok(live.max(packed))
}

fn restored() -> Error {
    Error::Config("the books were restored from another cluster: run `plybook migrate` before they are served".to_owned())
}

/// Whether what is appended now comes behind everything in the feed, or is to be refused: it would stand before what was restored.
pub(super) async fn goes_on(link: &Link) -> Result<(), Error> {
    let row = link.row(query(IS_FOREIGN)).await.map_err(classify)?.ok_or_else(|| Error::Failed("no answer".to_owned()))?;
    if row.try_get("is_foreign").map_err(classify)? { Err(restored()) } else { Ok(()) }
}

/// Run by who brings the schema up to date.
pub(super) async fn begin_epoch_if_restored(connection: &mut PgConnection) -> Result<(), sqlx::Error> {
    raw_sql(BEGIN_EPOCH).execute(connection).await.map(drop)
}

pub(super) async fn headings(link: &Link, tenant: TenantId, games: &[Uuid]) -> Result<Vec<Heading>, Error> {
    let mut sql = QueryBuilder::new("SELECT h.game_id, h.seq, h.line, h.digest, h.request_id, ");
    sql.push(FOREIGN_COLUMNS).push(" FROM unnest(").push_bind(games.to_vec()).push("::uuid[]) AS asked (game_id) CROSS JOIN LATERAL (");
    sql.push("SELECT * FROM book_entry b WHERE b.game_id = asked.game_id AND b.seq = 1 AND b.tenant_id = ").push_bind(tenant.0);
    sql.push(" LIMIT 1) AS h LEFT JOIN foreign_book f ON f.tenant_id = h.tenant_id AND f.game_id = h.game_id");
    let rows = link.rows(sql.build()).await.map_err(classify)?;
    let heading = |row: &PgRow| Ok(Heading { game: row.uuid("game_id")?, header: row.entry("")?, foreign: row.foreign()? });
    let mut found: Vec<Heading> = rows.iter().map(heading).collect::<Result<_, Error>>()?;
    let there: HashSet<Uuid> = found.iter().map(|heading| heading.game).collect();
    let missing: Vec<Uuid> = games.iter().copied().filter(|game| !there.contains(game)).collect();
    for (game, ends) in packed::ends(link, tenant, &missing).await? {
        let Some(header) = ends.header else { continue };
        found.push(Heading { game, header, foreign: import::foreign(link, GameKey { tenant, game }).await? });
    }
    Ok(found)
}

pub(super) async fn holder(link: &Link) -> Result<Option<Holder>, Error> {
    let Some(row) = link.row(query(HOLDER)).await.map_err(classify)? else { return Ok(None) };
    let open: Option<i64> = row.try_get("open_seconds").map_err(classify)?;
    Ok(Some(Holder {
        pid: row.try_get("pid").map_err(classify)?,
        name: row.text("name")?,
        database: row.text("datname")?,
        state: row.text("state")?,
        open_seconds: open.map(|seconds| seconds.max(0).cast_unsigned()),
    }))
}

fn feed_row(tenant: TenantId, row: &PgRow) -> Result<FeedRow, Error> {
    let (key, entry) = (GameKey { tenant, game: row.uuid("game_id")? }, row.entry("")?);
    let epoch = row.try_get("epoch").map_err(classify)?;
    let xid = xid_from(&row.text("xid")?)?;
    let cursor = FeedCursor(Place::Postgres { epoch, xid, game: key.game, seq: entry.seq, check: check_of(&entry) });
    Ok(FeedRow { key, entry, cursor })
}

fn packed_row(tenant: TenantId, packed: Packed) -> FeedRow {
    let (epoch, xid, game, seq) = packed.place();
    let cursor = FeedCursor(Place::Postgres { epoch, xid, game, seq, check: check_of(&packed.entry) });
    FeedRow { key: GameKey { tenant, game }, entry: packed.entry, cursor }
}

fn xid_from(text: &str) -> Result<u64, Error> {
    text.parse().map_err(|_| Error::Corrupt(format!("transaction id {text:?}")))
}
