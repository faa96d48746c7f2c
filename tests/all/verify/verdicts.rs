//! Two verdicts on one book: what was accepted then, what its own pinned rules say now. What is broken has one.

use plybook_core::game::Fault;
use plybook_core::receipt::PublicKeys;
use plybook_core::verify::{Accepted, Kind, Signed, Wrong, verify, verify_signed};
use plybook_core::{Book, Seq};
use plybook_rulesets::Registry;
use plybook_server::signing::SigningKey;
use plybook_tests::forgery::forged;
use plybook_tests::table::table;

/// Six entries, of which entry 4 puts a piece where one stands.
fn accepted_once() -> Book {
    let file = table().mnk(3, 3, 3).play("b2 a1 b1 c1 a3").book().print();
    Book::parse(&forged(&file, "move b1 ply=3 cells=0>1:7", "move a1 ply=3 cells=2>1:6")).unwrap()
}

fn now(file: &str) -> Wrong {
    verify(file, &Registry::standard()).unwrap_err()
}

/// The file with the digests as they were.
fn damaged(file: &str, from: &str, to: &str) -> String {
    let damaged = file.replacen(from, to, 1);
    assert_ne!(damaged, file);
    damaged
}

#[track_caller]
fn is_broken(wrong: &Wrong, seq: Option<u32>, fault: Fault) {
    assert_eq!((wrong.kind(), wrong.seq, wrong.fault, &wrong.accepted), (Kind::Broken, seq.map(Seq), fault, &None), "{wrong}");
}

#[test]
fn a_whole_book_was_accepted_then_and_is_illegal_now() {
    let book = accepted_once();
    let wrong = now(&book.print());
    let expected = Accepted { entries: 6, digest: book.digest(), signed: Signed::No, ruleset: book.header().ruleset.clone() };
    assert_eq!((wrong.kind(), wrong.seq, wrong.line, wrong.rule), (Kind::IllegalNow, Some(Seq(4)), None, Some("CELL_OCCUPIED")));
    assert_eq!(wrong.to_string(), "entry 4: the move is illegal: CELL_OCCUPIED: a piece stands on a1 already");
    assert_eq!(wrong.accepted.as_deref(), Some(&expected));
    assert_eq!(
        expected.to_string(),
        "the book is whole: 6 entries, each chained to the one before, not signed: so whoever wrote it accepted every entry"
    );
}

/// A result that the rules do not give, a move out of turn, and parameters that no game can have any more.
#[test]
fn whatever_the_rules_object_to_is_a_second_verdict() {
    let won = table().mnk(3, 3, 3).play("a1 a2 b1 b2 c1").book().print();
    for (file, from, to, seq, why) in [
        (&won, "win=0 reason=line line=6+1*3", "win=1 reason=line line=6+1*3", 6, "another result"),
        (&won, "4 2026-01-01T00:00:03.000Z 0:", "4 2026-01-01T00:00:03.000Z 1:", 4, "another seat"),
        (&won, "param k 3", "param k 4", 1, "no line of 4 fits"),
    ] {
        let wrong = now(&forged(file, from, to));
        assert_eq!((wrong.kind(), wrong.seq, wrong.rule), (Kind::IllegalNow, Some(Seq(seq)), None), "{to}: {wrong}");
        assert!(wrong.why.contains(why) && wrong.accepted.unwrap().entries == 6, "{to}: {}", wrong.why);
    }
}

