//! ListGames: by who is to move, and by deadline.

use std::collections::BTreeSet;

use plybook_core::Time;
use plybook_proto::v1;
use plybook_server::replies;
use plybook_store::due::Arms;
use plybook_tests::both::on_both;
use plybook_tests::injected::{Local, over_sqlite};
use plybook_tests::live::fischer;
use plybook_tests::refused::Refused;
use plybook_tests::wire::Wire;

/// The ids on every page of a list; each page has at most so many.
async fn all(wire: &Wire, mut request: v1::ListGamesRequest, most: usize) -> Vec<String> {
    let mut ids = Vec::new();
    loop {
        let page = wire.games().list_games(request.clone()).await.unwrap().into_inner();
        assert!(page.games.len() <= most, "{} games", page.games.len());
        ids.extend(page.games.into_iter().map(|game| game.game_id));
        if page.next_page_token.is_empty() {
            return ids;
        }
        request.page_token = page.next_page_token;
    }
}

fn to_move(player: &str) -> v1::ListGamesRequest {
    v1::ListGamesRequest { to_move_player_id: player.to_owned(), ..Default::default() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn games_are_listed_by_who_is_to_move() {
    on_both(moving).await;
}

async fn moving(local: &Local) {
    let wire = local.wire().await;
    let mut games = Vec::new();
    for (players, moves) in
        [(["ann", "ben"], ""), (["ann", "ben"], "a1"), (["ben", "ann"], ""), (["ben", "ann"], "a1 b1"), (["ann", "cid"], "")]
    {
        let mut game = wire.game().players(&players).await;
        game.play(moves).await;
        games.push(game);
    }
    let ids = |numbers: &[usize]| numbers.iter().map(|at| games[*at].id.clone()).collect::<Vec<_>>();
    assert_eq!(all(&wire, to_move("ann"), 50).await, ids(&[4, 0]));
    assert_eq!(all(&wire, to_move("ben"), 50).await, ids(&[3, 2, 1]));
    assert_eq!(all(&wire, to_move("cid"), 50).await, ids(&[]));
    assert_eq!(all(&wire, v1::ListGamesRequest { page_size: 1, ..to_move("ben") }, 1).await, ids(&[3, 2, 1]), "in pages");
    let against = v1::ListGamesRequest { player_id: "cid".to_owned(), ..to_move("ann") };
    assert_eq!(all(&wire, against, 50).await, ids(&[4]));
    let other = v1::ListGamesRequest { ruleset_id: "othello".to_owned(), ..to_move("ann") };
    assert_eq!(all(&wire, other, 50).await, ids(&[]));
    let over = v1::ListGamesRequest { state: v1::GameState::Closed.into(), ..to_move("ann") };
    assert_eq!(all(&wire, over, 50).await, ids(&[]), "nobody is to move in a game that is over");
    // After an entry that is no move, the last line says whose turn it is; games that are over leave.
    let mut first = games[0].clone();
    first.acts(first.offering_draw(1)).await;
    assert_eq!(all(&wire, to_move("ann"), 50).await, ids(&[4, 0]));
    first.acts(first.answering_draw(0, v1::OfferAnswer::Accept)).await;
    assert_eq!(all(&wire, to_move("ann"), 50).await, ids(&[4]));
    let mut three = wire.game().mnk(4, 4, 3).players(&["eve", "fay", "gus"]).await;
    three.acts(three.resigning(0)).await;
    assert_eq!(all(&wire, to_move("fay"), 50).await, vec![three.id.clone()]);
    // While its seats have yet to join, nobody is.
    wire.game().snakes(30, &[]).players(&["kim", "lea"]).joint(60, v1::IfAbsent::Abort).await;
    assert_eq!(all(&wire, to_move("kim"), 50).await, Vec::<String>::new());
}

/// A page looks at so many games, whatever it finds, and says where to go on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_of_those_to_move_looks_at_a_bounded_number_of_games() {
    let local = over_sqlite().await.start().await;
    let wire = local.wire().await;
    let mine = wire.game().players(&["ann", "ben"]).await;
    for _ in 0..501 {
        wire.game().players(&["ben", "ann"]).await;
    }
    let first = wire.games().list_games(to_move("ann")).await.unwrap().into_inner();
    assert!(first.games.is_empty() && !first.next_page_token.is_empty(), "five hundred were looked at");
    assert_eq!(all(&wire, to_move("ann"), 50).await, vec![mine.id]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deadlines_are_told_where_they_are_asked_for() {
    on_both(async |local: &Local| {
        let wire = local.wire().await;
        let plain = wire.game().await;
        let timed = wire.game().clock(fischer(3_600_000, 0)).await;
        let waiting = wire.game().snakes(30, &[]).joint(3_600, v1::IfAbsent::Abort).await;
        let told = async |with_deadlines: bool| {
            let request = v1::ListGamesRequest { with_deadlines, ..Default::default() };
            wire.games().list_games(request).await.unwrap().into_inner().games
        };
        assert!(told(false).await.iter().all(|game| game.deadline.is_none()));
        for game in told(true).await {
            let read = wire.get(&game.game_id).await;
            assert_eq!(game.deadline, read.deadline);
            assert_eq!(game.deadline.is_some(), game.game_id != plain.id, "{game:?}");
        }
        assert_eq!(told(true).await.len(), [&plain, &timed, &waiting].len());
    })
    .await;
}

/// By the queue, whose rows may be early: what counts is the deadline that the head tells.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn games_are_listed_by_when_they_are_due() {
    on_both(async |local: &Local| {
        let wire = local.wire().await;
        let begin = Time::from_unix_ms(1_900_000_000_000);
        let after = |seconds: u64| Time::from_unix_ms(begin.unix_ms() + seconds * 1_000);
        local.clock.set(begin);
        let mut games = Vec::new();
        for (seconds, row, player) in [(300, 300, "ann"), (100, 100, "ben"), (200, 50, "ann"), (900, 150, "ann")] {
            local.store.arms_next(Arms { time: Some(after(row)), bot: None });
            games.push(wire.game().players(&[player, "zoe"]).clock(fischer(seconds * 1_000, 0)).await);
        }
        wire.game().players(&["ann", "zoe"]).await;
        let due = |seconds: u64| v1::ListGamesRequest { due_before: Some(replies::time(after(seconds))), ..Default::default() };
        let ids = |numbers: &[usize]| numbers.iter().map(|at| games[*at].id.clone()).collect::<Vec<_>>();
        assert_eq!(all(&wire, due(301), 50).await, ids(&[2, 1, 0]), "the fourth is due later than its row says");
        assert_eq!(all(&wire, due(300), 50).await, ids(&[2, 1]), "before, and not at");
        assert_eq!(all(&wire, v1::ListGamesRequest { page_size: 1, ..due(301) }, 1).await, ids(&[2, 1, 0]), "in pages");
        assert_eq!(all(&wire, v1::ListGamesRequest { player_id: "ben".to_owned(), ..due(301) }, 50).await, ids(&[1]));
        assert_eq!(all(&wire, v1::ListGamesRequest { to_move_player_id: "ann".to_owned(), ..due(1_000) }, 50).await, ids(&[2, 3, 0]));
        let page = wire.games().list_games(due(301)).await.unwrap().into_inner().games;
        assert_eq!(page[0].deadline.as_ref().unwrap().time, Some(replies::time(after(200))));
        assert_eq!((page[0].position.as_ref(), page[0].clock.as_ref()), (None, None), "as in any list");
        // What is over is due no more.
        games[1].clone().acts(games[1].resigning(0)).await;
        assert_eq!(all(&wire, due(301), 50).await, ids(&[2, 0]));
        let token = wire.games().list_games(v1::ListGamesRequest { page_size: 1, ..due(301) }).await.unwrap().into_inner().next_page_token;
        let other = v1::ListGamesRequest { page_token: token, ..due(300) };
        Refused::by(wire.games().list_games(other).await).with("INVALID_PARAMETER").field("page_token", "is not from a page");
    })
    .await;
}

/// Of a list with deadlines a page is shorter; of whatever is no time there is none.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lists_of_deadlines_are_limited_and_checked() {
    let local = over_sqlite().await.start().await;
    let wire = local.wire().await;
    let games: BTreeSet<String> = {
        let mut ids = BTreeSet::new();
        for _ in 0..51 {
            ids.insert(wire.game().await.id);
        }
        ids
    };
    let request = v1::ListGamesRequest { with_deadlines: true, page_size: 500, ..Default::default() };
    assert_eq!(all(&wire, request, 50).await.into_iter().collect::<BTreeSet<_>>(), games);
    for (seconds, nanos) in [(-1, 0), (1, -1), (1, 1_000_000_000)] {
        let due_before = Some(prost_types::Timestamp { seconds, nanos });
        let request = v1::ListGamesRequest { due_before, ..Default::default() };
        Refused::by(wire.games().list_games(request).await).with("INVALID_PARAMETER").field("due_before", "no time");
    }
    for player in ["p".repeat(65), "\0".to_owned()] {
        Refused::by(wire.games().list_games(to_move(&player)).await).with("INVALID_PARAMETER").field("to_move_player_id", "longer");
    }
}
