//! Creates a game.
//!
//! Invariant: one creating request makes one game, through however many nodes it comes.

use std::collections::BTreeMap;
use std::sync::Arc;

use plybook_core::header::{Entropy, Place, Principal, Receipts, SeedFrom, UndoPolicy};
use plybook_core::{Game, Header, ParamValue, Params, Rules, RulesetId, Seed, Seq, Terms, limits};
use plybook_store::{Create, GameKey, NewGame, RequestKey, TenantId, Wake};

use crate::games::pinning::{AskedBots, Setting, Strategies};
use crate::games::{Games, Opened, SharedTable, Table, reminder};
use crate::refusal::{Original, Refusal};
use crate::telemetry;

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
    /// Its version; the default one where none is named.
    pub version: Option<u32>,
    /// The parameters given.
    pub params: BTreeMap<String, ParamValue>,
    /// The seats.
    pub seats: Vec<Place>,
    /// What may be taken back.
    pub undo: UndoPolicy,
    /// Where the dice come from.
    pub entropy: Entropy,
    /// Which answers carry a receipt.
    pub receipts: Receipts,
    /// The bots.
    pub bots: AskedBots,
    /// The terms but for their bots.
    pub terms: Terms,
    /// The caller's seed, if there is one.
    pub seed: Option<Seed>,
}

/// A game with an id and a seed, yet to be stored.
pub(super) struct Drawn {
    pub(super) header: Header,
    pub(super) rules: Arc<dyn Rules>,
    pub(super) seed: Seed,
}

/// What the registries make of a plan.
struct Chosen {
    ruleset: RulesetId,
    params: Params,
    rules: Arc<dyn Rules>,
    terms: Terms,
}

impl Games {
    /// Creates a game, or finds the one that this request created before; as it was then.
    pub async fn create(self: &Arc<Self>, mut plan: Plan, strategies: &Strategies) -> Result<Arc<Game>, Refusal> {
        let tenant = plan.tenant;
        let Chosen { ruleset, params, rules, terms } = match self.choose(&mut plan, strategies).await {
            Ok(chosen) => chosen,
            // What this build refuses, an earlier one may have accepted of this very request.
            Err(refusal) => return self.created_before(tenant, plan.request, refusal).await,
        };
        let created = self.clock.now();
        let game = self.ids.game(created)?;
        let (seed, seed_from) = match plan.seed {
            Some(seed) => (seed, SeedFrom::Caller),
            None => (self.ids.seed()?, SeedFrom::Service),
        };
        let commitment = seed.commitment();
        let Plan { by, seats, undo, entropy, receipts, .. } = plan;
        let header = Header {
            game,
            created,
            by,
            ruleset,
            params,
            seats,
            commitment,
            seed_from,
            undo,
            origin: None,
            entropy,
            receipts,
            terms,
            rematch_of: None,
        };
        self.create_drawn(tenant, plan.request, Drawn { header, rules, seed }).await
    }

    /// Stores a game, or finds the one that this request created before; as it was then.
    pub(super) async fn create_drawn(&self, tenant: TenantId, request: RequestKey, drawn: Drawn) -> Result<Arc<Game>, Refusal> {
        let Drawn { header, rules, seed } = drawn;
        let text = header.to_string();
        if text.len() > limits::LINE_BYTES_MAX {
            return Err(Refusal::Limit { limit: "line_bytes", most: limits::LINE_BYTES_MAX as u64 });
        }
        let first = Game::new(header.clone(), Arc::clone(&rules));
        let new = NewGame {
            key: GameKey { tenant, game: header.game },
            request,
            digest: header.digest(),
            header: text,
            seed: seed.clone(),
            created: header.created,
            ruleset: header.ruleset.name.clone(),
            ruleset_version: header.ruleset.version,
            players: header.seats.iter().map(|place| place.player.clone()).collect(),
            given: Vec::new(),
            arms: reminder::arms(&first, first.header().created, self.lease),
        };
        let (key, arms) = (new.key, new.arms);
        match self.store_new(new).await? {
            Create::Created => {
                let opened = Opened { header, rules: Ok(rules), request_id: request.id, foreign: None };
                self.remember(key, opened, seed).await?;
                self.rings_at(&arms);
                self.call_bot(key, &first);
                Ok(Arc::new(first))
            }
            Create::Repeated(game) => self.first(GameKey { tenant, game }).await,
            Create::Reused(game) => Err(Refusal::RequestIdReused(Original::Game(game))),
        }
    }

