//! The queue of what is due, one caller at a time: what an append does to it, and what a claimer may.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use plybook_core::book::Link;
use plybook_core::{Digest, Time};
use plybook_store::{
    Append, Arms, Claimed, Create, DueChange, DueKey, DueKind, DueSoon, GameKey, NewEntry, NewGame, RequestKey, State, Store, StoredDue,
    TenantId,
};
use plybook_tests::postgres::{self, TestDatabase};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Executor as _};

use super::{AnyStore, link, new_entry, new_game, new_key, request, sqlite_in, stored};

/// Longer than any test.
pub(super) const LONG: Duration = Duration::from_secs(20 * 60 * 60);

/// A database with two nodes over it, and a way past both.
pub(super) struct Shared {
    pub(super) nodes: [AnyStore; 2],
    behind: Behind,
}

enum Behind {
    Sqlite(PathBuf),
    Postgres(TestDatabase),
}

impl Shared {
    pub(super) async fn sqlite(folder: &std::path::Path) -> Shared {
        let nodes: [AnyStore; 2] = [sqlite_in(folder).await, sqlite_in(folder).await];
        Shared { nodes, behind: Behind::Sqlite(folder.join("books.db")) }
    }

    pub(super) async fn postgres() -> Shared {
        let database = postgres::database().await;
        let nodes: [AnyStore; 2] = [Arc::new(database.store().await), Arc::new(database.store().await)];
        Shared { nodes, behind: Behind::Postgres(database) }
    }

    pub(super) fn store(&self) -> &dyn Store {
        &*self.nodes[0]
    }

    /// Past both nodes, in the words of either database.
    pub(super) async fn execute(&self, sqlite: &str, postgres: &str) {
        match &self.behind {
            Behind::Sqlite(path) => {
                let mut file = SqliteConnectOptions::new().filename(path).busy_timeout(LONG).connect().await.unwrap();
                file.execute(AssertSqlSafe(sqlite)).await.unwrap();
            }
            Behind::Postgres(database) => database.execute(postgres).await,
        }
    }

    async fn second_tenant(&self) -> TenantId {
        let sql = "INSERT INTO tenant (id, name) VALUES (2, 'other')";
        self.execute(sql, sql).await;
        TenantId(2)
    }
}

/// Runs each behaviour once over a SQLite file and once over Postgres, both shared by two nodes.
macro_rules! on_shared {
    ($($behaviour:ident),+ $(,)?) => {
        mod on_sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $behaviour() {
                let folder = tempfile::tempdir().unwrap();
                super::$behaviour(crate::store::due::Shared::sqlite(folder.path()).await).await;
            })+
        }
        mod on_postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $behaviour() {
                super::$behaviour(crate::store::due::Shared::postgres().await).await;
            })+
        }
    };
}
pub(super) use on_shared;

on_shared![
    an_entry_arms_its_game_and_no_other,
    a_game_is_armed_from_its_creation_on,
    a_row_moves_earlier_and_never_later,
    what_is_not_stored_arms_and_disarms_nothing,
    a_repeated_creation_arms_nothing,
    the_end_of_a_game_disarms_it_and_no_other,
    what_is_due_is_claimed_in_the_order_of_its_times,
    a_lease_that_is_over_is_claimed_again,
    a_lease_that_is_over_and_nobody_elses_is_still_settled,
    a_settled_row_is_put_off_or_gone,
    a_lease_is_made_longer_or_ended_by_its_claimer_alone,
    whoever_arms_a_claimed_row_takes_the_claim_away,
    a_claim_outlives_no_row,
    every_time_of_a_book_comes_back,
    clocks_of_a_tenant_are_listed_the_soonest_first,
    a_claimed_row_is_listed_at_its_time,
];

pub(super) fn ms(ms: u64) -> Time {
    Time::from_unix_ms(ms)
}

/// Nothing of a test is as late as this.
pub(super) fn future(ms: u64) -> Time {
    Time::from_unix_ms(200_000_000_000_000 + ms)
}

pub(super) fn time(at: Time) -> Arms {
    Arms { time: Some(at), bot: None }
}

