//! Receipts: asked for with a request, checked with the keys that the server shows.

use plybook_core::receipt::{Inclusion, KeyId, PublicKey, PublicKeys, Unproved};
use plybook_core::verify::{Signed, verify_signed};
use plybook_core::{Book, Digest, Receipt, Seq, Uuid};
use plybook_proto::v1;
use plybook_server::signing::{Keys, SigningKey};
use plybook_tests::golden;
use plybook_tests::injected::{self, over_sqlite};
use plybook_tests::refused::Refused;
use plybook_tests::wire::Wire;

fn key(number: u8) -> SigningKey {
    SigningKey::from_seed(&[number; 32]).unwrap()
}

fn signing(active: u8, retired: &[u8]) -> Keys {
    Keys::new(Some(key(active)), retired.iter().map(|number| *key(*number).public()))
}

async fn listed(wire: &Wire) -> Vec<v1::PublicKey> {
    wire.audit().list_keys(v1::ListKeysRequest {}).await.unwrap().into_inner().keys
}

/// The keys as a client takes them from the server.
pub(super) async fn served(wire: &Wire) -> PublicKeys {
    let read = |key: v1::PublicKey| {
        let read = PublicKey::from_bytes(key.key.as_slice().try_into().unwrap()).unwrap();
        assert_eq!(read.id().to_string(), key.key_id);
        read
    };
    listed(wire).await.into_iter().map(read).collect()
}

/// A receipt as a client reads it; what it keeps as text is the same.
pub(super) fn read(receipt: &v1::Receipt) -> Receipt {
    let digest = |bytes: &[u8]| Digest(bytes.try_into().unwrap());
    let place = |place: &v1::Inclusion| {
        Inclusion::new(place.leaf_index, place.tree_size, place.path.iter().map(|node| digest(node)).collect()).unwrap()
    };
    let read = Receipt {
        game: Uuid::try_parse(&receipt.game_id).unwrap(),
        seq: Seq(u32::try_from(receipt.seq).unwrap()),
        digest: digest(&receipt.book_digest),
        key_id: KeyId::parse(&receipt.key_id).unwrap(),
        signature: receipt.signature.as_slice().try_into().unwrap(),
        inclusion: receipt.inclusion.as_ref().map(place),
    };
    assert_eq!(Receipt::parse(&plybook_client::receipt::line(receipt)), Some(read.clone()));
    read
}

#[tokio::test]
async fn every_answer_that_appends_carries_one_when_asked() {
    let local = over_sqlite().await.keys(signing(1, &[])).start().await;
    let wire = local.wire().await;
    let mut opening = wire.game().undo_after_end();
    assert_eq!(wire.games().create_game(opening.request.clone()).await.unwrap().into_inner().receipt, None, "nobody asked");
    opening.request.with_receipt = true;
    let created = wire.games().create_game(opening.request.clone()).await.unwrap().into_inner();
    let mut kept = vec![created.receipt.unwrap()];
    let mut game = wire.open(&created.game.unwrap().game_id).await;

    let asks = v1::MakeMoveRequest { with_receipt: true, ..game.asks("b2") };
    let moved = wire.games().make_move(asks).await.unwrap().into_inner();
    game.sees(moved.event.unwrap());
    kept.push(moved.receipt.unwrap());
    let asks = v1::UndoRequest { with_receipt: true, with_position: true, ..game.asks_undo(0, None) };
    let undone = wire.games().undo(asks).await.unwrap().into_inner();
    assert!(undone.position.is_some());
    game.sees(undone.event.unwrap());
    kept.push(undone.receipt.unwrap());
    game.play("b2 a1 b3 c1 b1").await;
    let asks = v1::CloseGameRequest { with_receipt: true, ..game.asks_close() };
    let closed = wire.games().close_game(asks).await.unwrap().into_inner();
    assert_eq!(closed.receipt.as_ref().unwrap().book_digest, closed.event.unwrap().book_digest);
    kept.push(closed.receipt.unwrap());

    let keys = served(&wire).await;
    let file = wire.book(&game.id).await;
    let book = Book::parse(&file).unwrap();
    for (receipt, seq) in kept.iter().map(|receipt| read(receipt)).zip([1, 2, 3, 9]) {
        assert_eq!((receipt.game.to_string(), receipt.seq), (game.id.clone(), Seq(seq)));
        assert!(receipt.check(&keys).is_ok() && receipt.is_of(&book), "{receipt:?}");
    }
    let report = verify_signed(&file, &golden::registry(), &keys).unwrap();
    assert_eq!(report.signed, Signed::By(key(1).public().id()));
}

#[tokio::test]
async fn a_live_games_export_is_signed_where_it_ends() {
    let local = over_sqlite().await.keys(signing(1, &[])).start().await;
    let wire = local.wire().await;
    let mut game = wire.game().await;
    let keys = served(&wire).await;
    for notation in ["b2", "a1", "b1"] {
        game.play(notation).await;
        let report = verify_signed(&wire.book(&game.id).await, &golden::registry(), &keys).unwrap();
        assert_eq!((u64::from(report.entries), report.signed), (game.head, Signed::By(key(1).public().id())));
    }
}

