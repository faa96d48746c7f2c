//! Many lines at once: those that a game comes with, that no caller asked for one by one.
//!
//! Invariant: they go in inside the transaction that makes their game, so they are there with it or not at all; no
//! statement is longer than a page of them.

use plybook_core::Seq;
use plybook_core::book::Link as Entry;
use sqlx::query;

use super::Question;
use super::manner::Manner;
use crate::foreign::request_of;
use crate::store::GameKey;

/// Entries in one statement: a few hundred KiB of text at most, and a few milliseconds.
const ENTRIES_AT_ONCE: usize = 500;

const ENTRIES: &str = "
    INSERT INTO book_entry (tenant_id, game_id, seq, request_id, request_hash, digest, line)
    SELECT $1::int, $2::uuid, $3::int + e.place::int, e.request_id, e.digest, e.digest, e.line
    FROM unnest($4::uuid[], $5::bytea[], $6::text[]) WITH ORDINALITY AS e (request_id, digest, line, place)";

/// Writes these entries after entry `before`.
pub(super) async fn insert(
    transaction: &mut sqlx::Transaction<'_, sqlx::Postgres>,
    manner: &Manner,
    key: GameKey,
    before: usize,
    entries: &[Entry],
) -> Result<(), sqlx::Error> {
    for (number, entries) in entries.chunks(ENTRIES_AT_ONCE).enumerate() {
        manner.row_of(transaction, page(key, before + number * ENTRIES_AT_ONCE, entries)).await?;
    }
    Ok(())
}

fn page(key: GameKey, before: usize, entries: &[Entry]) -> Question<'_> {
    query(ENTRIES)
        .bind(key.tenant.0)
        .bind(key.game)
        .bind(i32::try_from(before).unwrap_or(i32::MAX))
        .bind(entries.iter().zip(before as u32 + 1..).map(|(entry, seq)| request_of(Seq(seq), entry.digest).id).collect::<Vec<_>>())
        .bind(entries.iter().map(|entry| &entry.digest.0[..]).collect::<Vec<_>>())
        .bind(entries.iter().map(|entry| entry.text.as_str()).collect::<Vec<_>>())
}
