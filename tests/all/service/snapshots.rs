//! Snapshots of long games: what a cold node reads of a book, and what it does with snapshots that are of
//! no use.

use std::time::{Duration, Instant};

use plybook_core::game::SNAPSHOT_FORMAT;
use plybook_core::limits::HISTORY_STEP;
use plybook_core::{Digest, Seq};
use plybook_proto::v1::{self, Action, MakeMoveRequest};
use plybook_server::games::snapshots::Fate;
use plybook_server::limits::{PAGE_ENTRIES, SNAPSHOTS_QUEUED};
use plybook_store::{GameKey, Nearest, Snapshot, Store, TenantId};
use plybook_tests::injected::{Call, Fault, Local, over, over_sqlite};
use plybook_tests::long;
use plybook_tests::refused::Refused;
use plybook_tests::wire::PlayedGame;
use sqlx::{AssertSqlSafe, Connection as _, SqliteConnection};

/// Five steps and a little more.
const ENTRIES: u32 = 5 * HISTORY_STEP + 80;
/// What a cold node may read: from a snapshot to the next, and a few to see where it is; at the head first a page.
const BOUND: u64 = HISTORY_STEP as u64 + 8;

fn key(id: &str) -> GameKey {
    GameKey { tenant: TenantId::DEFAULT, game: id.parse().unwrap() }
}

/// Another node over the same store, which knows nothing.
async fn cold(local: &Local) -> Local {
    over(local.store.inner()).start().await
}

