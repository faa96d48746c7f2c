//! Callers who ask for much and take nothing.

use std::time::Duration;

use plybook_proto::v1;
use plybook_server::limits::Limits;
use plybook_tests::frames::{Raw, status};
use plybook_tests::injected::over_sqlite;
use plybook_tests::patience::{NEVER, PATIENCE};
use tonic::Code;

use super::others_go_on;

const PATH: &str = "/plybook.v1.GameService/ListLegalActions";

/// Of what is large so many bytes wait; what has no room is refused, and comes when there is some again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_that_nobody_takes_have_so_much_room() {
    let most = 4 << 20;
    let little = |limits: &mut Limits| (limits.waiting_answer_bytes, limits.waiting_answer_timeout) = (most, NEVER);
    let local = over_sqlite().await.limits(little).start().await;
    let game = local.wire().await.game().mnk(100, 100, 5).await;
    let request = v1::ListLegalActionsRequest { game_id: game.id.clone(), page_size: 2_000, ..Default::default() };
    let weight = prost::Message::encoded_len(&local.wire().await.games().list_legal_actions(request.clone()).await.unwrap().into_inner());
    let fit = most / weight;

    let mut raw = Raw::connect(local.address(), 0).await;
    let mut answers = Vec::new();
    for _ in 0..fit + 20 {
        answers.push(raw.call(PATH, &request).await.unwrap().await.unwrap());
    }
    let (waiting, refused): (Vec<_>, Vec<_>) = answers.into_iter().partition(|answer| !answer.headers().contains_key("grpc-status"));
    assert_eq!((waiting.len(), refused.len()), (fit, 20), "{weight} bytes each");
    for answer in refused {
        let details = format!("{:?}", answer.headers());
        let (code, _) = status(answer).await;
        assert_eq!(code, Code::ResourceExhausted as i32);
        assert!(details.contains("waiting_answer_bytes"), "{details}");
    }
    others_go_on(&local).await;
    drop(waiting);
    let room = async {
        while raw.call(PATH, &request).await.unwrap().await.unwrap().headers().contains_key("grpc-status") {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(PATIENCE, room).await.expect("what is left makes room");
}

/// A connection whose caller does not take a large answer ends.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_waits_so_long() {
    let local = over_sqlite().await.limits(|limits| limits.waiting_answer_timeout = Duration::from_secs(1)).start().await;
    let game = local.wire().await.game().mnk(100, 100, 5).await;
    let request = v1::ListLegalActionsRequest { game_id: game.id.clone(), page_size: 2_000, ..Default::default() };
    let mut raw = Raw::connect(local.address(), 1).await;
    let _answer = raw.call(PATH, &request).await.unwrap().await.unwrap();
    others_go_on(&local).await;
    raw.ended().await;
    others_go_on(&local).await;
}
