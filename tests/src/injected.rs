//! Servers in this process, with time, ids, seeds and faults as a test wants them.
//!
//! Invariant: such a server is the real one, over a real store; only what it takes as an argument is
//! another.

use std::collections::{HashMap, VecDeque};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use plybook_bots::Bots;
use plybook_core::{Seed, Seq, Time, Uuid};
use plybook_rulesets::Registry;
use plybook_server::auth::AuthConfig;
use plybook_server::clock::Clock;
use plybook_server::edge::Connections;
use plybook_server::games::snapshots::Fate;
use plybook_server::ids::{Ids, SystemIds};
use plybook_server::limits::Limits;
use plybook_server::refusal::Refusal;
use plybook_server::signing::Keys;
use plybook_server::thinking::Thinking;
use plybook_server::upkeep::Chore;
use plybook_server::{Config, Parts, Server};
use plybook_store::due::Arms;
use plybook_store::{
    Append, Claimed, Create, DueSoon, Error, FeedCursor, FeedPage, Filter, Foreign, ForeignBook, GameKey, Heading, Holder, Import, Nearest,
    NewEntry, NewGame, Outage, Refused, Snapshot, Sqlite, SqliteOptions, State, Store, StoredDue, StoredEntry, StoredRefusal, Summary,
    TenantId, Wakes,
};
use sqlx::{AssertSqlSafe, Connection as _, SqliteConnection};
use tempfile::TempDir;
use tokio::sync::{Semaphore, watch};

use crate::bus::{self, Bus};
use crate::patience::PATIENCE;
use crate::postgres::TestDatabase;
use crate::wire::{Wire, connect};

mod credentials;

/// A server in this process.
pub struct Local {
    server: Option<Server>,
    address: String,
    /// The store, to look behind the server's back or to give it faults.
    pub store: Arc<Handled>,
    /// What carries its hints to other nodes, to lose them.
    pub bus: Arc<Bus>,
    /// The time.
    pub clock: Arc<SetClock>,
    /// The next ids and seeds.
    pub ids: Arc<SetIds>,
    folder: Option<TempDir>,
}

/// A server to be started.
pub struct Setup {
    others: Config,
    limits: Limits,
    keys: Keys,
    registry: Registry,
    bots: Bots,
    folder: Option<TempDir>,
    store: Arc<dyn Store>,
    wakes: Arc<dyn Wakes>,
}

/// Over a new SQLite file.
pub async fn over_sqlite() -> Setup {
    let folder = tempfile::tempdir().unwrap();
    let store = sqlite(folder.path()).await;
    Setup { folder: Some(folder), ..over(store) }
}

/// The SQLite file `books.db` of a folder.
pub async fn sqlite(folder: &Path) -> Arc<dyn Store> {
    let options = SqliteOptions { busy_timeout: PATIENCE, ..SqliteOptions::new(folder.join("books.db")) };
    Arc::new(Sqlite::open(&options).await.unwrap())
}

/// One of the nodes over a Postgres database, woken by it.
pub async fn over_postgres(database: &TestDatabase) -> Setup {
    over(Arc::new(database.store().await)).woken_by(Arc::new(database.wakes()))
}

/// Over a store that is there already.
pub fn over(store: Arc<dyn Store>) -> Setup {
    // Time is the test's, and so is what happens by it.
    let limits = Limits { drain_timeout: PATIENCE, sweepers: 0, ..Limits::default() };
    Setup {
        others: Config::default(),
        limits,
        keys: Keys::default(),
        registry: Registry::standard(),
        bots: Bots::standard(),
        folder: None,
        store,
        wakes: bus::none(),
    }
}

impl Setup {
    /// With these limits changed.
    #[must_use]
    pub fn limits(mut self, change: impl FnOnce(&mut Limits)) -> Setup {
        change(&mut self.limits);
        self
    }

    /// With what else an operator sets, apart from limits and keys.
    #[must_use]
    pub fn config(mut self, change: impl FnOnce(&mut Config)) -> Setup {
        change(&mut self.others);
        self
    }

    /// Looking after the queue of due games, often.
    #[must_use]
    pub fn sweeping(self) -> Setup {
        self.limits(|limits| (limits.sweepers, limits.due_poll) = (4, Duration::from_millis(20)))
    }

    /// With this to carry hints.
    #[must_use]
    pub fn woken_by(mut self, wakes: Arc<dyn Wakes>) -> Setup {
        self.wakes = wakes;
        self
    }

