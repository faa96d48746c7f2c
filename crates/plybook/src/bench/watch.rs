//! `watch`: many streams, on one game or on many; how long after a move the last watcher has it.
//!
//! Two times are told. The one that is counted begins when the move is sent, so the append is in it. The other
//! begins with the answer to the mover, which comes right after the commit.
//!
//! Invariant: the next move in a game is made when every watcher has the one before, so each watcher's entry
//! is waited for and none is missed.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use async_trait::async_trait;
use futures::{StreamExt as _, TryStreamExt as _, stream};
use plybook_proto::v1;
use plybook_proto::v1::stream_events_response::Frame;
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tonic::Streaming;

use super::contender::{Contender, Name, Unit};
use super::game::{Board, Game};
use super::lines::Line;
use super::load::{self, Asked, Caller};
use super::site::Site;
use super::slice::Slice;

/// Moves that a game has room for; when they are made its mover stops.
const ROOM: u32 = 20_000;
/// Games in which somebody moves at the same time.
const MOVERS: usize = 16;
/// Streams that share a connection.
const A_CONNECTION: usize = 500;
/// Streams that are opened at the same time.
const OPENING: usize = 64;
/// A watcher that has an entry later than this has lost it.
const ARRIVES_WITHIN: Duration = Duration::from_secs(60);
/// Longer than any run, so that only entries come.
const HEARTBEAT_SECONDS: i64 = 300;

/// So many streams on so many games.
pub(super) async fn contender(site: &Site, streams: usize, games: usize) -> anyhow::Result<Box<dyn Contender>> {
    let board = Board::with_room(0, ROOM);
    let tables = site.games(games, board, 0).await?;
    let before = site.resident_bytes();
    let (mut readers, mut audiences) = (JoinSet::new(), Vec::new());
    for place in 0..games {
        audiences.push(Arc::new(Audience::new(streams / games + usize::from(place < streams % games))));
    }
    let lines = site.lines_shared(streams, A_CONNECTION).await?;
    let opening = lines.into_iter().enumerate().map(|(place, line)| open(line, tables[place % games].id.clone(), place % games));
    let opened: Vec<_> = stream::iter(opening).buffer_unordered(OPENING).try_collect().await?;
    for (frames, game) in opened {
        readers.spawn(read(frames, Arc::clone(&audiences[game])));
    }
    let grown = before.zip(site.resident_bytes()).map(|(before, after)| after.saturating_sub(before) as f64 / streams as f64);

    let movers = site.lines(games.min(MOVERS)).await?;
    let mut movers: Vec<Mover> = movers.into_iter().map(|line| Mover { line, tables: Vec::new(), turn: 0, after: Vec::new() }).collect();
    for (place, table) in tables.into_iter().zip(audiences).enumerate() {
        let mover = place % movers.len();
        movers[mover].tables.push(table);
    }
    Ok(Box::new(Watch { movers, streams, games, grown, _readers: readers }))
}

/// Opens a stream and waits until it is at the head.
async fn open(mut line: Line, game_id: String, game: usize) -> anyhow::Result<(Streaming<v1::StreamEventsResponse>, usize)> {
    let mut request = v1::StreamEventsRequest { game_id, after_seq: 1, heartbeat_interval: Some(Default::default()), ..Default::default() };
    request.heartbeat_interval.iter_mut().for_each(|interval| interval.seconds = HEARTBEAT_SECONDS);
    let mut frames = line.games.stream_events(request).await.context("a stream could not be opened")?.into_inner();
    while let Some(frame) = frames.message().await? {
        if let Some(Frame::CaughtUp(_)) = frame.frame {
            return Ok((frames, game));
        }
    }
    bail!("a stream ended before it had caught up")
}

async fn read(mut frames: Streaming<v1::StreamEventsResponse>, audience: Arc<Audience>) {
    loop {
        match frames.message().await {
            Ok(Some(frame)) => {
                if let Some(Frame::Event(_)) = frame.frame {
                    audience.arrived();
                }
            }
            Ok(None) => return audience.broke("a stream ended".to_owned()),
            Err(status) => return audience.broke(format!("a stream broke: {status}")),
        }
    }
}

/// The watchers of one game.
#[derive(Debug)]
struct Audience {
    watchers: usize,
    arrived: AtomicUsize,
    all: Notify,
    last: Mutex<Result<Instant, String>>,
}

impl Audience {
    fn new(watchers: usize) -> Audience {
        Audience { watchers, arrived: AtomicUsize::new(0), all: Notify::new(), last: Mutex::new(Ok(Instant::now())) }
    }

    /// One more watcher has the entry.
    fn arrived(&self) {
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.watchers {
            self.tell(|last| *last = last.clone().map(|_| Instant::now()));
        }
    }

    fn broke(&self, why: String) {
        self.tell(|last| *last = Err(why));
    }

    fn tell(&self, change: impl FnOnce(&mut Result<Instant, String>)) {
        change(&mut self.last.lock().unwrap_or_else(PoisonError::into_inner));
        self.all.notify_one();
    }

    /// Before the next entry.
    fn begin(&self) {
        self.arrived.store(0, Ordering::Release);
    }

    /// When the last watcher had it.
    async fn all_have_it(&self) -> anyhow::Result<Instant> {
        if self.watchers > 0 {
            tokio::time::timeout(ARRIVES_WITHIN, self.all.notified()).await.context("an entry did not reach every watcher")?;
        }
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner).clone();
        last.map_err(anyhow::Error::msg)
    }
}

struct Watch {
    movers: Vec<Mover>,
    streams: usize,
    games: usize,
    /// Memory of the nodes, a stream.
    grown: Option<f64>,
    _readers: JoinSet<()>,
}

#[async_trait]
impl Contender for Watch {
    fn name(&self) -> Name {
        let name = Name::new("watch", self.movers.len(), Unit::Events);
        name.with("streams", self.streams as u64).with("games", self.games as u64)
    }

    async fn ready(&mut self, _: Duration) -> anyhow::Result<()> {
        self.movers.iter_mut().for_each(|mover| mover.after.clear());
        Ok(())
    }

    async fn slice(&mut self, lasts: Duration) -> anyhow::Result<Slice> {
        let (movers, mut slice) = load::run(std::mem::take(&mut self.movers), lasts).await?;
        self.movers = movers;
        let after = Slice::of(slice.lasted, self.movers.iter().flat_map(|mover| &mover.after));
        slice.more.push(("moves_per_s", after.rate()));
        slice.more.extend(after.after_answer());
        slice.more.extend(self.grown.map(|bytes| ("memory_bytes_per_stream", bytes)));
        Ok(slice)
    }
}

struct Mover {
    line: Line,
    tables: Vec<(Game, Arc<Audience>)>,
    turn: usize,
    /// From the answer to the last watcher.
    after: Vec<Duration>,
}

impl Caller for Mover {
    async fn ask(&mut self) -> anyhow::Result<Asked> {
        let (at, tables) = (self.turn, self.tables.len());
        let Some((game, audience)) = self.tables.get_mut(at) else { return Ok(Asked::Spent) };
        self.turn = (at + 1) % tables;
        if !game.goes_on() {
            return Ok(Asked::Spent);
        }
        audience.begin();
        let sent = Instant::now();
        game.step(&mut self.line).await?;
        let answered = Instant::now();
        let last = audience.all_have_it().await?;
        // On another thread the last watcher may have been told before the mover.
        self.after.push(last.saturating_duration_since(answered));
        Ok(Asked::Took(audience.watchers as u64, last.saturating_duration_since(sent)))
    }
}
