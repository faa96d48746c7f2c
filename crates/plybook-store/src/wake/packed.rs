//! Many hints in one message: `tenant:game:seq`, separated by spaces.
//!
//! Invariant: a message fits into a NOTIFY, and what cannot be read in one is no hint.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use plybook_core::{Seq, Uuid};
use tokio::sync::mpsc;

use crate::store::{GameKey, TenantId};
use crate::wake::Wake;

/// A NOTIFY must stay under 8000 bytes: so many hints of at most 56 bytes fit.
const HINTS_PER_MESSAGE: usize = 140;

/// One hint a game.
pub(crate) type Hints = BTreeMap<GameKey, Seq>;

/// Takes what waits, one hint a game, as much as one message carries.
pub(crate) fn gather(first: Option<Wake>, waiting: &mut mpsc::Receiver<Wake>) -> Hints {
    let mut hints = BTreeMap::new();
    let mut next = first.or_else(|| waiting.try_recv().ok());
    while let Some(wake) = next {
        let seq = hints.entry(wake.key).or_insert(wake.seq);
        *seq = wake.seq.max(*seq);
        if hints.len() == HINTS_PER_MESSAGE {
            break;
        }
        next = waiting.try_recv().ok();
    }
    hints
}

/// As they travel.
pub(crate) fn pack(hints: &Hints) -> String {
    let mut payload = String::with_capacity(hints.len() * 56);
    for (key, seq) in hints {
        // Writing into a String cannot fail.
        let _ = write!(payload, "{}:{}:{seq} ", key.tenant.0, key.game.simple());
    }
    payload.truncate(payload.trim_end().len());
    payload
}

/// What another node packed.
pub(crate) fn unpack(payload: &str) -> impl Iterator<Item = Wake> {
    payload.split(' ').filter_map(|hint| {
        let mut parts = hint.splitn(3, ':');
        let tenant = TenantId(parts.next()?.parse().ok()?);
        let game = Uuid::try_parse(parts.next()?).ok()?;
        let seq = Seq(parts.next()?.parse().ok()?);
        Some(Wake { key: GameKey { tenant, game }, seq })
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::wake::QUEUE;

    fn wake(game: u128, seq: u32) -> Wake {
        Wake { key: GameKey { tenant: TenantId(i32::MAX), game: Uuid::from_u128(game) }, seq: Seq(seq) }
    }

    #[test]
    fn a_full_payload_stays_under_the_limit_of_notify() {
        let (queue, mut waiting) = mpsc::channel(QUEUE);
        for game in 0..200 {
            queue.try_send(wake(u128::MAX - game, u32::MAX)).unwrap();
        }
        let hints = gather(None, &mut waiting);
        assert_eq!(hints.len(), HINTS_PER_MESSAGE);
        let payload = pack(&hints);
        assert!(payload.len() > 7_000 && payload.len() < 8_000, "{}", payload.len());
        assert_eq!(unpack(&payload).count(), HINTS_PER_MESSAGE);
        assert_eq!(gather(None, &mut waiting).len(), 60, "the rest waits for the next one");
    }

    #[test]
    fn hints_of_one_game_become_the_latest() {
        let (queue, mut waiting) = mpsc::channel(QUEUE);
        for seq in [2, 9, 3] {
            queue.try_send(wake(7, seq)).unwrap();
        }
        let hints = gather(None, &mut waiting);
        assert_eq!(unpack(&pack(&hints)).collect::<Vec<_>>(), [wake(7, 9)]);
    }

    #[test]
    fn what_is_not_a_hint_is_passed_over() {
        let good = wake(7, 9);
        let payload = format!("x 1:2 1:zz:3 {} :: 1:2:3:4 ", pack(&BTreeMap::from([(good.key, good.seq)])));
        assert_eq!(unpack(&payload).collect::<Vec<_>>(), [good]);
    }
}
