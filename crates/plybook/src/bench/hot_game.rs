//! `hot-game`: every caller wants to make the next move of the same game.
//!
//! Invariant: of those who decide on the same head one is accepted, and the others are refused as stale; they ask
//! again when the head has moved on.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use async_trait::async_trait;
use tokio::sync::watch;
use tonic::Code;

use super::contender::{Contender, Name, Unit};
use super::game::{Board, Game};
use super::lines::Line;
use super::load::{self, Asked, Caller};
use super::site::Site;
use super::slice::Slice;

/// Moves that a game has room for; a slice that makes more ends early.
const ROOM: u32 = 20_000;
/// Whoever was refused hears of the new head by then, or asks again.
const HEARS_WITHIN: Duration = Duration::from_millis(100);

/// Moves on one game, by so many callers.
pub(super) async fn contender(site: &Site, callers: usize) -> anyhow::Result<Box<dyn Contender>> {
    Ok(Box::new(HotGame { lines: site.lines(callers).await?, rivals: Vec::new() }))
}

struct HotGame {
    lines: Vec<Line>,
    rivals: Vec<Rival>,
}

#[async_trait]
impl Contender for HotGame {
    fn name(&self) -> Name {
        Name::new("hot-game", self.lines.len(), Unit::Moves).with("games", 1)
    }

    /// A game of its own for each slice, so that every slice begins with a short one.
    async fn ready(&mut self, _: Duration) -> anyhow::Result<()> {
        let mut first = self.lines.first().context("there is no caller")?.clone();
        let game = Game::create(&mut first, Board::with_room(0, ROOM)).await?;
        let made = Arc::new(watch::Sender::new(0));
        let rival = |line: &Line| Rival { line: line.clone(), game: game.clone(), made: Arc::clone(&made) };
        self.rivals = self.lines.iter().map(rival).collect();
        Ok(())
    }

    async fn slice(&mut self, lasts: Duration) -> anyhow::Result<Slice> {
        let (_, mut slice) = load::run(std::mem::take(&mut self.rivals), lasts).await?;
        let calls = slice.units + slice.in_vain;
        slice.more.push(("calls_per_move", calls as f64 / slice.units.max(1) as f64));
        Ok(slice)
    }
}

struct Rival {
    line: Line,
    game: Game,
    /// Moves made, as the callers know it.
    made: Arc<watch::Sender<u32>>,
}

impl Caller for Rival {
    async fn ask(&mut self) -> anyhow::Result<Asked> {
        let decided_on = *self.made.borrow();
        let game = self.game.at(decided_on);
        if !game.goes_on() {
            return Ok(Asked::Spent);
        }
        match self.line.games.make_move(game.request()).await {
            Ok(_) => {
                self.made.send_modify(|made| *made = (*made).max(decided_on + 1));
                Ok(Asked::Did(1))
            }
            Err(refused) if refused.code() == Code::Aborted => {
                let mut hears = self.made.subscribe();
                // Whoever made the move tells it when its answer is there.
                let _ = tokio::time::timeout(HEARS_WITHIN, hears.wait_for(|made| *made > decided_on)).await;
                Ok(Asked::InVain)
            }
            Err(other) => Err(other.into()),
        }
    }
}
