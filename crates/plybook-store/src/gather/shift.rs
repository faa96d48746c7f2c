//! A writer, from when it is wanted until it goes.
//!
//! Invariant: however its work ends, it is no longer counted; while it rests it is not counted either.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::timeout;

use super::{Gather, Turn, Writer};

/// Batches that one line carries before others may have it, if they want it.
const TURNS: u32 = 64;
/// Batches after which it goes back in any case, or it would never be replaced.
const TURNS_MOST: u32 = 64 * TURNS;
/// How long a writer keeps its line when nobody waits: about as long as a caller takes who goes on at once, since to give a
/// line back and to take one costs a round trip and often another session of the database, whose memory has gone cold.
const REST: Duration = Duration::from_millis(10);

/// A writer.
pub(super) struct Shift<W: Writer> {
    gather: Arc<Gather<W>>,
    state: State,
}

enum State {
    AtWork,
    /// Until this rings.
    Rests(oneshot::Receiver<()>),
    Gone,
}

impl<W: Writer> Shift<W> {
    /// One that has been counted already.
    pub(super) const fn new(gather: Arc<Gather<W>>) -> Shift<W> {
        Shift { gather, state: State::AtWork }
    }

    pub(super) async fn work(mut self) {
        while matches!(self.state, State::AtWork) {
            // The line first: entries gather until there is one.
            match self.gather.writer.line().await {
                Ok(line) => self.turns(line).await,
                Err(error) => {
                    self.state = State::Gone;
                    self.gather.give_up(&error);
                }
            }
        }
    }

    /// Writes until nobody waits for it any more, or the line is gone, or others are to have it.
    async fn turns(&mut self, mut line: W::Line) {
        for turn in 0..TURNS_MOST {
            let spare = self.gather.writer.has_spare();
            if turn >= TURNS && !spare {
                return;
            }
            match self.gather.take(spare) {
                Turn::Write(batch) if batch.entries.is_empty() => {}
                Turn::Write(batch) => match self.gather.write(line, batch).await {
                    Some(back) => line = back,
                    None => return,
                },
                Turn::Rest(rings) => {
                    self.state = State::Rests(rings);
                    self.rest().await;
                    if !matches!(self.state, State::AtWork) {
                        return;
                    }
                }
                Turn::Go => {
                    self.state = State::Gone;
                    return;
                }
            }
        }
    }

    /// Until it is called to work, or has waited in vain.
    async fn rest(&mut self) {
        if let State::Rests(rings) = &mut self.state {
            let called = timeout(REST, &mut *rings).await.is_ok_and(|rung| rung.is_ok());
            let called = called || was_called(rings);
            self.state = if called { State::AtWork } else { State::Gone };
        }
    }
}

/// Whether it was called at the last moment; from now on it cannot be.
fn was_called(rings: &mut oneshot::Receiver<()>) -> bool {
    rings.close();
    rings.try_recv().is_ok()
}

