//! One stream of the feed: read behind the token, then wait.
//!
//! Invariant: frames are in the order of the feed, without gap or repeat, and the token of each stands for all before it. A
//! stream keeps no more than a page, and holds nothing of the store while its reader stalls; whatever ends it is a status
//! that says so.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use plybook_proto::v1::stream_all_events_response::Frame;
use plybook_proto::v1::{FeedCaughtUp, FeedCheckpoint, StreamAllEventsResponse};
use plybook_store::{FeedCursor, TenantId};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};
use tonic::Status;

use crate::clock::Clock;
use crate::feed::shown::{self, Item};
use crate::feed::tail::Look;
use crate::feed::token::Bond;
use crate::feed::{FeedFilter, Tail};
use crate::games::Games;
use crate::limits::{FEED_CHECKPOINT_ENTRIES, FEED_CHECKPOINT_INTERVAL, FEED_PAGE_ENTRIES, FEED_RETRY_MAX};
use crate::refusal::Refusal;
use crate::replies;
use crate::streams::Ends;
use crate::streams::Slot;

/// What a caller wants of a stream.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Whose games.
    pub tenant: TenantId,
    /// Which entries.
    pub filter: FeedFilter,
    /// Send what follows this entry.
    pub after: Option<FeedCursor>,
    /// End once caught up.
    pub stop_at_head: bool,
    /// How long nothing may be sent before a checkpoint is.
    pub heartbeat: Duration,
}

/// What a stream stands on.
pub struct Ground {
    /// The end of the feed.
    pub tail: Arc<Tail>,
    /// The games.
    pub games: Arc<Games>,
    /// For checkpoints.
    pub clock: Arc<dyn Clock>,
    /// What ends the stream before its time.
    pub ends: Ends,
    /// The longest wait without a look.
    pub poll_floor: Duration,
    /// Held while the stream lives.
    pub slot: Slot,
}

/// What a look found.
struct Found {
    items: Vec<Item>,
    /// Set where the store was asked, which knew the cursor in this generation.
    asked: Option<u64>,
}

/// One stream.
pub struct Follower {
    ground: Ground,
    wanted: Arc<Wanted>,
    bond: Bond,
    news: watch::Receiver<u64>,
    at: Option<FeedCursor>,
    /// In which generation of the tail the store knew the entry at the cursor.
    generation: Option<u64>,
    page: VecDeque<Item>,
    /// A look under way. It outlives the checkpoints that are sent meanwhile.
    look: Option<BoxFuture<'static, Result<Found, Refusal>>>,
    /// Whether the last look asked the store.
    asked: bool,
    /// Entries passed over since the last frame.
    passed: u32,
    caught_up: bool,
    over: bool,
    sent_at: Instant,
}

impl Follower {
    /// A stream at its beginning.
    pub fn new(ground: Ground, wanted: Wanted) -> Follower {
        let (news, at, bond) = (ground.tail.news(), wanted.after, Bond::new(wanted.tenant, &wanted.filter));
        Follower {
            ground,
            wanted: Arc::new(wanted),
            bond,
            news,
            at,
            generation: None,
            page: VecDeque::new(),
            look: None,
            asked: false,
            passed: 0,
            caught_up: false,
            over: false,
            sent_at: Instant::now(),
        }
    }

    /// The frames, as the transport wants them.
    pub fn into_stream(self) -> impl futures::Stream<Item = Result<StreamAllEventsResponse, Status>> + Send {
        futures::stream::unfold(self, |mut follower| async move { follower.next().await.map(|frame| (frame, follower)) })
    }

    async fn next(&mut self) -> Option<Result<StreamAllEventsResponse, Status>> {
        if self.over {
            return None;
        }
        match self.next_frame().await {
            Ok(frame) => {
                (self.sent_at, self.passed) = (Instant::now(), 0);
                Some(Ok(StreamAllEventsResponse { resume_token: self.bond.token(self.at.as_ref()), frame: Some(frame) }))
            }
            Err(refusal) => {
                self.over = true;
                Some(Err(refusal.into()))
            }
        }
    }

