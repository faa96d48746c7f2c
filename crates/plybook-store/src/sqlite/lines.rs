//! Many lines at once: those that a game comes with, that no caller asked for one by one.
//!
//! Invariant: they go in inside the transaction that makes their game, so they are there with it or not at all;
//! many to a statement and in the order of every index, because every other write waits meanwhile.

use plybook_core::Seq;
use plybook_core::book::Link;
use sqlx::QueryBuilder;
use sqlx::sqlite::SqliteConnection;

use crate::foreign::request_of;
use crate::store::GameKey;

/// Entries in one statement.
const ENTRIES_AT_ONCE: usize = 200;

/// Writes these entries after entry `before`.
pub(super) async fn insert(transaction: &mut SqliteConnection, key: GameKey, before: usize, entries: &[Link]) -> Result<(), sqlx::Error> {
    for (page, entries) in entries.chunks(ENTRIES_AT_ONCE).enumerate() {
        let mut sql = QueryBuilder::new("INSERT INTO book_entry (tenant_id, game_id, seq, request_id, request_hash, digest, line) ");
        sql.push_values(entries.iter().zip((before + page * ENTRIES_AT_ONCE) as u32 + 1..), |mut row, (entry, seq)| {
            let request = request_of(Seq(seq), entry.digest);
            row.push_bind(key.tenant.0)
                .push_bind(key.game)
                .push_bind(i64::from(seq))
                .push_bind(request.id)
                .push_bind(request.hash.to_vec())
                .push_bind(entry.digest.0.to_vec())
                .push_bind(entry.text.as_str());
        });
        sql.build().execute(&mut *transaction).await?;
    }
    Ok(())
}
