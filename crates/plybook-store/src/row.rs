//! Columns as Rust values, the same on both databases.
//!
//! Invariant: a row that could not have been written by this crate is [`Error::Corrupt`], never a
//! panic and never a guess.

use plybook_core::limits::SNAPSHOT_BYTES_MAX;
use plybook_core::{Digest, Seed, Seq, Time, Uuid};
use sqlx::{ColumnIndex, Database, Decode, Row, Type};

use crate::credentials::{ApiKey, ApiKeyId};
use crate::due::{Claimed, DueKey, StoredDue, kind_from};
use crate::error::Error;
use crate::fault::classify;
use crate::foreign::Foreign;
use crate::refused::{Refused, StoredRefusal};
use crate::store::{Append, GameKey, Nearest, Snapshot, State, StoredEntry, Summary, TenantId};

/// A row of either database with the column types that this crate uses.
pub(crate) trait Columns {
    fn number(&self, column: &str) -> Result<i32, Error>;
    fn wide(&self, column: &str) -> Result<i64, Error>;
    fn wide_if_any(&self, column: &str) -> Result<Option<i64>, Error>;
    fn is_there(&self, column: &str) -> Result<bool, Error>;
    fn text(&self, column: &str) -> Result<String, Error>;
    fn text_if_any(&self, column: &str) -> Result<Option<String>, Error>;
    fn bytes32(&self, column: &str) -> Result<[u8; 32], Error>;
    fn bytes(&self, column: &str) -> Result<Vec<u8>, Error>;
    fn uuid(&self, column: &str) -> Result<Uuid, Error>;
    fn uuid_if_any(&self, column: &str) -> Result<Option<Uuid>, Error>;

    /// An entry whose columns begin with `prefix`.
    fn entry(&self, prefix: &str) -> Result<StoredEntry, Error> {
        Ok(StoredEntry {
            seq: seq_from(self.number(&format!("{prefix}seq"))?)?,
            line: self.text(&format!("{prefix}line"))?,
            digest: Digest(self.bytes32(&format!("{prefix}digest"))?),
            request_id: self.uuid(&format!("{prefix}request_id"))?,
        })
    }

    /// The same, where an outer join may have found none.
    fn joined(&self, prefix: &str) -> Result<Option<StoredEntry>, Error> {
        self.is_there(&format!("{prefix}seq"))?.then(|| self.entry(prefix)).transpose()
    }

    fn summary(&self) -> Result<Summary, Error> {
        Ok(Summary {
            game: self.uuid("id")?,
            state: state_from(&self.text("state")?)?,
            header: self.joined("header_")?,
            last: self.joined("last_")?,
            before_last: self.joined("before_")?,
            foreign: self.foreign()?,
        })
    }

    /// A refused request of this game; times are stored in different ways.
    fn refusal(&self, key: GameKey, at: Time) -> Result<StoredRefusal, Error> {
        let seq = |column: &str| u32::try_from(self.wide(column)?).map(Seq).map_err(|_| Error::Corrupt(format!("{column} is no entry's")));
        let refused = Refused {
            key,
            at,
            principal: self.text("principal")?,
            seat: self.seat_if_any("seat")?,
            asked: self.text("asked")?,
            request_id: self.uuid("request_id")?,
            expected: seq("expected_seq")?,
            head: seq("head_seq")?,
            reason: self.text("reason")?,
            detail: self.text("detail")?,
        };
        Ok(StoredRefusal { number: self.wide("number")?, refused })
    }

    /// What stands beside the book, where an outer join may have found nothing.
    fn foreign(&self) -> Result<Option<Foreign>, Error> {
        let Some(imported) = self.text_if_any("foreign_imported_at")? else { return Ok(None) };
        let imported = Time::parse(&imported).ok_or_else(|| Error::Corrupt(format!("the time of an import is {imported:?}")))?;
        let (by, signature) = (self.text("foreign_imported_by")?, self.text_if_any("foreign_signature")?);
        Ok(Some(Foreign { imported, by, signature }))
    }

