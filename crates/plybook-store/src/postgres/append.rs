//! An entry in one statement, and what else may have come of it.
//!
//! Invariant: an entry is stored only after the entry that it is chained to, once a number and once a request; and
//! the request id is asked first, because a repeated append also finds its number taken.

use sqlx::postgres::PgRow;
use sqlx::{Row, query};

use super::{Link, read};
use crate::error::Error;
use crate::fault::{UNIQUE_VIOLATION, classify, sqlstate};
use crate::row::{Columns, append_from_request, seq_column, state_column};
use crate::store::{Append, NewEntry};

/// Inserts if the entry before is there with the digest that was decided on. Where the number is taken, a row comes back only if the same
/// request took it: the update that changes nothing is what makes that row visible even when its
/// transaction committed after this statement began.
///
/// The entry before is sought by a scalar subquery and not by `EXISTS`, which, once several rows are
/// inserted at a time, is planned as a scan of every partition that looks empty.
macro_rules! insert {
    () => {
        "INSERT INTO book_entry AS e (tenant_id, game_id, seq, request_id, request_hash, digest, line)
         SELECT $1::int, $2::uuid, $3::int, $4::uuid, $5::bytea, $6::bytea, $7::text
         WHERE (SELECT p.seq FROM book_entry p
                WHERE p.tenant_id = $1::int AND p.game_id = $2::uuid AND p.seq = $3::int - 1
                  AND p.digest = $8::bytea) IS NOT NULL
         ON CONFLICT (tenant_id, game_id, seq)
             DO UPDATE SET request_id = EXCLUDED.request_id WHERE e.request_id = EXCLUDED.request_id
         RETURNING e.seq, e.line, e.digest, e.request_id, e.request_hash,
                   (e.xid = pg_current_xact_id()) AS inserted"
    };
}

const APPEND: &str = insert!();

/// The same, and the game's state with it; only a new entry moves the state.
const APPEND_AND_MOVE: &str = concat!(
    "WITH appended AS (",
    insert!(),
    "), moved AS (
         UPDATE game SET state = $9::text FROM appended
         WHERE appended.inserted AND game.tenant_id = $1::int AND game.id = $2::uuid)
     SELECT seq, line, digest, request_id, request_hash, inserted FROM appended"
);

pub(super) async fn append(link: &Link, entry: &NewEntry) -> Result<Append, Error> {
    let hash = &entry.request.hash;
    if let Some(row) = first_try(link, entry).await.map_err(classify)? {
        if row.try_get("inserted").map_err(classify)? {
            return Ok(Append::Stored);
        }
        return Ok(append_from_request(Some((row.entry("")?, row.bytes32("request_hash")?)), hash));
    }
    // The number is taken, the entry before is missing or another, or the request is answered under another number.
    let found = read::find_request(link, entry.key, entry.request.id).await?;
    Ok(append_from_request(found, hash))
}

/// The statement; no row where the number or the request is taken, or the entry before is missing or another.
async fn first_try(link: &Link, entry: &NewEntry) -> Result<Option<PgRow>, sqlx::Error> {
    let mut question = query(if entry.state.is_some() { APPEND_AND_MOVE } else { APPEND })
        .bind(entry.key.tenant.0)
        .bind(entry.key.game)
        .bind(seq_column(entry.seq))
        .bind(entry.request.id)
        .bind(&entry.request.hash[..])
        .bind(&entry.digest.0[..])
        .bind(&entry.line)
        .bind(&entry.previous.0[..]);
    if let Some(state) = entry.state {
        question = question.bind(state_column(state));
    }
    match link.row(question).await {
        Err(error) if sqlstate(&error).as_deref() == Some(UNIQUE_VIOLATION) => Ok(None),
        other => other,
    }
}
