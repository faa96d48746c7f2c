//! `plybook bench`: the shape of its figures, and that nothing of it stays. No time is judged.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;

use plybook_tests::patience::PATIENCE;
use plybook_tests::{node, ports, postgres};
use serde_json::Value;

use super::{House, command, ended, games, run, send};

/// So short that the figures mean nothing.
const SHORT: &[&str] = &["--seconds", "1", "--rounds", "1", "--callers", "1,3"];
const SMALL: &[&str] =
    &["--streams", "24", "--entries", "30", "--cold-entries", "5", "--cold-games", "30", "--bot-nodes", "300", "--memory-games", "640"];
const KINDS: [&str; 3] = ["empty_rpc", "one_row_insert", "plain_transaction"];

/// A run over a throwaway Postgres in this folder.
fn throwaway<'a>(binaries: &'a Path, scratch: &'a Path) -> [&'a str; 4] {
    ["--postgres", binaries.to_str().unwrap(), "--scratch", scratch.to_str().unwrap()]
}

fn rows(out: &str) -> Vec<Value> {
    serde_json::from_str(out).unwrap_or_else(|why| panic!("{why}: {out}"))
}

/// Empty, or gone.
fn is_empty(folder: &Path) -> bool {
    std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none()) || !folder.exists()
}

/// What holds of every row, whatever it measures.
#[track_caller]
fn sane(row: &Value, kinds: &[&str]) {
    let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("a figure is missing: {row:#}"));
    assert!(row["callers"].as_u64() >= Some(1) && row["rounds"] == 1, "{row:#}");
    let rate =
        ["moves", "entries", "events", "choices", "calls"].map(|unit| format!("{unit}_per_s")).into_iter().find_map(|key| row.get(key));
    assert!(number(rate.unwrap()) > 0.0, "{row:#}");
    assert!(number(&row["p50_ms"]) > 0.0 && number(&row["p50_ms"]) <= number(&row["p99_ms"]), "{row:#}");
    for what in ["ratio", "p50_ratio", "p99_ratio"] {
        let ratios = row[what].as_object().unwrap();
        assert_eq!(ratios.keys().collect::<Vec<_>>(), kinds, "{row:#}");
        assert!(ratios.values().all(|ratio| number(ratio) > 0.0), "{row:#}");
    }
    assert_eq!(row["floors"].as_object().unwrap().keys().collect::<Vec<_>>(), kinds, "{row:#}");
}

