//! Administrative calls are told, whatever else is.

use plybook_proto::v1;
use plybook_proto::v1::mint_seat_token_request::Holder;
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

/// Who mints or ends a game under which name, and who may not.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_line_says_by_what_right() {
    let folder = tempfile::tempdir().unwrap();
    let (file, log, seats) = (folder.path().join("books.db"), folder.path().join("log"), folder.path().join("seats.key"));
    let (file, seats) = (file.to_str().unwrap(), seats.to_str().unwrap());
    done(&["keygen", "--out", seats], file);
    done(&["tenant", "create", "shop"], file);
    let key = |role| done(&["token", "create", "--tenant", "shop", "--role", role, "--name", role], file).out.trim().to_owned();
    let (service, operator) = (key("service"), key("operator"));
    let node = node::over(file).with(&["--log", "off", "--auth", "required", "--seat-token-key", seats]).logs_to(&log).start();
    let bare = node.wire().await;
    let game = bare.bearing(&service).game().await;
    let asks = v1::MintSeatTokenRequest { game_id: game.id.clone(), holder: Some(Holder::Seat(1)), ttl: None };
    let minted = game.wire.games().mint_seat_token(asks.clone()).await.unwrap().into_inner().token;
    let (seat, operator) = (bare.bearing(&minted), bare.bearing(&operator));
    assert!(seat.games().mint_seat_token(asks.clone()).await.is_err());
    assert!(operator.games().mint_seat_token(asks).await.is_err(), "or an operator would play");
    let Live::Abort(aborting) = game.aborting(None) else { panic!("an AbortGame") };
    assert!(seat.games().abort_game(aborting.clone()).await.is_err());
    operator.games().abort_game(aborting).await.unwrap();

    until("all is told", async || told(&log).len() >= 5).await;
    let lines = told(&log);
    let line = |line: &Value| ["who", "role", "rpc", "outcome"].map(|key| line[key].as_str().unwrap().to_owned());
    let wanted = [
        ["service", "service", "MintSeatToken", "OK"],
        ["seat/1", "seat", "MintSeatToken", "ACCESS_DENIED"],
        ["operator", "operator", "MintSeatToken", "ACCESS_DENIED"],
        ["seat/1", "seat", "AbortGame", "ACCESS_DENIED"],
        ["operator", "operator", "AbortGame", "OK"],
    ];
    assert_eq!(lines.iter().map(line).collect::<Vec<_>>(), wanted);
    assert!(lines.iter().all(|line| line["tenant"] == 2 && line["game"] == game.id.as_str()));
}

/// What a command printed.
struct Printed {
    out: String,
    /// Its line in the audit log, where it has one: the command, and about what.
    line: Option<[String; 2]>,
}

/// Ann does it to this database, and it succeeds.
fn done(args: &[&str], database: &str) -> Printed {
    let output =
        std::process::Command::new(node::binary()).args(args).env("USER", "ann").env("PLYBOOK_DATABASE", database).output().unwrap();
    let (out, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(output.status.success(), "{args:?}: {err}");
    let line = err.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()).find(|line| line["target"] == "plybook_audit");
    let line = line.map(|line| {
        assert!(line["fields"]["who"] == "ann" && line["fields"]["outcome"] == "OK", "{line}");
        ["command", "about"].map(|key| line["fields"][key].as_str().unwrap().to_owned())
    });
    Printed { out, line }
}

/// Where the environment names nobody, as a timer's does, it is the user as whom the process acts.
#[test]
fn a_command_of_nobody_is_of_its_user() {
    let folder = tempfile::tempdir().unwrap();
    let id = std::process::Command::new("id").arg("-u").output().unwrap().stdout;
    let uid = format!("uid {}", String::from_utf8(id).unwrap().trim());
    for (user, logname, who) in [(None, None, uid.as_str()), (Some(""), None, uid.as_str()), (None, Some("ben"), "ben")] {
        let mut migrate = std::process::Command::new(node::binary());
        migrate.arg("migrate").arg("--database").arg(folder.path().join("books.db")).env_remove("USER").env_remove("LOGNAME");
        migrate.envs(user.map(|name: &str| ("USER", name))).envs(logname.map(|name: &str| ("LOGNAME", name)));
        let told = String::from_utf8(migrate.output().unwrap().stderr).unwrap();
        let line: Value = told.lines().find_map(|line| serde_json::from_str(line).ok()).unwrap();
        assert_eq!(line["fields"]["who"], who, "{told}");
    }
}

/// At a terminal it is people who do it.
#[test]
fn a_command_that_changes_a_database_has_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("books.db").to_str().unwrap().to_owned();
    let about = |args: &[&str], command: &str| {
        let [told, about] = done(args, &file).line.unwrap();
        assert_eq!(told, command);
        about
    };
    assert_eq!(about(&["migrate"], "migrate"), format!("{file} (SQLite)"));
    assert_eq!(about(&["tenant", "create", "shop"], "tenant create"), "shop");
    let create = ["token", "create", "--tenant", "shop", "--role", "auditor", "--name", "audit"];
    let made = done(&create, &file);
    let [command, id] = made.line.unwrap();
    assert!(command == "token create" && made.out.starts_with(&format!("ply_{id}_")), "{id}");
    assert_eq!(about(&["token", "revoke", &id], "token revoke"), id);
    assert_eq!(done(&["token", "list", "--tenant", "shop"], &file).line, None, "looking changes nothing");
    let mut migrate = std::process::Command::new(node::binary());
    let failed = migrate.args(["migrate", "--database"]).arg(folder.path()).output().unwrap();
    assert!(!failed.status.success() && !String::from_utf8_lossy(&failed.stderr).contains("plybook_audit"), "nothing was done");
}
