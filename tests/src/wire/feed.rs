//! The feed over every game.
//!
//! Invariant: no frame is without a token, and none is dropped unless the test asks for something past it.

use std::time::Duration;

use plybook_proto::v1;
use plybook_proto::v1::stream_all_events_response::Frame;
use tonic::Status;

use super::Wire;
use crate::patience::PATIENCE;
use crate::refused::Refused;

/// A feed to be opened.
#[derive(Clone)]
pub struct AskedFeed {
    wire: Wire,
    /// The request as it will be sent.
    pub request: v1::StreamAllEventsRequest,
}

impl Wire {
    /// StreamAllEvents, to be told what it should send.
    pub fn feed(&self) -> AskedFeed {
        AskedFeed { wire: self.clone(), request: v1::StreamAllEventsRequest::default() }
    }
}

impl AskedFeed {
    /// What follows this token.
    #[must_use]
    pub fn from(mut self, token: &str) -> AskedFeed {
        self.request.resume_token = token.to_owned();
        self
    }

    /// Only what comes.
    #[must_use]
    pub fn from_now(mut self) -> AskedFeed {
        self.request.from_now = true;
        self
    }

    /// Of games of this ruleset too.
    #[must_use]
    pub fn of(mut self, ruleset: &str) -> AskedFeed {
        self.request.filter.get_or_insert_default().ruleset_ids.push(ruleset.to_owned());
        self
    }

    /// Of games with this player.
    #[must_use]
    pub fn with_player(mut self, player: &str) -> AskedFeed {
        self.request.filter.get_or_insert_default().player_id = player.to_owned();
        self
    }

    /// After which a game is in one of these states.
    #[must_use]
    pub fn states(mut self, states: &[v1::GameState]) -> AskedFeed {
        self.request.filter.get_or_insert_default().states = states.iter().map(|state| *state as i32).collect();
        self
    }

    /// No longer than to the end of what can be shown.
    #[must_use]
    pub fn until_head(mut self) -> AskedFeed {
        self.request.stop_at_head = true;
        self
    }

    /// With a checkpoint at this interval.
    #[must_use]
    pub fn heartbeat(mut self, seconds: i64) -> AskedFeed {
        self.request.heartbeat_interval = Some(prost_types::Duration { seconds, nanos: 0 });
        self
    }

    /// Opens it.
    pub async fn open(self) -> Feed {
        Feed { token: self.request.resume_token.clone(), frames: self.sent().await.unwrap() }
    }

    /// The server must refuse.
    pub async fn refused(self) -> Refused {
        Refused::by(self.sent().await)
    }

    /// Opens it; answers as the server did.
    pub async fn sent(self) -> Result<tonic::Streaming<v1::StreamAllEventsResponse>, Status> {
        self.wire.audit().stream_all_events(self.request).await.map(tonic::Response::into_inner)
    }

    /// All that there is, until the end of what can be shown; what other writers of the cluster hide comes with another try.
    pub async fn whole(self) -> Vec<v1::Event> {
        let mut feed = self.until_head().open().await;
        feed.history().await
    }
}

/// An open feed.
pub struct Feed {
    frames: tonic::Streaming<v1::StreamAllEventsResponse>,
    /// The token of the last frame.
    pub token: String,
}

impl Feed {
    /// The next frame; nothing after the last.
    pub async fn frame(&mut self) -> Result<Option<Frame>, Status> {
        let message = tokio::time::timeout(PATIENCE, self.frames.message()).await.expect("a frame comes in time")?;
        Ok(message.map(|message| {
            assert!(!message.resume_token.is_empty(), "{message:?}");
            self.token = message.resume_token;
            message.frame.unwrap()
        }))
    }

    /// Whether a frame comes within this time: if so, it is lost.
    pub async fn says_anything(&mut self, within: Duration) -> bool {
        tokio::time::timeout(within, self.frames.message()).await.is_ok()
    }

    /// The next event, past whatever else comes.
    pub async fn event(&mut self) -> v1::Event {
        loop {
            match self.frame().await.unwrap() {
                Some(Frame::Event(event)) => return event,
                Some(_) => {}
                None => panic!("the feed ended"),
            }
        }
    }

    /// The next events, so many.
    pub async fn events(&mut self, count: usize) -> Vec<v1::Event> {
        let mut events = Vec::with_capacity(count);
        while events.len() < count {
            events.push(self.event().await);
        }
        events
    }

    /// The next checkpoint, before which no event comes.
    pub async fn checkpoint(&mut self) -> v1::FeedCheckpoint {
        match self.frame().await.unwrap() {
            Some(Frame::Checkpoint(checkpoint)) => checkpoint,
            other => panic!("no checkpoint: {other:?}"),
        }
    }

    /// Reads until history is over.
    pub async fn history(&mut self) -> Vec<v1::Event> {
        let mut events = Vec::new();
        loop {
            match self.frame().await.unwrap() {
                Some(Frame::Event(event)) => events.push(event),
                Some(Frame::CaughtUp(_)) => return events,
                Some(Frame::Checkpoint(_)) => {}
                None => panic!("the feed ended before it caught up"),
            }
        }
    }

    /// Reads to the end, which must be a refusal.
    pub async fn ends(&mut self) -> Refused {
        loop {
            match self.frame().await {
                Ok(Some(_)) => {}
                Ok(None) => panic!("the feed ended with OK"),
                Err(status) => return Refused::of(&status),
            }
        }
    }
}
