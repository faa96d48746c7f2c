//! A month whose games have all ended leaves its partition for values of a thousand entries each.
//!
//! Invariant: nothing leaves before all of it was read back, byte for byte, in both orders; it leaves and appears in one commit; and
//! until then whatever was written is nobody's, and thrown away by the next attempt. While a month is packed
//! nothing can be added to it, and everything can be read. The table it came from stays until somebody drops it.

use plybook_core::{Seq, Uuid};
use sqlx::postgres::{PgConnection, PgRow};
use sqlx::{AssertSqlSafe, Executor as _, Row as _, query};
use tokio::time::{Instant, sleep};

use super::{LOCK_NOT_AVAILABLE, LOCK_WITHIN, PAUSE, Partitions};
use crate::error::Error;
use crate::fault::{classify, sqlstate};
use crate::month::Month;
use crate::postgres::connect;
use crate::postgres::packed::blob::{ENTRIES, Packed, decode, encode};
use crate::postgres::packed::{Place, is_settled};
use crate::row::Columns as _;
use crate::store::StoredEntry;

/// Rows read at once.
const PAGE: usize = 5_000;
/// Values are written together up to so many bytes.
const WRITE_BYTES: usize = 1 << 20;

/// Pages come in the order of an index, whatever the planner thinks that costs.
const IN_ORDER: &str = "SET enable_sort = off; SET enable_incremental_sort = off; SET enable_seqscan = off; SET enable_bitmapscan = off; \
                        SET jit = off";

/// What was packed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PackedMonth {
    /// Books.
    pub games: u64,
    /// Entries in them.
    pub entries: u64,
}

impl Partitions {
    /// Packs a month and detaches its partition. Refuses one that is not long over, that has no partition, or a game
    /// that has not ended.
    pub async fn pack(&mut self, month: Month) -> Result<PackedMonth, Error> {
        self.alone().await?;
        self.refuse_to_pack(month).await?;
        let mut writer = connect::unlimited(self.session.clone()).await?;
        writer.execute(IN_ORDER).await.map_err(classify)?;
        self.connection.execute("SET idle_in_transaction_session_timeout = 0; BEGIN").await.map_err(classify)?;
        let packed = self.pack_under_lock(&mut writer, month).await;
        let end = if packed.is_ok() { "COMMIT" } else { "ROLLBACK" };
        let ended = self.connection.execute(end).await.map_err(classify);
        let packed = packed?;
        ended.map(|_| packed)
    }

    /// Drops the table that a packed month came from, once it was compared again.
    pub async fn drop(&mut self, month: Month) -> Result<PackedMonth, Error> {
        self.alone().await?;
        let table = month.table();
        if self.found().await?.iter().any(|found| found.name == table) {
            return Err(Error::Config(format!("{month} is not packed: its books are in {table}")));
        }
        if !self.is_there(&table).await? {
            return Err(Error::Config(format!("the table of {month} is gone already")));
        }
        let mut all = PackedMonth::default();
        self.connection.execute(IN_ORDER).await.map_err(classify)?;
        for tenant in self.tenants().await? {
            all = Pages { tenant, month, table: table.clone() }.compare(&mut self.connection).await?.and(all);
        }
        self.connection.execute(AssertSqlSafe(format!("DROP TABLE {table}"))).await.map_err(classify)?;
        Ok(all)
    }

    async fn refuse_to_pack(&mut self, month: Month) -> Result<(), Error> {
        let refuse = |why: String| Err(Error::Config(format!("{month} is not packed: {why}")));
        if self.is_packed(month).await? {
            return refuse("it is packed already".to_owned());
        }
        let now = self.now().await?;
        if !is_settled(month, now) {
            return refuse("it is not over for a week".to_owned());
        }
        if !self.found().await?.iter().any(|found| found.is_of(month)) {
            return refuse("it has no partition of its own".to_owned());
        }
        match self.games(month.first_id(), month.next().first_id()).await? {
            (0, _) => refuse("it has no games".to_owned()),
            (_, 0) => Ok(()),
            (games, open) => refuse(format!("{open} of its {games} games have not ended")),
        }
    }

