//! A node's line to the store, on which things go wrong.
//!
//! Invariants: what goes wrong is what may go wrong with a database: an error before or after the work, a node that
//! dies or stands still there; the store itself does everything whole or not at all. A node that is dead does
//! nothing any more, whatever of it is still in memory.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use plybook_core::{Seed, Seq, Time, Uuid};
use plybook_store::{
    Append, Claimed, Create, DueSoon, Error, FeedCursor, FeedPage, Filter, Foreign, ForeignBook, GameKey, Heading, Holder, Import, Nearest,
    NewEntry, NewGame, Outage, Refused, Snapshot, State, Store, StoredDue, StoredEntry, StoredRefusal, Summary, TenantId,
};
use tokio::sync::watch;

use super::faults::{Fault, Faults};
use super::shelf::Shelf;
use crate::injected::Call;
use crate::random::Random;

/// How a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Health {
    Awake,
    /// It does nothing for a while, and does not notice.
    Asleep,
    Dead,
}

/// A node's line to the store.
pub struct Line {
    shelf: Arc<Shelf>,
    health: watch::Sender<Health>,
    faults: Arc<Faults>,
    next: Mutex<Option<(Call, Fault)>>,
    order: Mutex<Random>,
}

impl Line {
    /// A line on which nothing goes wrong yet. Faults are counted in `faults`; `order` mixes calls of one moment.
    pub fn new(shelf: Arc<Shelf>, faults: Arc<Faults>, order: Random) -> Line {
        let health = watch::Sender::new(Health::Awake);
        Line { shelf, health, faults, next: Mutex::default(), order: Mutex::new(order) }
    }

    /// The next such call goes wrong like this.
    pub fn breaks_next(&self, call: Call, fault: Fault) {
        *self.next.lock().unwrap() = Some((call, fault));
    }

    /// What was to go wrong and has not does not any more.
    pub fn mends(&self) {
        *self.next.lock().unwrap() = None;
    }

    /// Kills the node.
    pub fn dies(&self) {
        self.health.send_replace(Health::Dead);
    }

    /// Whether the node is dead.
    pub fn is_dead(&self) -> bool {
        *self.health.borrow() == Health::Dead
    }

    /// Whether the node lives and goes on.
    pub fn is_awake(&self) -> bool {
        *self.health.borrow() == Health::Awake
    }

    /// Whether the node stands still.
    pub fn is_asleep(&self) -> bool {
        *self.health.borrow() == Health::Asleep
    }

    /// Waits until the node stands still.
    pub async fn falls_asleep(&self) {
        let _ = self.health.subscribe().wait_for(|health| *health == Health::Asleep).await;
    }

    /// Whether something is still to go wrong on it, or it does not go on.
    pub fn is_broken(&self) -> bool {
        self.next.lock().unwrap().is_some() || *self.health.borrow() != Health::Awake
    }

    /// The node goes on where it stood.
    pub fn wakes_up(&self) {
        self.health.send_if_modified(|health| {
            let slept = *health == Health::Asleep;
            if slept {
                *health = Health::Awake;
            }
            slept
        });
    }

    /// Waits while the node stands still.
    async fn awake(&self) -> Result<(), Error> {
        let health = *self.health.subscribe().wait_for(|health| *health != Health::Asleep).await.unwrap();
        if health == Health::Dead { Err(away()) } else { Ok(()) }
    }

    fn fault_of(&self, call: Call) -> Option<Fault> {
        let mut next = self.next.lock().unwrap();
        let fault = next.filter(|(of, _)| *of == call).map(|(_, fault)| fault)?;
        *next = None;
        self.faults.count(call, fault);
        Some(fault)
    }

    async fn through<T>(&self, call: Call, work: impl Future<Output = Result<T, Error>> + Send) -> Result<T, Error> {
        self.awake().await?;
        let waits = self.order.lock().unwrap().below(3);
        for _ in 0..waits {
            tokio::task::yield_now().await;
        }
        let fault = self.fault_of(call);
        match fault {
            Some(Fault::Before) => return Err(away()),
            Some(Fault::SleepsBefore) => {
                self.health.send_replace(Health::Asleep);
                self.awake().await?;
            }
            _ => {}
        }
        let done = work.await;
        match fault {
            Some(Fault::After) => return Err(away()),
            Some(Fault::Dies) => self.dies(),
            Some(Fault::SleepsAfter) => {
                self.health.send_replace(Health::Asleep);
            }
            _ => {}
        }
        self.awake().await?;
        done
    }

    /// One call at a time.
    async fn alone<T>(&self, work: impl Future<Output = Result<T, Error>> + Send) -> Result<T, Error> {
        let _turn = self.shelf.turn().await;
        work.await
    }

    pub(super) fn inner(&self) -> &dyn Store {
        self.shelf.inner()
    }
}

fn away() -> Error {
    Error::Unavailable("the simulated database is away".to_owned())
}

#[async_trait]
impl Store for Line {
    async fn create(&self, game: NewGame) -> Result<Create, Error> {
        self.through(Call::Create, self.alone(self.inner().create(game))).await
    }

    async fn append(&self, entry: NewEntry) -> Result<Append, Error> {
        self.through(Call::Append, self.alone(self.inner().append(entry))).await
    }

    async fn entries(&self, key: GameKey, after: Seq, limit: u32) -> Result<Vec<StoredEntry>, Error> {
        self.through(Call::Entries, self.alone(self.inner().entries(key, after, limit))).await
    }

    async fn last(&self, key: GameKey) -> Result<Option<StoredEntry>, Error> {
        self.through(Call::Last, self.alone(self.inner().last(key))).await
    }

