//! `verify`: books checked by the server, every digest and every rule.
//!
//! Invariant: every book verifies, or the run fails.

use std::time::Duration;

use anyhow::ensure;
use async_trait::async_trait;
use plybook_proto::v1;

use super::contender::{Contender, Name, Unit};
use super::game::Game;
use super::lines::Line;
use super::load::{self, Asked, Caller};
use super::site::Site;
use super::slice::Slice;

/// Every caller has one of these games checked again and again.
pub(super) async fn contender(site: &Site, callers: usize, games: &[Game]) -> anyhow::Result<Box<dyn Contender>> {
    let lines = site.lines(callers).await?.into_iter();
    let arbiters = lines.zip(games.iter().cycle()).map(|(line, game)| Arbiter { line, game: game.clone() }).collect();
    Ok(Box::new(Verify { arbiters }))
}

struct Verify {
    arbiters: Vec<Arbiter>,
}

#[async_trait]
impl Contender for Verify {
    fn name(&self) -> Name {
        let entries = self.arbiters.first().map_or(0, |arbiter| arbiter.game.head());
        Name::new("verify", self.arbiters.len(), Unit::Entries).with("entries", entries)
    }

    async fn ready(&mut self, _: Duration) -> anyhow::Result<()> {
        Ok(())
    }

    async fn slice(&mut self, lasts: Duration) -> anyhow::Result<Slice> {
        let (arbiters, slice) = load::run(std::mem::take(&mut self.arbiters), lasts).await?;
        self.arbiters = arbiters;
        Ok(slice)
    }
}

struct Arbiter {
    line: Line,
    game: Game,
}

impl Caller for Arbiter {
    async fn ask(&mut self) -> anyhow::Result<Asked> {
        let request = v1::VerifyGameRequest { game_id: self.game.id.clone() };
        let found = self.line.audit.verify_game(request).await?.into_inner();
        let verified = found.verdict() == v1::BookVerdict::Verified;
        ensure!(verified && found.entries == self.game.head(), "game {} did not verify: {}", self.game.id, found.why);
        Ok(Asked::Did(found.entries))
    }
}
