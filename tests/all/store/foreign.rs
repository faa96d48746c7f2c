//! Books that were played elsewhere: kept whole or not at all, and told from the others.

use std::collections::BTreeSet;
use std::time::Instant;

use plybook_core::book::Link;
use plybook_core::limits::LINE_BYTES_MAX;
use plybook_core::{Digest, Seq, Time};
use plybook_store::{
    Append, Error, Filter, Foreign, ForeignBook, GameKey, Import, Sqlite, SqliteOptions, State, Store, StoredEntry, TenantId,
};
use plybook_tests::postgres;
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, SqliteConnection};

use super::{AnyStore, new_entry, new_key, on_both_stores, open_game, play_to, request};

on_both_stores![
    a_foreign_book_reads_back_as_it_came,
    a_list_tells_foreign_games,
    the_same_file_again_is_repeated_and_another_is_refused,
    a_game_of_ones_own_is_not_written_over,
    a_book_imported_many_times_at_once_is_there_once,
    a_book_that_does_not_fit_leaves_nothing,
    moves_go_on_while_a_long_book_is_imported,
    an_abandoned_import_is_finished,
    a_foreign_book_is_its_tenants,
];

fn foreign() -> Foreign {
    let imported = Time::from_unix_ms(1_795_989_999_007);
    Foreign { imported, by: "arbiter@example.org".to_owned(), signature: Some(format!("0011223344556677 {}", "ab".repeat(64))) }
}

/// A book of so many lines: whether they mean anything is nobody's question here.
pub(super) fn book(key: GameKey, lines: u32) -> ForeignBook {
    let mut links: Vec<Link> = Vec::new();
    for seq in 1..=lines {
        let text = if seq == 1 { format!("plybook 1\ngame {}", key.game) } else { format!("{seq} what was played") };
        let digest = links.last().map_or_else(|| Digest::of(text.as_bytes()), |last| last.digest.chain(&text));
        links.push(Link { text, digest });
    }
    ForeignBook {
        key,
        links,
        created: Time::from_unix_ms(1_795_989_123_456),
        ruleset: "chess".to_owned(),
        ruleset_version: 7,
        players: vec!["ann".to_owned(), "bob".to_owned(), "ann".to_owned(), String::new()],
        state: State::Finished,
        foreign: foreign(),
    }
}

async fn whole(store: &dyn Store, key: GameKey) -> Vec<StoredEntry> {
    let mut entries: Vec<StoredEntry> = Vec::new();
    loop {
        let page = store.entries(key, entries.last().map_or(Seq::ZERO, |last| last.seq), 5_000).await.unwrap();
        if page.is_empty() {
            return entries;
        }
        entries.extend(page);
    }
}

async fn is_not_there(store: &dyn Store, key: GameKey) {
    assert_eq!(store.foreign(key).await.unwrap(), None);
    assert_eq!(store.last(key).await.unwrap(), None);
    assert_eq!(store.list(key.tenant, &Filter::default(), None, 10).await.unwrap(), []);
}

async fn a_foreign_book_reads_back_as_it_came(store: AnyStore) {
    for (lines, signature) in [(1, None), (2, foreign().signature), (1_203, None)] {
        let key = new_key();
        let mut book = book(key, lines);
        book.foreign.signature = signature;
        assert_eq!(store.import(book.clone()).await.unwrap(), Import::Imported);
        let entries = whole(&*store, key).await;
        let read: Vec<Link> = entries.iter().map(|entry| Link { text: entry.line.clone(), digest: entry.digest }).collect();
        assert_eq!(read, book.links);
        assert_eq!(store.last(key).await.unwrap().as_ref(), entries.last());
        assert_eq!(store.foreign(key).await.unwrap(), Some(book.foreign));
        assert_eq!(store.seed(key).await.unwrap(), None, "only its book may tell it");

        let ids: BTreeSet<_> = entries.iter().map(|entry| entry.request_id).collect();
        assert_eq!(ids.len(), lines as usize);
        assert!(ids.iter().all(|id| id.get_version_num() == 8));
        let last = entries.last().unwrap();
        assert_eq!(store.find_request(key, last.request_id).await.unwrap(), Some((last.clone(), last.digest.0)));
        let first = &entries[0];
        assert_eq!(store.find_creation(key.tenant, first.request_id).await.unwrap(), Some((key.game, first.digest.0)));
    }
}

