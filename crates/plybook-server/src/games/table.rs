//! A game at the head that this node has seen.
//!
//! Invariant: a table is a prefix of the book in the store, with the request ids of that prefix; of a
//! table that was restored from a snapshot, with those that it has seen, and it says so.
//! One lock a table puts this node's appends to one game in a row.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use plybook_core::game::State;
use plybook_core::{Digest, Entry, Game, Seed, Seq};
use plybook_store::StoredEntry;
use tokio::sync::{Mutex, OwnedMutexGuard};
use uuid::Uuid;

use crate::games::Opened;
use crate::games::unfit::Unfit;
use crate::refusal::Refusal;

/// A game at the head that this node has seen.
pub struct Table {
    /// The game.
    pub game: Game,
    /// Header and rules.
    pub opened: Arc<Opened>,
    /// The seed behind the dice; of a foreign game only once its book reveals it.
    pub seed: Option<Seed>,
    /// Which entry answered which request.
    requests: HashMap<Uuid, Seq>,
    /// Whether those are all.
    knows_every_request: bool,
}

impl Table {
    /// A table at entry 1.
    pub fn at_header(opened: Arc<Opened>, seed: Option<Seed>) -> Result<Table, Refusal> {
        let game = Game::new(opened.header.clone(), Arc::clone(opened.rules()?));
        let requests = HashMap::from([(opened.request_id, Seq::FIRST)]);
        Ok(Table { game, opened, seed, requests, knows_every_request: true })
    }

    /// Goes on from a later entry, without what was asked on the way.
    pub(super) fn skips_to(&mut self, game: Game) {
        self.game = game;
        self.knows_every_request = false;
    }

    /// Moves on by the next stored entry.
    pub(super) fn follow(&mut self, stored: &StoredEntry) -> Result<Entry, Unfit> {
        let entry = follow(&mut self.game, stored)?;
        if let (None, Some(seed)) = (&self.seed, &entry.seed) {
            self.seed = Some(seed.clone());
        }
        self.requests.insert(stored.request_id, stored.seq);
        Ok(entry)
    }

    /// Moves on by an entry that was just stored with this digest.
    pub fn appended(&mut self, entry: &Entry, digest: Digest, request_id: Uuid) -> Result<(), Refusal> {
        self.game.apply_as(entry, digest).map_err(|error| Refusal::internal(format!("decided and refused: {error}")))?;
        self.requests.insert(request_id, entry.seq);
        Ok(())
    }

    /// The seed of a game of one's own.
    pub(super) fn own_seed(&self) -> Result<Seed, Refusal> {
        self.seed.clone().ok_or_else(|| Refusal::internal("a game of one's own without a seed"))
    }

    /// The entry that answered a request, as far as this table knows.
    pub fn answered(&self, request_id: Uuid) -> Option<Seq> {
        self.requests.get(&request_id).copied()
    }

    /// Whether a request that [`Table::answered`] does not know was never answered.
    pub const fn knows_every_request(&self) -> bool {
        self.knows_every_request
    }

    fn bytes(&self) -> u32 {
        const REQUEST_BYTES: usize = 40;
        estimate_bytes(&self.game).saturating_add((self.requests.len() * REQUEST_BYTES) as u32)
    }
}

/// Moves a game on by the next stored entry.
pub(super) fn follow(game: &mut Game, stored: &StoredEntry) -> Result<Entry, Unfit> {
    game.apply_line(&stored.line, stored.digest).map_err(|error| Unfit::refusing(game, error))
}

/// About how much memory a game takes.
pub fn estimate_bytes(game: &Game) -> u32 {
    /// What `plybook bench memory` finds a process to grow by for a game, less what the game itself tells.
    const BASE_BYTES: usize = 5_376;
    let bytes = BASE_BYTES + game.bytes();
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

/// A table behind its lock, with what never changes and its weight outside it.
#[derive(Clone)]
pub struct SharedTable {
    opened: Arc<Opened>,
    table: Arc<Mutex<Table>>,
    weight: Arc<AtomicU32>,
}

impl SharedTable {
    /// Shares a table.
    pub fn new(table: Table) -> SharedTable {
        let weight = Arc::new(AtomicU32::new(table.bytes()));
        SharedTable { opened: Arc::clone(&table.opened), table: Arc::new(Mutex::new(table)), weight }
    }

    /// Header and rules, which nobody has to wait for.
    pub const fn opened(&self) -> &Arc<Opened> {
        &self.opened
    }

    /// Waits for one's turn. The guard may be taken along into a task of its own.
    pub async fn lock(&self) -> OwnedMutexGuard<Table> {
        Arc::clone(&self.table).lock_owned().await
    }

    /// The game's state, unless somebody is at it now.
    pub fn state(&self) -> Option<State> {
        self.table.try_lock().ok().map(|table| table.game.state())
    }

    /// Its weight in the cache, in bytes.
    pub fn weight(&self) -> u32 {
        self.weight.load(Ordering::Relaxed)
    }

    /// Whether the table has grown so much that the cache must weigh it again.
    pub fn outgrew(&self, table: &Table) -> bool {
        let (was, is) = (self.weight(), table.bytes());
        let grown = is > was.saturating_add(was / 2);
        if grown {
            self.weight.store(is, Ordering::Relaxed);
        }
        grown
    }
}
