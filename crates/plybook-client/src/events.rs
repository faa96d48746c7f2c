//! One game followed, entry by entry.
//!
//! Invariant: entries come in order, each once. A connection that breaks, ends in a draining server,
//! or falls silent is made again, from the last entry that was given out.

use futures::Stream;
use plybook_proto::v1;
use plybook_proto::v1::stream_events_response::Frame;

use crate::client::Client;
use crate::connection::{Broken, Connection, Frames};
use crate::error::{Error, Failure};
use crate::patience::Patience;

/// The entries of one game after a cursor, until the game is closed.
#[derive(Debug)]
pub struct Events {
    client: Client,
    game_id: String,
    last: u64,
    connection: Connection<v1::StreamEventsResponse>,
    patience: Patience,
}

impl Events {
    pub(crate) fn new(client: Client, game_id: &str, after_seq: u64) -> Events {
        let patience = Patience::new(&client.options, client.routes.len());
        Events { client, game_id: game_id.to_owned(), last: after_seq, connection: Connection::None, patience }
    }

    /// The last entry given out: where another cursor would go on.
    pub const fn last_seq(&self) -> u64 {
        self.last
    }

    /// The next entry; nothing after the one that closes the game, or after an error.
    ///
    /// May be dropped while it waits, as in `select!`: no entry is lost.
    pub async fn next(&mut self) -> Option<Result<v1::Event, Error>> {
        loop {
            let broken = match &mut self.connection {
                Connection::Ended => return None,
                Connection::None => match self.open().await {
                    Ok(()) => continue,
                    Err(broken) => broken,
                },
                Connection::Open(frames) => match frames.next(self.client.options.silence).await {
                    Ok(Some(frame)) => {
                        let route = frames.route();
                        match self.take(frame) {
                            Ok(Some(event)) => return Some(Ok(event)),
                            Ok(None) => continue,
                            Err(failure) => (route, failure),
                        }
                    }
                    Ok(None) => {
                        self.connection = Connection::Ended;
                        return None;
                    }
                    Err(broken) => broken,
                },
            };
            if let Err(error) = self.connection.breaks(&self.client, &mut self.patience, broken).await {
                return Some(Err(error));
            }
        }
    }

    /// The same as a [`Stream`].
    pub fn into_stream(self) -> impl Stream<Item = Result<v1::Event, Error>> + Send {
        futures::stream::unfold(self, |mut events| async move { events.next().await.map(|event| (event, events)) })
    }

    async fn open(&mut self) -> Result<(), Broken> {
        let (route, channel) = self.client.routes.current();
        let heartbeat = self.client.options.silence / 3;
        let request = v1::StreamEventsRequest {
            game_id: self.game_id.clone(),
            after_seq: self.last,
            heartbeat_interval: heartbeat.try_into().ok(),
            ..Default::default()
        };
        let mut games = self.client.games(channel);
        let frames = Frames::ask(route, self.client.options.timeout, games.stream_events(request)).await?;
        self.connection = Connection::Open(frames);
        Ok(())
    }

    fn take(&mut self, frame: v1::StreamEventsResponse) -> Result<Option<v1::Event>, Failure> {
        if let Some(Frame::Event(event)) = &frame.frame
            && event.seq > self.last + 1
        {
            return Err(Failure::Again { why: format!("entry {} came after {}", event.seq, self.last), not_before: None });
        }
        self.patience = Patience::new(&self.client.options, self.client.routes.len());
        let Some(Frame::Event(event)) = frame.frame else { return Ok(None) };
        if event.seq <= self.last {
            return Ok(None);
        }
        self.last = event.seq;
        if !event.revealed_seed.is_empty() {
            self.connection = Connection::Ended;
        }
        Ok(Some(event))
    }
}
