//! The feed of a store: everything, once, in an order in which nothing is ever put in between.

use std::collections::{BTreeMap, BTreeSet};

use plybook_core::Seq;
use plybook_store::{Error, FeedCursor, FeedRow, GameKey, Store, StoredEntry, TenantId};

use super::{AnyStore, move_state, new_key, on_both_stores, open_game, play_to};

on_both_stores!(
    everything_comes_once_and_each_game_in_its_order,
    a_feed_goes_on_behind_any_of_its_entries,
    a_cursor_that_names_no_entry_is_told_apart,
    the_end_is_the_last_entry_that_is_shown,
    another_tenant_has_a_feed_of_its_own,
    headings_come_for_the_games_that_are_there
);

const ME: TenantId = TenantId::DEFAULT;

/// Everything behind a cursor, in pages.
async fn rest(store: &dyn Store, mut after: Option<FeedCursor>, limit: u32) -> Vec<FeedRow> {
    let mut rows = Vec::new();
    loop {
        let page = store.feed(ME, after.as_ref(), limit).await.unwrap();
        // Other tests write on the same cluster, and hide entries for a moment.
        let Some(last) = page.rows.last() else {
            if page.hidden_by.is_none() {
                return rows;
            }
            continue;
        };
        assert!(page.rows.len() <= limit as usize);
        after = Some(last.cursor);
        rows.extend(page.rows);
    }
}

fn entries(rows: &[FeedRow]) -> Vec<(GameKey, StoredEntry)> {
    rows.iter().map(|row| (row.key, row.entry.clone())).collect()
}

/// Three games, their moves interleaved.
async fn three_games(store: &dyn Store) -> Vec<(GameKey, StoredEntry)> {
    let mut keys = Vec::new();
    for _ in 0..3 {
        keys.push(open_game(store).await);
    }
    let mut stored: Vec<(GameKey, StoredEntry)> = Vec::new();
    for seq in 2..=5 {
        for key in &keys {
            move_state(store, *key, seq, plybook_store::State::Active).await;
        }
    }
    for key in keys {
        stored.extend(store.entries(key, Seq::ZERO, 100).await.unwrap().into_iter().map(|entry| (key, entry)));
    }
    stored
}

async fn everything_comes_once_and_each_game_in_its_order(store: AnyStore) {
    let empty = store.feed(ME, None, 10).await.unwrap();
    assert_eq!((empty.rows, empty.hidden_by), (Vec::new(), None), "nothing is there to be hidden");
    let stored = three_games(store.as_ref()).await;
    for limit in [1, 2, 7, 100] {
        let rows = rest(store.as_ref(), None, limit).await;
        let mut sorted = entries(&rows);
        sorted.sort_by_key(|(key, entry)| (*key, entry.seq));
        let mut wanted = stored.clone();
        wanted.sort_by_key(|(key, entry)| (*key, entry.seq));
        assert_eq!(sorted, wanted);
        let mut seen: BTreeMap<GameKey, u32> = BTreeMap::new();
        for row in &rows {
            let last = seen.entry(row.key).or_default();
            assert_eq!(row.entry.seq.0, *last + 1);
            *last += 1;
        }
        assert!(rows.is_sorted_by(|one, next| one.cursor < next.cursor));
    }
}

async fn a_feed_goes_on_behind_any_of_its_entries(store: AnyStore) {
    three_games(store.as_ref()).await;
    let whole = rest(store.as_ref(), None, 100).await;
    for (at, row) in whole.iter().enumerate() {
        let cursor = FeedCursor::from_bytes(&row.cursor.to_bytes()).unwrap();
        assert_eq!(rest(store.as_ref(), Some(cursor), 3).await, whole[at + 1..]);
    }
}

async fn a_cursor_that_names_no_entry_is_told_apart(store: AnyStore) {
    three_games(store.as_ref()).await;
    let whole = rest(store.as_ref(), None, 100).await;
    let bytes = whole[7].cursor.to_bytes();
    // Another place, another digest: whatever a byte is of, no entry has all of it.
    for at in 1..bytes.len() {
        let mut other = bytes.clone();
        other[at] ^= 0x40;
        let cursor = FeedCursor::from_bytes(&other).unwrap();
        let answer = store.feed(ME, Some(&cursor), 10).await;
        assert!(matches!(answer, Err(Error::Expired)), "byte {at}: {answer:?}");
    }
}

async fn the_end_is_the_last_entry_that_is_shown(store: AnyStore) {
    assert_eq!(store.feed_end(ME).await.unwrap(), None);
    let key = open_game(store.as_ref()).await;
    for last in 2..5 {
        move_state(store.as_ref(), key, last, plybook_store::State::Active).await;
        let shown = rest(store.as_ref(), None, 100).await;
        let end = store.feed_end(ME).await.unwrap();
        assert_eq!((shown.len() as u32, end), (last, shown.last().map(|row| row.cursor)));
        assert_eq!(rest(store.as_ref(), end, 10).await, []);
    }
}

async fn another_tenant_has_a_feed_of_its_own(store: AnyStore) {
    three_games(store.as_ref()).await;
    let cursor = rest(store.as_ref(), None, 100).await[3].cursor;
    let other = TenantId(77);
    assert_eq!(store.feed(other, None, 100).await.unwrap().rows, []);
    assert_eq!(store.feed_end(other).await.unwrap(), None);
    assert!(matches!(store.feed(other, Some(&cursor), 100).await, Err(Error::Expired)));
}

async fn headings_come_for_the_games_that_are_there(store: AnyStore) {
    let (one, two) = (open_game(store.as_ref()).await, open_game(store.as_ref()).await);
    play_to(store.as_ref(), one, 3).await;
    let nobody = new_key().game;
    let headings = store.headings(ME, &[two.game, nobody, one.game]).await.unwrap();
    let games: BTreeSet<_> = headings.iter().map(|heading| heading.game).collect();
    assert_eq!(games, [one.game, two.game].into());
    for heading in headings {
        let key = GameKey { tenant: ME, game: heading.game };
        assert_eq!(vec![heading.header], store.entries(key, Seq::ZERO, 1).await.unwrap());
        assert_eq!(heading.foreign, None);
    }
}
