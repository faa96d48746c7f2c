//! Entries that wait, and how many write.
//!
//! Invariants: the first of each game goes first; whoever is counted as a writer is at work, or has been called to it.

use std::collections::{HashSet, VecDeque};
use std::time::{Duration, Instant};

use plybook_core::Uuid;
use tokio::sync::oneshot;

use super::{Answer, Bounds};
use crate::store::NewEntry;

/// Most entries in a batch: about where one statement of twice as many is no faster any more.
const BATCH_ENTRIES: usize = 512;
/// Most text in a batch.
const BATCH_BYTES: usize = 256 * 1024;
/// How far back in the queue a batch looks for entries of further games.
const LOOK: usize = 4 * BATCH_ENTRIES;

#[derive(Default)]
pub(super) struct Queue {
    pub(super) waiting: VecDeque<Waiting>,
    /// At work.
    pub(super) writers: usize,
    /// Of these, those whose batch takes long.
    pub(super) slow: usize,
    /// Calls the writers that rest, the last one first. Some may have gone meanwhile.
    pub(super) resting: Vec<oneshot::Sender<()>>,
}

pub(super) struct Waiting {
    pub(super) entry: NewEntry,
    pub(super) since: Instant,
    pub(super) answer: oneshot::Sender<Answer>,
}

/// What goes together: entries, and who is told of each.
#[derive(Default)]
pub(super) struct Batch {
    pub(super) entries: Vec<NewEntry>,
    pub(super) answers: Vec<oneshot::Sender<Answer>>,
}

impl Batch {
    /// Tells each what came of his entry.
    pub(super) fn tell(self, answers: Vec<Answer>) {
        for (told, answer) in self.answers.into_iter().zip(answers) {
            // Whoever does not listen any more has gone away.
            let _ = told.send(answer);
        }
    }
}

impl Queue {
    /// Whether another writer is to begin, which is counted from now on: where none is at work, where too many wait, and
    /// where all who are at work are held up. One that rests is called instead.
    pub(super) fn needs_another(&mut self, bounds: &Bounds) -> bool {
        let busy = self.waiting.len() >= bounds.crowd || self.writers == self.slow;
        let needed = self.writers == 0 || (self.writers < bounds.writers && busy);
        self.writers += usize::from(needed);
        needed && !self.call()
    }

    /// Whether somebody who rests was called.
    fn call(&mut self) -> bool {
        while let Some(bell) = self.resting.pop() {
            if bell.send(()).is_ok() {
                return true;
            }
        }
        false
    }

    /// The first of each game, in the order in which they came.
    pub(super) fn fill(&mut self, batch: &mut Batch, late: &mut Vec<oneshot::Sender<Answer>>, patience: Duration) {
        let most = self.waiting.len().min(BATCH_ENTRIES);
        batch.entries.reserve(most);
        batch.answers.reserve(most);
        let (mut games, mut bytes, mut later): (HashSet<Uuid>, usize, Vec<Waiting>) = (HashSet::with_capacity(most), 0, Vec::new());
        let now = Instant::now();
        for _ in 0..LOOK {
            if batch.entries.len() == BATCH_ENTRIES || bytes >= BATCH_BYTES {
                break;
            }
            let Some(waiting) = self.waiting.pop_front() else { break };
            if now.duration_since(waiting.since) > patience {
                late.push(waiting.answer);
            } else if games.insert(waiting.entry.key.game) {
                bytes += waiting.entry.line.len();
                batch.entries.push(waiting.entry);
                batch.answers.push(waiting.answer);
            } else {
                later.push(waiting);
            }
        }
        for waiting in later.into_iter().rev() {
            self.waiting.push_front(waiting);
        }
    }
}
