//! Receipts that a game's policy wants: unasked with every answer about an entry, or nothing is appended.

use plybook_core::receipt::PublicKeys;
use plybook_proto::v1::{self, IfAbsent, ReceiptPolicy};
use plybook_server::signing::{Keys, SigningKey};
use plybook_tests::injected::{self, Local, over_sqlite};
use plybook_tests::refused::Refused;
use plybook_tests::table::table;
use plybook_tests::wire::{Opening, PlayedGame, Wire};

use super::receipts::read;

fn key() -> SigningKey {
    SigningKey::from_seed(&[1; 32]).unwrap()
}

async fn signing() -> Local {
    over_sqlite().await.keys(Keys::new(Some(key()), [])).start().await
}

/// A game that seats must join and that may be reopened and closed: one entry of every kind.
fn race(wire: &Wire) -> Opening {
    wire.game().snakes(12, &[]).joint(3600, IfAbsent::Abort).undo(v1::UndoBy::Free).undo_over_throw().undo_after_end().receipts_always()
}

/// The receipt is there, of this very entry, and holds.
#[track_caller]
fn holds(receipt: Option<&v1::Receipt>, seq: u64, digest: &[u8]) {
    let receipt = receipt.unwrap_or_else(|| panic!("no receipt of entry {seq}"));
    assert_eq!((receipt.seq, receipt.book_digest.as_slice()), (seq, digest));
    assert!(read(receipt).check(&PublicKeys::from_iter([*key().public()])).is_ok());
}

#[track_caller]
fn of_event(receipt: Option<Box<v1::Receipt>>, event: Option<Box<v1::Event>>) -> Box<v1::Event> {
    let event = event.unwrap();
    holds(receipt.as_deref(), event.seq, &event.book_digest);
    event
}

#[tokio::test]
async fn every_answer_that_appends_carries_one_unasked() {
    let local = signing().await;
    let wire = local.wire().await;
    let mut games = wire.games();
    let created = games.create_game(race(&wire).request).await.unwrap().into_inner();
    let game = created.game.unwrap();
    assert_eq!(game.receipt_policy(), ReceiptPolicy::Always);
    holds(created.receipt.as_deref(), 1, &game.book_digest);
    let mut game = wire.open(&game.game_id).await;
    let joins = [game.asks_commit(0).await, game.asks_commit(1).await, game.asks_reveal(0), game.asks_reveal(1)];
    for asks in joins {
        let joined = games.join_game(asks).await.unwrap().into_inner();
        game.sees(of_event(joined.receipt, joined.event));
    }
    while game.to_move.is_some() {
        let moved = games.make_move(game.asks("roll")).await.unwrap().into_inner();
        game.sees(of_event(moved.receipt, moved.event));
    }
    let winner = game.now().await.outcome.unwrap().winners[0];
    let undone = games.undo(game.asks_undo(winner, None)).await.unwrap().into_inner();
    game.sees(of_event(undone.receipt, undone.event));
    game.play("roll").await;
    let closed = games.close_game(game.asks_close()).await.unwrap().into_inner();
    game.sees(of_event(closed.receipt, closed.event));
    assert!(wire.book(&game.id).await.contains("\nreceipts always\n"));
    assert_eq!(wire.history(&game.id).await.len() as u64, game.head);
}

#[tokio::test]
async fn a_repeated_request_gets_the_same_receipt() {
    let local = signing().await;
    let wire = local.wire().await;
    let opening = race(&wire);
    let created = wire.games().create_game(opening.request.clone()).await.unwrap().into_inner();
    let mut game = wire.open(&created.game.as_ref().unwrap().game_id).await;
    game.joined().await;
    let asks = game.asks("roll");
    let first = wire.games().make_move(asks.clone()).await.unwrap().into_inner();
    game.sees(first.event.clone().unwrap());
    game.play("roll").await;
    for with_receipt in [false, true] {
        let again = v1::MakeMoveRequest { with_receipt, ..asks.clone() };
        assert_eq!(wire.games().make_move(again).await.unwrap().into_inner(), first);
        let again = v1::CreateGameRequest { with_receipt, ..opening.request.clone() };
        assert_eq!(wire.games().create_game(again).await.unwrap().into_inner(), created);
    }
    // Another policy makes another request.
    let other = v1::CreateGameRequest { receipt_policy: ReceiptPolicy::OnRequest.into(), ..opening.request };
    Refused::by(wire.games().create_game(other).await).with("REQUEST_ID_REUSED");
}

#[tokio::test]
async fn a_node_without_a_key_neither_creates_nor_appends() {
    let before = signing().await;
    let wire = before.wire().await;
    let fresh = race(&wire).await;
    let mut joined = race(&wire).await;
    joined.joined().await;
    joined.play("roll").await;
    let mut finished = race(&wire).await;
    finished.joined().await;
    while finished.to_move.is_some() {
        finished.play("roll").await;
    }

    let keyless = injected::over(before.backup().await).start().await;
    let wire = keyless.wire().await;
    race(&wire).refused().await.with("RECEIPTS_UNAVAILABLE").only(&[]);
    assert_eq!(wire.games().list_games(v1::ListGamesRequest::default()).await.unwrap().into_inner().games.len(), 3);
    let through = |game: &PlayedGame| game.through(&wire);
    let (fresh, joined, finished) = (through(&fresh), through(&joined), through(&finished));
    fresh.refuses_join(fresh.asks_commit(0).await).await.with("RECEIPTS_UNAVAILABLE");
    joined.refuses("roll").await.with("RECEIPTS_UNAVAILABLE");
    joined.refuses_undo(joined.asks_undo(0, None)).await.with("RECEIPTS_UNAVAILABLE");
    finished.refuses_close(finished.asks_close()).await.with("RECEIPTS_UNAVAILABLE");
    for game in [&fresh, &joined, &finished] {
        assert_eq!(game.now().await.seq, game.head, "nothing was appended");
    }
    // What is malformed, and what is not there, are told as ever; reading needs no key.
    let nowhere = v1::MakeMoveRequest { game_id: plybook_tests::wire::fresh(), ..joined.asks("roll") };
    joined.refuses_move(nowhere).await.with("GAME_NOT_FOUND");
    wire.proves(&joined.id).await;
    // A game without the policy goes on beside it.
    let mut plain = wire.game().await;
    let moved = wire.games().make_move(plain.asks("b2")).await.unwrap().into_inner();
    assert_eq!(moved.receipt, None);
    plain.sees(moved.event.unwrap());
}

/// It was the promise of the server that the game came from; here nothing is appended, with a key or without.
#[tokio::test]
async fn the_policy_of_an_imported_game_asks_nobody_for_a_key() {
    let keyless = over_sqlite().await.start().await;
    let wire = keyless.wire().await;
    let id = wire.import(table().receipts_always().play("b2 a1").book().print()).await.unwrap().game_id;
    let game = wire.open(&id).await;
    game.refuses("a3").await.with("GAME_READ_ONLY").meta("head_seq", 3);
    game.refuses_close(game.asks_close()).await.with("GAME_READ_ONLY");
    assert_eq!(wire.remembers(&id, 2).await.len(), 2);
}
