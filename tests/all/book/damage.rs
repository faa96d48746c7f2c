//! Files that are not books: each is refused with the line and the entry where it goes wrong, and
//! nothing that a file may hold makes the reader panic.

use proptest::prelude::*;

use plybook_core::entry::read_format_1;
use plybook_core::header::UndoBy;
use plybook_core::{Book, Cell, Game, Header, Seq};
use plybook_rulesets::Registry;
use plybook_tests::table::{Table, table};

/// Eleven entries: moves, an undo, a win after which undo is allowed, and the closing.
fn game() -> Table {
    table().mnk(3, 3, 3).undo_after_end().play("b2 a1").undo(1).play("a3 c1 a1 c3 b1 c2").close()
}

fn lines() -> Vec<String> {
    game().book().print().lines().map(str::to_owned).collect()
}

/// Line of the file (from 1) that holds entry `seq`'s text; its digest is on the next.
fn line_of(seq: u32) -> usize {
    let header = game().header().to_string().lines().count();
    if seq == 1 { 1 } else { header + 2 * (seq as usize - 1) }
}

/// `change` is made to the file's lines; the error names this line and this entry, and says `why`.
#[track_caller]
fn check(line: usize, seq: Option<u32>, why: &str, change: impl FnOnce(&mut Vec<String>)) {
    let mut lines = lines();
    change(&mut lines);
    let file: String = lines.iter().map(|line| format!("{line}\n")).collect();
    check_file(&file, line, seq, why);
}

#[track_caller]
fn check_file(file: &str, line: usize, seq: Option<u32>, why: &str) {
    let error = Book::parse(file).expect_err("the file is damaged");
    assert!(error.why.contains(why), "{error} does not contain {why:?}");
    assert_eq!((error.line, error.seq), (line, seq.map(Seq)), "{error}");
}

#[test]
fn the_undamaged_file_parses() {
    let file = game().book().print();
    assert_eq!(Book::parse(&file).unwrap().print(), file);
    let at = |seq: u32| lines()[line_of(seq) - 1].clone();
    assert!(at(1).starts_with("plybook 1") && at(2).starts_with("2 ") && at(11).starts_with("11 "));
}

#[test]
fn every_line_of_the_header_is_checked() {
    let header = game().header().to_string().lines().count();
    for line in 1..=header {
        check(line, Some(1), "", |lines| lines[line - 1] = "garbage".to_owned());
        check(line, Some(1), "", |lines| lines[line - 1].insert(0, ' '));
        check(line, Some(1), "", |lines| lines[line - 1].push(' '));
        check(line, Some(1), "", |lines| lines[line - 1].push('\r'));
    }
    for line in 1..header {
        let error = {
            let mut lines = lines();
            lines.remove(line - 1);
            Book::parse(&lines.join("\n")).unwrap_err()
        };
        assert_eq!(error.seq, Some(Seq(1)), "a header without line {line}: {error}");
    }
}

#[test]
fn a_policy_that_contradicts_itself_is_no_header() {
    for flag in ["undo-over-throw", "undo-after-end"] {
        let header = table().mnk(3, 3, 3).undo_by(UndoBy::None).header().to_string();
        let error = Header::parse(&header.replace(&format!("{flag} no"), &format!("{flag} yes"))).unwrap_err();
        assert!(error.why.contains("where nobody may undo"), "{error}");
    }
}

#[test]
fn errors_name_the_line_and_the_entry() {
    let header = line_of(2) - 1;
    check(header, Some(1), "the digest is", |lines| lines[line_of(2) - 2] = format!("= {}", "0".repeat(64)));
    check(header, Some(1), "is not a digest", |lines| lines[line_of(2) - 2].make_ascii_uppercase_tail());
    for seq in 2..=11 {
        let at = line_of(seq);
        check(at, Some(seq), "is not a number", |lines| lines[at - 1].insert(0, '0'));
        check(at, Some(seq), "", |lines| lines[at - 1] = String::new());
        check(at, Some(seq), "it is numbered 99", |lines| {
            let rest = lines[at - 1].split_once(' ').unwrap().1.to_owned();
            lines[at - 1] = format!("99 {rest}");
        });
        check(at + 1, Some(seq), "the digest is", |lines| lines[at - 1] = lines[at - 1].replacen(":anonymous", ":somebody", 1));
        check(at + 1, Some(seq), "is not a digest", |lines| {
            lines.remove(at);
        });
        check(at, Some(seq), "", |lines| {
            lines.remove(at - 1);
        });
        check(at, Some(seq), "ends too early", |lines| lines.truncate(at - 1));
        check(at + 1, Some(seq), "ends too early", |lines| lines.truncate(at));
    }
}

