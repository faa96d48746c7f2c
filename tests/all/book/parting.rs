//! Where two books part, and where the games in them do.

use plybook_core::compare::{Divergence, compare};
use plybook_core::{Book, Header, Seq};
use plybook_tests::golden;
use plybook_tests::table::{Table, table};

#[track_caller]
fn found(left: &Table, right: &Table) -> Divergence {
    let found = compare(left.book(), right.book()).unwrap();
    // The other way round it is the same, mirrored.
    let mut mirrored = compare(right.book(), left.book()).unwrap();
    if let Some(part) = &mut mirrored.book {
        part.lines.reverse();
    }
    if let Some(part) = &mut mirrored.moves {
        part.before.reverse();
        part.at.reverse();
    }
    assert_eq!(mirrored, found);
    found
}

#[test]
fn a_book_equals_itself() {
    for golden in golden::all() {
        let found = compare(&golden.book, &golden.book).unwrap();
        assert_eq!(found, Divergence { common: golden.book.links().len() as u32, book: None, moves: None }, "{}", golden.name);
    }
}

#[test]
fn another_move_parts_books_and_games() {
    let found = found(&table().play("b2 a1 c3"), &table().play("b2 c1 c3"));
    let part = found.book.unwrap();
    assert_eq!((found.common, part.seq), (2, Seq(3)));
    assert!(part.lines[0].as_ref().unwrap().contains(" move a1 ") && part.lines[1].as_ref().unwrap().contains(" move c1 "));
    let moves = found.moves.unwrap();
    assert_eq!((moves.ply, moves.before, moves.at), (2, [Seq(2); 2], [Some(Seq(3)); 2]));
}

#[test]
fn a_shorter_book_ends_before() {
    let found = found(&table().play("b2 a1"), &table().play("b2 a1 c3"));
    let part = found.book.unwrap();
    assert_eq!((found.common, part.seq, part.lines[0].clone()), (3, Seq(4), None));
    let moves = found.moves.unwrap();
    assert_eq!((moves.ply, moves.before, moves.at), (3, [Seq(3); 2], [None, Some(Seq(4))]));
    let fresh = super::parting::found(&table(), &table().play("b2"));
    assert_eq!(fresh.moves.map(|part| (part.ply, part.before, part.at)), Some((1, [Seq::FIRST; 2], [None, Some(Seq(2))])));
}

/// What was taken back is no part of the game, but it is of the book.
#[test]
fn undone_moves_part_books_and_not_games() {
    let straight = table().play("b2 a1 c3");
    let winding = table().play("b2 c1").undo(1).play("a1 c3");
    let found = found(&straight, &winding);
    assert_eq!((found.common, found.book.map(|part| part.seq), found.moves), (2, Some(Seq(3)), None));
    let other = super::parting::found(&straight.play("a3"), &winding.play("b3"));
    let moves = other.moves.unwrap();
    assert_eq!((moves.ply, moves.before, moves.at), (4, [Seq(4), Seq(6)], [Some(Seq(5)), Some(Seq(7))]));
}

/// Two games have nothing in common as books: where they part as games, an arbiter wants to know.
#[test]
fn mirrored_games_part_where_their_moves_do() {
    let found = found(&table().id(1).play("b2 a1 c3"), &table().id(2).play("b2 a1 a3"));
    assert_eq!((found.common, found.book.as_ref().map(|part| part.seq)), (0, Some(Seq::FIRST)));
    assert!(found.book.unwrap().lines[1].as_ref().unwrap().contains("\ngame 00000000-0000-0000-0000-000000000002\n"));
    assert_eq!(found.moves.map(|part| (part.ply, part.at)), Some((3, [Some(Seq(4)); 2])));
    let same = super::parting::found(&table().id(1).play("b2"), &table().id(2).play("b2"));
    assert_eq!(same.moves, None);
}

#[test]
fn other_faces_are_another_move() {
    let rolls = |seed: u8| table().snakes(100, &[]).id(u128::from(seed)).seed([seed; 32]).play(&["roll"; 8].join(" "));
    let (left, right) = (rolls(1), rolls(2));
    let faces = |table: &Table| -> Vec<String> {
        let line = |link: &plybook_core::book::Link| link.text.split(" throw=").nth(1).unwrap()[..1].to_owned();
        table.book().lines().iter().map(line).collect()
    };
    let ply = faces(&left).iter().zip(faces(&right)).position(|(left, right)| *left != right).unwrap() as u32 + 1;
    assert_eq!(found(&left, &right).moves.map(|part| part.ply), Some(ply));
}

/// Lines are taken at their word: an undo of nothing takes nothing back, and no rules are asked.
#[test]
fn what_no_rules_accept_is_compared_all_the_same() {
    let table = table().play("b2 a1");
    let header: Header = table.header();
    let mut forged = Book::new(Header::parse(&header.to_string().replace("mnk@1", "chess@9")).unwrap());
    let lines = table.book().lines().iter().map(|link| link.text.clone());
    let undo = "4 2026-01-01T00:00:03.000Z 0:tester undo 77 ply=9 next=0";
    for line in lines.chain([undo.to_owned(), "5 2026-01-01T00:00:04.000Z 0:tester move b2 ply=1 next=0".to_owned()]) {
        forged.push(line);
    }
    let found = compare(table.book(), &forged).unwrap();
    assert_eq!(found.moves.map(|part| (part.ply, part.at)), Some((3, [None, Some(Seq(5))])));

    let mut nonsense = table.book().clone();
    nonsense.push("nonsense");
    let refused = compare(table.book(), &nonsense).unwrap_err();
    assert_eq!((refused.side, refused.seq), (1, Seq(4)));
}