async fn a_list_tells_foreign_games(store: AnyStore) {
    let (own, key) = (open_game(&*store).await, new_key());
    store.import(book(key, 3)).await.unwrap();
    let list = store.list(TenantId::DEFAULT, &Filter::default(), None, 10).await.unwrap();
    let told: Vec<_> = list.iter().map(|summary| (summary.game, summary.state, summary.foreign.clone())).collect();
    assert_eq!(told, [(key.game, State::Finished, Some(foreign())), (own.game, State::Active, None)]);
    assert_eq!(list[0].last.as_ref().unwrap().seq, Seq(3));
    let of = |player: Option<&str>, ruleset: Option<&str>, state| Filter {
        player: player.map(str::to_owned),
        ruleset: ruleset.map(str::to_owned),
        state,
    };
    for (filter, found) in [
        (of(Some("bob"), Some("chess"), Some(State::Finished)), true),
        (of(Some("ann"), None, None), true),
        (of(Some("eve"), None, None), false),
        (of(None, Some("chess"), Some(State::Closed)), false),
    ] {
        let list = store.list(TenantId::DEFAULT, &filter, None, 10).await.unwrap();
        assert_eq!(list.iter().any(|summary| summary.game == key.game), found, "{filter:?}");
    }
    assert_eq!(store.foreign(own).await.unwrap(), None);
    assert_eq!(store.foreign(new_key()).await.unwrap(), None);
}

async fn the_same_file_again_is_repeated_and_another_is_refused(store: AnyStore) {
    let key = new_key();
    let first = book(key, 5);
    assert_eq!(store.import(first.clone()).await.unwrap(), Import::Imported);
    let later = Foreign { imported: Time::from_unix_ms(9), by: "somebody".to_owned(), ..foreign() };
    assert_eq!(store.import(ForeignBook { foreign: later, ..first.clone() }).await.unwrap(), Import::Repeated);
    assert_eq!(store.foreign(key).await.unwrap(), Some(foreign()), "as it was imported first");

    let unsigned = ForeignBook { foreign: Foreign { signature: None, ..foreign() }, ..first.clone() };
    let mut altered = first.clone();
    let text = "5 what was not played".to_owned();
    altered.links[4] = Link { digest: altered.links[3].digest.chain(&text), text };
    for other in [unsigned, altered, book(key, 4), book(key, 6)] {
        assert_eq!(store.import(other).await.unwrap(), Import::Exists);
    }
    assert_eq!(whole(&*store, key).await.len(), 5);
}

async fn a_game_of_ones_own_is_not_written_over(store: AnyStore) {
    let key = open_game(&*store).await;
    let played = play_to(&*store, key, 3).await;
    assert_eq!(store.import(book(key, 3)).await.unwrap(), Import::Exists);
    assert_eq!(store.foreign(key).await.unwrap(), None);
    assert_eq!(whole(&*store, key).await.len(), 3);
    assert_eq!(store.last(key).await.unwrap().unwrap().digest, played[1].digest);
    assert_eq!(store.append(new_entry(key, 4, request(1))).await.unwrap(), Append::Stored);
}

async fn a_book_imported_many_times_at_once_is_there_once(store: AnyStore) {
    let key = new_key();
    let imports = (0..6).map(|_| store.import(book(key, 2_000)));
    let answers: Vec<Import> = futures::future::join_all(imports).await.into_iter().map(Result::unwrap).collect();
    assert_eq!(answers.iter().filter(|answer| **answer == Import::Imported).count(), 1, "{answers:?}");
    assert_eq!(answers.iter().filter(|answer| **answer == Import::Repeated).count(), 5, "{answers:?}");
    assert_eq!(whole(&*store, key).await.len(), 2_000);
}

/// The line that does not fit is in a later statement than the game and the first lines.
async fn a_book_that_does_not_fit_leaves_nothing(store: AnyStore) {
    let key = new_key();
    for line in ["x".repeat(LINE_BYTES_MAX + 1), String::new()] {
        let mut book = book(key, 1_500);
        book.links[1_400].text = line;
        let answer = store.import(book).await;
        assert!(matches!(answer, Err(Error::Failed(_))), "{answer:?}");
        is_not_there(&*store, key).await;
    }
    let nothing = ForeignBook { links: Vec::new(), ..book(key, 1) };
    assert!(matches!(store.import(nothing).await, Err(Error::Failed(_))));
    is_not_there(&*store, key).await;
    assert_eq!(store.import(book(key, 1_500)).await.unwrap(), Import::Imported);
}

