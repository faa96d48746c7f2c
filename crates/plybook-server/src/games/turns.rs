//! The games in which a bot is at work on this node.
//!
//! Invariant: a game has one job here at most. Whoever calls a bot while its game has one makes the job look again
//! before it ends, so no turn is missed; a thought about a turn that is over is stopped.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use plybook_core::Seq;
use plybook_store::{Claimed, GameKey};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::games::reminder::Turn;
use crate::limits::BOT_JOBS_MAX;

/// Calls that wait for whoever plays: one that begins each job, and as many that follow.
const CALLS_MAX: usize = 2 * BOT_JOBS_MAX;

/// What is to be done.
pub(super) enum Call {
    /// A job begins.
    Begin(GameKey),
    /// The store has an entry that this node has not seen, and a bot thinks about an earlier one.
    Follow(GameKey),
}

/// See the module.
pub(super) struct Turns {
    jobs: Mutex<HashMap<GameKey, Job>>,
    calls: mpsc::Sender<Call>,
    /// Taken by whoever plays.
    to_play: Mutex<Option<mpsc::Receiver<Call>>>,
}

#[derive(Default)]
struct Job {
    again: bool,
    claim: Option<Claimed>,
    thought: Option<Thought>,
}

struct Thought {
    turn: Turn,
    head: Seq,
    stop: CancellationToken,
}

impl Turns {
    pub(super) fn new() -> Turns {
        let (calls, to_play) = mpsc::channel(CALLS_MAX);
        Turns { jobs: Mutex::default(), calls, to_play: Mutex::new(Some(to_play)) }
    }

    /// The calls, for whoever plays; once.
    pub(super) fn take(&self) -> Option<mpsc::Receiver<Call>> {
        self.to_play.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Has a bot look at a game, for a claimed row or for none; no where there is no room for one more.
    pub(super) fn call(&self, key: GameKey, claim: Option<Claimed>) -> bool {
        let mut jobs = self.jobs();
        if let Some(job) = jobs.get_mut(&key) {
            job.again = true;
            job.claim = claim.or(job.claim);
            return true;
        }
        if jobs.len() >= BOT_JOBS_MAX {
            return false;
        }
        // Refused where too many calls wait, or nobody plays any more since the node is going away.
        let called = self.calls.try_send(Call::Begin(key)).is_ok();
        if called {
            jobs.insert(key, Job { claim, ..Job::default() });
        }
        called
    }

    /// A job looks at its game, and takes over the claim that there is.
    pub(super) fn looks(&self, key: GameKey) -> Option<Claimed> {
        let mut jobs = self.jobs();
        let job = jobs.get_mut(&key)?;
        job.again = false;
        job.claim.take()
    }

    /// A job has nothing more to do; answers whether it must look again.
    pub(super) fn goes_on(&self, key: GameKey) -> bool {
        let mut jobs = self.jobs();
        let again = jobs.get(&key).is_some_and(|job| job.again);
        if !again {
            jobs.remove(&key);
        }
        if jobs.is_empty() && jobs.capacity() > 1_024 {
            jobs.shrink_to_fit();
        }
        again
    }

    /// A bot begins to think; answers what stops it.
    pub(super) fn thinks(&self, key: GameKey, turn: Turn, head: Seq) -> CancellationToken {
        let stop = CancellationToken::new();
        if let Some(job) = self.jobs().get_mut(&key) {
            job.thought = Some(Thought { turn, head, stop: stop.clone() });
        }
        stop
    }

    /// The game stands at this turn now.
    pub(super) fn moved_on(&self, key: GameKey, now: Option<Turn>) {
        let mut jobs = self.jobs();
        let Some(job) = jobs.get_mut(&key) else { return };
        if let Some(thought) = job.thought.take_if(|thought| Some(thought.turn) != now) {
            thought.stop.cancel();
        }
    }

    /// Another node has appended this entry.
    pub(super) fn heard(&self, key: GameKey, seq: Seq) {
        let mut jobs = self.jobs();
        let thought = jobs.get_mut(&key).and_then(|job| job.thought.as_mut());
        if let Some(thought) = thought.filter(|thought| thought.head < seq) {
            thought.head = seq;
            // Not followed, its answer is refused by the head.
            let _ = self.calls.try_send(Call::Follow(key));
        }
    }

    /// How many jobs there are.
    pub(super) fn len(&self) -> usize {
        self.jobs().len()
    }

    fn jobs(&self) -> MutexGuard<'_, HashMap<GameKey, Job>> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
