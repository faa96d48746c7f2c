//! One stream: read after the cursor, then wait.
//!
//! Invariant: frames are in the order of the book, without gap or repeat, and each follows from the
//! one before by its digest; the entry that closes the game, or is the last of a foreign one, is the last frame; whatever else ends a
//! stream is a status that says so, in time, however long the store takes to answer.
//!
//! What was sent cannot be taken back: where a restored book went on along another line than the one
//! that a reader has seen, the reader is told with BOOK_CORRUPT, and begins again.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use plybook_core::{Digest, Seq};
use plybook_proto::v1::stream_events_response::Frame;
use plybook_proto::v1::{CaughtUp, Heartbeat, Position, StreamEventsResponse};
use plybook_store::{GameKey, StoredEntry};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};
use tonic::Status;

use crate::clock::Clock;
use crate::games::{Beside, Games, Opened};
use crate::refusal::Refusal;
use crate::replies;
use crate::streams::{Ends, Slot, Standing, Topic};

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
    /// Whether the entry at the cursor is already the last one that there will be.
    pub closed: bool,
    /// The last entry of a foreign game, which need not close it.
    pub last: Option<Seq>,
}

/// What a stream stands on.
pub struct Ground {
    /// Header and rules of the game.
    pub opened: Arc<Opened>,
    /// The watched game.
    pub topic: Arc<Topic>,
    /// Which game it is.
    pub key: GameKey,
    /// The books, and what stands beside an entry.
    pub games: Arc<Games>,
    /// For heartbeats.
    pub clock: Arc<dyn Clock>,
    /// What ends the stream before its time.
    pub ends: Ends,
    /// The longest wait without a look.
    pub poll_floor: Duration,
    /// Where it stands, for whoever looks.
    pub standing: Arc<Standing>,
    /// Held while the stream lives.
    pub slot: Slot,
}

/// Entries that follow one another, each with what stands beside it.
type Page = Vec<(Arc<StoredEntry>, Beside)>;

/// One stream.
pub struct Cursor {
    ground: Ground,
    news: watch::Receiver<Seq>,
    wanted: Wanted,
    at: Seq,
    /// The digest of the entry at the cursor, once one was sent.
    link: Option<Digest>,
    page: VecDeque<(Arc<StoredEntry>, Beside)>,
    /// A look into the book under way. It outlives the heartbeats that are sent meanwhile.
    look: Option<BoxFuture<'static, Result<Page, Refusal>>>,
    /// Whether what this node remembers of the game was forgotten for this stream's next entry.
    doubted: bool,
    caught_up: bool,
    over: bool,
    heartbeat_at: Instant,
}

impl Cursor {
    /// A stream at its beginning.
    pub fn new(ground: Ground, wanted: Wanted) -> Cursor {
        let (news, at) = (ground.topic.news(), wanted.after);
        let heartbeat_at = Instant::now() + wanted.heartbeat;
        Cursor {
            ground,
            news,
            wanted,
            at,
            link: None,
            page: VecDeque::new(),
            look: None,
            doubted: false,
            caught_up: false,
            over: false,
            heartbeat_at,
        }
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
            self.ground.ends.check()?;
            if let Some((stored, beside)) = self.page.pop_front() {
                if self.doubts(&stored) {
                    continue;
                }
                return self.event(&stored, &beside).map(Some);
            }
            let Some(page) = self.look().await? else { return Ok(Some(self.heartbeat())) };
            self.page = page.into();
            if !self.page.is_empty() {
                continue;
            }
            if !self.caught_up {
                self.caught_up = true;
                self.over = self.wanted.stop_at_head || self.wanted.closed;
                return Ok(Some(Frame::CaughtUp(CaughtUp { head_seq: u64::from(self.at.0) })));
            }
            if !self.woken().await? {
                return Ok(Some(self.heartbeat()));
            }
        }
    }

    /// Looks into the book. Nothing once a heartbeat is due: the look goes on.
    async fn look(&mut self) -> Result<Option<Page>, Refusal> {
        let (ground, at, news) = (&self.ground, self.at, &mut self.news);
        let look = self.look.get_or_insert_with(|| {
            // The news is marked as seen before the look, so that what comes during it wakes again.
            news.borrow_and_update();
            let (topic, games, fresh) = (Arc::clone(&ground.topic), Arc::clone(&ground.games), ground.poll_floor / 2);
            let (key, opened) = (ground.key, Arc::clone(&ground.opened));
            Box::pin(async move {
                let mut page = Page::new();
                for stored in topic.after(games.store(), at, fresh).await? {
                    let beside = games.beside(key, &opened, &stored).await?;
                    page.push((stored, beside));
                }
                Ok(page)
            })
        });
        let heartbeat_at = self.heartbeat_at;
        let looked = async {
            tokio::select! {
                biased;
                page = look => Some(page),
                () = sleep_until(heartbeat_at) => None,
            }
        };
        let Some(page) = self.ground.ends.before(looked).await? else { return Ok(None) };
        self.look = None;
        page.map(Some)
    }

    /// Waits until there may be more; not so once a heartbeat is due.
    async fn woken(&mut self) -> Result<bool, Refusal> {
        let poll_at = Instant::now() + self.ground.topic.patience(self.ground.poll_floor);
        let (news, heartbeat_at) = (&mut self.news, self.heartbeat_at);
        let woken = async {
            tokio::select! {
                biased;
                _ = news.changed() => true,
                () = sleep_until(heartbeat_at) => false,
                () = sleep_until(poll_at) => true,
            }
        };
        self.ground.ends.before(woken).await
    }

    /// An entry that does not follow from the one sent before may be one that this node remembers and
    /// the store no longer has: then it is read once more.
    fn doubts(&mut self, stored: &StoredEntry) -> bool {
        let doubted = !self.doubted && !self.follows(stored);
        if doubted {
            self.doubted = true;
            self.page.clear();
            self.ground.topic.forget();
        }
        doubted
    }

    fn follows(&self, stored: &StoredEntry) -> bool {
        stored.seq == self.at.next() && self.link.is_none_or(|before| before.chain(&stored.line) == stored.digest)
    }

    fn event(&mut self, stored: &StoredEntry, beside: &Beside) -> Result<Frame, Refusal> {
        if !self.follows(stored) {
            let why = format!("entry {} does not follow by its digest from {}, which was sent before it", stored.seq, self.at);
            return Err(Refusal::BookCorrupt { first_bad: self.at.next(), why });
        }
        let event = replies::event::stored(&self.ground.opened, stored, beside)?;
        self.link = Some(stored.digest);
        self.at = stored.seq;
        self.ground.standing.sent(stored.seq);
        self.doubted = false;
        self.over = self.wanted.last.map_or(!event.revealed_seed.is_empty(), |last| self.at >= last);
        Ok(Frame::Event(event))
    }

    fn heartbeat(&self) -> Frame {
        let time = replies::time(self.ground.clock.now());
        Frame::Heartbeat(Heartbeat { head_seq: u64::from(self.at.0), time: Some(time) })
    }
}
