//! Snapshots: found by their key, replaced, and lost without harm.

use plybook_core::limits::SNAPSHOT_BYTES_MAX;
use plybook_core::{Digest, Seq};
use plybook_store::{Error, GameKey, Nearest, Postgres, PostgresOptions, Snapshot, Store as _, TenantId};
use plybook_tests::postgres;

use super::{AnyStore, new_key, on_both_stores, open_game};

on_both_stores![
    the_latest_snapshot_that_is_not_after_an_entry_is_found,
    a_snapshot_takes_the_place_of_the_one_before,
    builds_keep_their_snapshots_beside_each_other,
    a_snapshot_that_is_too_large_is_refused,
    a_snapshot_needs_no_game_and_no_other_tenant_sees_it,
];

fn snapshot(format: u16, seq: u32, byte: u8) -> Snapshot {
    Snapshot { format, seq: Seq(seq), digest: Digest::of(&[byte]), bytes: vec![byte; 2_000] }
}

async fn the_latest_snapshot_that_is_not_after_an_entry_is_found(store: AnyStore) {
    let key = open_game(&*store).await;
    assert_eq!(store.snapshot(key, 1, Seq(u32::MAX)).await.unwrap(), Nearest::Nothing);
    for seq in [1_024, 3_072, 2_048] {
        store.save_snapshot(key, snapshot(1, seq, 7)).await.unwrap();
    }
    for (at_most, found) in [(1_024, 1_024), (1_025, 1_024), (2_047, 1_024), (2_048, 2_048), (3_071, 2_048), (u32::MAX, 3_072)] {
        assert_eq!(store.snapshot(key, 1, Seq(at_most)).await.unwrap(), Nearest::Found(snapshot(1, found, 7)), "{at_most}");
    }
    assert_eq!(store.snapshot(key, 1, Seq(1_023)).await.unwrap(), Nearest::Nothing);
}

async fn a_snapshot_takes_the_place_of_the_one_before(store: AnyStore) {
    let key = open_game(&*store).await;
    for byte in [1, 2, 2, 3] {
        store.save_snapshot(key, snapshot(1, 1_024, byte)).await.unwrap();
        assert_eq!(store.snapshot(key, 1, Seq(1_024)).await.unwrap(), Nearest::Found(snapshot(1, 1_024, byte)));
    }
    // The digest alone may be another, or the bytes.
    for other in
        [Snapshot { bytes: vec![0, 255, 0], ..snapshot(1, 1_024, 3) }, Snapshot { digest: Digest::of(b"other"), ..snapshot(1, 1_024, 3) }]
    {
        store.save_snapshot(key, other.clone()).await.unwrap();
        assert_eq!(store.snapshot(key, 1, Seq(1_024)).await.unwrap(), Nearest::Found(other));
    }
}

async fn builds_keep_their_snapshots_beside_each_other(store: AnyStore) {
    let key = open_game(&*store).await;
    for format in [1, 3] {
        store.save_snapshot(key, snapshot(format, 2_048, format as u8)).await.unwrap();
    }
    store.save_snapshot(key, snapshot(u16::MAX, 1_024, 9)).await.unwrap();
    for format in [1, 3] {
        assert_eq!(store.snapshot(key, format, Seq(4_000)).await.unwrap(), Nearest::Found(snapshot(format, 2_048, format as u8)));
    }
    assert_eq!(store.snapshot(key, 1, Seq(2_000)).await.unwrap(), Nearest::OtherFormat(u16::MAX));
    assert!(matches!(store.snapshot(key, 2, Seq(4_000)).await.unwrap(), Nearest::OtherFormat(1 | 3 | u16::MAX)));
    assert_eq!(store.snapshot(key, 2, Seq(1_000)).await.unwrap(), Nearest::Nothing);
}

async fn a_snapshot_that_is_too_large_is_refused(store: AnyStore) {
    let key = open_game(&*store).await;
    let sized = |bytes| Snapshot { bytes: vec![1; bytes], ..snapshot(1, 1_024, 1) };
    store.save_snapshot(key, sized(SNAPSHOT_BYTES_MAX)).await.unwrap();
    let refused = store.save_snapshot(key, sized(SNAPSHOT_BYTES_MAX + 1)).await.unwrap_err();
    assert!(matches!(refused, Error::Failed(_)), "{refused}");
    assert_eq!(store.snapshot(key, 1, Seq(1_024)).await.unwrap(), Nearest::Found(sized(SNAPSHOT_BYTES_MAX)));
}

async fn a_snapshot_needs_no_game_and_no_other_tenant_sees_it(store: AnyStore) {
    let key = new_key();
    store.save_snapshot(key, snapshot(1, 1_024, 1)).await.unwrap();
    let elsewhere = GameKey { tenant: TenantId(2), ..key };
    for other in [elsewhere, new_key()] {
        assert_eq!(store.snapshot(other, 1, Seq(4_000)).await.unwrap(), Nearest::Nothing);
    }
    store.save_snapshot(elsewhere, snapshot(1, 1_024, 2)).await.unwrap();
    assert_eq!(store.snapshot(key, 1, Seq(4_000)).await.unwrap(), Nearest::Found(snapshot(1, 1_024, 1)));
}

/// The server's role may do with snapshots what it must, and leaves their removal to the owner; a crash of
/// the database empties a table of which nothing depends on its content.
#[tokio::test]
async fn the_servers_role_saves_snapshots() {
    let database = postgres::database().await;
    database.execute("CREATE ROLE plybook_saver LOGIN; SELECT plybook_grant('plybook_saver')").await;
    let url = database.url.replace("//plybook@", "//plybook_saver@");
    let store = Postgres::connect(&PostgresOptions::new(&url)).await.unwrap();
    let key = open_game(&store).await;
    for byte in [1, 2] {
        store.save_snapshot(key, snapshot(1, 1_024, byte)).await.unwrap();
        assert_eq!(store.snapshot(key, 1, Seq(1_024)).await.unwrap(), Nearest::Found(snapshot(1, 1_024, byte)));
    }
    for sql in ["DELETE FROM snapshot", "TRUNCATE snapshot", "DROP TABLE snapshot"] {
        let refusal = database.try_execute(&format!("SET ROLE plybook_saver; {sql}")).await.expect_err(sql);
        assert_eq!(refusal.as_database_error().unwrap().code().unwrap(), "42501", "{sql}: {refusal}");
    }
    assert_eq!(database.column("SELECT relpersistence::text FROM pg_class WHERE relname = 'snapshot'").await, ["u"]);
}
