//! Generators that are no secret once their seed is guessed: what dice are usually made with.
//!
//! Invariant: each is the published one, checked against its published numbers.

/// The `n`th output, from 0, of a generator with this seed.
pub(super) type Generator = fn(u64, usize) -> u64;

/// By name.
pub(super) const GENERATORS: &[(&str, Generator)] = &[
    ("C's rand of the standard", |seed, n| u64::from(ansi_c(seed as u32, n))),
    ("C's rand of Windows", |seed, n| u64::from(windows(seed as u32, n))),
    ("Java's Random", |seed, n| u64::from(java(seed, n))),
    ("xorshift64", xorshift64),
    ("SplitMix64", splitmix64),
    ("Mersenne Twister", |seed, n| u64::from(mersenne_twister(seed as u32, n))),
];

/// ISO C, 7.22.2.
fn ansi_c(seed: u32, n: usize) -> u32 {
    let state = (0..=n).fold(seed, |state, _| state.wrapping_mul(1_103_515_245).wrapping_add(12_345));
    state / 65_536 % 32_768
}

fn windows(seed: u32, n: usize) -> u32 {
    let state = (0..=n).fold(seed, |state, _| state.wrapping_mul(214_013).wrapping_add(2_531_011));
    state >> 16 & 0x7fff
}

/// `next(31)`: what `nextInt(bound)` divides.
fn java(seed: u64, n: usize) -> u32 {
    const MASK: u64 = (1 << 48) - 1;
    let begin = (seed ^ 0x5_deec_e66d) & MASK;
    let state = (0..=n).fold(begin, |state, _| state.wrapping_mul(0x5_deec_e66d).wrapping_add(11) & MASK);
    (state >> 17) as u32
}

/// G. Marsaglia 2003, with the shifts 13, 7, 17. It has no zero.
fn xorshift64(seed: u64, n: usize) -> u64 {
    (0..=n).fold(seed.max(1), |mut state, _| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^ state << 17
    })
}

fn splitmix64(seed: u64, n: usize) -> u64 {
    let mut random = plybook_tests::random::Random::new(seed);
    (0..n).for_each(|_| {
        random.bits();
    });
    random.bits()
}

/// MT19937 of M. Matsumoto and T. Nishimura, `init_genrand`; only its first outputs, for which no word is twisted twice.
fn mersenne_twister(seed: u32, n: usize) -> u32 {
    assert!(n < 227, "the first outputs alone");
    let mut words = vec![seed];
    for at in 1..=n as u32 + 397 {
        let last = words[at as usize - 1];
        words.push((last ^ last >> 30).wrapping_mul(1_812_433_253).wrapping_add(at));
    }
    let mixed = words[n] & 0x8000_0000 | words[n + 1] & 0x7fff_ffff;
    let mut word = words[n + 397] ^ mixed >> 1 ^ if mixed & 1 == 1 { 0x9908_b0df } else { 0 };
    word ^= word >> 11;
    word ^= word << 7 & 0x9d2c_5680;
    word ^= word << 15 & 0xefc6_0000;
    word ^ word >> 18
}

#[test]
fn generators_are_the_published_ones() {
    let firsts = |generator: Generator, seed: u64| [0, 1, 2].map(|n| generator(seed, n));
    let by_name = |name: &str| GENERATORS.iter().find(|(known, _)| *known == name).unwrap().1;
    assert_eq!(firsts(by_name("C's rand of the standard"), 1), [16_838, 5_758, 10_113]);
    assert_eq!(firsts(by_name("C's rand of Windows"), 1), [41, 18_467, 6_334]);
    // new Random(42).nextInt(10) gives 0, 3, 8.
    assert_eq!(firsts(by_name("Java's Random"), 42).map(|bits| bits % 10), [0, 3, 8]);
    assert_eq!(firsts(by_name("SplitMix64"), 1_234_567)[..2], [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]);
    assert_eq!(firsts(by_name("Mersenne Twister"), 5_489), [3_499_211_612, 581_869_302, 3_890_346_734]);
    // Shifts are linear, so one bit shows the three of them.
    assert_eq!(xorshift64(1, 0), 1 | 1 << 6 | 1 << 13 | 1 << 17 | 1 << 23 | 1 << 30);
}