#[tokio::test]
async fn a_repeated_request_gets_its_receipt_whether_it_asked_before_or_not() {
    let local = over_sqlite().await.keys(signing(1, &[])).start().await;
    let wire = local.wire().await;
    let mut opening = wire.game();
    let created = wire.games().create_game(opening.request.clone()).await.unwrap().into_inner();
    let mut game = wire.open(&created.game.as_ref().unwrap().game_id).await;
    let plain = game.asks("b2");
    let asking = v1::MakeMoveRequest { with_receipt: true, ..plain.clone() };
    let first = wire.games().make_move(plain.clone()).await.unwrap().into_inner();
    game.sees(first.event.clone().unwrap());
    game.play("a1 b1").await;

    let again = wire.games().make_move(asking.clone()).await.unwrap().into_inner();
    assert_eq!((&again.event, first.receipt), (&first.event, None));
    assert_eq!(wire.games().make_move(asking).await.unwrap().into_inner().receipt, again.receipt, "the same bytes, alone each time");
    let receipt = read(&again.receipt.unwrap());
    assert!(receipt.seq == Seq(2) && receipt.check(&served(&wire).await).is_ok());

    opening.request.with_receipt = true;
    let again = wire.games().create_game(opening.request).await.unwrap().into_inner();
    assert_eq!(again.game, created.game);
    assert_eq!(read(&again.receipt.unwrap()).seq, Seq::FIRST);
}

#[tokio::test]
async fn a_node_without_a_key_says_so_before_it_appends() {
    let local = over_sqlite().await.keys(Keys::new(None, [*key(1).public()])).start().await;
    let wire = local.wire().await;
    assert_eq!(listed(&wire).await.iter().map(|key| key.active).collect::<Vec<_>>(), [false], "it only shows what others signed with");
    let mut opening = wire.game().undo_after_end();
    opening.request.with_receipt = true;
    Refused::by(wire.games().create_game(opening.request.clone()).await).with("RECEIPTS_UNAVAILABLE").only(&[]);
    assert!(wire.games().list_games(v1::ListGamesRequest::default()).await.unwrap().into_inner().games.is_empty());
    opening.request.with_receipt = false;
    let mut game = opening.await;

    let asks = v1::MakeMoveRequest { with_receipt: true, ..game.asks("b2") };
    game.refuses_move(asks.clone()).await.with("RECEIPTS_UNAVAILABLE");
    assert_eq!(game.now().await.seq, 1);
    game.sends(v1::MakeMoveRequest { with_receipt: false, ..asks }).await.unwrap();
    game.refuses_undo(v1::UndoRequest { with_receipt: true, ..game.asks_undo(0, None) }).await.with("RECEIPTS_UNAVAILABLE");
    game.play("a1 b3 c1 b1").await;
    game.refuses_close(v1::CloseGameRequest { with_receipt: true, ..game.asks_close() }).await.with("RECEIPTS_UNAVAILABLE");
    let head = game.now().await;
    assert_eq!((head.seq, head.state()), (6, v1::GameState::Finished));
    // What is malformed is told first.
    let malformed = v1::MakeMoveRequest { with_receipt: true, request_id: String::new(), ..game.asks("a1") };
    game.refuses_move(malformed).await.with("INVALID_REQUEST_ID");
    assert!(!wire.book(&game.id).await.contains("\nsigned "));
}

#[tokio::test]
async fn old_receipts_hold_after_the_key_was_changed() {
    let before = over_sqlite().await.keys(signing(1, &[])).start().await;
    let wire = before.wire().await;
    let game = wire.game().await;
    let asks = v1::MakeMoveRequest { with_receipt: true, ..game.asks("b2") };
    let old = wire.games().make_move(asks.clone()).await.unwrap().into_inner().receipt.unwrap();
    let old_file = wire.book(&game.id).await;

    let after = injected::over(before.backup().await).keys(signing(2, &[1, 2])).start().await;
    let wire = after.wire().await;
    let (first, second) = (key(1).public().id(), key(2).public().id());
    let shown: Vec<_> = listed(&wire).await.into_iter().map(|key| (key.key_id, key.active)).collect();
    assert_eq!(shown, [(second.to_string(), true), (first.to_string(), false)]);
    let keys = served(&wire).await;
    assert!(read(&old).check(&keys).is_ok());
    assert_eq!(verify_signed(&old_file, &golden::registry(), &keys).unwrap().signed, Signed::By(first));
    let again = wire.games().make_move(asks).await.unwrap().into_inner().receipt.unwrap();
    assert_eq!((again.key_id.as_str(), &again.book_digest), (second.to_string().as_str(), &old.book_digest));
    assert!(read(&again).check(&keys).is_ok());
    assert_eq!(verify_signed(&wire.book(&game.id).await, &golden::registry(), &keys).unwrap().signed, Signed::By(second));

    // Where the old key is shown no more, its receipts are nobody's.
    let forgetful = over_sqlite().await.keys(signing(2, &[])).start().await;
    let keys = served(&forgetful.wire().await).await;
    assert_eq!(read(&old).check(&keys), Err(Unproved::UnknownKey(first)));
}
