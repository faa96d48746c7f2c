//! A store whose answers are timed.
//!
//! Invariant: it is there only where metrics are wanted, so that elsewhere nothing stands between a node and its store; and it
//! changes no answer.

mod credentials;

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use plybook_core::game::State;
use plybook_core::{Seed, Seq, Time};
use plybook_store::{
    Append, Claimed, Create, DueSoon, Error, FeedCursor, FeedPage, Filter, Foreign, ForeignBook, GameKey, Heading, Holder, Import, Nearest,
    NewEntry, NewGame, Outage, Refused, Snapshot, Store, StoredDue, StoredEntry, StoredRefusal, Summary, TenantId, Vitals,
};
use uuid::Uuid;

use super::instruments::{count_store, counting};

/// The store, timed if anybody wants to know.
pub(crate) fn timed(store: Arc<dyn Store>) -> Arc<dyn Store> {
    if !counting() {
        return store;
    }
    let system = store.vitals().system;
    Arc::new(Timed { inner: store, system })
}

struct Timed {
    inner: Arc<dyn Store>,
    system: &'static str,
}

impl Timed {
    async fn timed<T>(&self, operation: &'static str, work: impl Future<Output = Result<T, Error>> + Send) -> Result<T, Error> {
        let began = Instant::now();
        let answer = work.await;
        count_store(self.system, operation, began.elapsed(), answer.as_ref().err());
        answer
    }
}

#[async_trait]
impl Store for Timed {
    async fn create(&self, game: NewGame) -> Result<Create, Error> {
        self.timed("create", self.inner.create(game)).await
    }

    async fn append(&self, entry: NewEntry) -> Result<Append, Error> {
        self.timed("append", self.inner.append(entry)).await
    }

    async fn entries(&self, key: GameKey, after: Seq, limit: u32) -> Result<Vec<StoredEntry>, Error> {
        self.timed("entries", self.inner.entries(key, after, limit)).await
    }

    async fn history(&self, key: GameKey, after: Seq, limit: u32) -> Result<Vec<StoredEntry>, Error> {
        self.timed("history", self.inner.history(key, after, limit)).await
    }

    async fn last(&self, key: GameKey) -> Result<Option<StoredEntry>, Error> {
        self.timed("last", self.inner.last(key)).await
    }

    async fn find_request(&self, key: GameKey, request_id: Uuid) -> Result<Option<(StoredEntry, [u8; 32])>, Error> {
        self.timed("find_request", self.inner.find_request(key, request_id)).await
    }

    async fn find_creation(&self, tenant: TenantId, request_id: Uuid) -> Result<Option<(Uuid, [u8; 32])>, Error> {
        self.timed("find_creation", self.inner.find_creation(tenant, request_id)).await
    }

    async fn seed(&self, key: GameKey) -> Result<Option<Seed>, Error> {
        self.timed("seed", self.inner.seed(key)).await
    }

    async fn state(&self, key: GameKey) -> Result<Option<State>, Error> {
        self.timed("state", self.inner.state(key)).await
    }

    async fn list(&self, tenant: TenantId, filter: &Filter, before: Option<Uuid>, limit: u32) -> Result<Vec<Summary>, Error> {
        self.timed("list", self.inner.list(tenant, filter, before, limit)).await
    }

    async fn remember(&self, refused: &[Refused], keep: u32) -> Result<(), Error> {
        self.timed("remember", self.inner.remember(refused, keep)).await
    }

    async fn refusals(&self, key: GameKey, before: Option<i64>, limit: u32) -> Result<Vec<StoredRefusal>, Error> {
        self.timed("refusals", self.inner.refusals(key, before, limit)).await
    }

    async fn forget_refusals(&self, older_than: Time, limit: u32) -> Result<u64, Error> {
        self.timed("forget_refusals", self.inner.forget_refusals(older_than, limit)).await
    }

    async fn import(&self, book: ForeignBook) -> Result<Import, Error> {
        self.timed("import", self.inner.import(book)).await
    }

    async fn foreign(&self, key: GameKey) -> Result<Option<Foreign>, Error> {
        self.timed("foreign", self.inner.foreign(key)).await
    }

    async fn save_snapshot(&self, key: GameKey, snapshot: Snapshot) -> Result<(), Error> {
        self.timed("save_snapshot", self.inner.save_snapshot(key, snapshot)).await
    }

    async fn snapshot(&self, key: GameKey, format: u16, at_most: Seq) -> Result<Nearest, Error> {
        self.timed("snapshot", self.inner.snapshot(key, format, at_most)).await
    }

    async fn claim_due(&self, limit: u32, lease: Duration) -> Result<Vec<Claimed>, Error> {
        self.timed("claim_due", self.inner.claim_due(limit, lease)).await
    }

    async fn settle_due(&self, claimed: &Claimed, next: Option<Time>) -> Result<bool, Error> {
        self.timed("settle_due", self.inner.settle_due(claimed, next)).await
    }

    async fn hold_due(&self, claimed: &Claimed, lease: Duration) -> Result<bool, Error> {
        self.timed("hold_due", self.inner.hold_due(claimed, lease)).await
    }

    async fn next_due(&self) -> Result<Option<Time>, Error> {
        self.timed("next_due", self.inner.next_due()).await
    }

    async fn due_of(&self, key: GameKey) -> Result<Vec<StoredDue>, Error> {
        self.timed("due_of", self.inner.due_of(key)).await
    }

    async fn list_due(&self, tenant: TenantId, before: Time, after: Option<DueSoon>, limit: u32) -> Result<Vec<DueSoon>, Error> {
        self.timed("list_due", self.inner.list_due(tenant, before, after, limit)).await
    }

    async fn beat(&self, node: Uuid, silence: Duration) -> Result<Option<Outage>, Error> {
        self.timed("beat", self.inner.beat(node, silence)).await
    }

    async fn outages(&self, from: Time, to: Time, limit: u32) -> Result<Vec<Outage>, Error> {
        self.timed("outages", self.inner.outages(from, to, limit)).await
    }

    async fn feed(&self, tenant: TenantId, after: Option<&FeedCursor>, limit: u32) -> Result<FeedPage, Error> {
        self.timed("feed", self.inner.feed(tenant, after, limit)).await
    }

    async fn feed_history(&self, tenant: TenantId, after: Option<&FeedCursor>, limit: u32) -> Result<FeedPage, Error> {
        self.timed("feed_history", self.inner.feed_history(tenant, after, limit)).await
    }

    async fn feed_end(&self, tenant: TenantId) -> Result<Option<FeedCursor>, Error> {
        self.timed("feed_end", self.inner.feed_end(tenant)).await
    }

    async fn headings(&self, tenant: TenantId, games: &[Uuid]) -> Result<Vec<Heading>, Error> {
        self.timed("headings", self.inner.headings(tenant, games)).await
    }

    async fn feed_holder(&self) -> Result<Option<Holder>, Error> {
        self.timed("feed_holder", self.inner.feed_holder()).await
    }

    async fn clock_unix_ms(&self) -> Result<u64, Error> {
        self.timed("clock_unix_ms", self.inner.clock_unix_ms()).await
    }

    async fn ready(&self) -> Result<(), Error> {
        self.timed("ready", self.inner.ready()).await
    }

    async fn readable(&self) -> Result<(), Error> {
        self.timed("readable", self.inner.readable()).await
    }

    fn vitals(&self) -> Vitals {
        self.inner.vitals()
    }

    async fn close(&self) {
        self.inner.close().await;
    }
}
