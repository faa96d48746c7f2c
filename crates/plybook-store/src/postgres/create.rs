//! A game in one statement; one that comes with lines, in one transaction.
//!
//! Invariant: a creating request makes one game, on however many nodes it is repeated at once. The row of `game`
//! comes first, so that who repeats a request while it is under way waits for it and then finds what it made.

use sqlx::postgres::PgConnection;
use sqlx::query;

use super::due::arms_columns;
use super::manner::Manner;
use super::{Link, Question, lines, read};
use crate::error::Error;
use crate::fault::{UNIQUE_VIOLATION, classify, sqlstate};
use crate::store::{Create, NewGame};

/// A row if the game was made. Everything hangs on the row of `game`: where the request is taken,
/// nothing is written.
const CREATE: &str = "
    WITH made AS (
        INSERT INTO game (tenant_id, id, request_id, request_hash, ruleset, ruleset_version, created_at)
        VALUES ($1::int, $2::uuid, $3::uuid, $4::bytea, $5::text, $10::bigint,
                timestamptz 'epoch' + $11::bigint * interval '1 millisecond')
        ON CONFLICT (tenant_id, request_id) DO NOTHING
        RETURNING tenant_id, id, request_id, request_hash
    ), seeded AS (
        INSERT INTO game_seed (tenant_id, game_id, seed) SELECT tenant_id, id, $6::bytea FROM made
    ), seated AS (
        INSERT INTO game_player (tenant_id, player, game_id)
        SELECT DISTINCT made.tenant_id, p.player, made.id
        FROM made, unnest($7::text[]) AS p (player) WHERE p.player <> ''
    ), opened AS (
        INSERT INTO book_entry (tenant_id, game_id, seq, request_id, request_hash, digest, line)
        SELECT tenant_id, id, 1, request_id, request_hash, $8::bytea, $9::text FROM made
    ), armed AS (
        INSERT INTO due (tenant_id, game_id, kind, due_at, armed_for)
        SELECT made.tenant_id, made.id, a.kind, t.at, t.at
        FROM made, unnest($12::text[], $13::bigint[]) AS a (kind, at_ms),
            LATERAL (SELECT timestamptz 'epoch' + a.at_ms * interval '1 millisecond') AS t (at)
    )
    SELECT id FROM made";

pub(super) async fn create(link: &Link, game: &NewGame) -> Result<Create, Error> {
    let made = if game.given.is_empty() { alone(link, game).await } else { with_lines(link, game).await };
    if taken(made).map_err(classify)? {
        return Ok(Create::Created);
    }
    match read::find_creation(link, game.key.tenant, game.request.id).await? {
        Some((made, hash)) if hash == game.request.hash => Ok(Create::Repeated(made)),
        Some((made, _)) => Ok(Create::Reused(made)),
        None => Err(Error::Failed(format!("game {} belongs to another request", game.key.game))),
    }
}

/// Whether the game was made; false where the request, or the game's own id, is taken.
fn taken(made: Result<bool, sqlx::Error>) -> Result<bool, sqlx::Error> {
    match made {
        Err(error) if sqlstate(&error).as_deref() == Some(UNIQUE_VIOLATION) => Ok(false),
        made => made,
    }
}

/// The statement.
async fn alone(link: &Link, game: &NewGame) -> Result<bool, sqlx::Error> {
    link.row(statement(game)).await.map(|made| made.is_some())
}

async fn with_lines(link: &Link, game: &NewGame) -> Result<bool, sqlx::Error> {
    let mut connection = link.pool.acquire().await?;
    let made = transact(&mut connection, &link.manner, game).await;
    if made.is_err() {
        // Whatever its transaction has come to, the end of the session ends it too.
        connection.close_on_drop();
    }
    made
}

async fn transact(connection: &mut PgConnection, manner: &Manner, game: &NewGame) -> Result<bool, sqlx::Error> {
    let mut transaction = manner.begin(connection).await?;
    if manner.row_of(&mut transaction, statement(game)).await?.is_none() {
        transaction.rollback().await?;
        return Ok(false);
    }
    lines::insert(&mut transaction, manner, game.key, 1, &game.given).await?;
    manner.commit(transaction).await.map(|()| true)
}

fn statement(game: &NewGame) -> Question<'_> {
    let (kinds, times) = arms_columns(&game.arms);
    query(CREATE)
        .bind(game.key.tenant.0)
        .bind(game.key.game)
        .bind(game.request.id)
        .bind(&game.request.hash[..])
        .bind(&game.ruleset)
        .bind(&game.seed.reveal()[..])
        .bind(&game.players)
        .bind(&game.digest.0[..])
        .bind(&game.header)
        .bind(i64::from(game.ruleset_version))
        .bind(game.created.unix_ms().cast_signed())
        .bind(kinds)
        .bind(times)
}
