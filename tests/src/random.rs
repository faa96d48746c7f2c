//! Random games that can be played again: everything comes from one number.
//!
//! Invariant: the same number gives the same games on every machine and in every later release, and
//! a test that fails prints the number behind it.

use std::thread;

use plybook_core::dice::{Face, Throw};
use plybook_core::{Action, Play};

/// SplitMix64 (S. Vigna, public domain): small, and good enough for tests.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// From a number.
    pub const fn new(number: u64) -> Random {
        Random(number)
    }

    /// The next 64 bits.
    pub const fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`, which is not 0.
    pub const fn below(&mut self, end: u64) -> u64 {
        // The unevenness of a remainder does not matter here.
        self.bits() % end
    }

    /// A number from `least` to `most`.
    pub const fn from_to(&mut self, least: i64, most: i64) -> i64 {
        least + self.below((most - least + 1) as u64) as i64
    }

    /// Yes, once in `times` on average.
    pub const fn once_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    /// One of them.
    pub fn pick<'a, T>(&mut self, among: &'a [T]) -> &'a T {
        &among[self.below(among.len() as u64) as usize]
    }

    /// Some bytes.
    pub fn bytes<const N: usize>(&mut self) -> [u8; N] {
        std::array::from_fn(|_| self.bits() as u8)
    }

    /// Faces for a throw.
    pub fn faces(&mut self, throw: Throw) -> Vec<Face> {
        (0..throw.dice).map(|_| self.below(u64::from(throw.sides)) as Face + 1).collect()
    }

    /// A legal action with its faces; nothing once the game is over.
    pub fn action(&mut self, play: &Play) -> Option<(Action, Vec<Face>)> {
        let legal = play.legal();
        if legal.is_empty() {
            return None;
        }
        let action = *self.pick(&legal);
        let faces = play.rules().throw(action).map_or_else(Vec::new, |throw| self.faces(throw));
        Some((action, faces))
    }
}

/// Runs `test` with generators number 0, 1, 2 …, `times` of them. A failure prints its number, and
/// the environment variable `PLYBOOK_RANDOM` runs that number alone.
pub fn repeat(times: u64, mut test: impl FnMut(&mut Random)) {
    let only: Option<u64> = std::env::var("PLYBOOK_RANDOM").ok().map(|number| number.parse().expect("PLYBOOK_RANDOM is a number"));
    for number in only.map_or(0..times, |number| number..number + 1) {
        let _told = Told(number);
        test(&mut Random::new(number.wrapping_mul(0x5851_f42d_4c95_7f2d)));
    }
}

struct Told(u64);

impl Drop for Told {
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!("failed with random number {0}: run it alone with PLYBOOK_RANDOM={0}", self.0);
        }
    }
}
