//! A second verifier, in another language and with no more than the page of the format says, agrees.
//! (`tests/verifier/verify.py` knows no rules: the damages here are those that the page lets anybody find.)

use std::process::Command;

use plybook_core::verify::verify;
use plybook_core::{Cell, Seq};
use plybook_tests::table::{Table, table};
use plybook_tests::{golden, node};
use serde_json::Value;
use sha2::{Digest, Sha256};

const NEEDED: &str = "this test needs python3, 3.9 or newer: install python3";
const LATE: &str = "9999-12-31T23:59:59.999Z";

/// A file, and what was done to it.
pub(super) type Case = (String, Vec<u8>);

/// What a verifier says: the book's entries and digest, or the entry that is wrong.
type Verdict = Result<(u64, String), Option<u64>>;

pub(super) fn python(arguments: &[&str], folder: &std::path::Path) -> (String, Option<i32>) {
    let program = node::root().join("tests/verifier/verify.py");
    let output = Command::new("python3").arg("-B").arg(program).args(arguments).current_dir(folder).output();
    let output = output.unwrap_or_else(|why| panic!("{NEEDED} ({why})"));
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    (String::from_utf8(output.stdout).unwrap(), output.status.code())
}

/// What the second verifier says of every file, and why.
fn second(cases: &[Case]) -> Vec<(Verdict, String)> {
    let folder = tempfile::tempdir().unwrap();
    let names: Vec<String> = (0..cases.len()).map(|at| format!("{at}.ply")).collect();
    for (name, (_, file)) in names.iter().zip(cases) {
        std::fs::write(folder.path().join(name), file).unwrap();
    }
    let arguments: Vec<&str> = ["--json"].into_iter().chain(names.iter().map(String::as_str)).collect();
    let (said, code) = python(&arguments, folder.path());
    let said: Vec<Value> = said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(said.iter().map(|said| said["file"].as_str().unwrap()).collect::<Vec<_>>(), names);
    assert_eq!(code, Some(i32::from(!said.iter().all(|said| said["verified"] == true))));
    let verdict = |said: &Value| match said["verified"].as_bool().unwrap() {
        true => Ok((said["entries"].as_u64().unwrap(), said["digest"].as_str().unwrap().to_owned())),
        false => Err(said["entry"].as_u64()),
    };
    said.iter().map(|said| (verdict(said), said["why"].as_str().unwrap_or_default().to_owned())).collect()
}

/// Both verifiers say the same of every file; how many of them are wrong.
pub(super) fn compare(cases: &[Case]) -> usize {
    let (wrong, later) = told(cases, false);
    assert_eq!(later, 0);
    wrong
}

/// The same where it may take the rules to find what is wrong, or first wrong: the second verifier never sees more than the first. How many
/// files are wrong, and of how many it said so later or not at all.
pub(super) fn compare_but_for_rules(cases: &[Case]) -> (usize, usize) {
    told(cases, true)
}

fn told(cases: &[Case], but_for_rules: bool) -> (usize, usize) {
    let registry = golden::registry();
    let (mut wrong, mut later) = (0, 0);
    for ((what, file), (second, why)) in cases.iter().zip(second(cases)) {
        let Ok(text) = std::str::from_utf8(file) else {
            assert!(second.is_err(), "{what}: it is no text");
            wrong += 1;
            continue;
        };
        let first = verify(text, &registry);
        let verdict: Verdict = match &first {
            Ok(report) => Ok((u64::from(report.entries), report.digest.to_string())),
            Err(wrong) => Err(wrong.seq.map(|Seq(seq)| u64::from(seq))),
        };
        let first_why = first.err().map(|wrong| wrong.to_string()).unwrap_or_default();
        wrong += usize::from(verdict.is_err());
        let sees_less = match (&verdict, &second) {
            (Err(Some(first)), Err(second)) => second.is_none_or(|second| second > *first),
            (Err(_), Ok(_)) => true,
            _ => false,
        };
        if but_for_rules && sees_less {
            later += 1;
            continue;
        }
        assert_eq!(verdict, second, "{what}: the first says {first_why:?}, the second {why:?}");
    }
    (wrong, later)
}

