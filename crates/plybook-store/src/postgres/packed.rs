//! Months that were packed: read where the live tables have nothing.
//!
//! Invariant: whoever looked into the live tables first, and found a game's rows gone, finds them here: a month leaves there and
//! appears here in one commit, and each look is a statement, and so a snapshot, of its own. What is written of a month
//! before that commit is never read.

pub(super) mod blob;

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, SystemTime};

use plybook_core::{Seq, Time, Uuid};
use sqlx::postgres::PgRow;
use sqlx::{Row as _, query};

use self::blob::{ENTRIES, Packed, decode};
use super::{Link, Question};
use crate::error::Error;
use crate::fault::classify;
use crate::month::Month;
use crate::row::{Columns, seq_column};
use crate::store::{GameKey, StoredEntry, TenantId};

/// A month is packed so long after its end at the earliest, so whatever a node's clock says within reason, it never takes
/// a game that may be packed for one that is not.
pub(super) const SETTLED_AFTER: Duration = Duration::from_secs(7 * 24 * 3600);

/// A place in the feed.
pub(super) type Place = (i16, u64, Uuid, Seq);

/// Whether a look at packed months may find this game: spares the look for what is being played.
pub(super) fn may_have(game: Uuid) -> bool {
    let now = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    let settled = Duration::from_millis(Month::of_game(game).next().begins().unix_ms()) + SETTLED_AFTER / 2;
    settled <= now
}

/// Whether a month may be packed, by the database's clock.
pub(super) fn is_settled(month: Month, now: Time) -> bool {
    Duration::from_millis(month.next().begins().unix_ms()) + SETTLED_AFTER <= Duration::from_millis(now.unix_ms())
}

/// Entries of a game after this one, at most so many.
pub(super) async fn entries(link: &Link, key: GameKey, after: Seq, limit: u32) -> Result<Vec<StoredEntry>, Error> {
    let question = query(
        "SELECT bytes FROM packed_book b WHERE EXISTS (SELECT FROM packed_month m WHERE m.tenant_id = b.tenant_id AND m.month = b.month)
           AND b.tenant_id = $1 AND game_id = $2 AND last_seq > $3 ORDER BY first_seq LIMIT $4",
    )
    .bind(key.tenant.0)
    .bind(key.game)
    .bind(seq_column(after))
    .bind(i64::from(limit) / ENTRIES as i64 + 2);
    let mut last = after;
    let mut entries = Vec::new();
    for packed in blobs(&link.rows(question).await.map_err(classify)?)? {
        if packed.entry.seq <= after || entries.len() == limit as usize {
            continue;
        }
        if packed.entry.seq != last.next() {
            return Err(Error::Missing { game: key.game, seq: last.next() });
        }
        last = packed.entry.seq;
        entries.push(packed.entry);
    }
    Ok(entries)
}

pub(super) async fn last(link: &Link, key: GameKey) -> Result<Option<StoredEntry>, Error> {
    let question = query(
        "SELECT bytes FROM packed_book b WHERE EXISTS (SELECT FROM packed_month m WHERE m.tenant_id = b.tenant_id AND m.month = b.month)
           AND b.tenant_id = $1 AND game_id = $2 ORDER BY first_seq DESC LIMIT 1",
    )
    .bind(key.tenant.0)
    .bind(key.game);
    let rows = link.rows(question).await.map_err(classify)?;
    Ok(blobs(&rows)?.pop().map(|packed| packed.entry))
}

/// The entry that answered a request, with its hash.
pub(super) async fn find_request(link: &Link, key: GameKey, request_id: Uuid) -> Result<Option<(StoredEntry, [u8; 32])>, Error> {
    find(&link.rows(book(key)).await.map_err(classify)?, request_id)
}

/// Asks for a whole book.
pub(super) fn book(key: GameKey) -> Question<'static> {
    query(
        "SELECT bytes FROM packed_book b WHERE EXISTS (SELECT FROM packed_month m WHERE m.tenant_id = b.tenant_id AND m.month = b.month)
           AND b.tenant_id = $1 AND game_id = $2 ORDER BY first_seq",
    )
    .bind(key.tenant.0)
    .bind(key.game)
}

