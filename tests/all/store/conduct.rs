//! One caller at a time: what is stored, and what is said of what is not.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use plybook_core::limits::LINE_BYTES_MAX;
use plybook_core::{Digest, Seed, Seq, Uuid};
use plybook_store::{Append, Create, Error, Filter, GameKey, NewEntry, NewGame, RequestKey, State, TenantId};

use super::{AnyStore, link, new_entry, new_game, new_key, on_both_stores, open_game, play_to, request, stored, stored_header};
use plybook_tests::patience::PATIENCE;

on_both_stores![
    a_book_reads_back_as_it_was_written,
    a_book_is_read_in_pages,
    an_unknown_game_has_nothing,
    an_entry_follows_the_last_one_or_conflicts,
    an_entry_is_chained_to_the_stored_one_or_conflicts,
    a_repeated_append_gets_the_first_answer,
    a_repeated_append_gets_it_after_later_entries_too,
    a_reused_request_id_is_refused,
    the_creations_request_id_counts_in_its_game,
    the_same_request_id_may_serve_in_another_game,
    a_repeated_creation_gets_the_first_game,
    a_game_id_is_not_given_twice,
    the_longest_line_fits,
    a_longer_line_is_refused,
    tenants_do_not_see_each_other,
    the_clock_is_the_real_one,
    a_fresh_store_is_ready,
    an_abandoned_append_is_finished,
    a_closed_store_is_unavailable,
];

async fn a_book_reads_back_as_it_was_written(store: AnyStore) {
    let key = new_key();
    let game = NewGame { seed: Seed::new([3; 32]), ..new_game(key, request(5)) };
    assert_eq!(store.create(game.clone()).await.unwrap(), Create::Created);
    assert_eq!(store.last(key).await.unwrap(), Some(stored_header(&game)));
    let entries = play_to(&*store, key, 4).await;

    let mut book = vec![stored_header(&game)];
    book.extend(entries.iter().map(stored));
    assert_eq!(store.entries(key, Seq::ZERO, 100).await.unwrap(), book);
    assert_eq!(store.last(key).await.unwrap().as_ref(), book.last());
    assert_eq!(store.seed(key).await.unwrap(), Some(Seed::new([3; 32])));
    assert_eq!(store.find_creation(key.tenant, game.request.id).await.unwrap(), Some((key.game, [5; 32])));
    let second = &entries[1];
    assert_eq!(store.find_request(key, second.request.id).await.unwrap(), Some((stored(second), second.request.hash)));
}

async fn a_book_is_read_in_pages(store: AnyStore) {
    let key = open_game(&*store).await;
    play_to(&*store, key, 7).await;
    let mut seen = Vec::new();
    loop {
        let after = seen.last().copied().unwrap_or(Seq::ZERO);
        let page = store.entries(key, after, 3).await.unwrap();
        assert!(page.len() <= 3);
        if page.is_empty() {
            break;
        }
        seen.extend(page.iter().map(|entry| entry.seq));
        assert!(seen.len() <= 7, "pages overlap: {seen:?}");
    }
    assert_eq!(seen, (1..=7).map(Seq).collect::<Vec<_>>());
    assert_eq!(store.entries(key, Seq(u32::MAX), 3).await.unwrap(), []);
}

async fn an_unknown_game_has_nothing(store: AnyStore) {
    let key = new_key();
    assert_eq!(store.entries(key, Seq::ZERO, 10).await.unwrap(), []);
    assert_eq!(store.last(key).await.unwrap(), None);
    assert_eq!(store.seed(key).await.unwrap(), None);
    assert_eq!(store.find_request(key, Uuid::new_v4()).await.unwrap(), None);
    assert_eq!(store.find_creation(key.tenant, Uuid::new_v4()).await.unwrap(), None);
    for seq in [0, 1, 2] {
        assert_eq!(store.append(new_entry(key, seq, request(1))).await.unwrap(), Append::Conflict, "{seq}");
    }
    assert_eq!(store.last(key).await.unwrap(), None);
}

async fn an_entry_follows_the_last_one_or_conflicts(store: AnyStore) {
    let key = open_game(&*store).await;
    play_to(&*store, key, 4).await;
    for wrong in [0, 1, 2, 3, 4, 6, 7, i32::MAX as u32, u32::MAX] {
        assert_eq!(store.append(new_entry(key, wrong, request(1))).await.unwrap(), Append::Conflict, "{wrong}");
    }
    assert_eq!(store.last(key).await.unwrap().unwrap().seq, Seq(4));
    assert_eq!(store.append(new_entry(key, 5, request(1))).await.unwrap(), Append::Stored);
}