/// The texts of a book's entries, the header's first.
fn texts(golden: &golden::Golden) -> Vec<String> {
    golden.book.links().iter().map(|link| link.text.to_string()).collect()
}

/// A file of these entries, with right digests.
pub(super) fn file(texts: &[String]) -> Vec<u8> {
    let (mut file, mut digest) = (String::new(), Vec::new());
    for text in texts {
        digest = Sha256::new().chain_update(&digest).chain_update(text).finalize().to_vec();
        file += &format!("{text}\n= {}\n", hex(&digest));
    }
    file += &format!("end {} {}\n", texts.len(), hex(&digest));
    file.into_bytes()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn every_golden_verifies() {
    let cases: Vec<Case> = golden::all().iter().map(|golden| (golden.name.clone(), file(&texts(golden)))).collect();
    for (golden, (_, file)) in golden::all().iter().zip(&cases) {
        assert_eq!(String::from_utf8_lossy(file), golden.book.print(), "{}", golden.name);
    }
    assert_eq!(compare(&cases), 0);
}

#[test]
fn damaged_files_are_told_alike() {
    let mut cases = vec![("nothing".to_owned(), Vec::new()), ("a mark of byte order".to_owned(), b"\xef\xbb\xbfplybook 1\n".to_vec())];
    for golden in golden::all() {
        let whole = golden.book.print();
        for (count, at) in (0..whole.len()).step_by(29).enumerate() {
            let mut damaged = whole.clone().into_bytes();
            damaged[at] ^= 1 << (count % 8);
            cases.push((format!("{}: byte {at} flipped", golden.name), damaged));
        }
        for at in (0..whole.len()).step_by(311) {
            cases.push((format!("{}: cut at byte {at}", golden.name), whole.as_bytes()[..at].to_vec()));
        }
        let lines: Vec<&str> = whole.split_inclusive('\n').collect();
        for at in (0..lines.len()).step_by(3) {
            let mut damage =
                |what: &str, lines: Vec<&str>| cases.push((format!("{}: line {at} {what}", golden.name), lines.concat().into_bytes()));
            damage("removed", [&lines[..at], &lines[at + 1..]].concat());
            damage("twice", [&lines[..=at], &lines[at..]].concat());
            let mut swapped = lines.clone();
            swapped.swap(at, (at + 1) % lines.len());
            damage("swapped", swapped);
        }
    }
    let wrong = compare(&cases);
    assert!(wrong == cases.len() && wrong > 2000, "{wrong} of {} are wrong", cases.len());
}

/// Adds a forgery that has right digests: entry `seq` with `from` replaced by `to`, where it has it.
fn forge(cases: &mut Vec<Case>, golden: &golden::Golden, seq: usize, from: &str, to: &str) {
    let mut texts = texts(golden);
    let Some((before, after)) = texts[seq - 1].split_once(from) else { return };
    texts[seq - 1] = format!("{before}{to}{after}");
    cases.push((format!("{}, entry {seq}: {from:?} is now {to:?}", golden.name), file(&texts)));
}

/// The value of a fact, with its key.
fn fact<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.split(' ').find(|token| token.strip_prefix(key).is_some_and(|rest| rest.starts_with('=')))
}

