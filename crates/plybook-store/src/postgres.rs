//! Books in Postgres, shared by any number of nodes.
//!
//! | module | the noun |
//! | --- | --- |
//! | `connect` | options, the pool and its sessions |
//! | `create` | a game in one statement; with the lines given to it, in one transaction |
//! | `append` | an entry alone, in one statement |
//! | `batch` | entries of many games in one statement, and what else may have come of each |
//! | `care` | whether a key of an entry is expected to be taken |
//! | `due` | what has to be done later: claimed, settled, listed |
//! | `feed` | every entry, in the order of transaction ids |
//! | `import` | a book that was played elsewhere, in one transaction |
//! | `lines` | many lines at once |
//! | `read` | entries, requests, seeds |
//! | `list` | pages of games |
//! | `manner` | how a statement travels: over sessions of one's own, or over a pooler's |
//! | `outage` | beats, and the gaps between them |
//! | `packed` | months that were packed, read where the live tables have nothing |
//! | [`Partitions`] | months of books: listed, given a partition before they begin, and packed once they are over |
//! | `refusals` | refused requests, in batches and pages |
//! | `replica` | a standby that serves history |
//! | `snapshot` | games at some of their entries |
//! | [`PostgresWakes`] | hints between nodes |
//! | [`floor`] | the database without Plybook, for benchmarks |
//!
//! Invariant: a write is one statement (an import and a fork are one transaction), so the database alone decides between racing nodes, and it
//! runs in a task of its own, so a caller who leaves never cuts it off halfway.

mod append;
mod batch;
mod care;
mod connect;
mod create;
mod credentials;
mod due;
mod feed;
pub mod floor;
mod import;
mod lines;
mod list;
mod manner;
mod outage;
mod packed;
mod partitions;
mod read;
mod refusals;
mod replica;
mod snapshot;
mod wake;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use plybook_core::{Seed, Seq, Time, Uuid};
use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgArguments, PgPool, PgRow};
use sqlx::query::Query;
use tokio::sync::OnceCell;
use tokio::time::timeout;
use tokio_util::task::TaskTracker;
use tracing::Instrument;

use self::batch::Batches;
use self::care::Care;
pub use self::connect::PostgresOptions;
use self::manner::{Manner, is_late};
pub use self::partitions::{Form, PackedMonth, Partition, Partitions};
use self::replica::Replica;
pub use self::wake::PostgresWakes;
use crate::counts::{AppendCounts, ReplicaCounts, Vitals};
use crate::due::{Claimed, DueSoon, StoredDue};
use crate::error::Error;
use crate::fault::{UNDEFINED_TABLE, classify, sqlstate};
use crate::gather::{Bounds, Gather};
use crate::migrations::applied::{Applied, Step};
use crate::migrations::{self, applied};
use crate::outage::Outage;
use crate::refused::{Refused, StoredRefusal};
use crate::store::{
    Append, Create, FeedCursor, FeedPage, Filter, Foreign, ForeignBook, GameKey, Heading, Holder, Import, Nearest, NewEntry, NewGame,
    Snapshot, State, Store, StoredEntry, Summary, TenantId,
};

/// How long [`Store::close`] waits for connections that are still in use.
const CLOSE_WITHIN: Duration = Duration::from_secs(5);

/// Batches of appends under way at once.
const WRITERS: usize = 2;
/// Appends that wait when the second writer begins.
const CROWD: usize = 64;

/// Books in Postgres.
#[derive(Debug)]
pub struct Postgres {
    options: PostgresOptions,
    link: Link,
    writes: TaskTracker,
    appends: Arc<Gather<Batches>>,
    replica: Replica,
    /// Once what is appended was seen to go on with the feed.
    goes_on: OnceCell<()>,
}

impl Postgres {
    /// Connects and checks that the database answers; says nothing of its schema.
    pub async fn connect(options: &PostgresOptions) -> Result<Postgres, Error> {
        let session = options.session()?;
        let pool = connect::pool(options, session).await?;
        let link = Link { pool, manner: Manner::of(options) };
        let replica = Replica::of(options, &link)?;
        let (writes, counts) = (TaskTracker::new(), Arc::default());
        let bounds = Bounds { queue: options.appends_queue, writers: WRITERS, crowd: CROWD, patience: options.acquire_timeout };
        let batches = Batches { link: link.clone(), counts: Arc::clone(&counts), care: Care::none() };
        let appends = Gather::new(batches, bounds, counts, writes.clone());
        Ok(Postgres { options: options.clone(), link, writes, appends, replica, goes_on: OnceCell::new() })
    }

    /// How appends travelled so far.
    pub fn appends(&self) -> AppendCounts {
        self.appends.counts()
    }

    /// What a read replica answered so far.
    pub fn replica(&self) -> ReplicaCounts {
        self.replica.counts()
    }

