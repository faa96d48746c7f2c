//! Where bots think: threads of their own, beside the runtime that serves calls.
//!
//! Thinking takes a core, and memory besides: a solver's table alone has up to 64 MiB. So the number of thinkers
//! bounds both: a node whose thinkers are all at work holds some 64 MiB for each of them. Whoever wants something
//! thought about takes a [`Place`] first. A bot that is to move waits for one as long as it takes. A caller who
//! wants advice waits a while, among so many others, and is then sent away; and where there is more than one
//! thinker, advice leaves one of them to the bots.
//!
//! Invariants: a place is free again when its thread has stopped, not when its caller has gone; thinking stops soon
//! after its caller went away, after its token was cancelled, and when the node drains; a strategy that panics is
//! an error for its caller and for nobody else; what is thought about is a game of the thread's own.

use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use plybook_bots::{Bots, Budget, Chance, Choice, Meter, NoChoice, Strategy, View};
use plybook_core::Game;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::limits::Limits;
use crate::refusal::Refusal;

/// The thinkers of a node.
pub struct Thinking {
    bots: Bots,
    thinkers: usize,
    free: Arc<Semaphore>,
    quick: Arc<Semaphore>,
    for_advice: Arc<Semaphore>,
    waiting: Semaphore,
    queue: usize,
    wait: Duration,
    draining: CancellationToken,
    counts: Arc<Counts>,
}

/// The right to one thinker, until it is dropped.
#[derive(Debug)]
pub struct Place {
    _thinker: OwnedSemaphorePermit,
    _advice: Option<OwnedSemaphorePermit>,
}

/// What is to be thought about.
#[derive(Debug)]
pub struct Question {
    /// The game. Nobody else's game is touched.
    pub game: Arc<Game>,
    /// Nodes that may be spent.
    pub budget: Budget,
    /// Where random numbers come from.
    pub draws: Draws,
    /// Stops it. It stops as well when whoever waits for the answer goes away.
    pub cancel: CancellationToken,
}

/// Where a thinker's random numbers come from.
#[derive(Clone, Debug)]
pub enum Draws {
    /// From the position, which everybody may know: no seed is asked.
    Advice,
    /// From a bot's own key, as the game's seed gives it.
    Own(Chance),
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unthought {
    /// No thinker was free in time.
    #[error("{limit} is limited to {most}")]
    Busy {
        /// The limit's name.
        limit: &'static str,
        /// Its value.
        most: u64,
    },
    /// Nobody is to move, or the strategy does not play this game.
    #[error("there is nothing to choose")]
    Nothing,
    /// It was told to stop.
    #[error("the search was stopped")]
    Stopped,
    /// The node is going away.
    #[error("the node is going away")]
    Draining,
    /// The strategy panicked.
    #[error("a strategy panicked")]
    Panicked,
}

impl Unthought {
    const fn of(why: NoChoice, draining: bool) -> Unthought {
        match why {
            NoChoice::Nothing => Unthought::Nothing,
            NoChoice::Stopped if draining => Unthought::Draining,
            NoChoice::Stopped => Unthought::Stopped,
        }
    }
}

impl From<Unthought> for Refusal {
    fn from(why: Unthought) -> Refusal {
        match why {
            Unthought::Busy { limit, most } => Refusal::Busy { limit, most },
            Unthought::Draining => Refusal::Draining,
            Unthought::Nothing | Unthought::Stopped | Unthought::Panicked => Refusal::internal(why.to_string()),
        }
    }
}

#[derive(Debug, Default)]
struct Counts {
    nodes: AtomicU64,
    answers: AtomicU64,
    stopped: AtomicU64,
    panics: AtomicU64,
    sent_away: AtomicU64,
}

impl Counts {
    fn add<T>(&self, found: &Result<Result<T, NoChoice>, ()>, spent: u64) {
        self.nodes.fetch_add(spent, Ordering::Relaxed);
        let count = match found {
            Ok(Err(NoChoice::Stopped)) => &self.stopped,
            Ok(_) => &self.answers,
            Err(()) => &self.panics,
        };
        count.fetch_add(1, Ordering::Relaxed);
    }
}

impl Thinking {
    /// So many thinkers as the limits say, nobody at work yet.
    pub fn new(bots: Bots, limits: &Limits, draining: CancellationToken) -> Thinking {
        let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
        let thinkers = if limits.thinkers == 0 { (cores - 1).max(1) } else { limits.thinkers };
        let of = |places: usize| Semaphore::new(places.min(Semaphore::MAX_PERMITS));
        Thinking {
            bots,
            thinkers,
            free: Arc::new(of(thinkers)),
            quick: Arc::new(of(cores)),
            for_advice: Arc::new(of((thinkers - 1).max(1))),
            waiting: of(limits.advice_queue),
            queue: limits.advice_queue,
            wait: limits.advice_wait,
            draining,
            counts: Arc::default(),
        }
    }

    /// The strategies of this node.
    pub const fn bots(&self) -> &Bots {
        &self.bots
    }

