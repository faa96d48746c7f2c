//! A game of twenty thousand entries fits into messages of 4 MiB, which is what clients accept.

use plybook_core::Book;
use plybook_proto::v1::stream_events_response::Frame;
use plybook_tests::injected::over_sqlite;
use plybook_tests::long;

const ENTRIES: u32 = 20_000;

/// Scenario 76. The connection refuses larger messages, so that they came is the proof.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_game_of_twenty_thousand_entries_is_read_in_small_messages() {
    let local = over_sqlite().await.start().await;
    let id = long::book(&local.file(), ENTRIES).await;
    let wire = local.wire().await;

    let game = wire.get(&id).await;
    assert_eq!(game.seq, u64::from(ENTRIES));
    assert_eq!(game.position.as_ref().unwrap().cells.len(), ENTRIES as usize - 1);

    let mut stream = wire.follow(&id).with_snapshot().after(1).until_head().open().await;
    let Some(Frame::Snapshot(_)) = stream.frame().await.unwrap() else { panic!("the snapshot comes first") };
    assert_eq!(stream.history().await, ((2..=u64::from(ENTRIES)).collect(), u64::from(ENTRIES)));
    let mut at_head = wire.follow(&id).with_snapshot().until_head().open().await;
    let Some(Frame::Snapshot(position)) = at_head.frame().await.unwrap() else { panic!("the snapshot comes first") };
    assert_eq!(position.cells.len(), ENTRIES as usize - 1);

    let book = Book::parse(&wire.book(&id).await).unwrap();
    assert_eq!(book.links().len(), ENTRIES as usize);
    assert_eq!(book.digest().0.to_vec(), game.book_digest);

    for at in [1, 2, 1_024, 1_025, 9_000, 19_999] {
        let earlier = wire.try_get(&id, Some(at)).await.unwrap();
        assert_eq!(earlier.position.unwrap().cells.len() as u64, at - 1);
        assert_eq!(earlier.book_digest, book.links()[at as usize - 1].digest.0);
    }
}