    /// In a task of its own, so that a caller who goes away does not drop it midway.
    pub(super) async fn store_new(&self, new: NewGame) -> Result<Create, Refusal> {
        let (store, hub, wakes) = (Arc::clone(&self.store), Arc::clone(&self.hub), Arc::clone(&self.wakes));
        let (key, last, ruleset) = (new.key, Seq(1 + new.given.len() as u32), new.ruleset.clone());
        let created = tokio::spawn(async move {
            let created = store.create(new).await;
            if matches!(created, Ok(Create::Created)) {
                hub.created(key);
                telemetry::count_created(&ruleset);
                wakes.publish(Wake { key, seq: last });
            }
            created
        });
        Ok(created.await.map_err(|error| Refusal::internal(format!("a creation panicked: {error}")))??)
    }

    /// What the registry makes of a plan. Rules may take long to build.
    async fn choose(&self, plan: &mut Plan, strategies: &Strategies) -> Result<Chosen, Refusal> {
        let registry = Arc::clone(&self.registry);
        let (name, version, params) = (plan.ruleset.clone(), plan.version, std::mem::take(&mut plan.params));
        let seats = plan.seats.len() as u8;
        let (strategies, undo) = (strategies.clone(), plan.undo);
        let (bots, terms) = (std::mem::take(&mut plan.bots), std::mem::take(&mut plan.terms));
        let chosen = tokio::task::spawn_blocking(move || {
            let (ruleset, params, rules) = registry.choose(&name, version, params, seats)?;
            let terms = strategies.pinned(&bots, terms, &Setting { ruleset: &ruleset, params: &params, rules: &rules, seats, undo })?;
            Ok::<_, Refusal>(Chosen { ruleset, params, rules, terms })
        });
        let chosen = chosen.await.map_err(|error| Refusal::internal(format!("building rules panicked: {error}")))??;
        check_entropy(plan.entropy, &chosen.ruleset, &chosen.params)?;
        Ok(chosen)
    }

    async fn created_before(&self, tenant: TenantId, request: RequestKey, refusal: Refusal) -> Result<Arc<Game>, Refusal> {
        match self.store.find_creation(tenant, request.id).await? {
            Some((game, hash)) if hash == request.hash => self.first(GameKey { tenant, game }).await,
            Some((game, _)) => Err(Refusal::RequestIdReused(Original::Game(game))),
            None => Err(refusal),
        }
    }

    /// A game as it was created, so that every repeated answer is the first.
    pub(super) async fn first(&self, key: GameKey) -> Result<Arc<Game>, Refusal> {
        Ok(self.at(key, Seq::FIRST).await?.0)
    }

    /// A game that was just created is about to be played: what is known of it need not be read.
    async fn remember(&self, key: GameKey, opened: Opened, seed: Seed) -> Result<(), Refusal> {
        let opened = Arc::new(opened);
        self.opened.insert(key, Arc::clone(&opened)).await;
        self.tables.insert(key, SharedTable::new(Table::at_header(opened, Some(seed))?)).await;
        Ok(())
    }
}

/// Nobody is asked for a nonce where no dice are thrown.
pub(super) fn check_entropy(entropy: Entropy, ruleset: &RulesetId, params: &Params) -> Result<(), Refusal> {
    match entropy {
        Entropy::Joint(_) if !throws_dice(params) => Err(Refusal::field("joint_entropy", format!("{ruleset} throws no dice"))),
        _ => Ok(()),
    }
}

/// Rulesets that throw dice have these parameters (`proto/book-format.md`, section 2).
fn throws_dice(params: &Params) -> bool {
    ["dice", "sides"].iter().all(|name| params.values().contains_key(*name))
}
