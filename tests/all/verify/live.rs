//! Live games under two verifiers: what the page says of clocks, leaving, offers and presence is what both hold a book to.
//!
//! The damages here need no rules of a game to be found: a time, a word, a seat or a line of the header is another one, and the
//! digests are right.

use plybook_core::Book;
use plybook_core::game::State;
use plybook_tests::lively::{happens, laid};
use plybook_tests::random::{Random, repeat};
use plybook_tests::table::Table;

use super::second::{Case, compare, compare_but_for_rules, file};

fn played(random: &mut Random) -> Table {
    let mut table = laid(random);
    for _ in 0..10 + random.below(40) {
        if table.game().state() == State::Closed {
            break;
        }
        happens(&mut table, random, |_, _| {});
    }
    table
}

fn texts(book: &Book) -> Vec<String> {
    book.links().iter().map(|link| link.text.clone()).collect()
}

/// Words of a header, and what else might stand there.
const TERMS: [(&str, &str); 22] = [
    (" forfeit restore", " forfeit keep"),
    (" skip restore", " skip keep"),
    (" bot restore", " bot keep"),
    (" forfeit keep", " skip keep"),
    (" skip keep", " skip restore"),
    (" skip restore", " forfeit restore"),
    (" bot keep", " bot restore"),
    ("clock fischer ", "clock bronstein "),
    ("clock bronstein ", "clock fischer "),
    (" credit ", " credit 1"),
    ("absence ", "absence 1"),
    (" forfeit\n", " claim_win\n"),
    (" claim_win\n", " claim_draw\n"),
    (" claim_draw\n", " claim_win\n"),
    ("undo agreement", "undo free"),
    ("undo free", "undo agreement"),
    ("undo free", "undo own_last_move"),
    ("undo-limit ", "undo-limit 1"),
    ("undo-limit 2", "undo-limit 1"),
    ("abort-before ", "abort-before 1"),
    ("close-after ", "close-after 1"),
    ("\nbot 1 random@1 1", ""),
];

/// Requests, and others that a forger might write in their place.
const WORDS: [(&str, &str); 16] = [
    (" away ", " back "),
    (" back ", " away "),
    (" draw offer ", " draw accept "),
    (" draw accept ", " draw decline "),
    (" draw decline ", " draw withdraw "),
    (" draw withdraw ", " draw decline "),
    (" undo-decline ", " undo-withdraw "),
    (" undo-withdraw ", " undo-decline "),
    (" undo-offer ", " undo-decline "),
    (" undo-accept ", " undo "),
    (" undo ", " undo-accept "),
    (" reopens=yes", ""),
    (" reason=timeout", " reason=absent"),
    (" claim win ", " claim draw "),
    ("plybook/fallback", "plybook/bot"),
    ("-:plybook ", "-:anonymous "),
];

#[test]
fn random_live_books_are_right_for_both() {
    let mut cases: Vec<Case> = Vec::new();
    repeat(600, |random| cases.push((format!("game {}", cases.len()), file(&texts(played(random).book())))));
    assert_eq!(compare(&cases), 0);
}

/// A time that is a little different is wrong or right, and moves deadlines that come after it: for both alike.
#[test]
fn times_moved_by_milliseconds_are_told_alike() {
    let mut cases: Vec<Case> = Vec::new();
    repeat(300, |random| {
        let texts = texts(played(random).book());
        for _ in 0..8 {
            let at = random.below(texts.len() as u64) as usize;
            let Some((before, time, rest)) = timed(&texts[at]) else { continue };
            let ms = if random.once_in(2) { time + 1 + random.below(20) } else { time.saturating_sub(1 + random.below(20)) };
            let mut forged = texts.clone();
            forged[at] = format!("{before} {} {rest}", plybook_core::Time::from_unix_ms(ms));
            cases.push((format!("entry {} of {}", at + 1, texts.join(" / ")), file(&forged)));
        }
    });
    let wrong = compare(&cases);
    assert!(wrong > cases.len() / 3 && wrong < cases.len(), "{wrong} of {} are wrong", cases.len());
}

/// The number of a line, its time, and what comes after it.
fn timed(line: &str) -> Option<(&str, u64, &str)> {
    let (number, rest) = line.split_once(' ')?;
    let (time, rest) = rest.split_once(' ')?;
    Some((number, plybook_core::Time::parse(time)?.unix_ms(), rest))
}

#[test]
fn other_terms_are_told_alike() {
    let mut cases: Vec<Case> = Vec::new();
    repeat(400, |random| {
        let texts = texts(played(random).book());
        for (from, to) in TERMS {
            let mut forged = texts.clone();
            forged[0] = format!("{}\n", texts[0]).replacen(from, to, 1).trim_end().to_owned();
            if forged[0] != texts[0] {
                cases.push((format!("{from:?} is now {to:?} of {}", texts.join(" / ")), file(&forged)));
            }
        }
    });
    // Who is next after a seat has left, or has not left after all, the rules say.
    let (wrong, later) = compare_but_for_rules(&cases);
    assert!(wrong > cases.len() / 4 && wrong < cases.len(), "{wrong} of {} are wrong", cases.len());
    assert!(later * 20 < wrong, "{later} of {wrong} are told later");
}

#[test]
fn other_words_and_seats_are_told_alike() {
    let mut cases: Vec<Case> = Vec::new();
    repeat(400, |random| {
        let texts = texts(played(random).book());
        for at in 1..texts.len() {
            let mut forge = |from: &str, to: &str| {
                if texts[at].contains(from) {
                    let mut forged = texts.clone();
                    forged[at] = texts[at].replacen(from, to, 1);
                    cases.push((format!("entry {}: {from:?} is now {to:?} of {}", at + 1, texts.join(" / ")), file(&forged)));
                }
            };
            WORDS.iter().filter(|_| random.once_in(2)).for_each(|(from, to)| forge(from, to));
            if random.once_in(4) {
                let seats = ["Z 0:", "Z 1:", "Z 2:", "Z -:"];
                let (seat, other) = (*random.pick(&seats), *random.pick(&seats));
                forge(seat, other);
                let settled = *random.pick(&["timeout 0", "timeout 1", "forfeit 0", "remove 1"]);
                forge(settled, "forfeit 1");
            }
        }
    });
    let (wrong, later) = compare_but_for_rules(&cases);
    assert!(wrong > cases.len() / 2, "{wrong} of {} are wrong", cases.len());
    assert!(later * 20 < wrong, "{later} of {wrong} are told later");
}
