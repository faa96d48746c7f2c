//! The stream that is filled, what it has already, and how far it came.
//!
//! Invariant: an entry is only stored behind the last message that its game has in the stream, by the stream's own
//! check. So it comes once and in order, however often it is published, by however many sinks.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use async_nats::jetstream;
use async_nats::jetstream::context::PublishErrorKind;
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::stream::{Config, LastRawMessageErrorKind, Stream};
use futures::{StreamExt as _, TryStreamExt as _};
use plybook_client::{Client, Error};
use plybook_proto::v1;
use plybook_proto::v1::event::Body;
use plybook_store::nats::NatsAddress;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::message::{DIGEST, Format, SEQ};
use crate::exit::usage;
use crate::tail::line::hex;

/// Where it stands how far each stream came.
const PLACES: &str = "PLYBOOK_SINK";
/// What its subjects begin with; the name of the stream follows.
const PLACE: &str = "plybook.sink";
/// Games whose entries are published at once.
const GAMES_AT_ONCE: usize = 128;
/// Games that are remembered; with one more all are forgotten.
const GAMES_REMEMBERED: usize = 100_000;
/// How often somebody else may come first with the same entry.
const OVERTAKEN_MOST: u32 = 16;
/// More than the headers of any message, which count as its payload.
const HEADERS_BYTES_MAX: usize = 512;
const BETWEEN_CONNECTS: Duration = Duration::from_millis(250);
/// The ruleset of a game whose beginning the server cannot read.
const UNREAD: &str = "_";

/// What is filled, and with what.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) stream: String,
    pub(super) prefix: String,
    pub(super) format: Format,
    pub(super) filter: String,
}

/// See the module.
pub(super) struct Outlet {
    place: Place,
    client: Client,
    nats: async_nats::Client,
    jetstream: jetstream::Context,
    stream: Stream,
    token: String,
    /// The token that was written last.
    kept: String,
    games: HashMap<String, Standing>,
    written: u64,
}

/// How a game stands in the stream.
#[derive(Clone, Debug)]
struct Standing {
    subject: String,
    /// Its last entry there, 0 for none.
    entry: u64,
    /// Where that is, 0 for nowhere.
    at: u64,
    /// Its digest, where it says one.
    digest: Option<String>,
}

/// What trying again does not mend.
#[derive(Debug, thiserror::Error)]
pub(super) enum Hopeless {
    /// The stream was filled from other books, or from these before something older was restored.
    #[error("entry {seq} of {game} in the stream is another one than in the books: fill another --stream, with another --prefix")]
    OtherBook { game: String, seq: u64 },
    /// NATS takes no message as large as this entry.
    #[error("entry {seq} of {game} is a message of {bytes} bytes, and NATS takes {most}: raise max_payload there")]
    TooLarge { game: String, seq: u64, bytes: usize, most: usize },
}