    /// With these keys.
    #[must_use]
    pub fn keys(mut self, keys: Keys) -> Setup {
        self.keys = keys;
        self
    }

    /// Taking these credentials, and no call without.
    #[must_use]
    pub fn auth(mut self, auth: AuthConfig) -> Setup {
        self.others.auth = AuthConfig { required: true, ..auth };
        self
    }

    /// With these rulesets.
    #[must_use]
    pub fn registry(mut self, registry: Registry) -> Setup {
        self.registry = registry;
        self
    }

    /// With these strategies.
    #[must_use]
    pub fn bots(mut self, bots: Bots) -> Setup {
        self.bots = bots;
        self
    }

    /// Starts it.
    pub async fn start(self) -> Local {
        let (store, bus) = (Arc::new(Handled::new(self.store)), Arc::new(Bus::new(self.wakes)));
        let (clock, ids) = (Arc::new(SetClock::default()), Arc::new(SetIds::default()));
        let config = Config { listen: ([127, 0, 0, 1], 0).into(), limits: self.limits, keys: self.keys, ..self.others };
        let parts = Parts {
            store: Arc::clone(&store) as Arc<dyn Store>,
            wakes: Arc::clone(&bus) as Arc<dyn Wakes>,
            registry: self.registry,
            bots: self.bots,
            clock: Arc::clone(&clock) as Arc<dyn Clock>,
            ids: Arc::clone(&ids) as Arc<dyn Ids>,
            steered: None,
        };
        let server = Server::start(config, parts).await.unwrap();
        let address = server.address().to_string();
        Local { server: Some(server), address, store, bus, clock, ids, folder: self.folder }
    }
}

impl Local {
    /// `127.0.0.1:port`.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// How many snapshots came to this.
    pub fn snapshots(&self, fate: Fate) -> u64 {
        self.server.as_ref().unwrap().snapshots().count(fate)
    }

    /// What its bots thought about.
    pub fn thinking(&self) -> &Thinking {
        self.server.as_ref().unwrap().thinking()
    }

    /// How often it has done this by itself.
    pub fn chores(&self, chore: Chore) -> u64 {
        self.server.as_ref().unwrap().upkeep().count(chore)
    }

    /// The feeds that are followed on it.
    pub fn feeds(&self) -> &plybook_server::feed::Feeds {
        self.server.as_ref().unwrap().feeds()
    }

    /// In how many games bots are at work on it.
    pub fn bot_jobs(&self) -> usize {
        self.server.as_ref().unwrap().bot_jobs()
    }

    /// A connection of one's own.
    pub async fn wire(&self) -> Wire {
        connect(&self.address).await
    }

    /// Its SQLite file as it is now, copied and opened.
    pub async fn backup(&self) -> Arc<dyn Store> {
        let copy = tempfile::tempdir_in(self.folder.as_ref().unwrap()).unwrap().keep();
        let mut connection = SqliteConnection::connect(&format!("sqlite://{}", self.file().display())).await.unwrap();
        let into = format!("VACUUM INTO '{}'", copy.join("books.db").display());
        sqlx::query(AssertSqlSafe(into)).execute(&mut connection).await.unwrap();
        connection.close().await.unwrap();
        sqlite(&copy).await
    }

    /// Where its SQLite file lies.
    pub fn file(&self) -> std::path::PathBuf {
        self.folder.as_ref().unwrap().path().join("books.db")
    }

    /// The connections of its callers.
    pub fn connections(&self) -> &Connections {
        self.server.as_ref().unwrap().connections()
    }

    /// How many refused requests it could not remember.
    pub fn refusals_lost(&self) -> u64 {
        self.server.as_ref().map_or(0, Server::refusals_lost)
    }

    /// Lets it go.
    pub async fn drain(&mut self) {
        self.server.take().unwrap().drain().await;
    }

    /// Lets it go and starts another one, cold, over the same file.
    pub async fn restarted(mut self) -> Local {
        self.drain().await;
        self.restarted_after_drain().await
    }

    /// The same with these rulesets.
    pub async fn restarted_with(mut self, registry: Registry) -> Local {
        self.drain().await;
        let folder = self.folder.take().unwrap();
        let store = sqlite(folder.path()).await;
        Setup { folder: Some(folder), ..over(store) }.registry(registry).start().await
    }

