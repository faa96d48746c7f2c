//! The games that this node remembers.
//!
//! | module | the noun |
//! | --- | --- |
//! | [`opened`] | a header with its rules: what it takes to read a book's lines |
//! | [`table`] | a game at the head that this node has seen |
//! | [`load`] | reads a book from the store |
//! | [`act`] | decides a request and appends what comes of it |
//! | `beside` | what an entry says only together with those before it |
//! | `append` | appends what was decided |
//! | [`settling`] | deadlines that have passed |
//! | `own_request` | the ids of what the service asks by itself |
//! | `reminder` | when a game has to be looked at again |
//! | [`bot_job`], `turns` | bots move; which games they are at work in |
//! | [`bot_turn`] | one turn of a bot |
//! | `claims` | what becomes of a claimed row of the queue |
//! | [`create`] | creates a game |
//! | [`fork`] | creates a game that goes on from an entry of another |
//! | [`pinning`] | the bots of a game to be created |
//! | [`rematch`] | creates the rematch of a game that is over |
//! | [`history`] | positions at earlier entries |
//! | [`lookups`] | how often a game was in memory |
//! | `noted` | what of a refused request is remembered |
//! | [`snapshots`] | games of the store at some of their entries, read and saved |
//! | `unfit` | what is remembered, against what the store has |
//!
//! Invariant: a remembered head is only ever a guess that the append checks. Everything here can be
//! dropped at any moment and rebuilt from the book.
//!
//! What a move on a remembered game does not come to waits in a box (`Box::pin`): a call's future has room for all that it may
//! wait for, and that room is taken, moved and touched for every call.

pub mod act;
mod append;
mod beside;
pub mod bot_job;
pub mod bot_turn;
mod claims;
pub mod create;
pub mod fork;
pub mod history;
pub mod load;
pub mod lookups;
mod noted;
pub mod opened;
mod own_request;
pub mod pinning;
pub mod rematch;
pub(crate) mod reminder;
pub mod settling;
pub mod snapshots;
pub mod table;
mod turns;
mod unfit;

use std::sync::Arc;
use std::time::Duration;

use moka::future::Cache;
use plybook_core::game::State;
use plybook_core::{Game, Seq};
use plybook_rulesets::Registry;
use plybook_store::{GameKey, Store, StoredEntry, Wakes};
use tokio::sync::{OwnedMutexGuard, Semaphore};
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;
use turns::Turns;
use unfit::Unfit;

pub use beside::Beside;
pub use lookups::{Lookups, Remembered};
pub use opened::Opened;
pub use snapshots::Snapshots;
pub use table::{SharedTable, Table};

use crate::alarm::Alarm;
use crate::clock::Clock;
use crate::games::reminder::Turn;
use crate::heartbeat::Heartbeat;
use crate::ids::Ids;
use crate::limits::{FORKS_AT_ONCE, Limits};
use crate::refusal::Refusal;
use crate::refusal_log::RefusalLog;
use crate::streams::Hub;
use crate::telemetry::step;
use crate::thinking::Thinking;
use crate::upkeep::Upkeep;

/// The part of the memory for games that headers may take: what streams need of a game that is
/// played elsewhere.
const OPENED_PART: u64 = 8;

/// The games of a store, as this node knows them.
pub struct Games {
    store: Arc<dyn Store>,
    wakes: Arc<dyn Wakes>,
    registry: Arc<Registry>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
    hub: Arc<Hub>,
    refusals: RefusalLog,
    tables: Cache<GameKey, SharedTable>,
    opened: Cache<GameKey, Arc<Opened>>,
    history: Cache<(GameKey, Seq), Arc<Game>>,
    snapshots: Arc<Snapshots>,
    forks: Arc<Semaphore>,
    thinking: Arc<Thinking>,
    heartbeat: Arc<Heartbeat>,
    alarm: Arc<Alarm>,
    upkeep: Arc<Upkeep>,
    lookups: Lookups,
    turns: Turns,
    lease: Duration,
    draining: CancellationToken,
}

/// What games stand on.
pub struct Means {
    /// Where books are kept.
    pub store: Arc<dyn Store>,
    /// How other nodes hear of new entries.
    pub wakes: Arc<dyn Wakes>,
    /// The rulesets.
    pub registry: Registry,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// New ids and seeds.
    pub ids: Arc<dyn Ids>,
    /// Who watches.
    pub hub: Arc<Hub>,
    /// Where refused requests are noted.
    pub refusals: RefusalLog,
    /// Where bots think.
    pub thinking: Arc<Thinking>,
    /// When no node was there.
    pub heartbeat: Arc<Heartbeat>,
    /// Cancelled when the node goes away.
    pub draining: CancellationToken,
}

