//! The database goes away and comes back; a row changes behind everybody's back; a node goes away.

use std::time::Duration;

use plybook_tests::injected::over_postgres;
use plybook_tests::node;
use plybook_tests::patience::PATIENCE;
use plybook_tests::postgres::{self, own};
use plybook_tests::refused::Refused;
use plybook_tests::wire::{Wire, narrow, seqs};
use tokio::time::{sleep, timeout};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;

/// Until health says so: as often as a load balancer would ask.
async fn until_serving(wire: &Wire, serving: bool) {
    let mut health = HealthClient::new(wire.channel.clone());
    let wanted = if serving { 1 } else { 2 };
    let told = async {
        loop {
            let request = HealthCheckRequest { service: "plybook.v1.GameService".to_owned() };
            if health.check(request).await.unwrap().into_inner().status == wanted {
                return;
            }
            sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(PATIENCE, told).await.unwrap_or_else(|_| panic!("health never says serving={serving}"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stopped_postgres_is_told_and_its_return_is_noticed() {
    let mut cluster = own::cluster().await;
    let database = cluster.database().await;
    let local = over_postgres(&database).await.start().await;
    let wire = local.wire().await;
    until_serving(&wire, true).await;
    let mut game = wire.game().await;
    game.play("a1").await;
    let mut watching = wire.follow(&game.id).open().await;
    watching.history().await;

    tokio::task::block_in_place(|| cluster.stop());
    let asked = game.asks("b1");
    let refused = game.refuses_move(asked.clone()).await;
    refused.with("STORE_UNAVAILABLE").only(&[]).later();
    Refused::by(wire.try_get(&game.id, None).await).with("STORE_UNAVAILABLE").later();
    wire.game().refused().await.with("STORE_UNAVAILABLE").later();
    let (_, ended) = timeout(PATIENCE, watching.rest()).await.expect("a stream does not die silently");
    ended.expect("and not with OK").with("STORE_UNAVAILABLE").later();
    until_serving(&wire, false).await;

    cluster.start().await;
    until_serving(&wire, true).await;
    assert_eq!(game.sends(asked.clone()).await.unwrap().seq, 3);
    assert_eq!(game.sends(asked).await.unwrap().seq, 3);
    assert_eq!(game.now().await.seq, 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_row_changed_by_the_superuser_is_found() {
    let database = postgres::database().await;
    let warm = over_postgres(&database).await.start().await;
    let mut game = warm.wire().await.game().await;
    game.play("a1 b2 c3 a3").await;
    let change = "UPDATE book_entry SET line = replace(line, 'c3', 'c2') WHERE seq = 4";
    assert!(database.try_execute(change).await.is_err(), "the trigger holds");
    database.execute(&format!("ALTER TABLE book_entry DISABLE TRIGGER ALL; {change}; ALTER TABLE book_entry ENABLE TRIGGER ALL")).await;

    let cold = over_postgres(&database).await.start().await;
    let there = game.through(&cold.wire().await);
    let corrupt = |refused: Refused| {
        refused.with("BOOK_CORRUPT").only(&["first_bad_seq"]).meta("first_bad_seq", 4);
    };
    corrupt(there.refuses("b1").await);
    corrupt(Refused::by(there.wire.try_get(&game.id, None).await));
    corrupt(Refused::by(there.wire.try_get(&game.id, Some(5)).await));
    corrupt(there.wire.follow(&game.id).with_snapshot().refused().await);
    assert_eq!(there.wire.try_get(&game.id, Some(3)).await.unwrap().seq, 3);
    let (frames, ended) = there.wire.follow(&game.id).open().await.rest().await;
    assert_eq!(seqs(&frames), [1, 2, 3], "a stream goes as far as the book is sound");
    corrupt(ended.expect("and says where it is not"));
    let export = there.wire.book(&game.id).await;
    let why = plybook_core::Book::parse(&export).unwrap_err();
    assert_eq!(why.seq.map(|seq| seq.0), Some(4), "the export is what is stored, and shows the damage");
}

/// Neither a reader who stalls nor a connection that idles holds a node up.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_told_to_go_goes_within_ten_seconds_and_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("books.db");
    let long = plybook_tests::long::book(&file, 5_000).await;
    let node = node::over(file.to_str().unwrap()).start();
    let (wire, _idle) = (node.wire().await, node.wire().await);
    let stalled = narrow(node.address()).await.follow(&long).open().await;
    let game = wire.game().mnk(100, 100, 100).await;
    let mut watching = node.wire().await.follow(&game.id).open().await;
    watching.history().await;
    let (started, playing) = tokio::sync::oneshot::channel();
    let player = tokio::spawn({
        let mut game = game.clone();
        async move {
            let mut started = Some(started);
            for cell in 1.. {
                let action =
                    plybook_proto::v1::Action { shape: Some(plybook_proto::v1::action::Shape::Place(plybook_proto::v1::Place { cell })) };
                let request = plybook_proto::v1::MakeMoveRequest { action: Some(action), ..game.asks("") };
                if game.sends(request).await.is_err() {
                    break;
                }
                if cell == 20 {
                    started.take().unwrap().send(()).unwrap();
                }
            }
            game.head
        }
    });
    playing.await.unwrap();
    node.terminate();
    let acknowledged = player.await.unwrap();
    let (_, ended) = watching.rest().await;
    ended.expect("the stream is told").with("SERVER_DRAINING").later();
    let status = tokio::task::block_in_place(|| node.ended());
    assert!(status.success(), "{status}");
    drop(stalled);

    let next = node::over(file.to_str().unwrap()).start();
    let head = next.wire().await.get(&game.id).await.seq;
    assert!((acknowledged..=acknowledged + 1).contains(&head), "{acknowledged} were acknowledged, {head} are there");
}
