//! Hints between nodes, by NOTIFY and LISTEN.
//!
//! Invariant: a hint is never waited for. Queues are bounded and drop what does not fit, a lost
//! connection costs the hints of that while, of which the listener tells once it is back, and the number of NOTIFYs has a ceiling:
//! each takes a lock that every committing NOTIFY in the cluster takes.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use plybook_core::{Seq, Uuid};
use sqlx::postgres::{PgConnectOptions, PgConnection, PgListener, PgPoolOptions};
use sqlx::{ConnectOptions, Executor, Row};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::store::{GameKey, News, TenantId, Wake};

const CHANNEL: &str = "plybook_wake";
/// Hints that wait to be sent, and hints that wait to be read.
const QUEUE: usize = 4_096;
/// At most a hundred NOTIFYs a second.
const INTERVAL: Duration = Duration::from_millis(10);
/// A payload must stay under 8000 bytes: so many hints of at most 56 bytes fit.
const HINTS_PER_NOTIFY: usize = 140;
/// A NOTIFY, or the opening of a connection, that takes longer has failed.
const ANSWER_WITHIN: Duration = Duration::from_secs(3);
/// How long the listener trusts a line on which nothing comes.
const SILENCE: Duration = Duration::from_secs(15);
const BACKOFF_FIRST: Duration = Duration::from_millis(50);
const BACKOFF_MOST: Duration = Duration::from_secs(5);

/// Both ends of the hints of one node.
#[derive(Debug)]
pub(super) struct Wakes {
    /// Nothing where there is nobody to listen to: then every hint is lost.
    session: Option<PgConnectOptions>,
    queue: mpsc::Sender<Wake>,
    /// The backend that sends for this node, so that its listener can skip what it knows already.
    own: Arc<AtomicU32>,
    stop: CancellationToken,
    tasks: TaskTracker,
}

impl Wakes {
    /// Starts the sender; it connects when there is something to send.
    pub(super) fn start(session: Option<PgConnectOptions>) -> Wakes {
        let (queue, waiting) = mpsc::channel(QUEUE);
        let (own, stop, tasks) = (Arc::new(AtomicU32::new(0)), CancellationToken::new(), TaskTracker::new());
        if let Some(session) = session.clone() {
            let sender = Sender {
                session: session.application_name("plybook notifier"),
                connection: None,
                own: own.clone(),
                backoff: Backoff::default(),
                not_before: Instant::now(),
            };
            tasks.spawn(sender.run(waiting, stop.clone()));
        }
        Wakes { session, queue, own, stop, tasks }
    }

    pub(super) fn publish(&self, wake: Wake) {
        if self.session.is_some() && self.queue.try_send(wake).is_err() {
            tracing::debug!("a wake-up was dropped");
        }
    }

    pub(super) fn listen(&self) -> mpsc::Receiver<News> {
        let (hints, receiver) = mpsc::channel(QUEUE);
        let session = self.session.clone().map(|session| session.application_name("plybook listener"));
        let (own, stop) = (self.own.clone(), self.stop.clone());
        self.tasks.spawn(async move {
            let listening = async {
                match session {
                    Some(session) => listen_for_ever(session, &hints, &own).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = stop.cancelled() => {}
                () = hints.closed() => {}
                () = listening => {}
            }
        });
        receiver
    }

    /// Sends what is queued and ends both tasks.
    pub(super) async fn close(&self) {
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }
}

impl Drop for Wakes {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// Doubles from one failure to the next.
#[derive(Debug)]
struct Backoff(Duration);

impl Default for Backoff {
    fn default() -> Backoff {
        Backoff(BACKOFF_FIRST)
    }
}

impl Backoff {
    fn next(&mut self) -> Duration {
        let now = self.0;
        self.0 = (now * 2).min(BACKOFF_MOST);
        now
    }
}

struct Sender {
    session: PgConnectOptions,
    connection: Option<PgConnection>,
    own: Arc<AtomicU32>,
    backoff: Backoff,
    not_before: Instant,
}

impl Sender {
    async fn run(mut self, mut waiting: mpsc::Receiver<Wake>, stop: CancellationToken) {
        loop {
            let first = tokio::select! {
                biased;
                () = stop.cancelled() => break,
                first = waiting.recv() => first,
            };
            let Some(first) = first else { return };
            self.send(gather(Some(first), &mut waiting)).await;
            tokio::select! {
                () = stop.cancelled() => {}
                () = sleep(INTERVAL) => {}
            }
        }
        waiting.close();
        loop {
            let rest = gather(None, &mut waiting);
            if rest.is_empty() {
                return;
            }
            self.send(rest).await;
        }
    }