/// A node that remembers an entry which the store has lost must not go on from it.
async fn an_entry_is_chained_to_the_stored_one_or_conflicts(store: AnyStore) {
    let key = open_game(&*store).await;
    let lost = Digest::of(b"lost");
    for state in [None, Some(State::Closed)] {
        for seq in [2, 3] {
            let astray = NewEntry { previous: lost, state, ..new_entry(key, seq, request(1)) };
            assert_eq!(store.append(astray).await.unwrap(), Append::Conflict, "{seq} {state:?}");
        }
        assert_eq!(store.last(key).await.unwrap().unwrap().seq, Seq::FIRST);
    }
    let entries = play_to(&*store, key, 3).await;
    // The digest of an entry that is stored, but not of the one before.
    for stale in [link(key, 1), link(key, 2)] {
        let astray = NewEntry { previous: stale, ..new_entry(key, 4, request(1)) };
        assert_eq!(store.append(astray).await.unwrap(), Append::Conflict);
    }
    // A request that was answered is known by its id, even to a node that went astray.
    let again = NewEntry { previous: lost, ..entries[1].clone() };
    assert_eq!(store.append(again).await.unwrap(), Append::Repeated(stored(&entries[1])));
    let reused = NewEntry { previous: lost, request: RequestKey { hash: [9; 32], ..entries[1].request }, ..entries[1].clone() };
    assert_eq!(store.append(reused).await.unwrap(), Append::Reused(stored(&entries[1])));
    assert_eq!(store.append(new_entry(key, 4, request(1))).await.unwrap(), Append::Stored);
}

async fn a_repeated_append_gets_the_first_answer(store: AnyStore) {
    let key = open_game(&*store).await;
    let first = new_entry(key, 2, request(1));
    assert_eq!(store.append(first.clone()).await.unwrap(), Append::Stored);
    // Decided again a moment later: another time in the line, and so another digest.
    let again = NewEntry { line: "2 later".to_owned(), digest: Digest::of(b"later"), ..first.clone() };
    assert_eq!(store.append(again).await.unwrap(), Append::Repeated(stored(&first)));
    assert_eq!(store.entries(key, Seq::FIRST, 10).await.unwrap(), [stored(&first)]);
}

async fn a_repeated_append_gets_it_after_later_entries_too(store: AnyStore) {
    let key = open_game(&*store).await;
    let entries = play_to(&*store, key, 5).await;
    for seq in [3, 4, 6, 9] {
        let again = NewEntry { seq: Seq(seq), ..entries[1].clone() };
        assert_eq!(store.append(again).await.unwrap(), Append::Repeated(stored(&entries[1])), "{seq}");
    }
    assert_eq!(store.last(key).await.unwrap(), Some(stored(&entries[3])));
}

async fn a_reused_request_id_is_refused(store: AnyStore) {
    let key = open_game(&*store).await;
    let entries = play_to(&*store, key, 3).await;
    for seq in [2, 3, 4, 8] {
        let other = NewEntry { request: RequestKey { hash: [9; 32], ..entries[0].request }, ..new_entry(key, seq, request(1)) };
        assert_eq!(store.append(other).await.unwrap(), Append::Reused(stored(&entries[0])), "{seq}");
    }
    assert_eq!(store.last(key).await.unwrap(), Some(stored(&entries[1])));
}

async fn the_creations_request_id_counts_in_its_game(store: AnyStore) {
    let key = new_key();
    let game = new_game(key, request(5));
    store.create(game.clone()).await.unwrap();
    let move_with_its_id = new_entry(key, 2, RequestKey { hash: [6; 32], ..game.request });
    assert_eq!(store.append(move_with_its_id).await.unwrap(), Append::Reused(stored_header(&game)));
}

async fn the_same_request_id_may_serve_in_another_game(store: AnyStore) {
    let (one, two) = (open_game(&*store).await, open_game(&*store).await);
    let shared = request(1);
    assert_eq!(store.append(new_entry(one, 2, shared)).await.unwrap(), Append::Stored);
    assert_eq!(store.append(new_entry(two, 2, shared)).await.unwrap(), Append::Stored);
}

async fn a_repeated_creation_gets_the_first_game(store: AnyStore) {
    let key = new_key();
    let creation = request(5);
    assert_eq!(store.create(new_game(key, creation)).await.unwrap(), Create::Created);
    // With the same id, and with another one minted by another node.
    for again in [key, new_key()] {
        assert_eq!(store.create(new_game(again, creation)).await.unwrap(), Create::Repeated(key.game));
        let reused = RequestKey { hash: [6; 32], ..creation };
        assert_eq!(store.create(new_game(again, reused)).await.unwrap(), Create::Reused(key.game));
        if again != key {
            assert_eq!(store.last(again).await.unwrap(), None);
            assert_eq!(store.seed(again).await.unwrap(), None);
        }
    }
    assert_eq!(store.last(key).await.unwrap().unwrap().seq, Seq::FIRST);
}

