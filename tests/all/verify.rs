//! What a check of a whole book shows, and what it does not let pass.

mod claims;
mod corpus;
mod forged;
mod live;
mod second;
mod signed;
mod together;
mod trees;
mod verdicts;

use plybook_core::game::State;
use plybook_core::verify::{DiceClaim, Verifier, Wrong, verify};
use plybook_core::{Book, Digest, Seq};
use plybook_tests::golden::{self, Golden};
use plybook_tests::table::table;

#[test]
fn every_golden_verifies() {
    for golden in golden::all() {
        let report = verify(&golden.book.print(), &golden::registry()).unwrap_or_else(|wrong| panic!("{}: {wrong}", golden.name));
        assert_eq!(report.digest, golden.book.digest(), "{}", golden.name);
        assert_eq!(report.entries as usize, golden.book.links().len(), "{}", golden.name);
        assert_eq!(report.state, State::Closed, "{}", golden.name);
        // What was given was thrown in another game.
        let threw = golden.book.lines().iter().any(|link| link.text.contains(" move roll "));
        assert_eq!(report.dice != DiceClaim::NoThrows, threw, "{}", golden.name);
    }
}

#[test]
fn a_book_that_is_not_closed_claims_no_more_than_it_can() {
    let going_on = table().snakes(30, &[]).roll(2).book().print();
    let report = verify(&going_on, &golden::registry()).unwrap();
    assert_eq!((report.state, report.dice, report.throws), (State::Active, DiceClaim::NotRevealed, 2));
}

/// The file's lines, each with the entry that it belongs to; the trailer belongs to none.
fn lines(golden: &Golden) -> Vec<(String, Option<Seq>)> {
    let mut lines = Vec::new();
    for (seq, link) in (1u32..).zip(golden.book.links()) {
        let text = link.text.lines().map(str::to_owned).chain([format!("= {}", link.digest)]);
        lines.extend(text.map(|line| (format!("{line}\n"), Some(Seq(seq)))));
    }
    let file = golden.book.print();
    let trailer = file.lines().last().unwrap();
    lines.push((format!("{trailer}\n"), None));
    assert_eq!(lines.iter().map(|(line, _)| line.as_str()).collect::<String>(), file);
    lines
}

/// The damaged file does not verify, and the report names one of `expected`.
#[track_caller]
fn caught(golden: &Golden, file: &[u8], expected: &[Option<Seq>], what: &str) {
    let Ok(text) = std::str::from_utf8(file) else { return };
    let wrong: Wrong = verify(text, &golden::registry()).expect_err(what);
    assert!(expected.contains(&wrong.seq), "{}, {what}: {wrong}, not at {expected:?}", golden.name);
}

/// Whatever follows the last entry stands where the next one would.
fn after(golden: &Golden) -> Option<Seq> {
    Some(Seq(golden.book.links().len() as u32 + 1))
}

#[test]
fn every_byte_of_every_golden_matters() {
    let mut tried = 0;
    for golden in golden::all() {
        let mut file = golden.book.print().into_bytes();
        let mut at = 0;
        for (line, seq) in lines(&golden) {
            for _ in line.bytes() {
                for flip in [0x01, 0x10] {
                    file[at] ^= flip;
                    // A trailer that no longer begins as one is read as the entry after the last.
                    let expected = if seq.is_none() { vec![None, after(&golden)] } else { vec![seq] };
                    caught(&golden, &file, &expected, &format!("byte {at} of {line:?} flipped by {flip}"));
                    file[at] ^= flip;
                    tried += 1;
                }
                at += 1;
            }
        }
        assert_eq!(file, golden.book.print().into_bytes());
    }
    assert!(tried > 50_000, "{tried} substitutions are too few to be all");
}

#[test]
fn every_line_of_every_golden_matters() {
    for golden in golden::all() {
        let lines = lines(&golden);
        let text = |lines: &[(String, Option<Seq>)]| lines.iter().map(|(line, _)| line.as_str()).collect::<String>().into_bytes();
        for at in 0..lines.len() {
            let here = lines[at].1;
            // A line too many after an entry's digest stands where the next entry would.
            let next = here.map_or(after(&golden), |seq| Some(seq.next()));
            let mut damaged = lines.clone();
            damaged.remove(at);
            caught(&golden, &text(&damaged), &[here, after(&golden).filter(|_| here.is_none())], &format!("line {at} removed"));

            let mut damaged = lines.clone();
            damaged.insert(at, lines[at].clone());
            caught(&golden, &text(&damaged), &[here, next], &format!("line {at} twice"));

            let mut damaged = lines.clone();
            damaged.insert(at, ("2 2026-01-01T00:00:01.000Z 0:anonymous close\n".to_owned(), None));
            caught(&golden, &text(&damaged), &[here, after(&golden).filter(|_| here.is_none())], &format!("a line before line {at}"));

            if at + 1 < lines.len() && lines[at].0 != lines[at + 1].0 {
                let mut damaged = lines.clone();
                damaged.swap(at, at + 1);
                caught(&golden, &text(&damaged), &[here, next], &format!("lines {at} and {} swapped", at + 1));
            }
        }
    }
}

/// Somebody who writes the digests anew is caught by the seed, at the first throw that it did not give.
#[test]
fn loaded_dice_are_found_out_when_the_seed_is_revealed() {
    let honest = table().snakes(30, &[]).roll(2);
    let faces: Vec<u8> = honest.book().lines().iter().map(|link| face_of(&link.text)).collect();
    let loaded = if faces[1] == 6 { 1 } else { 6 };
    let mut table = table().snakes(30, &[]).throw(&faces[..1]).throw(&[loaded]);
    while table.position().to_move().is_some() {
        table = table.roll(1);
    }
    let wrong = verify(&table.book().print(), &golden::registry()).unwrap_err();
    assert_eq!(wrong.seq, Some(Seq(3)), "{wrong}");
    assert!(wrong.why.contains(&format!("it shows [{loaded}], but the seed gives [{}]", faces[1])), "{wrong}");
}

fn face_of(line: &str) -> u8 {
    let (_, rest) = line.split_once("throw=").unwrap();
    rest.split(' ').next().unwrap().parse().unwrap()
}

#[test]
fn a_check_entry_by_entry_says_how_far_the_book_is_right() {
    let book = table().mnk(3, 3, 3).play("b2 a1 b1").book().clone();
    let mut verifier = Verifier::new(book.header().clone(), &golden::registry());
    verifier.follow(&book.lines()[0].text, book.lines()[0].digest).unwrap();
    let wrong = verifier.follow(&book.lines()[1].text, Digest([0; 32])).unwrap_err();
    assert_eq!((wrong.seq, verifier.right().unwrap().seq), (Some(Seq(3)), Seq(2)));
}

#[test]
fn a_ruleset_that_is_not_here_is_said_to_be_so() {
    let book = table().mnk(3, 3, 3).play("b2").book().print();
    let later = book.replacen("ruleset mnk@1", "ruleset mnk@7", 1);
    let header = plybook_core::Header::parse(later.split("\n= ").next().unwrap()).unwrap();
    let mut book = Book::new(header);
    book.push("2 2026-01-01T00:00:01.000Z 0:anonymous move b2 ply=1 cells=0>1:4 next=1");
    let wrong = verify(&book.print(), &golden::registry()).unwrap_err();
    assert!(wrong.seq == Some(Seq(1)) && wrong.why.contains("mnk@7 is not in this build"), "{wrong}");
}
