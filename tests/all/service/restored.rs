//! The book goes back in time behind a node that remembers more, and on along another line: a backup
//! is restored, or a standby that lost the last commits takes over.

use plybook_proto::v1::stream_events_response::Frame;
use plybook_proto::v1::{self, Action, ListLegalActionsRequest, MakeMoveRequest};
use plybook_tests::injected::{Call, Local, over, over_sqlite};
use plybook_tests::long;
use plybook_tests::refused::Refused;
use plybook_tests::wire::{PlayedGame, fresh};

/// A node that remembers entries 4 and 5, which a restored book does not have; the game as it is in
/// that book, through a node that never knew anything else; and the request that made entry 4.
async fn restored() -> (Local, PlayedGame, Local, PlayedGame, MakeMoveRequest) {
    let warm = over_sqlite().await.start().await;
    let mut lost = warm.wire().await.game().mnk(10, 10, 9).await;
    lost.play("a1 b1").await;
    let backup = warm.backup().await;
    let mut game = lost.clone();
    let fourth = lost.asks("c1");
    lost.sends(fourth.clone()).await.unwrap();
    lost.play("d1").await;
    warm.store.becomes(backup.clone());
    let cold = over(backup).start().await;
    game = game.through(&cold.wire().await);
    (warm, lost, cold, game, fourth)
}