    /// Brings the schema up to this build's; several nodes may do so at once.
    pub async fn migrate(&self) -> Result<(), Error> {
        let mut connection = connect::unlimited(self.options.direct_session()?).await?;
        applied::check_migrate(migrations::POSTGRES, &read::applied_to(&mut connection).await?)?;
        migrations::migrator(migrations::POSTGRES).run(&mut connection).await.map_err(migrations::refused)?;
        feed::begin_epoch_if_restored(&mut connection).await.map_err(classify)
    }

    /// Every migration that this build or the database knows.
    pub async fn steps(&self) -> Result<Vec<Step>, Error> {
        Ok(applied::steps(migrations::POSTGRES, &self.schema().await?.0))
    }

    /// What was done to the database's schema, and whether it only reads.
    async fn schema(&self) -> Result<(Vec<Applied>, bool), Error> {
        match read::schema(&self.link).await {
            Err(error) if sqlstate(&error).as_deref() == Some(UNDEFINED_TABLE) => Ok((Vec::new(), false)),
            found => found.map_err(classify),
        }
    }

    /// Runs a write to its end, whether or not the caller waits for it.
    async fn write<T: Send + 'static>(&self, work: impl Future<Output = Result<T, Error>> + Send + 'static) -> Result<T, Error> {
        match self.writes.spawn(work.in_current_span()).await {
            Ok(result) => result,
            Err(error) if error.is_cancelled() => Err(Error::Unavailable("the process is ending".to_owned())),
            Err(error) => Err(Error::Failed(error.to_string())),
        }
    }
}

/// A statement with its values.
type Question<'q> = Query<'q, sqlx::Postgres, PgArguments>;

/// The pool, lent one connection at a time and never for longer than an answer may take.
#[derive(Clone, Debug)]
struct Link {
    pool: PgPool,
    manner: Manner,
}

impl Link {
    async fn row(&self, question: Question<'_>) -> Result<Option<PgRow>, sqlx::Error> {
        let mut connection = self.pool.acquire().await?;
        let answer = self.manner.row(&mut connection, question).await;
        give_up_if_late(connection, answer)
    }

    async fn rows(&self, question: Question<'_>) -> Result<Vec<PgRow>, sqlx::Error> {
        let mut connection = self.pool.acquire().await?;
        let answer = self.manner.rows(&mut connection, question).await;
        give_up_if_late(connection, answer)
    }
}

/// The database ended a late statement long ago: nobody is at the other end of this line.
fn give_up_if_late<T>(mut connection: PoolConnection<sqlx::Postgres>, answer: Result<T, sqlx::Error>) -> Result<T, sqlx::Error> {
    if answer.as_ref().is_err_and(is_late) {
        connection.close_on_drop();
    }
    answer
}

#[async_trait]
impl Store for Postgres {
    async fn create(&self, game: NewGame) -> Result<Create, Error> {
        let link = self.link.clone();
        self.write(async move { create::create(&link, &game).await }).await
    }

    async fn append(&self, entry: NewEntry) -> Result<Append, Error> {
        if batch::fits(&entry) {
            return self.appends.append(entry).await;
        }
        // The database refuses it, unless it is answered for another reason; either way alone.
        let appends = Arc::clone(&self.appends);
        // Boxed, or every append would carry the statement of this one about.
        Box::pin(self.write(async move { appends.alone(entry).await })).await
    }

    async fn entries(&self, key: GameKey, after: Seq, limit: u32) -> Result<Vec<StoredEntry>, Error> {
        read::entries(&self.link, key, after, limit).await
    }

    async fn history(&self, key: GameKey, after: Seq, limit: u32) -> Result<Vec<StoredEntry>, Error> {
        let question = |link: Link| async move { read::entries(&link, key, after, limit).await };
        match self.replica.ask(question, |found| found.len() == limit as usize).await {
            Some(found) => Ok(found),
            None => read::entries(&self.link, key, after, limit).await,
        }
    }

    async fn last(&self, key: GameKey) -> Result<Option<StoredEntry>, Error> {
        read::last(&self.link, key).await
    }

    async fn find_request(&self, key: GameKey, request_id: Uuid) -> Result<Option<(StoredEntry, [u8; 32])>, Error> {
        read::find_request(&self.link, key, request_id).await
    }

    async fn find_creation(&self, tenant: TenantId, request_id: Uuid) -> Result<Option<(Uuid, [u8; 32])>, Error> {
        read::find_creation(&self.link, tenant, request_id).await
    }

    async fn seed(&self, key: GameKey) -> Result<Option<Seed>, Error> {
        read::seed(&self.link, key).await
    }

    async fn state(&self, key: GameKey) -> Result<Option<State>, Error> {
        read::state(&self.link, key).await
    }

    async fn list(&self, tenant: TenantId, filter: &Filter, before: Option<Uuid>, limit: u32) -> Result<Vec<Summary>, Error> {
        list::list(&self.link, tenant, filter, before, limit).await
    }

    async fn remember(&self, refused: &[Refused], keep: u32) -> Result<(), Error> {
        let (link, refused) = (self.link.clone(), refused.to_vec());
        self.write(async move { refusals::remember(&link, &refused, keep).await }).await
    }

