//! Long books, written into a SQLite file at once: playing them would take longer than testing them.
//!
//! Invariant: such a book is what the service would have written, entry for entry.

use std::path::Path;

use plybook_core::{Action, Cell, Uuid};
use plybook_store::{Arms, Create, GameKey, NewGame, RequestKey, Sqlite, SqliteOptions, Store, TenantId};
use sqlx::{Connection as _, SqliteConnection};

use crate::patience::PATIENCE;
use crate::table::{SEED, table};

/// Side of the board of a long game, in cells.
pub const SIDE: u32 = 1_000;

/// Writes a game of so many entries, two seats filling a board of a thousand by a thousand cells row
/// by row, into the file; answers its id.
pub async fn book(file: &Path, entries: u32) -> String {
    let id = Uuid::now_v7();
    let mut table = table().mnk(i64::from(SIDE), i64::from(SIDE), i64::from(SIDE)).id(id.as_u128());
    for cell in 0..entries - 1 {
        let notation = table.game().rules().write_action(Action::Place(Cell(cell)));
        table = table.play(&notation);
    }
    let header = table.header();
    let new = NewGame {
        key: GameKey { tenant: TenantId::DEFAULT, game: id },
        request: RequestKey { id: Uuid::new_v4(), hash: [1; 32] },
        digest: header.digest(),
        header: header.to_string(),
        seed: plybook_core::Seed::new(SEED),
        created: header.created,
        ruleset: header.ruleset.name.clone(),
        ruleset_version: header.ruleset.version,
        players: Vec::new(),
        given: Vec::new(),
        arms: Arms::NONE,
    };
    let store = Sqlite::open(&SqliteOptions { busy_timeout: PATIENCE, ..SqliteOptions::new(file) }).await.unwrap();
    assert_eq!(store.create(new).await.unwrap(), Create::Created);
    store.close().await;

    let row = |(index, link): (usize, &plybook_core::book::Link)| {
        serde_json::json!([index + 2, Uuid::new_v4().simple().to_string(), link.digest.to_string(), link.text])
    };
    let rows: Vec<serde_json::Value> = table.book().lines().iter().enumerate().map(row).collect();
    let mut connection = SqliteConnection::connect(&format!("sqlite://{}", file.display())).await.unwrap();
    sqlx::query(
        "INSERT INTO book_entry (tenant_id, game_id, seq, request_id, request_hash, digest, line)
         SELECT 1, ?1, value ->> 0, unhex(value ->> 1), zeroblob(32), unhex(value ->> 2), value ->> 3 FROM json_each(?2)",
    )
    .bind(id)
    .bind(serde_json::to_string(&rows).unwrap())
    .execute(&mut connection)
    .await
    .unwrap();
    connection.close().await.unwrap();
    id.to_string()
}