impl Outlet {
    /// Connects, makes what is not there, and reads how far the stream came.
    pub(super) async fn open(address: &NatsAddress, place: Place, client: Client, patience: Duration) -> anyhow::Result<Outlet> {
        if place.prefix.is_empty() || place.prefix.split('.').any(|token| token.is_empty() || token.contains(['*', '>', ' '])) {
            return Err(usage("--prefix: words with dots between them, such as plybook.games.default"));
        }
        if place.stream.is_empty() || !place.stream.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_') {
            return Err(usage("--stream: letters, digits, - and _"));
        }
        let nats = connected(address, patience).await?;
        let jetstream = jetstream::new(nats.clone());
        let stream = jetstream
            .get_or_create_stream(Config { name: place.stream.clone(), subjects: vec![format!("{}.>", place.prefix)], ..Config::default() })
            .await
            .with_context(|| format!("the stream {} cannot be had", place.stream))?;
        let places =
            Config { name: PLACES.to_owned(), subjects: vec![format!("{PLACE}.*")], max_messages_per_subject: 1, ..Config::default() };
        let places = jetstream.get_or_create_stream(places).await.with_context(|| format!("the stream {PLACES} cannot be had"))?;
        let token = kept(&places, &place).await?;
        Ok(Outlet { place, client, nats, jetstream, stream, kept: token.clone(), token, games: HashMap::new(), written: 0 })
    }

    /// Where the feed is to go on; empty at the beginning.
    pub(super) fn token(&self) -> &str {
        &self.token
    }

    /// The stream's name.
    pub(super) fn name(&self) -> &str {
        &self.place.stream
    }

    /// How many entries this one has written.
    pub(super) const fn written(&self) -> u64 {
        self.written
    }

    /// Everything up to here is in the stream.
    pub(super) fn reached(&mut self, token: &str) {
        token.clone_into(&mut self.token);
    }

    /// Writes how far it came, where that is news.
    pub(super) async fn keep(&mut self) -> anyhow::Result<()> {
        if self.token == self.kept {
            return Ok(());
        }
        let value = json!({ "resume_token": self.token, "filter": self.place.filter, "prefix": self.place.prefix });
        let failed = || format!("how far {} came cannot be written", self.place.stream);
        let subject = format!("{PLACE}.{}", self.place.stream);
        self.jetstream.publish(subject, value.to_string().into()).await.with_context(failed)?.await.with_context(failed)?;
        self.token.clone_into(&mut self.kept);
        Ok(())
    }

    /// Has them stored, each once and those of a game in order. After an error some are: publish all of them again.
    pub(super) async fn publish(&mut self, events: &[v1::Event]) -> anyhow::Result<()> {
        let mut games: BTreeMap<&str, Vec<&v1::Event>> = BTreeMap::new();
        for event in events {
            games.entry(&event.game_id).or_default().push(event);
        }
        let here = &*self;
        let stored = futures::stream::iter(games).map(|(game, events)| async move {
            let (standing, written) = here.publish_game(here.games.get(game).cloned(), &events).await?;
            Ok::<_, anyhow::Error>((game.to_owned(), standing, written))
        });
        let stored: anyhow::Result<Vec<(String, Standing, u64)>> = stored.buffer_unordered(GAMES_AT_ONCE).try_collect().await;
        // Whatever went wrong, what the stream has now is not known here.
        if stored.is_err() || self.games.len() > GAMES_REMEMBERED {
            self.games.clear();
        }
        for (game, standing, written) in stored? {
            self.games.insert(game, standing);
            self.written += written;
        }
        Ok(())
    }

    async fn publish_game(&self, known: Option<Standing>, events: &[&v1::Event]) -> anyhow::Result<(Standing, u64)> {
        let mut standing = match (known, events.first()) {
            (Some(standing), _) => standing,
            (None, Some(event)) => self.last(self.subject(event).await?).await?,
            (None, None) => return Err(anyhow!("nothing to publish")),
        };
        let mut written = 0;
        for event in events {
            let mut overtaken = 0;
            while standing.entry < event.seq {
                match self.publish_behind(&standing, event).await? {
                    Some(at) => {
                        (standing.entry, standing.at, standing.digest) = (event.seq, at, Some(hex(&event.book_digest)));
                        written += 1;
                    }
                    None if overtaken == OVERTAKEN_MOST => {
                        return Err(anyhow!("entry {} of {} is overtaken again and again", event.seq, event.game_id));
                    }
                    None => {
                        overtaken += 1;
                        standing = self.last(standing.subject).await?;
                    }
                }
            }
            if standing.entry == event.seq && standing.digest.as_ref().is_some_and(|digest| *digest != hex(&event.book_digest)) {
                return Err(Hopeless::OtherBook { game: event.game_id.clone(), seq: event.seq }.into());
            }
        }
        Ok((standing, written))
    }

    /// Where it was stored; nothing where the game has another last message by now.
    async fn publish_behind(&self, standing: &Standing, event: &v1::Event) -> anyhow::Result<Option<u64>> {
        let (body, most) = (self.place.format.body(event), self.nats.server_info().max_payload);
        if body.len() + HEADERS_BYTES_MAX > most {
            return Err(
                Hopeless::TooLarge { game: event.game_id.clone(), seq: event.seq, bytes: body.len() + HEADERS_BYTES_MAX, most }.into()
            );
        }
        let message = PublishMessage::build()
            .payload(body.into())
            .headers(self.place.format.headers(event))
            .expected_stream(&self.place.stream)
            .expected_last_subject_sequence(standing.at);
        let failed = || format!("entry {} of {} cannot be published", event.seq, event.game_id);
        let acknowledged = self.jetstream.send_publish(standing.subject.clone(), message).await.with_context(failed)?.await;
        match acknowledged {
            // An id that the stream knows is that of a message which it has, or has given away since.
            Ok(ack) => Ok(Some(ack.sequence)),
            Err(error) if error.kind() == PublishErrorKind::WrongLastSequence => Ok(None),
            Err(error) => Err(error).with_context(failed),
        }
    }

    /// What the stream has of a game.
    async fn last(&self, subject: String) -> anyhow::Result<Standing> {
        match self.stream.get_last_raw_message_by_subject(&subject).await {
            Ok(last) => {
                let entry = last.headers.get(SEQ).and_then(|seq| seq.as_str().parse().ok()).unwrap_or(0);
                let digest = last.headers.get(DIGEST).map(|digest| digest.as_str().to_owned());
                Ok(Standing { subject, entry, at: last.sequence, digest })
            }
            Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => {
                Ok(Standing { subject, entry: 0, at: 0, digest: None })
            }
            Err(error) => Err(error).with_context(|| format!("what {} has cannot be read", self.place.stream)),
        }
    }

    /// The ruleset stands in a game's first entry alone.
    async fn subject(&self, event: &v1::Event) -> anyhow::Result<String> {
        let ruleset = match &event.body {
            Some(Body::GameCreated(created)) => created.ruleset.as_ref().map(|ruleset| ruleset.id.clone()),
            _ => match self.client.game(&event.game_id, Some(1)).await {
                Ok(game) => game.ruleset.map(|ruleset| ruleset.id),
                Err(Error::Refused(_)) => None,
                Err(error) => return Err(error.into()),
            },
        };
        let ruleset = ruleset.filter(|ruleset| !ruleset.is_empty()).unwrap_or_else(|| UNREAD.to_owned());
        Ok(format!("{}.{ruleset}.{}", self.place.prefix, event.game_id))
    }
}