    /// How many think at once.
    pub const fn thinkers(&self) -> usize {
        self.thinkers
    }

    /// A place for a bot that is to move, whenever there is one.
    pub async fn place(&self) -> Result<Place, Unthought> {
        self.place_among(&self.free).await
    }

    /// The same for a quick bot, which waits for no other: there are as many of these as cores, and what is thought
    /// in them takes little memory.
    pub async fn quick_place(&self) -> Result<Place, Unthought> {
        self.place_among(&self.quick).await
    }

    async fn place_among(&self, places: &Arc<Semaphore>) -> Result<Place, Unthought> {
        let thinker = Arc::clone(places).acquire_owned();
        let thinker = tokio::select! {
            () = self.draining.cancelled() => return Err(Unthought::Draining),
            thinker = thinker => thinker.map_err(|_| Unthought::Draining)?,
        };
        Ok(Place { _thinker: thinker, _advice: None })
    }

    /// A place for advice, if there is one soon.
    pub async fn place_for_advice(&self) -> Result<Place, Unthought> {
        let by = Instant::now() + self.wait;
        let advice = match Arc::clone(&self.for_advice).try_acquire_owned() {
            Ok(advice) => advice,
            Err(_) => self.wait_for_advice(by).await?,
        };
        // Bots that think, or have waited for longer, may have all that is left.
        let place = timeout_at(by, self.place()).await.map_err(|_| self.busy("thinkers", self.thinkers))??;
        Ok(Place { _advice: Some(advice), ..place })
    }

    async fn wait_for_advice(&self, by: Instant) -> Result<OwnedSemaphorePermit, Unthought> {
        let _turn = self.waiting.try_acquire().map_err(|_| self.busy("advice_queue", self.queue))?;
        let free = Arc::clone(&self.for_advice).acquire_owned();
        tokio::select! {
            () = self.draining.cancelled() => Err(Unthought::Draining),
            free = timeout_at(by, free) => match free {
                Ok(free) => free.map_err(|_| Unthought::Draining),
                Err(_) => Err(self.busy("thinkers", self.thinkers)),
            },
        }
    }

    fn busy(&self, limit: &'static str, most: usize) -> Unthought {
        self.counts.sent_away.fetch_add(1, Ordering::Relaxed);
        Unthought::Busy { limit, most: most as u64 }
    }

    /// What a strategy chooses.
    pub async fn choose(&self, place: Place, strategy: Arc<dyn Strategy>, question: Question) -> Result<Choice, Unthought> {
        self.think(place, question, move |view, meter, chance| strategy.choose(view, meter, chance)).await
    }

    /// Does `work` on a thread of its own.
    pub async fn think<T: Send + 'static>(
        &self,
        place: Place,
        question: Question,
        work: impl FnOnce(&View<'_>, &mut Meter<'_>, &mut Chance) -> Result<T, NoChoice> + Send + 'static,
    ) -> Result<T, Unthought> {
        let Question { game, budget, draws, cancel } = question;
        let cancel = cancel.child_token();
        // Whoever drops this future does not want the answer any more.
        let _wanted = cancel.clone().drop_guard();
        let (counts, draining, span) = (Arc::clone(&self.counts), self.draining.clone(), tracing::Span::current());
        let thread = tokio::task::spawn_blocking(move || {
            let _entered = span.enter();
            let _place = place;
            let stop = || cancel.is_cancelled() || draining.is_cancelled();
            let mut meter = Meter::new(budget, &stop);
            let view = View::of(&game);
            // Nothing of it is used again after a panic but the count of nodes.
            let found = catch_unwind(AssertUnwindSafe(|| {
                meter.ask()?;
                let mut chance = match draws {
                    Draws::Advice => Chance::for_advice(&view),
                    Draws::Own(chance) => chance,
                };
                work(&view, &mut meter, &mut chance)
            }));
            let found = found.map_err(|_| ());
            counts.add(&found, meter.spent());
            match found {
                Ok(found) => found.map_err(|why| Unthought::of(why, draining.is_cancelled())),
                Err(()) => {
                    tracing::error!(game = %game.header().game, "a strategy panicked");
                    Err(Unthought::Panicked)
                }
            }
        });
        // A runtime that ends drops what has not begun.
        thread.await.unwrap_or(Err(Unthought::Draining))
    }

    /// Nodes spent so far, also on what was stopped.
    pub fn nodes(&self) -> u64 {
        self.counts.nodes.load(Ordering::Relaxed)
    }

    /// Choices and analyses that came to their end so far.
    pub fn answers(&self) -> u64 {
        self.counts.answers.load(Ordering::Relaxed)
    }

    /// How many were stopped so far.
    pub fn stopped(&self) -> u64 {
        self.counts.stopped.load(Ordering::Relaxed)
    }

    /// How many panicked so far.
    pub fn panics(&self) -> u64 {
        self.counts.panics.load(Ordering::Relaxed)
    }

    /// How many callers found no place in time so far.
    pub fn sent_away(&self) -> u64 {
        self.counts.sent_away.load(Ordering::Relaxed)
    }
}