async fn moves_go_on_while_a_long_book_is_imported(store: AnyStore) {
    let (own, key) = (open_game(&*store).await, new_key());
    let importing = tokio::spawn({
        let store = store.clone();
        async move { store.import(book(key, 20_000)).await.unwrap() }
    });
    let mut seq = 1;
    while !importing.is_finished() || seq < 20 {
        seq += 1;
        assert_eq!(store.append(new_entry(own, seq, request(1))).await.unwrap(), Append::Stored, "{seq}");
        let there = store.last(key).await.unwrap();
        assert!(there.is_none_or(|last| last.seq == Seq(20_000)), "nobody sees a part of it");
    }
    assert_eq!(importing.await.unwrap(), Import::Imported);
    assert_eq!(whole(&*store, key).await.len(), 20_000);
}

async fn an_abandoned_import_is_finished(store: AnyStore) {
    let key = new_key();
    {
        let import = store.import(book(key, 1_000));
        tokio::pin!(import);
        let _began = futures::poll!(import);
    }
    let deadline = Instant::now() + plybook_tests::patience::PATIENCE;
    while store.foreign(key).await.unwrap().is_none() {
        assert!(Instant::now() < deadline, "the import never arrived");
    }
    assert_eq!(store.import(book(key, 1_000)).await.unwrap(), Import::Repeated);
}

async fn a_foreign_book_is_its_tenants(store: AnyStore) {
    let key = new_key();
    store.import(book(key, 3)).await.unwrap();
    is_not_there(&*store, GameKey { tenant: TenantId(2), ..key }).await;
}

const CHANGES: [&str; 3] =
    ["UPDATE foreign_book SET signature = NULL", "UPDATE foreign_book SET imported_by = 'me'", "DELETE FROM foreign_book"];

#[tokio::test]
async fn the_mark_of_a_foreign_book_never_changes_in_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("books.db");
    let store = Sqlite::open(&SqliteOptions::new(&path)).await.unwrap();
    let key = new_key();
    store.import(book(key, 3)).await.unwrap();
    let mut behind = SqliteConnection::connect(&format!("sqlite://{}", path.display())).await.unwrap();
    let replacing = "REPLACE INTO foreign_book SELECT tenant_id, game_id, imported_at, 'me', NULL FROM foreign_book";
    for sql in CHANGES.into_iter().chain([replacing]) {
        let refusal = behind.execute(AssertSqlSafe(sql)).await.expect_err(sql).to_string();
        assert!(refusal.contains("never changes"), "{sql}: {refusal}");
    }
    assert_eq!(store.foreign(key).await.unwrap(), Some(foreign()));
}

/// Nor may the server's role, which imports, do more.
#[tokio::test]
async fn the_mark_of_a_foreign_book_never_changes_in_postgres() {
    let database = postgres::database().await;
    database.execute("CREATE ROLE plybook_importer LOGIN; SELECT plybook_grant('plybook_importer')").await;
    let url = database.url.replace("//plybook@", "//plybook_importer@");
    let store = plybook_store::Postgres::connect(&plybook_store::PostgresOptions::new(&url)).await.unwrap();
    let key = new_key();
    assert_eq!(store.import(book(key, 3)).await.unwrap(), Import::Imported);
    for sql in CHANGES.into_iter().chain(["TRUNCATE foreign_book"]) {
        let refusal = database.try_execute(sql).await.expect_err(sql);
        assert_eq!(refusal.as_database_error().unwrap().code().unwrap(), "23001", "{sql}: {refusal}");
        let refusal = database.try_execute(&format!("SET ROLE plybook_importer; {sql}")).await.expect_err(sql);
        assert_eq!(refusal.as_database_error().unwrap().code().unwrap(), "42501", "{sql}: {refusal}");
    }
    assert_eq!(store.foreign(key).await.unwrap(), Some(foreign()));
}
