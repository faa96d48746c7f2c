//! Hints over core NATS: one subject a site, one connection a node.
//!
//! Invariant: a node says that it may have missed something only once its own word has come back to it, so
//! whatever is published later is heard.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_nats::{Client, Event, Subscriber};
use async_trait::async_trait;
use futures::StreamExt as _;
use plybook_core::Uuid;
use tokio::sync::{mpsc, watch};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::counts::{Hinted, WakeCounts};
use crate::error::Error;
use crate::nats::NatsAddress;
use crate::wake::backoff::{Backoff, Notice};
use crate::wake::packed::{Hints, gather, pack, unpack};
use crate::wake::{ANSWER_WITHIN, INTERVAL, News, QUEUE, Wake, Wakes, hand_on};

/// The site of nodes that are told of none.
pub const SITE_DEFAULT: &str = "plybook";
const SITE_MAX: usize = 64;
/// What a subject of hints begins with.
const SUBJECT: &str = "plybook.wake";
/// A line that was cut without a word is found out after three of these.
const PING: Duration = Duration::from_secs(5);

/// Which NATS servers carry hints, and between which nodes.
#[derive(Clone, Debug)]
pub struct NatsOptions {
    address: NatsAddress,
    site: String,
}

impl NatsOptions {
    /// At these [addresses](NatsAddress::read). Only nodes of the same site hear one another.
    pub fn new(addresses: &str, site: &str) -> Result<NatsOptions, Error> {
        let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if site.is_empty() || site.len() > SITE_MAX || !site.chars().all(fits) {
            return Err(Error::Config(format!("the name of a site is 1 to {SITE_MAX} letters, digits, - and _")));
        }
        Ok(NatsOptions { address: NatsAddress::read(addresses)?, site: site.to_owned() })
    }
}

/// Both ends of the hints of one node.
#[derive(Debug)]
pub struct NatsWakes {
    queue: mpsc::Sender<Wake>,
    hinted: Arc<Hinted>,
    /// Nothing once it is closed.
    line: Mutex<Option<Line>>,
    stop: CancellationToken,
    tasks: TaskTracker,
}

impl NatsWakes {
    /// Begins to connect, and goes on for as long as it takes.
    pub async fn start(options: &NatsOptions) -> Result<NatsWakes, Error> {
        let line = Line::open(options).await?;
        let (queue, waiting) = mpsc::channel(QUEUE);
        let (stop, tasks) = (CancellationToken::new(), TaskTracker::new());
        let hinted = Arc::<Hinted>::default();
        tasks.spawn(send(line.clone(), waiting, stop.clone(), Arc::clone(&hinted)));
        Ok(NatsWakes { queue, hinted, line: Mutex::new(Some(line)), stop, tasks })
    }
}

#[async_trait]
impl Wakes for NatsWakes {
    fn publish(&self, wake: Wake) {
        self.hinted.published();
        if self.queue.try_send(wake).is_err() {
            self.hinted.lost(1);
            tracing::debug!("a wake-up was dropped");
        }
    }

    fn subscribe(&self) -> mpsc::Receiver<News> {
        let (hints, receiver) = mpsc::channel(QUEUE);
        let line = self.line.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let stop = self.stop.clone();
        if let Some(line) = line {
            self.tasks.spawn(async move {
                tokio::select! {
                    () = stop.cancelled() => {}
                    () = hints.closed() => {}
                    () = listen_for_ever(&line, &hints) => {}
                }
            });
        }
        receiver
    }

    fn counts(&self) -> WakeCounts {
        self.hinted.read()
    }

    async fn close(&self) {
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
        self.line.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

impl Drop for NatsWakes {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// A connection that comes back by itself.
#[derive(Clone, Debug)]
struct Line {
    client: Client,
    subject: Arc<str>,
    /// Who speaks, so that a node can tell its own word.
    node: Uuid,
    standing: watch::Receiver<Standing>,
}

/// How the connection stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Standing {
    connected: bool,
    /// The how many-th time.
    times: u64,
}

impl Line {
    async fn open(options: &NatsOptions) -> Result<Line, Error> {
        let (told, standing) = watch::channel(Standing::default());
        let notice = Arc::new(Mutex::new(Notice::new("wake-ups over NATS")));
        let connecting = options.address.connect().retry_on_initial_connect().ping_interval(PING).event_callback(move |event| {
            hear_of(&event, &told, &notice);
            std::future::ready(())
        });
        let client = connecting.connect(options.address.servers()).await.map_err(|error| Error::Unavailable(format!("NATS: {error}")))?;
        let subject = format!("{SUBJECT}.{}", options.site).into();
        Ok(Line { client, subject, node: Uuid::new_v4(), standing })
    }

    /// Hands this to the connection; false where it does not take it.
    async fn say(&self, what: &str) -> bool {
        let payload = format!("{} {what}", self.node.simple());
        // A line that is down keeps what it is given for later, when nobody needs it any more.
        let connected = self.standing.borrow().connected;
        let said = timeout(ANSWER_WITHIN, self.client.publish(self.subject.to_string(), payload.into()));
        connected && matches!(said.await, Ok(Ok(())))
    }

    /// What another node said; nothing where it was this one, or nobody of ours.
    fn strangers<'m>(&self, message: &'m async_nats::Message) -> Option<&'m str> {
        let (node, said) = std::str::from_utf8(&message.payload).ok()?.split_once(' ')?;
        (Uuid::try_parse(node).ok()? != self.node).then_some(said)
    }