fn bot(at: Time) -> Arms {
    Arms { time: None, bot: Some(at) }
}

/// A row that nobody has claimed.
fn waits(kind: DueKind, at: Time) -> StoredDue {
    StoredDue { kind, at, attempts: 0 }
}

pub(super) async fn armed_game(store: &dyn Store, arms: Arms) -> GameKey {
    let key = new_key();
    assert_eq!(store.create(NewGame { arms, ..new_game(key, request(0)) }).await.unwrap(), Create::Created);
    key
}

pub(super) fn arming(key: GameKey, seq: u32, arms: Arms) -> NewEntry {
    NewEntry { due: DueChange::Arm(arms), ..new_entry(key, seq, request(1)) }
}

async fn arm(store: &dyn Store, key: GameKey, seq: u32, arms: Arms) {
    assert_eq!(store.append(arming(key, seq, arms)).await.unwrap(), Append::Stored);
}

/// The one row that is due.
async fn claim_one(store: &dyn Store, lease: Duration) -> Claimed {
    let claimed = store.claim_due(10, lease).await.unwrap();
    assert_eq!(claimed.len(), 1, "{claimed:?}");
    claimed[0]
}

async fn an_entry_arms_its_game_and_no_other(shared: Shared) {
    let store = shared.store();
    let (key, other) = (armed_game(store, Arms::NONE).await, armed_game(store, Arms::NONE).await);
    assert_eq!((store.next_due().await.unwrap(), store.due_of(key).await.unwrap()), (None, vec![]));
    arm(store, key, 2, Arms::NONE).await;
    assert_eq!(store.due_of(key).await.unwrap(), []);
    arm(store, key, 3, time(future(5))).await;
    assert_eq!(store.due_of(key).await.unwrap(), [waits(DueKind::Time, future(5))]);
    // With the state of the game in the same entry.
    let both = Arms { time: Some(future(3)), bot: Some(future(2)) };
    let entry = NewEntry { state: Some(State::Finished), ..arming(key, 4, both) };
    assert_eq!(store.append(entry.clone()).await.unwrap(), Append::Stored);
    assert_eq!(store.due_of(key).await.unwrap(), [waits(DueKind::Bot, future(2)), waits(DueKind::Time, future(3))]);
    assert_eq!(store.state(key).await.unwrap(), Some(State::Finished));
    assert_eq!(store.last(key).await.unwrap(), Some(stored(&entry)));
    assert_eq!(store.next_due().await.unwrap(), Some(future(2)));
    assert_eq!((store.due_of(other).await.unwrap(), store.state(other).await.unwrap()), (vec![], Some(State::Active)));
    assert_eq!(store.claim_due(10, LONG).await.unwrap(), [], "none of it is due yet");
}

async fn a_game_is_armed_from_its_creation_on(shared: Shared) {
    let store = shared.store();
    let both = Arms { time: Some(future(7)), bot: Some(ms(3)) };
    let key = armed_game(store, both).await;
    let rows = [waits(DueKind::Bot, ms(3)), waits(DueKind::Time, future(7))];
    assert_eq!(store.due_of(key).await.unwrap(), rows);
    // One that comes with lines.
    let fork = new_key();
    let given = vec![Link { text: "2 given".to_owned(), digest: link(fork, 2) }];
    let game = NewGame { given, arms: both, ..new_game(fork, request(1)) };
    assert_eq!(store.create(game).await.unwrap(), Create::Created);
    assert_eq!(store.due_of(fork).await.unwrap(), rows);
}

async fn a_row_moves_earlier_and_never_later(shared: Shared) {
    let store = shared.store();
    let key = armed_game(store, Arms { time: Some(future(50)), bot: Some(future(9)) }).await;
    let mut seq = 2;
    for (armed, stands) in [(60, 50), (50, 50), (49, 49), (51, 49), (1, 1), (2, 1)] {
        arm(store, key, seq, time(future(armed))).await;
        assert_eq!(store.due_of(key).await.unwrap(), [waits(DueKind::Bot, future(9)), waits(DueKind::Time, future(stands))], "{armed}");
        seq += 1;
    }
    arm(store, key, seq, Arms { time: Some(ms(4)), bot: Some(future(10)) }).await;
    assert_eq!(store.due_of(key).await.unwrap(), [waits(DueKind::Bot, future(9)), waits(DueKind::Time, ms(4))]);
}

