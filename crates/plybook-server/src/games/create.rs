//! Creates a game.
//!
//! Invariant: one creating request makes one game, through however many nodes it comes.

use std::collections::BTreeMap;
use std::sync::Arc;

use plybook_core::header::{Place, Principal, SeedFrom, UndoPolicy};
use plybook_core::{Header, ParamValue, Seed, limits};
use plybook_store::{Create, GameKey, NewGame, RequestKey, TenantId};
use uuid::Uuid;

use crate::games::{Games, Opened, SharedTable, Table};
use crate::refusal::{Original, Refusal};

/// What somebody wants to create, checked for shape.
#[derive(Debug)]
pub struct Plan {
    /// Whose game it will be.
    pub tenant: TenantId,
    /// Who asks.
    pub by: Principal,
    /// The request.
    pub request: RequestKey,
    /// The ruleset's name.
    pub ruleset: String,
    /// Its version; the latest where none is named.
    pub version: Option<u32>,
    /// The parameters given.
    pub params: BTreeMap<String, ParamValue>,
    /// The seats.
    pub seats: Vec<Place>,
    /// What may be taken back.
    pub undo: UndoPolicy,
    /// The caller's seed, if there is one.
    pub seed: Option<Seed>,
}

impl Games {
    /// Creates a game, or finds the one that this request created before.
    pub async fn create(self: &Arc<Self>, plan: Plan) -> Result<Uuid, Refusal> {
        let seats = plan.seats.len() as u8;
        let tenant = plan.tenant;
        let (ruleset, params, rules) = self.registry.choose(&plan.ruleset, plan.version, plan.params, seats)?;
        let created = self.clock.now();
        let game = self.ids.game(created)?;
        let (seed, seed_from) = match plan.seed {
            Some(seed) => (seed, SeedFrom::Caller),
            None => (self.ids.seed()?, SeedFrom::Service),
        };
        let commitment = seed.commitment();
        let header = Header { game, created, by: plan.by, ruleset, params, seats: plan.seats, commitment, seed_from, undo: plan.undo };
        let text = header.to_string();
        if text.len() > limits::LINE_BYTES_MAX {
            return Err(Refusal::Limit { limit: "line_bytes", most: limits::LINE_BYTES_MAX as u64 });
        }
        let new = NewGame {
            key: GameKey { tenant, game },
            request: plan.request,
            digest: header.digest(),
            header: text,
            seed: seed.clone(),
            ruleset: header.ruleset.name.clone(),
            players: header.seats.iter().map(|place| place.player.clone()).collect(),
        };
        let key = new.key;
        // In a task of its own, so that a caller who goes away does not drop it midway.
        let store = Arc::clone(&self.store);
        let created = tokio::spawn(async move { store.create(new).await }).await;
        match created.map_err(|error| Refusal::internal(format!("a creation panicked: {error}")))?? {
            Create::Created => {
                self.remember(key, Opened { header, rules, request_id: plan.request.id }, seed).await;
                Ok(game)
            }
            Create::Repeated(game) => Ok(game),
            Create::Reused(game) => Err(Refusal::RequestIdReused(Original::Game(game))),
        }
    }

    /// A game that was just created is about to be played: what is known of it need not be read.
    async fn remember(&self, key: GameKey, opened: Opened, seed: Seed) {
        let opened = Arc::new(opened);
        self.opened.insert(key, Arc::clone(&opened)).await;
        self.tables.insert(key, SharedTable::new(Table::at_header(opened, seed))).await;
    }
}
