//! `append`: MakeMove on many games. Every caller plays games of its own, in turn.
//!
//! Invariant: no two callers meet in a game, so every move is accepted. The floors create no games, so none is created in
//! a slice either, as far as the slice before tells how many will be over: they lie ready.

use std::time::Duration;

use async_trait::async_trait;

use super::contender::{Contender, Name, Unit};
use super::game::{Board, Game};
use super::lines::Line;
use super::load::{self, Asked, Caller};
use super::site::Site;
use super::slice::Slice;

/// The floor of moves that ask for receipts: the same moves without.
pub(super) const UNSIGNED: &str = "without_receipts";

/// Moves on many games, by so many callers; each game is measured from its entry `from` on.
pub(super) async fn contender(site: &Site, callers: usize, board: Board, from: u32) -> anyhow::Result<Box<dyn Contender>> {
    let append = append(site, callers, board, from, site.receipts()).await?;
    let games = (append.players.len() * append.games) as u64;
    let name = Name::new("append", callers, Unit::Moves).with("games", games).with("board", board.side.into());
    let name = if from > 1 { name.with("from_entry", from.into()) } else { name };
    let name = if append.receipts { name.with("receipts", 1) } else { name };
    Ok(Box::new(Append { name, ..append }))
}

/// The same moves, of which none asks for a receipt, for those to stand beside of which each does.
pub(super) async fn unsigned(site: &Site, callers: usize, board: Board, from: u32) -> anyhow::Result<Box<dyn Contender>> {
    Ok(Box::new(append(site, callers, board, from, false).await?))
}

async fn append(site: &Site, callers: usize, board: Board, from: u32, receipts: bool) -> anyhow::Result<Append> {
    let player = |line| Player { line, board, from, receipts, games: Vec::new(), turn: 0, ready: Vec::new(), made: 0 };
    let players = site.lines(callers).await?.into_iter().map(player).collect();
    let name = Name::new("floor", callers, Unit::Moves).kind(UNSIGNED);
    Ok(Append { name, players, games: site.games_a_caller(), receipts })
}

struct Append {
    name: Name,
    players: Vec<Player>,
    games: usize,
    receipts: bool,
}

#[async_trait]
impl Contender for Append {
    fn name(&self) -> Name {
        self.name.clone()
    }

    /// Games that are over are replaced, and as many more lie ready as will be.
    async fn ready(&mut self, _: Duration) -> anyhow::Result<()> {
        let games = self.games;
        let deal = |mut player: Player| async move {
            player.games.retain(Game::goes_on);
            while player.games.len() < games {
                let game = player.next_game().await?;
                player.games.push(game);
            }
            while player.ready.len() < player.wanted() {
                let game = player.deal().await?;
                player.ready.push(game);
            }
            player.made = 0;
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
    /// What replaces games that will be over.
    ready: Vec<Game>,
    /// Moves of the slice that is under way, or was the last.
    made: u32,
}

impl Player {
    /// Games that will be over in a slice of half as many moves again as the last one had.
    fn wanted(&self) -> usize {
        let each = (self.made + self.made / 2).div_ceil(u32::try_from(self.games.len()).unwrap_or(u32::MAX).max(1));
        let whole = self.board.moves().saturating_sub(self.from - 1);
        self.games.iter().map(|game| over(each, game.left(), whole) as usize).sum()
    }

    async fn next_game(&mut self) -> anyhow::Result<Game> {
        match self.ready.pop() {
            Some(game) => Ok(game),
            None => self.deal().await,
        }
    }

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
            self.games[at] = self.next_game().await?;
            return Ok(Asked::InVain);
        }
        game.step(&mut self.line).await?;
        self.made += 1;
        Ok(Asked::Did(1))
    }
}

/// Games of `whole` moves that so many moves begin after one that has `left`.
fn over(moves: u32, left: u32, whole: u32) -> u32 {
    moves.saturating_sub(left).div_ceil(whole.max(1))
}

#[cfg(test)]
mod tests {
    use super::over;

    #[test]
    fn as_many_games_lie_ready_as_moves_will_begin() {
        for (moves, left, begun) in [(0, 180, 0), (180, 180, 0), (181, 180, 1), (360, 180, 1), (361, 180, 2), (5, 0, 1)] {
            assert_eq!(over(moves, left, 180), begun, "{moves} moves, {left} left");
        }
    }
}
