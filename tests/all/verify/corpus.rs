//! Books that releases of Plybook have written: each verifies in every later release.
//!
//! `PLYBOOK_WRITE_CORPUS=1 cargo test -p plybook-tests corpus` writes this version's books into
//! `tests/corpus/<version>` where they are not there yet. What was released is never written again, and
//! what does not verify is not the book's fault: a rule has changed its meaning.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Once;

use plybook_core::entropy::IfAbsent;
use plybook_core::game::State;
use plybook_core::verify::verify;
use plybook_rulesets::Registry;
use plybook_tests::deal::Deal;
use plybook_tests::random::Random;
use plybook_tests::table::{Table, table};
use plybook_tests::{lively, node};

use super::second;

/// Games of each version of a ruleset.
const GAMES: u64 = 4;
/// Requests in a game that does not end before.
const REQUESTS: u64 = 120;
/// Games with nonces of the seats.
const JOINT: u64 = 9;
/// Live games.
const LIVE: u64 = 14;
/// For each step of joining.
const SECONDS: u32 = 3600;

fn folder() -> PathBuf {
    node::root().join("tests/corpus")
}

/// Every book, by its path; those of this version are written first where that was asked for.
fn books() -> Vec<PathBuf> {
    static WRITTEN: Once = Once::new();
    WRITTEN.call_once(|| {
        if std::env::var_os("PLYBOOK_WRITE_CORPUS").is_some() {
            write(&folder().join(env!("CARGO_PKG_VERSION")));
        }
    });
    let list = |folder: &Path| -> Vec<PathBuf> { std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect() };
    let mut books: Vec<PathBuf> = list(&folder()).iter().filter(|path| path.is_dir()).flat_map(|folder| list(folder)).collect();
    books.sort();
    books
}

fn write(folder: &Path) {
    std::fs::create_dir_all(folder).unwrap();
    for (name, table) in games() {
        let path = folder.join(format!("{name}.ply"));
        if !path.exists() {
            std::fs::write(path, table.book().print()).unwrap();
        }
    }
}

/// The games that this version writes: whatever its rulesets and the seeds of these numbers give.
fn games() -> Vec<(String, Table)> {
    let registry = Registry::standard();
    let games = registry.cards().enumerate().flat_map(|(at, card)| {
        (0..GAMES).map(move |n| {
            let mut random = Random::new(1000 * (at as u64 + 1) + n);
            let deal = dealt(card.name, n, &mut random).version(card.version);
            (format!("{}-{}-{n}", card.name, card.version), played(&deal, &mut random))
        })
    });
    games.chain(forks()).chain(joint()).chain(live()).collect()
}

/// Live games: with clocks, bots, offers, absences, and whatever their terms let happen.
fn live() -> impl Iterator<Item = (String, Table)> {
    (0..LIVE).map(|n| {
        let mut random = Random::new(5_000_000 + n);
        let mut table = lively::laid(&mut random);
        for _ in 0..REQUESTS {
            if table.game().state() == State::Closed {
                break;
            }
            lively::happens(&mut table, &mut random, |_, _| {});
        }
        (format!("{}-live-{n}", table.header().ruleset.name), table)
    })
}

/// A fork of a game of each version of a ruleset.
fn forks() -> impl Iterator<Item = (String, Table)> {
    let cards: Vec<_> = Registry::standard().cards().map(|card| (card.name, card.version)).collect();
    cards.into_iter().enumerate().map(|(at, (name, version))| {
        let mut random = Random::new(1_000_000 + at as u64);
        let fork = forked(&dealt(name, 1, &mut random).version(version), &mut random);
        (format!("{name}-{version}-fork"), onward(fork, &mut random))
    })
}

/// Games that ask for nonces; every third is a fork.
fn joint() -> impl Iterator<Item = (String, Table)> {
    (0..JOINT).map(|n| {
        let mut random = Random::new(2_000_000 + n);
        let deal = dealt("snakes_and_ladders", 1, &mut random);
        let laid = match n % 3 {
            2 => forked(&deal, &mut random),
            _ => deal.table().undo_over_throw().seed(random.bytes()).id(random.bits().into()),
        };
        let laid = laid.receipts_always().joint(SECONDS, *random.pick(&[IfAbsent::Abort, IfAbsent::Forfeit]));
        let joined = laid.joined_at_random(SECONDS.into(), &mut random, |_| {});
        (format!("snakes_and_ladders-1-joint-{n}"), onward(joined, &mut random))
    })
}

