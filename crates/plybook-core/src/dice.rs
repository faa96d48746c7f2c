//! Seeds, commitments and dice that can be proved.
//!
//! Invariants: the seed is fixed before the first throw by its published commitment; a face depends
//! on the seed, the number of the standing throw, the seat, and the die, and on nothing else; a seed
//! never appears in `Debug` output.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest as _, Sha256};

use crate::digest::Digest;
use crate::seat::Seat;

/// What a die shows, from 1 to its number of sides.
pub type Face = u8;

/// The name of this derivation in a header.
pub const SCHEME: &str = "hmac-sha256/1";

/// Dice thrown together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Throw {
    /// How many dice, from 1.
    pub dice: u8,
    /// Sides of each, from 2 on; faces run from 1 to this.
    pub sides: u8,
}

/// The 32 bytes behind a game's dice. Secret until the game is closed.
#[derive(Clone, PartialEq, Eq)]
pub struct Seed([u8; 32]);

impl Seed {
    /// A seed from the operating system, or from the caller.
    pub const fn new(bytes: [u8; 32]) -> Seed {
        Seed(bytes)
    }

    /// The bytes: for storage, and for the entry that reveals them.
    pub const fn reveal(&self) -> &[u8; 32] {
        &self.0
    }

    /// SHA-256("plybook-seed/1" ‖ seed), which may be public.
    pub fn commitment(&self) -> Digest {
        Digest::of_parts(&[b"plybook-seed/1", &self.0])
    }

    /// HMAC-SHA256(seed, "plybook-bots/1" ‖ seat u16 ‖ standing moves u64): for the choice that a bot
    /// in `seat` makes after `ply` standing moves.
    pub fn bot_key(&self, seat: Seat, ply: u64) -> BotKey {
        BotKey(self.mac(&[b"plybook-bots/1", &u16::from(seat.0).to_be_bytes(), &ply.to_be_bytes()]))
    }

    fn mac(&self, parts: &[&[u8]]) -> [u8; 32] {
        // RFC 2104: a key shorter than the 64-byte block is padded with zeros.
        let mut key = [0u8; 64];
        key[..32].copy_from_slice(&self.0);
        let mut mac = Hmac::<Sha256>::new(&key.into());
        for part in parts {
            mac.update(part);
        }
        mac.finalize().into_bytes().into()
    }
}

impl fmt::Debug for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seed(secret)")
    }
}

/// What a bot draws its own numbers from, one key a choice. It tells nothing of the seed or the dice,
/// but until the game is closed it would tell what the bot will choose.
#[derive(Clone, PartialEq, Eq)]
pub struct BotKey([u8; 32]);

impl BotKey {
    /// A key for advice, which everybody may know: SHA-256("plybook-advice/1" ‖ position digest).
    pub fn for_advice(position: &Digest) -> BotKey {
        BotKey(Digest::of_parts(&[b"plybook-advice/1", &position.0]).0)
    }

    /// Block number `n` of its bytes: SHA-256(key ‖ n u64).
    pub fn block(&self, n: u64) -> [u8; 32] {
        Digest::of_parts(&[&self.0, &n.to_be_bytes()]).0
    }
}

impl fmt::Debug for BotKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BotKey(secret)")
    }
}

/// Draws faces from a seed.
#[derive(Clone, Debug)]
pub struct Dice {
    seed: Seed,
    nonces: [u8; 32],
}

impl Dice {
    /// Dice for a game whose seats added `nonces`, one a seat, empty where a seat added none.
    /// Each is at most 65,535 bytes long.
    pub fn new(seed: Seed, nonces: &[&[u8]]) -> Dice {
        let mut hash = Sha256::new();
        for nonce in nonces {
            assert!(nonce.len() <= usize::from(u16::MAX), "a nonce's length fits in 16 bits");
            hash.update((nonce.len() as u16).to_be_bytes());
            hash.update(nonce);
        }
        Dice { seed, nonces: hash.finalize().into() }
    }

    /// Dice for a game in which no seat added a nonce: all there is in book format 1.
    pub fn without_nonces(seed: Seed, seats: u8) -> Dice {
        Dice::new(seed, &vec![&[][..]; usize::from(seats)])
    }

    /// The seed behind these dice.
    pub const fn seed(&self) -> &Seed {
        &self.seed
    }

    /// The faces of the throw that stands after `draw` others, thrown by `seat`.
    pub fn throw(&self, draw: u64, seat: Seat, throw: Throw) -> Vec<Face> {
        assert!(throw.dice >= 1 && throw.sides >= 1, "a throw has dice with sides");
        (0..u16::from(throw.dice)).map(|die| self.face(draw, seat, die, throw.sides)).collect()
    }

    fn face(&self, draw: u64, seat: Seat, die: u16, sides: u8) -> Face {
        let sides = u64::from(sides);
        // The greatest multiple of `sides` that fits in 2^64: at or above it, faces would be uneven.
        let limit = u128::from(u64::MAX).wrapping_add(1) / u128::from(sides) * u128::from(sides);
        let mut retry = 0u16;
        loop {
            let value = self.value(draw, seat, die, retry);
            if u128::from(value) < limit {
                return (value % sides + 1) as Face;
            }
            retry += 1;
        }
    }

    fn value(&self, draw: u64, seat: Seat, die: u16, retry: u16) -> u64 {
        let (draw, seat) = (draw.to_be_bytes(), u16::from(seat.0).to_be_bytes());
        let bytes = self.seed.mac(&[b"plybook-dice/1", &draw, &seat, &die.to_be_bytes(), &retry.to_be_bytes(), &self.nonces]);
        bytes[..8].iter().fold(0, |n, byte| n << 8 | u64::from(*byte))
    }
}
