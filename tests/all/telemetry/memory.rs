//! What a node remembers is bounded by what it was told, whatever is played on it.

use plybook_tests::node;
use plybook_tests::patience::until;

use super::page::page;
use super::with_page;

const MIB: f64 = 1_048_576.0;
/// About three times as many as a MiB holds.
const GAMES: usize = 600;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_remembers_no_more_games_than_its_memory_for_them_holds() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("plybook.db");
    let node = with_page(node::over(database.to_str().unwrap())).with(&["--games-cache-mib", "1", "--log", "warn"]).start();
    let wire = node.wire().await;
    let mut games = Vec::new();
    for _ in 0..GAMES {
        let mut game = wire.game().await;
        game.play("b2").await;
        games.push(game);
    }
    let size = async || page(&node).await.sum("plybook_cache_size_bytes", &[("cache", "tables")]);
    until("what is too much is forgotten", async || (MIB / 4.0..=MIB).contains(&size().await)).await;
    let remembered = page(&node).await.sum("plybook_game_remembered", &[]);
    assert!((1.0..GAMES as f64 * 0.75).contains(&remembered), "{remembered} of {GAMES} are remembered");
    // A game that was forgotten goes on.
    for game in [games.swap_remove(1), games.swap_remove(0)] {
        let mut game = game;
        game.play("a1").await;
    }
    until("it is forgotten again", async || size().await <= MIB).await;
}
