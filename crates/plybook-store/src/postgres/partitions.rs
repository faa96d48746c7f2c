//! Months of books: listed, given a partition before they begin, and packed once they are over.
//!
//! Invariant: nobody who plays waits for more than a moment: whatever needs a lock that stops appends asks for it
//! shortly and again, and what takes long stops nobody. Whatever is broken off is taken up by the next call.

mod pack;

use std::time::Duration;

use plybook_core::{Time, Uuid};
use sqlx::postgres::{PgConnectOptions, PgConnection, PgRow};
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, Row as _, query};
use tokio::time::{Instant, sleep};

pub use self::pack::PackedMonth;
use super::connect::{self, PostgresOptions};
use super::read;
use crate::error::Error;
use crate::fault::{classify, sqlstate};
use crate::migrations::{self, applied};
use crate::month::Month;
use crate::row::Columns as _;

/// How long appends may be held up by one attempt.
const LOCK_FOR: &str = "500ms";
/// Between two attempts appends go on.
const PAUSE: Duration = Duration::from_millis(250);
/// After so long in vain something holds the table all the time.
const LOCK_WITHIN: Duration = Duration::from_secs(120);
/// SQLSTATE of a lock that was not to be had.
const LOCK_NOT_AVAILABLE: &str = "55P03";

/// One at a time: the number is nobody else's.
const ALONE: &str = "SELECT pg_try_advisory_lock(7512092026112901)";
/// Whoever was killed is gone by then, and whoever is at work may be for long.
const ALONE_WITHIN: Duration = Duration::from_secs(5);
const DROP_FENCE: &str = "ALTER TABLE book_entry_rest DROP CONSTRAINT IF EXISTS book_entry_rest_ahead";
const VALIDATE_FENCE: &str = "ALTER TABLE book_entry_rest VALIDATE CONSTRAINT book_entry_rest_ahead";

/// Partitions, the DEFAULT one last; bounds are those that the catalogue prints.
const PARTITIONS: &str = "
    SELECT c.relname::text AS name, pg_total_relation_size(c.oid) AS bytes,
           substring(pg_get_expr(c.relpartbound, c.oid) FROM 'FROM \\(''([0-9a-f-]{36})''\\)')::uuid AS first_id,
           substring(pg_get_expr(c.relpartbound, c.oid) FROM 'TO \\(''([0-9a-f-]{36})''\\)')::uuid AS end_id
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = 'book_entry'::regclass ORDER BY first_id NULLS LAST";

/// Games of a range of ids, and those of them that may still be appended to: a book that was played elsewhere never is.
const GAMES: &str = "
    SELECT count(*) AS games,
           count(*) FILTER (WHERE g.state <> 'closed' AND NOT EXISTS (
               SELECT FROM foreign_book f WHERE f.tenant_id = g.tenant_id AND f.game_id = g.id)) AS open
    FROM tenant t JOIN game g ON g.tenant_id = t.id WHERE g.id >= $1 AND g.id < $2";

/// Months that were packed, and whether the table that each came from is still there.
const PACKED: &str = "
    SELECT m.month, sum(m.entries)::bigint AS rows, sum(m.games)::bigint AS games, (
               SELECT coalesce(sum(pg_column_size(b.bytes)), 0)::bigint FROM packed_book b WHERE b.month = m.month)
           + (SELECT coalesce(sum(pg_column_size(f.bytes)), 0)::bigint FROM packed_feed f WHERE f.month = m.month) AS bytes
    FROM packed_month m GROUP BY m.month ORDER BY m.month";

/// As what a month's books are there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A partition.
    Table,
    /// Packed.
    Packed,
    /// Packed, and the table that they were packed from is there too, of no use to anybody.
    PackedAndKept,
}

/// A partition of the books.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    /// Of which month; nothing for the one that has whatever has none of its own.
    pub month: Option<Month>,
    /// As what its books are there.
    pub form: Form,
    /// Entries.
    pub rows: u64,
    /// Table and indexes.
    pub bytes: u64,
    /// Games of that month, wherever their books are; of the DEFAULT partition those that are in no other's month.
    pub games: u64,
    /// Those that are neither closed nor somebody else's.
    pub open: u64,
}

/// The partitions of a database, over a session of its owner.
#[derive(Debug)]
pub struct Partitions {
    session: PgConnectOptions,
    connection: PgConnection,
}

