//! A node of a simulated world: the service's games over a line of its own.
//!
//! Invariant: everything of it that decides anything is production code.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use plybook_bots::{Bots, Card, Chance, Choice, Meter, NoChoice, Strategy, View};
use plybook_core::{Seed, Time, Uuid};
use plybook_rulesets::Registry;
use plybook_server::clock::Clock;
use plybook_server::games::pinning::Strategies;
use plybook_server::games::{Games, Means};
use plybook_server::heartbeat::Heartbeat;
use plybook_server::ids::Ids;
use plybook_server::limits::Limits;
use plybook_server::refusal::Refusal;
use plybook_server::refusal_log::RefusalLog;
use plybook_server::streams::Hub;
use plybook_server::sweeper::Sweeper;
use plybook_server::thinking::Thinking;
use plybook_store::{NoWakes, Store};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use uuid::Builder;

use super::faults::Faults;
use super::line::Line;
use super::shelf::Shelf;
use super::time::NodeClock;
use crate::random::Random;

/// A node.
pub struct Node {
    /// Its line to the store.
    pub line: Arc<Line>,
    /// Its clock.
    pub clock: Arc<NodeClock>,
    /// Its games.
    pub games: Arc<Games>,
    /// What it knows of bots.
    pub strategies: Strategies,
    thought: Arc<AtomicUsize>,
    chores: Vec<JoinHandle<()>>,
    draining: CancellationToken,
}

impl Node {
    /// A node that remembers nothing. `ids` are the world's.
    pub fn start(shelf: &Arc<Shelf>, faults: &Arc<Faults>, ids: &Arc<DrawnIds>, random: &mut Random) -> Node {
        let line = Arc::new(Line::new(Arc::clone(shelf), Arc::clone(faults), Random::new(random.bits())));
        let clock = Arc::new(NodeClock::new(Arc::clone(shelf.time()), random.from_to(-40, 40)));
        let limits = Limits { refusals_per_game: 0, ..Limits::default() };
        let (store, told) = (Arc::clone(&line) as Arc<dyn Store>, Arc::clone(&clock) as Arc<dyn Clock>);
        let (refusals, _) = RefusalLog::start(Arc::clone(&store), Arc::clone(&told), &limits);
        let (thought, draining) = (Arc::default(), CancellationToken::new());
        let strategies = Strategies { bots: watched(&thought), nodes_max: limits.bot_nodes_max };
        let heartbeat = Arc::new(Heartbeat::new(Arc::clone(&store), &limits));
        let means = Means {
            store,
            // Every hint is lost: whoever needs one would be wrong.
            wakes: Arc::new(NoWakes::default()),
            registry: Registry::standard(),
            clock: Arc::clone(&told),
            ids: Arc::clone(ids) as Arc<dyn Ids>,
            hub: Arc::new(Hub::default()),
            refusals,
            thinking: Arc::new(Thinking::new(strategies.bots.clone(), &limits, draining.clone())),
            heartbeat: Arc::clone(&heartbeat),
            draining: draining.clone(),
        };
        let games = Arc::new(Games::new(means, &limits));
        let sweeper = Sweeper::new(Arc::clone(&games), told, draining.clone(), &limits);
        let chores =
            vec![tokio::spawn(heartbeat.keep_beating()), tokio::spawn(sweeper.run()), tokio::spawn(Arc::clone(&games).play_bots())];
        Node { line, clock, games, strategies, thought, chores, draining }
    }
}

impl Node {
    /// What its clock shows.
    pub fn now(&self) -> Time {
        self.clock.now()
    }

    /// Whether one of its bots thinks.
    pub fn is_at_work(&self) -> bool {
        self.thought.load(Ordering::SeqCst) > 0
    }

    /// Dies: nothing that it still does reaches the store.
    pub async fn dies(self) {
        self.line.dies();
        self.chores.iter().for_each(JoinHandle::abort);
        self.draining.cancel();
    }
}

/// A strategy, and how many of all are being asked.
struct Watched(Arc<dyn Strategy>, Arc<AtomicUsize>);

impl Strategy for Watched {
    fn card(&self) -> Card {
        self.0.card()
    }

    fn plays(&self, view: &View<'_>) -> bool {
        self.0.plays(view)
    }

    fn choose(&self, view: &View<'_>, meter: &mut Meter<'_>, chance: &mut Chance) -> Result<Choice, NoChoice> {
        self.1.fetch_add(1, Ordering::SeqCst);
        let choice = self.0.choose(view, meter, chance);
        self.1.fetch_sub(1, Ordering::SeqCst);
        choice
    }
}

fn watched(thinking: &Arc<AtomicUsize>) -> Bots {
    let bots = Bots::standard();
    let find = |card: Card| Arc::clone(bots.find(card.name, Some(card.version)).unwrap());
    bots.cards().map(find).fold(Bots::default(), |all, one| all.with(Arc::new(Watched(one, Arc::clone(thinking)))))
}

/// Ids and seeds that are drawn from the world's number.
#[derive(Debug)]
pub struct DrawnIds(Mutex<Random>);

impl DrawnIds {
    /// From a number.
    pub const fn new(number: u64) -> DrawnIds {
        DrawnIds(Mutex::new(Random::new(number)))
    }
}

impl Ids for DrawnIds {
    fn game(&self, now: Time) -> Result<Uuid, Refusal> {
        Ok(Builder::from_unix_timestamp_millis(now.unix_ms(), &self.0.lock().unwrap().bytes()).into_uuid())
    }

    fn seed(&self) -> Result<Seed, Refusal> {
        Ok(Seed::new(self.0.lock().unwrap().bytes()))
    }
}