async fn a_game_id_is_not_given_twice(store: AnyStore) {
    let key = new_key();
    let first = new_game(key, request(1));
    store.create(first.clone()).await.unwrap();
    let answer = store.create(NewGame { header: "another".to_owned(), ..new_game(key, request(1)) }).await;
    assert!(matches!(answer, Err(Error::Failed(_))), "{answer:?}");
    assert_eq!(store.entries(key, Seq::ZERO, 10).await.unwrap(), [stored_header(&first)]);
}

/// Letters without a pattern, so that no compression makes room for them.
fn noise(bytes: usize) -> String {
    let mut text = String::new();
    while text.len() < bytes {
        text.push_str(&Digest::of(text.as_bytes()).0.iter().map(|byte| char::from(b' ' + byte % 95)).collect::<String>());
    }
    text.truncate(bytes);
    text
}

async fn the_longest_line_fits(store: AnyStore) {
    let key = new_key();
    let header = NewGame { header: noise(LINE_BYTES_MAX), ..new_game(key, request(1)) };
    assert_eq!(store.create(header.clone()).await.unwrap(), Create::Created);
    let line = NewEntry { line: noise(LINE_BYTES_MAX), ..new_entry(key, 2, request(1)) };
    assert_eq!(store.append(line.clone()).await.unwrap(), Append::Stored);
    assert_eq!(store.entries(key, Seq::ZERO, 10).await.unwrap(), [stored_header(&header), stored(&line)]);
}

async fn a_longer_line_is_refused(store: AnyStore) {
    let key = open_game(&*store).await;
    for line in [noise(LINE_BYTES_MAX + 1), String::new()] {
        let answer = store.append(NewEntry { line, ..new_entry(key, 2, request(1)) }).await;
        assert!(matches!(answer, Err(Error::Failed(_))), "{answer:?}");
    }
    assert_eq!(store.last(key).await.unwrap().unwrap().seq, Seq::FIRST);
    let other = new_key();
    for header in [noise(LINE_BYTES_MAX + 1), String::new()] {
        let answer = store.create(NewGame { header, ..new_game(other, request(1)) }).await;
        assert!(matches!(answer, Err(Error::Failed(_))), "{answer:?}");
    }
    assert_eq!(store.last(other).await.unwrap(), None);
    assert_eq!(store.seed(other).await.unwrap(), None);
}

async fn tenants_do_not_see_each_other(store: AnyStore) {
    let key = new_key();
    let game = new_game(key, request(1));
    store.create(game.clone()).await.unwrap();
    let stranger = GameKey { tenant: TenantId(2), ..key };
    assert_eq!(store.entries(stranger, Seq::ZERO, 10).await.unwrap(), []);
    assert_eq!(store.last(stranger).await.unwrap(), None);
    assert_eq!(store.seed(stranger).await.unwrap(), None);
    assert_eq!(store.find_request(stranger, game.request.id).await.unwrap(), None);
    assert_eq!(store.find_creation(stranger.tenant, game.request.id).await.unwrap(), None);
    assert_eq!(store.list(stranger.tenant, &Filter::default(), None, 10).await.unwrap(), []);
    assert_eq!(store.append(new_entry(stranger, 2, request(1))).await.unwrap(), Append::Conflict);
    let unknown_tenant = store.create(new_game(GameKey { tenant: TenantId(2), ..new_key() }, request(1))).await;
    assert!(matches!(unknown_tenant, Err(Error::Failed(_))), "{unknown_tenant:?}");
}

async fn the_clock_is_the_real_one(store: AnyStore) {
    let ours = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as u64;
    let before = ours();
    let theirs = store.clock_unix_ms().await.unwrap();
    // Both read the same machine's clock; each may round down a millisecond.
    assert!(before <= theirs + 1 && theirs <= ours() + 1, "{before} {theirs}");
}

async fn a_fresh_store_is_ready(store: AnyStore) {
    store.ready().await.unwrap();
}

/// The caller goes away as soon as the append began; the line is stored all the same.
async fn an_abandoned_append_is_finished(store: AnyStore) {
    let key = open_game(&*store).await;
    let entry = new_entry(key, 2, request(1));
    {
        let append = store.append(entry.clone());
        tokio::pin!(append);
        let _began = futures::poll!(append);
    }
    let deadline = Instant::now() + PATIENCE;
    while store.last(key).await.unwrap() != Some(stored(&entry)) {
        assert!(Instant::now() < deadline, "the append never arrived");
    }
    assert_eq!(store.append(entry.clone()).await.unwrap(), Append::Repeated(stored(&entry)));
}

async fn a_closed_store_is_unavailable(store: AnyStore) {
    let key = open_game(&*store).await;
    store.close().await;
    let answer = store.append(new_entry(key, 2, request(1))).await;
    assert!(matches!(answer, Err(Error::Unavailable(_))), "{answer:?}");
    let answer = store.last(key).await;
    assert!(matches!(answer, Err(Error::Unavailable(_))), "{answer:?}");
}
