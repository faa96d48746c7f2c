//! One stream: read after the cursor, then wait.
//!
//! Invariant: frames are in the order of the book, without gap or repeat, and each follows from the
//! one before by its digest; the entry that closes the
//! game is the last frame; whatever else ends a stream is a status that says so.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use plybook_core::{Digest, Seq};
use plybook_proto::v1::stream_events_response::Frame;
use plybook_proto::v1::{CaughtUp, Heartbeat, Position, StreamEventsResponse};
use plybook_store::{Store, StoredEntry};
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;
use tonic::Status;

use crate::clock::Clock;
use crate::games::Opened;
use crate::refusal::Refusal;
use crate::replies;
use crate::streams::Topic;

/// What a caller wants of a stream.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Send what follows this entry.
    pub after: Seq,
    /// Send this position first.
    pub snapshot: Option<Position>,
    /// End once caught up.
    pub stop_at_head: bool,
    /// How long nothing may happen before a heartbeat is sent.
    pub heartbeat: Duration,
    /// When the caller's time is over.
    pub deadline: Option<Instant>,
    /// Whether the entry at the cursor already closes the game.
    pub closed: bool,
}

/// What a stream stands on.
pub struct Ground {
    /// Header and rules of the game.
    pub opened: Arc<Opened>,
    /// The watched game.
    pub topic: Arc<Topic>,
    /// The book.
    pub store: Arc<dyn Store>,
    /// For heartbeats.
    pub clock: Arc<dyn Clock>,
    /// When this node goes away.
    pub draining: CancellationToken,
    /// The longest wait without a look.
    pub poll_floor: Duration,
    /// Held while the stream lives.
    pub slot: OwnedSemaphorePermit,
}

/// One stream.
pub struct Cursor {
    ground: Ground,
    news: watch::Receiver<Seq>,
    wanted: Wanted,
    at: Seq,
    /// The digest of the entry at the cursor, once one was sent.
    link: Option<Digest>,
    page: VecDeque<Arc<StoredEntry>>,
    caught_up: bool,
    over: bool,
    heartbeat_at: Instant,
}

enum Woken {
    Look,
    Heartbeat,
    Deadline,
    Draining,
}

impl Cursor {
    /// A stream at its beginning.
    pub fn new(ground: Ground, wanted: Wanted) -> Cursor {
        let (news, at) = (ground.topic.news(), wanted.after);
        let heartbeat_at = Instant::now() + wanted.heartbeat;
        Cursor { ground, news, wanted, at, link: None, page: VecDeque::new(), caught_up: false, over: false, heartbeat_at }
    }

    /// The frames, as the transport wants them.
    pub fn into_stream(self) -> impl futures::Stream<Item = Result<StreamEventsResponse, Status>> + Send {
        futures::stream::unfold(self, |mut cursor| async move { cursor.next().await.map(|frame| (frame, cursor)) })
    }

    async fn next(&mut self) -> Option<Result<StreamEventsResponse, Status>> {
        if self.over {
            return None;
        }
        match self.next_frame().await {
            Ok(Some(frame)) => {
                self.heartbeat_at = Instant::now() + self.wanted.heartbeat;
                Some(Ok(StreamEventsResponse { frame: Some(frame) }))
            }
            Ok(None) => None,
            Err(refusal) => {
                self.over = true;
                Some(Err(refusal.into()))
            }
        }
    }

    async fn next_frame(&mut self) -> Result<Option<Frame>, Refusal> {
        if let Some(position) = self.wanted.snapshot.take() {
            return Ok(Some(Frame::Snapshot(position)));
        }
        loop {
            self.check_ends()?;
            if let Some(stored) = self.page.pop_front() {
                return self.event(&stored).map(Some);
            }
            // The news is marked as seen before the look, so that what comes during it wakes again.
            self.news.borrow_and_update();
            self.page = self.ground.topic.after(&self.ground.store, self.at, self.ground.poll_floor / 2).await?.into();
            if !self.page.is_empty() {
                continue;
            }
            if !self.caught_up {
                self.caught_up = true;
                self.over = self.wanted.stop_at_head || self.wanted.closed;
                return Ok(Some(Frame::CaughtUp(CaughtUp { head_seq: u64::from(self.at.0) })));
            }
            match self.wait().await {
                Woken::Look => {}
                Woken::Heartbeat => return Ok(Some(self.heartbeat())),
                Woken::Deadline => return Err(Refusal::Deadline),
                Woken::Draining => return Err(Refusal::Draining),
            }
        }
    }

    fn check_ends(&self) -> Result<(), Refusal> {
        if self.ground.draining.is_cancelled() {
            return Err(Refusal::Draining);
        }
        match self.wanted.deadline {
            Some(deadline) if Instant::now() >= deadline => Err(Refusal::Deadline),
            _ => Ok(()),
        }
    }

    async fn wait(&mut self) -> Woken {
        let poll_at = Instant::now() + self.ground.poll_floor;
        let deadline = self.wanted.deadline;
        let at_deadline = async {
            match deadline {
                Some(deadline) => sleep_until(deadline).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = self.ground.draining.cancelled() => Woken::Draining,
            () = at_deadline => Woken::Deadline,
            _ = self.news.changed() => Woken::Look,
            () = sleep_until(self.heartbeat_at) => Woken::Heartbeat,
            () = sleep_until(poll_at) => Woken::Look,
        }
    }

    fn event(&mut self, stored: &StoredEntry) -> Result<Frame, Refusal> {
        if stored.seq != self.at.next() {
            return Err(Refusal::BookCorrupt { first_bad: self.at.next(), why: format!("entry {} follows {}", stored.seq, self.at) });
        }
        if self.link.is_some_and(|before| before.chain(&stored.line) != stored.digest) {
            return Err(Refusal::BookCorrupt { first_bad: stored.seq, why: "its digest does not follow from the entry before".to_owned() });
        }
        let event = replies::event::stored(&self.ground.opened, stored)?;
        self.link = Some(stored.digest);
        self.at = stored.seq;
        self.over = !event.revealed_seed.is_empty();
        Ok(Frame::Event(event))
    }

    fn heartbeat(&self) -> Frame {
        let time = replies::time(self.ground.clock.now());
        Frame::Heartbeat(Heartbeat { head_seq: u64::from(self.at.0), time: Some(time) })
    }
}