#[test]
fn every_workload_stands_beside_its_floors() {
    let (binaries, folder) = (postgres::binaries(), tempfile::tempdir().unwrap());
    let scratch = folder.path().join("scratch");
    std::fs::create_dir(&scratch).unwrap();
    let chart = folder.path().join("chart.svg");
    let flags = [&["bench", "--json", "--nodes", "2", "--chart", chart.to_str().unwrap()], SHORT, SMALL, &throwaway(&binaries, &scratch)];
    let ran = run(&flags.concat(), "").ok();
    assert!(ran.err.contains("fsync on, synchronous_commit on"), "{}", ran.err);
    assert!(is_empty(&scratch), "nothing is left behind");

    let rows = rows(&ran.out);
    for row in &rows {
        match row["workload"].as_str().unwrap() {
            "bots" => sane(row, &["random@1"]),
            "memory" => continue,
            _ => sane(row, &KINDS),
        }
        let writes = row.get("moves_per_s").is_some() && row["workload"] != "watch";
        let wal = row["wal_bytes_per_move"].as_f64();
        assert_eq!(wal.is_some(), writes, "{row:#}");
        assert!(wal.is_none_or(|bytes| bytes > 100.0), "a row has more bytes than that: {row:#}");
    }
    let of = |workload: &str| rows.iter().filter(|row| row["workload"] == workload).collect::<Vec<_>>();
    for workload in ["append", "hot-game", "cold", "replay", "verify"] {
        let callers: Vec<_> = of(workload).iter().map(|row| row["callers"].as_u64().unwrap()).collect();
        assert_eq!(callers, [1, 3], "{workload}");
    }
    let floors: Vec<_> = of("floor").iter().map(|row| row["kind"].as_str().unwrap().to_owned()).collect();
    assert_eq!(floors, ["plain_transaction", "one_row_insert", "empty_rpc"].repeat(2));
    let fed: Vec<_> = of("feed").iter().map(|row| (row["kind"].as_str().unwrap(), row["callers"].as_u64().unwrap())).collect();
    assert_eq!(fed, [("history", 1), ("live", 1), ("history", 3), ("live", 3)]);
    let kept: Vec<_> = of("memory").iter().map(|row| (row["kind"].as_str().unwrap(), row["games"].as_u64().unwrap())).collect();
    assert_eq!(kept, [("live", 640), ("left", 320)]);
    for row in of("memory") {
        let samples = (0..=10).map(|tenth| row[format!("resident_mib_at_{}", tenth * 10)].as_f64().unwrap());
        assert!(samples.into_iter().all(|mib| mib > 1.0) && row["moves_per_s"].as_f64() > Some(0.0), "{row:#}");
    }
    let watched: Vec<_> = of("watch").iter().map(|row| (row["streams"].as_u64(), row["games"].as_u64())).collect();
    assert_eq!(watched, [(Some(24), Some(1)), (Some(24), Some(2))]);
    assert!(of("watch").iter().all(|row| row["after_answer_p99_ms"].as_f64() >= row["after_answer_p50_ms"].as_f64()));
    assert!(of("replay").iter().chain(&of("verify")).all(|row| row["entries"] == 30));
    assert!(of("bots").len() >= 5 && of("bots").iter().all(|row| row["nodes_per_s"].as_f64() > Some(0.0)));

    let svg = std::fs::read_to_string(&chart).unwrap();
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n") && !svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    for named in ["append", "hot-game", "floor plain_transaction", "watch streams=24", "bots minimax@1"] {
        assert!(svg.contains(named), "{named}");
    }
}

#[test]
fn a_file_has_no_statements_to_stand_beside() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("books.db");
    let over = ["--database", file.to_str().unwrap()];
    let ran = run(&[&["bench", "append", "watch", "--json"], SHORT, SMALL, &over].concat(), "").ok();
    for row in rows(&ran.out) {
        assert_eq!(row["ratio"]["plain_transaction"], Value::Null, "{row:#}");
        assert!(row["ratio"]["empty_rpc"].as_f64() > Some(0.0), "{row:#}");
    }
    let ran = run(&[&["bench", "append", "--json", "--receipts"], SHORT, SMALL, &over].concat(), "").ok();
    for row in rows(&ran.out) {
        assert_eq!(row["receipts"], 1, "{row:#}");
        assert!(row["ratio"]["without_receipts"].as_f64() > Some(0.0), "{row:#}");
        assert!(row["floors"]["without_receipts"]["moves_per_s"].as_f64() > Some(0.0), "{row:#}");
    }
    let ran = run(&[&["bench", "append", "--receipts"], SHORT, SMALL, &over].concat(), "").ok();
    assert!(ran.out.contains("\n  without_receipts ") && ran.out.contains("\n  x without_receipts "), "{}", ran.out);
    run(&[&["bench", "cold"], SHORT, SMALL, &over].concat(), "").fails(2, "cold starts a node of its own over a Postgres");
    run(&[&["bench", "append", "--nodes", "2"], SHORT, &over].concat(), "").fails(2, "a file is the store of one node");
}