impl<W: Writer> Drop for Shift<W> {
    /// A panic, or the end of the runtime: nobody waits for a writer that is not there.
    fn drop(&mut self) {
        let at_work = match &mut self.state {
            State::AtWork => true,
            State::Rests(rings) => was_called(rings),
            State::Gone => false,
        };
        if at_work {
            let mut queue = self.gather.queue();
            queue.writers -= 1;
            queue.waiting.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::sync::atomic::{AtomicUsize, Ordering};

    use plybook_core::{Digest, Seq, Uuid};
    use tokio::time::sleep;
    use tokio_util::task::TaskTracker;

    use super::*;
    use crate::due::DueChange;
    use crate::error::Error;
    use crate::gather::{Answer, Bounds};
    use crate::store::{Append, GameKey, NewEntry, RequestKey, TenantId};

    const WRITING: Duration = Duration::from_millis(2);

    /// Stores everything, over lines that it counts.
    #[derive(Default)]
    struct Store {
        spare: bool,
        lent: AtomicUsize,
        out: AtomicUsize,
    }

    /// Counted until it is given back.
    struct Line(Arc<Store>);

    impl Drop for Line {
        fn drop(&mut self) {
            self.0.out.fetch_sub(1, Ordering::Relaxed);
        }
    }

    impl Writer for Arc<Store> {
        type Line = Line;

        async fn line(&self) -> Result<Line, Error> {
            self.lent.fetch_add(1, Ordering::Relaxed);
            self.out.fetch_add(1, Ordering::Relaxed);
            Ok(Line(Arc::clone(self)))
        }

        fn has_spare(&self) -> bool {
            self.spare
        }

        async fn write(&self, line: Line, batch: &[NewEntry]) -> (Option<Line>, Vec<Answer>) {
            sleep(WRITING).await;
            (Some(line), batch.iter().map(|_| Ok(Append::Stored)).collect())
        }
    }

    fn gather(spare: bool) -> (Arc<Store>, Arc<Gather<Arc<Store>>>) {
        let store = Arc::new(Store { spare, ..Store::default() });
        let bounds = Bounds { queue: 100, writers: 2, crowd: 8, patience: Duration::from_secs(1) };
        (Arc::clone(&store), Gather::new(store, bounds, Arc::default(), TaskTracker::new()))
    }

    fn entry(game: u128) -> NewEntry {
        NewEntry {
            key: GameKey { tenant: TenantId::DEFAULT, game: Uuid::from_u128(game) },
            seq: Seq(2),
            previous: Digest([0; 32]),
            request: RequestKey { id: Uuid::from_u128(game), hash: [0; 32] },
            line: "a line".to_owned(),
            digest: Digest([0; 32]),
            state: None,
            due: DueChange::Keep,
            notary: None,
        }
    }

    /// Appends one after the other, with these pauses before them; how many lines it took.
    async fn lines_for(spare: bool, pauses: &[Duration]) -> usize {
        let (store, gather) = gather(spare);
        for pause in pauses {
            sleep(*pause).await;
            assert_eq!(gather.append(entry(1)).await.unwrap(), Append::Stored);
        }
        sleep(2 * REST).await;
        assert_eq!(store.out.load(Ordering::Relaxed), 0, "given back in the end");
        store.lent.load(Ordering::Relaxed)
    }

    #[tokio::test(start_paused = true)]
    async fn who_goes_on_at_once_finds_the_line_that_was_kept() {
        assert_eq!(lines_for(true, &[REST / 2; 50]).await, 1);
        assert_eq!(lines_for(true, &[REST * 2; 5]).await, 5, "it is not kept for longer");
    }

    #[tokio::test(start_paused = true)]
    async fn no_line_is_kept_that_others_go_without() {
        assert_eq!(lines_for(false, &[REST / 2; 5]).await, 5);
    }

    #[tokio::test(start_paused = true)]
    async fn who_comes_at_the_very_end_of_a_rest_is_written() {
        let millis: Vec<_> = (0..400).map(|at| REST + Duration::from_millis(at % 3) - Duration::from_millis(1)).collect();
        assert!((2..400).contains(&lines_for(true, &millis).await), "some find it and some do not");
    }

    #[tokio::test(start_paused = true)]
    async fn a_crowd_calls_those_who_rest_and_no_more_than_there_may_be() {
        let (store, gather) = gather(true);
        for round in 0..10 {
            let all = (0..60).map(|game| {
                let gather = &gather;
                async move {
                    sleep(Duration::from_micros(game as u64 * 100)).await;
                    gather.append(entry(game)).await
                }
            });
            let answers = futures::future::join_all(all).await;
            assert!(answers.iter().all(|answer| matches!(answer, Ok(Append::Stored))), "round {round}");
        }
        assert_eq!(store.lent.load(Ordering::Relaxed), 2);
    }

    /// As at the end of a runtime: who waits is told, and the next one is written.
    #[tokio::test(start_paused = true)]
    async fn one_that_is_dropped_leaves_nobody_waiting() {
        let (store, gather) = gather(true);
        let (bell, rings) = oneshot::channel();
        let called = Shift { gather: Arc::clone(&gather), state: State::Rests(rings) };
        gather.queue().resting.push(bell);
        let mut waits = std::pin::pin!(gather.append(entry(1)));
        assert!(futures::poll!(&mut waits).is_pending());
        drop(called);
        assert!(matches!(waits.await, Err(Error::Unavailable(_))));
        drop(Shift { gather: Arc::clone(&gather), state: State::Rests(oneshot::channel().1) });
        assert_eq!(gather.append(entry(1)).await.unwrap(), Append::Stored);
        assert_eq!(store.lent.load(Ordering::Relaxed), 1);
    }
}