    async fn next_frame(&mut self) -> Result<Frame, Refusal> {
        loop {
            self.ground.ends.check()?;
            while let Some(item) = self.page.pop_front() {
                self.at = Some(item.cursor());
                if let Some(event) = item.event() {
                    return Ok(Frame::Event(event));
                }
                self.passed += 1;
                if self.passed >= FEED_CHECKPOINT_ENTRIES {
                    return Ok(self.checkpoint());
                }
            }
            let Some(items) = self.look().await? else { return Ok(self.checkpoint()) };
            self.page = items.into();
            if !self.page.is_empty() {
                continue;
            }
            if !self.caught_up {
                self.caught_up = true;
                self.over = self.wanted.stop_at_head;
                return Ok(Frame::CaughtUp(FeedCaughtUp { time: Some(self.time()) }));
            }
            if !self.woken().await? {
                return Ok(self.checkpoint());
            }
        }
    }

    /// What is behind the cursor. Nothing once a checkpoint is due: the look goes on.
    async fn look(&mut self) -> Result<Option<Vec<Item>>, Refusal> {
        let beat_at = self.beat_at();
        let (ground, wanted, news) = (&self.ground, &self.wanted, &mut self.news);
        let (at, generation) = (self.at, self.generation);
        let look = self.look.get_or_insert_with(|| {
            // The news is marked as seen before the look, so that what comes during it wakes again.
            news.borrow_and_update();
            let (tail, games, wanted) = (Arc::clone(&ground.tail), Arc::clone(&ground.games), Arc::clone(wanted));
            // In a task of its own: the transport stops polling a stream whose reader stalls, and what is halfway through a
            // read would keep a connection of the store.
            let looks = tokio::spawn(async move { found(&tail, &games, &wanted, at, generation).await });
            Box::pin(async move { looks.await.map_err(|error| Refusal::internal(format!("a look into the feed panicked: {error}")))? })
        });
        let looked = async {
            tokio::select! {
                biased;
                found = look => Some(found),
                () = sleep_until(beat_at) => None,
            }
        };
        let Some(found) = self.ground.ends.before(looked).await? else { return Ok(None) };
        self.look = None;
        let found = found?;
        self.asked = found.asked.is_some();
        self.generation = found.asked.or(self.generation);
        Ok(Some(found.items))
    }

    /// Waits until there may be more; not so once a checkpoint is due.
    async fn woken(&mut self) -> Result<bool, Refusal> {
        // Where the store was asked and had nothing, the tail may still know of more.
        let patience = if self.asked { FEED_RETRY_MAX.min(self.ground.poll_floor) } else { self.ground.poll_floor };
        let (poll_at, beat_at, news) = (Instant::now() + patience, self.beat_at(), &mut self.news);
        let woken = async {
            tokio::select! {
                biased;
                _ = news.changed() => true,
                () = sleep_until(beat_at) => false,
                () = sleep_until(poll_at) => true,
            }
        };
        self.ground.ends.before(woken).await
    }

    /// When the next checkpoint is due, if nothing else comes.
    fn beat_at(&self) -> Instant {
        let wait = if self.passed > 0 { self.wanted.heartbeat.min(FEED_CHECKPOINT_INTERVAL) } else { self.wanted.heartbeat };
        self.sent_at + wait
    }

    fn checkpoint(&self) -> Frame {
        let held_up = self.ground.tail.lag().held_up().and_then(|held_up| held_up.try_into().ok());
        Frame::Checkpoint(FeedCheckpoint { time: Some(self.time()), held_up })
    }

    fn time(&self) -> prost_types::Timestamp {
        replies::time(self.ground.clock.now())
    }
}

async fn found(tail: &Tail, games: &Games, wanted: &Wanted, at: Option<FeedCursor>, generation: Option<u64>) -> Result<Found, Refusal> {
    let (rows, asked) = match tail.after(at.as_ref(), generation) {
        Look::Rows(rows) => (rows, None),
        Look::End => (Vec::new(), None),
        Look::Fault(fault) => return Err(fault),
        Look::Behind => {
            // Asked before the store is: if the books go back meanwhile, it is asked once more.
            let generation = tail.generation();
            let page = games.store().feed_history(wanted.tenant, at.as_ref(), FEED_PAGE_ENTRIES).await?;
            (page.rows.into_iter().map(Arc::new).collect(), Some(generation))
        }
    };
    Ok(Found { items: shown::items(games, wanted.tenant, &wanted.filter, rows).await?, asked })
}