async fn what_is_not_stored_arms_and_disarms_nothing(shared: Shared) {
    let store = shared.store();
    let key = armed_game(store, time(future(50))).await;
    let first = arming(key, 2, Arms { time: Some(future(40)), bot: None });
    assert_eq!(store.append(first.clone()).await.unwrap(), Append::Stored);
    let rows = [waits(DueKind::Time, future(40))];
    let earlier = DueChange::Arm(Arms { time: Some(ms(1)), bot: Some(ms(1)) });
    for due in [earlier, DueChange::Disarm] {
        for state in [None, Some(State::Closed)] {
            let astray = NewEntry { previous: Digest::of(b"lost"), due, state, ..new_entry(key, 3, request(1)) };
            assert_eq!(store.append(astray).await.unwrap(), Append::Conflict);
            for seq in [2, 4] {
                let late = NewEntry { due, state, ..new_entry(key, seq, request(1)) };
                assert_eq!(store.append(late).await.unwrap(), Append::Conflict);
            }
            // The repeat may even have been decided anew, on a later head.
            for again in
                [NewEntry { due, state, ..first.clone() }, NewEntry { due, state, request: first.request, ..new_entry(key, 3, request(1)) }]
            {
                assert_eq!(store.append(again).await.unwrap(), Append::Repeated(stored(&first)));
            }
            let reused = RequestKey { hash: [9; 32], ..first.request };
            let reused = NewEntry { due, state, request: reused, ..new_entry(key, 3, request(1)) };
            assert_eq!(store.append(reused).await.unwrap(), Append::Reused(stored(&first)));
            let nowhere = NewEntry { due, state, ..new_entry(new_key(), 2, request(1)) };
            assert_eq!(store.append(nowhere.clone()).await.unwrap(), Append::Conflict);
            assert_eq!(store.due_of(nowhere.key).await.unwrap(), []);
            assert_eq!(store.due_of(key).await.unwrap(), rows);
            assert_eq!(store.state(key).await.unwrap(), Some(State::Active));
        }
    }
}

async fn a_repeated_creation_arms_nothing(shared: Shared) {
    let store = shared.store();
    let (key, asked) = (new_key(), request(1));
    let game = |key, asked, at| NewGame { arms: time(at), ..new_game(key, asked) };
    assert_eq!(store.create(game(key, asked, future(5))).await.unwrap(), Create::Created);
    for again in [key, new_key()] {
        assert_eq!(store.create(game(again, asked, ms(1))).await.unwrap(), Create::Repeated(key.game));
        let other = RequestKey { hash: [9; 32], ..asked };
        assert_eq!(store.create(game(again, other, ms(1))).await.unwrap(), Create::Reused(key.game));
    }
    store.create(game(key, request(1), ms(1))).await.unwrap_err();
    assert_eq!(store.next_due().await.unwrap(), Some(future(5)));
}

async fn the_end_of_a_game_disarms_it_and_no_other(shared: Shared) {
    let (store, tenant) = (shared.store(), shared.second_tenant().await);
    let arms = Arms { time: Some(future(1)), bot: Some(ms(1)) };
    for state in [None, Some(State::Closed)] {
        let (key, neighbour) = (armed_game(store, arms).await, armed_game(store, arms).await);
        let elsewhere = GameKey { tenant, ..key };
        store.create(NewGame { arms, ..new_game(elsewhere, request(0)) }).await.unwrap();
        let rows = store.due_of(key).await.unwrap();
        assert_eq!(rows.len(), 2);
        let end = NewEntry { due: DueChange::Disarm, state, ..new_entry(key, 2, request(1)) };
        assert_eq!(store.append(end).await.unwrap(), Append::Stored);
        assert_eq!(store.due_of(key).await.unwrap(), []);
        for other in [neighbour, elsewhere] {
            assert_eq!(store.due_of(other).await.unwrap(), rows);
        }
        // A game that goes on after all is armed as if for the first time.
        arm(store, key, 3, time(future(9))).await;
        assert_eq!(store.due_of(key).await.unwrap(), [waits(DueKind::Time, future(9))]);
    }
}

