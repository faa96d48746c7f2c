//! VerifyGame: the store's rows, checked.

use plybook_proto::v1::{DiceClaim, GameState, GetGameRequest, ListGamesRequest, VerifyGameRequest, VerifyGameResponse};
use plybook_tests::injected::{over_postgres, over_sqlite};
use plybook_tests::postgres::{self, TestDatabase};
use plybook_tests::refused::Refused;
use plybook_tests::wire::Wire;

async fn verified(wire: &Wire, game_id: &str) -> VerifyGameResponse {
    wire.audit().verify_game(VerifyGameRequest { game_id: game_id.to_owned() }).await.unwrap().into_inner()
}

#[tokio::test]
async fn a_sound_game_says_what_may_be_claimed_of_it() {
    let local = over_sqlite().await.start().await;
    let wire = local.wire().await;
    let mut game = wire.game().snakes(12, &[]).await;
    let fresh = verified(&wire, &game.id).await;
    assert_eq!((fresh.entries, fresh.first_wrong_seq, fresh.dice_claim()), (1, None, DiceClaim::NoThrows));
    let event = game.play("roll roll").await;
    let open = verified(&wire, &game.id).await;
    assert_eq!((open.entries, open.dice_claim(), open.book_digest), (3, DiceClaim::NotRevealed, event.book_digest));
    while game.to_move.is_some() {
        game.play("roll").await;
    }
    let closed = verified(&wire, &game.id).await;
    assert_eq!((closed.entries, closed.why.as_str(), closed.dice_claim()), (game.head, "", DiceClaim::FixedByService));

    let mut chosen = wire.game().snakes(12, &[]).seed(&[3; 32]).await;
    while chosen.to_move.is_some() {
        chosen.play("roll").await;
    }
    assert_eq!(verified(&wire, &chosen.id).await.dice_claim(), DiceClaim::FixedByCaller);

    let none = VerifyGameRequest { game_id: plybook_tests::wire::fresh() };
    Refused::by(wire.audit().verify_game(none).await).with("GAME_NOT_FOUND");
}

/// What the superuser does behind the triggers' back.
async fn behind(database: &TestDatabase, change: &str) {
    let tables = ["book_entry", "game_seed"];
    let switch = |how: &str| tables.map(|table| format!("ALTER TABLE {table} {how} TRIGGER USER;")).concat();
    database.execute(&format!("{}{change};{}", switch("DISABLE"), switch("ENABLE"))).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_changed_a_missing_and_a_moved_row_are_named() {
    let database = postgres::database().await;
    let local = over_postgres(&database).await.start().await;
    let wire = local.wire().await;
    let of = |game: &str| format!("game_id = '{game}'");
    for (change, first_wrong, why) in [
        ("UPDATE book_entry SET line = replace(line, 'c3', 'c2') WHERE GAME AND seq = 4", 4, "digest"),
        ("UPDATE book_entry SET digest = sha256('x') WHERE GAME AND seq = 3", 3, "digest"),
        ("UPDATE book_entry SET line = 'nonsense' WHERE GAME AND seq = 2", 2, "the line"),
        ("UPDATE book_entry SET line = replace(line, 'mnk@1', 'gomoku@1') WHERE GAME AND seq = 1", 1, "digest"),
        (
            "UPDATE book_entry a SET line = b.line, digest = b.digest FROM book_entry b
             WHERE a.GAME AND b.GAME AND a.seq + b.seq = 7 AND a.seq IN (3, 4)",
            3,
            "digest",
        ),
        ("UPDATE game_seed SET seed = sha256('x') WHERE GAME", 1, "not the one committed to"),
    ] {
        let mut game = wire.game().await;
        game.play("a1 b2 c3 a3").await;
        behind(&database, &change.replace("GAME", &of(&game.id))).await;
        let found = verified(&wire, &game.id).await;
        assert_eq!((found.first_wrong_seq, found.entries), (Some(first_wrong), first_wrong - 1), "{change}: {}", found.why);
        assert!(found.why.contains(why), "{change}: {}", found.why);
        assert_eq!(found.dice_claim(), DiceClaim::Unspecified);
    }
}

/// A hole is found by the store, which never answers around it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deleted_row_is_never_read_over() {
    let database = postgres::database().await;
    let local = over_postgres(&database).await.start().await;
    let wire = local.wire().await;
    for (lost, first_wrong) in [("seq = 3", 3), ("seq = 1", 1), ("seq < 3", 1), ("true", 1)] {
        let mut game = wire.game().await;
        game.play("a1 b2 c3 a3").await;
        behind(&database, &format!("DELETE FROM book_entry WHERE game_id = '{}' AND {lost}", game.id)).await;
        let found = verified(&wire, &game.id).await;
        assert_eq!((found.first_wrong_seq, found.entries), (Some(first_wrong), first_wrong - 1), "{lost}: {}", found.why);
        assert!(found.why.contains("missing"), "{lost}: {}", found.why);
    }
    // A wrong line before the hole comes first.
    let mut game = wire.game().await;
    game.play("a1 b2 c3 a3").await;
    let of = format!("WHERE game_id = '{}' AND", game.id);
    behind(&database, &format!("UPDATE book_entry SET line = 'nonsense' {of} seq = 2; DELETE FROM book_entry {of} seq = 4")).await;
    assert_eq!(verified(&wire, &game.id).await.first_wrong_seq, Some(2));
}