    async fn refusals(&self, key: GameKey, before: Option<i64>, limit: u32) -> Result<Vec<StoredRefusal>, Error> {
        refusals::page(&self.link, key, before, limit).await
    }

    async fn forget_refusals(&self, older_than: Time, limit: u32) -> Result<u64, Error> {
        let link = self.link.clone();
        self.write(async move { refusals::forget(&link, older_than, limit).await }).await
    }

    async fn import(&self, book: ForeignBook) -> Result<Import, Error> {
        let link = self.link.clone();
        self.write(async move { import::import(&link, &book).await }).await
    }

    async fn foreign(&self, key: GameKey) -> Result<Option<Foreign>, Error> {
        import::foreign(&self.link, key).await
    }

    async fn save_snapshot(&self, key: GameKey, snapshot: Snapshot) -> Result<(), Error> {
        let link = self.link.clone();
        self.write(async move { snapshot::save(&link, key, &snapshot).await }).await
    }

    async fn snapshot(&self, key: GameKey, format: u16, at_most: Seq) -> Result<Nearest, Error> {
        snapshot::nearest(&self.link, key, format, at_most).await
    }

    async fn claim_due(&self, limit: u32, lease: Duration) -> Result<Vec<Claimed>, Error> {
        let link = self.link.clone();
        self.write(async move { due::claim(&link, limit, lease).await }).await
    }

    async fn settle_due(&self, claimed: &Claimed, next: Option<Time>) -> Result<bool, Error> {
        let (link, claimed) = (self.link.clone(), *claimed);
        self.write(async move { due::settle(&link, &claimed, next).await }).await
    }

    async fn hold_due(&self, claimed: &Claimed, lease: Duration) -> Result<bool, Error> {
        let (link, claimed) = (self.link.clone(), *claimed);
        self.write(async move { due::hold(&link, &claimed, lease).await }).await
    }

    async fn next_due(&self) -> Result<Option<Time>, Error> {
        due::next(&self.link).await
    }

    async fn due_of(&self, key: GameKey) -> Result<Vec<StoredDue>, Error> {
        due::of(&self.link, key).await
    }

    async fn list_due(&self, tenant: TenantId, before: Time, after: Option<DueSoon>, limit: u32) -> Result<Vec<DueSoon>, Error> {
        due::list(&self.link, tenant, before, after, limit).await
    }

    async fn beat(&self, node: Uuid, silence: Duration) -> Result<Option<Outage>, Error> {
        let link = self.link.clone();
        self.write(async move { outage::beat(&link, node, silence).await }).await
    }

    async fn outages(&self, from: Time, to: Time, limit: u32) -> Result<Vec<Outage>, Error> {
        outage::between(&self.link, from, to, limit).await
    }

    async fn feed(&self, tenant: TenantId, after: Option<&FeedCursor>, limit: u32) -> Result<FeedPage, Error> {
        feed::page(&self.link, tenant, after, limit).await
    }

    async fn feed_history(&self, tenant: TenantId, after: Option<&FeedCursor>, limit: u32) -> Result<FeedPage, Error> {
        match self.replica.feed(tenant, after, limit).await {
            Some(page) => Ok(page),
            None => feed::page(&self.link, tenant, after, limit).await,
        }
    }

    async fn feed_end(&self, tenant: TenantId) -> Result<Option<FeedCursor>, Error> {
        feed::end(&self.link, tenant).await
    }

    async fn headings(&self, tenant: TenantId, games: &[Uuid]) -> Result<Vec<Heading>, Error> {
        feed::headings(&self.link, tenant, games).await
    }

    async fn feed_holder(&self) -> Result<Option<Holder>, Error> {
        feed::holder(&self.link).await
    }

    async fn clock_unix_ms(&self) -> Result<u64, Error> {
        read::clock_unix_ms(&self.link).await
    }

    async fn ready(&self) -> Result<(), Error> {
        match self.schema().await? {
            (_, true) => return Err(Error::Unavailable("the database is a read-only standby".to_owned())),
            (found, false) => applied::check(migrations::POSTGRES, &found)?,
        }
        self.goes_on.get_or_try_init(|| feed::goes_on(&self.link)).await.copied()
    }

    async fn readable(&self) -> Result<(), Error> {
        applied::check_read(migrations::POSTGRES, &self.schema().await?.0)
    }

    fn vitals(&self) -> Vitals {
        let (size, idle) = (u64::from(self.link.pool.size()), self.link.pool.num_idle() as u64);
        Vitals {
            system: "postgresql",
            appends: self.appends(),
            appends_waiting: self.appends.waiting(),
            connections_used: size.saturating_sub(idle),
            connections_idle: idle,
            connections_max: u64::from(self.options.max_connections),
            replica: self.replica(),
        }
    }

    async fn close(&self) {
        self.writes.close();
        let quiet = async {
            self.writes.wait().await;
            self.replica.close().await;
            self.link.pool.close().await;
        };
        if timeout(CLOSE_WITHIN, quiet).await.is_err() {
            tracing::warn!("connections to the database are still in use after {CLOSE_WITHIN:?}");
        }
    }
}