    async fn find_request(&self, key: GameKey, request_id: Uuid) -> Result<Option<(StoredEntry, [u8; 32])>, Error> {
        self.through(Call::Find, self.alone(self.inner().find_request(key, request_id))).await
    }

    async fn find_creation(&self, tenant: TenantId, request_id: Uuid) -> Result<Option<(Uuid, [u8; 32])>, Error> {
        self.through(Call::Find, self.alone(self.inner().find_creation(tenant, request_id))).await
    }

    async fn seed(&self, key: GameKey) -> Result<Option<Seed>, Error> {
        self.through(Call::Seed, self.alone(self.inner().seed(key))).await
    }

    async fn state(&self, key: GameKey) -> Result<Option<State>, Error> {
        self.through(Call::Last, self.alone(self.inner().state(key))).await
    }

    async fn list(&self, tenant: TenantId, filter: &Filter, before: Option<Uuid>, limit: u32) -> Result<Vec<Summary>, Error> {
        self.through(Call::List, self.alone(self.inner().list(tenant, filter, before, limit))).await
    }

    async fn remember(&self, refused: &[Refused], keep: u32) -> Result<(), Error> {
        self.through(Call::Remember, self.alone(self.inner().remember(refused, keep))).await
    }

    async fn refusals(&self, key: GameKey, before: Option<i64>, limit: u32) -> Result<Vec<StoredRefusal>, Error> {
        self.through(Call::Refusals, self.alone(self.inner().refusals(key, before, limit))).await
    }

    async fn forget_refusals(&self, older_than: Time, limit: u32) -> Result<u64, Error> {
        self.through(Call::Forget, self.alone(self.inner().forget_refusals(older_than, limit))).await
    }

    async fn import(&self, book: ForeignBook) -> Result<Import, Error> {
        self.through(Call::Import, self.alone(self.inner().import(book))).await
    }

    async fn foreign(&self, key: GameKey) -> Result<Option<Foreign>, Error> {
        self.through(Call::Foreign, self.alone(self.inner().foreign(key))).await
    }

    async fn save_snapshot(&self, key: GameKey, snapshot: Snapshot) -> Result<(), Error> {
        self.through(Call::SaveSnapshot, self.alone(self.inner().save_snapshot(key, snapshot))).await
    }

    async fn snapshot(&self, key: GameKey, format: u16, at_most: Seq) -> Result<Nearest, Error> {
        self.through(Call::Snapshot, self.alone(self.inner().snapshot(key, format, at_most))).await
    }

    async fn claim_due(&self, limit: u32, lease: Duration) -> Result<Vec<Claimed>, Error> {
        let work = async {
            let mut turn = self.shelf.turn().await;
            self.shelf.claim_due(limit, lease, &mut turn).await
        };
        self.through(Call::Claim, work).await
    }

    async fn settle_due(&self, claimed: &Claimed, next: Option<Time>) -> Result<bool, Error> {
        self.through(Call::Settle, self.alone(self.inner().settle_due(claimed, next))).await
    }

    async fn hold_due(&self, claimed: &Claimed, lease: Duration) -> Result<bool, Error> {
        let work = async {
            let mut turn = self.shelf.turn().await;
            self.shelf.hold_due(claimed, lease, &mut turn).await
        };
        self.through(Call::Settle, work).await
    }

    async fn next_due(&self) -> Result<Option<Time>, Error> {
        self.through(Call::Due, self.alone(self.inner().next_due())).await
    }

    async fn due_of(&self, key: GameKey) -> Result<Vec<StoredDue>, Error> {
        self.through(Call::Due, self.alone(self.inner().due_of(key))).await
    }

    async fn list_due(&self, tenant: TenantId, before: Time, after: Option<DueSoon>, limit: u32) -> Result<Vec<DueSoon>, Error> {
        self.through(Call::Due, self.alone(self.inner().list_due(tenant, before, after, limit))).await
    }

    async fn beat(&self, _node: Uuid, silence: Duration) -> Result<Option<Outage>, Error> {
        self.through(Call::Beat, async { Ok(self.shelf.beat(silence)) }).await
    }

    async fn outages(&self, from: Time, to: Time, limit: u32) -> Result<Vec<Outage>, Error> {
        self.through(Call::Outages, async { Ok(self.shelf.outages(from, to, limit)) }).await
    }

    async fn feed(&self, tenant: TenantId, after: Option<&FeedCursor>, limit: u32) -> Result<FeedPage, Error> {
        self.through(Call::Feed, self.alone(self.inner().feed(tenant, after, limit))).await
    }

    async fn feed_end(&self, tenant: TenantId) -> Result<Option<FeedCursor>, Error> {
        self.through(Call::Feed, self.alone(self.inner().feed_end(tenant))).await
    }

    async fn headings(&self, tenant: TenantId, games: &[Uuid]) -> Result<Vec<Heading>, Error> {
        self.through(Call::Headings, self.alone(self.inner().headings(tenant, games))).await
    }

    async fn feed_holder(&self) -> Result<Option<Holder>, Error> {
        self.inner().feed_holder().await
    }

    async fn clock_unix_ms(&self) -> Result<u64, Error> {
        self.through(Call::Ready, async { Ok(self.shelf.time().now().unix_ms()) }).await
    }

    async fn ready(&self) -> Result<(), Error> {
        self.through(Call::Ready, self.alone(self.inner().ready())).await
    }

    async fn readable(&self) -> Result<(), Error> {
        self.through(Call::Ready, self.alone(self.inner().readable())).await
    }

    async fn close(&self) {
        // The store is the other nodes' as well.
    }
}
