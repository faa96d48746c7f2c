//! Hints over core NATS: one subject a site, one connection a node.
//!
//! Invariant: a node says that it may have missed something only once its own word has come back to it, so
//! whatever is published later is heard. User and password of an address stand in no log.

use std::fmt;
use std::str::FromStr as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_nats::{Client, ConnectOptions, Event, ServerAddr, Subscriber};
use async_trait::async_trait;
use futures::StreamExt as _;
use plybook_core::Uuid;
use tokio::sync::{mpsc, watch};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::error::Error;
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

/// How to reach NATS.
#[derive(Clone)]
pub struct NatsOptions {
    servers: Vec<ServerAddr>,
    login: Login,
    site: String,
}

#[derive(Clone)]
enum Login {
    Nobody,
    Token(String),
    User(String, String),
}

impl NatsOptions {
    /// `nats://user:password@host:4222` or `nats://token@host`, `tls://` for a line that must be encrypted; several
    /// servers of a cluster with commas between them. Only nodes of the same site hear one another.
    pub fn new(addresses: &str, site: &str) -> Result<NatsOptions, Error> {
        let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if site.is_empty() || site.len() > SITE_MAX || !site.chars().all(fits) {
            return Err(Error::Config(format!("the name of a site is 1 to {SITE_MAX} letters, digits, - and _")));
        }
        let (mut servers, mut login) = (Vec::new(), Login::Nobody);
        for address in addresses.split(',') {
            let (server, said) = read(address)?;
            servers.push(server);
            if !matches!(said, Login::Nobody) {
                login = said;
            }
        }
        Ok(NatsOptions { servers, login, site: site.to_owned() })
    }

    fn connect(&self) -> ConnectOptions {
        let options = ConnectOptions::new().name("plybook").retry_on_initial_connect().ping_interval(PING);
        match &self.login {
            Login::Nobody => options,
            Login::Token(token) => options.token(token.clone()),
            Login::User(user, password) => options.user_and_password(user.clone(), password.clone()),
        }
    }
}

impl fmt::Debug for NatsOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NatsOptions").field("servers", &self.servers).field("site", &self.site).finish_non_exhaustive()
    }
}

/// A server's address without what must not be logged, and that.
fn read(address: &str) -> Result<(ServerAddr, Login), Error> {
    if !(address.starts_with("nats://") || address.starts_with("tls://")) {
        return Err(Error::Config("a NATS address begins with nats:// or tls://".to_owned()));
    }
    let unread = |why: &dyn fmt::Display| Error::Config(format!("the NATS address cannot be read: {why}"));
    let mut url = ServerAddr::from_str(address).map_err(|error| unread(&error))?.into_inner();
    if url.host_str().is_none_or(str::is_empty) {
        return Err(unread(&"it names no host"));
    }
    let (user, password) = (decoded(url.username()), url.password().map(decoded));
    let login = match (user.is_empty(), password) {
        (true, None) => Login::Nobody,
        (_, Some(password)) => Login::User(user, password),
        (false, None) => Login::Token(user),
    };
    url.set_username("").and_then(|()| url.set_password(None)).map_err(|()| unread(&"it names no host"))?;
    Ok((ServerAddr::from_url(url).map_err(|error| unread(&error))?, login))
}

/// An address has `%40` for `@`.
fn decoded(text: &str) -> String {
    let (mut bytes, mut rest) = (Vec::with_capacity(text.len()), text.as_bytes());
    while let Some((&first, behind)) = rest.split_first() {
        let escaped = (first == b'%').then(|| behind.get(..2)).flatten();
        let byte = escaped.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        bytes.push(byte.unwrap_or(first));
        rest = if byte.is_some() { &behind[2..] } else { behind };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Both ends of the hints of one node.
#[derive(Debug)]
pub struct NatsWakes {
    queue: mpsc::Sender<Wake>,
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
        tasks.spawn(send(line.clone(), waiting, stop.clone()));
        Ok(NatsWakes { queue, line: Mutex::new(Some(line)), stop, tasks })
    }
}

#[async_trait]
impl Wakes for NatsWakes {
    fn publish(&self, wake: Wake) {
        if self.queue.try_send(wake).is_err() {
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
        let connecting = options.connect().event_callback(move |event| {
            hear_of(&event, &told, &notice);
            std::future::ready(())
        });
        let client = connecting.connect(options.servers.clone()).await.map_err(|error| Error::Unavailable(format!("NATS: {error}")))?;
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

async fn send(line: Line, mut waiting: mpsc::Receiver<Wake>, stop: CancellationToken) {
    loop {
        let first = tokio::select! {
            biased;
            () = stop.cancelled() => break,
            first = waiting.recv() => first,
        };
        let Some(first) = first else { return };
        send_all(&line, gather(Some(first), &mut waiting)).await;
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
        send_all(&line, rest).await;
    }
    if line.standing.borrow().connected {
        // Else what was handed to the connection would end with it.
        let _ = timeout(ANSWER_WITHIN, line.client.flush()).await;
    }
}

async fn send_all(line: &Line, hints: Hints) {
    if !line.say(&pack(&hints)).await {
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
    fn a_bad_address_is_a_sentence() {
        for address in ["", "nats", "http://host", "nats://", "nats://host:port", "nats://a,b", "nats://a,"] {
            let refused = NatsOptions::new(address, SITE_DEFAULT);
            assert!(matches!(refused, Err(Error::Config(_))), "{address}: {refused:?}");
        }
        for site in ["", "a.b", "*", ">", "a b", &"x".repeat(65)] {
            assert!(matches!(NatsOptions::new("nats://host", site), Err(Error::Config(_))), "{site}");
        }
    }

    #[test]
    fn no_secret_is_printed_and_each_is_kept() {
        let options = NatsOptions::new("nats://m%40e:se%3acret@one:4222,tls://two", "site").unwrap();
        assert!(matches!(&options.login, Login::User(user, password) if user == "m@e" && password == "se:cret"));
        let told = format!("{options:?} {:?}", options.connect());
        assert!(!told.contains("cret") && !told.contains("m%40e"), "{told}");
        assert!(told.contains("one") && told.contains("two"), "{told}");
        let options = NatsOptions::new("nats://tok%25en@one", "site").unwrap();
        assert!(matches!(&options.login, Login::Token(token) if token == "tok%en"));
        assert!(!format!("{options:?}").contains("tok"));
        assert!(matches!(NatsOptions::new("nats://[::1]:4222", "site").unwrap().login, Login::Nobody));
    }
}
