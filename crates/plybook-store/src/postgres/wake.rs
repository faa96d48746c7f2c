//! Hints between nodes, by NOTIFY and LISTEN.
//!
//! Invariant: a hint is never waited for. Queues are bounded and drop what does not fit, a lost
//! connection costs the hints of that while, of which the listener tells once it is back, and the number of NOTIFYs has a ceiling:
//! each takes a lock that every committing NOTIFY in the cluster takes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use async_trait::async_trait;
use sqlx::postgres::{PgConnectOptions, PgConnection, PgListener, PgPoolOptions};
use sqlx::{ConnectOptions, Executor, Row};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::PostgresOptions;
use crate::counts::{Hinted, WakeCounts};
use crate::error::Error;
use crate::wake::backoff::{Backoff, MOST};
use crate::wake::packed::{Hints, gather, pack, unpack};
use crate::wake::{ANSWER_WITHIN, INTERVAL, News, QUEUE, SILENCE, Wake, Wakes, hand_on};

const CHANNEL: &str = "plybook_wake";

/// Both ends of the hints of one node.
#[derive(Debug)]
pub struct PostgresWakes {
    session: PgConnectOptions,
    queue: mpsc::Sender<Wake>,
    hinted: Arc<Hinted>,
    /// The backend that sends for this node, so that its listener can skip what it knows already.
    own: Arc<AtomicU32>,
    stop: CancellationToken,
    tasks: TaskTracker,
}

impl PostgresWakes {
    /// Starts the sender; it connects when there is something to send. It needs sessions of its own, which a pooler
    /// does not lend.
    pub fn start(options: &PostgresOptions) -> Result<PostgresWakes, Error> {
        let nowhere = || Error::Config("wake-ups by Postgres need sessions that stay: name the database itself and no pooler".to_owned());
        let session = options.wake_session()?.ok_or_else(nowhere)?;
        let (queue, waiting) = mpsc::channel(QUEUE);
        let (own, stop, tasks) = (Arc::new(AtomicU32::new(0)), CancellationToken::new(), TaskTracker::new());
        let hinted = Arc::<Hinted>::default();
        let sender = Sender {
            session: session.clone().application_name("plybook notifier"),
            connection: None,
            hinted: Arc::clone(&hinted),
            own: own.clone(),
            backoff: Backoff::new("wake-ups to other nodes"),
            not_before: Instant::now(),
        };
        tasks.spawn(sender.run(waiting, stop.clone()));
        Ok(PostgresWakes { session, queue, hinted, own, stop, tasks })
    }
}

#[async_trait]
impl Wakes for PostgresWakes {
    fn publish(&self, wake: Wake) {
        self.hinted.published();
        if self.queue.try_send(wake).is_err() {
            self.hinted.lost(1);
            tracing::debug!("a wake-up was dropped");
        }
    }

    fn subscribe(&self) -> mpsc::Receiver<News> {
        let (hints, receiver) = mpsc::channel(QUEUE);
        let session = self.session.clone().application_name("plybook listener");
        let (own, stop) = (self.own.clone(), self.stop.clone());
        self.tasks.spawn(async move {
            tokio::select! {
                () = stop.cancelled() => {}
                () = hints.closed() => {}
                () = listen_for_ever(session, &hints, &own) => {}
            }
        });
        receiver
    }

    fn counts(&self) -> WakeCounts {
        self.hinted.read()
    }

    async fn close(&self) {
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }
}

impl Drop for PostgresWakes {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

struct Sender {
    session: PgConnectOptions,
    connection: Option<PgConnection>,
    hinted: Arc<Hinted>,
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

    async fn send(&mut self, hints: Hints) {
        if Instant::now() < self.not_before {
            self.hinted.lost(hints.len());
            return;
        }
        let why = match timeout(ANSWER_WITHIN, self.try_send(&pack(&hints))).await {
            Ok(Ok(())) => {
                self.backoff.answered();
                self.backoff.held();
                return;
            }
            Ok(Err(error)) => error.to_string(),
            Err(_) => format!("no answer within {ANSWER_WITHIN:?}"),
        };
        self.connection = None;
        self.hinted.lost(hints.len());
        self.not_before = Instant::now() + self.backoff.failed(&why);
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

async fn listen_for_ever(session: PgConnectOptions, hints: &mpsc::Sender<News>, own: &AtomicU32) {
    let mut backoff = Backoff::new("wake-ups from other nodes");
    loop {
        let why = match timeout(ANSWER_WITHIN, subscribe(&session)).await {
            Ok(Ok(mut listener)) => {
                backoff.answered();
                let since = Instant::now();
                // Not before LISTEN holds, or what comes in between would be missed. This one is waited for:
                // no later hint makes up for it. It fails only where nobody listens any more.
                let _ = hints.send(News::MayHaveMissed).await;
                let heard = hear(&mut listener, hints, own).await;
                // Each return makes every watcher look: not over and over on a line that never holds.
                if since.elapsed() > MOST {
                    backoff.held();
                }
                match heard {
                    Ok(()) => "the connection was lost".to_owned(),
                    Err(error) => error.to_string(),
                }
            }
            Ok(Err(error)) => error.to_string(),
            Err(_) => format!("no answer within {ANSWER_WITHIN:?}"),
        };
        sleep(backoff.failed(&why)).await;
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
                unpack(heard.payload()).for_each(|wake| hand_on(hints, wake));
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