    /// Starts another one, cold, over the file of one that was let go.
    pub async fn restarted_after_drain(mut self) -> Local {
        let folder = self.folder.take().unwrap();
        let store = sqlite(folder.path()).await;
        Setup { folder: Some(folder), ..over(store) }.start().await
    }
}

/// A clock that shows what it is set to; the system's time until then.
#[derive(Debug, Default)]
pub struct SetClock(AtomicU64);

impl SetClock {
    /// From now on it is this time.
    pub fn set(&self, time: Time) {
        self.0.store(time.unix_ms(), Ordering::SeqCst);
    }
}

impl Clock for SetClock {
    fn now(&self) -> Time {
        match self.0.load(Ordering::SeqCst) {
            0 => {
                let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
                Time::from_unix_ms(since.as_millis() as u64)
            }
            set => Time::from_unix_ms(set),
        }
    }
}

/// Ids and seeds in the order in which they were put in; the system's where there are none.
#[derive(Debug, Default)]
pub struct SetIds {
    games: Mutex<VecDeque<Uuid>>,
    seeds: Mutex<VecDeque<Seed>>,
}

impl SetIds {
    /// The next game has this id.
    pub fn next_game(&self, id: Uuid) {
        self.games.lock().unwrap().push_back(id);
    }

    /// The next seed that the service draws is this one.
    pub fn next_seed(&self, seed: Seed) {
        self.seeds.lock().unwrap().push_back(seed);
    }
}

impl Ids for SetIds {
    fn game(&self, now: Time) -> Result<Uuid, Refusal> {
        let set = self.games.lock().unwrap().pop_front();
        set.map_or_else(|| SystemIds.game(now), Ok)
    }

    fn seed(&self) -> Result<Seed, Refusal> {
        let set = self.seeds.lock().unwrap().pop_front();
        set.map_or_else(|| SystemIds.seed(), Ok)
    }
}

/// What a store is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Call {
    /// `create`.
    Create,
    /// `append`.
    Append,
    /// `entries`.
    Entries,
    /// `last`.
    Last,
    /// `find_request` and `find_creation`.
    Find,
    /// `seed`.
    Seed,
    /// `list`.
    List,
    /// `import`.
    Import,
    /// `foreign`.
    Foreign,
    /// `ready` and `clock_unix_ms`.
    Ready,
    /// `remember`.
    Remember,
    /// `refusals`.
    Refusals,
    /// `forget_refusals`.
    Forget,
    /// `save_snapshot`.
    SaveSnapshot,
    /// `snapshot`.
    Snapshot,
    /// `claim_due`.
    Claim,
    /// `settle_due` and `hold_due`.
    Settle,
    /// `next_due`, `due_of` and `list_due`.
    Due,
    /// `beat`.
    Beat,
    /// `outages`.
    Outages,
    /// `feed` and `feed_end`.
    Feed,
    /// `headings`.
    Headings,
    /// Tenants and API keys.
    Credentials,
}

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The database is away.
    Away,
    /// The database refuses the statement.
    Failed,
    /// What is stored is nonsense.
    Corrupt,
    /// The store panics.
    Panic,
    /// It does not begin until all is mended.
    Held,
    /// It is done at once, but its answer takes so long, with a connection held.
    SlowAfter(Duration),
    /// It is done, and then the connection breaks.
    LosesReply,
}

/// A store whose calls are counted, and go wrong on demand.
pub struct Handled {
    inner: Mutex<Arc<dyn Store>>,
    faults: watch::Sender<HashMap<Call, Fault>>,
    counts: Mutex<HashMap<Call, u64>>,
    entries_read: AtomicU64,
    feed_read: AtomicU64,
    arms: Mutex<Option<Arms>>,
    told: Mutex<Option<Vec<Outage>>>,
    /// As many as the pool of a small node.
    connections: Semaphore,
}

/// What a database might say, that no caller may ever read.
pub const DATABASE_SECRET: &str = "relation book_entry at 10.0.0.7 has a secret";

impl Handled {
    /// A store in whose way nothing stands yet.
    pub fn new(inner: Arc<dyn Store>) -> Handled {
        Handled {
            inner: Mutex::new(inner),
            faults: watch::Sender::default(),
            counts: Mutex::default(),
            entries_read: AtomicU64::new(0),
            feed_read: AtomicU64::new(0),
            arms: Mutex::default(),
            told: Mutex::default(),
            connections: Semaphore::new(4),
        }
    }

    /// The next game that is created is due then.
    pub fn arms_next(&self, arms: Arms) {
        *self.arms.lock().unwrap() = Some(arms);
    }

