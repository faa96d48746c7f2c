//! Appends of many games in one statement, and what else may have come of each.
//!
//! Invariants: as of an append alone (see `append`), for every entry by itself; games are written in the order of
//! their keys, on every node, so that no two batches wait for each other; where the statement fails for the sake of
//! one entry, nothing of it was stored, and its neighbours are written without it. A key that is taken is no such failure.

use std::collections::HashSet;
use std::iter;
use std::ops::Range;
use std::sync::Arc;

use plybook_core::Uuid;
use plybook_core::limits::LINE_BYTES_MAX;
use sqlx::pool::PoolConnection;
use sqlx::postgres::PgRow;
use sqlx::{Row as _, query};

use super::care::{Care, Forms, forms};
use super::{Link, Question, append, packed};
use crate::counts::Counts;
use crate::due::{DueChange, kind_column};
use crate::error::Error;
use crate::fault::{classify, is_taken, of_an_entry};
use crate::gather::{Answer, Writer};
use crate::row::{Columns, append_from_request, seq_column, state_column};
use crate::store::{Append, NewEntry, StoredEntry};

/// A row tells how many went in, and which games, unless they all did: a batch has one entry a game.
macro_rules! insert_all {
    ($conflicts:literal $(, $more:expr)*) => {
        concat!(
            "WITH appended AS (
                 INSERT INTO book_entry (tenant_id, game_id, seq, request_id, request_hash, digest, line)
                 SELECT e.tenant_id, e.game_id, e.seq, e.request_id, e.request_hash, e.digest, e.line
                 FROM unnest($1::int[], $2::uuid[], $3::int[], $4::uuid[], $5::bytea[], $6::bytea[], $7::text[], $8::bytea[])
                     AS e (tenant_id, game_id, seq, request_id, request_hash, digest, line, previous)
                 WHERE (SELECT p.seq = e.seq - 1 AND p.digest = e.previous FROM book_entry p
                        WHERE p.tenant_id = e.tenant_id AND p.game_id = e.game_id AND p.seq >= e.seq - 1
                        ORDER BY p.seq DESC LIMIT 1)
                 ORDER BY e.tenant_id, e.game_id ",
            $conflicts,
            " RETURNING tenant_id, game_id)",
            $($more,)*
            " SELECT count(*), CASE WHEN count(*) < cardinality($2::uuid[]) THEN array_agg(game_id) END FROM appended"
        )
    };
}

const APPEND_ALL: Forms = forms!(insert_all);

/// The same, and what hangs on some of the entries.
const APPEND_ALL_AND_CHANGE: Forms = forms!(
    insert_all,
    ", moved AS (
         UPDATE game SET state = c.state
         FROM appended a JOIN unnest($9::int[], $10::uuid[], $11::text[]) AS c (tenant_id, game_id, state) USING (tenant_id, game_id)
         WHERE game.tenant_id = a.tenant_id AND game.id = a.game_id)",
    ", armed AS (
         INSERT INTO due AS d (tenant_id, game_id, kind, due_at, armed_for)
         SELECT a.tenant_id, a.game_id, c.kind, t.at, t.at
         FROM appended a JOIN unnest($12::int[], $13::uuid[], $14::text[], $15::bigint[]) AS c (tenant_id, game_id, kind, at_ms)
             USING (tenant_id, game_id),
             LATERAL (SELECT timestamptz 'epoch' + c.at_ms * interval '1 millisecond') AS t (at)
         ORDER BY a.tenant_id, a.game_id, c.kind
         ON CONFLICT (tenant_id, game_id, kind) DO UPDATE
         SET due_at = least(d.due_at, EXCLUDED.due_at), armed_for = least(d.armed_for, EXCLUDED.armed_for),
             attempts = 0, claim = NULL
         WHERE d.due_at > EXCLUDED.due_at OR d.claim IS NOT NULL)",
    ", disarmed AS (
         DELETE FROM due USING appended a JOIN unnest($16::int[], $17::uuid[]) AS c (tenant_id, game_id) USING (tenant_id, game_id)
         WHERE due.tenant_id = a.tenant_id AND due.game_id = a.game_id)"
);

/// A look into the key for each, whatever the statistics say.
const ANSWERED: &str = "
    SELECT asked.place, e.seq, e.line, e.digest, e.request_id, e.request_hash
    FROM unnest($1::int[], $2::uuid[], $3::uuid[]) WITH ORDINALITY AS asked (tenant_id, game_id, request_id, place)
    CROSS JOIN LATERAL (
        SELECT * FROM book_entry b
        WHERE b.tenant_id = asked.tenant_id AND b.game_id = asked.game_id AND b.request_id = asked.request_id LIMIT 1) AS e";

