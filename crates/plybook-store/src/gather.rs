//! Appends of different games travel together: while one batch is being committed, the next one gathers.
//!
//! Nobody waits for others to come: whoever finds no writer at work is written at once and alone, and what comes
//! meanwhile goes next, all of it together. So a batch is as large as the load makes it.
//!
//! | module | what it holds |
//! |---|---|
//! | `queue` | entries that wait |
//! | `shift` | a writer, from when it is wanted until it goes |
//! | `signing` | what a batch has stored is signed together |
//!
//! Invariants: a batch has at most one entry a game, since an entry is decided on the one before it; each caller
//! gets an answer of its own; what was taken in is written whether or not its caller still waits; who is refused for
//! want of room has certainly not been stored.

mod queue;
mod shift;
mod signing;

use std::collections::VecDeque;
use std::fmt;
use std::mem;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;
use tokio::time::timeout;
use tokio_util::task::TaskTracker;

use self::queue::{Batch, Queue, Waiting};
use self::shift::Shift;
use crate::counts::{AppendCounts, Counts};
use crate::error::Error;
use crate::store::{Append, NewEntry};

/// The limit that refuses an append when so many wait already.
pub const APPENDS_QUEUE: &str = "appends_queue";

/// A batch that is under way for longer is held up by something.
const SLOW: Duration = Duration::from_millis(50);

/// What came of an entry.
pub(crate) type Answer = Result<Append, Error>;

/// Who writes batches.
pub(crate) trait Writer: Send + Sync + 'static {
    /// What carries a batch.
    type Line: Send;

    /// One of the few lines that there are.
    fn line(&self) -> impl Future<Output = Result<Self::Line, Error>> + Send;

    /// Whether others can have a line now, so that nobody goes without for one that is kept.
    fn has_spare(&self) -> bool;

    /// Writes a batch, and says of each entry what came of it, in their order. The line comes back if it can be used again.
    fn write(&self, line: Self::Line, batch: &[NewEntry]) -> impl Future<Output = (Option<Self::Line>, Vec<Answer>)> + Send;
}

/// What a writer does next.
enum Turn {
    /// Empty where all have waited for too long.
    Write(Batch),
    /// Nothing, until this rings.
    Rest(oneshot::Receiver<()>),
    Go,
}

/// How many may be in it, and for how long.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Entries that wait.
    pub(crate) queue: usize,
    /// Batches under way at once.
    pub(crate) writers: usize,
    /// How many wait when another writer begins, beside those that are at work.
    pub(crate) crowd: usize,
    /// How long an entry waits for its batch to begin.
    pub(crate) patience: Duration,
}

/// Entries that wait for a batch, and those who write them.
pub(crate) struct Gather<W> {
    writer: W,
    bounds: Bounds,
    queue: Mutex<Queue>,
    counts: Arc<Counts>,
    /// Ends when all is written.
    tasks: TaskTracker,
}

impl<W: Writer> Gather<W> {
    /// Writers are tasks of this tracker.
    pub(crate) fn new(writer: W, bounds: Bounds, counts: Arc<Counts>, tasks: TaskTracker) -> Arc<Gather<W>> {
        Arc::new(Gather { writer, bounds, queue: Mutex::default(), counts, tasks })
    }

    /// Takes an entry in and waits for what comes of it.
    pub(crate) async fn append(self: &Arc<Self>, entry: NewEntry) -> Answer {
        let (answer, told) = oneshot::channel();
        if self.enter(Waiting { entry, since: Instant::now(), answer })? {
            self.begin();
        }
        told.await.unwrap_or_else(|_| Err(Error::Unavailable("the process is ending".to_owned())))
    }

    /// Writes an entry that travels with no others.
    pub(crate) async fn alone(&self, entry: NewEntry) -> Answer {
        let (_, answers) = self.writer.write(self.writer.line().await?, &[entry]).await;
        answers.into_iter().next().unwrap_or_else(|| Err(Error::Failed("an append without an answer".to_owned())))
    }

    /// How many wait now.
    pub(crate) fn waiting(&self) -> u64 {
        self.queue().waiting.len() as u64
    }

    pub(crate) fn counts(&self) -> AppendCounts {
        self.counts.read()
    }

    /// A writer that has been counted already.
    fn begin(self: &Arc<Self>) {
        self.tasks.spawn(Shift::new(Arc::clone(self)).work());
    }

    /// Whether another writer is to begin.
    fn enter(&self, waiting: Waiting) -> Result<bool, Error> {
        let mut queue = self.queue();
        if queue.waiting.len() >= self.bounds.queue {
            drop(queue);
            self.counts.refused();
            return Err(Error::Busy { limit: APPENDS_QUEUE, most: self.bounds.queue as u64 });
        }
        queue.waiting.push_back(waiting);
        Ok(queue.needs_another(&self.bounds))
    }

    /// What a writer does next. Where nobody waits it is not at work any more, and may rest or not.
    fn take(&self, may_rest: bool) -> Turn {
        let mut queue = self.queue();
        let (mut batch, mut late) = (Batch::default(), Vec::new());
        queue.fill(&mut batch, &mut late, self.bounds.patience);
        if batch.entries.is_empty() && late.is_empty() {
            queue.writers -= 1;
            if !may_rest {
                return Turn::Go;
            }
            let (bell, rings) = oneshot::channel();
            queue.resting.push(bell);
            return Turn::Rest(rings);
        }
        drop(queue);
        tell(late, &Error::Unavailable(format!("other appends took {:?}", self.bounds.patience)));
        Turn::Write(batch)
    }

    /// Writes a batch and tells everybody. Where it takes long, another writer goes on with those who wait.
    async fn write(self: &Arc<Self>, line: W::Line, batch: Batch) -> Option<W::Line> {
        self.counts.batch(batch.entries.len());
        let (line, answers) = {
            let mut writing = pin!(self.writer.write(line, &batch.entries));
            match timeout(SLOW, &mut writing).await {
                Ok(written) => written,
                Err(_) => {
                    if self.slow(1) {
                        self.begin();
                    }
                    let written = writing.await;
                    self.slow(-1);
                    written
                }
            }
        };
        if signing::is_wanted(&batch.entries) {
            // In its turn, which comes when this writer waits for its next batch.
            self.tasks.spawn(async move { signing::tell(batch, answers) });
        } else {
            batch.tell(answers);
        }
        line
    }

    /// One more batch that takes long, or one less; whether another writer is to begin.
    fn slow(&self, more: isize) -> bool {
        let mut queue = self.queue();
        queue.slow = queue.slow.saturating_add_signed(more);
        !queue.waiting.is_empty() && queue.needs_another(&self.bounds)
    }

    /// This writer has no line. If there is no other at work, nobody who waits will have one.
    fn give_up(&self, error: &Error) {
        let mut queue = self.queue();
        queue.writers -= 1;
        let (alone, now) = (queue.writers == 0, Instant::now());
        let told = |waiting: &Waiting| alone || now.duration_since(waiting.since) >= self.bounds.patience;
        let (gone, stay) = mem::take(&mut queue.waiting).into_iter().partition(told);
        queue.waiting = stay;
        drop(queue);
        let gone: VecDeque<Waiting> = gone;
        tell(gone.into_iter().map(|waiting| waiting.answer), error);
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn tell(answers: impl IntoIterator<Item = oneshot::Sender<Answer>>, error: &Error) {
    for answer in answers {
        // Whoever does not listen any more has gone away.
        let _ = answer.send(Err(error.clone()));
    }
}

impl<W> fmt::Debug for Gather<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gather").field("bounds", &self.bounds).finish_non_exhaustive()
    }
}