async fn what_is_due_is_claimed_in_the_order_of_its_times(shared: Shared) {
    let (store, tenant) = (shared.store(), shared.second_tenant().await);
    let third = armed_game(store, time(ms(3_000))).await;
    let first = armed_game(store, Arms { time: Some(future(1)), bot: Some(ms(1_000)) }).await;
    let second = GameKey { tenant, ..third };
    store.create(NewGame { arms: time(ms(2_000)), ..new_game(second, request(0)) }).await.unwrap();
    armed_game(store, Arms::NONE).await;

    let before = store.clock_unix_ms().await.unwrap();
    let mut claimed = store.claim_due(2, LONG).await.unwrap();
    assert_eq!(claimed.len(), 2);
    claimed.extend(store.claim_due(10, LONG).await.unwrap());
    let after = store.clock_unix_ms().await.unwrap();
    let found: Vec<_> = claimed.iter().map(|one| (one.key, one.due, one.attempts)).collect();
    let row = |game, kind, at| (DueKey { game, kind }, ms(at), 1);
    assert_eq!(found, [row(first, DueKind::Bot, 1_000), row(second, DueKind::Time, 2_000), row(third, DueKind::Time, 3_000)]);

    assert_eq!(shared.nodes[1].claim_due(10, LONG).await.unwrap(), [], "they are leased");
    let lease = LONG.as_millis() as u64;
    for (key, row) in [(first, 0), (second, 0), (third, 0)] {
        let leased = store.due_of(key).await.unwrap()[row];
        assert_eq!(leased.attempts, 1);
        assert!((before + lease..=after + lease).contains(&leased.at.unix_ms()), "{leased:?} of {before}..{after}");
    }
    assert_eq!(store.due_of(first).await.unwrap()[1], waits(DueKind::Time, future(1)), "the other kind is not touched");
}

async fn a_lease_that_is_over_is_claimed_again(shared: Shared) {
    let [one, two] = &shared.nodes;
    let key = armed_game(&**one, time(ms(1_000))).await;
    let mut before = claim_one(&**one, Duration::ZERO).await;
    assert_eq!((before.due, before.attempts), (ms(1_000), 1));
    for attempts in 2..5 {
        let again = claim_one(&**two, Duration::ZERO).await;
        assert_eq!((again.key, again.attempts), (before.key, attempts));
        assert!(again.token != before.token && again.due >= before.due);
        for next in [None, Some(ms(5))] {
            assert!(!one.settle_due(&before, next).await.unwrap(), "it is another's");
        }
        assert_eq!(two.due_of(key).await.unwrap()[0].attempts, attempts);
        before = again;
    }
    assert!(two.settle_due(&before, None).await.unwrap());
    assert_eq!(one.due_of(key).await.unwrap(), []);
}

async fn a_lease_that_is_over_and_nobody_elses_is_still_settled(shared: Shared) {
    let store = shared.store();
    let key = armed_game(store, time(ms(1_000))).await;
    let claimed = claim_one(store, Duration::ZERO).await;
    assert!(store.settle_due(&claimed, Some(future(2))).await.unwrap());
    assert_eq!(store.due_of(key).await.unwrap(), [waits(DueKind::Time, future(2))]);
}