type Line = PoolConnection<sqlx::Postgres>;

/// Writes batches over the pool.
#[derive(Debug)]
pub(super) struct Batches {
    pub(super) link: Link,
    pub(super) counts: Arc<Counts>,
    pub(super) care: Care,
}

impl Writer for Batches {
    type Line = Line;

    async fn line(&self) -> Result<Line, Error> {
        self.link.pool.acquire().await.map_err(classify)
    }

    fn has_spare(&self) -> bool {
        let pool = &self.link.pool;
        pool.num_idle() > 0 || pool.size() < pool.options().get_max_connections()
    }

    async fn write(&self, mut line: Line, batch: &[NewEntry]) -> (Option<Line>, Vec<Answer>) {
        let mut answers: Vec<Option<Answer>> = (0..batch.len()).map(|_| None).collect();
        let fault = self.answer(&mut line, batch, &mut answers).await.err();
        let back = match &fault {
            None => Some(line),
            Some(fault) => {
                if fault.as_database_error().is_none() {
                    // Cut, or late: nobody is at the other end of this line.
                    line.close_on_drop();
                }
                None
            }
        };
        let fault = fault.map_or_else(|| Error::Failed("an entry was left without an answer".to_owned()), classify);
        (back, answers.into_iter().map(|answer| answer.unwrap_or_else(|| Err(fault.clone()))).collect())
    }
}

impl Batches {
    /// Answers each entry, or all up to a fault of the line or the database, which is every other's answer.
    async fn answer(&self, line: &mut Line, batch: &[NewEntry], answers: &mut [Option<Answer>]) -> Result<(), sqlx::Error> {
        let mut parts: Vec<Range<usize>> = iter::once(0..batch.len()).collect();
        let mut missed = Vec::new();
        while let Some(part) = parts.pop() {
            let careful = self.care.is_due();
            match self.insert(line, &batch[part.clone()], careful).await {
                Ok(inserted) => {
                    for place in part {
                        if inserted.has(&batch[place]) {
                            answers[place] = Some(Ok(Append::Stored));
                        } else {
                            missed.push(place);
                        }
                    }
                }
                Err(fault) if !careful && is_taken(&fault) => {
                    tracing::debug!(%fault, "appends mind keys that are taken");
                    self.care.begin();
                    parts.push(part);
                }
                Err(fault) if of_an_entry(&fault) => match halves(part) {
                    Ok([first, second]) => {
                        self.counts.taken_apart();
                        tracing::debug!(%fault, "a batch of appends is taken apart");
                        parts.extend([second, first]);
                    }
                    Err(alone) => answers[alone] = Some(Err(classify(fault))),
                },
                Err(fault) => return Err(fault),
            }
        }
        if missed.is_empty() {
            return Ok(());
        }
        // Another statement, and so another look: whoever was first has committed by now.
        let asked: Vec<&NewEntry> = missed.iter().map(|place| &batch[*place]).collect();
        let found = self.answered(line, &asked).await?;
        for (place, found) in missed.into_iter().zip(found) {
            answers[place] = Some(found.map(|found| append_from_request(found, &batch[place].request.hash)));
        }
        Ok(())
    }

    async fn insert(&self, line: &mut Line, entries: &[NewEntry], careful: bool) -> Result<Inserted, sqlx::Error> {
        if let [entry] = entries {
            let row = self.link.manner.row(line, append::statement(entry, careful)).await?;
            return Ok(if row.is_some() { Inserted::All } else { Inserted::These(HashSet::new()) });
        }
        let row = self.link.manner.row(line, statement(entries, careful)).await?.ok_or(sqlx::Error::RowNotFound)?;
        let games: Option<Vec<Uuid>> = row.try_get(1)?;
        let all = usize::try_from(row.try_get::<i64, _>(0)?).is_ok_and(|many| many == entries.len());
        Ok(if all { Inserted::All } else { Inserted::These(games.unwrap_or_default().into_iter().collect()) })
    }

