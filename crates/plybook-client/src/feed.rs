//! Every game of the tenant, followed with one token.
//!
//! Invariant: entries come in the order of the feed, each once. A connection that breaks, ends in a draining server, or
//! falls silent is made again, from the last frame that was given out.

use futures::Stream;
use plybook_proto::v1;
use plybook_proto::v1::stream_all_events_response::Frame;
use tonic::transport::Channel;
use tonic::{Response, Status, Streaming};

use crate::client::Client;
use crate::error::Error;
use crate::resuming::{Cursor, Resuming, Taken};

/// Where a feed begins, and what it is of.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FeedStart {
    /// Go on behind the frame that had this token, which is of the same filter; empty begins with the first entry of all.
    pub resume_token: String,
    /// Begin with what is stored from now on, where there is no token.
    pub from_now: bool,
    /// Which entries.
    pub filter: v1::FeedFilter,
    /// End once caught up.
    pub stop_at_head: bool,
}

/// What a feed gives out.
#[derive(Clone, Debug, PartialEq)]
pub enum Fed {
    /// The next entry.
    Event(Box<v1::Event>),
    /// Nothing up to here that fits was left out: the token moved on.
    Checkpoint(v1::FeedCheckpoint),
    /// History is over; once.
    CaughtUp,
}

/// The feed of a tenant.
#[derive(Debug)]
pub struct Feed(Resuming<Place>);

/// Behind a frame of the feed.
#[derive(Debug)]
struct Place {
    start: FeedStart,
    caught_up: bool,
}

impl Feed {
    pub(crate) fn new(client: Client, start: FeedStart) -> Feed {
        Feed(Resuming::new(client, Place { start, caught_up: false }))
    }

    /// The token of the last frame given out: where another feed with the same filter would go on. Keep it once you have
    /// dealt with that frame.
    pub fn resume_token(&self) -> &str {
        &self.0.cursor().start.resume_token
    }

    /// The next frame; nothing after an error, or after the end that was asked for.
    ///
    /// May be dropped while it waits, as in `select!`: no entry is lost. The times within which a server must answer begin anew
    /// then, so whoever drops it every second never finds out that nobody answers.
    pub async fn next(&mut self) -> Option<Result<Fed, Error>> {
        self.0.next().await
    }

    /// The next entry, past whatever else is given out.
    pub async fn next_event(&mut self) -> Option<Result<v1::Event, Error>> {
        loop {
            match self.next().await? {
                Ok(Fed::Event(event)) => return Some(Ok(*event)),
                Ok(Fed::Checkpoint(_) | Fed::CaughtUp) => {}
                Err(error) => return Some(Err(error)),
            }
        }
    }

    /// The same as a [`Stream`], each with its token.
    pub fn into_stream(self) -> impl Stream<Item = Result<(Fed, String), Error>> + Send {
        futures::stream::unfold(self, |mut feed| async move {
            let fed = feed.next().await?;
            let token = feed.resume_token().to_owned();
            Some((fed.map(|fed| (fed, token)), feed))
        })
    }
}

impl Cursor for Place {
    type Frame = v1::StreamAllEventsResponse;
    type Item = Fed;

    async fn ask(&self, client: &Client, channel: Channel) -> Result<Response<Streaming<v1::StreamAllEventsResponse>>, Status> {
        let heartbeat = client.options.silence / 3;
        let FeedStart { resume_token, from_now, filter, stop_at_head } = self.start.clone();
        let request = v1::StreamAllEventsRequest {
            from_now: from_now && resume_token.is_empty(),
            resume_token,
            filter: Some(filter),
            stop_at_head,
            heartbeat_interval: heartbeat.try_into().ok(),
        };
        client.audit(channel).stream_all_events(request).await
    }

    fn take(&mut self, frame: v1::StreamAllEventsResponse) -> Taken<Fed> {
        self.start.resume_token = frame.resume_token;
        match frame.frame {
            Some(Frame::Event(event)) => Taken::One(Fed::Event(Box::new(event))),
            Some(Frame::Checkpoint(checkpoint)) => Taken::One(Fed::Checkpoint(checkpoint)),
            // After a break history is over again.
            Some(Frame::CaughtUp(_)) if !std::mem::replace(&mut self.caught_up, true) => Taken::One(Fed::CaughtUp),
            Some(Frame::CaughtUp(_)) | None => Taken::Nothing,
        }
    }
}