    async fn send(&mut self, hints: BTreeMap<GameKey, Seq>) {
        if Instant::now() < self.not_before {
            return;
        }
        let why = match timeout(ANSWER_WITHIN, self.try_send(&pack(&hints))).await {
            Ok(Ok(())) => {
                self.backoff = Backoff::default();
                return;
            }
            Ok(Err(error)) => error.to_string(),
            Err(_) => format!("no answer within {ANSWER_WITHIN:?}"),
        };
        self.connection = None;
        self.not_before = Instant::now() + self.backoff.next();
        tracing::warn!(%why, "wake-ups to other nodes are lost until the database answers");
    }

    async fn try_send(&mut self, payload: &str) -> Result<(), sqlx::Error> {
        // Taken out, so that a send that is cut off leaves no half-used connection behind.
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => self.connect().await?,
        };
        sqlx::query("SELECT pg_notify($1, $2)").bind(CHANNEL).bind(payload).execute(&mut connection).await?;
        self.connection = Some(connection);
        Ok(())
    }

    /// A hint may be lost in a crash: it does not wait for the disk.
    async fn connect(&self) -> Result<PgConnection, sqlx::Error> {
        let mut connection = self.session.connect().await?;
        let row = connection.fetch_one("SELECT set_config('synchronous_commit', 'off', false), pg_backend_pid() AS pid").await?;
        self.own.store(row.try_get::<i32, _>("pid")?.unsigned_abs(), Ordering::Relaxed);
        Ok(connection)
    }
}

/// Takes what waits, one hint a game, as much as one NOTIFY carries.
fn gather(first: Option<Wake>, waiting: &mut mpsc::Receiver<Wake>) -> BTreeMap<GameKey, Seq> {
    let mut hints = BTreeMap::new();
    let mut next = first.or_else(|| waiting.try_recv().ok());
    while let Some(wake) = next {
        let seq = hints.entry(wake.key).or_insert(wake.seq);
        *seq = wake.seq.max(*seq);
        if hints.len() == HINTS_PER_NOTIFY {
            break;
        }
        next = waiting.try_recv().ok();
    }
    hints
}

/// `tenant:game:seq`, separated by spaces.
fn pack(hints: &BTreeMap<GameKey, Seq>) -> String {
    let mut payload = String::with_capacity(hints.len() * 56);
    for (key, seq) in hints {
        // Writing into a String cannot fail.
        let _ = write!(payload, "{}:{}:{seq} ", key.tenant.0, key.game.simple());
    }
    payload.truncate(payload.trim_end().len());
    payload
}

/// What another node packed; what cannot be read is no hint.
fn unpack(payload: &str) -> impl Iterator<Item = Wake> {
    payload.split(' ').filter_map(|hint| {
        let mut parts = hint.splitn(3, ':');
        let tenant = TenantId(parts.next()?.parse().ok()?);
        let game = Uuid::try_parse(parts.next()?).ok()?;
        let seq = Seq(parts.next()?.parse().ok()?);
        Some(Wake { key: GameKey { tenant, game }, seq })
    })
}

async fn listen_for_ever(session: PgConnectOptions, hints: &mpsc::Sender<News>, own: &AtomicU32) {
    let mut backoff = Backoff::default();
    loop {
        let why = match timeout(ANSWER_WITHIN, subscribe(&session)).await {
            Ok(Ok(mut listener)) => {
                tracing::debug!("listening for wake-ups");
                let since = Instant::now();
                // Not before LISTEN holds, or what comes in between would be missed. This one is waited for:
                // no later hint makes up for it. It fails only where nobody listens any more.
                let _ = hints.send(News::MayHaveMissed).await;
                let heard = hear(&mut listener, hints, own).await;
                // Each return makes every watcher look: not over and over on a line that never holds.
                if since.elapsed() > BACKOFF_MOST {
                    backoff = Backoff::default();
                }
                match heard {
                    Ok(()) => "the connection was lost".to_owned(),
                    Err(error) => error.to_string(),
                }
            }
            Ok(Err(error)) => error.to_string(),
            Err(_) => format!("no answer within {ANSWER_WITHIN:?}"),
        };
        let pause = backoff.next();
        tracing::warn!(%why, ?pause, "wake-ups from other nodes are lost until the listener is back");
        sleep_until(Instant::now() + pause).await;
    }
}

async fn subscribe(session: &PgConnectOptions) -> Result<PgListener, sqlx::Error> {
    let alone = PgPoolOptions::new().max_connections(1).max_lifetime(None).idle_timeout(None);
    let mut listener = PgListener::connect_with(&alone.connect_with(session.clone()).await?).await?;
    listener.eager_reconnect(false);
    listener.listen(CHANNEL).await?;
    Ok(listener)
}

/// Passes hints on until the connection ends.
async fn hear(listener: &mut PgListener, hints: &mpsc::Sender<News>, own: &AtomicU32) -> Result<(), sqlx::Error> {
    loop {
        match timeout(SILENCE, listener.try_recv()).await {
            Ok(Ok(Some(heard))) => {
                if heard.process_id() == own.load(Ordering::Relaxed) {
                    continue;
                }
                for wake in unpack(heard.payload()) {
                    if hints.try_send(News::Entry(wake)).is_err() {
                        tracing::debug!("a wake-up was dropped");
                    }
                }
            }
            Ok(Ok(None)) => return Ok(()),
            Ok(Err(error)) => return Err(error),
            // A line that was cut without a word is found out only by speaking.
            Err(_) => match timeout(ANSWER_WITHIN, listener.execute("SELECT 1")).await {
                Ok(answer) => {
                    answer?;
                }
                Err(_) => return Ok(()),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn wake(game: u128, seq: u32) -> Wake {
        Wake { key: GameKey { tenant: TenantId(i32::MAX), game: Uuid::from_u128(game) }, seq: Seq(seq) }
    }

    #[test]
    fn a_full_payload_stays_under_the_limit_of_notify() {
        let (queue, mut waiting) = mpsc::channel(QUEUE);
        for game in 0..200 {
            queue.try_send(wake(u128::MAX - game, u32::MAX)).unwrap();
        }
        let hints = gather(None, &mut waiting);
        assert_eq!(hints.len(), HINTS_PER_NOTIFY);
        let payload = pack(&hints);
        assert!(payload.len() > 7_000 && payload.len() < 8_000, "{}", payload.len());
        assert_eq!(unpack(&payload).count(), HINTS_PER_NOTIFY);
        assert_eq!(gather(None, &mut waiting).len(), 60, "the rest waits for the next one");
    }

    #[test]
    fn hints_of_one_game_become_the_latest() {
        let (queue, mut waiting) = mpsc::channel(QUEUE);
        for seq in [2, 9, 3] {
            queue.try_send(wake(7, seq)).unwrap();
        }
        let hints = gather(None, &mut waiting);
        assert_eq!(unpack(&pack(&hints)).collect::<Vec<_>>(), [wake(7, 9)]);
    }

    #[test]
    fn what_is_not_a_hint_is_passed_over() {
        let good = wake(7, 9);
        let payload = format!("x 1:2 1:zz:3 {} :: 1:2:3:4 ", pack(&BTreeMap::from([(good.key, good.seq)])));
        assert_eq!(unpack(&payload).collect::<Vec<_>>(), [good]);
    }

    #[test]
    fn pauses_grow_and_have_a_ceiling() {
        let mut backoff = Backoff::default();
        assert_eq!(backoff.next(), BACKOFF_FIRST);
        assert_eq!(backoff.next(), BACKOFF_FIRST * 2);
        for _ in 0..20 {
            backoff.next();
        }
        assert_eq!(backoff.next(), BACKOFF_MOST);
    }
}