/// The same in what [`book`] was answered with.
pub(super) fn find(rows: &[PgRow], request_id: Uuid) -> Result<Option<(StoredEntry, [u8; 32])>, Error> {
    let found = blobs(rows)?.into_iter().find(|packed| packed.entry.request_id == request_id);
    Ok(found.and_then(|packed| Some((packed.entry, packed.hash?))))
}

/// Where a packed book begins and how it ends.
#[derive(Debug, Default)]
pub(super) struct Ends {
    pub(super) header: Option<StoredEntry>,
    pub(super) before_last: Option<StoredEntry>,
    pub(super) last: Option<StoredEntry>,
}

/// Those of these games that are packed.
pub(super) async fn ends(link: &Link, tenant: TenantId, games: &[Uuid]) -> Result<HashMap<Uuid, Ends>, Error> {
    let games: Vec<Uuid> = games.iter().copied().filter(|game| may_have(*game)).collect();
    let mut found: HashMap<Uuid, Ends> = HashMap::new();
    if games.is_empty() {
        return Ok(found);
    }
    let question = query(
        "SELECT p.bytes FROM unnest($2::uuid[]) AS asked (game_id) CROSS JOIN LATERAL (
             (SELECT b.first_seq, b.bytes FROM packed_book b
              WHERE EXISTS (SELECT FROM packed_month m WHERE m.tenant_id = b.tenant_id AND m.month = b.month)
                AND b.tenant_id = $1 AND b.game_id = asked.game_id ORDER BY b.first_seq LIMIT 1)
             UNION ALL
             (SELECT b.first_seq, b.bytes FROM packed_book b
              WHERE EXISTS (SELECT FROM packed_month m WHERE m.tenant_id = b.tenant_id AND m.month = b.month)
                AND b.tenant_id = $1 AND b.game_id = asked.game_id ORDER BY b.first_seq DESC LIMIT 1)) AS p",
    )
    .bind(tenant.0)
    .bind(games);
    for row in link.rows(question).await.map_err(classify)? {
        let mut entries = decode(&row.bytes("bytes")?)?;
        let Some(last) = entries.pop() else { continue };
        let ends = found.entry(last.game).or_default();
        if let Some(header) = entries.iter().chain([&last]).find(|packed| packed.entry.seq == Seq::FIRST) {
            ends.header = Some(header.entry.clone());
        }
        if ends.last.as_ref().is_none_or(|known| known.seq < last.entry.seq) {
            ends.before_last = entries.pop().map(|packed| packed.entry);
            ends.last = Some(last.entry);
        }
    }
    Ok(found)
}

/// The packed entry at a place of the feed.
pub(super) async fn at(link: &Link, tenant: TenantId, place: Place) -> Result<Option<StoredEntry>, Error> {
    let (_, _, game, seq) = place;
    let question = query(
        "SELECT bytes FROM packed_book b WHERE EXISTS (SELECT FROM packed_month m WHERE m.tenant_id = b.tenant_id AND m.month = b.month)
           AND b.tenant_id = $1 AND game_id = $2 AND first_seq <= $3 AND last_seq >= $3",
    )
    .bind(tenant.0)
    .bind(game)
    .bind(seq_column(seq));
    let found = blobs(&link.rows(question).await.map_err(classify)?)?;
    Ok(found.into_iter().find(|packed| packed.place() == place).map(|packed| packed.entry))
}

/// Bounds of a value of the feed.
struct Bounds {
    month: Uuid,
    first: Place,
    last: Place,
}

