//! Books in one SQLite file: the embedded default, for a single node.
//!
//! | module | the noun |
//! | --- | --- |
//! | `busy` | a file that somebody else holds for a moment |
//! | `connect` | options, the writer, the readers and the schema |
//! | `due` | what has to be done later: claimed, settled, listed |
//! | `feed` | every entry, in the order of commits |
//! | `outage` | beats, and the gaps between them |
//! | `write` | games and entries, each in one transaction |
//! | `import` | a book that was played elsewhere, in one transaction |
//! | `lines` | many lines at once |
//! | `read` | entries, requests, seeds, pages of games |
//! | `refusals` | refused requests, in batches and pages |
//! | `snapshot` | games at some of their entries |
//!
//! Invariant: there is one writer, it holds the file's write lock from its first look to its commit,
//! and it runs in a task of its own, so a caller who leaves never cuts it off halfway.

mod busy;
mod connect;
mod credentials;
mod due;
mod feed;
mod import;
mod lines;
mod outage;
mod read;
mod refusals;
mod snapshot;
mod write;

use std::path::Path;
use std::time::Duration;

use async_trait::async_trait;
use plybook_core::{Seed, Seq, Time, Uuid};
use sqlx::sqlite::SqlitePool;
use tokio_util::task::TaskTracker;
use tracing::Instrument;

pub use self::connect::SqliteOptions;
use crate::counts::Vitals;
use crate::due::{Claimed, DueSoon, StoredDue};
use crate::error::Error;
use crate::fault::classify;
use crate::migrations::applied::Step;
use crate::migrations::{self, applied};
use crate::outage::Outage;
use crate::refused::{Refused, StoredRefusal};
use crate::store::{
    Append, Create, FeedCursor, FeedPage, Filter, Foreign, ForeignBook, GameKey, Heading, Holder, Import, Nearest, NewEntry, NewGame,
    Snapshot, State, Store, StoredEntry, Summary, TenantId,
};

/// Books in one SQLite file.
#[derive(Debug)]
pub struct Sqlite {
    options: SqliteOptions,
    writer: SqlitePool,
    readers: SqlitePool,
    tasks: TaskTracker,
}

impl Sqlite {
    /// Opens the file, creates it where there is none, and brings its schema up to this build's.
    pub async fn open(options: &SqliteOptions) -> Result<Sqlite, Error> {
        let patience = options.patience();
        let writer = connect::writer(options, patience).await?;
        connect::migrate(options, &writer, patience).await?;
        let readers = connect::readers(options, patience).await?;
        Ok(Sqlite { options: options.clone(), writer, readers, tasks: TaskTracker::new() })
    }

    /// Opens a file that is there, as it is: nothing is made, migrated or written, and [`Store::ready`] says
    /// whether this build can read it. Another process may be playing over it.
    pub async fn look(options: &SqliteOptions) -> Result<Sqlite, Error> {
        let readers = connect::readers(options, options.patience()).await?;
        let writer = connect::nobody(options);
        Ok(Sqlite { options: options.clone(), writer, readers, tasks: TaskTracker::new() })
    }

    /// Every migration that this build or the file knows.
    pub async fn steps(&self) -> Result<Vec<Step>, Error> {
        Ok(applied::steps(migrations::SQLITE, &read::schema(&self.readers).await.map_err(classify)?))
    }

    /// Where the books are.
    pub fn path(&self) -> &Path {
        &self.options.path
    }

    /// Runs a write to its end, whether or not the caller waits for it.
    async fn write<T: Send + 'static>(&self, work: impl Future<Output = Result<T, Error>> + Send + 'static) -> Result<T, Error> {
        match self.tasks.spawn(work.in_current_span()).await {
            Ok(result) => result,
            Err(error) if error.is_cancelled() => Err(Error::Unavailable("the process is ending".to_owned())),
            Err(error) => Err(Error::Failed(error.to_string())),
        }
    }
}

#[async_trait]
impl Store for Sqlite {
    async fn create(&self, game: NewGame) -> Result<Create, Error> {
        let writer = self.writer.clone();
        self.write(async move { write::create(&writer, &game).await }).await
    }

    async fn append(&self, entry: NewEntry) -> Result<Append, Error> {
        let writer = self.writer.clone();
        self.write(async move { write::append(&writer, &entry).await }).await
    }

    async fn entries(&self, key: GameKey, after: Seq, limit: u32) -> Result<Vec<StoredEntry>, Error> {
        read::entries(&self.readers, key, after, limit).await
    }

    async fn last(&self, key: GameKey) -> Result<Option<StoredEntry>, Error> {
        read::last(&self.readers, key).await
    }

    async fn find_request(&self, key: GameKey, request_id: Uuid) -> Result<Option<(StoredEntry, [u8; 32])>, Error> {
        read::find_request(&self.readers, key, request_id).await
    }

    async fn find_creation(&self, tenant: TenantId, request_id: Uuid) -> Result<Option<(Uuid, [u8; 32])>, Error> {
        read::find_creation(&self.readers, tenant, request_id).await
    }

    async fn seed(&self, key: GameKey) -> Result<Option<Seed>, Error> {
        read::seed(&self.readers, key).await
    }

    async fn state(&self, key: GameKey) -> Result<Option<State>, Error> {
        read::state(&self.readers, key).await
    }

