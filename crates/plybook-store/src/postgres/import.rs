//! A book that was played elsewhere, in one transaction.
//!
//! Invariant: the row of `game` comes first, so that of two imports of one game the second waits for the first
//! and then finds it; no statement is longer than a page of entries, and no lock is taken that a move needs.

use sqlx::postgres::PgConnection;
use sqlx::query;

use super::manner::Manner;
use super::{Link, Question, lines, read};
use crate::error::Error;
use crate::fault::classify;
use crate::foreign::{Foreign, ForeignBook, Import};
use crate::row::{Columns, state_column};
use crate::store::{GameKey, RequestKey};

/// What stands in `foreign_book f`, as [`Columns::foreign`] reads it.
pub(super) const FOREIGN_COLUMNS: &str = "
    to_char(f.imported_at AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"') AS foreign_imported_at,
    f.imported_by AS foreign_imported_by, f.signature AS foreign_signature";

/// A row if nobody has this id. Whoever is just importing it is waited for.
const GAME: &str = "
    WITH made AS (
        INSERT INTO game (tenant_id, id, request_id, request_hash, ruleset, ruleset_version, created_at, state)
        VALUES ($1::int, $2::uuid, $3::uuid, $4::bytea, $5::text, $6::bigint,
                timestamptz 'epoch' + $7::bigint * interval '1 millisecond', $8::text)
        ON CONFLICT DO NOTHING
        RETURNING tenant_id, id
    ), seated AS (
        INSERT INTO game_player (tenant_id, player, game_id)
        SELECT DISTINCT made.tenant_id, p.player, made.id
        FROM made, unnest($9::text[]) AS p (player) WHERE p.player <> ''
    ), marked AS (
        INSERT INTO foreign_book (tenant_id, game_id, imported_at, imported_by, signature)
        SELECT tenant_id, id, timestamptz 'epoch' + $10::bigint * interval '1 millisecond', $11::text, $12::text FROM made
    )
    SELECT id FROM made";

pub(super) async fn import(link: &Link, book: &ForeignBook) -> Result<Import, Error> {
    let creation = book.request()?;
    let mut connection = link.pool.acquire().await.map_err(classify)?;
    match write(&mut connection, &link.manner, book, creation).await {
        Ok(true) => return Ok(Import::Imported),
        Ok(false) => drop(connection),
        Err(error) => {
            // Whatever its transaction has come to, the end of the session ends it too.
            connection.close_on_drop();
            return Err(classify(error));
        }
    }
    Ok(book.beside(foreign(link, book.key).await?, read::last(link, book.key).await?))
}

/// Writes all of it; false where the id is taken.
async fn write(connection: &mut PgConnection, manner: &Manner, book: &ForeignBook, creation: RequestKey) -> Result<bool, sqlx::Error> {
    let mut transaction = manner.begin(connection).await?;
    if manner.row_of(&mut transaction, game(book, creation)).await?.is_none() {
        transaction.rollback().await?;
        return Ok(false);
    }
    lines::insert(&mut transaction, manner, book.key, 0, &book.links).await?;
    manner.commit(transaction).await.map(|()| true)
}

fn game(book: &ForeignBook, creation: RequestKey) -> Question<'_> {
    query(GAME)
        .bind(book.key.tenant.0)
        .bind(book.key.game)
        .bind(creation.id)
        .bind(creation.hash.to_vec())
        .bind(&book.ruleset)
        .bind(i64::from(book.ruleset_version))
        .bind(book.created.unix_ms().cast_signed())
        .bind(state_column(book.state))
        .bind(&book.players)
        .bind(book.foreign.imported.unix_ms().cast_signed())
        .bind(&book.foreign.by)
        .bind(&book.foreign.signature)
}

pub(super) async fn foreign(link: &Link, key: GameKey) -> Result<Option<Foreign>, Error> {
    let mut sql = sqlx::QueryBuilder::new("SELECT ");
    sql.push(FOREIGN_COLUMNS).push(" FROM foreign_book f WHERE f.tenant_id = ").push_bind(key.tenant.0);
    sql.push(" AND f.game_id = ").push_bind(key.game);
    let row = link.row(sql.build()).await.map_err(classify)?;
    row.map_or(Ok(None), |row| row.foreign())
}
