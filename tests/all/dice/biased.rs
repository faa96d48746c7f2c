//! Dice that are not even, each with the statistics that must see it.
//!
//! Invariant: none of them needs more faces than one source of the real test has, at the same bound; an even
//! generator that is no HMAC passes, so it is evenness that is tested and not the construction.

use plybook_core::dice::Face;
use plybook_tests::random::Random;

use super::statistics::Statistic::{Faces, Lengths, Pairs, Runs};
use super::statistics::{Statistic, Tally};

/// Faces of each die here.
const DRAWS: u32 = 1_000_000;
/// The real test's bound for one tally.
const ONCE_IN: f64 = 25_000.0;

fn rejected(sides: u8, mut die: impl FnMut() -> Face) -> Vec<Statistic> {
    let mut tally = Tally::new(sides);
    (0..DRAWS).for_each(|_| tally.see(die()));
    tally.closed().rejected(ONCE_IN)
}

fn even(random: &mut Random, sides: u8) -> Face {
    random.below(sides.into()) as Face + 1
}

#[test]
fn another_even_generator_passes() {
    for sides in [2, 6, 12, 20] {
        let mut random = Random::new(32);
        assert_eq!(rejected(sides, || even(&mut random, sides)), [], "{sides} sides");
    }
}

/// One byte modulo the sides: 256 is no multiple of them, so low faces come more often.
#[test]
fn a_byte_modulo_the_sides_is_seen() {
    for sides in [6, 12, 20] {
        let mut random = Random::new(1);
        let seen = rejected(sides, || random.bits() as u8 % sides + 1);
        assert!(seen.contains(&Faces), "{sides} sides: {seen:?}");
    }
    let mut random = Random::new(1);
    assert_eq!(rejected(2, || random.bits() as u8 % 2 + 1), [], "with two sides a byte is even");
}

/// Loaded by one in two hundred: once in so many throws it shows its highest face whatever fell.
#[test]
fn a_loaded_die_is_seen() {
    for sides in [2, 6, 12, 20] {
        let mut random = Random::new(2);
        let seen = rejected(sides, || if random.once_in(200) { sides } else { even(&mut random, sides) });
        assert!(seen.contains(&Faces), "{sides} sides: {seen:?}");
    }
}

/// Each single face is even, but one in a hundred is the one before.
#[test]
fn a_repeated_face_is_seen() {
    for sides in [2, 6, 12, 20] {
        let (mut random, mut last) = (Random::new(3), 1);
        let seen = rejected(sides, || {
            last = if random.once_in(100) { last } else { even(&mut random, sides) };
            last
        });
        assert!(seen.contains(&Pairs) && seen.contains(&Runs) && !seen.contains(&Faces), "{sides} sides: {seen:?}");
    }
}

/// The second die of a throw shows what the first does, once in fifty throws.
#[test]
fn dice_that_go_together_are_seen() {
    let (mut random, mut last, mut second) = (Random::new(4), 1, false);
    let seen = rejected(20, || {
        second = !second;
        last = if second || !random.once_in(50) { even(&mut random, 20) } else { last };
        last
    });
    assert!(seen.contains(&Pairs) && !seen.contains(&Faces), "{seen:?}");
}

/// C's old generator, of which somebody takes the low bits.
#[test]
fn low_bits_of_a_linear_congruence_are_seen() {
    for sides in [2, 6, 12, 20] {
        let mut state = 1u32;
        let seen = rejected(sides, || {
            state = state.wrapping_mul(1_103_515_245).wrapping_add(12_345) & 0x7fff_ffff;
            (state % u32::from(sides)) as Face + 1
        });
        assert!(seen.contains(&Pairs), "{sides} sides: {seen:?}");
    }
}

/// Too even to be chance.
#[test]
fn faces_that_take_turns_are_seen() {
    for sides in [6, 12, 20] {
        let mut throws = 0u32;
        let seen = rejected(sides, || {
            throws += 1;
            (throws % u32::from(sides)) as Face + 1
        });
        assert!(seen.contains(&Faces) && seen.contains(&Pairs), "{sides} sides: {seen:?}");
    }
}

/// A bag of every face once, shuffled and drawn empty: what "fair" games like to use.
#[test]
fn a_shuffled_bag_is_seen() {
    for sides in [2u8, 6, 12, 20] {
        let (mut random, mut bag) = (Random::new(5), Vec::new());
        let seen = rejected(sides, || {
            if bag.is_empty() {
                bag = (1..=sides).collect();
            }
            bag.swap_remove(random.below(bag.len() as u64) as usize)
        });
        assert!(seen.contains(&Pairs) && seen.contains(&Lengths), "{sides} sides: {seen:?}");
    }
}

/// Any two faces in a row are even and independent, and once in twenty the third is their sum: only lengths can see it.
#[test]
fn a_third_face_that_follows_from_two_is_seen() {
    let (mut random, mut before, mut last) = (Random::new(6), 0, 0);
    let seen = rejected(2, || {
        let next = if random.once_in(20) { before ^ last } else { even(&mut random, 2) - 1 };
        (before, last) = (last, next);
        last + 1
    });
    assert_eq!(seen, [Lengths]);
}

/// Kind dice: after five low faces in a row the next is high.
#[test]
fn dice_that_end_bad_luck_are_seen() {
    for sides in [2, 6, 12, 20] {
        let (mut random, mut low) = (Random::new(7), 0);
        let seen = rejected(sides, || {
            let fell = even(&mut random, sides);
            let shown = if low == 5 && fell <= sides / 2 { fell + sides / 2 } else { fell };
            low = if shown <= sides / 2 { low + 1 } else { 0 };
            shown
        });
        assert!(seen.contains(&Lengths) && seen.contains(&Faces), "{sides} sides: {seen:?}");
    }
}