/// Forgeries of the entry `seq`, which is not the header.
fn forge_entry(cases: &mut Vec<Case>, golden: &golden::Golden, seq: usize) {
    let all = texts(golden);
    let (text, earlier) = (&all[seq - 1], &all[seq - 2]);
    let mut to = |from: &str, to: &str| forge(cases, golden, seq, from, to);
    let time = text.split(' ').nth(1).unwrap();
    for wrong in ["1999-12-31T23:59:59.999Z", "2026-02-29T00:00:00.000Z", "2026-01-01T24:00:00.000Z", "2026-01-01T00:00:60.000Z"] {
        to(time, wrong);
    }
    to(&format!("{seq} "), &format!("{} ", seq + 1));
    to(&format!("{seq} "), &format!("0{seq} "));
    to(" ply=", " ply=1");
    to(" ply=", " ply=0");
    to(" ", "  ");
    let seats = golden.book.header().seats.len();
    if let (Some(actor), true) = (text.split([' ', ':']).nth(4), seats > 1 && seq > 2 && text.contains(" move ")) {
        let other = (actor.parse::<usize>().unwrap() + 1) % seats;
        to(&format!("Z {actor}:"), &format!("Z {other}:"));
        to(&format!("Z {actor}:"), "Z -:");
        to(&format!("Z {actor}:"), "Z 9:");
    }
    if let (Some(cells), Some(gone)) = (fact(text, "cells"), fact(earlier, "cells")) {
        to(cells, gone);
        to(cells, &format!("{cells},0"));
        to(cells, &format!("{cells};0>0:1"));
    }
    if text.contains(" undo ") {
        let target: usize = text.split(' ').nth(4).unwrap().parse().unwrap();
        for wrong in [0, 1, seq, seq + 1, target + 1] {
            to(&format!(" undo {target} "), &format!(" undo {wrong} "));
        }
        to(&format!(" {}", fact(text, "cells").unwrap()), "");
        let next = fact(text, "next").unwrap();
        // Where the seat of that move has left, the rules say who is next.
        if all[target - 1].contains(&format!("Z {}:", &next[5..])) {
            to(next, &format!("next={}", (next[5..].parse::<usize>().unwrap() + 1) % seats));
        }
        to(next, &format!("{next} seed={}", "07".repeat(32)));
    }
    if let Some(shown) = fact(text, "throw") {
        let sides = if all[0].contains("param sides 4") { 4 } else { 6 };
        let face: u8 = shown[6..7].parse().unwrap();
        // Which face a given die showed is known to the rules alone: its seed is another game's.
        if !text.contains(" given ") {
            to(shown, &format!("throw={}{}", face % sides + 1, &shown[7..]));
        }
        to(shown, &format!("{shown},1"));
        to(shown, &format!("throw={}{}", sides + 1, &shown[7..]));
        to(shown, &format!("throw=0{}", &shown[7..]));
    }
    if let Some(seed) = fact(text, "seed") {
        to(seed, &format!("seed={}", "0a".repeat(32)));
        to(&format!(" {seed}"), "");
    }
}

#[test]
fn forgeries_with_new_digests_are_told_alike() {
    let mut cases = Vec::new();
    for golden in golden::all() {
        let all = texts(&golden);
        for seq in 2..=all.len() {
            forge_entry(&mut cases, &golden, seq);
        }
        let mut forge_all = |what: &str, texts: &[String]| cases.push((format!("{}: {what}", golden.name), file(texts)));
        for at in 1..all.len() - 1 {
            forge_all(&format!("entry {} removed", at + 1), &[&all[..at], &all[at + 1..]].concat());
            forge_all(&format!("entry {} twice", at + 1), &[&all[..=at], &all[at..]].concat());
        }
        let after = format!("{} {LATE} -:anonymous close seed={}", all.len() + 1, "07".repeat(32));
        forge_all("closed twice", &[&all[..], &[after]].concat());
        let early = format!("4 {LATE} -:anonymous close seed={}", "07".repeat(32));
        forge_all("closed too early", &[&all[..3], &[early]].concat());
        let commitment = golden.book.header().commitment.to_string();
        forge(&mut cases, &golden, 1, &commitment, &"ab".repeat(32));
    }
    let wrong = compare(&cases);
    assert!(wrong == cases.len() && wrong > 2000, "{wrong} of {} are wrong", cases.len());
}

