//! Nonces: the order of joining, what is refused, and what becomes of a game whose seats are absent.

use plybook_core::entropy::{Commit, IfAbsent, SeatSignature, commitment, signed_bytes};
use plybook_core::game::Ask;
use plybook_core::{Dice, Seat, SeatSet, Seed};
use plybook_tests::golden;
use plybook_tests::table::{Table, fold, nonce, table};

fn joint() -> Table {
    table().of("snakes_and_ladders").joint(60, IfAbsent::Forfeit)
}

#[track_caller]
fn refuses(table: Table, seat: u8, ask: Ask, why: &str) -> Table {
    table.refuses_ask(Some(Seat(seat)), ask, why)
}

#[test]
fn nothing_is_thrown_before_every_nonce_is_in() {
    let table = joint().refuses("roll", "NOT_JOINED").commit(1).refuses("roll", "NOT_JOINED");
    let table = refuses(table, 1, Ask::Reveal(nonce(1)), "TOO_EARLY").commit(0);
    let promise = table.promise(0);
    let table = refuses(table, 0, Ask::Commit(promise), "ALREADY_DONE").refuses("roll", "NOT_JOINED");
    let table = refuses(table, 0, Ask::Reveal(nonce(1)), "NONCE_MISMATCH").reveal(1);
    let table = refuses(table, 1, Ask::Reveal(nonce(1)), "ALREADY_DONE").refuses("roll", "NOT_JOINED").reveal(0);
    let table = refuses(table, 0, Ask::Reveal(nonce(0)), "ALREADY_DONE").roll(3);
    let faces = Dice::new(Seed::new(plybook_tests::table::SEED), &[&nonce(0), &nonce(1)]);
    assert_eq!(table.game().dice(Seed::new(plybook_tests::table::SEED)).throw(0, Seat(0), throw()), faces.throw(0, Seat(0), throw()));
}

const fn throw() -> plybook_core::dice::Throw {
    plybook_core::dice::Throw { dice: 8, sides: 6 }
}

#[test]
fn a_game_that_asks_for_no_nonces_takes_none() {
    let table = table().of("snakes_and_ladders");
    let promise = table.promise(0);
    let table = refuses(table, 0, Ask::Commit(promise), "NOT_JOINT");
    refuses(table, 0, Ask::Reveal(nonce(0)), "NOT_JOINT").roll(1);
}

#[test]
fn the_last_reveal_says_who_moves() {
    let lines: Vec<String> = joint().joined().book().lines().iter().map(|link| link.text.clone()).collect();
    assert!(lines[2].ends_with(&format!("reveal {}", hex::encode(nonce(0)))), "{}", lines[2]);
    assert!(lines[3].ends_with(" next=0"), "{}", lines[3]);
}

#[test]
fn a_commitment_is_the_seats_own() {
    let table = joint();
    let copied = Commit { commitment: commitment(&table.header().digest(), Seat(0), &nonce(0)), signed: None };
    let mut table = table.commit(0);
    // The other seat copies the promise, and later the nonce: it does not fit its own seat.
    table = table.asks(Some(Seat(1)), Ask::Commit(copied)).reveal(0);
    refuses(table, 1, Ask::Reveal(nonce(0)), "NONCE_MISMATCH");
}

#[test]
fn a_signed_commitment_is_checked() {
    use ed25519_dalek::{Signer as _, SigningKey};
    let key = SigningKey::from_bytes(&[9; 32]);
    let table = joint();
    let digest = table.header().digest();
    let promise = table.promise(0).commitment;
    let signed = |seat: u8| {
        let signature = key.sign(&signed_bytes(&digest, Seat(seat), &promise)).to_bytes();
        Ask::Commit(Commit { commitment: promise, signed: Some(SeatSignature { key: key.verifying_key().to_bytes(), signature }) })
    };
    let weak = Ask::Commit(Commit { commitment: promise, signed: Some(SeatSignature { key: [0; 32], signature: [0; 64] }) });
    let table = refuses(table, 0, signed(1), "BAD_SIGNATURE");
    let table = refuses(table, 0, weak, "BAD_KEY").asks(Some(Seat(0)), signed(0)).commit(1).reveal(0).reveal(1);
    assert_eq!(table.game().joining().unwrap().signed(), SeatSet::only(Seat(0)));
}

#[test]
fn absent_seats_lose_once_their_time_is_over() {
    let table = joint().commit(0).refuses_ask(None, Ask::Close, "NOT_FINISHED").later(61);
    let promise = table.promise(1);
    let table = refuses(table, 1, Ask::Commit(promise), "TOO_LATE").later(61).close().wins(0).because("absent");
    let lines = table.book().print();
    assert!(lines.contains("-:anonymous absent 1 win=0 reason=absent seed="), "{lines}");
    assert!(lines.contains("3 2026-01-01T00:01:00.000Z "), "it is stamped with the end of the time: {lines}");
    fold(&golden::registry(), &lines, |_, _| {});
}

#[test]
fn who_commits_and_does_not_reveal_is_absent_too() {
    let table = joint().commit(0).commit(1).reveal(1).later(30).refuses_ask(None, Ask::Close, "NOT_FINISHED").later(62).close();
    table.wins(1).because("absent");
    let nobody = joint().later(61).close();
    assert!(nobody.game().outcome().unwrap().is_void(), "nobody came");
    let aborted = table_of_abort().commit(0).later(61).close();
    assert!(aborted.game().outcome().unwrap().is_void(), "the policy is to abort");
}

fn table_of_abort() -> Table {
    table().of("snakes_and_ladders").joint(60, IfAbsent::Abort)
}