/// Waits until a node has come to this so often.
async fn until(local: &Local, fate: Fate, count: u64) {
    let began = Instant::now();
    while local.snapshots(fate) < count {
        assert!(began.elapsed() < Duration::from_secs(300), "{} times {fate:?}, not {count}", local.snapshots(fate));
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// The answer for an entry, or for the head, and how many entries were read for it.
async fn read(local: &Local, id: &str, at: Option<u64>) -> (v1::Game, u64) {
    let before = local.store.entries_read();
    let game = local.wire().await.try_get(id, at).await.unwrap();
    (game, local.store.entries_read() - before)
}

/// A long game with all its snapshots, through a node that made them and remembers it.
async fn long_game() -> (Local, String) {
    let local = over_sqlite().await.start().await;
    let id = long::book(&local.file(), ENTRIES).await;
    read(&local, &id, Some(u64::from(ENTRIES))).await;
    until(&local, Fate::Saved, 5).await;
    (local, id)
}

async fn execute(local: &Local, sql: &str) {
    let mut connection = SqliteConnection::connect(&format!("sqlite://{}", local.file().display())).await.unwrap();
    sqlx::query(AssertSqlSafe(sql.to_owned())).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

async fn kept(store: &dyn Store, id: &str, at_most: u32) -> Snapshot {
    match store.snapshot(key(id), SNAPSHOT_FORMAT, Seq(at_most)).await.unwrap() {
        Nearest::Found(snapshot) => snapshot,
        other => panic!("no snapshot at or before {at_most}: {other:?}"),
    }
}

fn place(cell: u32) -> Option<Action> {
    Some(Action { shape: Some(v1::action::Shape::Place(v1::Place { cell })) })
}

/// Moves of the seats in turn to these cells; the requests that made them.
async fn places(game: &mut PlayedGame, cells: std::ops::Range<u32>) -> Vec<MakeMoveRequest> {
    let mut sent = Vec::new();
    for cell in cells {
        let request = MakeMoveRequest { action: place(cell), ..game.asks("") };
        game.sends(request.clone()).await.unwrap();
        sent.push(request);
    }
    sent
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_73_a_cold_node_reads_a_bounded_part_of_a_long_book() {
    let (warm, id) = long_game().await;
    let folded = over(warm.store.inner()).start().await;
    folded.store.breaks(Call::Snapshot, Fault::Away);
    for at in [1, 2, 1_023, 1_024, 1_025, 2_047, 3_000, 5_119, 5_120].map(Some).into_iter().chain([None]) {
        let node = cold(&warm).await;
        let (game, entries) = read(&node, &id, at).await;
        assert!(entries <= BOUND + if at.is_none() { u64::from(PAGE_ENTRIES) } else { 0 }, "{entries} entries for {at:?}");
        assert_eq!(game, read(&folded, &id, at).await.0, "{at:?}");
        assert_eq!(node.snapshots(Fate::Restored), u64::from(at.is_none_or(|at| at >= 1_024)), "{at:?}");
        assert_eq!(node.snapshots(Fate::Saved), 0, "what is there is not made again");
    }
    assert!(folded.snapshots(Fate::Unreadable) > 0, "without snapshots it is folded");
    let wire = cold(&warm).await.wire().await;
    Refused::by(wire.try_get(&id, Some(u64::from(ENTRIES) + 1)).await).with("CURSOR_BEYOND_HEAD").meta("head_seq", ENTRIES);
    Refused::by(wire.try_get(&id, Some(1_000_000_000)).await).with("CURSOR_BEYOND_HEAD").meta("head_seq", ENTRIES);
}

/// Does this to every snapshot of a game.
async fn spoil(local: &Local, id: &str, how: &str) {
    match how {
        "missing" => return execute(local, "DELETE FROM snapshot").await,
        "older build" | "newer build" => {
            let by = if how == "older build" { "-" } else { "+" };
            execute(local, &format!("DELETE FROM snapshot WHERE format <> {SNAPSHOT_FORMAT}")).await;
            return execute(local, &format!("UPDATE snapshot SET format = format {by} 1")).await;
        }
        _ => {}
    }
    let store = local.store.inner();
    for step in 1..=5 {
        let mut snapshot = kept(&*store, id, step * HISTORY_STEP).await;
        match how {
            "a byte" => snapshot.bytes[200] ^= 1,
            "cut" => snapshot.bytes.truncate(150),
            "empty" => snapshot.bytes.clear(),
            "another digest" => snapshot.digest = Digest::of(b"another"),
            "of another entry" if step > 1 => snapshot.bytes = kept(&*store, id, HISTORY_STEP).await.bytes,
            "of another entry" => snapshot.digest = Digest::of(b"another"),
            "format inside" => {
                snapshot.bytes[17] += 1;
                let packed = snapshot.bytes.len() - 32;
                let sum = Digest::of(&snapshot.bytes[..packed]);
                snapshot.bytes[packed..].copy_from_slice(&sum.0);
            }
            other => panic!("{other}"),
        }
        store.save_snapshot(key(id), snapshot).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_43_snapshots_of_no_use_are_ignored_counted_and_made_anew() {
    let (warm, id) = long_game().await;
    let (at, head) = (read(&warm, &id, Some(5_125)).await.0, read(&warm, &id, None).await.0);
    for (how, fate) in [
        ("a byte", Fate::Corrupt),
        ("cut", Fate::Corrupt),
        ("empty", Fate::Corrupt),
        ("format inside", Fate::OtherFormat),
        ("older build", Fate::OtherFormat),
        ("newer build", Fate::OtherFormat),
        ("another digest", Fate::OtherDigest),
        ("of another entry", Fate::OtherDigest),
        ("missing", Fate::Missing),
    ] {
        spoil(&warm, &id, how).await;
        let node = cold(&warm).await;
        assert_eq!(read(&node, &id, Some(5_125)).await.0, at, "{how}");
        assert_eq!(read(&cold(&warm).await, &id, None).await.0, head, "{how}");
        assert!(node.snapshots(fate) >= 1, "{how}: {fate:?} is counted");
        until(&node, Fate::Saved, 5).await;
        let next = cold(&warm).await;
        let (again, entries) = read(&next, &id, Some(5_125)).await;
        assert_eq!((again, next.snapshots(Fate::Restored)), (at.clone(), 1), "{how}");
        assert!(entries <= BOUND, "{how}: {entries} entries after they were made anew");
    }
}

/// Only the last one is wrong: the one before serves, and the last is made anew.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_earlier_snapshot_serves_where_the_latest_is_damaged() {
    let (warm, id) = long_game().await;
    let good = kept(&*warm.store.inner(), &id, u32::MAX).await;
    let mut bad = good.clone();
    bad.bytes[100] ^= 1;
    warm.store.inner().save_snapshot(key(&id), bad).await.unwrap();
    let node = cold(&warm).await;
    let (game, entries) = read(&node, &id, Some(5_125)).await;
    assert_eq!(game, read(&warm, &id, Some(5_125)).await.0);
    assert!(entries <= 2 * BOUND, "{entries} entries");
    assert_eq!((node.snapshots(Fate::Corrupt), node.snapshots(Fate::Restored)), (1, 1));
    until(&node, Fate::Saved, 1).await;
    assert_eq!(kept(&*warm.store.inner(), &id, u32::MAX).await, good);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn short_games_cost_nothing_more() {
    let local = over_sqlite().await.start().await;
    let id = long::book(&local.file(), 400).await;
    let node = cold(&local).await;
    for at in [Some(1), Some(399), None] {
        read(&node, &id, at).await;
    }
    places(&mut node.wire().await.open(&id).await, 900_000..900_005).await;
    assert_eq!((node.store.count(Call::Snapshot), node.store.count(Call::SaveSnapshot)), (0, 0));
}

/// The store of snapshots is away, hangs, or panics: nothing but snapshots is lost.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_move_neither_waits_for_a_snapshot_nor_fails_with_it() {
    for fault in [Fault::Away, Fault::Failed, Fault::Panic, Fault::Held] {
        let local = over_sqlite().await.start().await;
        let id = long::book(&local.file(), 1_020).await;
        local.store.breaks(Call::SaveSnapshot, fault);
        local.store.breaks(Call::Snapshot, Fault::Failed);
        let mut game = local.wire().await.open(&id).await;
        places(&mut game, 900_000..900_010).await;
        assert_eq!(game.now().await.seq, 1_030);
        read(&local, &id, Some(1_029)).await;
        if !matches!(fault, Fault::Held) {
            until(&local, Fate::Unsaved, 1).await;
        }
    }
}

/// A saver that hangs: what finds no room is dropped and counted.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn snapshots_that_find_no_room_are_dropped() {
    let local = over_sqlite().await.limits(|limits| limits.history_cache_bytes = 0).start().await;
    let id = long::book(&local.file(), 1_030).await;
    local.store.breaks(Call::SaveSnapshot, Fault::Held);
    // One is being saved, and so many wait.
    for asked in 1..=SNAPSHOTS_QUEUED as u64 + 3 {
        read(&local, &id, Some(1_025)).await;
        assert!(local.snapshots(Fate::Dropped) <= asked.saturating_sub(SNAPSHOTS_QUEUED as u64));
    }
    assert!(local.snapshots(Fate::Dropped) >= 2);
}

/// A node that knows a game only from a snapshot answers what was asked long before, as any other would.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_from_before_a_snapshot_gets_its_first_answer() {
    let local = over_sqlite().await.start().await;
    let id = long::book(&local.file(), 600).await;
    let mut game = local.wire().await.open(&id).await;
    let sent = places(&mut game, 900_000..900_003).await;
    // Left at 603; what follows is as if others had played it.
    let answers = local.wire().await.history(&id).await.split_off(600);
    places(&mut game, 910_000..910_600).await;
    until(&local, Fate::Saved, 1).await;
    let node = cold(&local).await;
    let wire = node.wire().await;
    let there = game.through(&wire);
    assert_eq!(there.now().await.seq, 1_203);
    assert_eq!(node.snapshots(Fate::Restored), 1);
    for (request, first) in sent.iter().zip(&answers) {
        let again = wire.games().make_move(request.clone()).await.unwrap().into_inner();
        assert_eq!(again.event.as_deref(), Some(first));
        let other = MakeMoveRequest { action: place(5), ..request.clone() };
        there.refuses_move(other).await.with("REQUEST_ID_REUSED").meta("original_seq", first.seq);
        let now = MakeMoveRequest { action: place(999_999), expected_seq: Some(1_203), seat: there.to_move, ..request.clone() };
        there.refuses_move(now).await.with("REQUEST_ID_REUSED").meta("original_seq", first.seq);
    }
    let unknown = MakeMoveRequest { expected_seq: Some(600), ..there.asks("a1") };
    there.refuses_move(unknown).await.with("STALE_SEQ").meta("head_seq", 1_203);
    assert_eq!(there.now().await.seq, 1_203);
}

/// Far below the snapshot's floor, by a hundred moves at a time, and up again; refusals are the same too.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn moves_are_taken_back_below_a_snapshots_floor() {
    let (warm, id) = long_game().await;
    let node = cold(&warm).await;
    let (mut here, there) = (node.wire().await.open(&id).await, warm.wire().await);
    assert_eq!((node.snapshots(Fate::Restored), node.snapshots(Fate::Missing)), (1, 0));
    for round in 1..=12 {
        // So far the standing move number n was made by entry n + 1.
        let target = ENTRIES - 100 * round + 1;
        let too_far = |game: &PlayedGame| game.asks_undo(target % 2, Some(u64::from(target) - 1));
        for refused in [here.refuses_undo(too_far(&here)).await, here.through(&there).refuses_undo(too_far(&here)).await] {
            refused.with("LIMIT_EXCEEDED").meta("limit", "undo_plies");
        }
        here.takes_back(target % 2, u64::from(target)).await;
        if round % 4 == 0 {
            assert_eq!(here.now().await, there.get(&id).await, "round {round}");
        }
    }
    places(&mut here, 900_000..900_020).await;
    assert_eq!(here.now().await, there.get(&id).await);
    there.proves(&id).await;
    // And read by those who were not there: an undo far down has snapshots of its own.
    until(&node, Fate::Saved, 5).await;
    let head = here.head;
    let folded = over(warm.store.inner()).start().await;
    folded.store.breaks(Call::Snapshot, Fault::Away);
    for at in [u64::from(ENTRIES), u64::from(ENTRIES) + 1, u64::from(ENTRIES) + 7, u64::from(ENTRIES) + 12, head] {
        let (game, entries) = read(&cold(&warm).await, &id, Some(at)).await;
        assert_eq!(game, read(&folded, &id, Some(at)).await.0, "entry {at}");
        assert!(entries <= BOUND, "{entries} entries for {at}");
    }
}

/// A book that a restore or a failover took back leaves snapshots of what is lost: nobody goes on from them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_snapshot_of_a_lost_future_is_not_believed() {
    let warm = over_sqlite().await.start().await;
    let id = long::book(&warm.file(), 1_010).await;
    let backup = warm.backup().await;
    places(&mut warm.wire().await.open(&id).await, 100_000..100_030).await;
    until(&warm, Fate::Saved, 1).await;
    let lost = kept(&*warm.store.inner(), &id, u32::MAX).await;
    assert_eq!(lost.seq, Seq(1_024));
    // The cache survived where the book did not.
    backup.save_snapshot(key(&id), lost.clone()).await.unwrap();

    let early = over(backup.clone()).start().await;
    assert_eq!(read(&early, &id, None).await.0.seq, 1_010);
    Refused::by(early.wire().await.try_get(&id, Some(1_024)).await).with("CURSOR_BEYOND_HEAD").meta("head_seq", 1_010);
    assert_eq!(early.snapshots(Fate::OtherDigest), 2, "there is no such entry");

    let other = over(backup.clone()).start().await;
    other.store.breaks(Call::SaveSnapshot, Fault::Away);
    places(&mut other.wire().await.open(&id).await, 200_000..200_030).await;
    until(&other, Fate::Unsaved, 1).await;
    warm.store.becomes(backup.clone());
    for at in [Some(1_024), Some(1_030), None] {
        let node = over(backup.clone()).start().await;
        backup.save_snapshot(key(&id), lost.clone()).await.unwrap();
        let (game, _) = read(&node, &id, at).await;
        assert_eq!(game, read(&other, &id, at).await.0, "{at:?}");
        assert_eq!(game, read(&warm, &id, at).await.0, "a node that remembers what is lost: {at:?}");
        assert_eq!(node.snapshots(Fate::OtherDigest), 1, "{at:?}");
        until(&node, Fate::Saved, 1).await;
        assert_ne!(kept(&*backup, &id, u32::MAX).await.digest, lost.digest, "made anew");
    }
}
