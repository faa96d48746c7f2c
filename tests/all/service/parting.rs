//! CompareBooks: where two books part, and where the games in them do.

use plybook_proto::v1;
use plybook_tests::forgery::forged;
use plybook_tests::injected::over_sqlite;
use plybook_tests::long;
use plybook_tests::refused::Refused;
use plybook_tests::table::table;

fn occupied(position: Option<&v1::Position>) -> Option<Vec<u32>> {
    position.map(|position| position.cells.iter().map(|cell| cell.cell).collect())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_book_equals_itself_and_nothing_is_no_book() {
    let local = over_sqlite().await.start().await;
    let wire = local.wire().await;
    let mut game = wire.game().await;
    game.play("b2 a1").await;
    let found = wire.compare(&game.id, &game.id).await.unwrap();
    assert_eq!(found, v1::CompareBooksResponse { equal: true, common_entries: 3, ..Default::default() });

    let none = plybook_tests::wire::fresh();
    Refused::by(wire.compare(&none, &game.id).await).with("GAME_NOT_FOUND");
    Refused::by(wire.compare(&game.id, &none).await).with("GAME_NOT_FOUND");
    Refused::by(wire.compare("x", &game.id).await).with("INVALID_PARAMETER").field("left.game_id", "UUID");
    Refused::by(wire.compare(&game.id, "").await).with("INVALID_PARAMETER").field("right.game_id", "required");
    let left = Some(v1::ComparedBook { book: Some(v1::compared_book::Book::GameId(game.id.clone())) });
    let request = v1::CompareBooksRequest { left, right: Some(v1::ComparedBook { book: None }) };
    Refused::by(wire.audit().compare_books(request).await).with("INVALID_PARAMETER").field("right", "required");
    Refused::by(wire.audit().compare_books(v1::CompareBooksRequest::default()).await).with("INVALID_PARAMETER").field("left", "required");
}

/// Two games with the same moves for a while: an arbiter sees the board before, and both after.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mirrored_games_part_at_a_move_with_both_positions() {
    let local = over_sqlite().await.start().await;
    let wire = local.wire().await;
    let (mut left, mut right) = (wire.game().undo(v1::UndoBy::Free).await, wire.game().await);
    left.play("b2 c3").await;
    left.undo(1).await;
    left.play("a1 c1").await;
    right.play("b2 a1 a3 b3").await;
    let found = wire.compare(&left.id, &right.id).await.unwrap();
    assert_eq!((found.equal, found.common_entries, found.positions_left_out), (false, 0, false));
    let book = found.book.unwrap();
    assert_eq!((book.seq, book.before.is_some()), (1, false));
    assert!(book.left_line.unwrap().contains(&left.id) && book.right_line.unwrap().contains(&right.id));
    assert_eq!((occupied(book.left.as_ref()), occupied(book.right.as_ref())), (Some(vec![]), Some(vec![])));
    let moves = found.moves.unwrap();
    assert_eq!((moves.ply, moves.left_seq, moves.right_seq), (3, Some(6), Some(4)));
    assert_eq!(occupied(moves.before.as_ref()), Some(vec![4, 6]));
    assert_eq!((occupied(moves.left.as_ref()), occupied(moves.right.as_ref())), (Some(vec![4, 6, 8]), Some(vec![0, 4, 6])));

    // The same moves, taken back and made again, are the same game.
    let (mut straight, mut winding) = (wire.game().undo(v1::UndoBy::Free).await, wire.game().undo(v1::UndoBy::Free).await);
    straight.play("b2").await;
    winding.play("b2").await;
    winding.undo(0).await;
    winding.play("b2").await;
    assert_eq!(wire.compare(&straight.id, &winding.id).await.unwrap().moves, None);
    winding.play("a1").await;
    let moves = wire.compare(&straight.id, &winding.id).await.unwrap().moves.unwrap();
    assert_eq!((moves.ply, moves.left_seq, moves.right_seq, moves.left), (2, None, Some(5), None));
    assert_eq!((occupied(moves.before.as_ref()), occupied(moves.right.as_ref())), (Some(vec![4]), Some(vec![4, 6])));
}

/// Evidence of one game from two hands; the second says something that no rules accept.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_versions_of_a_book_part_at_the_entry_that_was_written_anew() {
    let (one, two) = (over_sqlite().await.start().await, over_sqlite().await.start().await);
    let file = table().play("b2 a1 c3").book().print();
    let id = one.wire().await.import(&file).await.unwrap().game_id;
    // One server keeps one book of a game: the other goes under another id, as a copy for the arbiter.
    let copy = forged(&file, &id, "00000000-0000-0000-0000-000000000007");
    let illegal = forged(&copy, "move a1 ply=2 cells=0>2:6", "move b2 ply=2 cells=0>2:4");
    let wire = one.wire().await;
    let other = wire.import(illegal).await.unwrap().game_id;
    let moves = wire.compare(&id, &other).await.unwrap().moves.unwrap();
    assert_eq!((moves.ply, moves.left_seq, moves.right_seq), (2, Some(3), Some(3)));
    assert_eq!((occupied(moves.left.as_ref()), moves.right), (Some(vec![4, 6]), None), "the rules do not lead there");

    let unknown = forged(&copy, "ruleset mnk@1", "ruleset mnk@9");
    let wire = two.wire().await;
    let unknown = wire.import(unknown).await.unwrap().game_id;
    wire.import(&file).await.unwrap();
    let found = wire.compare(&unknown, &id).await.unwrap();
    assert!(found.moves.is_none());
    let book = found.book.unwrap();
    assert!(book.left_line.is_some() && book.left.is_none() && book.right.is_some());
}

/// However long the books are, they are read in pages.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn long_books_are_compared_in_pages() {
    let local = over_sqlite().await.start().await;
    let (left, right) = (long::book(&local.file(), 12_001).await, long::book(&local.file(), 11_500).await);
    let wire = local.wire().await;
    let moves = wire.compare(&left, &right).await.unwrap().moves.unwrap();
    assert_eq!((moves.ply, moves.left_seq, moves.right_seq, moves.right), (11_500, Some(11_501), None, None));
    let pieces = |position: Option<v1::Position>| position.map(|position| position.cells.len());
    assert_eq!((pieces(moves.before), pieces(moves.left)), (Some(11_499), Some(11_500)));
    let found = wire.compare(&left, &left).await.unwrap();
    assert_eq!((found.equal, found.common_entries), (true, 12_001));
}
