//! An entry in one statement, and what else may have come of it.
//!
//! Invariant: an entry is stored only after the entry that it is chained to, once a number and once a
//! request; and of an entry that is not stored the request id is asked first, because a repeated append
//! also finds its number taken.

use sqlx::query;

use super::{Link, read};
use crate::error::Error;
use crate::fault::classify;
use crate::row::{append_from_request, seq_column, state_column};
use crate::store::{Append, NewEntry};

/// Inserts if the entry before is there with the digest that was decided on. Where the number or the
/// request is taken, no row comes back. ON CONFLICT names no key, so that every key counts: on a key left
/// out, copies of one request that race on two nodes can deadlock.
///
/// The entry before is sought by a scalar subquery and not by `EXISTS`, which, once several rows are
/// inserted at a time, is planned as a scan of every partition that looks empty.
macro_rules! insert {
    () => {
        "INSERT INTO book_entry (tenant_id, game_id, seq, request_id, request_hash, digest, line)
         SELECT $1::int, $2::uuid, $3::int, $4::uuid, $5::bytea, $6::bytea, $7::text
         WHERE (SELECT p.seq FROM book_entry p
                WHERE p.tenant_id = $1::int AND p.game_id = $2::uuid AND p.seq = $3::int - 1
                  AND p.digest = $8::bytea) IS NOT NULL
         ON CONFLICT DO NOTHING
         RETURNING seq"
    };
}

const APPEND: &str = insert!();

/// The same, and the game's state with it; only a new entry moves the state.
const APPEND_AND_MOVE: &str = concat!(
    "WITH appended AS (",
    insert!(),
    "), moved AS (
         UPDATE game SET state = $9::text FROM appended
         WHERE game.tenant_id = $1::int AND game.id = $2::uuid)
     SELECT seq FROM appended"
);

pub(super) async fn append(link: &Link, entry: &NewEntry) -> Result<Append, Error> {
    if inserts(link, entry).await.map_err(classify)? {
        return Ok(Append::Stored);
    }
    // Another statement, and so another look: whoever was first has committed by now.
    let found = read::find_request(link, entry.key, entry.request.id).await?;
    Ok(append_from_request(found, &entry.request.hash))
}

/// The statement; false where the number or the request is taken, or the entry before is missing or another.
async fn inserts(link: &Link, entry: &NewEntry) -> Result<bool, sqlx::Error> {
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
    link.row(question).await.map(|row| row.is_some())
}
