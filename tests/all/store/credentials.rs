//! Tenants and API keys: what is kept of them, and under whom it is found.

use std::collections::BTreeSet;

use plybook_core::{Time, Uuid};
use plybook_store::{ApiKey, ApiKeyId, TenantId};
use plybook_tests::postgres::empty_database;

use super::{AnyStore, on_both_stores};

on_both_stores![a_key_reads_back_as_it_was_made, tenants_have_names_and_numbers_once, a_key_is_its_tenant_s, what_is_revoked_stays_so];

fn at(seconds: u64) -> Time {
    Time::from_unix_ms(1_795_989_123_000 + seconds * 1_000 + 7)
}

fn key(tenant: TenantId, id: u64) -> ApiKey {
    ApiKey {
        id: ApiKeyId { tenant, id: format!("{id:016x}") },
        name: "svc/rooms".to_owned(),
        role: "service".to_owned(),
        game: None,
        seat: None,
        secret_hash: [9; 32],
        created: at(id),
        expires: None,
        revoked: None,
    }
}

async fn a_key_reads_back_as_it_was_made(store: AnyStore) {
    let tenant = store.create_tenant("shop").await.unwrap();
    let plain = key(tenant, 1);
    let bound = ApiKey { game: Some(Uuid::now_v7()), seat: Some(3), role: "seat".to_owned(), expires: Some(at(9)), ..key(tenant, 2) };
    for key in [&bound, &plain] {
        store.create_api_key(key).await.unwrap();
        assert_eq!(store.api_key(&key.id).await.unwrap().as_ref(), Some(key));
    }
    assert_eq!(store.api_keys(tenant).await.unwrap(), [plain.clone(), bound], "the oldest first");
    assert!(store.create_api_key(&plain).await.is_err(), "an id is given once");
}

async fn tenants_have_names_and_numbers_once(store: AnyStore) {
    assert_eq!(store.tenant("default").await.unwrap(), Some(TenantId::DEFAULT));
    assert_eq!(store.tenant("shop").await.unwrap(), None);
    let (one, two, three) = tokio::join!(store.create_tenant("shop"), store.create_tenant("other"), store.create_tenant("shop"));
    let (one, two, three) = (one.unwrap(), two.unwrap(), three.unwrap());
    assert_eq!(one, three);
    assert_eq!(BTreeSet::from([one, two]), BTreeSet::from([TenantId(2), TenantId(3)]));
    assert_eq!(store.tenant("shop").await.unwrap(), Some(one));
    let names: BTreeSet<String> = store.tenants().await.unwrap().into_iter().map(|tenant| tenant.name).collect();
    assert_eq!(names, ["default", "other", "shop"].map(str::to_owned).into());
}

async fn a_key_is_its_tenant_s(store: AnyStore) {
    let (one, other) = (store.create_tenant("one").await.unwrap(), store.create_tenant("other").await.unwrap());
    store.create_api_key(&key(one, 1)).await.unwrap();
    assert_eq!(store.api_key(&key(other, 1).id).await.unwrap(), None);
    assert_eq!(store.api_keys(other).await.unwrap(), []);
    assert!(!store.revoke_api_key(&key(other, 1).id, at(5)).await.unwrap());
    assert_eq!(store.api_key(&key(one, 1).id).await.unwrap().unwrap().revoked, None);
    assert!(store.create_api_key(&key(TenantId(99), 1)).await.is_err(), "a key is of a tenant that is there");
}

async fn what_is_revoked_stays_so(store: AnyStore) {
    let key = key(TenantId::DEFAULT, 1);
    store.create_api_key(&key).await.unwrap();
    for _ in 0..2 {
        assert!(store.revoke_api_key(&key.id, at(5)).await.unwrap());
    }
    store.revoke_api_key(&key.id, at(8)).await.unwrap();
    assert_eq!(store.api_key(&key.id).await.unwrap().unwrap().revoked, Some(at(5)), "the first time is the one that stays");
}

/// A server's own role was granted its tables before there were keys: it reads them without another grant.
#[tokio::test]
async fn a_role_of_before_reads_keys_after_the_migration() {
    const BEFORE: &str = include_str!("../../../migrations/postgres/0001_books.sql");
    const NOW: &str = include_str!("../../../migrations/postgres/0002_credentials.sql");
    let database = empty_database().await;
    database.execute("CREATE TABLE _sqlx_migrations (version bigint PRIMARY KEY)").await;
    database.execute(BEFORE).await;
    database.execute("CREATE ROLE plybook_before LOGIN; SELECT plybook_grant('plybook_before')").await;
    database.execute(NOW).await;
    database.execute("SET ROLE plybook_before; SELECT * FROM api_key").await;
    let refusal = database.try_execute("SET ROLE plybook_before; DELETE FROM api_key").await.unwrap_err();
    assert!(refusal.to_string().contains("permission denied"), "{refusal}");
}