#[test]
fn forged_headers_and_sizes_are_told_alike() {
    let goldens = golden::all();
    let golden = |name: &str| goldens.iter().find(|golden| golden.name == name).unwrap();
    let (mnk, snakes) = (golden("mnk"), golden("snakes_and_ladders-two_dice"));
    let (mut cases, long) = (Vec::new(), |count: usize| "x".repeat(count));
    let seats: Vec<String> = (1..9).map(|seat| format!("seat {seat} \"m{seat}\" \"\"")).collect();
    for (from, to) in [
        ("plybook 1", "plybook 2"),
        ("-7000-", "-A000-"),
        ("created 2026", "created 1969"),
        ("created 2026-01-01", "created 2026-02-30"),
        ("by anonymous", "by any one"),
        ("by anonymous", &format!("by {}", long(65))),
        ("mnk@1", "mnk@0"),
        ("mnk@1", "mnk@4294967296"),
        ("ruleset mnk", &format!("ruleset {}", long(33))),
        ("param k 3\nparam misere false", "param misere false\nparam k 3"),
        ("param k 3", "param k 3\nparam k 3"),
        ("param k 3", "param k -0"),
        ("param k 3", "param k 03"),
        ("param k 3", "param k [1, 2]"),
        ("param k 3", "param k 9223372036854775808"),
        ("param k 3", &format!("param {} 3", long(33))),
        ("seat 1 ", "seat 2 "),
        ("\"O\"", "\"X\""),
        ("\"O\"", "\"\""),
        ("\"O\"", &format!("\"{}\"", long(17))),
        ("\"O\"", "\"\\n\""),
        ("\"O\"", "\"\u{85}\""),
        ("\"player-1\"", &format!("\"{}\"", long(65))),
        ("\"player-1\"", "\"\u{2028}\""),
        ("seat 1 \"O\" \"player-1\"", &seats.join("\n")),
        ("seed-from caller", "seed-from nobody"),
        ("sha256/1", "sha256/2"),
        ("undo free", "undo never"),
        ("over-throw no", "over-throw 0"),
        ("after-end no", "after-end no "),
        ("param win \"run\"", &format!("param win \"{}\"", long(2400))),
    ] {
        forge(&mut cases, mnk, 1, from, to);
    }
    for (from, to) in
        [("b2", &*long(33)), ("b2", ""), ("cells=0>1:4", "cells=0>256:4"), ("cells=0>1:4", "cells=0>1:4294967296"), ("next=1", "next=2")]
    {
        forge(&mut cases, mnk, 2, from, to);
    }
    let cells: Vec<String> = (1000..1500).map(|cell| cell.to_string()).collect();
    forge(&mut cases, mnk, 2, "0>1:4", &format!("0>1:4,{}", cells.join(",")));
    let ends = mnk.book.links().len();
    for to in ["line=2+3*0", "line=2+3*1", "line=2+0*3", "line=2+3*1001", "line=2+2001*3", "line=1000001+3*3", "line=2+3*3;", "line="] {
        forge(&mut cases, mnk, ends, "line=2+3*3", to);
    }
    forge(&mut cases, mnk, ends, "reason=line", &format!("reason={}", long(33)));
    forge(&mut cases, mnk, ends, "reason=line", "draw=yes reason=line");
    forge(&mut cases, snakes, 2, "next=0", "skip=0,0 next=0");
    forge(&mut cases, snakes, 2, "next=0", "next=0 next=0");
    let asked = cases.len();
    assert_eq!(asked, 31 + 5 + 1 + 8 + 4, "a golden does not have what is to be forged");
    assert_eq!(compare(&cases), asked, "all are wrong");
    // What is just not too large is right, but for the rules.
    let mut cases = Vec::new();
    forge(&mut cases, mnk, 1, "\"O\"", "\"\\\\\\\"34567890123456\"");
    forge(&mut cases, mnk, 1, "\"player-1\"", &format!("\"{}\"", long(64)));
    forge(&mut cases, mnk, 1, "by anonymous", &format!("by {}", long(64)));
    assert_eq!((cases.len(), compare(&cases)), (3, 0));
}

