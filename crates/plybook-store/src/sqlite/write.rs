//! Games and entries, each in one transaction.
//!
//! Invariant: what a write decides on cannot change before it commits: `BEGIN IMMEDIATE` takes the
//! file's write lock first.

use plybook_core::limits::LINE_BYTES_MAX;
use sqlx::query;
use sqlx::sqlite::{SqliteConnection, SqlitePool};

use super::{due, lines, read};
use crate::due::DueChange;
use crate::error::Error;
use crate::fault::classify;
use crate::row::{append_from_request, seq_column, state_column};
use crate::store::{Append, Create, GameKey, NewEntry, NewGame};

/// Takes the write lock at once.
pub(super) const BEGIN: &str = "BEGIN IMMEDIATE";

pub(super) async fn create(writer: &SqlitePool, game: &NewGame) -> Result<Create, Error> {
    let mut transaction = writer.begin_with(BEGIN).await.map_err(classify)?;
    if let Some((made, hash)) = read::find_creation(&mut *transaction, game.key.tenant, game.request.id).await? {
        return Ok(if hash == game.request.hash { Create::Repeated(made) } else { Create::Reused(made) });
    }
    fits(&game.header)?;
    game.given.iter().try_for_each(|link| fits(&link.text))?;
    insert_game(&mut transaction, game).await.map_err(|error| match error.as_database_error() {
        Some(refused) if refused.is_unique_violation() => Error::Failed(format!("game {} belongs to another request", game.key.game)),
        _ => classify(error),
    })?;
    transaction.commit().await.map_err(classify)?;
    Ok(Create::Created)
}

async fn insert_game(transaction: &mut SqliteConnection, game: &NewGame) -> Result<(), sqlx::Error> {
    query(
        "INSERT INTO game (tenant_id, id, request_id, request_hash, ruleset, ruleset_version, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7)",
    )
    .bind(game.key.tenant.0)
    .bind(game.key.game)
    .bind(game.request.id)
    .bind(&game.request.hash[..])
    .bind(&game.ruleset)
    .bind(i64::from(game.ruleset_version))
    .bind(game.created.to_string())
    .execute(&mut *transaction)
    .await?;
    query("INSERT INTO game_seed (tenant_id, game_id, seed) VALUES ($1, $2, $3)")
        .bind(game.key.tenant.0)
        .bind(game.key.game)
        .bind(&game.seed.reveal()[..])
        .execute(&mut *transaction)
        .await?;
    seat_players(transaction, game.key, &game.players).await?;
    query(
        "INSERT INTO book_entry (tenant_id, game_id, seq, request_id, request_hash, digest, line)
         VALUES ($1, $2, 1, $3, $4, $5, $6)",
    )
    .bind(game.key.tenant.0)
    .bind(game.key.game)
    .bind(game.request.id)
    .bind(&game.request.hash[..])
    .bind(&game.digest.0[..])
    .bind(&game.header)
    .execute(&mut *transaction)
    .await?;
    due::arm(transaction, game.key, &game.arms).await?;
    lines::insert(transaction, game.key, 1, &game.given).await
}

/// Who plays where, for lists.
pub(super) async fn seat_players(transaction: &mut SqliteConnection, key: GameKey, players: &[String]) -> Result<(), sqlx::Error> {
    for player in players.iter().filter(|player| !player.is_empty()) {
        query("INSERT INTO game_player (tenant_id, player, game_id) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING")
            .bind(key.tenant.0)
            .bind(player)
            .bind(key.game)
            .execute(&mut *transaction)
            .await?;
    }
    Ok(())
}

pub(super) async fn append(writer: &SqlitePool, entry: &NewEntry) -> Result<Append, Error> {
    let mut transaction = writer.begin_with(BEGIN).await.map_err(classify)?;
    let found = read::find_request(&mut *transaction, entry.key, entry.request.id).await?;
    if found.is_some() || !follows(&mut transaction, entry).await? {
        return Ok(append_from_request(found, &entry.request.hash));
    }
    fits(&entry.line)?;
    insert_entry(&mut transaction, entry).await.map_err(classify)?;
    transaction.commit().await.map_err(classify)?;
    Ok(Append::Stored)
}

/// What the schema of the other database checks; here a check of the schema could not be relaxed later.
pub(super) fn fits(line: &str) -> Result<(), Error> {
    match line.len() {
        1..=LINE_BYTES_MAX => Ok(()),
        bytes => Err(Error::Failed(format!("a line of {bytes} bytes"))),
    }
}

/// Whether the last entry of the game is the one that this entry is chained to.
async fn follows(transaction: &mut SqliteConnection, entry: &NewEntry) -> Result<bool, Error> {
    let last = read::last(transaction, entry.key).await?;
    Ok(last.is_some_and(|last| last.seq.next() == entry.seq && last.digest == entry.previous))
}

async fn insert_entry(transaction: &mut SqliteConnection, entry: &NewEntry) -> Result<(), sqlx::Error> {
    query(
        "INSERT INTO book_entry (tenant_id, game_id, seq, request_id, request_hash, digest, line)
         VALUES ($1, $2, $3, $4, $5, $6, $7)",
    )
    .bind(entry.key.tenant.0)
    .bind(entry.key.game)
    .bind(seq_column(entry.seq))
    .bind(entry.request.id)
    .bind(&entry.request.hash[..])
    .bind(&entry.digest.0[..])
    .bind(&entry.line)
    .execute(&mut *transaction)
    .await?;
    if let Some(state) = entry.state {
        query("UPDATE game SET state = $3 WHERE tenant_id = $1 AND id = $2")
            .bind(entry.key.tenant.0)
            .bind(entry.key.game)
            .bind(state_column(state))
            .execute(&mut *transaction)
            .await?;
    }
    match &entry.due {
        DueChange::Keep => Ok(()),
        DueChange::Arm(arms) => due::arm(transaction, entry.key, arms).await,
        DueChange::Disarm => due::disarm(transaction, entry.key).await,
    }
}
