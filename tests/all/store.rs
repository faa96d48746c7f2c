//! What both stores promise, and what each promises alone.

mod batches;
mod catalogue;
mod conduct;
mod credentials;
mod due;
mod due_model;
mod due_outages;
mod due_racing;
mod due_stores;
mod feed;
mod feed_horizon;
mod foreign;
mod given;
mod lists;
mod oldest;
mod packed;
mod partitions;
mod postgres;
mod racing;
mod refusals;
mod replicas;
mod signed;
mod snapshots;
mod sqlite;
pub(crate) mod wakes;

use std::sync::Arc;

use plybook_core::{Digest, Seed, Seq, Time, Uuid};
use plybook_store::{
    Append, Arms, Create, DueChange, GameKey, NewEntry, NewGame, RequestKey, Sqlite, SqliteOptions, State, Store, StoredEntry, TenantId,
};

/// Runs each behaviour once over SQLite, once over Postgres, and once over Postgres behind PgBouncer.
macro_rules! on_both_stores {
    ($($behaviour:ident),+ $(,)?) => {
        mod on_sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $behaviour() {
                let folder = tempfile::tempdir().unwrap();
                super::$behaviour(crate::store::sqlite_in(folder.path()).await).await;
            })+
        }
        mod on_postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $behaviour() {
                let database = plybook_tests::postgres::database().await;
                super::$behaviour(std::sync::Arc::new(database.store().await)).await;
            })+
        }
        mod on_postgres_behind_a_pooler {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $behaviour() {
                let database = plybook_tests::postgres::database().await;
                super::$behaviour(std::sync::Arc::new(database.pooled_store().await)).await;
            })+
        }
    };
}
use on_both_stores;
use plybook_tests::patience::PATIENCE;

type AnyStore = Arc<dyn Store>;

async fn sqlite_in(folder: &std::path::Path) -> AnyStore {
    Arc::new(Sqlite::open(&SqliteOptions { busy_timeout: PATIENCE, ..SqliteOptions::new(folder.join("books.db")) }).await.unwrap())
}

fn new_key() -> GameKey {
    GameKey { tenant: TenantId::DEFAULT, game: Uuid::now_v7() }
}

/// A request with a body: the same number, the same body.
fn request(body: u8) -> RequestKey {
    RequestKey { id: Uuid::new_v4(), hash: [body; 32] }
}

fn new_game(key: GameKey, request: RequestKey) -> NewGame {
    NewGame {
        key,
        request,
        digest: link(key, 1),
        header: format!("plybook 1\ngame {}", key.game),
        seed: Seed::new([7; 32]),
        created: Time::from_unix_ms(1_795_989_123_456),
        ruleset: "mnk".to_owned(),
        ruleset_version: 3,
        players: vec!["ann".to_owned(), "bob".to_owned()],
        given: Vec::new(),
        arms: Arms::NONE,
    }
}

/// What stands for the digest of an entry: a chain that anybody can go on with.
fn link(key: GameKey, seq: u32) -> Digest {
    Digest::of(format!("{} {seq}", key.game).as_bytes())
}

fn new_entry(key: GameKey, seq: u32, request: RequestKey) -> NewEntry {
    let line = format!("{seq} move {}", request.id);
    NewEntry {
        key,
        seq: Seq(seq),
        previous: link(key, seq.saturating_sub(1)),
        request,
        digest: link(key, seq),
        line,
        state: None,
        due: DueChange::Keep,
        notary: None,
    }
}

/// The entry as a reader must find it.
fn stored(entry: &NewEntry) -> StoredEntry {
    StoredEntry { seq: entry.seq, line: entry.line.clone(), digest: entry.digest, request_id: entry.request.id }
}

fn stored_header(game: &NewGame) -> StoredEntry {
    StoredEntry { seq: Seq::FIRST, line: game.header.clone(), digest: game.digest, request_id: game.request.id }
}

/// A game of one header.
async fn open_game(store: &dyn Store) -> GameKey {
    let key = new_key();
    assert_eq!(store.create(new_game(key, request(0))).await.unwrap(), Create::Created);
    key
}

/// Appends entries up to this number.
async fn play_to(store: &dyn Store, key: GameKey, last: u32) -> Vec<NewEntry> {
    let mut entries = Vec::new();
    for seq in 2..=last {
        let entry = new_entry(key, seq, request(1));
        assert_eq!(store.append(entry.clone()).await.unwrap(), Append::Stored);
        entries.push(entry);
    }
    entries
}

/// Appends one entry that changes the state.
async fn move_state(store: &dyn Store, key: GameKey, seq: u32, state: State) {
    let entry = NewEntry { state: Some(state), ..new_entry(key, seq, request(1)) };
    assert_eq!(store.append(entry).await.unwrap(), Append::Stored);
}
