//! `feed`: every entry of the tenant through one cursor: history at the reader's speed, and moves until a follower has them.
//!
//! Invariant: of history the entries of each game come in order, and of live moves none is missed, or the run fails.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use async_trait::async_trait;
use plybook_proto::v1;
use plybook_proto::v1::stream_all_events_response::Frame;
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tonic::Streaming;

use super::contender::{Contender, Name, Unit};
use super::game::{Board, Game};
use super::lines::Line;
use super::load::{self, Asked, Caller};
use super::site::Site;
use super::slice::Slice;

/// What is read between two looks at the clock.
const A_TURN: u64 = 500;
/// A move that the follower has later than this is lost.
const ARRIVES_WITHIN: Duration = Duration::from_secs(60);

/// History, read from the first entry by so many at once.
pub(super) async fn history(site: &Site, callers: usize) -> anyhow::Result<Box<dyn Contender>> {
    let readers = site.lines(callers).await?.into_iter().map(|line| Reader { line, frames: None, heads: HashMap::new() });
    Ok(Box::new(History { readers: readers.collect() }))
}

struct History {
    readers: Vec<Reader>,
}

#[async_trait]
impl Contender for History {
    fn name(&self) -> Name {
        Name::new("feed", self.readers.len(), Unit::Entries).kind("history")
    }

    /// Every slice begins with the first entry.
    async fn ready(&mut self, _: Duration) -> anyhow::Result<()> {
        self.readers.iter_mut().for_each(|reader| reader.frames = None);
        Ok(())
    }

    async fn slice(&mut self, lasts: Duration) -> anyhow::Result<Slice> {
        let (readers, slice) = load::run(std::mem::take(&mut self.readers), lasts).await?;
        self.readers = readers;
        Ok(slice)
    }
}

type Frames = Streaming<v1::StreamAllEventsResponse>;

struct Reader {
    line: Line,
    frames: Option<Frames>,
    /// The last entry of each game.
    heads: HashMap<String, u64>,
}

impl Caller for Reader {
    async fn ask(&mut self) -> anyhow::Result<Asked> {
        let frames = match &mut self.frames {
            Some(frames) => frames,
            none => {
                self.heads.clear();
                let request = v1::StreamAllEventsRequest { stop_at_head: true, ..Default::default() };
                none.insert(self.line.audit.stream_all_events(request).await?.into_inner())
            }
        };
        let mut read = 0;
        while read < A_TURN {
            match frames.message().await?.context("the feed ended before its head")?.frame {
                Some(Frame::Event(event)) => {
                    let head = self.heads.entry(event.game_id).or_default();
                    ensure!(event.seq == *head + 1, "entry {} came after entry {head}", event.seq);
                    *head = event.seq;
                    read += 1;
                }
                Some(Frame::CaughtUp(_)) => {
                    self.frames = None;
                    break;
                }
                _ => {}
            }
        }
        Ok(if read > 0 { Asked::Did(read) } else { Asked::InVain })
    }
}

/// Moves by so many callers, each in a game of its own; whoever made one makes the next when the follower has it.
pub(super) async fn live(site: &Site, callers: usize) -> anyhow::Result<Box<dyn Contender>> {
    let mut lines = site.lines(callers + 1).await?;
    let mut follower = lines.pop().context("there is no line for the follower")?;
    let request = v1::StreamAllEventsRequest { from_now: true, ..Default::default() };
    let mut frames = follower.audit.stream_all_events(request).await.context("the feed could not be opened")?.into_inner();
    while !matches!(frames.message().await?.context("the feed ended")?.frame, Some(Frame::CaughtUp(_))) {}
    let awaited = Arc::new(Awaited::default());
    let mut following = JoinSet::new();
    following.spawn(follow(frames, Arc::clone(&awaited)));
    let movers = lines.into_iter().map(|line| Mover { line, game: None, awaited: Arc::clone(&awaited), after: Vec::new() });
    Ok(Box::new(Live { movers: movers.collect(), _following: following }))
}

async fn follow(mut frames: Frames, awaited: Arc<Awaited>) {
    while let Ok(Some(frame)) = frames.message().await {
        if let Some(Frame::Event(event)) = frame.frame {
            awaited.arrived(event.game_id, event.seq);
        }
    }
    // Nobody is told any more, and whoever waits fails the run.
}

/// The entries that somebody waits for.
#[derive(Debug, Default)]
struct Awaited(Mutex<HashMap<(String, u64), oneshot::Sender<Instant>>>);

impl Awaited {
    fn entry(&self, game: &Game) -> oneshot::Receiver<Instant> {
        let (tell, told) = oneshot::channel();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert((game.id.clone(), game.head() + 1), tell);
        told
    }

    fn arrived(&self, game: String, seq: u64) {
        let tell = self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&(game, seq));
        // Whoever waited may have given up.
        let _ = tell.map(|tell| tell.send(Instant::now()));
    }
}

struct Live {
    movers: Vec<Mover>,
    _following: JoinSet<()>,
}

#[async_trait]
impl Contender for Live {
    fn name(&self) -> Name {
        Name::new("feed", self.movers.len(), Unit::Moves).kind("live")
    }

    async fn ready(&mut self, _: Duration) -> anyhow::Result<()> {
        for mover in &mut self.movers {
            mover.after.clear();
            mover.game = Some(Game::create(&mut mover.line, Board { side: 40 }).await?);
        }
        Ok(())
    }

    async fn slice(&mut self, lasts: Duration) -> anyhow::Result<Slice> {
        let (movers, mut slice) = load::run(std::mem::take(&mut self.movers), lasts).await?;
        self.movers = movers;
        let after = Slice::of(slice.lasted, self.movers.iter().flat_map(|mover| &mover.after));
        slice.more.extend(after.after_answer());
        Ok(slice)
    }
}

struct Mover {
    line: Line,
    game: Option<Game>,
    awaited: Arc<Awaited>,
    /// From the answer to the follower.
    after: Vec<Duration>,
}

impl Caller for Mover {
    async fn ask(&mut self) -> anyhow::Result<Asked> {
        let Some(game) = self.game.as_mut().filter(|game| game.goes_on()) else { return Ok(Asked::Spent) };
        let told = self.awaited.entry(game);
        let sent = Instant::now();
        game.step(&mut self.line).await?;
        let answered = Instant::now();
        let Ok(Ok(arrived)) = tokio::time::timeout(ARRIVES_WITHIN, told).await else { bail!("a move did not reach the follower") };
        // On another thread the follower may have been told before the mover.
        self.after.push(arrived.saturating_duration_since(answered));
        Ok(Asked::Took(1, arrived.saturating_duration_since(sent)))
    }
}