/// The game through the warm node is the game through the cold one, and can be played on.
async fn the_same_from_both(warm: &Local, game: &mut PlayedGame, notation: &str) {
    let wire = warm.wire().await;
    assert_eq!(wire.get(&game.id).await, game.now().await);
    for seq in 1..=game.head {
        let read = wire.try_get(&game.id, Some(seq)).await.unwrap();
        assert_eq!(read, game.wire.try_get(&game.id, Some(seq)).await.unwrap(), "entry {seq}");
    }
    assert_eq!(wire.history(&game.id).await, game.wire.history(&game.id).await);
    let mut here = game.through(&wire);
    here.play(notation).await;
    wire.proves(&game.id).await;
    *game = here.through(&game.wire);
    assert_eq!(game.now().await, wire.get(&game.id).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_lost_is_not_read() {
    let (warm, lost, _cold, mut game, _) = restored().await;
    assert_eq!(lost.now().await.seq, 3);
    Refused::by(lost.wire.try_get(&game.id, Some(5)).await).with("CURSOR_BEYOND_HEAD").meta("head_seq", 3);
    the_same_from_both(&warm, &mut game, "e1").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_line_is_read_whether_it_is_shorter_as_long_or_longer() {
    for moves in ["j1", "j1 j2", "j1 j2 j3"] {
        let (warm, lost, _cold, mut game, _) = restored().await;
        game.play(moves).await;
        let legal = ListLegalActionsRequest { game_id: game.id.clone(), ..Default::default() };
        let legal = lost.wire.games().list_legal_actions(legal).await.unwrap().into_inner();
        assert_eq!(legal.head_seq, game.head);
        assert!(legal.actions.iter().any(|action| action.notation == "c1"), "c1 is lost, so it is free");
        the_same_from_both(&warm, &mut game, "e1").await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_appended_to_what_is_lost() {
    for moves in ["", "j1", "j1 j2", "j1 j2 j3"] {
        let (warm, mut lost, _cold, mut game, _) = restored().await;
        game.play(moves).await;
        if game.head == lost.head {
            // The number that the caller expects is right again: it stands after the other line.
            lost.play("f1").await;
            game.looks().await;
        } else {
            lost.refuses("f1").await.with("STALE_SEQ").meta("head_seq", game.head);
        }
        the_same_from_both(&warm, &mut game, "e1").await;
        lost.looks().await;
        lost.play("g1").await;
        lost.wire.proves(&lost.id).await;
    }
}

/// The caller retries what was acknowledged and then lost: it is done, where it still can be.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_request_is_done_again() {
    let (warm, lost, _cold, mut game, fourth) = restored().await;
    let again = MakeMoveRequest { with_position: true, ..fourth.clone() };
    let answer = lost.wire.games().make_move(again).await.unwrap().into_inner();
    let event = answer.event.unwrap();
    assert_eq!((event.seq, answer.position.unwrap().seq), (4, 4));
    game.sees(event);
    the_same_from_both(&warm, &mut game, "e1").await;

    // Done by another node on the other line, it is answered from there, with the position of there.
    let (warm, lost, _cold, mut game, fourth) = restored().await;
    game.play("j1 j2").await;
    let moved = MakeMoveRequest { expected_seq: Some(game.head), seat: game.to_move, with_position: true, ..fourth };
    let there = game.wire.games().make_move(moved.clone()).await.unwrap().into_inner();
    let here = lost.wire.games().make_move(moved).await.unwrap().into_inner();
    assert_eq!(here, there);
    game.sees(here.event.unwrap());
    the_same_from_both(&warm, &mut game, "e1").await;
}

/// A reader who has seen what is lost is told once; whoever begins again reads the book.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_tells_that_the_book_is_another_one() {
    let warm = over_sqlite().await.limits(|limits| limits.poll_floor = std::time::Duration::from_millis(100)).start().await;
    let mut lost = warm.wire().await.game().mnk(10, 10, 9).await;
    lost.play("a1 b1").await;
    let (backup, mut game) = (warm.backup().await, lost.clone());
    let mut watching = lost.wire.follow(&lost.id).open().await;
    watching.history().await;
    lost.play("c1 d1").await;
    assert_eq!((watching.event().await.seq, watching.event().await.seq), (4, 5));
    warm.store.becomes(backup.clone());
    let cold = over(backup).start().await;
    game = game.through(&cold.wire().await);
    lost.wire.follow(&lost.id).after(5).refused().await.with("CURSOR_BEYOND_HEAD").meta("head_seq", 3);

    game.play("j1 j2").await;
    let mut again = lost.wire.follow(&lost.id).open().await;
    for want in game.wire.history(&game.id).await {
        assert_eq!(again.event().await, want, "the watchers before keep nothing alive");
    }
    let third = game.play("j3").await;
    assert_eq!(again.event().await, third);
    let (frames, ended) = watching.rest().await;
    assert!(frames.iter().all(|frame| !matches!(frame, Frame::Event(_))), "{frames:?}");
    ended.expect("it says so").with("BOOK_CORRUPT").meta("first_bad_seq", 6);
}

/// Positions remembered at earlier entries, and what a game that is no longer there left behind.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn remembered_history_goes_too() {
    let warm = over_sqlite().await.start().await;
    let id = long::book(&warm.file(), 1_010).await;
    let wire = warm.wire().await;
    let (backup, mut lost) = (warm.backup().await, wire.open(&id).await);
    let place = |cell: u32| Some(Action { shape: Some(v1::action::Shape::Place(v1::Place { cell })) });
    for cell in 0..30 {
        let request = MakeMoveRequest { action: place(100_000 + cell), ..lost.asks("") };
        lost.sends(request).await.unwrap();
    }
    for seq in [1_024, 1_030] {
        assert_eq!(wire.try_get(&id, Some(seq)).await.unwrap().seq, seq);
    }
    let later = wire.game().await;
    wire.try_get(&later.id, Some(1)).await.unwrap();
    warm.store.becomes(backup.clone());
    let cold = over(backup).start().await;
    for seq in [1_024, 1_030] {
        Refused::by(wire.try_get(&id, Some(seq)).await).with("CURSOR_BEYOND_HEAD").meta("head_seq", 1_010);
    }
    let mut game = cold.wire().await.open(&id).await;
    for cell in 0..30 {
        let request = MakeMoveRequest { action: place(200_000 + cell), ..game.asks("") };
        game.sends(request).await.unwrap();
        if cell == 20 {
            // Remembered anew, and once more of another line below.
            assert_eq!(wire.try_get(&id, Some(1_024)).await.unwrap(), game.wire.try_get(&id, Some(1_024)).await.unwrap());
        }
    }
    for seq in [1_024, 1_030] {
        assert_eq!(wire.try_get(&id, Some(seq)).await.unwrap(), game.wire.try_get(&id, Some(seq)).await.unwrap());
    }
    for at_seq in [None, Some(1)] {
        Refused::by(wire.try_get(&later.id, at_seq).await).with("GAME_NOT_FOUND");
    }
    later.refuses("a1").await.with("GAME_NOT_FOUND");
    wire.follow(&later.id).refused().await.with("GAME_NOT_FOUND");
}

/// What is remembered is weighed again when it was followed, not only when it was played here.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn games_that_grow_elsewhere_make_room_too() {
    const GAMES: usize = 5;
    let here = over_sqlite().await.start().await;
    // Room for all of them at their beginning, and for one once each is long.
    let there = over(here.store.inner()).limits(|limits| limits.games_cache_bytes = 40_000).start().await;
    let (wire, watching) = (here.wire().await, there.wire().await);
    let mut games = Vec::new();
    for _ in 0..GAMES {
        let game = wire.game().mnk(15, 15, 15).await;
        watching.get(&game.id).await;
        games.push(game);
    }
    for game in &games {
        watching.get(&game.id).await;
    }
    assert_eq!(there.store.count(Call::Seed), GAMES as u64, "each was loaded once and is remembered");
    for game in &mut games {
        for row in 1..=10 {
            for column in 'a'..='o' {
                game.play(&format!("{column}{row}")).await;
            }
        }
        watching.get(&game.id).await;
    }
    for game in games.iter().chain(&games) {
        watching.get(&game.id).await;
    }
    assert!(there.store.count(Call::Seed) > GAMES as u64, "long games are not all remembered in so little room");
    Refused::by(watching.try_get(&fresh(), None).await).with("GAME_NOT_FOUND");
}
