//! Simulated worlds: thousands of random live games through the service's own code, with time, chance and faults of
//! the test's making.
//!
//! Invariant: whatever went wrong around them, every book folds, every answer stands in it once, every deadline is
//! settled once and in time, and every game that time or a bot can end has ended.

use plybook_tests::sim::run::{Over, Worlds};
use plybook_tests::sim::world::Size;

const SIZE: Size = Size { nodes: 3, games: 8, asks: 40 };

fn all_end_well(worlds: Worlds) {
    let (tally, failed) = worlds.run();
    println!("{tally}");
    assert!(failed.is_empty(), "{} worlds failed\n{}", failed.len(), failed.join("\n\n"));
}

#[test]
fn live_games_end_well_over_sqlite() {
    all_end_well(Worlds { over: Over::Sqlite, from: 0, games: 1_000, size: SIZE });
}

#[test]
fn live_games_end_well_over_postgres() {
    all_end_well(Worlds { over: Over::Postgres, from: 1 << 32, games: 64, size: SIZE });
}
