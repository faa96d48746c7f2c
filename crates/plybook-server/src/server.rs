//! Starts a node, and lets it go without losing anything.
//!
//! Invariants: a node listens only once its store is ready; on draining no acknowledged move is lost
//! and every stream is told; draining ends inside its time limit.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use plybook_bots::Bots;
use plybook_rulesets::Registry;
use plybook_store::{Error, News, Store, Wakes};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_util::sync::CancellationToken;
use tonic_health::server::HealthReporter;

use crate::auth::Authenticator;
use crate::clock::{Clock, SteeredClock};
use crate::config::{Config, ConfigError};
use crate::edge::{Connections, Incoming, Tls, TlsError};
use crate::feed::Feeds;
use crate::front;
use crate::games::{Games, Means, Snapshots};
use crate::heartbeat::Heartbeat;
use crate::ids::{Ids, SystemIds};
use crate::readiness::Readiness;
use crate::refusal_log::{LogWork, RefusalLog};
use crate::service::Service;
use crate::streams::{Hub, Slots};
use crate::sweeper::Sweeper;
use crate::telemetry::{self, Observed};
use crate::thinking::Thinking;
use crate::upkeep::Upkeep;

const STEERING_INTERVAL: Duration = Duration::from_secs(30);
/// Between two looks whether the store is ready.
const HEALTH_INTERVAL: Duration = Duration::from_secs(1);
/// A store that has not answered for so long is not ready.
const LOOK_WITHIN: Duration = Duration::from_secs(1);

/// What a node is made of.
pub struct Parts {
    /// Where books are kept.
    pub store: Arc<dyn Store>,
    /// How nodes over one store hear of one another's entries.
    pub wakes: Arc<dyn Wakes>,
    /// The rulesets.
    pub registry: Registry,
    /// The strategies.
    pub bots: Bots,
    /// Where the time comes from.
    pub clock: Arc<dyn Clock>,
    /// Where ids and seeds come from.
    pub ids: Arc<dyn Ids>,
    /// The same clock, where it is to be steered to the store's.
    pub steered: Option<Arc<SteeredClock>>,
}

impl Parts {
    /// What a node is made of in earnest.
    pub fn system(store: Arc<dyn Store>, wakes: Arc<dyn Wakes>) -> Parts {
        let clock = Arc::new(SteeredClock::default());
        let (registry, bots) = (Registry::standard(), Bots::standard());
        Parts { store, wakes, registry, bots, clock: clock.clone(), ids: Arc::new(SystemIds), steered: Some(clock) }
    }
}

/// Why a node does not start.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The configuration cannot work.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// There is no TLS with these certificates.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The store is not ready.
    #[error(transparent)]
    Store(#[from] plybook_store::Error),
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {why}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why.
        why: String,
    },
    /// Reflection cannot describe the contract: a fault of ours.
    #[error("the contract's description is broken: {0}")]
    Reflection(String),
}

/// A running node.
pub struct Server {
    address: SocketAddr,
    connections: Arc<Connections>,
    store: Arc<dyn Store>,
    games: Arc<Games>,
    hub: Arc<Hub>,
    thinking: Arc<Thinking>,
    draining: CancellationToken,
    stopped: CancellationToken,
    serving: JoinHandle<Result<(), tonic::transport::Error>>,
    background: Vec<JoinHandle<()>>,
    /// What it does by itself, and ends by itself.
    chores: Vec<JoinHandle<()>>,
    refusals: LogWork,
    health: HealthReporter,
    readiness: Arc<Readiness>,
    drain_timeout: Duration,
}

