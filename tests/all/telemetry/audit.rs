//! Administrative calls are told, whatever else is.

use plybook_tests::live::Live;
use plybook_tests::node;
use plybook_tests::patience::until;
use serde_json::Value;

/// The lines of the audit log.
fn told(log: &std::path::Path) -> Vec<Value> {
    let text = std::fs::read_to_string(log).unwrap();
    let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines.filter(|line| line["target"] == "plybook_audit").map(|line| line["fields"].clone()).collect()
}

fn short(line: &Value) -> [&str; 4] {
    ["who", "rpc", "game", "outcome"].map(|key| line[key].as_str().unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_administrative_call_is_a_line_though_no_log_is_wanted() {
    let folder = tempfile::tempdir().unwrap();
    let (file, log) = (folder.path().join("books.db"), folder.path().join("log"));
    let node = node::over(file.to_str().unwrap()).with(&["--log", "off"]).logs_to(&log).start();
    let wire = node.wire().await;
    let mut aborted = wire.game().await;
    aborted.acts(aborted.aborting(None)).await;
    let again = aborted.refuses_act(aborted.aborting(None)).await.reason;
    let removed = wire.game().seats(3).await;
    removed.wire.asks(removed.removing(2)).await.unwrap();
    let finished = wire.game().await;
    let too_early = finished.refuses_close(finished.asks_close()).await.reason;
    let file = wire.book(&aborted.id).await;
    // Its own book is there already.
    let imported = wire.import(&file).await;
    let nonsense = wire.import("nonsense").await;
    assert!(imported.is_err() && nonsense.is_err());
    let Live::Abort(shapeless) = aborted.aborting(None).game("secret words") else { panic!("an AbortGame") };
    assert!(wire.games().abort_game(shapeless).await.is_err());

    until("all is told", async || told(&log).len() >= 7).await;
    let lines = told(&log);
    let wanted: [[&str; 4]; 7] = [
        ["anonymous", "AbortGame", &aborted.id, "OK"],
        ["anonymous", "AbortGame", &aborted.id, &again],
        ["anonymous", "RemoveSeat", &removed.id, "OK"],
        ["anonymous", "CloseGame", &finished.id, &too_early],
        ["anonymous", "ImportBook", "", "GAME_EXISTS"],
        ["anonymous", "ImportBook", "", "INVALID_PARAMETER"],
        ["anonymous", "AbortGame", "", "INVALID_PARAMETER"],
    ];
    assert_eq!(lines.iter().map(short).collect::<Vec<_>>(), wanted);
    for line in &lines {
        assert!(line["tenant"] == 1 && line["role"].is_string() && line["trace_id"].is_string(), "{line}");
    }
    assert!(!std::fs::read_to_string(&log).unwrap().contains("secret words"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_is_turned_off_by_its_name_alone() {
    let folder = tempfile::tempdir().unwrap();
    let (file, log) = (folder.path().join("books.db"), folder.path().join("log"));
    let node = node::over(file.to_str().unwrap()).with(&["--log", "info,plybook_audit=off"]).logs_to(&log).start();
    let mut game = node.wire().await.game().await;
    game.acts(game.aborting(None)).await;
    drop(game);
    node.terminate();
    assert!(node.ended().success());
    assert!(told(&log).is_empty() && std::fs::read_to_string(&log).unwrap().contains("serving"));
}

/// At a terminal it is people who do it.
#[test]
fn a_command_that_changes_a_database_has_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("books.db");
    let migrate = |database: &std::path::Path| {
        let mut command = std::process::Command::new(node::binary());
        command.args(["migrate", "--database"]).arg(database).env("USER", "ann").output().unwrap()
    };
    let done = migrate(&file);
    assert!(done.status.success());
    let line: Value = serde_json::from_slice(&done.stderr).unwrap();
    assert_eq!(line["target"], "plybook_audit");
    let told = ["who", "command", "about", "outcome"].map(|key| line["fields"][key].as_str().unwrap().to_owned());
    assert_eq!(told, ["ann".to_owned(), "migrate".to_owned(), format!("{} (SQLite)", file.display()), "OK".to_owned()]);
    let failed = migrate(folder.path());
    assert!(!failed.status.success() && !String::from_utf8_lossy(&failed.stderr).contains("plybook_audit"), "nothing was done");
}
