//! Forgeries of joining and of forks, digested anew throughout: both verifiers name the same entry.

use plybook_core::entropy::{IfAbsent, commitment};
use plybook_core::verify::verify;
use plybook_core::{Dice, Seat, Seed, Seq};
use plybook_tests::golden;
use plybook_tests::random::repeat;
use plybook_tests::table::{SEED, Table, nonce, table};

use super::second::{Case, compare, file};

/// Files that both verifiers find wrong, each with the entry that is.
#[derive(Default)]
struct Forgeries {
    cases: Vec<Case>,
    entries: Vec<u32>,
}

impl Forgeries {
    fn add(&mut self, what: &str, texts: &[String], entry: u32) {
        self.cases.push((what.to_owned(), file(texts)));
        self.entries.push(entry);
    }

    /// In entry `seq`, which has it, `from` becomes `to`; entry `wrong` is.
    #[track_caller]
    fn exchange(&mut self, what: &str, texts: &[String], (seq, from, to): (usize, &str, &str), wrong: u32) {
        self.add(what, &exchanged(texts, seq, from, to), wrong);
    }

    fn are_told_alike(&self) {
        assert_eq!(compare(&self.cases), self.cases.len());
        for ((what, file), entry) in self.cases.iter().zip(&self.entries) {
            let wrong = verify(std::str::from_utf8(file).unwrap(), &golden::registry()).unwrap_err();
            assert_eq!(wrong.seq, Some(Seq(*entry)), "{what}: {wrong}");
        }
    }
}

fn texts(table: &Table) -> Vec<String> {
    table.book().links().iter().map(|link| link.text.to_string()).collect()
}

#[track_caller]
fn exchanged(texts: &[String], seq: usize, from: &str, to: &str) -> Vec<String> {
    let mut texts = texts.to_vec();
    assert!(texts[seq - 1].contains(from), "{:?} has no {from:?}", texts[seq - 1]);
    texts[seq - 1] = texts[seq - 1].replacen(from, to, 1);
    texts
}

/// These entries in this order, with the numbers and times of their places: only what they say moved.
fn reordered(texts: &[String], order: &[usize]) -> Vec<String> {
    let place = |text: &str| text.splitn(3, ' ').take(2).map(str::to_owned).collect::<Vec<_>>();
    let last = place(texts.last().unwrap());
    let said = |seq: usize| texts[seq - 1].splitn(3, ' ').nth(2).unwrap().to_owned();
    let entry = |(at, seq): (usize, &usize)| {
        let time = texts.get(at + 1).map_or_else(|| last[1].clone(), |text| place(text)[1].clone());
        format!("{} {time} {}", at + 2, said(*seq))
    };
    texts[..1].iter().cloned().chain(order.iter().enumerate().map(entry)).collect()
}

fn joint() -> Table {
    table().snakes(30, &[]).seats(3).joint(600, IfAbsent::Forfeit)
}

/// Entries 2 to 4 commit, 5 to 7 reveal, seats in turn order.
fn joined() -> Table {
    joint().joined()
}

fn to_the_end(mut table: Table) -> Table {
    while table.game().to_move().is_some() {
        table = table.roll(1);
    }
    table.closed()
}

