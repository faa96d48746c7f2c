//! A table of what is known about positions, for searches that reach a position on many ways.
//!
//! The newest entry replaces the one in its slot. A slot holds the part of the mixed key that its
//! own number does not give, so no position is ever taken for another.
//!
//! Invariant: mixing is one to one, so slot number and stored part together are the key.

/// Odd, so multiplication by it is one to one in 64 bits (the golden ratio's fraction).
const MIX: u64 = 0x9E37_79B9_7F4A_7C15;
/// At least as many bits as a note has: the note takes the place of the slot number in an entry.
const BITS_MIN: u32 = 10;
/// 64 MiB.
const BITS_MAX: u32 = 23;

/// Notes on positions, by key.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    slots: Vec<u64>,
    bits: u32,
}

impl Table {
    /// A table for a search of so many nodes.
    pub(crate) fn for_nodes(nodes: u64) -> Table {
        let bits = bits_for(nodes, BITS_MAX);
        Table { slots: vec![0; 1 << bits], bits }
    }

    /// The note on a position; 0 where there is none.
    #[inline]
    pub(crate) fn get(&self, key: u64) -> u8 {
        let (slot, part) = self.place(key);
        let entry = self.slots[slot];
        if entry >> 8 == part { entry as u8 } else { 0 }
    }

    /// Notes something other than 0.
    #[inline]
    pub(crate) fn put(&mut self, key: u64, note: u8) {
        let (slot, part) = self.place(key);
        self.slots[slot] = part << 8 | u64::from(note);
    }

    #[inline]
    const fn place(&self, key: u64) -> (usize, u64) {
        let mixed = key.wrapping_mul(MIX);
        ((mixed >> (64 - self.bits)) as usize, mixed << self.bits >> self.bits)
    }
}

/// The logarithm of a table's size: as many slots as nodes, within bounds.
pub(crate) fn bits_for(nodes: u64, most: u32) -> u32 {
    (64 - nodes.saturating_sub(1).leading_zeros()).clamp(BITS_MIN, most)
}

/// What a note says of a score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bound {
    /// Nothing is known.
    Unknown,
    /// The score is this or more.
    AtLeast(i32),
    /// The score is this or less.
    AtMost(i32),
}

/// Writes bounds on scores between `-reach` and `reach` as notes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Notes {
    reach: i32,
}

impl Notes {
    /// For scores up to `reach`, which is at most 63: twice as many scores and one fit into a note.
    pub(crate) const fn new(reach: i32) -> Notes {
        assert!(reach >= 0 && reach <= 63, "a note has 8 bits");
        Notes { reach }
    }

    const fn span(self) -> i32 {
        2 * self.reach + 1
    }

    /// The note.
    #[inline]
    pub(crate) const fn write(self, bound: Bound) -> u8 {
        match bound {
            Bound::Unknown => 0,
            Bound::AtMost(score) => (score + self.reach + 1) as u8,
            Bound::AtLeast(score) => (score + self.reach + 1 + self.span()) as u8,
        }
    }

    /// What the note says.
    #[inline]
    pub(crate) const fn read(self, note: u8) -> Bound {
        let code = note as i32;
        if code == 0 {
            Bound::Unknown
        } else if code <= self.span() {
            Bound::AtMost(code - self.reach - 1)
        } else {
            Bound::AtLeast(code - self.reach - 1 - self.span())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Bound, Notes, Table, bits_for};

    #[test]
    fn notes_read_back() {
        for reach in [0, 1, 17, 63] {
            let notes = Notes::new(reach);
            assert_eq!(notes.read(0), Bound::Unknown);
            for score in -reach..=reach {
                for bound in [Bound::AtLeast(score), Bound::AtMost(score)] {
                    let note = notes.write(bound);
                    assert_ne!(note, 0);
                    assert_eq!(notes.read(note), bound);
                }
            }
        }
    }

    #[test]
    fn no_position_is_taken_for_another() {
        let mut table = Table::for_nodes(1);
        let keys: Vec<u64> = (0..40_000u64).map(|n| n.wrapping_mul(n).wrapping_mul(0x1234_5678_9ABC_DEF1) ^ n << 50).collect();
        for key in &keys {
            table.put(*key, 1 + (key % 255) as u8);
            assert_eq!(table.get(*key), 1 + (key % 255) as u8);
        }
        let kept = keys.iter().filter(|key| table.get(**key) != 0).inspect(|key| assert_eq!(table.get(**key), 1 + (**key % 255) as u8));
        assert!((500..=1024).contains(&kept.count()), "a slot holds one position");
    }

    #[test]
    fn a_table_is_as_large_as_its_search() {
        assert_eq!([0, 1, 1024, 1025, 4096, 4097, u64::MAX].map(|nodes| bits_for(nodes, 23)), [10, 10, 10, 11, 12, 13, 23]);
    }
}