    /// An API key; times are stored in different ways.
    fn api_key(&self, created: Time, expires: Option<Time>, revoked: Option<Time>) -> Result<ApiKey, Error> {
        Ok(ApiKey {
            id: ApiKeyId { tenant: TenantId(self.number("tenant_id")?), id: self.text("id")? },
            name: self.text("name")?,
            role: self.text("role")?,
            game: self.uuid_if_any("game_id")?,
            seat: self.seat_if_any("seat")?,
            secret_hash: self.bytes32("secret_hash")?,
            created,
            expires,
            revoked,
        })
    }

    fn seat_if_any(&self, column: &str) -> Result<Option<u8>, Error> {
        let seat = self.is_there(column)?.then(|| self.number(column)).transpose()?;
        seat.map(|seat| u8::try_from(seat).map_err(|_| Error::Corrupt(format!("seat {seat}")))).transpose()
    }

    /// A row that was just claimed; times are stored in different ways.
    fn claimed(&self, due: Time) -> Result<Claimed, Error> {
        let game = GameKey { tenant: TenantId(self.number("tenant_id")?), game: self.uuid("game_id")? };
        let key = DueKey { game, kind: kind_from(&self.text("kind")?)? };
        Ok(Claimed { key, due, attempts: self.attempts()?, token: self.uuid("claim")? })
    }

    fn stored_due(&self, at: Time) -> Result<StoredDue, Error> {
        Ok(StoredDue { kind: kind_from(&self.text("kind")?)?, at, attempts: self.attempts()? })
    }

    fn attempts(&self) -> Result<u32, Error> {
        u32::try_from(self.number("attempts")?).map_err(|_| Error::Corrupt("attempts below none".to_owned()))
    }

    /// A time in milliseconds.
    fn time_ms(&self, column: &str) -> Result<Time, Error> {
        self.wide(column).map(|ms| Time::from_unix_ms(ms.max(0).cast_unsigned()))
    }

    /// A time as headers print it.
    fn time_text(&self, column: &str) -> Result<Time, Error> {
        let text = self.text(column)?;
        Time::parse(&text).ok_or_else(|| Error::Corrupt(format!("{column} is {text:?}")))
    }

    fn snapshot(&self, format: u16) -> Result<Nearest, Error> {
        let found = u16::try_from(self.number("format")?).map_err(|_| Error::Corrupt("a snapshot's format".to_owned()))?;
        if found != format {
            return Ok(Nearest::OtherFormat(found));
        }
        let (seq, digest) = (seq_from(self.number("seq")?)?, Digest(self.bytes32("digest")?));
        Ok(Nearest::Found(Snapshot { format, seq, digest, bytes: self.bytes("bytes")? }))
    }

    fn seed(&self) -> Result<Seed, Error> {
        self.bytes32("seed").map(Seed::new)
    }
}

impl<R> Columns for R
where
    R: Row,
    for<'c> &'c str: ColumnIndex<R>,
    for<'d> i32: Decode<'d, R::Database> + Type<R::Database>,
    for<'d> i64: Decode<'d, R::Database> + Type<R::Database>,
    for<'d> String: Decode<'d, R::Database> + Type<R::Database>,
    for<'d> Vec<u8>: Decode<'d, R::Database> + Type<R::Database>,
    for<'d> Uuid: Decode<'d, R::Database> + Type<R::Database>,
    R::Database: Database<Row = R>,
{
    fn number(&self, column: &str) -> Result<i32, Error> {
        self.try_get(column).map_err(classify)
    }

    fn wide(&self, column: &str) -> Result<i64, Error> {
        self.try_get(column).map_err(classify)
    }

    fn wide_if_any(&self, column: &str) -> Result<Option<i64>, Error> {
        self.try_get(column).map_err(classify)
    }

    fn is_there(&self, column: &str) -> Result<bool, Error> {
        self.try_get::<Option<i32>, _>(column).map(|number| number.is_some()).map_err(classify)
    }

    fn text(&self, column: &str) -> Result<String, Error> {
        self.try_get(column).map_err(classify)
    }

    fn text_if_any(&self, column: &str) -> Result<Option<String>, Error> {
        self.try_get(column).map_err(classify)
    }

    fn bytes32(&self, column: &str) -> Result<[u8; 32], Error> {
        let bytes: Vec<u8> = self.try_get(column).map_err(classify)?;
        bytes.try_into().map_err(|bytes: Vec<u8>| Error::Corrupt(format!("{column} has {} bytes instead of 32", bytes.len())))
    }

    fn bytes(&self, column: &str) -> Result<Vec<u8>, Error> {
        self.try_get(column).map_err(classify)
    }

    fn uuid(&self, column: &str) -> Result<Uuid, Error> {
        self.try_get(column).map_err(classify)
    }

    fn uuid_if_any(&self, column: &str) -> Result<Option<Uuid>, Error> {
        self.try_get(column).map_err(classify)
    }
}