trait Tail {
    fn make_ascii_uppercase_tail(&mut self);
}

impl Tail for String {
    /// Digests are lowercase.
    fn make_ascii_uppercase_tail(&mut self) {
        let (mark, hex) = self.split_at(2);
        *self = format!("{mark}{}", hex.to_ascii_uppercase().replace(|c: char| c.is_ascii_digit(), "A"));
    }
}

#[test]
fn the_trailer_is_checked() {
    let end = lines().len();
    check(end, None, "the trailer is not that of 11 entries", |lines| lines[end - 1] = lines[end - 1].replace("end 11", "end 10"));
    check(end, None, "the trailer is not that of 11 entries", |lines| lines[end - 1] = lines[end - 1].replace("end 11", "end 011"));
    check(end, None, "the trailer is not that of 11 entries", |lines| lines[end - 1] = format!("end 11 {}", "0".repeat(64)));
    check(end + 1, None, "follows the trailer", |lines| lines.push("12 more".to_owned()));
    check(end + 1, None, "follows the trailer", |lines| lines.push(String::new()));
    let file = game().book().print();
    check_file(file.strip_suffix('\n').unwrap(), end, Some(12), "does not end in LF");
    check_file("", 1, Some(1), "is not");
    check_file("\n", 1, Some(1), "");
    check_file(&format!("\u{feff}{file}"), 1, Some(1), "");
    check_file(&file.replace('\n', "\r\n"), 1, Some(1), "");
}

/// A forger who recomputes the digests is caught by the rules, at the entry that is wrong.
#[track_caller]
fn forged(seq: u32, why: &str, from: &str, to: &str) {
    let table = game();
    let mut book = Book::new(table.header());
    for (at, link) in (2u32..).zip(table.book().lines()) {
        let text = if at == seq { link.text.replacen(from, to, 1) } else { link.text.clone() };
        assert!(at != seq || text != link.text, "{from:?} stands in {text:?}");
        book.push(text);
    }
    let book = Book::parse(&book.print()).expect("the chain is whole");
    let mut game = Game::new(book.header().clone(), Registry::standard().rules_of(book.header()).unwrap());
    let error = book.lines().iter().find_map(|link| game.apply_line(&link.text, link.digest).err()).expect("the forgery is found");
    assert!(error.seq == Seq(seq) && error.why.contains(why), "{error}, not entry {seq} {why:?}");
    assert_eq!(game.head().seq, Seq(seq - 1), "what was before it stands");
}

#[test]
fn scenario_38_a_forger_who_recomputes_the_chain_is_caught_by_the_rules() {
    forged(2, "other changes", "cells=0>1:4", "cells=0>1:5");
    forged(2, "other changes", " cells=0>1:4", "");
    forged(2, "another result", "ply=1", "ply=2");
    forged(2, "another result", "next=1", "next=0");
    forged(2, "another result", "next=1", "skip=1 next=0");
    forged(2, "another result", "next=1", "win=0 reason=line");
    forged(2, "another seat", " 0:", " 1:");
    forged(2, "another seat", " 0:", " -:");
    forged(2, "not an action", "move b2", "move b4");
    forged(2, "not an action", "move b2", "move B2");
    forged(2, "other dice", " cells", " throw=3 cells");
    forged(2, "does not close", "next=1", &format!("next=1 seed={}", "07".repeat(32)));
    forged(3, "illegal: CELL_OCCUPIED", "move a1", "move b2");
    forged(3, "its time", "2026-01-01T00:00:02.000Z", "2025-12-31T23:59:59.000Z");
    forged(4, "no move 4 stands", "undo 3", "undo 4");
    forged(4, "other changes", "ply=1", "ply=0");
    forged(4, "another seat is next than", "next=1", "next=0");
    forged(10, "another result", "win=0", "win=1");
    forged(10, "another result", "reason=line", "reason=board_full");
    forged(10, "another result", "line=", "line=0+1*2;");
    forged(11, "not the one committed to", "seed=07", "seed=08");
    forged(11, "does not reveal the seed", &format!(" seed={}", "07".repeat(32)), "");
}

/// What was taken back must have been allowed to be: an operator who does more is found out.
#[track_caller]
fn overreached(table: Table, line: &str, why: &str) {
    let before = table.game().head();
    let seq = before.seq.next();
    let text = format!("{seq} {} {line}", before.time);
    let mut game = table.game().clone();
    let error = game.apply_line(&text, before.digest.chain(&text)).expect_err(line);
    assert!(error.seq == seq && error.why.contains(why), "{error}, not {why:?}");
    assert_eq!(game.head(), before, "nothing moved");
}