#[test]
fn nonces_exchanged_and_out_of_order_are_told_alike() {
    let whole = texts(&to_the_end(joined()));
    let (theirs, other) = (hex::encode(nonce(0)), hex::encode(nonce(1)));
    let mut forged = Forgeries::default();
    forged.exchange("a nonce exchanged", &whole, (5, &theirs, &"5b".repeat(16)), 5);
    forged.exchange("another's nonce", &whole, (5, &theirs, &other), 5);
    forged.exchange("a nonce too short", &whole, (5, &theirs, &theirs[2..]), 5);
    forged.exchange("a nonce too long", &whole, (5, &theirs, &"0a".repeat(65)), 5);
    forged.exchange("half a byte more", &whole, (5, &theirs, &format!("{theirs}0")), 5);
    forged.exchange("revealed by another seat", &whole, (5, " 0:", " 1:"), 5);
    forged.exchange("revealed by nobody", &whole, (5, " 0:", " -:"), 5);
    forged.exchange("committed by nobody", &whole, (2, " 0:", " -:"), 2);
    forged.exchange("committed by a seat that is none", &whole, (2, " 0:", " 3:"), 2);
    forged.exchange("a seat commits for another", &whole, (3, " 1:", " 0:"), 3);
    let mut rest: Vec<usize> = (8..=whole.len()).collect();
    let mut order = |what: &str, first: &[usize], wrong: u32| {
        let order = [first, &rest].concat();
        forged.add(what, &reordered(&whole, &order), wrong);
    };
    order("a commit after a reveal", &[2, 3, 5, 4, 6, 7], 4);
    order("a commit is missing", &[2, 3, 5, 6, 7], 4);
    order("a commit after all reveals", &[2, 3, 4, 5, 6, 7, 4], 8);
    order("a commit twice", &[2, 2, 3, 4, 5, 6, 7], 3);
    order("a reveal twice", &[2, 3, 4, 5, 5, 6, 7], 6);
    order("a reveal is missing", &[2, 3, 4, 5, 7], 6);
    order("a move between commits", &[2, 8, 3, 4, 5, 6, 7], 3);
    order("a move between reveals", &[2, 3, 4, 5, 8, 6, 7], 6);
    rest.clear();
    let mut order = |what: &str, first: &[usize], wrong: u32| forged.add(what, &reordered(&whole, first), wrong);
    order("a close before the last reveal", &[2, 3, 4, 5, 6, whole.len()], 7);
    let plain = texts(&table().snakes(30, &[]).seats(3).roll(2));
    let foreign = |said: &str| [&plain[..1], &[format!("2 2026-01-01T00:00:01.000Z 0:anonymous {said}")]].concat();
    forged.add("a commit where none is asked for", &foreign(&format!("commit {}", "0f".repeat(32))), 2);
    forged.add("a reveal where none is asked for", &foreign(&format!("reveal {theirs}")), 2);
    forged.are_told_alike();
}

#[test]
fn who_is_next_after_the_last_reveal_is_told_alike() {
    let whole = texts(&joined());
    let mut forged = Forgeries::default();
    forged.exchange("no next", &whole, (7, " next=0", ""), 7);
    forged.exchange("next too early", &exchanged(&whole, 7, " next=0", ""), (6, "a1a1a1", "a1a1a1"), 7);
    let early = format!("{} next=0", whole[5]);
    forged.add("next in the last but one", &[&whole[..5], &[early]].concat(), 6);
    forged.exchange("a seat that is none", &whole, (7, "next=0", "next=3"), 7);
    // Who begins is the ruleset's to say: without its rules only a fork shows it, which has moves already.
    let fork = texts(&table().fork(&table().snakes(30, &[]).seats(3).roll(1), 2).joint(600, IfAbsent::Abort).joined());
    forged.exchange("another than after the given moves", &fork, (8, "next=1", "next=2"), 8);
    forged.are_told_alike();
    let wrong = exchanged(&whole, 7, "next=0", "next=1");
    let wrong = verify(std::str::from_utf8(&file(&wrong)).unwrap(), &golden::registry()).unwrap_err();
    assert_eq!(wrong.seq, Some(Seq(7)), "the rules say who begins: {wrong}");
}

#[test]
fn steps_too_late_are_told_alike() {
    // Both steps are done in the very last millisecond: that is in time.
    let whole = texts(&joint().commit(0).commit(1).later(598).commit(2).reveal(0).reveal(1).later(598).reveal(2));
    assert!(whole[3].contains("T00:10:00.000Z") && whole[6].contains("T00:20:00.000Z"), "{whole:?}");
    assert_eq!(compare(&[("in time".to_owned(), file(&whole))]), 0);
    let mut forged = Forgeries::default();
    forged.exchange("a commit too late", &whole[..4], (4, "10:00.000", "10:00.001"), 4);
    forged.exchange("a reveal too late", &whole, (7, "20:00.000", "20:00.001"), 7);
    forged.exchange("before the entry before it", &whole, (7, "20:00.000", "10:00.999"), 7);
    forged.are_told_alike();
}

