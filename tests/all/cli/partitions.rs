//! `plybook partitions`: months listed, made ahead, packed and dropped, while servers and whoever follows them go on.

use plybook_core::Uuid;
use plybook_proto::v1;
use plybook_store::{Month, Partitions, PostgresOptions};
use plybook_tests::node;
use plybook_tests::postgres::{self, TestDatabase};
use plybook_tests::wire::Wire;

use super::{House, Ran, run};

/// Games of this month were over long ago, which is when the golden books were played.
const LONG_AGO: &str = "2024-06";
const GOLDENS: [&str; 4] = ["connect_four-2", "mnk-wide", "mnk-undo-agreed-seats3", "snakes_and_ladders-clock-skip"];

fn partitions(database: &TestDatabase, args: &[&str]) -> Ran {
    run(&[&["partitions"], args, &["--database", &database.url]].concat(), "")
}

/// All that a server says of these games, and the feed of all.
async fn told(wire: &Wire, games: &[String]) -> (Vec<(v1::Game, String, v1::VerifyGameResponse)>, Vec<v1::Event>) {
    let mut told = Vec::new();
    for id in games {
        told.push((wire.get(id).await, wire.book(id).await, wire.verified(id).await.unwrap()));
    }
    (told, wire.feed().whole().await)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_packed_month_is_served_as_before() {
    let database = postgres::database().await;
    let month: Month = LONG_AGO.parse().unwrap();
    Partitions::open(&PostgresOptions::new(&database.url)).await.unwrap().make(&[month]).await.unwrap();
    let running = node::over(&database.url).start();
    let wire = running.wire().await;
    let mut games = Vec::new();
    for golden in GOLDENS {
        let file = std::fs::read(node::root().join(format!("tests/golden/{golden}.ply"))).unwrap();
        games.push(wire.import(file).await.unwrap().game_id);
    }
    assert!(games.iter().all(|game| Month::of_game(game.parse::<Uuid>().unwrap()) == month), "{games:?}");
    let mut played = wire.game().await;
    played.play("a1 b2").await;
    let entries = told(&wire, &games).await.0.iter().map(|(game, ..)| game.seq).sum::<u64>();
    // Other tests' transactions may hide the last ones for a while.
    plybook_tests::patience::until("the feed shows all", async || told(&wire, &games).await.1.len() as u64 == entries + 3).await;
    let before = told(&wire, &games).await;

    let packed = partitions(&database, &["pack", LONG_AGO]).ok();
    assert_eq!(packed.out.trim(), format!("{LONG_AGO} is packed: {entries} entries of {} games, all read back", games.len()));
    let row = |ran: Ran| ran.out.lines().nth(1).unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
    let list = row(partitions(&database, &["list"]).ok());
    assert!(list.starts_with(&format!("{LONG_AGO} {entries} ")) && list.ends_with(" 4 0 packed, and its table is there too"), "{list}");

    // The node that knew them, and one that knows nothing.
    let cold = node::over(&database.url).start();
    for wire in [&wire, &cold.wire().await] {
        assert_eq!(told(wire, &games).await, before);
        let listed = v1::ListGamesRequest { page_size: 100, ..Default::default() };
        assert_eq!(wire.games().list_games(listed).await.unwrap().into_inner().games.len(), games.len() + 1);
    }
    played.play("c3").await;
    assert!(partitions(&database, &["drop", LONG_AGO]).ok().out.contains(&format!("{entries} entries of 4 games are packed")));
    assert!(row(partitions(&database, &["list"]).ok()).ends_with(" 4 0 packed"));
    assert_eq!(told(&cold.wire().await, &games).await.0, before.0);
    run(&["verify", "--database", &database.url], "").ok();
    partitions(&database, &["pack", LONG_AGO]).fails(2, "is packed already");
    partitions(&database, &["drop", LONG_AGO]).fails(2, "is gone already");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn months_are_made_and_listed() {
    let database = postgres::database().await;
    let made = partitions(&database, &["ahead", "--months", "2"]).ok();
    let next = Month::of_game(Uuid::now_v7()).next();
    assert_eq!(made.out, format!("{next} has a partition now\n{} has a partition now\n", next.next()));
    assert_eq!(partitions(&database, &["ahead", "--months", "2"]).ok().out, "every one of these months has a partition already\n");
    let list = partitions(&database, &["list"]).ok().out;
    let months: Vec<&str> = list.lines().map(|line| line.split_whitespace().next().unwrap()).collect();
    assert_eq!(months, ["month", &next.to_string(), &next.next().to_string(), "others"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_comes_while_another_is_at_work_is_told_so() {
    let database = postgres::database().await;
    let mut other = Partitions::open(&PostgresOptions::new(&database.url)).await.unwrap();
    other.make(&[]).await.unwrap();
    partitions(&database, &["ahead"]).fails(1, "another `plybook partitions` is at work");
    partitions(&database, &["list"]).ok();
    drop(other);
    partitions(&database, &["ahead"]).ok();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_makes_no_sense_is_one_sentence() {
    let database = postgres::database().await;
    for (args, words) in [
        (&["pack", "2024-13"][..], "is no month"),
        (&["pack", LONG_AGO], "has no partition"),
        (&["ahead", "--months", "0"], "0 is not in"),
        (&["ahead", "--database-sessions", "lent"], "no pooler"),
    ] {
        partitions(&database, args).fails(2, words);
    }
    let pooler = database.pooled_url().await;
    for command in [&["partitions", "list", "--database", &pooler][..], &["migrate", "--database", &pooler]] {
        run(command, "").fails(2, "this is a pooler and no database");
    }
    let house = House::open();
    let file = house.path().join("books.db");
    run(&["partitions", "list", "--database", file.to_str().unwrap()], "").fails(2, "has no partitions");
    let empty = postgres::empty_database().await;
    partitions(&empty, &["list"]).fails(2, "plybook migrate");
}
