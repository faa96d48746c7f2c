//! The games of a node on which nobody plays for bots, until a test does.
//!
//! Invariant: there is no server and no task beside them, so that nothing happens between two steps of a test.

use std::sync::Arc;

use plybook_bots::Bots;
use plybook_rulesets::Registry;
use plybook_server::clock::Clock;
use plybook_server::games::{Games, Means};
use plybook_server::heartbeat::Heartbeat;
use plybook_server::ids::SystemIds;
use plybook_server::limits::Limits;
use plybook_server::refusal_log::RefusalLog;
use plybook_server::streams::Hub;
use plybook_server::thinking::Thinking;
use plybook_store::Store;
use tokio_util::sync::CancellationToken;

use crate::injected::SetClock;

/// The games, and what has their node go away.
pub fn games(store: &Arc<dyn Store>) -> (Arc<Games>, CancellationToken) {
    let limits = Limits { refusals_per_game: 0, ..Limits::default() };
    let (clock, draining) = (Arc::new(SetClock::default()) as Arc<dyn Clock>, CancellationToken::new());
    let (refusals, _) = RefusalLog::start(Arc::clone(store), Arc::clone(&clock), &limits);
    let means = Means {
        store: Arc::clone(store),
        wakes: crate::bus::none(),
        registry: Registry::standard(),
        clock,
        ids: Arc::new(SystemIds),
        hub: Arc::new(Hub::default()),
        refusals,
        thinking: Arc::new(Thinking::new(Bots::standard(), &limits, draining.clone())),
        heartbeat: Arc::new(Heartbeat::new(Arc::clone(store), &limits)),
        draining: draining.clone(),
    };
    (Arc::new(Games::new(means, &limits)), draining)
}