#[test]
fn absences_are_told_alike() {
    let forfeit = texts(&joint().commit(2).commit(0).later(600).close());
    let end = "win=0,2 reason=absent";
    let mut forged = Forgeries::default();
    let mut to = |what: &str, from: &str, to: &str| forged.exchange(what, &forfeit, (4, from, to), 4);
    to("too early", "10:00.000", "09:59.999");
    to("too late", "10:00.000", "10:00.001");
    to("another seat", "absent 1", "absent 0");
    to("a seat more", "absent 1", "absent 0,1");
    to("nobody", "absent 1 ", "absent  ");
    to("told by a seat", " -:", " 1:");
    to("fewer winners", "win=0,2", "win=0");
    to("the absent wins", "win=0,2", "win=0,1,2");
    to("no result", end, "void=yes reason=absent");
    to("a draw", end, "draw=yes reason=absent");
    to("for another reason", "reason=absent", "reason=line");
    to("for no reason", " reason=absent", "");
    to("through a line", "reason=absent", "reason=absent line=6+1*3");
    to("another seed", &format!("seed={}", hex::encode(SEED)), &format!("seed={}", "08".repeat(32)));
    to("no seed", &format!(" seed={}", hex::encode(SEED)), "");
    let after = format!("5 2026-01-01T00:10:01.000Z 1:anonymous commit {}", "0f".repeat(32));
    forged.add("and then a commit", &[&forfeit[..], &[after]].concat(), 5);

    let abort = texts(&table().snakes(30, &[]).joint(600, IfAbsent::Abort).commit(0).commit(1).reveal(0).later(700).close());
    let mut to = |what: &str, from: &str, to: &str| forged.exchange(what, &abort, (5, from, to), 5);
    to("the present seat wins", "void=yes", "win=0");
    to("void is not so", "void=yes", "void=no");
    to("the end of the other step", "10:02.000", "10:00.000");
    let nobody = texts(&joint().later(601).close());
    forged.exchange("nobody came, all win", &nobody, (2, "void=yes", "win=0,1,2"), 2);
    let after_all = format!("8 2026-01-01T01:00:00.000Z -:anonymous absent 0 win=1,2 reason=absent seed={}", hex::encode(SEED));
    forged.add("after all have joined", &[&texts(&joined())[..], &[after_all]].concat(), 8);
    forged.are_told_alike();
    let sound = [forfeit, abort, nobody].map(|texts| ("as it was".to_owned(), file(&texts)));
    assert_eq!(compare(&sound), 0);
}

/// Whoever exchanges a nonce together with what was committed to is found by the dice, and before that by the
/// key of a seat that signed.
#[test]
fn dice_without_the_nonces_are_told_alike() {
    let throw = plybook_core::dice::Throw { dice: 1, sides: 6 };
    let mut forged = Forgeries::default();
    let (honest, alone) = (joined().game().dice(Seed::new(SEED)), Dice::without_nonces(Seed::new(SEED), 3));
    let differs =
        (0..).find(|at| honest.throw(*at, Seat((*at % 3) as u8), throw) != alone.throw(*at, Seat((*at % 3) as u8), throw)).unwrap();
    let faces = alone.throw(differs, Seat((differs % 3) as u8), throw);
    forged.add("dice of the seed alone", &texts(&to_the_end(joined().roll(differs as usize).throw(&faces))), 8 + differs as u32);

    let (table, other) = (to_the_end(joined()), vec![0x5b; 16]);
    let whole = texts(&table);
    let digest = table.header().digest();
    let promised = commitment(&digest, Seat(0), &nonce(0)).to_string();
    let other_promise = commitment(&digest, Seat(0), &other).to_string();
    let both = exchanged(&exchanged(&whole, 2, &promised, &other_promise), 5, &hex::encode(nonce(0)), &hex::encode(&other));
    let dice = Dice::new(Seed::new(SEED), &[&other, &nonce(1), &nonce(2)]);
    let first = (0..).find(|at| dice.throw(*at, Seat((*at % 3) as u8), throw) != honest.throw(*at, Seat((*at % 3) as u8), throw)).unwrap();
    forged.add("a nonce and its commitment", &both, 8 + first as u32);

    let signed = texts(&to_the_end(joint().commit_signed(0, [9; 32]).commit_signed(1, [10; 32]).commit(2).reveal(0).reveal(1).reveal(2)));
    forged.exchange("another commitment under a signature", &signed, (2, &promised, &other_promise), 2);
    let fact = |seq: usize, key: &str| signed[seq - 1].split(' ').find(|token| token.starts_with(key)).unwrap().to_owned();
    let mut to = |what: &str, from: &str, to: &str| forged.exchange(what, &signed, (2, from, to), 2);
    let (key, sig) = (fact(2, "key="), fact(2, "sig="));
    to("another seat's key", &key, &fact(3, "key="));
    to("another seat's signature", &sig, &fact(3, "sig="));
    to("another seat's key and signature", &format!("{key} {sig}"), &format!("{} {}", fact(3, "key="), fact(3, "sig=")));
    to("a key alone", &format!(" {sig}"), "");
    to("a signature alone", &format!("{key} "), "");
    to("a key that is none", &key, &format!("key={}", "02".repeat(32)));
    to("a weak key and its signature", &format!("{key} {sig}"), &format!("key={0} sig={0}{0}", format_args!("01{}", "00".repeat(31))));
    to("a weak key that signs everything", &format!("{key} {sig}"), &format!("key={0} sig={0}{1}", "00".repeat(32), "00".repeat(32)));
    let unreduced = format!("{}{}", &sig[..4 + 64], "ff".repeat(32));
    to("an S that is not reduced", &sig, &unreduced);
    forged.exchange("keys in a reveal", &signed, (5, &hex::encode(nonce(0)), &format!("{} {key} {sig}", hex::encode(nonce(0)))), 5);
    forged.exchange("keys in a move", &signed, (8, " ply=", &format!(" {key} {sig} ply=")), 8);
    forged.are_told_alike();
}