/// The servers may still be on their way.
async fn connected(address: &NatsAddress, patience: Duration) -> anyhow::Result<async_nats::Client> {
    let by = Instant::now() + patience;
    loop {
        let error = match address.connect().connect(address.servers()).await {
            Ok(client) => return Ok(client),
            Err(error) => error,
        };
        if Instant::now() + BETWEEN_CONNECTS > by {
            return Err(error).context("NATS does not answer");
        }
        sleep(BETWEEN_CONNECTS).await;
    }
}

/// How far the stream came, as it was written last; empty at the beginning.
async fn kept(places: &Stream, place: &Place) -> anyhow::Result<String> {
    let found = match places.get_last_raw_message_by_subject(&format!("{PLACE}.{}", place.stream)).await {
        Ok(found) => found,
        Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => return Ok(String::new()),
        Err(error) => return Err(error).with_context(|| format!("how far {} came cannot be read", place.stream)),
    };
    let kept: Value =
        serde_json::from_slice(&found.payload).with_context(|| format!("what {PLACES} has of {} is not ours", place.stream))?;
    if kept["filter"] != place.filter.as_str() || kept["prefix"] != place.prefix.as_str() {
        let why = format!("{} was begun with another filter or prefix: name another --stream for these", place.stream);
        return Err(usage(why));
    }
    Ok(kept["resume_token"].as_str().unwrap_or_default().to_owned())
}