#[test]
fn the_signature_says_whose_book_it_was() {
    let (ours, theirs) = (SigningKey::from_seed(&[1; 32]).unwrap(), SigningKey::from_seed(&[2; 32]).unwrap());
    let book = accepted_once();
    let signature = ours.sign(&book.head());
    let file = book.signed(signature).print();
    let with = |key: &SigningKey| -> PublicKeys { [*key.public()].into_iter().collect() };
    let signed = |keys: &PublicKeys| verify_signed(&file, &Registry::standard(), keys).unwrap_err().accepted.unwrap().signed;
    let id = ours.public().id();
    assert_eq!((signed(&with(&ours)), signed(&with(&theirs))), (Signed::By(id), Signed::UnknownKey(id)));
    // A wrong signature breaks the book, and the entry is still named.
    let other = accepted_once().signed(ours.sign(&table().mnk(3, 3, 3).book().head())).print();
    let wrong = verify_signed(&other, &Registry::standard(), &with(&ours)).unwrap_err();
    is_broken(&wrong, Some(4), Fault::Rules);
    assert!(wrong.why.contains("and after it the book is broken: line 32: the signature"), "{wrong}");
}

/// The same illegal move: what is broken after it leaves it the first wrong entry, with one verdict.
#[test]
fn a_broken_book_has_one_verdict() {
    let file = accepted_once().print();
    let before = damaged(&file, "move a1 ply=2", "move a2 ply=2");
    is_broken(&now(&before), Some(3), Fault::Digest);
    let at = damaged(&file, "move a1 ply=3", "move a2 ply=3");
    is_broken(&now(&at), Some(4), Fault::Digest);
    let after = now(&damaged(&file, "move c1 ply=4", "move c2 ply=4"));
    is_broken(&after, Some(4), Fault::Rules);
    assert!(after.why.contains("CELL_OCCUPIED") && after.why.contains("broken: line 28, entry 5: the digest is"), "{after}");
    let trailer = now(&damaged(&file, "\nend 6 ", "\nend 7 "));
    is_broken(&trailer, Some(4), Fault::Rules);
    let cut = now(&file[..file.find("end 6").unwrap()]);
    is_broken(&cut, Some(4), Fault::Rules);
    assert!(cut.why.contains("entry 7: is missing: the file ends too early"), "{cut}");
}

#[test]
fn faults_of_form_digest_and_absence_are_told_apart() {
    let file = table().mnk(3, 3, 3).play("b2 a1 b1").book().print();
    is_broken(&now(&damaged(&file, "move a1", "move  a1")), Some(3), Fault::Form);
    is_broken(&now(&damaged(&file, "\n3 2026", "\n4 2026")), Some(3), Fault::Form);
    is_broken(&now(&damaged(&file, "move a1", "move a2")), Some(3), Fault::Digest);
    is_broken(&now(&damaged(&file, "end 4", "end 3")), None, Fault::Digest);
    is_broken(&now(&file[..file.find("\nend 4").unwrap() + 1]), Some(5), Fault::Missing);
    is_broken(&now("plybook 2\n"), Some(1), Fault::Form);
}

/// Loaded dice and another seed are no matter of rules, whoever accepted them.
#[test]
fn what_the_seed_contradicts_is_broken() {
    let mut race = table().snakes(12, &[]);
    while race.game().to_move().is_some() {
        race = race.roll(1);
    }
    let file = race.book().print();
    let seed = file.split("seed=").nth(1).unwrap().split('\n').next().unwrap();
    let last = race.book().links().len() as u32;
    is_broken(&now(&forged(&file, seed, &"0".repeat(64))), Some(last), Fault::Seed);
    let commitment = race.book().header().commitment.to_string();
    is_broken(&now(&forged(&file, &commitment, &"0".repeat(64))), Some(last), Fault::Seed);
}

/// No rules, no second verdict on an entry: but the chain is followed to its end.
#[test]
fn rules_that_are_not_here_say_nothing_of_a_whole_book() {
    let file = forged(&accepted_once().print(), "ruleset mnk@1", "ruleset mnk@7");
    let wrong = now(&file);
    assert_eq!((wrong.kind(), wrong.seq, wrong.fault), (Kind::Unsupported, Some(Seq(1)), Fault::Unsupported));
    assert_eq!(wrong.accepted.unwrap().entries, 6);
    is_broken(&now(&damaged(&file, "move c1", "move c2")), Some(5), Fault::Digest);
}