impl Partitions {
    /// Connects as whoever owns the tables. A pooler in between must keep sessions.
    pub async fn open(options: &PostgresOptions) -> Result<Partitions, Error> {
        let session = options.direct_session()?;
        let mut connection = connect::unlimited(session.clone()).await?;
        applied::check(migrations::POSTGRES, &read::applied_to(&mut connection).await?)?;
        query("SELECT set_config('lock_timeout', $1, false)").bind(LOCK_FOR).execute(&mut connection).await.map_err(classify)?;
        Ok(Partitions { session, connection })
    }

    /// Every partition, by month, the DEFAULT one last. Counts, and so reads an index of each.
    pub async fn list(&mut self) -> Result<Vec<Partition>, Error> {
        let (mut list, mut all) = (Vec::new(), self.games(Uuid::nil(), Uuid::max()).await?);
        for row in query(PACKED).fetch_all(&mut self.connection).await.map_err(classify)? {
            let month = Month::of_game(row.uuid("month")?);
            let kept = self.is_there(&month.table()).await?;
            let number = |column| row.wide(column).map(|number| number.max(0).cast_unsigned());
            let (games, form) = (number("games")?, if kept { Form::PackedAndKept } else { Form::Packed });
            all.0 = all.0.saturating_sub(games);
            list.push(Partition { month: Some(month), form, rows: number("rows")?, bytes: number("bytes")?, games, open: 0 });
        }
        for found in self.found().await? {
            let rows = format!("SELECT count(*) FROM {}", found.name);
            let rows: i64 =
                query(AssertSqlSafe(rows)).fetch_one(&mut self.connection).await.and_then(|row| row.try_get(0)).map_err(classify)?;
            let (games, open) = match found.range {
                Some((first, end)) => {
                    let (games, open) = self.games(first, end).await?;
                    all = (all.0.saturating_sub(games), all.1.saturating_sub(open));
                    (games, open)
                }
                None => all,
            };
            let month = found.range.map(|(first, _)| Month::of_game(first));
            list.push(Partition { month, form: Form::Table, rows: rows.max(0).cast_unsigned(), bytes: found.bytes, games, open });
        }
        Ok(list)
    }

    /// Gives each of so many months after this one a partition, unless it has one; answers which are new. Refuses where
    /// the DEFAULT partition has entries of one of them, since entries cannot be moved.
    pub async fn ahead(&mut self, months: u32) -> Result<Vec<Month>, Error> {
        let mut month = Month::of(self.now().await?);
        let wanted: Vec<Month> = (0..months)
            .map(|_| {
                month = month.next();
                month
            })
            .collect();
        self.make(&wanted).await
    }

    /// The same for these months.
    pub async fn make(&mut self, months: &[Month]) -> Result<Vec<Month>, Error> {
        self.alone().await?;
        // What a call before this one left where it was killed.
        self.shortly(DROP_FENCE).await?;
        let there = self.found().await?;
        let is_there = |month: &Month| there.iter().any(|found| found.is_of(*month));
        let missing: Vec<Month> = months.iter().copied().filter(|month| !is_there(month)).collect();
        for month in &missing {
            self.refuse_if_begun(*month).await?;
            let made = self.fenced(*month).await;
            let dropped = self.shortly(DROP_FENCE).await;
            made?;
            dropped?;
        }
        Ok(missing)
    }

    /// Nobody else changes months as long as this session lives.
    async fn alone(&mut self) -> Result<(), Error> {
        let by = Instant::now() + ALONE_WITHIN;
        loop {
            let row = query(ALONE).fetch_one(&mut self.connection).await;
            if row.and_then(|row| row.try_get(0)).map_err(classify)? {
                return Ok(());
            }
            if Instant::now() >= by {
                return Err(Error::Unavailable("another `plybook partitions` is at work on these books: let it end first".to_owned()));
            }
            sleep(PAUSE).await;
        }
    }

