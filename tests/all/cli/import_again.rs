//! An import that is interrupted and run again leaves every game once.

use std::collections::BTreeMap;
use std::time::Instant;

use plybook_client::Client;
use plybook_tests::patience::PATIENCE;
use plybook_tests::ports::Nobody;
use plybook_tests::{node, postgres};
use serde_json::Value;

use super::{House, command, ended, games, run, send};

/// Games of eight moves that nobody has won.
fn many(count: u32) -> String {
    let game = |n: u32| (n..n + 8).map(|column| (column % 7 + 1).to_string()).collect::<String>();
    (0..count).map(|n| format!("{}\n", game(n))).collect()
}

/// Game ids and digests by record.
fn report(path: &std::path::Path) -> BTreeMap<String, (String, String)> {
    let text = std::fs::read_to_string(path).unwrap();
    let line = |line: &str| {
        let line: Value = serde_json::from_str(line).unwrap();
        let word = |key: &str| line[key].as_str().unwrap().to_owned();
        (word("id"), (word("game_id"), word("position_digest")))
    };
    text.lines().map(line).collect()
}

/// Waits until the server has so many games: the import is in its middle.
async fn until_games(client: &Client, count: usize) {
    let by = Instant::now() + PATIENCE;
    while games(client).await.len() < count {
        assert!(Instant::now() < by, "the import gets on");
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_import_run_again_adds_nothing() {
    let house = House::open();
    let file = house.file("games.c4", "4455667\n1212\n4455667\n");
    let first = house.path().join("first.jsonl");
    let second = house.path().join("second.jsonl");
    house.import(&[&file, "--report", first.to_str().unwrap()]).ok();
    house.import(&[&file, "--report", second.to_str().unwrap(), "--jobs", "1"]).ok();
    // Two games with the same moves are two games.
    assert_eq!(house.games().await.len(), 3);
    assert_eq!(std::fs::read(first).unwrap(), std::fs::read(&second).unwrap());

    // The same file under other rules is not the same import, and says so.
    let wider = house.import(&[&file, "--param", "cols=8"]);
    wider.fails(1, "REQUEST_ID_REUSED").fails(1, "--batch");
    house.import(&[&file, "--param", "cols=8", "--batch", "wide"]).ok();
    assert_eq!(house.games().await.len(), 6);

    // Under a name, a file that has grown adds what is new.
    let grown = house.file("games.c4", "4455667\n1212\n4455667\n7\n");
    house
        .import(&[&grown, "--param", "cols=8", "--batch", "wide"])
        .ok()
        .says("4 games: 1 imported (1 move), 3 were there already, 0 refused, in ");
    assert_eq!(house.games().await.len(), 7);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_importer_killed_in_the_middle_goes_on() {
    let house = House::open();
    let file = house.file("games.c4", &many(40));
    let url = house.node.url();
    let mut importer = command(&["import", "--server", &url, "--jobs", "2", &file]).spawn().unwrap();
    until_games(&house.client(), 5).await;
    importer.kill().unwrap();
    importer.wait().unwrap();
    let found = house.games().await.len();
    assert!(found < 40, "it was killed in the middle, not after the end");
    house.import(&[&file]).ok().says("40 games: ").says(" imported (").says(" there already, 0 refused, in ");
    assert_eq!(house.games().await.len(), 40);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_killed_in_the_middle_is_replaced_by_the_next() {
    let database = postgres::database().await;
    let (one, two) = (node::over(&database.url).start(), node::over(&database.url).start());
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("games.c4");
    std::fs::write(&file, many(60)).unwrap();
    let file = file.to_str().unwrap().to_owned();
    let (broken, whole) = (folder.path().join("broken.jsonl"), folder.path().join("whole.jsonl"));
    let servers = format!("{},{}", one.url(), two.url());
    let args = ["import", "--server", &servers, "--jobs", "4", &file, "--report", broken.to_str().unwrap()];
    let importer = command(&args).spawn().unwrap();
    let client = Client::connect(&two.url()).unwrap();
    until_games(&client, 8).await;
    one.kill();
    let output = importer.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(games(&client).await.len(), 60);

    // Undisturbed, into an empty house: the same positions.
    let house = House::open();
    house.import(&[&file, "--report", whole.to_str().unwrap()]).ok();
    let digests = |path| report(path).into_iter().map(|(id, (_, digest))| (id, digest)).collect::<Vec<_>>();
    assert_eq!(digests(&broken), digests(&whole));
    // And once more against the server that is left: the same games.
    let again = folder.path().join("again.jsonl");
    let url = two.url();
    let ran = run(&["import", "--server", &url, &file, "--report", again.to_str().unwrap()], "");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(report(&again), report(&broken));
    assert_eq!(games(&client).await.len(), 60);
}

#[test]
fn no_server_left_is_told_and_can_be_gone_on_with() {
    let house = House::open();
    let file = house.file("games.c4", "44\n55\n");
    let nobody = Nobody::new();
    let url = format!("http://{}", nobody.address());
    let ran = run(&["import", "--server", &url, "--patience", "1", &file], "");
    ran.fails(1, "2 games were not finished: no answer after").fails(1, "Run the same command again");
    house.import(&[&file]).ok().says("2 games: 2 imported (4 moves), 0 refused, in ");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_report_is_not_written_over_a_record() {
    let house = House::open();
    let file = house.file("games.c4", "44\n55\n");
    let (soft, hard) = (house.path().join("soft.jsonl"), house.path().join("hard.jsonl"));
    std::os::unix::fs::symlink(&file, &soft).unwrap();
    std::fs::hard_link(&file, &hard).unwrap();
    let winding = house.path().join(".").join("games.c4");
    for report in [std::path::Path::new(&file), &soft, &hard, &winding] {
        let ran = house.import(&[&file, "--report", report.to_str().unwrap()]);
        ran.fails(2, "--report: ").fails(2, "one of the files to import");
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "44\n55\n");
    assert_eq!(house.games().await.len(), 0);
    let other = house.file("report.jsonl", "an older report");
    house.import(&[&file, "--report", &other]).ok();
    assert_eq!(report(std::path::Path::new(&other)).len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn new_games_are_told_from_those_there_already() {
    let house = House::open();
    let file = house.file("games.c4", "44\n55\n");
    house.import(&[&file, "--batch", "b"]).ok().says("2 games: 2 imported (4 moves), 0 refused, in ");
    house.import(&[&file, "--batch", "b"]).ok().says("2 games: 0 imported (0 moves), 2 were there already, 0 refused, in ");
    let one = house.file("one.c4", "4\n");
    house.import(&[&one]).ok().says("1 game: 1 imported (1 move), 0 refused, in ");
    house.import(&[&one]).ok().says("1 game: 0 imported (0 moves), 1 was there already, 0 refused, in ");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_importer_interrupted_in_the_middle_tells_how_far_it_came() {
    for (signal, name) in [("INT", "interrupted"), ("TERM", "terminated")] {
        let house = House::open();
        let file = house.file("games.c4", &many(100));
        let written = house.path().join("report.jsonl");
        let url = house.node.url();
        let args = ["import", "--server", &url, "--jobs", "2", "--batch", name, &file, "--report", written.to_str().unwrap()];
        let importer = command(&args).spawn().unwrap();
        until_games(&house.client(), 8).await;
        send(signal, &importer);
        let ran = ended(importer)
            .fails(130, "plybook: interrupted: ")
            .fails(130, " were not finished. Run the same command again: nothing is created twice");
        let finished = report(&written).len();
        assert!((6..100).contains(&finished), "it ended in the middle: {ran:?}");
        ran.says(&format!("100 games: {finished} imported ({} moves), 0 refused, in ", finished * 8));
        house.import(&args[3..]).ok().says("100 games: ").says(" were there already, 0 refused, in ");
        assert_eq!(house.games().await.len(), 100);
        assert_eq!(report(&written).len(), 100);
    }
}
