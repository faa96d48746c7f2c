//! `cold`: every move on a node that never saw its game.
//!
//! Invariant: before each slice the node is a new process, and in a slice a game is asked for one move.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;

use super::contender::{Contender, Name, Unit};
use super::game::{Board, Game};
use super::lines::{CALLERS_A_CONNECTION, Line, lines};
use super::load::{self, Asked, Caller};
use super::node::Node;
use super::site::{Again, Site};
use super::slice::Slice;

/// Moves that a game is asked for besides those that it begins with.
const ROOM: u32 = 200;

/// Games that were begun elsewhere.
#[derive(Clone, Debug, Default)]
pub(super) struct Shelf(Arc<Mutex<Vec<Game>>>);

impl Shelf {
    /// So many games of so many entries each, made by the nodes that are not measured.
    pub(super) async fn fill(site: &Site, games: usize, entries: u32) -> anyhow::Result<Shelf> {
        Ok(Shelf(Arc::new(Mutex::new(site.games(games, Board::with_room(0, entries + ROOM), entries.saturating_sub(1)).await?))))
    }

    fn take(&self) -> Option<Game> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    fn put(&self, games: Vec<Game>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(games);
    }

    fn len(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}

/// Moves by so many callers; contenders of several numbers of callers may share a shelf, one after the other.
pub(super) fn contender(again: Again, shelf: Shelf, callers: usize, entries: u32) -> Box<dyn Contender> {
    Box::new(Cold { again, shelf, callers, entries, node: None, strangers: Vec::new() })
}

struct Cold {
    again: Again,
    shelf: Shelf,
    callers: usize,
    entries: u32,
    node: Option<Node>,
    strangers: Vec<Stranger>,
}

#[async_trait]
impl Contender for Cold {
    fn name(&self) -> Name {
        Name::new("cold", self.callers, Unit::Moves).with("games", self.shelf.len() as u64).with("entries", self.entries.into())
    }

    async fn ready(&mut self, _: Duration) -> anyhow::Result<()> {
        let node = self.again.node().await?;
        // They have had an answer each: the connections are warm, the games are not.
        let open = lines(&[node.url().to_owned()], self.callers, CALLERS_A_CONNECTION).await?;
        self.node = Some(node);
        self.strangers = open.into_iter().map(|line| Stranger { line, shelf: self.shelf.clone(), seen: Vec::new() }).collect();
        Ok(())
    }

    async fn slice(&mut self, lasts: Duration) -> anyhow::Result<Slice> {
        let (strangers, slice) = load::run(std::mem::take(&mut self.strangers), lasts).await?;
        strangers.into_iter().for_each(|stranger| self.shelf.put(stranger.seen));
        self.node = None;
        Ok(slice)
    }
}

struct Stranger {
    line: Line,
    shelf: Shelf,
    seen: Vec<Game>,
}

impl Caller for Stranger {
    async fn ask(&mut self) -> anyhow::Result<Asked> {
        let Some(mut game) = self.shelf.take() else { return Ok(Asked::Spent) };
        if !game.goes_on() {
            return Ok(Asked::InVain);
        }
        game.step(&mut self.line).await?;
        self.seen.push(game);
        Ok(Asked::Did(1))
    }
}
