//! What a game answers to a request, and in which order it looks for a reason to refuse.

use plybook_core::entry::{Act, Body, Entry, Incident};
use plybook_core::game::{Ask, Request};
use plybook_core::{Game, Rejection, Seq, Time};
use plybook_tests::golden::{all, is_settled, registry, request_of};
use plybook_tests::table::table;

#[test]
fn scenario_11_a_request_decided_on_an_older_entry_is_stale() {
    let table = table().mnk(3, 3, 3).play("b2 a1");
    let stale = |table: plybook_tests::table::Table, expected| table.refuses_expecting(expected, 0, "c3", "STALE_SEQ");
    let table = (0..=2).chain([4, 5, u32::MAX]).fold(table, stale);
    // After an undo an earlier number never matches again, although the position is the same.
    let table = table.undo(1).ply(1).refuses_expecting(2, 1, "a3", "STALE_SEQ").refuses_expecting(3, 1, "a3", "STALE_SEQ");
    table.play("a3").ply(2);
}

#[test]
fn reasons_are_looked_for_in_a_fixed_order() {
    let over = || table().mnk(3, 3, 3).play("a1 a2 b1 b2 c1").closed();
    over().refuses_expecting(1, 9, "c3", "NO_SUCH_SEAT");
    over().refuses_expecting(1, 1, "z9", "INVALID_ACTION");
    over().refuses_expecting(1, 1, "a1", "GAME_FINISHED");
    let open = || table().mnk(3, 3, 3).play("b2");
    open().refuses_expecting(1, 0, "b2", "STALE_SEQ");
    open().refuses_expecting(2, 0, "b2", "NOT_YOUR_TURN");
    open().refuses_expecting(2, 1, "b2", "CELL_OCCUPIED");
    open().refuses_ask(None, Ask::MoveText("a1".to_owned()), "NOT_YOUR_TURN");
}

#[test]
fn a_refusal_says_what_the_caller_needs() {
    let table = table().mnk(3, 3, 3).play("b2");
    let mut game = table.game().clone();
    let seed = plybook_core::Seed::new([7; 32]);
    let request = |expected, ask| Request { actor: table_actor(1), expected: Seq(expected), ask };
    let mut refused = |request: Request| game.decide(&request, Time::default(), &seed).unwrap_err();
    let stale = refused(request(1, Ask::MoveText("a1".to_owned())));
    assert_eq!(stale, Rejection::Stale { expected: Seq(1), head: Seq(2) });
    let unread = refused(request(2, Ask::MoveText("4".to_owned())));
    assert!(
        matches!(&unread, Rejection::InvalidAction { detail, accepted } if detail.contains("\"4\"") && *accepted == ["place"]),
        "{unread:?}"
    );
    let shape = refused(request(2, Ask::Move(plybook_core::Action::Roll)));
    assert!(matches!(&shape, Rejection::InvalidAction { detail, .. } if detail.contains("\"roll\"")), "{shape:?}");
}

/// It is too early for a claim whenever the time is not over.
fn is_claim(entry: &Entry) -> bool {
    matches!(entry.body, Body::Incident(Incident { act: Act::Claim(_), .. }))
}

fn table_actor(seat: u8) -> plybook_core::entry::Actor {
    plybook_core::entry::Actor { seat: Some(plybook_core::Seat(seat)), by: plybook_tests::table::tester() }
}

/// Deciding changes nothing, and a clock that went back does not turn the book's times around.
#[test]
fn a_decision_is_only_a_proposal() {
    for golden in all() {
        let header = golden.book.header().clone();
        let mut game = Game::new(header.clone(), registry().rules_of(&header).unwrap());
        for entry in golden.entries() {
            if matches!(entry.body, Body::Given(_)) || is_settled(&entry) || is_claim(&entry) {
                game.apply(&entry).unwrap();
                continue;
            }
            let (head, position) = (game.head(), game.position().clone());
            if matches!(entry.body, Body::Absent(_)) {
                let early = game.decide(&request_of(&entry), entry.time, &golden.seed);
                assert_eq!(early, Err(Rejection::NotFinished), "{}: nobody is absent before the time is over", golden.name);
                game.apply(&entry).unwrap();
                continue;
            }
            let early = game.decide(&request_of(&entry), Time::default(), &golden.seed).unwrap();
            assert_eq!(early.time, head.time, "{}: never before the entry before it", golden.name);
            assert_eq!((game.head(), game.position()), (head, &position), "{}", golden.name);
            game.apply(&entry).unwrap();
        }
    }
}
