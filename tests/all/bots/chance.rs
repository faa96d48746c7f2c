//! A bot's own numbers: published, even, and apart from the dice.

use plybook_bots::Chance;
use plybook_core::dice::{BotKey, Throw};
use plybook_core::{Digest, Seat, Seed};

fn numbers(key: BotKey, count: usize) -> Vec<String> {
    let mut chance = Chance::new(key);
    (0..count).map(|_| format!("{:016x}", chance.bits())).collect()
}

/// Recomputed by hand with Python's hmac and hashlib.
#[test]
fn published_numbers_never_change() {
    let ascending = Seed::new(std::array::from_fn(|i| i as u8));
    assert_eq!(
        numbers(ascending.bot_key(Seat(0), 0), 5),
        ["33e672ef6088e08f", "39f8e174fb8c3201", "459cad38e4949026", "d283750e7ece27d4", "3fe9f15975f96e60"]
    );
    assert_eq!(numbers(ascending.bot_key(Seat(1), 258), 3), ["20ddb36acc6bb03d", "5ceed7bfee296af5", "eb64c88405465043"]);
    assert_eq!(numbers(BotKey::for_advice(&Digest([0xab; 32])), 3), ["48ac7872f9f33e7a", "dc69bc6a6528ccd5", "a5f02195427a4bf9"]);
}

#[test]
fn numbers_depend_on_seed_seat_and_ply() {
    let base = numbers(Seed::new([1; 32]).bot_key(Seat(0), 7), 1);
    assert_ne!(base, numbers(Seed::new([2; 32]).bot_key(Seat(0), 7), 1));
    assert_ne!(base, numbers(Seed::new([1; 32]).bot_key(Seat(1), 7), 1));
    assert_ne!(base, numbers(Seed::new([1; 32]).bot_key(Seat(0), 8), 1));
    assert_eq!(base, numbers(Seed::new([1; 32]).bot_key(Seat(0), 7), 1));
    assert_eq!(format!("{:?}", Seed::new([1; 32]).bot_key(Seat(0), 7)), "BotKey(secret)");
}

#[test]
fn every_number_below_comes_about_equally_often() {
    let mut chance = Chance::new(Seed::new([3; 32]).bot_key(Seat(0), 0));
    let mut counts = [0u32; 7];
    for _ in 0..70_000 {
        counts[chance.below(7) as usize] += 1;
    }
    // 10,000 each; the standard deviation is 93.
    assert!(counts.iter().all(|count| (9_600..=10_400).contains(count)), "{counts:?}");
    assert_eq!((chance.below(0), chance.below(1)), (0, 0));
    assert_eq!(chance.pick::<u8>(&[]), None);
    let faces = chance.throw(Throw { dice: 8, sides: 2 });
    assert!(faces.len() == 8 && faces.iter().all(|face| [1, 2].contains(face)), "{faces:?}");
}

#[test]
fn a_shuffle_reaches_every_order() {
    let mut chance = Chance::new(Seed::new([4; 32]).bot_key(Seat(0), 0));
    let mut counts = std::collections::BTreeMap::new();
    for _ in 0..24_000 {
        let mut order = [0, 1, 2, 3];
        chance.shuffle(&mut order);
        *counts.entry(order).or_insert(0u32) += 1;
    }
    assert_eq!(counts.len(), 24);
    // 1,000 each; the standard deviation is 31.
    assert!(counts.values().all(|count| (850..=1_150).contains(count)), "{counts:?}");
}