/// Rolls on to the end of a game in which somebody else than the seed chose a face.
fn to_the_end(mut table: Table) -> Vec<u8> {
    while table.position().to_move().is_some() {
        table = table.roll(1);
    }
    table.book().print().into_bytes()
}

#[test]
fn loaded_dice_are_told_alike() {
    let game = || table().snakes(30, &[]).undo_over_throw();
    let mut cases = Vec::new();
    for before in 0..4 {
        for face in 1..=6 {
            cases.push((format!("{face} after {before} throws"), to_the_end(game().roll(before).throw(&[face]))));
            cases.push((format!("{face} after {before} throws, and an undo"), to_the_end(game().roll(before + 1).undo(1).throw(&[face]))));
            cases.push((format!("{face} after {before} throws, taken back"), to_the_end(game().roll(before).throw(&[face]).undo(1))));
        }
    }
    assert_eq!(compare(&cases), 4 * 3 * 5, "of six faces one is the seed's");
}

/// The header says who may take back what, and both verifiers hold the book to it.
#[test]
fn undos_that_the_header_forbids_are_told_alike() {
    let goldens = golden::all();
    let mut cases = Vec::new();
    let mut case = |name: &str, seq: usize, from: &str, to: &str| {
        forge(&mut cases, goldens.iter().find(|golden| golden.name == name).unwrap(), seq, from, to);
    };
    case("mnk", 1, "undo free", "undo none");
    case("mnk", 1, "undo free\nundo-over-throw no", "undo none\nundo-over-throw yes");
    case("connect_four", 1, "undo free", "undo own_last_move");
    case("snakes_and_ladders-extra_turn-seats3", 1, "over-throw yes", "over-throw no");
    case("mnk", 5, "Z 1:", "Z -:");
    case("mnk", 5, "Z 1:", "Z 7:");
    case("mnk-undo_after_end", 13, "Z -:", "Z 0:");
    let moves: Vec<String> = (0..101u32).map(|cell| table().mnk(20, 20, 20).game().rules().cell_name(Cell(cell))).collect();
    let long = table().mnk(20, 20, 20).play(&moves.join(" "));
    let mut book = long.book().clone();
    let seats = |seat: usize| (seat..101).step_by(2).map(|cell| cell.to_string()).collect::<Vec<_>>().join(",");
    book.push(format!("103 {LATE} 0:anonymous undo 2 ply=0 cells=1>0:{};2>0:{} next=0", seats(0), seats(1)));
    cases.push(("101 moves at once".to_owned(), book.print().into_bytes()));
    assert_eq!(cases.len(), 8, "a golden does not have what is to be forged");
    assert_eq!(compare(&cases), 8);
}

/// The seeds' commitments and throws on the page are what the second verifier's own dice give.
#[test]
fn its_dice_are_the_published_ones() {
    let root = node::root();
    let page = std::fs::read_to_string(root.join("proto/dice-vectors.md")).unwrap();
    let quoted = |section: &str, name: &str| section.split_once(&format!("- {name} `")).unwrap().1[..64].to_owned();
    let sections: Vec<&str> = page.split("## Seed ").skip(1).collect();
    assert_eq!(sections.len(), 3);
    for section in sections {
        let faces: Vec<&str> = section.split("```").nth(1).unwrap().split_whitespace().collect();
        let (said, _) = python(&["--dice", &quoted(section, "seed"), "2", "1", "6", "64"], &root);
        let said: Vec<&str> = said.lines().collect();
        assert_eq!((said[0], &said[1..]), (&*quoted(section, "commitment"), &faces[..]));
    }
    let mut seed = "";
    let tables = std::fs::read_to_string(root.join("tests/vectors/dice.txt")).unwrap();
    for line in tables.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        match words[0] {
            "seed" => seed = words[1],
            "throws" => {
                let (said, _) = python(&["--dice", seed, words[1], words[2], words[3], "64"], &root);
                assert_eq!(said.lines().skip(1).collect::<Vec<_>>(), words[4..], "{seed} {:?}", &words[1..4]);
            }
            _ => {}
        }
    }
}