    /// From now on these are the times when no node was there, whatever the database remembers.
    pub fn tells_outages(&self, outages: Vec<Outage>) {
        *self.told.lock().unwrap() = Some(outages);
    }

    /// From now on this call goes wrong like this.
    pub fn breaks(&self, call: Call, fault: Fault) {
        self.faults.send_modify(|faults| {
            faults.insert(call, fault);
        });
    }

    /// Everything goes well again.
    pub fn mends(&self) {
        self.faults.send_modify(HashMap::clear);
    }

    /// How often a call was made.
    pub fn count(&self, call: Call) -> u64 {
        self.counts.lock().unwrap().get(&call).copied().unwrap_or(0)
    }

    /// How many entries `entries` has answered.
    pub fn entries_read(&self) -> u64 {
        self.entries_read.load(Ordering::SeqCst)
    }

    /// How many entries `feed` has answered.
    pub fn feed_read(&self) -> u64 {
        self.feed_read.load(Ordering::SeqCst)
    }

    /// The store behind.
    pub fn inner(&self) -> Arc<dyn Store> {
        Arc::clone(&self.inner.lock().unwrap())
    }

    /// From now on this is the store behind: another database took over, or a backup was restored.
    pub fn becomes(&self, other: Arc<dyn Store>) {
        *self.inner.lock().unwrap() = other;
    }

    async fn through<T>(&self, call: Call, work: impl Future<Output = Result<T, Error>> + Send) -> Result<T, Error> {
        *self.counts.lock().unwrap().entry(call).or_default() += 1;
        let fault = self.faults.borrow().get(&call).copied();
        match fault {
            None => work.await,
            Some(Fault::Away) => Err(Error::Unavailable(DATABASE_SECRET.to_owned())),
            Some(Fault::Failed) => Err(Error::Failed(DATABASE_SECRET.to_owned())),
            Some(Fault::Corrupt) => Err(Error::Corrupt(DATABASE_SECRET.to_owned())),
            Some(Fault::Panic) => panic!("{DATABASE_SECRET}"),
            Some(Fault::Held) => {
                let mended = |faults: &HashMap<Call, Fault>| faults.get(&call) != Some(&Fault::Held);
                self.faults.subscribe().wait_for(mended).await.unwrap();
                work.await
            }
            Some(Fault::SlowAfter(time)) => {
                let _held = self.connections.acquire().await.unwrap();
                let done = work.await;
                tokio::time::sleep(time).await;
                done
            }
            Some(Fault::LosesReply) => {
                work.await?;
                Err(Error::Unavailable(DATABASE_SECRET.to_owned()))
            }
        }
    }
}

#[async_trait]
impl Store for Handled {
    async fn create(&self, mut game: NewGame) -> Result<Create, Error> {
        if let Some(arms) = self.arms.lock().unwrap().take() {
            game.arms = arms;
        }
        self.through(Call::Create, self.inner().create(game)).await
    }

    async fn append(&self, entry: NewEntry) -> Result<Append, Error> {
        self.through(Call::Append, self.inner().append(entry)).await
    }

    async fn entries(&self, key: GameKey, after: Seq, limit: u32) -> Result<Vec<StoredEntry>, Error> {
        let entries = self.through(Call::Entries, self.inner().entries(key, after, limit)).await?;
        self.entries_read.fetch_add(entries.len() as u64, Ordering::SeqCst);
        Ok(entries)
    }

    async fn last(&self, key: GameKey) -> Result<Option<StoredEntry>, Error> {
        self.through(Call::Last, self.inner().last(key)).await
    }

    async fn find_request(&self, key: GameKey, request_id: Uuid) -> Result<Option<(StoredEntry, [u8; 32])>, Error> {
        self.through(Call::Find, self.inner().find_request(key, request_id)).await
    }

    async fn find_creation(&self, tenant: TenantId, request_id: Uuid) -> Result<Option<(Uuid, [u8; 32])>, Error> {
        self.through(Call::Find, self.inner().find_creation(tenant, request_id)).await
    }

    async fn seed(&self, key: GameKey) -> Result<Option<Seed>, Error> {
        self.through(Call::Seed, self.inner().seed(key)).await
    }

    async fn state(&self, key: GameKey) -> Result<Option<State>, Error> {
        self.inner().state(key).await
    }

    async fn list(&self, tenant: TenantId, filter: &Filter, before: Option<Uuid>, limit: u32) -> Result<Vec<Summary>, Error> {
        self.through(Call::List, self.inner().list(tenant, filter, before, limit)).await
    }

