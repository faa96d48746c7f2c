//! A backup is restored somewhere else: every book of it holds, and whoever was sent more than it has is told.
//!
//! These are the commands of deploy/backup.md.

use std::path::Path;
use std::process::Command;

use plybook_tests::node;
use plybook_tests::postgres::archive::archived;
use plybook_tests::postgres::{TestDatabase, binaries, database, empty_database};
use plybook_tests::wire::{PlayedGame, Wire, connect};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, Executor as _};

use super::run;

/// A game, a token from before the backup, and one from after it.
struct Before {
    game: PlayedGame,
    kept: String,
    lost: String,
}

/// How far the feed is, once it shows all of this game.
async fn token(wire: &Wire, game: &PlayedGame) -> String {
    let mut feed = wire.feed().open().await;
    loop {
        let event = feed.event().await;
        if event.game_id == game.id && event.seq == game.head {
            return feed.token;
        }
    }
}

fn verifies(address: &str, games: usize) {
    let told = tokio::task::block_in_place(|| run(&["verify", "--database", address], "")).ok();
    assert!(told.out.contains(&format!(" {games} verified, 0 illegal now, 0 broken")), "{told:?}");
}

/// Over the restored books: the same game goes on along another line, as far as what was lost and farther.
async fn goes_on_elsewhere(address: &str, before: Before, head: u64) {
    verifies(address, 2);
    let node = node::over(address).start();
    let wire = connect(node.address()).await;
    let refused = wire.feed().from(&before.lost).refused().await;
    refused.with("RESUME_TOKEN_EXPIRED");
    wire.follow(&before.game.id).after(before.game.head).refused().await.with("CURSOR_BEYOND_HEAD").meta("head_seq", head);

    let mut game = wire.open(&before.game.id).await;
    assert_eq!(game.head, head);
    game.play("j1 j2 j3").await;
    assert!(game.head > before.game.head, "there are entries of the same numbers, and one more");
    wire.feed().from(&before.lost).refused().await.with("RESUME_TOKEN_EXPIRED");
    let mut feed = wire.feed().from(&before.kept).open().await;
    for want in wire.history_after(&game.id, head).await {
        assert_eq!(feed.event().await, want, "who was sent no more than was saved goes on without a gap");
    }
    wire.proves(&game.id).await;
    verifies(address, 2);
}

/// Two games, one of which goes on; the token of when they were saved.
async fn plays(wire: &Wire) -> (PlayedGame, String) {
    let mut whole = wire.game().await;
    whole.play("b2 a1 b3 c1 b1").await;
    let mut game = wire.game().mnk(10, 10, 9).await;
    game.play("a1 b1").await;
    let kept = token(wire, &game).await;
    (game, kept)
}

async fn plays_on(wire: &Wire, mut game: PlayedGame, kept: String) -> Before {
    game.play("c1 d1").await;
    let lost = token(wire, &game).await;
    Before { game, kept, lost }
}

fn tool(name: &str, arguments: &[&str]) {
    let output = Command::new(binaries().join(name)).args(arguments).output().unwrap();
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dump_is_restored_into_another_database() {
    let (here, there): (TestDatabase, TestDatabase) = (database().await, empty_database().await);
    let node = node::over(&here.url).start();
    let wire = connect(node.address()).await;
    let (game, kept) = plays(&wire).await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("books.dump");
    let file = file.to_str().unwrap();
    tokio::task::block_in_place(|| tool("pg_dump", &["--format=custom", "--file", file, &here.url]));
    let head = game.head;
    let before = plays_on(&wire, game, kept).await;
    drop(node);

    tokio::task::block_in_place(|| {
        tool("pg_restore", &["--exit-on-error", "--no-owner", "--single-transaction", "--dbname", &there.url, file]);
        run(&["migrate", "--database", &there.url], "").ok();
    });
    goes_on_elsewhere(&there.url, before, head).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn books_are_restored_as_they_were_at_a_time() {
    let saved = archived().await;
    let node = node::over(&saved.database.url).start();
    let wire = connect(node.address()).await;
    let base = saved.base().await;
    // All of it came after the copy: it is in the log alone.
    let (game, kept) = plays(&wire).await;
    let at = saved.now().await;
    let head = game.head;
    let before = plays_on(&wire, game, kept).await;
    saved.archive().await;
    drop(node);

    let restored = saved.restored(base, &at).await;
    tokio::task::block_in_place(|| run(&["migrate", "--database", &restored.database.url], "")).ok();
    goes_on_elsewhere(&restored.database.url, before, head).await;
}

async fn copy(from: &Path, to: &Path) {
    let mut file = sqlx::sqlite::SqliteConnectOptions::new().filename(from).connect().await.unwrap();
    file.execute(AssertSqlSafe(format!("VACUUM INTO '{}'", to.display()))).await.unwrap();
    file.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_is_copied_while_it_is_played_over() {
    let folder = tempfile::tempdir().unwrap();
    let (here, there) = (folder.path().join("books.db"), folder.path().join("saved.db"));
    let node = node::over(here.to_str().unwrap()).start();
    let wire = connect(node.address()).await;
    let (game, kept) = plays(&wire).await;
    copy(&here, &there).await;
    let head = game.head;
    let before = plays_on(&wire, game, kept).await;
    drop(node);
    goes_on_elsewhere(there.to_str().unwrap(), before, head).await;
}
