//! Receipts of callers who ask at the same time: signed together, each worth as much as one that was signed alone.

use futures::future::join_all;
use plybook_core::{Book, Receipt};
use plybook_proto::v1;
use plybook_server::signing::{Keys, SigningKey};
use plybook_tests::injected::{Local, Setup, over_postgres, over_sqlite};
use plybook_tests::patience::until;
use plybook_tests::postgres;
use plybook_tests::wire::{PlayedGame, Wire};

use super::receipts::{read, served};

const CALLERS: usize = 48;

async fn signing(setup: Setup) -> Local {
    setup.keys(Keys::new(Some(SigningKey::from_seed(&[1; 32]).unwrap()), [])).start().await
}

async fn receipt_of(wire: &Wire, request: v1::MakeMoveRequest) -> (v1::Event, Receipt) {
    let answer = wire.games().make_move(request).await.unwrap().into_inner();
    let (event, receipt) = (answer.event.unwrap(), read(&answer.receipt.unwrap()));
    assert_eq!((u64::from(receipt.seq.0), receipt.digest.0.as_slice()), (event.seq, event.book_digest.as_slice()));
    (*event, receipt)
}

fn asks(game: &PlayedGame, notation: &str) -> v1::MakeMoveRequest {
    v1::MakeMoveRequest { with_receipt: true, ..game.asks(notation) }
}

/// Every one holds by itself, whoever it was signed with, and whatever it is signed with when it is asked for again. Gives those of
/// the moves themselves.
async fn all_hold(local: &Local) -> Vec<Receipt> {
    let wire = local.wire().await;
    let mut games = join_all((0..CALLERS).map(|_| wire.game().into_future())).await;
    let (mut requests, mut kept) = (Vec::new(), Vec::new());
    for notation in ["b2", "a1", "b3", "c1"] {
        let asked: Vec<_> = games.iter().map(|game| asks(game, notation)).collect();
        let answers = join_all(asked.iter().map(|request| receipt_of(&wire, request.clone()))).await;
        for (game, (event, receipt)) in games.iter_mut().zip(answers) {
            game.sees(event);
            kept.push(receipt);
        }
        requests.extend(asked);
    }
    let keys = served(&wire).await;
    let books = join_all(games.iter().map(|game| wire.book(&game.id))).await;
    let books: Vec<Book> = books.iter().map(|book| Book::parse(book).unwrap()).collect();
    for (at, receipt) in kept.iter().enumerate() {
        assert_eq!(receipt.check(&keys), Ok(()), "{receipt}");
        assert!(receipt.is_of(&books[at % CALLERS]), "{receipt}");
    }
    until("several are signed together", || async {
        let again = join_all(requests.iter().map(|request| receipt_of(&wire, request.clone()))).await;
        for ((_, receipt), kept) in again.iter().zip(&kept) {
            assert_eq!((receipt.head(), receipt.check(&keys)), (kept.head(), Ok(())), "{receipt}");
        }
        again.iter().any(|(_, receipt)| receipt.inclusion.is_some())
    })
    .await;
    for request in &requests[..5] {
        let (_, receipt) = receipt_of(&wire, request.clone()).await;
        assert_eq!((receipt.inclusion.as_ref(), receipt.check(&keys)), (None, Ok(())), "whoever is alone is signed alone");
    }
    kept
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn callers_at_once_get_receipts_that_hold() {
    all_hold(&signing(over_sqlite().await).await).await;
    let database = postgres::database().await;
    let kept = all_hold(&signing(over_postgres(&database).await).await).await;
    assert!(kept.iter().any(|receipt| receipt.inclusion.is_some()), "what one batch stored is signed by one signature");
}

/// Who goes away takes nobody's receipt along: neither the first, for whom the others wait, nor one of them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_goes_away_keeps_nobody_from_a_receipt() {
    let local = signing(over_sqlite().await).await;
    let wire = local.wire().await;
    let keys = served(&wire).await;
    let games = join_all((0..CALLERS).map(|_| wire.game().into_future())).await;
    let requests: Vec<_> = games.iter().map(|game| asks(game, "b2")).collect();
    for round in 0..20 {
        let ask = |request: &v1::MakeMoveRequest| {
            let (wire, request) = (wire.clone(), request.clone());
            tokio::spawn(async move { receipt_of(&wire, request).await })
        };
        let asked: Vec<_> = requests.iter().map(ask).collect();
        for (at, task) in asked.into_iter().enumerate() {
            if at % 3 == round % 3 {
                task.abort();
            } else {
                assert_eq!(task.await.unwrap().1.check(&keys), Ok(()));
            }
        }
    }
}
