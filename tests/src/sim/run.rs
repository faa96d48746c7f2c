//! Many simulated worlds, one after the other on each of some threads.
//!
//! Invariant: a world is its number's alone: which thread runs it, and beside which others, makes no difference.

use std::env;
use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use super::shelf::Shelf;
use super::time::{self, WorldTime};
use super::told::SEED_ENV;
use super::world::{Size, Tally, World};
use crate::postgres;

/// The variable that asks for so many games.
pub const GAMES_ENV: &str = "PLYBOOK_SIM_GAMES";

/// Which store the worlds stand on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    /// A SQLite file for each.
    Sqlite,
    /// A Postgres database for each.
    Postgres,
}

/// Worlds to be run.
#[derive(Clone, Copy, Debug)]
pub struct Worlds {
    /// Over what.
    pub over: Over,
    /// The number of the first.
    pub from: u64,
    /// How many games, where nobody asks for another number of them.
    pub games: u64,
    /// Each of them.
    pub size: Size,
}

fn asked_for(name: &str) -> Option<u64> {
    env::var(name).ok().map(|number| number.parse().unwrap_or_else(|_| panic!("{name} is a number")))
}

impl Worlds {
    /// Runs them; the story of each that failed is an error. One that is asked for by its number runs alone.
    pub fn run(self) -> (Tally, Vec<String>) {
        let tally = Tally::default();
        let games = asked_for(GAMES_ENV).unwrap_or(self.games);
        let (from, worlds) = match asked_for(SEED_ENV) {
            Some(number) => (number, 1),
            None => (self.from, games.div_ceil(self.size.games as u64)),
        };
        let next = AtomicU64::new(from);
        let threads = thread::available_parallelism().map_or(1, NonZero::get).min(worlds as usize);
        let failed = thread::scope(|scope| {
            let threads: Vec<_> = (0..threads).map(|_| scope.spawn(|| self.run_some(&next, from + worlds, &tally))).collect();
            threads.into_iter().flat_map(|thread| thread.join().expect("a world panicked")).collect()
        });
        (tally, failed)
    }

    fn run_some(self, next: &AtomicU64, end: u64, tally: &Tally) -> Vec<String> {
        let mut failed = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            // Some stories say what hundreds would.
            if number >= end || failed.len() >= 5 {
                return failed;
            }
            if let Err(story) = self.run_one(number, tally) {
                eprintln!("{story}\n");
                failed.push(story);
            }
        }
    }

    fn run_one(self, number: u64, tally: &Tally) -> Result<(), String> {
        time::run(async {
            let time = Arc::new(WorldTime::default());
            let shelf = match self.over {
                Over::Sqlite => Shelf::sqlite(time).await,
                Over::Postgres => Shelf::postgres(&postgres::database().await, time).await,
            };
            World::run(number, self.size, shelf, &format!("{:?}", self.over), tally).await
        })
    }
}