    async fn remember(&self, refused: &[Refused], keep: u32) -> Result<(), Error> {
        let inner = self.inner();
        self.through(Call::Remember, inner.remember(refused, keep)).await
    }

    async fn refusals(&self, key: GameKey, before: Option<i64>, limit: u32) -> Result<Vec<StoredRefusal>, Error> {
        self.through(Call::Refusals, self.inner().refusals(key, before, limit)).await
    }

    async fn forget_refusals(&self, older_than: Time, limit: u32) -> Result<u64, Error> {
        self.through(Call::Forget, self.inner().forget_refusals(older_than, limit)).await
    }

    async fn import(&self, book: ForeignBook) -> Result<Import, Error> {
        self.through(Call::Import, self.inner().import(book)).await
    }

    async fn foreign(&self, key: GameKey) -> Result<Option<Foreign>, Error> {
        self.through(Call::Foreign, self.inner().foreign(key)).await
    }

    async fn save_snapshot(&self, key: GameKey, snapshot: Snapshot) -> Result<(), Error> {
        self.through(Call::SaveSnapshot, self.inner().save_snapshot(key, snapshot)).await
    }

    async fn snapshot(&self, key: GameKey, format: u16, at_most: Seq) -> Result<Nearest, Error> {
        self.through(Call::Snapshot, self.inner().snapshot(key, format, at_most)).await
    }

    async fn claim_due(&self, limit: u32, lease: Duration) -> Result<Vec<Claimed>, Error> {
        self.through(Call::Claim, self.inner().claim_due(limit, lease)).await
    }

    async fn settle_due(&self, claimed: &Claimed, next: Option<Time>) -> Result<bool, Error> {
        self.through(Call::Settle, self.inner().settle_due(claimed, next)).await
    }

    async fn hold_due(&self, claimed: &Claimed, lease: Duration) -> Result<bool, Error> {
        self.through(Call::Settle, self.inner().hold_due(claimed, lease)).await
    }

    async fn next_due(&self) -> Result<Option<Time>, Error> {
        self.through(Call::Due, self.inner().next_due()).await
    }

    async fn due_of(&self, key: GameKey) -> Result<Vec<StoredDue>, Error> {
        self.through(Call::Due, self.inner().due_of(key)).await
    }

    async fn list_due(&self, tenant: TenantId, before: Time, after: Option<DueSoon>, limit: u32) -> Result<Vec<DueSoon>, Error> {
        self.through(Call::Due, self.inner().list_due(tenant, before, after, limit)).await
    }

    async fn beat(&self, node: Uuid, silence: Duration) -> Result<Option<Outage>, Error> {
        self.through(Call::Beat, self.inner().beat(node, silence)).await
    }

    async fn outages(&self, from: Time, to: Time, limit: u32) -> Result<Vec<Outage>, Error> {
        let told = self.told.lock().unwrap().clone();
        match told {
            Some(told) => Ok(told),
            None => self.through(Call::Outages, self.inner().outages(from, to, limit)).await,
        }
    }

    async fn feed(&self, tenant: TenantId, after: Option<&FeedCursor>, limit: u32) -> Result<FeedPage, Error> {
        let page = self.through(Call::Feed, self.inner().feed(tenant, after, limit)).await?;
        self.feed_read.fetch_add(page.rows.len() as u64, Ordering::SeqCst);
        Ok(page)
    }

    async fn feed_end(&self, tenant: TenantId) -> Result<Option<FeedCursor>, Error> {
        self.through(Call::Feed, self.inner().feed_end(tenant)).await
    }

    async fn headings(&self, tenant: TenantId, games: &[Uuid]) -> Result<Vec<Heading>, Error> {
        self.through(Call::Headings, self.inner().headings(tenant, games)).await
    }

    async fn feed_holder(&self) -> Result<Option<Holder>, Error> {
        self.inner().feed_holder().await
    }

    async fn clock_unix_ms(&self) -> Result<u64, Error> {
        self.through(Call::Ready, self.inner().clock_unix_ms()).await
    }

    async fn ready(&self) -> Result<(), Error> {
        self.through(Call::Ready, self.inner().ready()).await
    }

    async fn readable(&self) -> Result<(), Error> {
        self.through(Call::Ready, self.inner().readable()).await
    }

    async fn close(&self) {
        self.inner().close().await;
    }
}