    async fn list(&self, tenant: TenantId, filter: &Filter, before: Option<Uuid>, limit: u32) -> Result<Vec<Summary>, Error> {
        read::list(&self.readers, tenant, filter, before, limit).await
    }

    async fn remember(&self, refused: &[Refused], keep: u32) -> Result<(), Error> {
        let (writer, refused) = (self.writer.clone(), refused.to_vec());
        self.write(async move { refusals::remember(&writer, &refused, keep).await }).await
    }

    async fn refusals(&self, key: GameKey, before: Option<i64>, limit: u32) -> Result<Vec<StoredRefusal>, Error> {
        refusals::page(&self.readers, key, before, limit).await
    }

    async fn forget_refusals(&self, older_than: Time, limit: u32) -> Result<u64, Error> {
        let writer = self.writer.clone();
        self.write(async move { refusals::forget(&writer, older_than, limit).await }).await
    }

    async fn import(&self, book: ForeignBook) -> Result<Import, Error> {
        let writer = self.writer.clone();
        self.write(async move { import::import(&writer, &book).await }).await
    }

    async fn foreign(&self, key: GameKey) -> Result<Option<Foreign>, Error> {
        import::foreign(&self.readers, key).await
    }

    async fn save_snapshot(&self, key: GameKey, snapshot: Snapshot) -> Result<(), Error> {
        let writer = self.writer.clone();
        self.write(async move { snapshot::save(&writer, key, &snapshot).await }).await
    }

    async fn snapshot(&self, key: GameKey, format: u16, at_most: Seq) -> Result<Nearest, Error> {
        snapshot::nearest(&self.readers, key, format, at_most).await
    }

    async fn claim_due(&self, limit: u32, lease: Duration) -> Result<Vec<Claimed>, Error> {
        // Most looks find nothing, and the writer is the one that moves wait for.
        if !due::is_any(&self.readers).await? {
            return Ok(Vec::new());
        }
        let writer = self.writer.clone();
        self.write(async move { due::claim(&writer, limit, lease).await }).await
    }

    async fn settle_due(&self, claimed: &Claimed, next: Option<Time>) -> Result<bool, Error> {
        let (writer, claimed) = (self.writer.clone(), *claimed);
        self.write(async move { due::settle(&writer, &claimed, next).await }).await
    }

    async fn hold_due(&self, claimed: &Claimed, lease: Duration) -> Result<bool, Error> {
        let (writer, claimed) = (self.writer.clone(), *claimed);
        self.write(async move { due::hold(&writer, &claimed, lease).await }).await
    }

    async fn next_due(&self) -> Result<Option<Time>, Error> {
        due::next(&self.readers).await
    }

    async fn due_of(&self, key: GameKey) -> Result<Vec<StoredDue>, Error> {
        due::of(&self.readers, key).await
    }

    async fn list_due(&self, tenant: TenantId, before: Time, after: Option<DueSoon>, limit: u32) -> Result<Vec<DueSoon>, Error> {
        due::list(&self.readers, tenant, before, after, limit).await
    }

    async fn beat(&self, node: Uuid, silence: Duration) -> Result<Option<Outage>, Error> {
        let writer = self.writer.clone();
        self.write(async move { outage::beat(&writer, node, silence).await }).await
    }

    async fn outages(&self, from: Time, to: Time, limit: u32) -> Result<Vec<Outage>, Error> {
        outage::between(&self.readers, from, to, limit).await
    }

    async fn feed(&self, tenant: TenantId, after: Option<&FeedCursor>, limit: u32) -> Result<FeedPage, Error> {
        feed::page(&self.readers, tenant, after, limit).await
    }

    async fn feed_end(&self, tenant: TenantId) -> Result<Option<FeedCursor>, Error> {
        feed::end(&self.readers, tenant).await
    }

    async fn headings(&self, tenant: TenantId, games: &[Uuid]) -> Result<Vec<Heading>, Error> {
        feed::headings(&self.readers, tenant, games).await
    }

    async fn feed_holder(&self) -> Result<Option<Holder>, Error> {
        // Nothing is hidden, so nobody hides it.
        Ok(None)
    }

    async fn clock_unix_ms(&self) -> Result<u64, Error> {
        read::clock_unix_ms(&self.readers).await
    }

    async fn ready(&self) -> Result<(), Error> {
        applied::check(migrations::SQLITE, &read::schema(&self.readers).await.map_err(classify)?)
    }

    async fn readable(&self) -> Result<(), Error> {
        applied::check_read(migrations::SQLITE, &read::schema(&self.readers).await.map_err(classify)?)
    }

    fn vitals(&self) -> Vitals {
        let pools = [&self.writer, &self.readers];
        let (size, idle) = (pools.iter().map(|pool| u64::from(pool.size())).sum(), pools.iter().map(|pool| pool.num_idle() as u64).sum());
        Vitals {
            system: "sqlite",
            connections_used: u64::saturating_sub(size, idle),
            connections_idle: idle,
            connections_max: pools.iter().map(|pool| u64::from(pool.options().get_max_connections())).sum(),
            ..Vitals::default()
        }
    }

    async fn close(&self) {
        self.tasks.close();
        self.tasks.wait().await;
        self.readers.close().await;
        // Last, so that the write-ahead log is folded into the file.
        self.writer.close().await;
    }
}