async fn a_settled_row_is_put_off_or_gone(shared: Shared) {
    let store = shared.store();
    let key = armed_game(store, Arms { time: Some(ms(1_000)), bot: Some(future(1)) }).await;
    let claimed = claim_one(store, LONG).await;
    assert!(store.settle_due(&claimed, Some(ms(1_500))).await.unwrap());
    assert_eq!(store.due_of(key).await.unwrap(), [waits(DueKind::Bot, future(1)), waits(DueKind::Time, ms(1_500))]);
    assert!(!store.settle_due(&claimed, None).await.unwrap(), "a claim is settled once");
    let again = claim_one(store, LONG).await;
    assert_eq!((again.key, again.due, again.attempts), (claimed.key, ms(1_500), 1));
    // A token counts for its own row alone.
    for key in [DueKey { kind: DueKind::Bot, ..again.key }, DueKey { game: new_key(), ..again.key }] {
        assert!(!store.settle_due(&Claimed { key, ..again }, None).await.unwrap());
    }
    assert!(store.settle_due(&again, None).await.unwrap());
    assert_eq!(store.due_of(key).await.unwrap(), [waits(DueKind::Bot, future(1))]);
    assert!(!store.settle_due(&again, Some(ms(1))).await.unwrap(), "what is gone is not made again");
    assert_eq!(store.next_due().await.unwrap(), Some(future(1)));
}

async fn a_lease_is_made_longer_or_ended_by_its_claimer_alone(shared: Shared) {
    let [one, two] = &shared.nodes;
    let key = armed_game(&**one, time(ms(1_000))).await;
    let held = claim_one(&**one, Duration::ZERO).await;
    let before = one.clock_unix_ms().await.unwrap();
    assert!(one.hold_due(&held, LONG).await.unwrap());
    assert_eq!(two.claim_due(1, LONG).await.unwrap(), []);
    let row = one.due_of(key).await.unwrap()[0];
    assert!(row.attempts == 1 && row.at.unix_ms() >= before + LONG.as_millis() as u64, "{row:?}");
    assert!(one.hold_due(&held, Duration::ZERO).await.unwrap());
    let again = claim_one(&**two, LONG).await;
    assert_eq!((again.key, again.attempts), (held.key, 2));
    assert!(!one.hold_due(&held, LONG).await.unwrap(), "it is another's");
    assert!(two.settle_due(&again, None).await.unwrap());
    assert!(!two.hold_due(&again, LONG).await.unwrap(), "what is gone is not made again");
}

/// Whichever is earlier, the new time or the end of the lease: what the claimer decides is decided without the entry.
async fn whoever_arms_a_claimed_row_takes_the_claim_away(shared: Shared) {
    let [one, two] = &shared.nodes;
    for (armed, earlier) in [(ms(500), true), (future(1), false)] {
        for next in [None, Some(future(2))] {
            let key = armed_game(&**one, time(ms(1_000))).await;
            let claimed = claim_one(&**one, LONG).await;
            let leased = two.due_of(key).await.unwrap()[0].at;
            arm(&**two, key, 2, time(armed)).await;
            let stands = [waits(DueKind::Time, if earlier { armed } else { leased })];
            assert_eq!(one.due_of(key).await.unwrap(), stands);
            assert!(!one.settle_due(&claimed, next).await.unwrap());
            assert_eq!(one.due_of(key).await.unwrap(), stands);
            let due: Vec<_> = two.claim_due(10, LONG).await.unwrap().iter().map(|row| (row.key, row.due, row.attempts)).collect();
            assert_eq!(due, if earlier { vec![(claimed.key, armed, 1)] } else { vec![] });
        }
    }
}

/// Nor does it come back to life with a row of the same key.
async fn a_claim_outlives_no_row(shared: Shared) {
    let store = shared.store();
    let key = armed_game(store, time(ms(1_000))).await;
    let claimed = claim_one(store, LONG).await;
    let end = NewEntry { due: DueChange::Disarm, ..new_entry(key, 2, request(1)) };
    assert_eq!(store.append(end).await.unwrap(), Append::Stored);
    assert!(!store.settle_due(&claimed, Some(ms(1))).await.unwrap());
    assert_eq!(store.due_of(key).await.unwrap(), []);
    arm(store, key, 3, time(ms(1_000))).await;
    let again = claim_one(store, LONG).await;
    assert_eq!((again.key, again.due, again.attempts), (claimed.key, claimed.due, claimed.attempts));
    assert!(!store.settle_due(&claimed, None).await.unwrap());
    assert!(store.settle_due(&again, None).await.unwrap());
}