/// Five moves stood, then two were taken back; the fork has thrown twice and taken one back.
fn fork() -> Table {
    let origin = table().snakes(30, &[]).undo_over_throw().roll(5).undo(2);
    table().fork(&origin, 7).id(2).seed([8; 32])
}

#[test]
fn given_moves_are_told_alike() {
    let whole = texts(&to_the_end(fork().roll(2).undo(1)));
    let header = |given: u32| format!(" {given}");
    let ends = whole[0].lines().last().unwrap().to_owned();
    assert!(ends.starts_with("origin ") && ends.ends_with(" 3"), "{ends}");
    let says = |given: u32| format!("{}{}", &ends[..ends.len() - 2], header(given));
    let mut forged = Forgeries::default();
    forged.exchange("one more than the header says", &whole, (1, &ends, &says(2)), 4);
    forged.exchange("one fewer than the header says", &whole, (1, &ends, &says(4)), 5);
    forged.add("the book ends too early", &whole[..3], 4);
    forged.add("none at all", &whole[..1], 2);
    forged.exchange("in a game that is no fork", &whole, (1, &format!("\n{ends}"), ""), 2);
    forged.exchange("a given one was made here", &whole, (4, " given ", " move "), 4);
    forged.exchange("a move was given", &whole, (5, " move ", " given "), 5);
    forged.exchange("more moves than entries", &whole, (1, &ends, &format!("{} 7", &ends[..ends.len() - 2])), 1);
    let of_nothing = ends.replacen(" 7 ", " 0 ", 1);
    forged.exchange("of no entry", &whole, (1, &ends, &of_nothing), 1);
    forged.exchange("too many", &whole, (1, &ends, &ends.replacen(" 7 ", " 200000 ", 1).replace(" 3", " 100001")), 1);
    forged.exchange("another time", &whole, (4, "00:00.000", "00:00.001"), 4);
    forged.exchange("another principal", &whole, (4, "0:anonymous", "0:somebody"), 4);
    forged.exchange("by a seat that is none", &whole, (4, " 0:", " 2:"), 4);
    forged.exchange("by nobody", &whole, (4, " 0:", " -:"), 4);
    forged.exchange("it ends the game", &whole, (4, "next=1", "win=0 reason=finish"), 4);
    forged.exchange("it closes the game", &whole, (4, "next=1", &format!("next=1 seed={}", "08".repeat(32))), 4);
    let undo = whole.iter().position(|text| text.contains(" undo ")).unwrap() + 1;
    let target: usize = whole[undo - 1].split(' ').nth(4).unwrap().parse().unwrap();
    forged.exchange("an undo of it", &whole, (undo, &format!(" undo {target} "), " undo 4 "), undo as u32);
    let open = texts(&fork());
    let cells = open[3].split(' ').find(|token| token.starts_with("cells=")).unwrap();
    let (before, after) = cells["cells=".len()..].split_once(';').map_or((cells, ""), |pair| pair);
    // What the undo would change back, so that only the rule against it speaks.
    let back = undone(before.trim_start_matches("cells="), after);
    let line = format!("5 2026-01-01T00:00:01.000Z 0:anonymous undo 4 ply=2 cells={back} next=0");
    forged.add("a right undo of it", &[&open[..], &[line]].concat(), 5);
    forged.are_told_alike();
    assert_eq!(compare(&[("as it was".to_owned(), file(&whole)), ("open".to_owned(), file(&open))]), 0);
}