#[test]
fn an_undo_that_the_policy_does_not_allow_is_no_part_of_a_book() {
    let of = |by: UndoBy| table().mnk(3, 3, 3).undo_by(by);
    let begun = || of(UndoBy::OwnLastMove);
    overreached(of(UndoBy::None).play("b2"), "0:anonymous undo 2 ply=0 cells=1>0:4 next=0", "policy does not allow");
    overreached(begun().play("b2"), "1:anonymous undo 2 ply=0 cells=1>0:4 next=0", "another seat made this move");
    overreached(begun().play("b2 a1"), "0:anonymous undo 2 ply=0 cells=1>0:4;2>0:6 next=0", "or has answered it");
    overreached(begun().play("b2"), "7:anonymous undo 2 ply=0 cells=1>0:4 next=0", "the table has no seat 7");
    overreached(of(UndoBy::Free).play("b2"), "7:anonymous undo 2 ply=0 cells=1>0:4 next=0", "the table has no seat 7");
    let thrown = table().snakes(30, &[]).throw(&[3]);
    overreached(thrown, "0:anonymous undo 2 ply=0 cells=1>0:3;2>3:0 next=0", "dice were shown");
    let mut long = table().mnk(20, 20, 20).undo_by(UndoBy::Free);
    let moves: Vec<String> = (0..101u32).map(|cell| long.game().rules().cell_name(Cell(cell))).collect();
    long = long.play(&moves.join(" "));
    overreached(long, "0:anonymous undo 2 ply=0 next=0", "undo_plies");
}

#[test]
fn nothing_follows_the_closing_entry() {
    let table = game();
    let mut book = table.book().clone();
    book.push("12 2026-01-01T00:01:00.000Z 1:anonymous undo 10 ply=6 cells=2>0:5 next=1");
    let mut game = Game::new(book.header().clone(), Registry::standard().rules_of(book.header()).unwrap());
    let error = book.lines().iter().find_map(|link| game.apply_line(&link.text, link.digest).err()).unwrap();
    assert!(error.seq == Seq(12) && error.why.contains("closed before"), "{error}");
}

/// Whatever a reader is given, it answers.
fn answers(text: &str) {
    let _ = Book::parse(text);
    let _ = Header::parse(text);
    let _ = read_format_1(text);
}

/// A line that parses is held against the rules without a panic, wherever it stands.
fn folds_or_not(line: &str) {
    let Ok(mut entry) = read_format_1(line) else { return };
    let table = game();
    let registry = Registry::standard();
    let mut game = Game::new(table.header(), registry.rules_of(&table.header()).unwrap());
    for link in table.book().lines() {
        let mut trial = game.clone();
        entry.seq = trial.head().seq.next();
        entry.time = entry.time.max(trial.head().time);
        let _ = trial.apply(&entry);
        game.apply_line(&link.text, link.digest).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_answered(text in "\\PC*", bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        answers(&text);
        answers(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn any_header_like_text_is_answered(lines in proptest::collection::vec("(plybook 1|game [0-9a-f-]{30,40}|created .{0,30}|by .{0,5}|ruleset [a-z_]{0,5}@[0-9]{0,11}|param [a-z]{0,3} .{0,9}|seat [0-9]{1,3} \".{0,3}\" \".{0,3}\"|commitment [0-9a-f]{60,70}|undo .{0,9}|= [0-9a-f]{64})", 0..20)) {
        answers(&lines.join("\n"));
    }

    #[test]
    fn any_line_like_text_is_answered(line in "[0-9]{1,11} 2026-01-01T00:00:00.000Z [0-9-]:a (move (b2|a1|zz9999999999)|undo [0-9]{1,10}|close)( (ply|next|cells|win|line|throw|skip|seed|reason|draw)=[0-9>:;,+*a-f]{0,12}){0,6}") {
        answers(&line);
        folds_or_not(&line);
    }

    #[test]
    fn any_damage_to_a_line_is_answered(seq in 0usize..10, at in 0.0f64..1.0, with in "[ 0-9:=>,;+*a-z]{0,4}", drop in 0usize..4) {
        let line = game().book().lines()[seq].text.clone();
        let from = (at * line.len() as f64) as usize;
        let to = (from + drop).min(line.len());
        let damaged = format!("{}{with}{}", &line[..from], &line[to..]);
        answers(&damaged);
        folds_or_not(&damaged);
    }
}
