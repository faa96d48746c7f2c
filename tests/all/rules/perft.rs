//! Counts of move sequences and endings: tables as data, played through the rules.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use plybook_core::perft::{endings, perft};
use plybook_core::{ParamValue, Play, RulesetId, SeatSet, Verdict};
use plybook_tests::deal::Deal;
use plybook_tests::oracle::{Oracle, State};

/// A file of `tests/perft`; its form is described there.
#[derive(Debug)]
struct Table {
    deal: Deal,
    skips_count: bool,
    ended_count: bool,
    depths: Vec<(u32, u64)>,
    endings: BTreeMap<SeatSet, u64>,
    positions: Option<u64>,
    naive: Option<u32>,
}

fn read(path: &Path) -> Table {
    let text = std::fs::read_to_string(path).unwrap();
    let mut table = Table {
        deal: Deal::of(""),
        skips_count: false,
        ended_count: false,
        depths: Vec::new(),
        endings: BTreeMap::new(),
        positions: None,
        naive: None,
    };
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let words: Vec<&str> = line.split(' ').collect();
        let number = |word: &str| -> u64 { word.parse().unwrap_or_else(|_| panic!("{}: {line}", path.display())) };
        match words[..] {
            ["ruleset", id] => table.deal.ruleset = id.to_owned(),
            ["version", version] => table.deal = table.deal.version(number(version) as u32),
            ["param", name, value] => table.deal = table.deal.with(name, value_of(value)),
            ["seats", seats] => table.deal.seats = number(seats) as u8,
            ["skips", "count"] => table.skips_count = true,
            ["ended", "count"] => table.ended_count = true,
            ["depth", plies, count] => table.depths.push((number(plies) as u32, number(count))),
            ["ending", "draw", count] => drop(table.endings.insert(SeatSet::EMPTY, number(count))),
            ["ending", seats, count] => {
                let seats = seats.split(',').map(|seat| plybook_core::Seat(number(seat) as u8)).collect();
                table.endings.insert(seats, number(count));
            }
            ["positions", count] => table.positions = Some(number(count)),
            ["naive", plies] => table.naive = Some(number(plies) as u32),
            _ => panic!("{}: {line:?} is not a line of a table", path.display()),
        }
    }
    table
}

fn value_of(word: &str) -> ParamValue {
    match (word, word.parse()) {
        ("true", _) => ParamValue::Bool(true),
        ("false", _) => ParamValue::Bool(false),
        (_, Ok(number)) => ParamValue::Int(number),
        _ => ParamValue::Text(word.to_owned()),
    }
}

/// Like `perft`, for tables in which skipped turns are plies and games that ended stay counted.
fn perft_as_published(play: &mut Play, depth: u32, table: &Table) -> u64 {
    let actions = play.legal();
    if depth == 1 {
        return actions.len() as u64;
    }
    let mut count = 0;
    for action in actions {
        let changes = play.resolve(action, &[]).unwrap();
        let verdict = play.step(changes, false);
        let skips = if table.skips_count { verdict.skipped().len() as u32 } else { 0 };
        count += match verdict {
            // The skip is the last ply.
            Verdict::Next { .. } if depth - 1 <= skips => 1,
            Verdict::Next { .. } => perft_as_published(play, depth - 1 - skips, table),
            Verdict::Finished(_) => u64::from(table.ended_count),
        };
        play.back();
    }
    count
}

/// Every position that can come about, as its canonical text.
fn positions(play: &mut Play, seen: &mut BTreeSet<String>) {
    if !seen.insert(play.position().canonical_text(&RulesetId::new("any", 1))) {
        return;
    }
    for action in play.legal() {
        play.play(action, &[]).unwrap();
        positions(play, seen);
        play.back();
    }
}

fn naive_perft(oracle: &Oracle, state: &State, depth: u32, table: &Table) -> u64 {
    if depth == 0 {
        return 1;
    }
    if state.over.is_some() {
        return u64::from(table.ended_count);
    }
    let mut count = 0;
    for action in oracle.legal(state) {
        let after = oracle.after(state, action);
        let skips = if table.skips_count { after.skipped as u32 } else { 0 };
        count += naive_perft(oracle, &after, (depth - 1).saturating_sub(skips), table);
    }
    count
}

fn naive_endings(oracle: &Oracle, state: &State, counts: &mut BTreeMap<SeatSet, u64>) {
    if let Some((winners, _)) = &state.over {
        *counts.entry(winners.iter().map(|seat| plybook_core::Seat(*seat)).collect()).or_insert(0) += 1;
    }
    for action in oracle.legal(state) {
        naive_endings(oracle, &oracle.after(state, action), counts);
    }
}

fn check_naive(table: &Table, plies: u32, name: &str) {
    let oracle = Oracle::of(&table.deal).expect("the oracle knows the game");
    let start = oracle.begin();
    for (depth, count) in table.depths.iter().filter(|(depth, _)| *depth <= plies) {
        assert_eq!(naive_perft(&oracle, &start, *depth, table), *count, "{name}, depth {depth}, naively");
    }
    if !table.endings.is_empty() {
        let mut counts = BTreeMap::new();
        naive_endings(&oracle, &start, &mut counts);
        assert_eq!(counts, table.endings, "endings of {name}, naively");
    }
}

fn check(path: &Path) {
    let name = path.file_stem().unwrap().to_string_lossy();
    let table = read(path);
    let begun = std::time::Instant::now();
    let mut play = table.deal.play();
    let before = play.position().clone();
    for (depth, count) in &table.depths {
        let counted =
            if table.skips_count || table.ended_count { perft_as_published(&mut play, *depth, &table) } else { perft(&mut play, *depth) };
        assert_eq!(counted, *count, "{name}, depth {depth}");
    }
    if !table.endings.is_empty() {
        assert_eq!(endings(&mut play), table.endings, "endings of {name}");
    }
    if let Some(count) = table.positions {
        let mut seen = BTreeSet::new();
        positions(&mut play, &mut seen);
        assert_eq!(seen.len() as u64, count, "positions of {name}");
    }
    assert_eq!(*play.position(), before, "counting leaves the play as it was");
    let checked = table.depths.len() + table.endings.len() + usize::from(table.positions.is_some());
    assert!(checked > 0, "{name} has counts");
    let rules = begun.elapsed();
    if let Some(plies) = table.naive {
        check_naive(&table, plies, &name);
    }
    println!("{name}: {checked} counts, {rules:.1?} by the rules, {:.1?} in all", begun.elapsed());
}

fn tables() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("perft");
    let mut tables: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    tables.retain(|path| path.extension().is_some_and(|extension| extension == "txt"));
    tables.sort_by_key(|path| read(path).depths.iter().map(|(_, count)| *count).max());
    tables
}

#[test]
fn every_table_holds() {
    let tables = tables();
    for ruleset in plybook_tests::deal::RULESETS {
        let chance = ruleset == "snakes_and_ladders";
        let prefix = format!("{ruleset}-");
        let has = tables.iter().any(|path| path.file_name().unwrap().to_string_lossy().starts_with(&prefix));
        assert!(chance || has, "{ruleset} has a table");
    }
    // The tables share two threads, the longest first.
    let waiting = std::sync::Mutex::new(tables);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(path) = next(&waiting) {
                    check(&path);
                }
            });
        }
    });
}

fn next(waiting: &std::sync::Mutex<Vec<PathBuf>>) -> Option<PathBuf> {
    waiting.lock().unwrap().pop()
}
