//! Seeds, changed a little: for a run on any toolchain, without coverage.
//!
//! Invariant: what comes out depends on the seeds and the number alone.

/// Words that make a difference where a random byte would not.
const WORDS: &[&[u8]] = &[
    b"0",
    b"-1",
    b"4294967296",
    b"18446744073709551616",
    b"9223372036854775807",
    b"\n",
    b"\n\n",
    b" ",
    b"=",
    b",",
    b":",
    b"[",
    b"]",
    b"(;",
    b"\"",
    b"\\",
    b"1000",
    b"aa10",
    b"b2",
    b"roll",
    b"4^",
    b"end",
    b"\xc3\xa9",
    b"\xff",
    b"null",
    b"[]",
    b"{}",
    b"1e999",
    b"pass",
    b"\xef\xbb\xbf",
    b"\x00",
];

/// Changes seeds.
#[derive(Clone, Debug)]
pub struct Mutator(u64);

impl Mutator {
    /// One for each number.
    pub const fn new(number: u64) -> Mutator {
        Mutator(number)
    }

    /// One of the seeds, or two of them joined, changed in some places.
    pub fn next(&mut self, seeds: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = self.one_of(seeds).cloned().unwrap_or_default();
        if self.below(4) == 0 {
            let other = self.one_of(seeds).cloned().unwrap_or_default();
            let (keep, from) = (self.below(bytes.len() + 1), self.below(other.len() + 1));
            bytes.truncate(keep);
            bytes.extend_from_slice(&other[from..]);
        }
        for _ in 0..=self.below(4) {
            self.change(&mut bytes);
        }
        bytes
    }

    fn change(&mut self, bytes: &mut Vec<u8>) {
        let (at, end) = (self.below(bytes.len() + 1), self.below(bytes.len() + 1));
        let span = at.min(end)..at.max(end).min(at.min(end) + 40);
        match self.below(6) {
            0 => bytes.insert(at, self.draw() as u8),
            1 => drop(bytes.drain(span)),
            2 => drop(bytes.splice(at..at, bytes[span].to_vec())),
            3 => {
                let word = WORDS[self.below(WORDS.len())];
                drop(bytes.splice(span, word.iter().copied()));
            }
            4 => {
                let word = WORDS[self.below(WORDS.len())];
                drop(bytes.splice(at..at, word.iter().copied()));
            }
            _ if at < bytes.len() => bytes[at] ^= 1 << self.below(8),
            _ => {}
        }
    }

    fn one_of<'a>(&mut self, seeds: &'a [Vec<u8>]) -> Option<&'a Vec<u8>> {
        let at = self.below(seeds.len().max(1));
        seeds.get(at)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.draw() % limit as u64) as usize
    }

    /// SplitMix64.
    const fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}