impl Server {
    /// Starts to serve.
    pub async fn start(config: Config, parts: Parts) -> Result<Server, ServeError> {
        config.check()?;
        let parts = Parts { store: telemetry::timed(parts.store), ..parts };
        let tls = config.tls.clone().map(|files| Tls::read(files, config.web.is_some())).transpose()?.map(Arc::new);
        parts.store.ready().await?;
        if let Some(clock) = &parts.steered {
            clock.steer(parts.store.as_ref()).await?;
        }
        let authenticator = Authenticator::start(&config.auth, Arc::clone(&parts.store), Arc::clone(&parts.clock)).await?;
        // Before anything is settled: what lies behind this is an outage or none.
        let heartbeat = Arc::new(Heartbeat::new(Arc::clone(&parts.store), &config.limits));
        heartbeat.beat().await?;
        let refused = |why: &dyn std::fmt::Display| ServeError::Listen { address: config.listen, why: why.to_string() };
        let connections = Connections::new(&config.limits);
        let bound =
            Incoming::bind(config.listen, Arc::clone(&connections), config.limits.handshake_timeout).map_err(|error| refused(&error))?;
        let incoming = bound.tls(tls.clone()).http1(config.web.is_some());
        let address = incoming.local_addr().map_err(|error| refused(&error))?;

        let draining = CancellationToken::new();
        let (store, clock, steered) = (Arc::clone(&parts.store), Arc::clone(&parts.clock), parts.steered.clone());
        let (log, refusals) = RefusalLog::start(Arc::clone(&store), Arc::clone(&parts.clock), &config.limits);
        let service = Arc::new(service(&config, parts, log, Arc::clone(&heartbeat), draining.clone()));
        let (games, thinking, hub) = (Arc::clone(&service.games), Arc::clone(&service.thinking), Arc::clone(&service.hub));
        let readiness = Arc::<Readiness>::default();
        telemetry::observe(Observed {
            games: Arc::clone(&games),
            hub: Arc::clone(&hub),
            slots: service.slots.clone(),
            thinking: Arc::clone(&thinking),
            readiness: Arc::clone(&readiness),
            refusals: refusals.lost(),
        });
        let background = background(&service, heartbeat, steered);
        let looks_at_keys = authenticator.background();
        let sweeper = Sweeper::new(Arc::clone(&games), clock, draining.clone(), &config.limits);
        let chores = vec![tokio::spawn(sweeper.run()), tokio::spawn(Arc::clone(&games).play_bots())];
        let stopped = CancellationToken::new();
        let (health, serving) = front::serve(&config, authenticator, service, incoming, stopped.clone())?;
        // Before the first connection, or who asks early hears of no such service.
        announce(&health, true).await;
        let serving = tokio::spawn(serving);
        let watcher = tokio::spawn(follow_store(health.clone(), Arc::clone(&readiness), Arc::clone(&store), draining.clone()));
        let background = background.into_iter().chain(looks_at_keys).chain([watcher]);
        let background = background.chain(tls.map(|tls| tokio::spawn(tls.follow()))).collect();
        let drain_timeout = config.limits.drain_timeout;
        Ok(Server {
            address,
            connections,
            store,
            games,
            hub,
            thinking,
            draining,
            stopped,
            serving,
            background,
            chores,
            refusals,
            health,
            readiness,
            drain_timeout,
        })
    }

    /// Where the node listens.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The connections of its callers.
    pub fn connections(&self) -> &Connections {
        &self.connections
    }

    /// How many refused requests this node could not remember.
    pub fn refusals_lost(&self) -> u64 {
        self.refusals.lost().count()
    }

    /// Whether this node should be given work.
    pub const fn readiness(&self) -> &Arc<Readiness> {
        &self.readiness
    }

    /// What became of snapshots on this node.
    pub fn snapshots(&self) -> &Snapshots {
        self.games.snapshots()
    }

    /// What this node has done by itself.
    pub fn upkeep(&self) -> &Upkeep {
        self.games.upkeep()
    }

    /// The feeds that are followed on this node, and for how long entries have been waiting to be shown in them.
    pub fn feeds(&self) -> &Feeds {
        self.hub.feeds()
    }

    /// In how many games bots are at work on this node.
    pub fn bot_jobs(&self) -> usize {
        self.games.bot_jobs()
    }

    /// What its bots thought about.
    pub fn thinking(&self) -> &Thinking {
        &self.thinking
    }

    /// Lets the node go: health says so, streams are told, calls in flight finish, the store closes.
    pub async fn drain(self) {
        self.readiness.drains();
        announce(&self.health, false).await;
        self.draining.cancel();
        self.stopped.cancel();
        let by = Instant::now() + self.drain_timeout;
        let chores = self.chores.into_iter().map(|chore| (chore, "some due games were not let go in time"));
        let serving = tokio::spawn(async move { drop(self.serving.await) });
        for (work, late) in chores.chain([(serving, "some calls did not end in time")]) {
            let abort = work.abort_handle();
            if timeout_at(by, work).await.is_err() {
                tracing::warn!("{late}");
                abort.abort();
            }
        }
        self.refusals.finish().await;
        self.background.iter().for_each(JoinHandle::abort);
        let closed = async { tokio::join!(self.store.close(), self.games.wakes().close()) };
        if tokio::time::timeout(Duration::from_secs(1), closed).await.is_err() {
            tracing::warn!("the store did not close in time");
        }
    }
}

