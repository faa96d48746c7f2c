//! Counts positions and endings by playing everything: the check that a ruleset is whole.
//!
//! Invariant: counting leaves the play as it was.

use std::collections::BTreeMap;

use crate::play::Play;
use crate::seat::SeatSet;

/// Number of move sequences of exactly `depth` plies (sequences that end earlier do not count).
pub fn perft(play: &mut Play, depth: u32) -> u64 {
    if depth == 0 {
        return 1;
    }
    let actions = play.legal();
    if depth == 1 {
        return actions.len() as u64;
    }
    let mut count = 0;
    for action in actions {
        if play.play(action, &[]).is_ok() {
            count += perft(play, depth - 1);
            play.back();
        }
    }
    count
}

/// Number of whole games by winners; draws under the empty set.
pub fn endings(play: &mut Play) -> BTreeMap<SeatSet, u64> {
    let mut counts = BTreeMap::new();
    count_endings(play, &mut counts);
    counts
}

fn count_endings(play: &mut Play, counts: &mut BTreeMap<SeatSet, u64>) {
    if let Some(outcome) = play.position().outcome() {
        *counts.entry(outcome.winning_seats()).or_insert(0) += 1;
        return;
    }
    for action in play.legal() {
        if play.play(action, &[]).is_ok() {
            count_endings(play, counts);
            play.back();
        }
    }
}