async fn every_time_of_a_book_comes_back(shared: Shared) {
    let store = shared.store();
    // The later ones are more microseconds than a float can count.
    let times = [0, 1, 999, 1_000, 1_595_989_123_456, 9_007_199_254_741, 9_007_199_254_993, 253_402_300_799_997, u64::MAX];
    for at in times {
        let key = armed_game(store, bot(ms(at))).await;
        assert_eq!(store.due_of(key).await.unwrap(), [waits(DueKind::Bot, ms(at))], "{at}");
    }
    assert_eq!(store.next_due().await.unwrap(), Some(ms(0)));
    let claimed = store.claim_due(100, Duration::MAX).await.unwrap();
    assert_eq!(claimed.iter().map(|one| one.due.unix_ms()).collect::<Vec<_>>(), times[..5]);
    for one in &claimed {
        assert!(store.settle_due(one, Some(ms(u64::MAX))).await.unwrap());
        assert_eq!(store.due_of(one.key.game).await.unwrap(), [waits(DueKind::Bot, ms(u64::MAX))]);
    }
    assert_eq!(store.next_due().await.unwrap(), Some(ms(times[5])));
}

async fn clocks_of_a_tenant_are_listed_the_soonest_first(shared: Shared) {
    let (store, tenant) = (shared.store(), shared.second_tenant().await);
    let mut soon = Vec::new();
    for at in [40, 10, 30, 20, 20, 20, 50] {
        let game = armed_game(store, Arms { time: Some(future(at)), bot: Some(ms(1)) }).await.game;
        soon.push(DueSoon { at: future(at), game });
    }
    soon.sort_unstable();
    armed_game(store, bot(future(15))).await;
    let elsewhere = GameKey { tenant, ..new_key() };
    store.create(NewGame { arms: time(future(15)), ..new_game(elsewhere, request(0)) }).await.unwrap();

    let default = TenantId::DEFAULT;
    assert_eq!(store.list_due(default, ms(u64::MAX), None, 100).await.unwrap(), soon);
    assert_eq!(store.list_due(default, future(40), None, 100).await.unwrap(), soon[..5], "before and not at");
    assert_eq!(store.list_due(default, future(10), None, 100).await.unwrap(), []);
    let other = [DueSoon { at: future(15), game: elsewhere.game }];
    assert_eq!(store.list_due(tenant, ms(u64::MAX), None, 100).await.unwrap(), other);
    let mut seen = Vec::new();
    loop {
        let page = store.list_due(default, future(50), seen.last().copied(), 2).await.unwrap();
        if page.is_empty() {
            break;
        }
        assert!(page.len() <= 2);
        seen.extend(page);
        assert!(seen.len() < soon.len(), "pages overlap: {seen:?}");
    }
    assert_eq!(seen, soon[..6]);
}

/// While somebody looks at a game, while its row is held, and once the claim was taken away.
async fn a_claimed_row_is_listed_at_its_time(shared: Shared) {
    let store = shared.store();
    let key = armed_game(store, time(ms(5))).await;
    let listed = async || {
        let all = store.list_due(TenantId::DEFAULT, ms(u64::MAX), None, 10).await.unwrap();
        assert_eq!(store.list_due(TenantId::DEFAULT, ms(6), None, 10).await.unwrap(), all);
        assert_eq!(store.list_due(TenantId::DEFAULT, ms(5), None, 10).await.unwrap(), []);
        all
    };
    let soon = [DueSoon { at: ms(5), game: key.game }];
    assert_eq!(listed().await, soon);
    let claim = claim_one(store, LONG).await;
    assert_eq!(listed().await, soon);
    assert!(store.hold_due(&claim, Duration::ZERO).await.unwrap());
    assert_eq!(listed().await, soon);
    claim_one(store, LONG).await;
    arm(store, key, 2, time(future(1))).await;
    assert_eq!(listed().await, soon, "not later than the true time");
}
