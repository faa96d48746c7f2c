//! `memory`: games opened one after another, and what a node's memory comes to.
//!
//! Of two kinds of people: those who go on with all of their games in turn, so that each is asked for again after all
//! the others, and those who leave after two moves and never come back. Neither may cost a node more than its caches may hold.
//!
//! Invariant: what is sampled is the memory of whole processes, as the system tells it, after each tenth of the games.

use std::time::{Duration, Instant};

use futures::{StreamExt as _, stream};

use super::contender::{Name, Unit};
use super::game::{Board, Game};
use super::lines::Line;
use super::row::{Figures, Row};
use super::site::Site;
use super::slice::Slice;

/// Moves of a game before its people leave.
const MOVES: u32 = 2;
const CALLERS: usize = 64;
/// What each sample is called: so many tenths of the games are there.
const SAMPLES: [&str; 10] = [
    "resident_mib_at_10",
    "resident_mib_at_20",
    "resident_mib_at_30",
    "resident_mib_at_40",
    "resident_mib_at_50",
    "resident_mib_at_60",
    "resident_mib_at_70",
    "resident_mib_at_80",
    "resident_mib_at_90",
    "resident_mib_at_100",
];

/// Opens so many games that are gone on with, and then half as many that are left.
pub(super) async fn rows(site: &Site, games: usize) -> anyhow::Result<Vec<Row>> {
    Ok(vec![row(site, "live", games).await?, row(site, "left", games / 2).await?])
}

async fn row(site: &Site, kind: &str, games: usize) -> anyhow::Result<Row> {
    let resident = || site.resident_bytes().map(|bytes| bytes as f64 / f64::from(1 << 20));
    let lines = site.lines(CALLERS).await?;
    let mut people: Vec<People> = lines.into_iter().map(|line| People { line, live: kind == "live", games: Vec::new(), turn: 0 }).collect();
    let mut more: Vec<(&'static str, f64)> = resident().map(|mib| ("resident_mib_at_0", mib)).into_iter().collect();
    let mut slice = Slice::default();
    let began = Instant::now();
    for (tenth, sample) in SAMPLES.iter().enumerate() {
        let opened = games * (tenth + 1) / SAMPLES.len() - games * tenth / SAMPLES.len();
        let shares = people.into_iter().enumerate().map(|(place, people)| {
            let share = opened / CALLERS + usize::from(place < opened % CALLERS);
            people.open(share)
        });
        people = Vec::new();
        let mut working = stream::iter(shares).buffer_unordered(CALLERS);
        while let Some(worked) = working.next().await {
            let (one, brought) = worked?;
            people.push(one);
            slice.add(brought);
        }
        more.extend(resident().map(|mib| (*sample, mib)));
    }
    slice.lasted = began.elapsed();
    let name = Name::new("memory", CALLERS, Unit::Moves).kind(kind).with("games", games as u64);
    let figures = Figures::of(std::slice::from_ref(&slice), Unit::Moves);
    Ok(Row { name, rounds: 1, figures, more, beside: Vec::new() })
}

/// One caller, and the games that it has not left.
struct People {
    line: Line,
    live: bool,
    games: Vec<Game>,
    turn: usize,
}

impl People {
    /// Opens so many games; whoever stays makes as many moves again in earlier ones.
    async fn open(mut self, share: usize) -> anyhow::Result<(People, Slice)> {
        let mut slice = Slice::default();
        for _ in 0..share {
            let mut game = Game::create(&mut self.line, Board { side: 15 }).await?;
            for _ in 0..MOVES {
                slice.count(1, step(&mut game, &mut self.line).await?);
            }
            if !self.live {
                continue;
            }
            self.games.push(game);
            // In turn, so that it is the one that every cache forgets first.
            self.turn = (self.turn + 1) % self.games.len();
            if let Some(earlier) = self.games.get_mut(self.turn).filter(|game| game.goes_on()) {
                slice.count(1, step(earlier, &mut self.line).await?);
            }
        }
        Ok((self, slice))
    }
}

async fn step(game: &mut Game, line: &mut Line) -> anyhow::Result<Duration> {
    let asked = Instant::now();
    game.step(line).await?;
    Ok(asked.elapsed())
}