    fn is_own(&self, message: &async_nats::Message, word: &str) -> bool {
        *message.payload == *format!("{} {word}", self.node.simple()).as_bytes()
    }
}

fn hear_of(event: &Event, told: &watch::Sender<Standing>, notice: &Mutex<Notice>) {
    let mut notice = notice.lock().unwrap_or_else(PoisonError::into_inner);
    match event {
        Event::Connected => {
            notice.answered();
            told.send_modify(|standing| *standing = Standing { connected: true, times: standing.times + 1 });
        }
        Event::Disconnected | Event::Closed => {
            notice.failed(event);
            told.send_modify(|standing| standing.connected = false);
        }
        Event::ClientError(_) | Event::ServerError(_) => notice.failed(event),
        Event::SlowConsumer(_) => tracing::debug!("wake-ups were dropped"),
        Event::LameDuckMode | Event::Draining => {}
    }
}

async fn send(line: Line, mut waiting: mpsc::Receiver<Wake>, stop: CancellationToken, hinted: Arc<Hinted>) {
    loop {
        let first = tokio::select! {
            biased;
            () = stop.cancelled() => break,
            first = waiting.recv() => first,
        };
        let Some(first) = first else { return };
        send_all(&line, gather(Some(first), &mut waiting), &hinted).await;
        tokio::select! {
            () = stop.cancelled() => {}
            () = sleep(INTERVAL) => {}
        }
    }
    waiting.close();
    loop {
        let rest = gather(None, &mut waiting);
        if rest.is_empty() {
            break;
        }
        send_all(&line, rest, &hinted).await;
    }
    if line.standing.borrow().connected {
        // Else what was handed to the connection would end with it.
        let _ = timeout(ANSWER_WITHIN, line.client.flush()).await;
    }
}

async fn send_all(line: &Line, hints: Hints, hinted: &Hinted) {
    if !line.say(&pack(&hints)).await {
        hinted.lost(hints.len());
        tracing::debug!(hints = hints.len(), "wake-ups were dropped");
    }
}

async fn listen_for_ever(line: &Line, hints: &mpsc::Sender<News>) {
    let mut backoff = Backoff::new("wake-ups from other nodes");
    let mut standing = line.standing.clone();
    loop {
        // It holds over lost connections, and ends only with the client.
        let Ok(mut messages) = line.client.subscribe(line.subject.to_string()).await else {
            sleep(backoff.failed(&"the client has ended")).await;
            continue;
        };
        loop {
            let Ok(now) = standing.wait_for(|standing| standing.connected).await.map(|now| *now) else { return };
            if !heard_itself(line, &mut messages, hints, now.times).await {
                // Whoever lost the line meanwhile has heard so.
                if *line.standing.borrow() == now {
                    sleep(backoff.failed(&format!("nothing comes back on {}", line.subject))).await;
                }
                continue;
            }
            backoff.answered();
            backoff.held();
            // This one is waited for: no later hint makes up for it. It fails only where nobody listens any more.
            let _ = hints.send(News::MayHaveMissed).await;
            let lost = async { drop(standing.wait_for(|later| *later != now).await) };
            tokio::select! {
                () = lost => {}
                () = hear(line, &mut messages, hints) => break,
            }
        }
    }
}

/// Says a word of one's own and hears it come back: from then on whatever is said is heard.
async fn heard_itself(line: &Line, messages: &mut Subscriber, hints: &mpsc::Sender<News>, times: u64) -> bool {
    let word = format!("#{times}");
    let back = async {
        while let Some(message) = messages.next().await {
            if line.is_own(&message, &word) {
                return true;
            }
            pass_on(line, &message, hints);
        }
        false
    };
    line.say(&word).await && timeout(ANSWER_WITHIN, back).await.unwrap_or(false)
}

async fn hear(line: &Line, messages: &mut Subscriber, hints: &mpsc::Sender<News>) {
    while let Some(message) = messages.next().await {
        pass_on(line, &message, hints);
    }
}

fn pass_on(line: &Line, message: &async_nats::Message, hints: &mpsc::Sender<News>) {
    for wake in line.strangers(message).into_iter().flat_map(unpack) {
        hand_on(hints, wake);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_name_that_no_subject_can_have_is_a_sentence() {
        for site in ["", "a.b", "*", ">", "a b", &"x".repeat(65)] {
            assert!(matches!(NatsOptions::new("nats://host", site), Err(Error::Config(_))), "{site}");
        }
        assert!(NatsOptions::new("nats://host", SITE_DEFAULT).is_ok());
    }
}