#[tokio::test]
async fn a_running_server_keeps_its_games_and_nothing_else() {
    let database = postgres::database().await;
    let node = node::over(&database.url).start();
    let (server, url) = (node.url(), database.url.clone());
    let measure = move || run(&[&["bench", "append", "--server", &server, "--database", &url], SHORT].concat(), "");
    let ran = tokio::task::spawn_blocking(measure.clone()).await.unwrap().ok();
    let head = ran.out.lines().next().unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(head, "WORKLOAD CALLERS A SECOND P50 MS P99 MS WAL B/MOVE x PLAIN x INSERT x EMPTY");
    assert_eq!(ran.out.lines().filter(|line| line.starts_with("append ")).count(), 2, "{}", ran.out);
    assert_eq!(ran.out.lines().filter(|line| line.starts_with("  plain_transaction ")).count(), 2, "{}", ran.out);
    let schemas = "SELECT nspname::text FROM pg_namespace WHERE nspname = 'plybook_bench'";
    assert!(database.column(schemas).await.is_empty(), "the floors' tables are dropped");
    let client = plybook_client::Client::connect(&node.url()).unwrap();
    assert!(!games(&client).await.is_empty());

    database.execute("CREATE SCHEMA plybook_bench").await;
    let refused = tokio::task::spawn_blocking(measure).await.unwrap();
    refused.fails(2, "DROP SCHEMA plybook_bench CASCADE");
    assert_eq!(database.column(schemas).await.len(), 1, "what another bench may be using stays");
}

/// A long run, once it measures.
fn measuring(scratch: &Path, binaries: &Path) -> std::process::Child {
    let flags = [&["bench", "append", "--seconds", "3600", "--callers", "2"], &throwaway(binaries, scratch)[..]].concat();
    let mut bench = command(&flags).spawn().unwrap();
    let mut told = BufReader::new(bench.stderr.as_mut().unwrap());
    let mut line = String::new();
    while !line.starts_with("append: ") {
        line.clear();
        assert_ne!(told.read_line(&mut line).unwrap(), 0, "it begins to measure");
    }
    assert!(!is_empty(scratch));
    bench
}

/// Standard error is the nodes' too, so that it closes when the last of them is gone: [`ended`] waits for that.
#[test]
fn what_was_started_ends_with_the_bench() {
    let (binaries, folder) = (postgres::binaries(), tempfile::tempdir().unwrap());
    let bench = measuring(folder.path(), &binaries);
    send("INT", &bench);
    ended(bench).fails(130, "interrupted");
    assert!(is_empty(folder.path()));

    let bench = measuring(folder.path(), &binaries);
    send("KILL", &bench);
    assert_eq!(ended(bench).code, -1);
    let by = std::time::Instant::now() + PATIENCE;
    // A shell that is not root may not remove the folder itself.
    while std::fs::read_dir(folder.path()).unwrap().any(|left| !is_empty(&left.unwrap().path())) {
        assert!(std::time::Instant::now() < by, "the database goes although nobody could tell it to");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

#[test]
fn what_cannot_be_measured_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let nowhere = folder.path().to_str().unwrap();
    run(&["bench", "floor", "--postgres", nowhere], "").fails(2, "has no initdb and postgres in it");
    run(&["bench", "bots", "--chart", &format!("{nowhere}/no/chart.svg")], "").fails(2, "--chart");
    run(&["bench", "append", "--server", "127.0.0.1:50051"], "").fails(2, "does not begin with http://");
    run(&["bench", "append", "--callers", "0"], "").fails(2, "--callers");
    run(&["bench", "everything"], "").fails(2, "hot-game");
    let nobody = ports::Nobody::new();
    run(&["bench", "append", "--server", &format!("http://{}", nobody.address())], "").fails(1, "does not answer");
    let other = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", other.local_addr().unwrap());
    std::thread::spawn(move || {
        other.incoming().flatten().for_each(|mut caller| drop(caller.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")))
    });
    let refused = run(&["bench", "append", "--server", &url], "").fails(1, "does not answer as a Plybook server does");
    assert!(!refused.err.contains('{'), "in words: {}", refused.err);
    let house = House::open();
    run(&[&["bench", "cold", "--server", &house.node.url()], SHORT].concat(), "").fails(2, "cold starts a node of its own");
}