/// A tail cut off follows from itself; but the row of a game that has ended is written with its end.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_end_cut_off_is_missed() {
    let database = postgres::database().await;
    let local = over_postgres(&database).await.start().await;
    let wire = local.wire().await;
    let mut closed = wire.game().await;
    closed.play("b2 a1 b3 c1 b1").await;
    let mut finished = wire.game().undo_after_end().await;
    finished.play("b2 a1 b3 c1 b1").await;
    for game in [&closed, &finished] {
        assert_eq!(verified(&wire, &game.id).await.first_wrong_seq, None);
        behind(&database, &format!("DELETE FROM book_entry WHERE game_id = '{}' AND seq = 6", game.id)).await;
        let found = verified(&wire, &game.id).await;
        assert_eq!((found.first_wrong_seq, found.entries), (Some(6), 5), "{}", found.why);
        assert!(found.why.contains("missing"), "{}", found.why);
    }
    // Nobody plays it to another end.
    let wire = over_postgres(&database).await.start().await.wire().await;
    Refused::by(wire.try_get(&closed.id, None).await).with("BOOK_CORRUPT").meta("first_bad_seq", 6);
}

/// Nor is it an answer of any other call: a node that remembers nothing of the game says what is wrong.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hole_is_told_as_a_corrupt_book() {
    let database = postgres::database().await;
    let mut game = over_postgres(&database).await.start().await.wire().await.game().await;
    game.play("a1 b2 c3 a3").await;
    behind(&database, &format!("DELETE FROM book_entry WHERE game_id = '{}' AND seq = 3", game.id)).await;
    let cold = over_postgres(&database).await.start().await;
    let wire = cold.wire().await;
    Refused::by(wire.games().get_game(GetGameRequest { game_id: game.id.clone(), ..Default::default() }).await).with("BOOK_CORRUPT");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_broken_book_does_not_hide_the_others_from_a_list() {
    let database = postgres::database().await;
    let local = over_postgres(&database).await.start().await;
    let wire = local.wire().await;
    let (sound, broken, mut beheaded, gone) = (wire.game().await, wire.game().await, wire.game().await, wire.game().await);
    behind(&database, &format!("UPDATE book_entry SET line = 'nonsense' WHERE game_id = '{}' AND seq = 1", broken.id)).await;
    beheaded.play("a1").await;
    for (game, lost) in [(&beheaded, "seq = 1"), (&gone, "true")] {
        behind(&database, &format!("DELETE FROM book_entry WHERE game_id = '{}' AND {lost}", game.id)).await;
    }
    let list = wire.games().list_games(ListGamesRequest::default()).await.unwrap().into_inner();
    assert_eq!(list.games.iter().map(|game| game.game_id.as_str()).collect::<Vec<_>>(), [&gone.id, &beheaded.id, &broken.id, &sound.id]);
    for game in &list.games[..3] {
        assert_eq!((game.state(), &game.ruleset), (GameState::Active, &None));
    }
    assert!(list.games[3].ruleset.is_some());
}
