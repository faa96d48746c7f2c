//! The games that this node remembers.
//!
//! | module | the noun |
//! | --- | --- |
//! | [`opened`] | a header with its rules: what it takes to read a book's lines |
//! | [`table`] | a game at the head that this node has seen |
//! | [`load`] | reads a book from the store |
//! | [`act`] | decides a request and appends what comes of it |
//! | [`create`] | creates a game |
//! | [`history`] | positions at earlier entries |
//!
//! Invariant: a remembered head is only ever a guess that the append checks. Everything here can be
//! dropped at any moment and rebuilt from the book.

pub mod act;
pub mod create;
pub mod history;
pub mod load;
pub mod opened;
pub mod table;

use std::sync::Arc;

use moka::future::Cache;
use plybook_core::{Game, Seq};
use plybook_rulesets::Registry;
use plybook_store::{GameKey, Store};

pub use opened::Opened;
pub use table::{SharedTable, Table};

use crate::clock::Clock;
use crate::ids::Ids;
use crate::limits::Limits;
use crate::refusal::Refusal;
use crate::streams::Hub;

/// The part of the memory for games that headers may take: what streams need of a game that is
/// played elsewhere.
const OPENED_PART: u64 = 8;

/// The games of a store, as this node knows them.
pub struct Games {
    store: Arc<dyn Store>,
    registry: Registry,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
    hub: Arc<Hub>,
    tables: Cache<GameKey, SharedTable>,
    opened: Cache<GameKey, Arc<Opened>>,
    history: Cache<(GameKey, Seq), Arc<Game>>,
}

impl Games {
    /// No game remembered yet.
    pub fn new(
        store: Arc<dyn Store>,
        registry: Registry,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn Ids>,
        hub: Arc<Hub>,
        limits: &Limits,
    ) -> Games {
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
        Games { store, registry, clock, ids, hub, tables, opened, history }
    }

    /// The rulesets of this node.
    pub const fn registry(&self) -> &Registry {
        &self.registry
    }

    /// The store behind.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// The clock.
    pub fn clock(&self) -> &dyn Clock {
        self.clock.as_ref()
    }

    /// Header and rules of a game.
    pub async fn opened(&self, key: GameKey) -> Result<Arc<Opened>, Refusal> {
        let load = async { self.load_opened(key).await.map(Arc::new) };
        self.opened.try_get_with(key, load).await.map_err(shared_refusal)
    }

    /// The table of a game, loaded if this node does not remember it.
    pub async fn table(&self, key: GameKey) -> Result<SharedTable, Refusal> {
        let load = async { self.load_table(key).await.map(SharedTable::new) };
        self.tables.try_get_with(key, load).await.map_err(shared_refusal)
    }

    /// A game at the head that the store has now, for reading.
    pub async fn with_head<T>(&self, key: GameKey, read: impl FnOnce(&Table) -> T) -> Result<T, Refusal> {
        let shared = self.table(key).await?;
        let mut table = shared.lock().await;
        self.refresh(key, &mut table).await?;
        Ok(read(&table))
    }

    /// Forgets a table whose head the store does not know.
    async fn forget(&self, key: GameKey) {
        self.tables.invalidate(&key).await;
    }
}

/// Callers that waited for one load share its refusal; each gets one of its own.
fn shared_refusal(refusal: Arc<Refusal>) -> Refusal {
    match refusal.as_ref() {
        Refusal::GameNotFound => Refusal::GameNotFound,
        Refusal::StoreUnavailable => Refusal::StoreUnavailable,
        Refusal::RulesetVersion { id, known } => Refusal::RulesetVersion { id: id.clone(), known: known.clone() },
        Refusal::UnknownRuleset { name, known } => Refusal::UnknownRuleset { name: name.clone(), known: known.clone() },
        Refusal::BookCorrupt { first_bad, why } => Refusal::BookCorrupt { first_bad: *first_bad, why: why.clone() },
        other => Refusal::internal(format!("{other:?}")),
    }
}
