//! Everything public, hashed in the ways that somebody in a hurry would make dice.
//!
//! Invariant: the right way is among them, so that only the key is missing: with the seed in the place of the
//! field, one of them foretells every face.

use plybook_core::Digest;
use plybook_core::dice::Face;

use super::public::{Public, SIDES};

type Field = fn(&Public<'_>) -> Vec<u8>;

/// What is hashed.
pub(super) const FIELDS: &[(&str, Field)] = &[
    ("the commitment", |public| public.header.commitment.0.to_vec()),
    ("the commitment as text", |public| public.header.commitment.to_string().into_bytes()),
    ("the game's id", |public| public.header.game.as_bytes().to_vec()),
    ("the game's id as text", |public| public.header.game.to_string().into_bytes()),
    ("commitment and id", |public| [&public.header.commitment.0[..], public.header.game.as_bytes()].concat()),
    ("the time of creation", |public| public.header.created.unix_ms().to_be_bytes().to_vec()),
    ("the second of creation", |public| (public.header.created.unix_ms() / 1000).to_be_bytes().to_vec()),
    ("the time of creation as text", |public| public.header.created.to_string().into_bytes()),
    ("the time of the throw", |public| public.now.unix_ms().to_be_bytes().to_vec()),
    ("the time of the throw as text", |public| public.now.to_string().into_bytes()),
    ("the header", |public| public.links[0].text.as_bytes().to_vec()),
    ("the header's digest", |public| public.links[0].digest.0.to_vec()),
    ("the last line", |public| public.last().text.as_bytes().to_vec()),
    ("the book digest", |public| public.last().digest.0.to_vec()),
    ("the faces so far", |public| public.faces.to_vec()),
    ("the number of the throw", |public| public.draw.to_be_bytes().to_vec()),
    ("the seats' nonces", |public| public.nonces.concat()),
    ("the seed of the game before", |public| public.before.map_or_else(Vec::new, |before| before.seed.to_vec())),
];

type Way = fn(&[u8], &Public<'_>) -> [u8; 32];

/// How it is hashed.
pub(super) const WAYS: &[(&str, Way)] = &[
    ("{} itself", |field, _| std::array::from_fn(|at| if field.is_empty() { 0 } else { field[at % field.len()] })),
    ("SHA-256({})", |field, _| Digest::of(field).0),
    ("SHA-256({} ‖ draw)", |field, public| Digest::of_parts(&[field, &public.draw.to_be_bytes()]).0),
    ("SHA-256({} ‖ draw ‖ seat ‖ die)", |field, public| Digest::of_parts(&[field, &public.message()[14..26]]).0),
    ("SHA-256({} ‖ message)", |field, public| Digest::of_parts(&[field, &public.message()]).0),
    ("SHA-256(message ‖ {})", |field, public| Digest::of_parts(&[&public.message(), field]).0),
    ("SHA-256(\"plybook-seed/1\" ‖ {})", |field, _| Digest::of_parts(&[b"plybook-seed/1", field]).0),
    ("HMAC(key {}, message)", |field, public| hmac(field, &public.message())),
    ("HMAC(key SHA-256({}), message)", |field, public| hmac(&Digest::of(field).0, &public.message())),
    ("HMAC(key SHA-256(\"plybook-seed/1\" ‖ {}), message)", |field, public| {
        hmac(&Digest::of_parts(&[b"plybook-seed/1", field]).0, &public.message())
    }),
    ("HMAC(key message, {})", |field, public| hmac(&public.message(), field)),
    ("HMAC(key {}, draw)", |field, public| hmac(field, &public.draw.to_be_bytes())),
];

type Reading = fn(&[u8; 32]) -> Face;

/// How a face is read from 32 bytes.
pub(super) const READINGS: &[(&str, Reading)] = &[("first eight bytes", first_eight), ("last byte", |bytes| bytes[31] % SIDES + 1)];

/// As the dice themselves read it.
pub(super) fn first_eight(bytes: &[u8; 32]) -> Face {
    let value = bytes[..8].iter().fold(0u64, |n, byte| n << 8 | u64::from(*byte));
    (value % u64::from(SIDES)) as Face + 1
}

/// RFC 2104 with SHA-256.
pub(super) fn hmac(key: &[u8], message: &[u8]) -> [u8; 32] {
    let mut block = [0; 64];
    if key.len() > 64 {
        block[..32].copy_from_slice(&Digest::of(key).0);
    } else {
        block[..key.len()].copy_from_slice(key);
    }
    let inner = Digest::of_parts(&[&block.map(|byte| byte ^ 0x36), message]);
    Digest::of_parts(&[&block.map(|byte| byte ^ 0x5c), &inner.0]).0
}
