//! The queue of what is due against the simplest thing that it could be: a map.
//!
//! Invariant: after every step the rows of every game are the map's, also of the games that the step did not name.

use std::collections::BTreeMap;
use std::time::Duration;

use plybook_core::{Time, Uuid};
use plybook_store::{Append, Arms, Claimed, DueChange, DueKey, DueKind, DueSoon, GameKey, NewEntry, Store, TenantId};
use plybook_tests::random::Random;

use super::due::{LONG, Shared, armed_game, arming, future, ms, on_shared};
use super::{new_entry, request};

on_shared![random_steps_do_what_a_map_does];

/// When a row is due, as far as a test can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum At {
    Past(Time),
    /// A lease of no length: the moment of the claim.
    Over,
    /// The end of a lease that no test lives to see.
    Leased,
    Future(Time),
}

#[derive(Clone, Copy, Debug)]
struct Row {
    at: At,
    /// For lists: no claim changes it.
    listed: Time,
    attempts: u32,
    claim: Option<Uuid>,
}

struct Model<'a> {
    store: &'a dyn Store,
    random: Random,
    rows: BTreeMap<DueKey, Row>,
    games: BTreeMap<GameKey, u32>,
    claims: Vec<Claimed>,
}

impl Model<'_> {
    fn time(&mut self) -> (Time, At) {
        let n = self.random.below(50);
        if self.random.once_in(2) { (ms(n), At::Past(ms(n))) } else { (future(n), At::Future(future(n))) }
    }

    async fn append(&mut self) {
        let keys: Vec<GameKey> = self.games.keys().copied().collect();
        let key = *self.random.pick(&keys);
        let seq = self.games[&key] + 1;
        let stored = !self.random.once_in(4);
        // A gap: nothing is stored.
        let number = if stored { seq } else { seq + 1 };
        let entry = if self.random.once_in(6) {
            if stored {
                self.rows.retain(|row, _| row.game != key);
            }
            NewEntry { due: DueChange::Disarm, ..new_entry(key, number, request(1)) }
        } else {
            let mut arms = Arms::NONE;
            for kind in DueKind::ALL {
                if self.random.once_in(2) {
                    let (at, known) = self.time();
                    *(if kind == DueKind::Time { &mut arms.time } else { &mut arms.bot }) = Some(at);
                    if stored {
                        let new = Row { at: known, listed: at, attempts: 0, claim: None };
                        let row = self.rows.entry(DueKey { game: key, kind }).or_insert(new);
                        *row = Row { at: row.at.min(known), listed: row.listed.min(at), ..new };
                    }
                }
            }
            arming(key, number, arms)
        };
        let answer = self.store.append(entry).await.unwrap();
        assert_eq!(answer, if stored { Append::Stored } else { Append::Conflict });
        if stored {
            self.games.insert(key, seq);
        }
    }

    async fn claim(&mut self) {
        let limit = 1 + self.random.below(3) as u32;
        let long = self.random.once_in(2);
        let claimed = self.store.claim_due(limit, if long { LONG } else { Duration::ZERO }).await.unwrap();
        let mut due: Vec<At> = self.rows.values().map(|row| row.at).filter(|at| *at <= At::Over).collect();
        due.sort_unstable();
        assert_eq!(claimed.len(), due.len().min(limit as usize));
        for (one, expected) in claimed.iter().zip(due) {
            let row = self.rows.get_mut(&one.key).unwrap();
            assert_eq!(row.at, expected, "the oldest first");
            assert!(matches!(row.at, At::Over) || At::Past(one.due) == row.at);
            let at = if long { At::Leased } else { At::Over };
            *row = Row { at, attempts: row.attempts + 1, claim: Some(one.token), ..*row };
            assert_eq!(one.attempts, row.attempts);
        }
        self.claims.extend(claimed);
    }

    async fn settle(&mut self) {
        let claims = self.claims.clone();
        if claims.is_empty() {
            return;
        }
        let one = *self.random.pick(&claims);
        let mine = self.rows.get(&one.key).is_some_and(|row| row.claim == Some(one.token));
        let next = (!self.random.once_in(3)).then(|| self.time());
        assert_eq!(self.store.settle_due(&one, next.map(|next| next.0)).await.unwrap(), mine);
        match next {
            Some((listed, at)) if mine => drop(self.rows.insert(one.key, Row { at, listed, attempts: 0, claim: None })),
            None if mine => drop(self.rows.remove(&one.key)),
            _ => {}
        }
    }

    async fn compare(&self) {
        let now = self.store.clock_unix_ms().await.unwrap();
        for key in self.games.keys() {
            let there = self.store.due_of(*key).await.unwrap();
            let expected = self.rows.iter().filter(|(row, _)| row.game == *key);
            let expected: BTreeMap<DueKind, Row> = expected.map(|(key, row)| (key.kind, *row)).collect();
            assert_eq!(there.len(), expected.len(), "{there:?} {expected:?}");
            for found in there {
                let row = expected[&found.kind];
                assert_eq!(found.attempts, row.attempts);
                let fits = match row.at {
                    At::Past(at) | At::Future(at) => found.at == at,
                    At::Over => (1_000_000_000_000..=now).contains(&found.at.unix_ms()),
                    At::Leased => found.at.unix_ms() > now && found.at < future(0),
                };
                assert!(fits, "{found:?} is {row:?}");
            }
        }
        let timed = self.rows.iter().filter(|(key, _)| key.kind == DueKind::Time);
        let mut listed: Vec<DueSoon> = timed.map(|(key, row)| DueSoon { at: row.listed, game: key.game.game }).collect();
        listed.sort_unstable();
        assert_eq!(self.store.list_due(TenantId::DEFAULT, ms(u64::MAX), None, 100).await.unwrap(), listed);
    }
}

async fn random_steps_do_what_a_map_does(shared: Shared) {
    for number in 0..3 {
        let number = 7_000 + number;
        println!("the number is {number}");
        let mut model =
            Model { store: shared.store(), random: Random::new(number), rows: BTreeMap::new(), games: BTreeMap::new(), claims: Vec::new() };
        for _ in 0..4 {
            model.games.insert(armed_game(shared.store(), Arms::NONE).await, 1);
        }
        for _ in 0..120 {
            match model.random.below(10) {
                0..=3 => model.append().await,
                4..=6 => model.claim().await,
                _ => model.settle().await,
            }
            model.compare().await;
        }
        // The next games share the queue with nothing.
        for key in model.games.keys() {
            let end = NewEntry { due: DueChange::Disarm, ..new_entry(*key, model.games[key] + 1, request(1)) };
            assert_eq!(shared.store().append(end).await.unwrap(), Append::Stored);
        }
        assert_eq!(shared.store().next_due().await.unwrap(), None);
    }
}