fn background(service: &Service, heartbeat: Arc<Heartbeat>, steered: Option<Arc<SteeredClock>>) -> Vec<JoinHandle<()>> {
    let (hub, games, store) = (Arc::clone(&service.hub), Arc::clone(&service.games), Arc::clone(service.games.store()));
    let mut wakes = service.games.wakes().subscribe();
    let saver = tokio::spawn(Arc::clone(&games).save_snapshots());
    let listener = tokio::spawn(async move {
        while let Some(news) = wakes.recv().await {
            if let News::Entry(wake) = news {
                games.heard(wake.key, wake.seq);
            }
            hub.hear(news);
        }
    });
    let mut tasks = vec![saver, listener, tokio::spawn(heartbeat.keep_beating())];
    if let Some(clock) = steered {
        tasks.push(tokio::spawn(async move { clock.keep_steering(store.as_ref(), STEERING_INTERVAL).await }));
    }
    tasks
}

fn service(config: &Config, parts: Parts, refusals: RefusalLog, heartbeat: Arc<Heartbeat>, draining: CancellationToken) -> Service {
    let (limits, keys) = (&config.limits, Arc::new(config.keys.clone()));
    let Parts { store, wakes, registry, bots, clock, ids, steered: _ } = parts;
    let hub = Arc::new(Hub::default());
    let thinking = Arc::new(Thinking::new(bots, limits, draining.clone()));
    let means = Means {
        store,
        wakes,
        registry,
        clock: Arc::clone(&clock),
        ids,
        hub: Arc::clone(&hub),
        refusals,
        thinking: Arc::clone(&thinking),
        heartbeat,
        draining: draining.clone(),
    };
    let games = Games::new(means, limits);
    let imports = Arc::new(Semaphore::new(limits.imports.min(Semaphore::MAX_PERMITS)));
    let (games, slots) = (Arc::new(games), Slots::new(limits));
    Service { games, thinking, hub, clock, slots, imports, limits: limits.clone(), keys, auth: config.auth.clone(), draining }
}

/// Health says SERVING while the store is ready. One look is under way at a time, however long it takes.
async fn follow_store(health: HealthReporter, readiness: Arc<Readiness>, store: Arc<dyn Store>, draining: CancellationToken) {
    let told = Told { health, readiness, was_ready: None };
    draining.run_until_cancelled_owned(told.follow(store)).await;
}

/// What was told of the store.
struct Told {
    health: HealthReporter,
    readiness: Arc<Readiness>,
    was_ready: Option<bool>,
}

impl Told {
    async fn follow(mut self, store: Arc<dyn Store>) {
        loop {
            let (mut look, mut written) = (store.ready(), store.vitals().appends.entries);
            let found = loop {
                match timeout(LOOK_WITHIN, &mut look).await {
                    Ok(found) => break found,
                    // While entries are written it is there, and the look waits for a connection.
                    Err(_) if store.vitals().appends.entries != written => written = store.vitals().appends.entries,
                    Err(_) => self.tell(&Err(Error::Unavailable(format!("no answer within {LOOK_WITHIN:?}")))).await,
                }
            };
            self.tell(&found).await;
            tokio::time::sleep(HEALTH_INTERVAL).await;
        }
    }

    async fn tell(&mut self, found: &Result<(), Error>) {
        self.readiness.store(found);
        if self.was_ready == Some(found.is_ok()) {
            return;
        }
        if let Err(error) = found {
            tracing::warn!(%error, "the store is not ready");
        }
        self.was_ready = Some(found.is_ok());
        announce(&self.health, found.is_ok()).await;
    }
}

async fn announce(health: &HealthReporter, serving: bool) {
    let status = if serving { tonic_health::ServingStatus::Serving } else { tonic_health::ServingStatus::NotServing };
    for name in ["", "plybook.v1.GameService", "plybook.v1.AuditService"] {
        health.set_service_status(name, status).await;
    }
}