const PENDING: &str = "
    SELECT f.month, f.first_epoch, f.first_xid::text AS first_xid, f.first_game, f.first_seq,
           f.last_epoch, f.last_xid::text AS last_xid, f.last_game, f.last_seq
    FROM packed_month m CROSS JOIN LATERAL (
        SELECT * FROM packed_feed p WHERE p.tenant_id = m.tenant_id AND p.month = m.month
          AND (p.last_epoch, p.last_xid, p.last_game, p.last_seq) > ($2::smallint, $3::text::xid8, $4::uuid, $5::int)
        ORDER BY p.last_epoch, p.last_xid, p.last_game, p.last_seq LIMIT $6) AS f
    WHERE m.tenant_id = $1 AND (m.last_epoch, m.last_xid, m.last_game, m.last_seq) > ($2::smallint, $3::text::xid8, $4::uuid, $5::int)";

const VALUE: &str = "
    SELECT bytes FROM packed_feed WHERE tenant_id = $1 AND month = $2
      AND (last_epoch, last_xid, last_game, last_seq) = ($3::smallint, $4::text::xid8, $5::uuid, $6::int)";

/// The first packed entries of the feed behind a place, in its order, at least so many where there are.
pub(super) async fn feed(link: &Link, tenant: TenantId, after: Place, limit: u32) -> Result<Vec<Packed>, Error> {
    let (epoch, xid, game, seq) = after;
    let question = query(PENDING)
        .bind(tenant.0)
        .bind(epoch)
        .bind(xid.to_string())
        .bind(game)
        .bind(seq_column(seq))
        .bind(i64::from(limit) / ENTRIES as i64 + 2);
    let rows = link.rows(question).await.map_err(classify)?;
    let mut pending = rows.iter().map(Bounds::read).collect::<Result<Vec<_>, _>>()?;
    pending.sort_unstable_by_key(|bounds| std::cmp::Reverse(bounds.first));
    let mut entries: BTreeMap<Place, Packed> = BTreeMap::new();
    // What begins behind all that is wanted need not be read.
    while let Some(bounds) = pending.pop() {
        if entries.keys().nth((limit as usize).saturating_sub(1)).is_some_and(|enough| *enough < bounds.first) {
            break;
        }
        let (epoch, xid, game, seq) = bounds.last;
        let question = query(VALUE).bind(tenant.0).bind(bounds.month).bind(epoch).bind(xid.to_string()).bind(game).bind(seq_column(seq));
        let found = blobs(&link.rows(question).await.map_err(classify)?)?;
        entries.extend(found.into_iter().filter(|packed| packed.place() > after).map(|packed| (packed.place(), packed)));
    }
    Ok(entries.into_values().collect())
}

/// The last packed entry of the feed.
pub(super) async fn feed_end(link: &Link, tenant: TenantId) -> Result<Option<Packed>, Error> {
    let question = query(
        "SELECT f.bytes FROM packed_month m JOIN packed_feed f USING (tenant_id, month, last_epoch, last_xid, last_game, last_seq)
         WHERE m.tenant_id = $1 ORDER BY m.last_epoch DESC, m.last_xid DESC, m.last_game DESC, m.last_seq DESC LIMIT 1",
    )
    .bind(tenant.0);
    Ok(blobs(&link.rows(question).await.map_err(classify)?)?.pop())
}

impl Bounds {
    fn read(row: &PgRow) -> Result<Bounds, Error> {
        let place = |of: &str| -> Result<Place, Error> {
            let xid = row.text(&format!("{of}_xid"))?.parse().map_err(|_| Error::Corrupt("a packed transaction id".to_owned()))?;
            let seq = Seq(row.number(&format!("{of}_seq"))?.max(0).cast_unsigned());
            Ok((row.try_get(&*format!("{of}_epoch")).map_err(classify)?, xid, row.uuid(&format!("{of}_game"))?, seq))
        };
        Ok(Bounds { month: row.uuid("month")?, first: place("first")?, last: place("last")? })
    }
}

fn blobs(rows: &[PgRow]) -> Result<Vec<Packed>, Error> {
    let mut entries = Vec::new();
    for row in rows {
        entries.extend(decode(&row.bytes("bytes")?)?);
    }
    Ok(entries)
}
