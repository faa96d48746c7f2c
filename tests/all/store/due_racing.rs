//! The queue of what is due with many at once: every row is one claimer's, and none is put off behind what an append
//! has armed.

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use plybook_core::{Seq, Time};
use plybook_store::{Append, Arms, Claimed, DueChange, DueKey, DueKind, GameKey, NewEntry, Store};

use super::due::{LONG, Shared, armed_game, arming, ms, on_shared, time};
use super::{AnyStore, new_entry, request};

on_shared![two_hundred_claimers_share_the_rows, of_many_claimers_of_one_row_one_gets_it, no_row_is_put_off_behind_what_is_armed];

const CLAIMERS: usize = 200;

async fn join<T: 'static>(tasks: Vec<tokio::task::JoinHandle<T>>) -> Vec<T> {
    let mut done = Vec::new();
    for task in tasks {
        done.push(task.await.unwrap());
    }
    done
}

/// All that is there for a claimer, a few rows at a time.
async fn claim_all(node: AnyStore) -> Vec<Claimed> {
    let mut all = Vec::new();
    loop {
        let some = node.claim_due(3, LONG).await.unwrap();
        if some.is_empty() {
            return all;
        }
        assert!(some.len() <= 3);
        all.extend(some);
    }
}

async fn two_hundred_claimers_share_the_rows(shared: Shared) {
    let mut rows = HashSet::new();
    for at in 0..100 {
        let game = armed_game(shared.store(), Arms { time: Some(ms(at)), bot: Some(ms(1_000 - at)) }).await;
        rows.extend(DueKind::ALL.map(|kind| DueKey { game, kind }));
    }
    let claimers = (0..CLAIMERS).map(|claimer| tokio::spawn(claim_all(shared.nodes[claimer % 2].clone()))).collect();
    let mut claimed: Vec<Claimed> = join(claimers).await.into_iter().flatten().collect();
    // Rows that were all locked when the last claimers looked are somebody's; what nobody has is claimed now.
    claimed.extend(claim_all(shared.nodes[0].clone()).await);
    assert_eq!(claimed.len(), rows.len(), "no row is claimed twice");
    assert_eq!(claimed.iter().map(|one| one.key).collect::<HashSet<_>>(), rows);
    assert_eq!(claimed.iter().map(|one| one.token).collect::<HashSet<_>>().len(), rows.len());
    assert!(claimed.iter().all(|one| one.attempts == 1));
}

async fn of_many_claimers_of_one_row_one_gets_it(shared: Shared) {
    for _ in 0..5 {
        let game = armed_game(shared.store(), time(ms(1))).await;
        let claimers = (0..CLAIMERS).map(|claimer| tokio::spawn(claim_all(shared.nodes[claimer % 2].clone()))).collect();
        let claimed: Vec<Claimed> = join(claimers).await.into_iter().flatten().collect();
        assert_eq!(claimed.iter().map(|one| (one.key.game, one.attempts)).collect::<Vec<_>>(), [(game, 1)]);
        assert!(shared.store().settle_due(&claimed[0], None).await.unwrap());
    }
}

/// When a game has something to do, told by its head; all of it long ago, so that the row is always due.
fn true_time(head: Seq) -> Time {
    // Without a pattern, so that it moves earlier and later.
    ms(1_000_000 + u64::from(head.0.wrapping_mul(2_654_435_761) % 1_000))
}

/// Plays, and arms as a server does: only where the time moves earlier. Nobody else appends, so that whenever it looks,
/// a row that is nobody's claim must not be later than the head tells.
async fn play(node: AnyStore, key: GameKey, until: u32) {
    for seq in 2..=until {
        let (before, at) = (true_time(Seq(seq - 1)), true_time(Seq(seq)));
        let entry =
            if at < before { arming(key, seq, time(at)) } else { NewEntry { due: DueChange::Keep, ..new_entry(key, seq, request(1)) } };
        assert_eq!(node.append(entry).await.unwrap(), Append::Stored);
        for _ in 0..3 {
            for row in node.due_of(key).await.unwrap() {
                assert!(row.attempts > 0 || row.at <= at, "{row:?} is put off behind {at}, entry {seq}");
            }
        }
    }
}

/// Claims, looks at the head after that, and settles with what it tells, until every game is played to its end.
async fn sweep(node: AnyStore, games: Vec<GameKey>, until: u32) -> BTreeMap<bool, u32> {
    let mut settled = BTreeMap::new();
    loop {
        let over = all_played(&*node, &games, until).await;
        for lease in [LONG, Duration::ZERO] {
            for claimed in node.claim_due(2, lease).await.unwrap() {
                let head = node.last(claimed.key.game).await.unwrap().unwrap().seq;
                // Whoever decides takes a while, and the game goes on meanwhile.
                node.clock_unix_ms().await.unwrap();
                let done = node.settle_due(&claimed, Some(true_time(head))).await.unwrap();
                *settled.entry(done).or_default() += 1;
            }
        }
        if over {
            return settled;
        }
    }
}

async fn all_played(store: &dyn Store, games: &[GameKey], until: u32) -> bool {
    for key in games {
        if store.last(*key).await.unwrap().unwrap().seq != Seq(until) {
            return false;
        }
    }
    true
}

async fn no_row_is_put_off_behind_what_is_armed(shared: Shared) {
    const UNTIL: u32 = 60;
    let mut games = Vec::new();
    for _ in 0..3 {
        games.push(armed_game(shared.store(), time(true_time(Seq::FIRST))).await);
    }
    let sweepers: Vec<_> = (0..4).map(|at| tokio::spawn(sweep(shared.nodes[at % 2].clone(), games.clone(), UNTIL))).collect();
    let players = games.iter().enumerate().map(|(at, key)| tokio::spawn(play(shared.nodes[at % 2].clone(), *key, UNTIL))).collect();
    join(players).await;
    let settled = join(sweepers).await;
    for key in games {
        let rows = shared.store().due_of(key).await.unwrap();
        assert!(rows.len() == 1 && rows[0].at <= true_time(Seq(UNTIL)), "{rows:?} of {settled:?}, due {}", true_time(Seq(UNTIL)));
    }
}
