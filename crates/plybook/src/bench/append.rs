//! `append`: MakeMove on many games. Every caller plays games of its own, in turn.
//!
//! Invariant: no two callers meet in a game, so every move is accepted.

use std::time::Duration;

use async_trait::async_trait;

use super::contender::{Contender, Name, Unit};
use super::game::{Board, Game};
use super::lines::Line;
use super::load::{self, Asked, Caller};
use super::site::Site;
use super::slice::Slice;

/// Moves on many games, by so many callers; each game is measured from its entry `from` on.
pub(super) async fn contender(site: &Site, callers: usize, board: Board, from: u32) -> anyhow::Result<Box<dyn Contender>> {
    let receipts = site.receipts();
    let player = |line| Player { line, board, from, receipts, games: Vec::new(), turn: 0 };
    let players = site.lines(callers).await?.into_iter().map(player).collect();
    Ok(Box::new(Append { players, games: site.games_a_caller(), board, from, receipts }))
}

struct Append {
    players: Vec<Player>,
    games: usize,
    board: Board,
    from: u32,
    receipts: bool,
}

#[async_trait]
impl Contender for Append {
    fn name(&self) -> Name {
        let games = (self.players.len() * self.games) as u64;
        let name = Name::new("append", self.players.len(), Unit::Moves).with("games", games).with("board", self.board.side.into());
        let name = if self.from > 1 { name.with("from_entry", self.from.into()) } else { name };
        if self.receipts { name.with("receipts", 1) } else { name }
    }

    /// Games that are over are replaced.
    async fn ready(&mut self, _: Duration) -> anyhow::Result<()> {
        let games = self.games;
        let deal = |mut player: Player| async move {
            player.games.retain(Game::goes_on);
            while player.games.len() < games {
                let game = player.deal().await?;
                player.games.push(game);
            }
            anyhow::Ok(player)
        };
        self.players = futures::future::try_join_all(std::mem::take(&mut self.players).into_iter().map(deal)).await?;
        Ok(())
    }

    async fn slice(&mut self, lasts: Duration) -> anyhow::Result<Slice> {
        let (players, slice) = load::run(std::mem::take(&mut self.players), lasts).await?;
        self.players = players;
        Ok(slice)
    }
}

struct Player {
    line: Line,
    board: Board,
    from: u32,
    receipts: bool,
    games: Vec<Game>,
    turn: usize,
}

impl Player {
    async fn deal(&mut self) -> anyhow::Result<Game> {
        Ok(Game::with_moves(&mut self.line, self.board, self.from - 1).await?.with_receipts(self.receipts))
    }
}

impl Caller for Player {
    async fn ask(&mut self) -> anyhow::Result<Asked> {
        let (at, games) = (self.turn, self.games.len());
        let Some(game) = self.games.get_mut(at) else { return Ok(Asked::Spent) };
        self.turn = (at + 1) % games;
        if !game.goes_on() {
            // A long slice; a creation is an append too, but not what is counted.
            self.games[at] = self.deal().await?;
            return Ok(Asked::InVain);
        }
        game.step(&mut self.line).await?;
        Ok(Asked::Did(1))
    }
}
