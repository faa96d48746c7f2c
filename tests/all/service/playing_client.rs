//! The Rust client as a service uses it: games created, played and followed, while the only node is killed and comes back.

use plybook_client::{Client, Options, Place};
use plybook_proto::v1::{self, ErrorReason, GameState, OfferAnswer, UndoBy};
use plybook_tests::injected::over_sqlite;
use plybook_tests::patience::PATIENCE;
use plybook_tests::{node, ports};
use uuid::Uuid;

fn patient(addresses: &str) -> Client {
    Client::with(addresses, Options { patience: PATIENCE, ..Options::default() }).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_game_goes_on_over_a_node_that_is_killed_and_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let (file, listen) = (folder.path().join("games.db"), format!("127.0.0.1:{}", ports::free()));
    let start = || node::over_at(file.to_str().unwrap(), &listen).start();
    let mut node = start();
    let client = patient(&node.url());
    let created = client.new_game("gomoku").param("size", 9).player("ann").player("bob").await.unwrap();
    let seats = [created.table.seat(0), created.table.seat(1)];
    let watching = tokio::spawn({
        let mut events = created.table.events(0);
        async move {
            let mut seen = Vec::new();
            while let Some(event) = events.next().await {
                seen.push(event.unwrap().seq);
            }
            seen
        }
    });
    let mut seq = created.game.seq;
    for (n, notation) in ["a1", "a9", "b1", "b9", "c1", "c9", "d1", "d9", "e1"].into_iter().enumerate() {
        if n % 3 == 1 {
            node.kill();
            // The move is on its way while nobody is there.
            let (again, moved) = tokio::join!(
                tokio::task::spawn_blocking({
                    let (file, listen) = (file.clone(), listen.clone());
                    move || node::over_at(file.to_str().unwrap(), &listen).start()
                }),
                seats[n % 2].play(notation).at(seq)
            );
            node = again.unwrap();
            seq = moved.unwrap().event.seq;
        } else {
            seq = seats[n % 2].play(notation).at(seq).await.unwrap().event.seq;
        }
    }
    assert_eq!(watching.await.unwrap(), (1..=10).collect::<Vec<_>>(), "each entry once, to the last");
    assert_eq!(created.table.read().await.unwrap().outcome.unwrap().winners, [0]);
    drop(node);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_a_seat_may_ask_has_its_word() {
    let local = over_sqlite().await.start().await;
    let client = patient(&format!("http://{}", local.address()));
    let policy = v1::UndoPolicy { by: UndoBy::Agreement.into(), ..Default::default() };
    let new = client.new_game("mnk").version(1).param("win", "run").param("misere", false).player("ann").player("bob").undo(policy);
    let created = new.seed([7; 32]).await.unwrap();
    let table = created.table;
    let (ann, bob) = (table.seat(0), table.seat(1));
    assert!(created.game.seed_from_caller && created.receipt.is_none());

    let (head, legal) = table.legal_actions().await.unwrap();
    assert_eq!((head, legal.len()), (1, 9));
    let id = Uuid::new_v4().to_string();
    let first = ann.act(legal[4].action.clone().unwrap()).at(head).request_id(&id).with_position().await.unwrap();
    assert_eq!((first.event.request_id.as_str(), first.position.map(|position| position.ply)), (id.as_str(), Some(1)));
    assert_eq!(ann.act(legal[4].action.clone().unwrap()).at(head).request_id(&id).await.unwrap().event, first.event);

    let refused = bob.play("b2").at(2).await.unwrap_err();
    assert!(refused.refused().is_some_and(|refused| refused.is(ErrorReason::IllegalMove) && refused.number("head_seq") == Some(2)));
    let mine = ann.offer_undo(2).at(2).await.unwrap().event.seq;
    let gone = ann.answer_undo(2, OfferAnswer::Withdraw).at(mine).await.unwrap().event.seq;
    let offered = bob.offer_undo(2).at(gone).await.unwrap().event;
    let undone = ann.answer_undo(2, OfferAnswer::Accept).at(offered.seq).with_position().await.unwrap();
    assert_eq!(undone.position.map(|position| position.ply), Some(0));
    assert!(ann.undo().at(undone.event.seq).await.is_err() && ann.undo_of(2).at(undone.event.seq).await.is_err());

    let mut head = ann.play("b2").at(undone.event.seq).await.unwrap().event.seq;
    head = bob.offer_draw().at(head).await.unwrap().event.seq;
    head = ann.answer_draw(OfferAnswer::Decline).at(head).await.unwrap().event.seq;
    assert!(ann.present(true).await.is_err() && ann.claim(v1::AbsenceClaim::Win).at(head).await.is_err());
    assert!(table.close().at(head).await.is_err(), "it is not finished");
    let left = bob.resign().await.unwrap().event;
    assert_eq!(left.outcome.unwrap().winners, [0]);
    let (game, before) = (table.read().await.unwrap(), table.read_at(1).await.unwrap());
    assert_eq!((game.state(), before.seq, table.game_id()), (GameState::Closed, 1, game.game_id.as_str()));

    for ended in [Ending::BySeat, Ending::ByService, Ending::Removal] {
        let table = client.new_game("mnk").player("ann").player("bob").await.unwrap().table;
        let seat: Place = table.seat(1);
        let done = match ended {
            Ending::BySeat => seat.abort().await,
            Ending::ByService => table.abort().await,
            Ending::Removal => table.remove(0).await,
        };
        assert!(done.unwrap().event.outcome.is_some());
    }
}

enum Ending {
    BySeat,
    ByService,
    Removal,
}
