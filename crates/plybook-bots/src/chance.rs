//! A bot's own random numbers.
//!
//! Invariant: the numbers follow from a [`BotKey`], which is derived from the seed under a label of its
//! own and tells nothing of the dice. They are the same on every machine: published vectors.

use plybook_core::Seed;
use plybook_core::dice::{BotKey, Face, Throw};

use crate::view::View;

/// A stream of numbers from a key.
#[derive(Clone, Debug)]
pub struct Chance {
    key: BotKey,
    next_block: u64,
    block: [u64; 4],
    used: usize,
}

impl Chance {
    /// The numbers of this key, from the first on.
    pub const fn new(key: BotKey) -> Chance {
        Chance { key, next_block: 0, block: [0; 4], used: 4 }
    }

    /// For the choice that the seat to move makes in a game with this seed; nothing once the game is over.
    pub fn of_game(seed: &Seed, view: &View<'_>) -> Option<Chance> {
        let ply = u64::from(view.position().ply());
        view.seat().map(|seat| Chance::new(seed.bot_key(seat, ply)))
    }

    /// For advice on a position, which everybody may know beforehand.
    pub fn for_advice(view: &View<'_>) -> Chance {
        Chance::new(BotKey::for_advice(&view.position().digest(view.ruleset())))
    }

    /// The next 64 bits: block by block of [`BotKey::block`], four big-endian numbers each.
    pub fn bits(&mut self) -> u64 {
        if self.used == self.block.len() {
            let bytes = self.key.block(self.next_block);
            self.block = std::array::from_fn(|i| bytes[8 * i..8 * i + 8].iter().fold(0, |n, byte| n << 8 | u64::from(*byte)));
            self.next_block += 1;
            self.used = 0;
        }
        self.used += 1;
        self.block[self.used - 1]
    }

    /// A number below `end`, each equally likely; 0 where there is none below.
    pub fn below(&mut self, end: u64) -> u64 {
        if end <= 1 {
            return 0;
        }
        // The greatest multiple of `end` that fits in 2^64: at or above it, numbers would be uneven.
        let limit = (1u128 << 64) / u128::from(end) * u128::from(end);
        loop {
            let bits = self.bits();
            if u128::from(bits) < limit {
                return bits % end;
            }
        }
    }

    /// One of them; nothing if there is none.
    pub fn pick<'a, T>(&mut self, among: &'a [T]) -> Option<&'a T> {
        among.get(self.below(among.len() as u64) as usize)
    }

    /// Every order equally likely.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = self.below(last as u64 + 1) as usize;
            items.swap(last, other);
        }
    }

    /// Faces that these dice might show; they are not the game's.
    pub fn throw(&mut self, throw: Throw) -> Vec<Face> {
        (0..throw.dice).map(|_| self.below(u64::from(throw.sides)) as Face + 1).collect()
    }
}