    async fn pack_under_lock(&mut self, writer: &mut PgConnection, month: Month) -> Result<PackedMonth, Error> {
        let table = month.table();
        // Appends to other months, and every read, go on; an import of a game of this month waits.
        self.again(&format!("LOCK TABLE {table} IN SHARE MODE")).await?;
        self.refuse_to_pack(month).await?;
        for leftover in ["DELETE FROM packed_book WHERE month = $1", "DELETE FROM packed_feed WHERE month = $1"] {
            query(leftover).bind(month.first_id()).execute(&mut *writer).await.map_err(classify)?;
        }
        let (mut all, mut ends) = (PackedMonth::default(), Vec::new());
        for tenant in self.tenants().await? {
            let pages = Pages { tenant, month, table: table.clone() };
            pages.write_books(writer).await?;
            let Some(end) = pages.write_feed(writer).await? else { continue };
            let packed = pages.compare(writer).await?;
            ends.push((tenant, end, packed));
            all = packed.and(all);
        }
        for (_, (epoch, xid, ..), _) in &ends {
            self.wait_for_the_horizon(*epoch, *xid).await?;
        }
        self.again(&format!("ALTER TABLE book_entry DETACH PARTITION {table}")).await?;
        for (tenant, (epoch, xid, game, seq), packed) in ends {
            let question = query(
                "INSERT INTO packed_month (tenant_id, month, games, entries, packed_at, last_epoch, last_xid, last_game, last_seq)
                 VALUES ($1, $2, $3, $4, now(), $5, $6::text::xid8, $7, $8)",
            );
            let question = question.bind(tenant).bind(month.first_id()).bind(packed.games.cast_signed()).bind(packed.entries.cast_signed());
            let question = question.bind(epoch).bind(xid.to_string()).bind(game).bind(seq.0.cast_signed());
            question.execute(&mut self.connection).await.map_err(classify)?;
        }
        Ok(all)
    }

    /// A statement of a transaction that keeps what it has while this one is tried again for its lock.
    async fn again(&mut self, sql: &str) -> Result<(), Error> {
        let by = Instant::now() + LOCK_WITHIN;
        loop {
            self.connection.execute("SAVEPOINT attempt").await.map_err(classify)?;
            match self.connection.execute(AssertSqlSafe(sql)).await {
                Ok(_) => return Ok(()),
                Err(error) if sqlstate(&error).as_deref() == Some(LOCK_NOT_AVAILABLE) && Instant::now() < by => {
                    self.connection.execute("ROLLBACK TO SAVEPOINT attempt").await.map_err(classify)?;
                    sleep(PAUSE).await;
                }
                Err(error) => return Err(classify(error)),
            }
        }
    }

    /// What is packed is shown to every feed, so nothing may come to stand before it any more.
    async fn wait_for_the_horizon(&mut self, epoch: i16, xid: u64) -> Result<(), Error> {
        let by = Instant::now() + LOCK_WITHIN;
        loop {
            let question = query("SELECT plybook_epoch() > $1 OR $2::text::xid8 < pg_snapshot_xmin(pg_current_snapshot())");
            let row = question.bind(epoch).bind(xid.to_string()).fetch_one(&mut self.connection).await.map_err(classify)?;
            if row.try_get(0).map_err(classify)? {
                return Ok(());
            }
            if Instant::now() >= by {
                return Err(Error::Unavailable("a transaction that is older than the month's last entry is still open".to_owned()));
            }
            sleep(PAUSE).await;
        }
    }

    async fn tenants(&mut self) -> Result<Vec<i32>, Error> {
        let rows = query("SELECT id FROM tenant ORDER BY id").fetch_all(&mut self.connection).await.map_err(classify)?;
        rows.iter().map(|row| row.number("id")).collect()
    }
}

impl PackedMonth {
    fn and(self, other: PackedMonth) -> PackedMonth {
        PackedMonth { games: self.games + other.games, entries: self.entries + other.entries }
    }
}

/// A tenant's rows of a month, as a table, which may be a partition, and as values.
struct Pages {
    tenant: i32,
    month: Month,
    table: String,
}

impl Pages {
    /// The next rows in the order of books, from behind this one.
    async fn books(&self, connection: &mut PgConnection, after: (Uuid, Seq)) -> Result<Vec<Packed>, Error> {
        let sql = format!(
            "SELECT game_id, seq, line, digest, request_id, request_hash, epoch, xid::text AS xid FROM {}
             WHERE tenant_id = $1 AND (game_id, seq) > ($2, $3) ORDER BY game_id, seq LIMIT {PAGE}",
            self.table
        );
        let question = query(AssertSqlSafe(sql)).bind(self.tenant).bind(after.0).bind(after.1.0.cast_signed());
        question.fetch_all(connection).await.map_err(classify)?.iter().map(row).collect()
    }

    /// The next rows in the order of the feed, from behind this place.
    async fn feed(&self, connection: &mut PgConnection, after: Place) -> Result<Vec<Packed>, Error> {
        let sql = format!(
            "SELECT game_id, seq, line, digest, request_id, request_hash, epoch, xid::text AS xid FROM {}
             WHERE tenant_id = $1 AND (epoch, xid, game_id, seq) > ($2, $3::text::xid8, $4, $5)
             ORDER BY epoch, {0}.xid, game_id, seq LIMIT {PAGE}",
            self.table
        );
        let (epoch, xid, game, seq) = after;
        let question = query(AssertSqlSafe(sql)).bind(self.tenant).bind(epoch).bind(xid.to_string()).bind(game).bind(seq.0.cast_signed());
        let rows = question.fetch_all(connection).await.map_err(classify)?;
        rows.iter().map(|found| row(found).map(|packed| Packed { hash: None, ..packed })).collect()
    }