/// The groups of a change, each turned round, in the order of a book.
fn undone(one: &str, two: &str) -> String {
    let turned = |group: &str| {
        let (change, cells) = group.split_once(':').unwrap();
        let (before, after) = change.split_once('>').unwrap();
        format!("{after}>{before}:{cells}")
    };
    let mut groups: Vec<String> = [one, two].into_iter().filter(|group| !group.is_empty()).map(turned).collect();
    groups.sort();
    groups.join(";")
}

/// The dice of given moves are the other game's: neither verifier holds them against this game's seed.
#[test]
fn dice_of_given_moves_are_not_this_games() {
    let mut cases = Vec::new();
    for face in 1..=6 {
        let origin = table().snakes(30, &[]).throw(&[face]);
        cases.push((format!("{face} was given"), file(&texts(&to_the_end(table().fork(&origin, 2).seed([8; 32]))))));
    }
    assert_eq!(compare(&cases), 0);
    let mut cases = Vec::new();
    for face in 1..=6 {
        cases.push((format!("{face} after what was given"), file(&texts(&to_the_end(fork().throw(&[face]))))));
    }
    assert_eq!(compare(&cases), 5, "of six faces one is the seed's");
}

#[test]
fn optional_header_lines_are_told_alike() {
    let origin = table().snakes(30, &[]).roll(1);
    let whole = texts(&table().fork(&origin, 2).joint(600, IfAbsent::Abort).receipts_always());
    let text = whole[0].lines().rev().take(3).collect::<Vec<_>>();
    let (receipts, entropy, from) = (text[0], text[1], text[2]);
    let mut forged = Forgeries::default();
    let mut to = |from: &str, to: &str| forged.exchange(to, &whole, (1, from, to), 1);
    for wrong in ["joint 0 abort", "joint 2592001 abort", "joint 060 abort", "joint 60 stop", "joint 60", "alone", "joint 60 abort now"] {
        to("joint 600 abort", wrong);
    }
    for wrong in ["never", "", "always ", "always\nreceipts always", "always\nmore yes"] {
        to("receipts always", &format!("receipts {wrong}"));
    }
    to(entropy, &format!("{receipts}\n{entropy}"));
    to(from, &format!("{entropy}\n{from}"));
    to(from, &format!("{from}\n{from}"));
    to(from, &from.to_uppercase().replace("ORIGIN", "origin"));
    to(from, &format!("{from} 1"));
    to(from, from.rsplit_once(' ').unwrap().0);
    to("undo-after-end no\n", "undo-after-end no\n\n");
    forged.are_told_alike();
}

/// The second verifier passes what the first passes: hundreds of joint games and forks at random.
#[test]
fn joint_games_at_random_pass_both() {
    let mut cases: Vec<Case> = Vec::new();
    repeat(300, |random| {
        let laid = plybook_tests::deal::Deal::random("snakes_and_ladders", 4, random).table().seed(random.bytes());
        let laid = laid.joint(60, *random.pick(&[IfAbsent::Abort, IfAbsent::Forfeit]));
        let mut table = laid.joined_at_random(60, random, |_| {});
        for _ in 0..random.below(30) {
            if table.game().to_move().is_some() {
                table = table.roll(1);
            }
        }
        cases.push((format!("number {}", cases.len()), file(&texts(&table))));
    });
    assert_eq!(compare(&cases), 0);
}
