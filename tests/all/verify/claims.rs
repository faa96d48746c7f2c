//! What is claimed of the dice of each kind of book, and in which words.

use std::process::Command;

use plybook_core::entropy::IfAbsent;
use plybook_core::header::SeedFrom;
use plybook_core::verify::{DiceClaim, verify};
use plybook_core::{Seat, SeatSet};
use plybook_rulesets::Registry;
use plybook_tests::node;
use plybook_tests::table::{Table, table};
use serde_json::{Value, json};

use super::second;

/// A kind of book: a name, a game of it, what core claims, the claim's words, and the signed seats.
struct Kind {
    name: &'static str,
    table: Table,
    claim: DiceClaim,
    words: &'static str,
    signed: &'static [u8],
}

fn to_the_end(mut table: Table) -> Table {
    while table.game().to_move().is_some() {
        table = table.roll(1);
    }
    table.closed()
}

fn kinds() -> Vec<Kind> {
    let snakes = || table().snakes(30, &[]);
    let joint = || snakes().seats(3).joint(600, IfAbsent::Forfeit);
    let signed = |table: Table| table.commit_signed(2, [9; 32]).commit(1).commit_signed(0, [10; 32]).reveal(0).reveal(1).reveal(2);
    let jointly = |seed_from, signed: &[u8]| DiceClaim::FixedJointly { seed_from, signed: signed.iter().copied().map(Seat).collect() };
    let kind = |name, table, claim, words, signed| Kind { name, table, claim, words, signed };
    let alone = "the service chose the seed alone";
    let known = "the caller chose the seed and could know every face";
    let unsigned = "no seat signed with a key of its own, so only who kept a nonce knows that it is the one sent";
    let hidden = "the seed is not revealed yet, so the faces cannot be checked";
    vec![
        kind("service", to_the_end(snakes().seed_of_the_service()), DiceClaim::FixedByService, alone, &[]),
        kind("caller", to_the_end(snakes()), DiceClaim::FixedByCaller, known, &[]),
        kind("joint", to_the_end(joint().seed_of_the_service().joined()), jointly(SeedFrom::Service, &[]), unsigned, &[]),
        kind(
            "joint-signed",
            to_the_end(signed(joint().seed_of_the_service())),
            jointly(SeedFrom::Service, &[0, 2]),
            "the service's seed and a nonce of every seat, each committed to before any was revealed; signed for seats 0,2 by keys \
             that stand in the book; that they are the seats' own, it does not prove",
            &[0, 2],
        ),
        kind(
            "joint-caller",
            to_the_end(joint().joined()),
            jointly(SeedFrom::Caller, &[]),
            "the caller's seed and a nonce of every seat",
            &[],
        ),
        kind("going-on", snakes().roll(2), DiceClaim::NotRevealed, hidden, &[]),
        kind("joint-going-on", joint().joined().roll(2), DiceClaim::NotRevealed, hidden, &[]),
        kind("absent", joint().commit(1).later(601).close(), DiceClaim::NoThrows, "nothing was thrown", &[]),
        kind("no-dice", table().mnk(3, 3, 3).play("b2"), DiceClaim::NoThrows, "nothing was thrown", &[]),
        kind("fork", to_the_end(table().fork(&snakes().roll(2), 3).seed([8; 32])), DiceClaim::FixedByCaller, known, &[]),
    ]
}

#[test]
fn each_kind_of_book_claims_its_own() {
    let kinds = kinds();
    for Kind { name, table, claim, words, .. } in &kinds {
        let report = verify(&table.book().print(), &Registry::standard()).unwrap_or_else(|wrong| panic!("{name}: {wrong}"));
        assert_eq!(report.dice, *claim, "{name}");
        assert!(report.dice.to_string().contains(words), "{name}: {}", report.dice);
    }
    // A claim in other words is another claim.
    let told: std::collections::BTreeSet<String> = kinds.iter().map(|kind| kind.claim.to_string()).collect();
    assert_eq!(told.len(), 7);
    assert_eq!(
        DiceClaim::FixedJointly { seed_from: SeedFrom::Service, signed: SeatSet::only(Seat(1)) }.to_string().matches("seats 1").count(),
        1
    );
}

/// A folder with a file of each kind.
fn written(kinds: &[Kind]) -> (tempfile::TempDir, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let write = |kind: &Kind| {
        let path = folder.path().join(format!("{}.ply", kind.name));
        std::fs::write(&path, kind.table.book().print()).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let files = kinds.iter().map(write).collect();
    (folder, files)
}

fn plybook_verify(arguments: &[&str], files: &[String]) -> String {
    let output = Command::new(node::binary()).arg("verify").args(arguments).args(files).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_command_says_so_in_words() {
    let kinds = kinds();
    let (_folder, files) = written(&kinds);
    let said = plybook_verify(&[], &files);
    let parts: Vec<&str> = said.split(": verified\n").skip(1).collect();
    assert_eq!(parts.len(), kinds.len(), "{said}");
    for (kind, part) in kinds.iter().zip(parts) {
        assert!(part.contains(&format!("\n  dice: {}\n", kind.claim)), "{}: {part}", kind.name);
        assert_eq!(part.contains("\n  a fork: 2 moves were given by entry 3 (digest "), kind.name == "fork", "{}: {part}", kind.name);
        assert_eq!(part.contains("won by seat 1 (absent)"), kind.name == "absent", "{}: {part}", kind.name);
    }
}

#[test]
fn the_command_says_so_to_machines() {
    let kinds = kinds();
    let (_folder, files) = written(&kinds);
    let said = plybook_verify(&["--json"], &files);
    let said: Vec<Value> = said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(said.len(), kinds.len());
    for (kind, said) in kinds.iter().zip(said) {
        assert_eq!(said["dice"], kind.claim.to_string(), "{}", kind.name);
        assert_eq!(said["signed_seats"], json!(kind.signed), "{}", kind.name);
        assert_eq!(said["given_moves"], if kind.name == "fork" { 2 } else { 0 }, "{}", kind.name);
    }
}

#[test]
fn a_game_without_a_result_is_no_draw() {
    let void = table().snakes(30, &[]).joint(600, IfAbsent::Abort).commit(0).later(601).close();
    let kind = Kind { name: "void", table: void, claim: DiceClaim::NoThrows, words: "", signed: &[] };
    let (_folder, files) = written(&[kind]);
    let said = plybook_verify(&[], &files);
    assert!(said.contains("\n  no result (absent)\n"), "{said}");
    let said: Value = serde_json::from_str(&plybook_verify(&["--json"], &files)).unwrap();
    assert_eq!((&said["void"], &said["winners"], &said["reason"]), (&json!(true), &json!([]), &json!("absent")));
}

/// The second verifier has checked the same dice.
#[test]
fn the_second_verifier_checks_each_kind() {
    let kinds = kinds();
    let (folder, files) = written(&kinds);
    let arguments: Vec<&str> = ["--json"].into_iter().chain(files.iter().map(String::as_str)).collect();
    let (said, code) = second::python(&arguments, folder.path());
    assert_eq!(code, Some(0), "{said}");
    for (kind, line) in kinds.iter().zip(said.lines()) {
        let said: Value = serde_json::from_str(line).unwrap();
        let dice = match kind.claim {
            DiceClaim::NoThrows => "no throws",
            DiceClaim::NotRevealed => "dice not checked: no seed yet",
            _ => "every die checked",
        };
        assert_eq!(said["dice"], dice, "{}", kind.name);
    }
}