    /// Whole books, one after the other.
    async fn next_books(&self, connection: &mut PgConnection, rest: &mut Vec<Packed>) -> Result<Vec<Vec<Packed>>, Error> {
        let after = rest.last().map_or((Uuid::nil(), Seq::ZERO), |last| (last.game, last.entry.seq));
        let page = self.books(connection, after).await?;
        let is_last = page.len() < PAGE;
        rest.extend(page);
        let mut books: Vec<Vec<Packed>> = rest.chunk_by(|one, next| one.game == next.game).map(<[Packed]>::to_vec).collect();
        // Of the last one there may be more.
        *rest = if is_last { Vec::new() } else { books.pop().unwrap_or_default() };
        Ok(books)
    }

    async fn write_books(&self, writer: &mut PgConnection) -> Result<(), Error> {
        let (mut rest, mut values) = (Vec::new(), BookValues::default());
        loop {
            for book in self.next_books(writer, &mut rest).await? {
                let whole = book.iter().zip(1..).find(|(packed, seq)| packed.entry.seq.0 != *seq);
                if let Some((packed, seq)) = whole {
                    return Err(Error::Missing { game: packed.game, seq: Seq(seq) });
                }
                for piece in pieces(&book) {
                    values.push(piece);
                }
                if values.bytes() >= WRITE_BYTES {
                    values.write(writer, self).await?;
                }
            }
            if rest.is_empty() {
                return values.write(writer, self).await;
            }
        }
    }

    /// Answers the last place.
    async fn write_feed(&self, writer: &mut PgConnection) -> Result<Option<Place>, Error> {
        let (mut rest, mut end): (Vec<Packed>, Option<Place>) = (Vec::new(), None);
        loop {
            let page = self.feed(writer, end.unwrap_or(BEFORE_ALL)).await?;
            let is_last = page.len() < PAGE;
            end = page.last().map(Packed::place).or(end);
            rest.extend(page);
            let whole = if is_last { rest.len() } else { rest.len() / ENTRIES * ENTRIES };
            for piece in rest[..whole].chunks(ENTRIES) {
                self.write_piece(writer, piece).await?;
            }
            rest.drain(..whole);
            if is_last {
                return Ok(end);
            }
        }
    }

    async fn write_piece(&self, writer: &mut PgConnection, piece: &[Packed]) -> Result<(), Error> {
        let [Some(first), Some(last)] = [piece.first(), piece.last()].map(|packed| packed.map(Packed::place)) else { return Ok(()) };
        let question = query(
            "INSERT INTO packed_feed (tenant_id, month, first_epoch, first_xid, first_game, first_seq,
                                      last_epoch, last_xid, last_game, last_seq, bytes)
             VALUES ($1, $2, $3, $4::text::xid8, $5, $6, $7, $8::text::xid8, $9, $10, $11)",
        );
        let mut question = question.bind(self.tenant).bind(self.month.first_id());
        for (epoch, xid, game, seq) in [first, last] {
            question = question.bind(epoch).bind(xid.to_string()).bind(game).bind(seq.0.cast_signed());
        }
        question.bind(encode(piece)).execute(writer).await.map(drop).map_err(classify)
    }

    /// Holds the values against the table, in both orders: neither has anything that the other has not.
    async fn compare(&self, connection: &mut PgConnection) -> Result<PackedMonth, Error> {
        let differs = |what: String| Error::Corrupt(format!("{}: {what} does not read back from what was packed", self.month));
        let (mut all, mut values, mut rest) = (PackedMonth::default(), 0, Vec::new());
        loop {
            for book in self.next_books(connection, &mut rest).await? {
                let game = book[0].game;
                let found = query("SELECT bytes FROM packed_book WHERE tenant_id = $1 AND game_id = $2 AND month = $3 ORDER BY first_seq");
                let found = found.bind(self.tenant).bind(game).bind(self.month.first_id()).fetch_all(&mut *connection).await;
                let found = found.map_err(classify)?;
                if entries(&found)? != book {
                    return Err(differs(format!("game {game}")));
                }
                values += found.len() as u64;
                all = all.and(PackedMonth { games: 1, entries: book.len() as u64 });
            }
            if rest.is_empty() {
                break;
            }
        }
        let written: i64 = self.one(connection, "SELECT count(*) FROM packed_book WHERE tenant_id = $1 AND month = $2").await?;
        if written.cast_unsigned() != values {
            return Err(differs("a game too many".to_owned()));
        }
        let mut in_feed = 0;
        let mut place = BEFORE_ALL;
        loop {
            let page = self.feed(connection, place).await?;
            let Some(last) = page.last() else { break };
            let values = self.feed_values(connection, place, last.place()).await?;
            if values.get(..page.len()) != Some(&page[..]) {
                return Err(differs("the feed".to_owned()));
            }
            in_feed += page.len() as u64;
            place = last.place();
        }
        if in_feed != all.entries || !self.feed_values(connection, place, LAST_OF_ALL).await?.is_empty() {
            return Err(differs("the feed's end".to_owned()));
        }
        Ok(all)
    }

    /// Packed entries of the feed behind one place, up to another and a few more.
    async fn feed_values(&self, connection: &mut PgConnection, after: Place, to: Place) -> Result<Vec<Packed>, Error> {
        let mut question = query(
            "SELECT bytes FROM packed_feed WHERE tenant_id = $1 AND month = $2
               AND (last_epoch, last_xid, last_game, last_seq) > ($3, $4::text::xid8, $5, $6)
               AND (first_epoch, first_xid, first_game, first_seq) <= ($7, $8::text::xid8, $9, $10)
             ORDER BY last_epoch, last_xid, last_game, last_seq",
        )
        .bind(self.tenant)
        .bind(self.month.first_id());
        for (epoch, xid, game, seq) in [after, to] {
            question = question.bind(epoch).bind(xid.to_string()).bind(game).bind(seq.0.cast_signed());
        }
        let mut found = entries(&question.fetch_all(connection).await.map_err(classify)?)?;
        found.retain(|packed| packed.place() > after);
        Ok(found)
    }

    async fn one(&self, connection: &mut PgConnection, sql: &'static str) -> Result<i64, Error> {
        let question = query(sql).bind(self.tenant).bind(self.month.first_id());
        question.fetch_one(connection).await.and_then(|row| row.try_get(0)).map_err(classify)
    }
}

