//! Beats of nodes, and the times when there were none.

use std::time::Duration;

use plybook_core::{Time, Uuid};
use plybook_store::outage::OUTAGES_KEPT;
use plybook_store::{Outage, Store};

use super::due::{LONG, Shared, future, ms, on_shared};

on_shared![
    beats_that_follow_each_other_find_nothing,
    a_gap_is_found_once_and_remembered,
    of_nodes_that_come_back_together_one_finds_the_gap,
    a_clock_that_was_set_is_taken_as_it_is,
    outages_are_asked_for_by_time,
    the_oldest_outages_are_forgotten,
];

const HOUR_MS: u64 = 3_600_000;
const HALF_AN_HOUR: Duration = Duration::from_secs(1_800);

/// As if the last beat of anybody had been so long before now; answers when.
async fn last_beat(shared: &Shared, ago_ms: i64) -> Time {
    let at = ms(shared.store().clock_unix_ms().await.unwrap().saturating_add_signed(-ago_ms));
    let set = format!("UPDATE heartbeat SET beat_at = '{at}'");
    shared.execute(&set, &set).await;
    at
}

async fn all(store: &dyn Store) -> Vec<Outage> {
    store.outages(ms(0), ms(u64::MAX), 100).await.unwrap()
}

async fn beats_that_follow_each_other_find_nothing(shared: Shared) {
    for round in 0..5 {
        for node in &shared.nodes {
            assert_eq!(node.beat(Uuid::new_v4(), LONG).await.unwrap(), None, "{round}");
        }
    }
    last_beat(&shared, HOUR_MS as i64).await;
    // The gap is there, and shorter than what is taken for one.
    assert_eq!(shared.store().beat(Uuid::new_v4(), LONG).await.unwrap(), None);
    assert_eq!(all(shared.store()).await, []);
}

async fn a_gap_is_found_once_and_remembered(shared: Shared) {
    let [one, two] = &shared.nodes;
    assert_eq!(one.beat(Uuid::new_v4(), HALF_AN_HOUR).await.unwrap(), None, "before the first beat of all is no outage");
    let mut found = Vec::new();
    for _ in 0..2 {
        let from = last_beat(&shared, HOUR_MS as i64).await;
        let earliest = two.clock_unix_ms().await.unwrap();
        let outage = two.beat(Uuid::new_v4(), HALF_AN_HOUR).await.unwrap().expect("nobody was there for an hour");
        let latest = two.clock_unix_ms().await.unwrap();
        assert_eq!(outage.from, from);
        assert!((earliest..=latest).contains(&outage.to.unix_ms()), "{outage:?} of {earliest}..{latest}");
        found.push(outage);
        for node in &shared.nodes {
            assert_eq!(node.beat(Uuid::new_v4(), HALF_AN_HOUR).await.unwrap(), None);
            let mut known = all(&**node).await;
            known.sort_by_key(|outage| outage.to);
            assert_eq!(known, found);
        }
    }
}

async fn of_nodes_that_come_back_together_one_finds_the_gap(shared: Shared) {
    for round in 1..=5 {
        let from = last_beat(&shared, HOUR_MS as i64).await;
        let beats: Vec<_> = (0..60)
            .map(|at| {
                let node = shared.nodes[at % 2].clone();
                tokio::spawn(async move { node.beat(Uuid::new_v4(), HALF_AN_HOUR).await.unwrap() })
            })
            .collect();
        let mut found = Vec::new();
        for beat in beats {
            found.extend(beat.await.unwrap());
        }
        assert_eq!(found.iter().map(|outage| outage.from).collect::<Vec<_>>(), [from]);
        let known = all(shared.store()).await;
        assert_eq!(known.len(), round);
        assert!(known.contains(&found[0]), "{found:?} in {known:?}");
    }
}

async fn a_clock_that_was_set_is_taken_as_it_is(shared: Shared) {
    let store = shared.store();
    last_beat(&shared, -(24 * HOUR_MS as i64)).await;
    assert_eq!(store.beat(Uuid::new_v4(), HALF_AN_HOUR).await.unwrap(), None);
    // The beat of tomorrow is not waited for: a gap after it is a gap.
    assert_eq!(store.beat(Uuid::new_v4(), HALF_AN_HOUR).await.unwrap(), None);
    last_beat(&shared, HOUR_MS as i64).await;
    assert!(store.beat(Uuid::new_v4(), HALF_AN_HOUR).await.unwrap().is_some());
}

async fn outages_are_asked_for_by_time(shared: Shared) {
    let outages = [(1_000, 2_000), (5_000, 5_001), (7_000, 9_000)].map(|(from, to)| Outage { from: ms(from), to: ms(to) });
    for Outage { from, to } in outages {
        let insert = format!("INSERT INTO outage (from_at, to_at) VALUES ('{from}', '{to}')");
        shared.execute(&insert, &insert).await;
    }
    let [first, second, third] = outages;
    for (from, to, expected) in [
        (0, 10_000, vec![first, second, third]),
        (0, 1_000, vec![]),
        (0, 1_001, vec![first]),
        (1_999, 5_000, vec![first]),
        (2_000, 5_000, vec![]),
        (1_500, 1_501, vec![first]),
        (2_000, 7_001, vec![second, third]),
        (9_000, u64::MAX, vec![]),
        (10_000, 0, vec![]),
    ] {
        assert_eq!(shared.store().outages(ms(from), ms(to), 10).await.unwrap(), expected, "{from}..{to}");
    }
    assert_eq!(shared.store().outages(ms(0), future(0), 2).await.unwrap(), [first, second]);
}

async fn the_oldest_outages_are_forgotten(shared: Shared) {
    let more = OUTAGES_KEPT + 3;
    shared
        .execute(
            &format!(
                "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < {more})
                 INSERT INTO outage SELECT strftime('%Y-%m-%dT%H:%M:%fZ', n * 10, 'unixepoch'),
                                           strftime('%Y-%m-%dT%H:%M:%fZ', n * 10 + 5, 'unixepoch') FROM n"
            ),
            &format!("INSERT INTO outage SELECT to_timestamp(n * 10), to_timestamp(n * 10 + 5) FROM generate_series(1, {more}) AS n"),
        )
        .await;
    let store = shared.store();
    last_beat(&shared, 1).await;
    store.beat(Uuid::new_v4(), LONG).await.unwrap();
    assert_eq!(store.outages(ms(0), ms(15_000), 1).await.unwrap().len(), 1, "who finds none forgets none");
    last_beat(&shared, HOUR_MS as i64).await;
    let found = store.beat(Uuid::new_v4(), HALF_AN_HOUR).await.unwrap().unwrap();
    let known = store.outages(ms(0), ms(u64::MAX), 2 * OUTAGES_KEPT).await.unwrap();
    assert_eq!(known.len() as u32, OUTAGES_KEPT);
    assert_eq!(known.last(), Some(&found));
    assert_eq!(known[0], Outage { from: ms(50_000), to: ms(55_000) }, "the four oldest are gone");
}