    /// For each what its request was answered with before, if it was.
    async fn answered(&self, line: &mut Line, asked: &[&NewEntry]) -> Result<Vec<Result<Answered, Error>>, sqlx::Error> {
        let question = query(ANSWERED)
            .bind(asked.iter().map(|entry| entry.key.tenant.0).collect::<Vec<_>>())
            .bind(asked.iter().map(|entry| entry.key.game).collect::<Vec<_>>())
            .bind(asked.iter().map(|entry| entry.request.id).collect::<Vec<_>>());
        let rows = self.link.manner.rows(line, question).await?;
        let mut found: Vec<Result<Answered, Error>> = asked.iter().map(|_| Ok(None)).collect();
        for (found, entry) in found.iter_mut().zip(asked).filter(|(_, entry)| packed::may_have(entry.key.game)) {
            // On this connection: whoever waits for another while holding one may wait for itself.
            let rows = self.link.manner.rows(line, packed::book(entry.key)).await?;
            *found = packed::find(&rows, entry.request.id);
        }
        for row in rows {
            let place: i64 = row.try_get("place")?;
            if let Some(found) = usize::try_from(place - 1).ok().and_then(|place| found.get_mut(place)) {
                *found = answered(&row).map(Some);
            }
        }
        Ok(found)
    }
}

/// The entry that answered a request, with the hash of that request.
type Answered = Option<(StoredEntry, [u8; 32])>;

fn answered(row: &PgRow) -> Result<(StoredEntry, [u8; 32]), Error> {
    Ok((row.entry("")?, row.bytes32("request_hash")?))
}

/// Which entries of a statement went in.
enum Inserted {
    All,
    /// Of these games; a batch has one entry a game.
    These(HashSet<Uuid>),
}

impl Inserted {
    fn has(&self, entry: &NewEntry) -> bool {
        match self {
            Inserted::All => true,
            Inserted::These(games) => games.contains(&entry.key.game),
        }
    }
}

/// Of one place alone there are no halves.
fn halves(part: Range<usize>) -> Result<[Range<usize>; 2], usize> {
    match part.len() {
        0 | 1 => Err(part.start),
        many => {
            let middle = part.start + many / 2;
            Ok([part.start..middle, middle..part.end])
        }
    }
}

/// What the database would refuse for its form alone, and the whole statement with it.
pub(super) fn fits(entry: &NewEntry) -> bool {
    (1..=LINE_BYTES_MAX).contains(&entry.line.len()) && !entry.line.contains('\0')
}

fn statement(entries: &[NewEntry], careful: bool) -> Question<'_> {
    let changes = entries.iter().any(|entry| entry.state.is_some() || entry.due != DueChange::Keep);
    let forms = if changes { &APPEND_ALL_AND_CHANGE } else { &APPEND_ALL };
    let question = query(forms.text(careful))
        .bind(each(entries, |entry| entry.key.tenant.0))
        .bind(each(entries, |entry| entry.key.game))
        .bind(each(entries, |entry| seq_column(entry.seq)))
        .bind(each(entries, |entry| entry.request.id))
        .bind(each(entries, |entry| &entry.request.hash[..]))
        .bind(each(entries, |entry| &entry.digest.0[..]))
        .bind(each(entries, |entry| entry.line.as_str()))
        .bind(each(entries, |entry| &entry.previous.0[..]));
    if changes { with_changes(question, entries) } else { question }
}

fn with_changes<'q>(question: Question<'q>, entries: &'q [NewEntry]) -> Question<'q> {
    let (mut moved, mut armed, mut disarmed) = <(Columns3, Columns4, Columns2)>::default();
    for entry in entries {
        let (tenant, game) = (entry.key.tenant.0, entry.key.game);
        if let Some(state) = entry.state {
            moved.extend([(tenant, (game, state_column(state)))]);
        }
        match &entry.due {
            DueChange::Keep => {}
            DueChange::Arm(arms) => {
                armed.extend(arms.each().map(|(kind, at)| ((tenant, game), (kind_column(kind), at.unix_ms().cast_signed()))));
            }
            DueChange::Disarm => disarmed.extend([(tenant, game)]),
        }
    }
    let (tenants, (games, states)) = moved;
    let ((armed_tenants, armed_games), (kinds, times)) = armed;
    let question = question.bind(tenants).bind(games).bind(states);
    let question = question.bind(armed_tenants).bind(armed_games).bind(kinds).bind(times);
    question.bind(disarmed.0).bind(disarmed.1)
}

type Columns2 = (Vec<i32>, Vec<Uuid>);
type Columns3 = (Vec<i32>, (Vec<Uuid>, Vec<&'static str>));
type Columns4 = (Columns2, (Vec<&'static str>, Vec<i64>));

fn each<'q, T>(entries: &'q [NewEntry], column: impl Fn(&'q NewEntry) -> T) -> Vec<T> {
    entries.iter().map(column).collect()
}
