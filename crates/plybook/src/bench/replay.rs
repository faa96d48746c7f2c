//! `replay`: books read from their first entry to the last, through a stream.
//!
//! Invariant: every entry of a book comes, in order, or the run fails.

use std::time::Duration;

use anyhow::ensure;
use async_trait::async_trait;
use plybook_proto::v1;
use plybook_proto::v1::stream_events_response::Frame;

use super::contender::{Contender, Name, Unit};
use super::game::Game;
use super::lines::Line;
use super::load::{self, Asked, Caller};
use super::site::Site;
use super::slice::Slice;

/// Every caller reads one of these games again and again.
pub(super) async fn contender(site: &Site, callers: usize, games: &[Game]) -> anyhow::Result<Box<dyn Contender>> {
    let lines = site.lines(callers).await?.into_iter();
    let readers = lines.zip(games.iter().cycle()).map(|(line, game)| Reader { line, game: game.clone() }).collect();
    Ok(Box::new(Replay { readers }))
}

struct Replay {
    readers: Vec<Reader>,
}

#[async_trait]
impl Contender for Replay {
    fn name(&self) -> Name {
        let entries = self.readers.first().map_or(0, |reader| reader.game.head());
        Name::new("replay", self.readers.len(), Unit::Entries).with("entries", entries)
    }

    async fn ready(&mut self, _: Duration) -> anyhow::Result<()> {
        Ok(())
    }

    async fn slice(&mut self, lasts: Duration) -> anyhow::Result<Slice> {
        let (readers, slice) = load::run(std::mem::take(&mut self.readers), lasts).await?;
        self.readers = readers;
        Ok(slice)
    }
}

struct Reader {
    line: Line,
    game: Game,
}

impl Caller for Reader {
    async fn ask(&mut self) -> anyhow::Result<Asked> {
        let request = v1::StreamEventsRequest { game_id: self.game.id.clone(), stop_at_head: true, ..Default::default() };
        let mut frames = self.line.games.stream_events(request).await?.into_inner();
        let mut last = 0;
        while let Some(frame) = frames.message().await? {
            if let Some(Frame::Event(event)) = frame.frame {
                ensure!(event.seq == last + 1, "entry {} came after entry {last}", event.seq);
                last = event.seq;
            }
        }
        ensure!(last == self.game.head(), "the stream ended with entry {last} of {}", self.game.head());
        Ok(Asked::Did(last))
    }
}