/// The beginning of a game goes on as another one.
fn forked(deal: &Deal, random: &mut Random) -> Table {
    let mut origin = deal.table().undo_over_throw().seed(random.bytes()).id(random.bits().into());
    let mut at = 1;
    for _ in 0..1 + random.below(12) {
        let Some((action, _)) = random.action(origin.game().play()) else { break };
        let notation = origin.game().rules().write_action(action);
        origin = origin.play(&notation);
        if origin.game().state() == State::Active {
            at = origin.game().head().seq.0;
        }
    }
    table().fork(&origin, at).seed(random.bytes()).id(random.bits().into())
}

fn onward(mut table: Table, random: &mut Random) -> Table {
    for _ in 0..REQUESTS / 2 {
        if table.game().to_move().is_none() {
            break;
        }
        let Some((action, _)) = random.action(table.game().play()) else { break };
        let notation = table.game().rules().write_action(action);
        table = table.play(&notation);
    }
    table
}

/// At random, but half of what can be popped is: repetitions are what its versions differ in.
fn dealt(ruleset: &str, n: u64, random: &mut Random) -> Deal {
    match (ruleset, n % 2) {
        ("connect_four", 0) => Deal::of(ruleset).with("rows", 2).with("cols", 3).with("k", 3).with("pop_out", true),
        _ => Deal::random(ruleset, 5, random),
    }
}

fn played(deal: &Deal, random: &mut Random) -> Table {
    let mut table = deal.table().undo_over_throw().seed(random.bytes()).id(random.bits().into());
    if random.once_in(2) {
        table = table.undo_after_end();
    }
    for _ in 0..REQUESTS {
        let standing = table.game().standing().len() as u64;
        table = match table.game().state() {
            State::Closed => break,
            State::Finished if random.once_in(2) => table.close(),
            State::Finished => table.undo(1 + random.below(standing.min(5)) as usize),
            State::Active if standing > 0 && random.once_in(8) => table.undo(1 + random.below(standing.min(5)) as usize),
            State::Active => {
                let Some((action, _)) = random.action(table.game().play()) else { break };
                let notation = table.game().rules().write_action(action);
                table.play(&notation)
            }
        };
    }
    table
}

#[test]
fn every_book_of_the_corpus_verifies() {
    for path in books() {
        let text = std::fs::read_to_string(&path).unwrap();
        let report = verify(&text, &Registry::standard());
        let report = report.unwrap_or_else(|wrong| panic!("{}, written by a release, does not verify: {wrong}", path.display()));
        assert!(text.ends_with(&format!("end {} {}\n", report.entries, report.digest)), "{}", path.display());
    }
}

#[test]
fn the_second_verifier_passes_the_corpus() {
    let paths: Vec<String> = books().iter().map(|path| path.to_str().unwrap().to_owned()).collect();
    let arguments: Vec<&str> = paths.iter().map(String::as_str).collect();
    let (said, code) = second::python(&arguments, &folder());
    assert_eq!(code, Some(0), "{said}");
}

/// A release adds its own books: every ruleset in every version, ended and not, with undos and dice.
#[test]
fn the_corpus_has_every_version_of_every_ruleset() {
    let here = folder().join(env!("CARGO_PKG_VERSION"));
    let texts: Vec<String> =
        books().iter().filter(|path| path.starts_with(&here)).map(|path| std::fs::read_to_string(path).unwrap()).collect();
    let pinned = |text: &String| text.lines().find_map(|line| line.strip_prefix("ruleset ")).unwrap().to_owned();
    let have: BTreeSet<String> = texts.iter().map(pinned).collect();
    let want: BTreeSet<String> = Registry::standard().cards().map(|card| card.id().to_string()).collect();
    assert!(have.is_superset(&want), "PLYBOOK_WRITE_CORPUS=1 cargo test -p plybook-tests corpus: {have:?} are not all of {want:?}");
    let all = texts.concat();
    let joined = [" given ", " commit ", " key=", " reveal ", " absent ", "\norigin ", "\nentropy joint ", "\nreceipts always\n"];
    let played = [" undo ", " close ", " throw=", " draw=yes", " win=", " line=", "^ ply=", " skip=", "undo-after-end yes"];
    let live =
        [" resign ", " remove ", " timeout ", " forfeit ", " credit ", " away ", " draw offer ", " undo-offer ", "plybook/bot move "];
    for fact in played.iter().chain(&joined).chain(&live) {
        assert!(all.contains(fact), "no book of the corpus has {fact:?}");
    }
    assert!(all.len() < 300 << 10, "{} bytes are more than a repository should carry for ever", all.len());
}
