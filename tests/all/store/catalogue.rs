//! The schema distributes: what the catalogue of a migrated database says of its keys.
//!
//! Invariant: a table that another database could not keep in pieces, by tenant, is one of the few that stay in one.

use plybook_tests::postgres::{TestDatabase, database};

/// Small tables that concern all tenants, and none of which a move touches: they stay in one piece.
const SINGLE: [&str; 4] = ["tenant", "heartbeat", "outage", "_sqlx_migrations"];

/// A sentence for each table without a tenant, each unique key, unique index or exclusion that does not begin with the
/// tenant, and each foreign key that does not carry it: pieces of a table know nothing of each other's rows.
async fn what_breaks_the_rule(database: &TestDatabase) -> Vec<String> {
    let single = SINGLE.map(|table| format!("'{table}'")).join(", ");
    let rule = format!(
        "WITH tables AS (
             SELECT c.oid, c.relname FROM pg_catalog.pg_class c
             WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND c.relname NOT IN ({single})
         ), tenants AS (
             SELECT t.oid, t.relname, a.attnum FROM tables t
             LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = t.oid AND a.attname = 'tenant_id' AND a.attnotnull
         )
         SELECT format('table %s has no tenant_id that is never NULL', relname) FROM tenants WHERE attnum IS NULL
         UNION ALL
         SELECT format('%s of table %s is unique over all tenants: tenant_id is not its first column', i.indexrelid::regclass, t.relname)
         FROM tenants t JOIN pg_catalog.pg_index i ON i.indrelid = t.oid
         WHERE (i.indisunique OR i.indisexclusion) AND i.indkey[0] IS DISTINCT FROM t.attnum
         UNION ALL
         SELECT format('%s of table %s leads to rows of any tenant: tenant_id is none of its columns', k.conname, t.relname)
         FROM tenants t JOIN pg_catalog.pg_constraint k ON k.conrelid = t.oid
         WHERE k.contype = 'f' AND NOT coalesce(t.attnum = ANY (k.conkey), false)
         ORDER BY 1"
    );
    database.column(&rule).await
}

#[tokio::test]
async fn every_key_carries_the_tenant() {
    let database = database().await;
    assert_eq!(what_breaks_the_rule(&database).await, <[&str; 0]>::default());
    let tables = "SELECT relname::text FROM pg_catalog.pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')";
    let there = database.column(tables).await;
    for table in SINGLE.iter().chain(&["game", "book_entry", "book_entry_rest", "due"]) {
        assert!(there.iter().any(|there| there == table), "the catalogue is read, and {table} is in it");
    }
}

#[tokio::test]
async fn a_table_that_breaks_the_rule_is_named() {
    let database = database().await;
    database
        .execute(
            "CREATE TABLE note (id int PRIMARY KEY, tenant_id int REFERENCES tenant (id));
             CREATE TABLE mark (tenant_id int NOT NULL, game_id uuid NOT NULL, due_of int REFERENCES note (id),
                 PRIMARY KEY (tenant_id, game_id), UNIQUE (game_id, tenant_id), EXCLUDE USING hash (due_of WITH =));
             CREATE UNIQUE INDEX mark_once ON mark (lower(game_id::text));
             CREATE INDEX mark_by_note ON mark (due_of);
             CREATE UNIQUE INDEX due_of_all ON due (due_at)",
        )
        .await;
    assert_eq!(
        what_breaks_the_rule(&database).await,
        [
            "due_of_all of table due is unique over all tenants: tenant_id is not its first column",
            "mark_due_of_excl of table mark is unique over all tenants: tenant_id is not its first column",
            "mark_due_of_fkey of table mark leads to rows of any tenant: tenant_id is none of its columns",
            "mark_game_id_tenant_id_key of table mark is unique over all tenants: tenant_id is not its first column",
            "mark_once of table mark is unique over all tenants: tenant_id is not its first column",
            "note_pkey of table note is unique over all tenants: tenant_id is not its first column",
            "note_tenant_id_fkey of table note leads to rows of any tenant: tenant_id is none of its columns",
            "table note has no tenant_id that is never NULL",
        ]
    );
}

/// The sweepers' index is over all tenants, since sweeping belongs to none of them, and so it must promise nothing.
#[tokio::test]
async fn the_index_of_what_is_due_is_no_key() {
    let database = database().await;
    let unique = "SELECT indisunique::text FROM pg_catalog.pg_index WHERE indexrelid = 'due_soonest'::regclass";
    assert_eq!(database.column(unique).await, ["false"]);
}
