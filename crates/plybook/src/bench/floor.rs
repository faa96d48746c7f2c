//! `floor`: the limits that every figure stands beside.
//!
//! | kind | what it is |
//! | --- | --- |
//! | `plain_transaction` | begin, select for update, insert, update, commit: what a service would write first |
//! | `one_row_insert` | the same row, in a transaction of its own |
//! | `empty_rpc` | a call of the same server that asks no store |
//!
//! Invariant: the first two run in this process, through a pool like a node's; no gRPC is in them.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use plybook_store::floor::{Floor, FloorRow};
use uuid::Uuid;

use super::contender::{Contender, Name, Unit};
use super::lines::Line;
use super::load::{self, Asked, Caller};
use super::site::Site;
use super::slice::Slice;

/// Every kind, in the order of a row's ratios.
pub(super) const KINDS: [&str; 3] = ["plain_transaction", "one_row_insert", "empty_rpc"];

/// The floors at so many callers, as far as they can be had here: without a Postgres there are no statements.
pub(super) async fn contenders(site: &Site, callers: usize) -> anyhow::Result<Vec<Box<dyn Contender>>> {
    let mut found: Vec<Box<dyn Contender>> = Vec::new();
    if let Some(floor) = site.floor() {
        for way in [Way::PlainTransaction, Way::OneRowInsert] {
            let mut writers = Vec::new();
            for _ in 0..callers {
                writers.push(Writer::new(Arc::clone(floor), way, site.games_a_caller()).await?);
            }
            found.push(Box::new(Written { way, writers }));
        }
    }
    found.push(Box::new(Empty { callers: site.lines(callers).await? }));
    Ok(found)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    PlainTransaction,
    OneRowInsert,
}

/// Statements without a server.
struct Written {
    way: Way,
    writers: Vec<Writer>,
}

#[async_trait]
impl Contender for Written {
    fn name(&self) -> Name {
        let kind = if self.way == Way::PlainTransaction { KINDS[0] } else { KINDS[1] };
        Name::new("floor", self.writers.len(), Unit::Moves).kind(kind)
    }

    async fn ready(&mut self, _: Duration) -> anyhow::Result<()> {
        Ok(())
    }

    async fn slice(&mut self, lasts: Duration) -> anyhow::Result<Slice> {
        let (writers, slice) = load::run(std::mem::take(&mut self.writers), lasts).await?;
        self.writers = writers;
        Ok(slice)
    }
}

/// Writes into games of its own, in turn.
struct Writer {
    floor: Arc<Floor>,
    way: Way,
    games: Vec<(Uuid, u32)>,
    turn: usize,
}

impl Writer {
    async fn new(floor: Arc<Floor>, way: Way, games: usize) -> anyhow::Result<Writer> {
        let games: Vec<(Uuid, u32)> = (0..games).map(|_| (Uuid::now_v7(), 1)).collect();
        for (game, _) in &games {
            floor.add_game(*game).await?;
        }
        Ok(Writer { floor, way, games, turn: 0 })
    }
}

impl Caller for Writer {
    async fn ask(&mut self) -> anyhow::Result<Asked> {
        let (at, games) = (self.turn, self.games.len());
        self.turn = (at + 1) % games;
        let Some((game, head)) = self.games.get_mut(at) else { return Ok(Asked::Spent) };
        let row = row(*game, *head + 1);
        match self.way {
            Way::PlainTransaction => self.floor.plain_transaction(&row).await?,
            Way::OneRowInsert => self.floor.one_row_insert(&row).await?,
        }
        *head = row.seq;
        Ok(Asked::Did(1))
    }
}

/// What a move of the other workloads stores, or as much.
fn row(game: Uuid, seq: u32) -> FloorRow {
    let request_id = Uuid::now_v7();
    let mut noise = [0; 32];
    noise[..16].copy_from_slice(request_id.as_bytes());
    let line = format!("{seq} 2026-11-29T22:39:26.240Z {}:anonymous move h8 ply={seq} cells=0>1:{seq} next={}", seq % 2, (seq + 1) % 2);
    FloorRow { game, seq, request_id, request_hash: noise, digest: noise, line }
}

/// Calls without a store.
struct Empty {
    callers: Vec<Line>,
}

#[async_trait]
impl Contender for Empty {
    fn name(&self) -> Name {
        Name::new("floor", self.callers.len(), Unit::Calls).kind(KINDS[2])
    }

    async fn ready(&mut self, _: Duration) -> anyhow::Result<()> {
        Ok(())
    }

    async fn slice(&mut self, lasts: Duration) -> anyhow::Result<Slice> {
        let (callers, slice) = load::run(std::mem::take(&mut self.callers), lasts).await?;
        self.callers = callers;
        Ok(slice)
    }
}

impl Caller for Line {
    async fn ask(&mut self) -> anyhow::Result<Asked> {
        self.empty_call().await?;
        Ok(Asked::Did(1))
    }
}
