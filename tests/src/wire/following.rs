//! Streams of a game's events.
//!
//! Invariant: a frame is never dropped unless the test asks for something past it.

use plybook_proto::v1;
use plybook_proto::v1::stream_events_response::Frame;
use tonic::Status;

use super::Wire;
use crate::refused::Refused;

/// A stream to be opened.
pub struct Following {
    pub(super) wire: Wire,
    /// The request as it will be sent.
    pub request: v1::StreamEventsRequest,
}

impl Following {
    /// What follows this entry.
    #[must_use]
    pub fn after(mut self, seq: u64) -> Following {
        self.request.after_seq = seq;
        self
    }

    /// The position first.
    #[must_use]
    pub fn with_snapshot(mut self) -> Following {
        self.request.snapshot = true;
        self
    }

    /// No longer than to the head.
    #[must_use]
    pub fn until_head(mut self) -> Following {
        self.request.stop_at_head = true;
        self
    }

    /// With a heartbeat at this interval.
    #[must_use]
    pub fn heartbeat(mut self, seconds: i64) -> Following {
        self.request.heartbeat_interval = Some(prost_types::Duration { seconds, nanos: 0 });
        self
    }

    /// Opens it.
    pub async fn open(self) -> Watching {
        Watching::over(self.sent().await.unwrap())
    }

    /// The server must refuse.
    pub async fn refused(self) -> Refused {
        Refused::by(self.sent().await)
    }

    /// Opens it; answers as the server did.
    pub async fn sent(self) -> Result<tonic::Streaming<v1::StreamEventsResponse>, Status> {
        self.wire.games().stream_events(self.request).await.map(tonic::Response::into_inner)
    }
}

/// An open stream.
pub struct Watching(tonic::Streaming<v1::StreamEventsResponse>);

impl Watching {
    /// Reads these frames.
    pub fn over(frames: tonic::Streaming<v1::StreamEventsResponse>) -> Watching {
        Watching(frames)
    }

    /// The next frame; nothing after the last.
    pub async fn frame(&mut self) -> Result<Option<Frame>, Status> {
        Ok(self.0.message().await?.map(|frame| frame.frame.unwrap()))
    }

    /// The next event, past whatever else comes.
    pub async fn event(&mut self) -> v1::Event {
        loop {
            match self.frame().await.unwrap() {
                Some(Frame::Event(event)) => return event,
                Some(_) => {}
                None => panic!("the stream ended"),
            }
        }
    }

    /// Reads until history is over; answers the numbers of the entries and the head.
    pub async fn history(&mut self) -> (Vec<u64>, u64) {
        let mut seen = Vec::new();
        loop {
            match self.frame().await.unwrap() {
                Some(Frame::Event(event)) => seen.push(event.seq),
                Some(Frame::CaughtUp(caught_up)) => return (seen, caught_up.head_seq),
                Some(_) => {}
                None => panic!("the stream ended before it caught up"),
            }
        }
    }

    /// Reads to the end of the stream.
    pub async fn rest(&mut self) -> (Vec<Frame>, Option<Refused>) {
        let mut frames = Vec::new();
        loop {
            match self.frame().await {
                Ok(Some(frame)) => frames.push(frame),
                Ok(None) => return (frames, None),
                Err(status) => return (frames, Some(Refused::of(&status))),
            }
        }
    }
}

/// The numbers of the entries among frames.
pub fn seqs(frames: &[Frame]) -> Vec<u64> {
    let seq = |frame: &Frame| match frame {
        Frame::Event(event) => Some(event.seq),
        _ => None,
    };
    frames.iter().filter_map(seq).collect()
}