const BEFORE_ALL: Place = (-1, 0, Uuid::nil(), Seq(0));
const LAST_OF_ALL: Place = (i16::MAX, u64::MAX, Uuid::max(), Seq(i32::MAX as u32));

/// A book in values: a single entry that would be left over goes with those before it, so that a book's last two are together.
fn pieces(book: &[Packed]) -> Vec<&[Packed]> {
    let mut pieces: Vec<&[Packed]> = book.chunks(ENTRIES).collect();
    if pieces.len() > 1 && book.len() % ENTRIES == 1 {
        pieces.truncate(pieces.len() - 2);
        pieces.push(&book[pieces.len() * ENTRIES..]);
    }
    pieces
}

/// Values that are written together.
#[derive(Default)]
struct BookValues {
    games: Vec<Uuid>,
    firsts: Vec<i32>,
    lasts: Vec<i32>,
    values: Vec<Vec<u8>>,
}

impl BookValues {
    fn push(&mut self, piece: &[Packed]) {
        let (Some(first), Some(last)) = (piece.first(), piece.last()) else { return };
        self.games.push(first.game);
        self.firsts.push(first.entry.seq.0.cast_signed());
        self.lasts.push(last.entry.seq.0.cast_signed());
        self.values.push(encode(piece));
    }

    fn bytes(&self) -> usize {
        self.values.iter().map(Vec::len).sum()
    }

    async fn write(&mut self, writer: &mut PgConnection, of: &Pages) -> Result<(), Error> {
        let written = std::mem::take(self);
        let question = query(
            "INSERT INTO packed_book (tenant_id, month, game_id, first_seq, last_seq, bytes)
             SELECT $1, $2, game, first, last, bytes FROM unnest($3::uuid[], $4::int[], $5::int[], $6::bytea[]) AS v (game, first, last, bytes)",
        );
        let question = question.bind(of.tenant).bind(of.month.first_id());
        let question = question.bind(written.games).bind(written.firsts).bind(written.lasts).bind(written.values);
        question.execute(writer).await.map(drop).map_err(classify)
    }
}

fn row(row: &PgRow) -> Result<Packed, Error> {
    let xid = row.text("xid")?.parse().map_err(|_| Error::Corrupt("a transaction id".to_owned()))?;
    let entry: StoredEntry = row.entry("")?;
    let epoch = row.try_get("epoch").map_err(classify)?;
    Ok(Packed { game: row.uuid("game_id")?, entry, epoch, xid, hash: Some(row.bytes32("request_hash")?) })
}

fn entries(values: &[PgRow]) -> Result<Vec<Packed>, Error> {
    let mut entries = Vec::new();
    for value in values {
        entries.extend(decode(&value.bytes("bytes")?)?);
    }
    Ok(entries)
}
