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
