//! One game followed, entry by entry.
//!
//! Invariant: entries come in order, each once. A connection that breaks, ends in a draining server,
//! or falls silent is made again, from the last entry that was given out.

use futures::Stream;
use plybook_proto::v1;
use plybook_proto::v1::stream_events_response::Frame;
use tonic::transport::Channel;
use tonic::{Response, Status, Streaming};

use crate::client::Client;
use crate::error::Error;
use crate::resuming::{Cursor, Resuming, Taken};

/// The entries of one game after a cursor, until the game is closed.
#[derive(Debug)]
pub struct Events(Resuming<Place>);

/// Behind an entry of a game's book.
#[derive(Debug)]
struct Place {
    game_id: String,
    last: u64,
}

impl Events {
    pub(crate) fn new(client: Client, game_id: &str, after_seq: u64) -> Events {
        Events(Resuming::new(client, Place { game_id: game_id.to_owned(), last: after_seq }))
    }

    /// The last entry given out: where another cursor would go on.
    pub const fn last_seq(&self) -> u64 {
        self.0.cursor().last
    }

    /// The next entry; nothing after the one that closes the game, or after an error.
    ///
    /// May be dropped while it waits, as in `select!`: no entry is lost.
    pub async fn next(&mut self) -> Option<Result<v1::Event, Error>> {
        self.0.next().await
    }

    /// The same as a [`Stream`].
    pub fn into_stream(self) -> impl Stream<Item = Result<v1::Event, Error>> + Send {
        self.0.into_stream()
    }
}

impl Cursor for Place {
    type Frame = v1::StreamEventsResponse;
    type Item = v1::Event;

    async fn ask(&self, client: &Client, channel: Channel) -> Result<Response<Streaming<v1::StreamEventsResponse>>, Status> {
        let heartbeat = client.options.silence / 3;
        let request = v1::StreamEventsRequest {
            game_id: self.game_id.clone(),
            after_seq: self.last,
            heartbeat_interval: heartbeat.try_into().ok(),
            ..Default::default()
        };
        client.games(channel).stream_events(request).await
    }

    fn take(&mut self, frame: v1::StreamEventsResponse) -> Taken<v1::Event> {
        let Some(Frame::Event(event)) = frame.frame else { return Taken::Nothing };
        if event.seq > self.last + 1 {
            return Taken::Gap(format!("entry {} came after {}", event.seq, self.last));
        }
        if event.seq <= self.last {
            return Taken::Nothing;
        }
        self.last = event.seq;
        if event.revealed_seed.is_empty() { Taken::One(event) } else { Taken::Last(event) }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;

    #[test]
    fn what_came_before_is_passed_over_and_what_is_missing_is_noticed() {
        let mut place = Place { game_id: String::new(), last: 3 };
        let mut take = |seq, revealed_seed: &[u8]| {
            let event = v1::Event { seq, revealed_seed: revealed_seed.to_vec(), ..Default::default() };
            match place.take(v1::StreamEventsResponse { frame: Some(Frame::Event(event)) }) {
                Taken::One(event) => format!("one {}", event.seq),
                Taken::Last(event) => format!("last {}", event.seq),
                Taken::Nothing => "nothing".to_owned(),
                Taken::Gap(why) => why,
            }
        };
        let told = [take(3, &[]), take(5, &[]), take(4, &[]), take(4, &[]), take(5, &[7; 32])];
        assert_eq!(told, ["nothing", "entry 5 came after 3", "one 4", "nothing", "last 5"]);
    }
}
