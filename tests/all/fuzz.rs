//! What comes from outside: seeds, and a bounded run of what becomes of them. Coverage is libFuzzer's: `tests/fuzz/libfuzzer/run`.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use plybook_fuzz::mutation::Mutator;
use plybook_fuzz::{TARGETS, Target};
use plybook_tests::node::root;

/// For each target; a slow machine tries less, and misses nothing that it tries.
const BUDGET: Duration = Duration::from_millis(1_500);
/// The same on every machine, before the time is looked at.
const ALWAYS: u64 = 50;

/// The seeds of a target, in the order of their names.
fn seeds(name: &str) -> Vec<Vec<u8>> {
    let fuzz = root().join("tests/fuzz/seeds");
    let mut files: Vec<PathBuf> = std::fs::read_dir(fuzz.join(name)).unwrap().map(|entry| entry.unwrap().path()).collect();
    if name == "book" {
        let golden = std::fs::read_dir(root().join("tests/golden")).unwrap().map(|entry| entry.unwrap().path());
        files.extend(golden.filter(|path| path.extension().is_some_and(|extension| extension == "ply")));
    }
    files.sort();
    assert!(!files.is_empty(), "{name} has seeds");
    files.iter().map(|path| std::fs::read(path).unwrap()).collect()
}

/// Runs it; what it panics over is shown so that it can be put among the seeds.
fn give(name: &str, target: Target, bytes: &[u8]) {
    if std::panic::catch_unwind(|| target(bytes)).is_err() {
        panic!("{name} panics over {:?}", String::from_utf8_lossy(bytes));
    }
}

#[test]
fn every_target_has_seeds_and_every_seed_a_target() {
    let folders = std::fs::read_dir(root().join("tests/fuzz/seeds")).unwrap();
    let folders: BTreeSet<String> = folders.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(folders, TARGETS.iter().map(|(name, _)| (*name).to_owned()).collect());
}

#[test]
fn nothing_that_comes_from_outside_is_a_reason_to_panic() {
    for (name, target) in TARGETS {
        let seeds = seeds(name);
        seeds.iter().for_each(|seed| give(name, *target, seed));
        let began = Instant::now();
        for number in 0.. {
            if number >= ALWAYS && began.elapsed() > BUDGET {
                break;
            }
            give(name, *target, &Mutator::new(number).next(&seeds));
        }
    }
}
