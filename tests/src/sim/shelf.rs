//! The one real store that the nodes of a world share, by the world's time.
//!
//! The store's own statements do the work. Its clock is the machine's, though, so before a claim the rows that are
//! not due by the world's time are put off by some thousand years, and after it what is left of them comes back and
//! the leases are those of the world's time. Beats and outages are kept here.
//!
//! Invariant: one call at a time, so that what comes of a world does not hang on the machine's threads.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use plybook_core::{Time, Uuid};
use plybook_store::{Claimed, Error, Outage, Store};
use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, SqliteConnection};
use tempfile::TempDir;
use tokio::sync::{Mutex as AsyncMutex, MutexGuard};

use super::time::WorldTime;
use crate::injected::sqlite;
use crate::postgres::TestDatabase;

/// Hands on the rows of the queue, past any store.
#[derive(Debug)]
enum Hands {
    Sqlite(SqliteConnection),
    Postgres(PgConnection),
}

/// Whatever only one call at a time may touch.
#[derive(Debug)]
pub struct Turn(Hands);

/// The store of a world.
pub struct Shelf {
    inner: Arc<dyn Store>,
    time: Arc<WorldTime>,
    turn: AsyncMutex<Turn>,
    beats: Mutex<Beats>,
    calls: AtomicU64,
    _folder: Option<TempDir>,
}

#[derive(Debug, Default)]
struct Beats {
    last: Option<Time>,
    outages: Vec<Outage>,
}

/// Memory where there is a folder for it, so that a world does not wait for a disk.
fn folder() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

impl Shelf {
    /// Over a new SQLite file.
    pub async fn sqlite(time: Arc<WorldTime>) -> Shelf {
        let folder = folder();
        let inner = sqlite(folder.path()).await;
        let url = format!("sqlite://{}", folder.path().join("books.db").display());
        let hands = Hands::Sqlite(SqliteConnection::connect(&url).await.unwrap());
        Shelf::new(inner, time, hands, Some(folder))
    }

    /// Over a throwaway Postgres database that nobody else uses.
    pub async fn postgres(database: &TestDatabase, time: Arc<WorldTime>) -> Shelf {
        let hands = Hands::Postgres(database.connect().await);
        Shelf::new(Arc::new(database.store().await), time, hands, None)
    }

    fn new(inner: Arc<dyn Store>, time: Arc<WorldTime>, hands: Hands, folder: Option<TempDir>) -> Shelf {
        Shelf { inner, time, turn: AsyncMutex::new(Turn(hands)), beats: Mutex::default(), calls: AtomicU64::new(0), _folder: folder }
    }

    /// The store behind.
    pub fn inner(&self) -> &dyn Store {
        self.inner.as_ref()
    }

    /// The time.
    pub const fn time(&self) -> &Arc<WorldTime> {
        &self.time
    }

    /// Waits until no other call is at work.
    pub async fn turn(&self) -> MutexGuard<'_, Turn> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        self.turn.lock().await
    }

    /// How many calls were made.
    pub fn calls(&self) -> u64 {
        self.calls.load(Ordering::SeqCst)
    }

    /// Whether a call is at work.
    pub fn at_work(&self) -> bool {
        self.turn.try_lock().is_err()
    }

    /// As [`Store::claim_due`], by the world's time.
    pub async fn claim_due(&self, limit: u32, lease: Duration, turn: &mut Turn) -> Result<Vec<Claimed>, Error> {
        let now = self.time.now();
        if self.inner.next_due().await?.is_none_or(|next| next > now) {
            return Ok(Vec::new());
        }
        turn.hide_after(now).await;
        let claimed = self.inner.claim_due(limit, lease).await;
        for claimed in claimed.iter().flatten() {
            turn.lease(claimed.token, later(now, lease)).await;
        }
        turn.unhide().await;
        claimed
    }

    /// As [`Store::hold_due`], by the world's time.
    pub async fn hold_due(&self, claimed: &Claimed, lease: Duration, turn: &mut Turn) -> Result<bool, Error> {
        let held = self.inner.hold_due(claimed, lease).await?;
        if held {
            turn.lease(claimed.token, later(self.time.now(), lease)).await;
        }
        Ok(held)
    }

    /// Some node says until then that it is there.
    pub fn is_served_until(&self, until: Time) {
        self.beats.lock().unwrap().last = Some(until);
    }

    /// As [`Store::beat`].
    pub fn beat(&self, silence: Duration) -> Option<Outage> {
        let mut beats = self.beats.lock().unwrap();
        let to = self.time.now();
        let found = beats.last.replace(to).map(|from| Outage { from, to }).filter(|gap| gap.to > later(gap.from, silence));
        beats.outages.extend(found);
        found
    }

    /// As [`Store::outages`].
    pub fn outages(&self, from: Time, to: Time, limit: u32) -> Vec<Outage> {
        let beats = self.beats.lock().unwrap();
        beats.outages.iter().filter(|outage| outage.to > from && outage.from < to).take(limit as usize).copied().collect()
    }

    /// Every outage, from and to.
    pub fn outages_told(&self) -> Vec<(Time, Time)> {
        self.beats.lock().unwrap().outages.iter().map(|outage| (outage.from, outage.to)).collect()
    }

    /// Closes what it opened.
    pub async fn close(self) {
        self.inner.close().await;
        match self.turn.into_inner().0 {
            Hands::Sqlite(connection) => connection.close().await.unwrap(),
            Hands::Postgres(connection) => connection.close().await.unwrap(),
        }
    }
}

impl Turn {
    async fn run(&mut self, sqlite: String, postgres: String) {
        match &mut self.0 {
            Hands::Sqlite(connection) => connection.execute(AssertSqlSafe(sqlite)).await.map(drop),
            Hands::Postgres(connection) => connection.execute(AssertSqlSafe(postgres)).await.map(drop),
        }
        .unwrap();
    }

    /// The rows that are not due yet are put off.
    async fn hide_after(&mut self, now: Time) {
        self.run(
            format!("UPDATE due SET due_at = '9' || substr(due_at, 2) WHERE due_at > '{now}'"),
            format!("UPDATE due SET due_at = due_at + interval '7000 years' WHERE due_at > '{now}'"),
        )
        .await;
    }

    /// What was put off is as it was.
    async fn unhide(&mut self) {
        self.run(
            "UPDATE due SET due_at = '2' || substr(due_at, 2) WHERE due_at > '9'".to_owned(),
            "UPDATE due SET due_at = due_at - interval '7000 years' WHERE due_at > '9000-01-01'".to_owned(),
        )
        .await;
    }

    /// The lease of a claim ends then.
    async fn lease(&mut self, token: Uuid, until: Time) {
        let hex = token.simple();
        self.run(
            format!("UPDATE due SET due_at = '{until}' WHERE claim = x'{hex}'"),
            format!("UPDATE due SET due_at = '{until}' WHERE claim = '{token}'"),
        )
        .await;
    }
}

fn later(time: Time, by: Duration) -> Time {
    Time::from_unix_ms(time.unix_ms().saturating_add(by.as_millis() as u64))
}