/// The latest snapshot in the format asked for ($3) at or before an entry ($4); where there is none, one in
/// another format, without its bytes. Both databases read it, each as three looks into the key: an older and a newer
/// format are sought apart, since "another" is no range of the key, and would be sought among all of this one's.
pub(crate) const NEAREST_SNAPSHOT: &str = "
    SELECT format, seq, digest, bytes FROM (
        SELECT 1 AS rank, * FROM (
            SELECT format, seq, digest, bytes FROM snapshot
            WHERE tenant_id = $1 AND game_id = $2 AND format = $3 AND seq <= $4 ORDER BY seq DESC LIMIT 1) AS ours
        UNION ALL
        SELECT 2 AS rank, * FROM (
            SELECT format, seq, digest, CAST(NULL AS bytea) AS bytes FROM snapshot
            WHERE tenant_id = $1 AND game_id = $2 AND format < $3 AND seq <= $4 LIMIT 1) AS older
        UNION ALL
        SELECT 3 AS rank, * FROM (
            SELECT format, seq, digest, CAST(NULL AS bytea) AS bytes FROM snapshot
            WHERE tenant_id = $1 AND game_id = $2 AND format > $3 AND seq <= $4 LIMIT 1) AS newer
    ) AS found ORDER BY rank LIMIT 1";

/// Writes nothing where the same is there already.
pub(crate) const SAVE_SNAPSHOT: &str = "
    INSERT INTO snapshot (tenant_id, game_id, format, seq, digest, bytes) VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (tenant_id, game_id, format, seq) DO UPDATE SET digest = excluded.digest, bytes = excluded.bytes
    WHERE snapshot.digest <> excluded.digest OR snapshot.bytes <> excluded.bytes";

/// A number for a column; one too great for it is greater than any that is stored.
pub(crate) fn seq_column(seq: Seq) -> i32 {
    i32::try_from(seq.0).unwrap_or(i32::MAX)
}

fn seq_from(number: i32) -> Result<Seq, Error> {
    u32::try_from(number).map(Seq).map_err(|_| Error::Corrupt(format!("entry number {number}")))
}

/// A state as it is stored.
pub(crate) fn state_column(state: State) -> &'static str {
    match state {
        State::Active => "active",
        State::Finished => "finished",
        State::Closed => "closed",
    }
}

pub(crate) fn state_from(text: &str) -> Result<State, Error> {
    match text {
        "active" => Ok(State::Active),
        "finished" => Ok(State::Finished),
        "closed" => Ok(State::Closed),
        other => Err(Error::Corrupt(format!("state {other:?}"))),
    }
}

/// Entries must follow each other and the number they were asked for.
pub(crate) fn contiguous(game: Uuid, after: Seq, rows: &[impl Columns]) -> Result<Vec<StoredEntry>, Error> {
    let mut last = after;
    let mut entries = Vec::with_capacity(rows.len());
    for row in rows {
        let entry = row.entry("")?;
        if entry.seq != last.next() {
            return Err(Error::Missing { game, seq: last.next() });
        }
        last = entry.seq;
        entries.push(entry);
    }
    Ok(entries)
}

/// What an append comes to when its request id is already in the game, or when it is not.
pub(crate) fn append_from_request(found: Option<(StoredEntry, [u8; 32])>, hash: &[u8; 32]) -> Append {
    match found {
        Some((entry, stored)) if stored == *hash => Append::Repeated(entry),
        Some((entry, _)) => Append::Reused(entry),
        None => Append::Conflict,
    }
}

/// What no build makes is not kept.
pub(crate) fn snapshot_fits(snapshot: &Snapshot) -> Result<(), Error> {
    match snapshot.bytes.len() {
        0..=SNAPSHOT_BYTES_MAX => Ok(()),
        bytes => Err(Error::Failed(format!("a snapshot of {bytes} bytes"))),
    }
}