impl Games {
    /// No game remembered yet.
    pub fn new(means: Means, limits: &Limits) -> Games {
        let Means { store, wakes, registry, clock, ids, hub, refusals, thinking, heartbeat, draining } = means;
        let tables = Cache::builder()
            .max_capacity(limits.games_cache_bytes)
            .weigher(|_, table: &SharedTable| table.weight())
            .time_to_idle(limits.games_cache_idle)
            .build();
        let history = Cache::builder()
            .max_capacity(limits.history_cache_bytes)
            .weigher(|_, game: &Arc<Game>| table::estimate_bytes(game))
            .time_to_idle(limits.games_cache_idle)
            .build();
        let opened = Cache::builder()
            .max_capacity(limits.games_cache_bytes / OPENED_PART)
            .weigher(|_, opened: &Arc<Opened>| opened.weight())
            .time_to_idle(limits.games_cache_idle)
            .build();
        let snapshots = Arc::new(Snapshots::new(limits));
        let (registry, forks) = (Arc::new(registry), Arc::new(Semaphore::new(FORKS_AT_ONCE)));
        Games {
            store,
            wakes,
            registry,
            clock,
            ids,
            hub,
            refusals,
            tables,
            opened,
            history,
            snapshots,
            forks,
            thinking,
            heartbeat,
            alarm: Arc::default(),
            upkeep: Arc::default(),
            lookups: Lookups::default(),
            turns: Turns::new(),
            lease: limits.due_lease,
            draining,
        }
    }

    /// The rulesets of this node.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// The same, to take along.
    pub fn registry_shared(&self) -> Arc<Registry> {
        Arc::clone(&self.registry)
    }

    /// How other nodes hear of new entries.
    pub fn wakes(&self) -> &Arc<dyn Wakes> {
        &self.wakes
    }

    /// The store behind.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// What became of snapshots.
    pub const fn snapshots(&self) -> &Arc<Snapshots> {
        &self.snapshots
    }

    /// What this node has done by itself.
    pub const fn upkeep(&self) -> &Arc<Upkeep> {
        &self.upkeep
    }

    /// Rings when something is armed here.
    pub const fn alarm(&self) -> &Arc<Alarm> {
        &self.alarm
    }

    /// The clock.
    pub fn clock(&self) -> &dyn Clock {
        self.clock.as_ref()
    }

    /// How often games were in memory.
    pub const fn lookups(&self) -> &Lookups {
        &self.lookups
    }

    /// How many games are in memory, by state. Looks at each of them; one that is being played this very moment is active.
    pub fn remembered(&self) -> Remembered {
        let mut remembered = Remembered::default();
        self.tables.iter().for_each(|(_, table)| remembered.add(table.state().unwrap_or(State::Active)));
        remembered
    }

    /// About how much memory they take.
    pub fn cache_bytes(&self) -> [(&'static str, u64); 3] {
        [("tables", self.tables.weighted_size()), ("opened", self.opened.weighted_size()), ("history", self.history.weighted_size())]
    }

    /// Header and rules of a game; of a foreign one perhaps without the rules.
    pub async fn opened(&self, key: GameKey) -> Result<Arc<Opened>, Refusal> {
        self.lookups.opened.looked();
        // Whoever appends comes here first and to the table next, so the table is looked for.
        if let Some(shared) = self.tables.get(&key).await {
            return Ok(Arc::clone(shared.opened()));
        }
        let load = async {
            self.lookups.opened.missed();
            self.load_opened(key).await.map(Arc::new)
        };
        Box::pin(self.opened.try_get_with(key, load)).await.map_err(|refusal| refusal.shared())
    }

    /// The table of a game, loaded if this node does not remember it.
    async fn table(&self, key: GameKey) -> Result<SharedTable, Unfit> {
        self.lookups.tables.looked();
        let load = async {
            self.lookups.tables.missed();
            self.load_table(key).instrument(step!("load")).await.map(SharedTable::new)
        };
        Ok(Box::pin(self.tables.try_get_with(key, load)).await?)
    }

    /// A game at the head that the store has now, for reading.
    pub async fn with_head<T>(&self, key: GameKey, read: impl FnOnce(&Table) -> T) -> Result<T, Refusal> {
        let table = self.fitting(key, || self.at_head(key)).await?;
        Ok(read(&table))
    }

    /// Reads a game whose remembered head is this very entry; nothing where it is another.
    pub async fn seen_at<T>(&self, key: GameKey, entry: &StoredEntry, read: impl FnOnce(&Game) -> T) -> Result<Option<T>, Refusal> {
        let Some(shared) = self.tables.get(&key).await else { return Ok(None) };
        let table = shared.lock().await;
        Ok((table.game.head().digest == entry.digest).then(|| read(&table.game)))
    }

    async fn at_head(&self, key: GameKey) -> Result<OwnedMutexGuard<Table>, Unfit> {
        let shared = self.table(key).await?;
        let mut table = shared.lock().await;
        self.follow_up(key, &shared, &mut table).await?;
        Ok(table)
    }

    /// Follows what the store has, and has the cache weigh what has grown; answers what was new.
    async fn follow_up(&self, key: GameKey, shared: &SharedTable, table: &mut Table) -> Result<usize, Unfit> {
        let followed = Box::pin(self.refresh(key, table)).await?;
        if followed > 0 {
            self.turns.moved_on(key, Turn::of(&table.game));
            self.weigh(key, shared, table).await;
        }
        Ok(followed)
    }

    /// The cache weighs a table when it is put in: once it has grown much, that is done again.
    async fn weigh(&self, key: GameKey, shared: &SharedTable, table: &Table) {
        if shared.outgrew(table) {
            Box::pin(self.tables.insert(key, shared.clone())).await;
        }
    }
}