    /// Attaches a month. Attaching reads the whole DEFAULT partition while nobody can append, unless a constraint tells
    /// that none of it is the month's: reading it for that stops nobody.
    async fn fenced(&mut self, month: Month) -> Result<(), Error> {
        let (table, first, end) = (month.table(), month.first_id(), month.next().first_id());
        let fence = format!(
            "ALTER TABLE book_entry_rest ADD CONSTRAINT book_entry_rest_ahead
             CHECK (game_id < '{first}' OR game_id >= '{end}') NOT VALID"
        );
        self.shortly(&fence).await?;
        self.shortly(VALIDATE_FENCE).await?;
        self.shortly(&format!(
            "CREATE TABLE {table} (LIKE book_entry INCLUDING DEFAULTS INCLUDING CONSTRAINTS)
                 WITH (autovacuum_vacuum_insert_scale_factor = 0.02);
             CREATE TRIGGER {table}_is_not_truncated BEFORE TRUNCATE ON {table}
                 FOR EACH STATEMENT EXECUTE FUNCTION plybook_refuse_change();
             ALTER TABLE book_entry ATTACH PARTITION {table} FOR VALUES FROM ('{first}') TO ('{end}')"
        ))
        .await
    }

    async fn is_there(&mut self, table: &str) -> Result<bool, Error> {
        let question = query("SELECT to_regclass($1) IS NOT NULL").bind(table);
        question.fetch_one(&mut self.connection).await.and_then(|row| row.try_get(0)).map_err(classify)
    }

    async fn is_packed(&mut self, month: Month) -> Result<bool, Error> {
        let question = query("SELECT EXISTS (SELECT FROM packed_month WHERE month = $1)").bind(month.first_id());
        question.fetch_one(&mut self.connection).await.and_then(|row| row.try_get(0)).map_err(classify)
    }

    /// Looks into the key, tenant by tenant.
    async fn refuse_if_begun(&mut self, month: Month) -> Result<(), Error> {
        if self.is_packed(month).await? {
            return Err(Error::Config(format!("{month} is packed already")));
        }
        let question = query(
            "SELECT e.game_id FROM tenant t CROSS JOIN LATERAL (
                 SELECT game_id FROM book_entry_rest WHERE tenant_id = t.id AND game_id >= $1 AND game_id < $2 LIMIT 1) AS e LIMIT 1",
        )
        .bind(month.first_id())
        .bind(month.next().first_id());
        match question.fetch_optional(&mut self.connection).await.map_err(classify)? {
            None => Ok(()),
            Some(row) => Err(Error::Config(format!(
                "{month} can have no partition any more: game {} of that month is in the DEFAULT partition, and entries cannot be moved",
                row.uuid("game_id")?
            ))),
        }
    }

    /// Runs statements as one transaction, again and again for a moment each until their locks are to be had.
    async fn shortly(&mut self, sql: &str) -> Result<(), Error> {
        let by = Instant::now() + LOCK_WITHIN;
        loop {
            let mut transaction = self.connection.begin().await.map_err(classify)?;
            let done = match transaction.execute(AssertSqlSafe(sql)).await {
                Ok(_) => transaction.commit().await,
                Err(error) => Err(error),
            };
            match done {
                Err(error) if sqlstate(&error).as_deref() == Some(LOCK_NOT_AVAILABLE) && Instant::now() < by => sleep(PAUSE).await,
                done => return done.map_err(classify),
            }
        }
    }

    async fn now(&mut self) -> Result<Time, Error> {
        let question = query("SELECT (extract(epoch FROM now()) * 1000)::bigint AS now_ms");
        question.fetch_one(&mut self.connection).await.map_err(classify)?.time_ms("now_ms")
    }

    async fn games(&mut self, first: Uuid, end: Uuid) -> Result<(u64, u64), Error> {
        let row = query(GAMES).bind(first).bind(end).fetch_one(&mut self.connection).await.map_err(classify)?;
        Ok((row.wide("games")?.max(0).cast_unsigned(), row.wide("open")?.max(0).cast_unsigned()))
    }

    async fn found(&mut self) -> Result<Vec<Found>, Error> {
        let rows = query(PARTITIONS).fetch_all(&mut self.connection).await.map_err(classify)?;
        rows.iter().map(Found::read).collect()
    }
}

/// A partition as the catalogue has it.
struct Found {
    name: String,
    bytes: u64,
    /// From the first id to the one after the last; nothing for the DEFAULT one.
    range: Option<(Uuid, Uuid)>,
}

impl Found {
    fn is_of(&self, month: Month) -> bool {
        self.range == Some((month.first_id(), month.next().first_id()))
    }

    fn read(row: &PgRow) -> Result<Found, Error> {
        let bound = |column| row.try_get::<Option<Uuid>, _>(column).map_err(classify);
        let range = bound("first_id")?.zip(bound("end_id")?);
        Ok(Found { name: row.text("name")?, bytes: row.wide("bytes")?.max(0).cast_unsigned(), range })
    }
}
