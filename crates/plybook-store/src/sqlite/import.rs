//! A book that was played elsewhere, in one transaction.
//!
//! Invariant: it is there whole or not at all. There is one writer, so other writes wait for it: rows go in many
//! to a statement, and in the order of every index. Reads go on meanwhile.

use sqlx::sqlite::{SqliteConnection, SqlitePool};
use sqlx::{Executor, Sqlite, query};

use super::write::{BEGIN, fits, seat_players};
use super::{lines, read};
use crate::error::Error;
use crate::fault::classify;
use crate::foreign::{Foreign, ForeignBook, Import};
use crate::row::{Columns, state_column};
use crate::store::{GameKey, RequestKey};

pub(super) async fn import(writer: &SqlitePool, book: &ForeignBook) -> Result<Import, Error> {
    // Before the lock is taken, for the others' sake.
    let creation = book.request()?;
    book.links.iter().try_for_each(|link| fits(&link.text))?;
    let mut transaction = writer.begin_with(BEGIN).await.map_err(classify)?;
    if let Some(last) = read::last(&mut *transaction, book.key).await? {
        let foreign = foreign(&mut *transaction, book.key).await?;
        return Ok(book.beside(foreign, Some(last)));
    }
    insert(&mut transaction, book, creation).await.map_err(classify)?;
    transaction.commit().await.map_err(classify)?;
    Ok(Import::Imported)
}

async fn insert(transaction: &mut SqliteConnection, book: &ForeignBook, creation: RequestKey) -> Result<(), sqlx::Error> {
    query(
        "INSERT INTO game (tenant_id, id, request_id, request_hash, ruleset, ruleset_version, created_at, state)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
    )
    .bind(book.key.tenant.0)
    .bind(book.key.game)
    .bind(creation.id)
    .bind(&creation.hash[..])
    .bind(&book.ruleset)
    .bind(i64::from(book.ruleset_version))
    .bind(book.created.to_string())
    .bind(state_column(book.state))
    .execute(&mut *transaction)
    .await?;
    seat_players(transaction, book.key, &book.players).await?;
    query("INSERT INTO foreign_book (tenant_id, game_id, imported_at, imported_by, signature) VALUES ($1, $2, $3, $4, $5)")
        .bind(book.key.tenant.0)
        .bind(book.key.game)
        .bind(book.foreign.imported.to_string())
        .bind(&book.foreign.by)
        .bind(&book.foreign.signature)
        .execute(&mut *transaction)
        .await?;
    lines::insert(transaction, book.key, 0, &book.links).await
}

pub(super) async fn foreign(file: impl Executor<'_, Database = Sqlite>, key: GameKey) -> Result<Option<Foreign>, Error> {
    let row = query(
        "SELECT imported_at AS foreign_imported_at, imported_by AS foreign_imported_by, signature AS foreign_signature
         FROM foreign_book WHERE tenant_id = $1 AND game_id = $2",
    )
    .bind(key.tenant.0)
    .bind(key.game)
    .fetch_optional(file)
    .await
    .map_err(classify)?;
    row.map_or(Ok(None), |row| row.foreign())
}
