//! An entry alone, in one statement: what every append comes to that finds no others under way.
//!
//! Invariant: an entry is stored only after the entry that it is chained to, once a number and once a
//! request; and of an entry that is not stored the request id is asked first, because a repeated append
//! also finds its number taken. What else an entry changes hangs on its row: no row, no change.

use sqlx::query;

use super::Question;
use super::care::{Forms, forms};
use super::due::arms_columns;
use crate::due::DueChange;
use crate::row::{seq_column, state_column};
use crate::store::NewEntry;

/// Inserts if the entry before is there with the digest that was decided on, and is the last. Where the number or the
/// request is taken, no row comes back, or the statement fails: see [`Forms`]. ON CONFLICT names no key, so that every key counts:
/// on a key left out, copies of one request that race on two nodes can deadlock.
///
/// The entry before is sought by a scalar subquery and not by `EXISTS`, which, once several rows are
/// inserted at a time, is planned as a scan of every partition that looks empty.
macro_rules! insert {
    ($conflicts:literal) => {
        concat!(
            "INSERT INTO book_entry (tenant_id, game_id, seq, request_id, request_hash, digest, line)
             SELECT $1::int, $2::uuid, $3::int, $4::uuid, $5::bytea, $6::bytea, $7::text
             WHERE (SELECT p.seq = $3::int - 1 AND p.digest = $8::bytea FROM book_entry p
                    WHERE p.tenant_id = $1::int AND p.game_id = $2::uuid AND p.seq >= $3::int - 1
                    ORDER BY p.seq DESC LIMIT 1) ",
            $conflicts,
            " RETURNING seq"
        )
    };
}

const APPEND: Forms = forms!(insert);

/// The same, and what hangs on it.
macro_rules! insert_and {
    ($conflicts:literal, $($more:expr),+) => {
        concat!("WITH appended AS (", insert!($conflicts), ")", $($more),+, " SELECT seq FROM appended")
    };
}

/// Moves the game's state.
macro_rules! moved {
    () => {
        ", moved AS (
             UPDATE game SET state = $9::text FROM appended
             WHERE game.tenant_id = $1::int AND game.id = $2::uuid)"
    };
}

/// Makes due rows, or moves them earlier. A claim that stands is taken away even where nothing moves: its claimer
/// decides without this entry, and must not put the row off behind what this entry makes due.
macro_rules! armed {
    ($kinds:literal, $times:literal) => {
        concat!(
            ", armed AS (
                 INSERT INTO due AS d (tenant_id, game_id, kind, due_at, armed_for)
                 SELECT $1::int, $2::uuid, a.kind, t.at, t.at
                 FROM appended, unnest(",
            $kinds,
            "::text[], ",
            $times,
            "::bigint[]) AS a (kind, at_ms),
                     LATERAL (SELECT timestamptz 'epoch' + a.at_ms * interval '1 millisecond') AS t (at)
                 ON CONFLICT (tenant_id, game_id, kind) DO UPDATE
                 SET due_at = least(d.due_at, EXCLUDED.due_at), armed_for = least(d.armed_for, EXCLUDED.armed_for),
                     attempts = 0, claim = NULL
                 WHERE d.due_at > EXCLUDED.due_at OR d.claim IS NOT NULL)"
        )
    };
}

macro_rules! disarmed {
    () => {
        ", disarmed AS (
             DELETE FROM due USING appended WHERE due.tenant_id = $1::int AND due.game_id = $2::uuid)"
    };
}

const APPEND_AND_MOVE: Forms = forms!(insert_and, moved!());
const APPEND_AND_ARM: Forms = forms!(insert_and, armed!("$9", "$10"));
const APPEND_MOVE_AND_ARM: Forms = forms!(insert_and, moved!(), armed!("$10", "$11"));
const APPEND_AND_DISARM: Forms = forms!(insert_and, disarmed!());
const APPEND_MOVE_AND_DISARM: Forms = forms!(insert_and, moved!(), disarmed!());

/// The statement with its values; no row comes back where the number or the request is taken, or the entry before is
/// missing or another.
pub(super) fn statement(entry: &NewEntry, careful: bool) -> Question<'_> {
    let mut question = query(forms(entry).text(careful))
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
    if let DueChange::Arm(arms) = &entry.due {
        let (kinds, times) = arms_columns(arms);
        question = question.bind(kinds).bind(times);
    }
    question
}

/// The shortest that does what the entry asks for: most entries change nothing but their book.
const fn forms(entry: &NewEntry) -> &'static Forms {
    match (entry.state.is_some(), &entry.due) {
        (false, DueChange::Keep) => &APPEND,
        (true, DueChange::Keep) => &APPEND_AND_MOVE,
        (false, DueChange::Arm(_)) => &APPEND_AND_ARM,
        (true, DueChange::Arm(_)) => &APPEND_MOVE_AND_ARM,
        (false, DueChange::Disarm) => &APPEND_AND_DISARM,
        (true, DueChange::Disarm) => &APPEND_MOVE_AND_DISARM,
    }
}
