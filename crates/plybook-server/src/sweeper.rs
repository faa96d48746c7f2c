//! Looks after the queue of due games.
//!
//! A row that is due by the database's clock is claimed, by whichever node comes first, for as long as a lease. A row of the kind
//! *time* is handled here: the game is followed to the head that the store has, what is overdue is settled, and the row is put
//! off to when somebody has to look next, or removed. A row of the kind *bot* is handed to the game's job.
//!
//! Invariants: so many games are looked at at once, and no more rows are claimed than can be handled at once; a lease
//! that ends makes somebody else look, which is harmless, since every append is checked by its head; nothing spins: a
//! claim that finds nothing, a row that is not due by this node's clock and a row that cannot be handled are each waited for.

use std::sync::Arc;
use std::time::Duration;

use plybook_store::{Claimed, DueKind, Store};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::alarm::Alarm;
use crate::clock::Clock;
use crate::games::Games;
use crate::games::reminder::{later, until};
use crate::limits::{BOT_JOBS_MAX, DUE_CLAIMED_AT_ONCE, Limits};
use crate::refusal::Refusal;
use crate::telemetry;
use crate::upkeep::{Chore, Upkeep};

/// Between two looks where the first found nothing to claim, although something was due.
const PAUSE: Duration = Duration::from_millis(10);

/// See the module.
pub struct Sweeper {
    games: Arc<Games>,
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    alarm: Arc<Alarm>,
    upkeep: Arc<Upkeep>,
    draining: CancellationToken,
    most: usize,
    slots: Arc<Semaphore>,
    poll: Duration,
    lease: Duration,
}

impl Sweeper {
    /// Nothing is looked at yet.
    pub fn new(games: Arc<Games>, clock: Arc<dyn Clock>, draining: CancellationToken, limits: &Limits) -> Sweeper {
        let most = limits.sweepers.min(Semaphore::MAX_PERMITS);
        let (store, alarm, upkeep) = (Arc::clone(games.store()), Arc::clone(games.alarm()), Arc::clone(games.upkeep()));
        let slots = Arc::new(Semaphore::new(most));
        Sweeper { games, store, clock, alarm, upkeep, draining, most, slots, poll: limits.due_poll, lease: limits.due_lease }
    }

    /// Until the node goes away, and then until what has begun is done.
    pub async fn run(self) {
        let sweeper = Arc::new(self);
        let mut handling = JoinSet::new();
        if sweeper.most > 0 {
            sweeper.sweep(&mut handling).await;
        }
        while handling.join_next().await.is_some() {}
    }

    async fn sweep(self: &Arc<Self>, handling: &mut JoinSet<()>) {
        let mut in_vain = 0u32;
        while !self.draining.is_cancelled() {
            while handling.try_join_next().is_some() {}
            let next = self.store.next_due().await;
            if let Ok(next) = &next {
                self.upkeep.saw_first_due(*next);
            }
            let wait = match next {
                Ok(Some(next)) if next <= self.clock.now() => match self.claim(handling).await {
                    0 => {
                        in_vain = in_vain.saturating_add(1);
                        PAUSE.saturating_mul(in_vain).min(self.poll)
                    }
                    _ => {
                        in_vain = 0;
                        continue;
                    }
                },
                Ok(next) => next.map_or(self.poll, |next| until(self.clock.now(), next).min(self.poll)),
                Err(error) => {
                    tracing::debug!(%error, "the queue cannot be looked at");
                    self.poll
                }
            };
            self.alarm.sleeps_until(Some(later(self.clock.now(), wait)));
            tokio::select! {
                () = self.draining.cancelled() => {}
                () = sleep(wait) => {}
                () = self.alarm.rung() => {}
            }
            self.alarm.sleeps_until(None);
        }
    }

    /// Claims as many rows as can be handled at once, and answers how many.
    async fn claim(self: &Arc<Self>, handling: &mut JoinSet<()>) -> usize {
        let one = tokio::select! {
            () = self.draining.cancelled() => return 0,
            one = self.slots.acquire() => one,
        };
        let free = (1 + self.slots.available_permits()).min(DUE_CLAIMED_AT_ONCE);
        let claimed = match self.store.claim_due(free as u32, self.lease).await {
            Ok(claimed) => claimed,
            Err(error) => {
                tracing::debug!(%error, "nothing could be claimed");
                return 0;
            }
        };
        let count = claimed.len();
        drop(one);
        for claim in claimed {
            self.upkeep.add(Chore::Claimed);
            telemetry::count_due(claim.key.kind, claim.due, self.clock.now());
            let slot = Arc::clone(&self.slots).acquire_owned().await;
            let sweeper = Arc::clone(self);
            handling.spawn(async move {
                sweeper.handle(&claim).await;
                drop(slot);
            });
        }
        count
    }

    async fn handle(&self, claim: &Claimed) {
        if self.draining.is_cancelled() {
            return self.games.let_go(claim).await;
        }
        match claim.key.kind {
            DueKind::Time => self.handle_time(claim).await,
            DueKind::Bot if self.games.take_bot_turn(*claim) => {}
            // By now nobody plays here any more.
            DueKind::Bot if self.draining.is_cancelled() => self.games.let_go(claim).await,
            DueKind::Bot => self.games.put_off(claim, &Refusal::Busy { limit: "bot_jobs", most: BOT_JOBS_MAX as u64 }).await,
        }
    }

    async fn handle_time(&self, claim: &Claimed) {
        let (key, games) = (claim.key.game, Arc::clone(&self.games));
        // In a task of its own: one that panics is one that could not be handled.
        let looked = tokio::spawn(async move { games.settle_overdue(key).await }).await;
        let looked = match looked.unwrap_or_else(|error| Err(Refusal::internal(format!("settling panicked: {error}")))) {
            Ok(looked) => looked,
            Err(Refusal::GameNotFound | Refusal::GameReadOnly { .. }) => return self.games.settled(claim, None).await,
            Err(refusal) => return self.games.put_off(claim, &refusal).await,
        };
        if looked.rescue {
            self.games.rescue(key);
        }
        match looked.next.filter(|next| looked.settled == 0 && *next <= claim.due) {
            // The database's clock is ahead of this node's: put off to its own time, the row would be claimed again at once.
            Some(next) => self.games.held_for(claim, until(looked.at, next).clamp(PAUSE, self.poll.max(PAUSE))).await,
            None => self.games.settled(claim, looked.next).await,
        }
    }
}
