//! Callers who take calls back as fast as they make them.

use plybook_proto::v1;
use plybook_tests::frames::{Raw, framed};
use plybook_tests::injected::{Call, Fault, over_sqlite};
use plybook_tests::patience::until;

use super::others_go_on;

const PATH: &str = "/plybook.v1.GameService/CreateGame";

/// Each call is taken back in the moment in which it is made, so few of them are ever looked at.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_of_resets_ends_its_connection() {
    let local = over_sqlite().await.limits(|limits| limits.left_calls = 200).start().await;
    let mut raw = Raw::connect(local.address(), 65_535).await;
    let message = framed(&v1::CreateGameRequest::default());
    let flood = async {
        for call in 0_u32.. {
            let Some(mut begun) = raw.begin(PATH, &[]).await else { return call };
            let _ = begun.body.send_data(message.clone(), false);
            begun.leave();
        }
        u32::MAX
    };
    let (calls, ()) = tokio::join!(flood, others_go_on(&local));
    assert!(calls < 100_000, "{calls} were taken back");
    raw.ended().await;
    others_go_on(&local).await;
}

/// Each call is at the store when it is left: what it has begun goes on, so these are counted.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_caller_leaves_so_many_calls() {
    let local = over_sqlite().await.limits(|limits| limits.left_calls = 50).start().await;
    let mut raw = Raw::connect(local.address(), 65_535).await;
    local.store.breaks(Call::List, Fault::Held);
    let mut left = 0;
    while let Some(mut begun) = raw.begin("/plybook.v1.GameService/ListGames", &[]).await {
        let before = local.store.count(Call::List);
        if begun.body.send_data(framed(&v1::ListGamesRequest::default()), true).is_err() {
            break;
        }
        until("it is at the store, or the connection is over", || async { raw.is_over() || local.store.count(Call::List) > before }).await;
        begun.leave();
        left += 1;
        assert!(left <= 1_000, "it goes on and on");
    }
    assert!(left >= 50, "only {left} were left");
    raw.ended().await;
    others_go_on(&local).await;
}
