//! Where game ids and seeds come from.
//!
//! Invariant: this is the only randomness of the service; a test may replace it.

use plybook_core::{Seed, Time};
use uuid::{Builder, Uuid};

use crate::refusal::Refusal;

/// Where game ids and seeds come from.
pub trait Ids: Send + Sync + 'static {
    /// A new game's id. Its order is that of creation, so that lists and partitions follow it.
    fn game(&self, now: Time) -> Result<Uuid, Refusal>;

    /// A new game's seed, unpredictable to everybody.
    fn seed(&self) -> Result<Seed, Refusal>;
}

/// UUIDv7 and seeds from the operating system.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemIds;

impl Ids for SystemIds {
    fn game(&self, now: Time) -> Result<Uuid, Refusal> {
        let random: [u8; 10] = random_bytes()?;
        Ok(Builder::from_unix_timestamp_millis(now.unix_ms(), &random).into_uuid())
    }

    fn seed(&self) -> Result<Seed, Refusal> {
        random_bytes().map(Seed::new)
    }
}

fn random_bytes<const N: usize>() -> Result<[u8; N], Refusal> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| Refusal::internal(format!("the operating system gave no randomness: {error}")))?;
    Ok(bytes)
}
