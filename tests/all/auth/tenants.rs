//! Two tenants with everything alike, on one server: neither learns of the other.

use plybook_proto::v1;
use plybook_server::auth::Role;
use plybook_tests::injected::{Local, over_sqlite};
use plybook_tests::keyring::keys_alone;
use plybook_tests::refused::Refused;
use plybook_tests::table::table;
use plybook_tests::wire::{PlayedGame, Wire, fresh};
use tonic::Status;

use super::calls::{call, names};

/// All that a status says.
fn told(status: &Status) -> (tonic::Code, String, Vec<u8>) {
    (status.code(), status.message().to_owned(), status.details().to_vec())
}

async fn creates(wire: &Wire, request_id: &str) -> PlayedGame {
    let mut opening = wire.game();
    opening.request.request_id = request_id.to_owned();
    for (seat, player) in opening.request.seats.iter_mut().zip(["ann", "bob"]) {
        player.clone_into(&mut seat.player_id);
    }
    opening.await
}

async fn listed(wire: &Wire, player: &str) -> Vec<String> {
    let request = v1::ListGamesRequest { player_id: player.to_owned(), ..Default::default() };
    let page = wire.games().list_games(request).await.unwrap().into_inner();
    page.games.into_iter().map(|game| game.game_id).collect()
}

/// The games in a tenant's feed, and the token at its end.
async fn fed(wire: &Wire) -> (Vec<String>, String) {
    let request = v1::StreamAllEventsRequest { stop_at_head: true, ..Default::default() };
    let mut feed = wire.audit().stream_all_events(request).await.unwrap().into_inner();
    let (mut games, mut token) = (Vec::new(), String::new());
    while let Some(frame) = feed.message().await.unwrap() {
        if let Some(v1::stream_all_events_response::Frame::Event(entry)) = &frame.frame {
            games.push(entry.game_id.clone());
        }
        token.clone_from(&frame.resume_token);
    }
    games.dedup();
    (games, token)
}

async fn two() -> (Local, Wire, Wire) {
    let local = over_sqlite().await.auth(keys_alone()).start().await;
    let (one, other) = (local.service("one").await, local.service("other").await);
    (local, one, other)
}

/// The same request id makes a game for each, and each is answered with its own for ever.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_requests_make_games_of_their_own() {
    let (_local, one, other) = two().await;
    let (creation, first_move) = (fresh(), fresh());
    let (mut mine, mut theirs) = (creates(&one, &creation).await, creates(&other, &creation).await);
    assert_ne!(mine.id, theirs.id);
    for game in [&mut mine, &mut theirs] {
        let request = v1::MakeMoveRequest { request_id: first_move.clone(), ..game.asks("b2") };
        let answer = game.wire.games().make_move(request.clone()).await.unwrap().into_inner();
        let again = game.wire.games().make_move(request).await.unwrap().into_inner();
        assert_eq!(answer.event, again.event);
        game.sees(answer.event.unwrap());
    }
    assert_eq!(creates(&one, &creation).await.id, mine.id);
    assert_eq!(creates(&other, &creation).await.id, theirs.id);
    for (wire, own) in [(&one, &mine.id), (&other, &theirs.id)] {
        for player in ["ann", "bob", ""] {
            assert_eq!(listed(wire, player).await, std::slice::from_ref(own), "{player}");
        }
        assert_eq!(fed(wire).await.0, std::slice::from_ref(own));
    }
}

/// Every call about the other's game is answered, byte for byte, as one about a game that never was.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_tenant_s_game_is_like_none() {
    let (local, one, other) = two().await;
    let mut game = creates(&one, &fresh()).await;
    game.play("b2").await;
    // Warm: the server has it in its memory.
    one.get(&game.id).await;
    let about_games =
        names().into_iter().filter(|name| !["CreateGame", "ListGames", "ListRulesets", "ListStrategies"].contains(&name.as_str()));
    let about_games = about_games.filter(|name| !["ListKeys", "StreamAllEvents", "ImportBook"].contains(&name.as_str()));
    let never = fresh();
    for name in about_games.collect::<Vec<_>>() {
        let theirs = call(&name, &other, &game.id, 0).await.expect_err(&name);
        let none = call(&name, &other, &never, 0).await.expect_err(&name);
        assert_eq!(told(&theirs), told(&none), "{name}");
        Refused::of(&theirs).with("GAME_NOT_FOUND");
    }
    for (role, name) in [(Role::Auditor, "audit"), (Role::Operator, "ops"), (Role::Spectator { game: None }, "eye")] {
        let tenant = local.tenant("other").await;
        let wire = local.wire().await.bearing(&local.api_key(tenant, role, name).await);
        for call_name in ["GetGame", "GetBook", "CloseGame", "MakeMove"] {
            let theirs = call(call_name, &wire, &game.id, 0).await.unwrap_err();
            let none = call(call_name, &wire, &never, 0).await.unwrap_err();
            assert_eq!(told(&theirs), told(&none), "{call_name} by {name}");
        }
    }
    assert_eq!(listed(&other, "ann").await, <[String; 0]>::default());
    assert_eq!(fed(&other).await.0, <[String; 0]>::default());
    assert_eq!(one.get(&game.id).await.seq, 2, "and nothing was done to it");
}

/// A token of a page or of a feed is nothing to the other tenant, as one that was made up.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_tenant_s_tokens_are_like_none() {
    let (_local, one, other) = two().await;
    for wire in [&one, &other] {
        creates(wire, &fresh()).await;
        creates(wire, &fresh()).await;
    }
    let page = |page_token: String| v1::ListGamesRequest { page_size: 1, page_token, ..Default::default() };
    let token = one.games().list_games(page(String::new())).await.unwrap().into_inner().next_page_token;
    one.games().list_games(page(token.clone())).await.unwrap();
    let made_up = format!("{:0>1$}", "", token.len());
    let theirs = other.games().list_games(page(token)).await.unwrap_err();
    let none = other.games().list_games(page(made_up)).await.unwrap_err();
    assert_eq!(told(&theirs), told(&none));

    let (_, token) = fed(&one).await;
    let resume = |resume_token: String| v1::StreamAllEventsRequest { resume_token, stop_at_head: true, ..Default::default() };
    one.audit().stream_all_events(resume(token.clone())).await.unwrap();
    let theirs = other.audit().stream_all_events(resume(token.clone())).await.unwrap_err();
    let made_up = format!("{}{:0>2$}", &token[..2], "", token.len() - 2);
    let none = other.audit().stream_all_events(resume(made_up)).await.unwrap_err();
    assert_eq!(told(&theirs), told(&none));
    Refused::of(&theirs).with("RESUME_TOKEN_INVALID");
}

/// A live stream of one hears nothing of what the other does, on the same server.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn streams_hear_of_their_own_tenant_alone() {
    let (_local, one, other) = two().await;
    let mut feed = one.audit().stream_all_events(v1::StreamAllEventsRequest::default()).await.unwrap().into_inner();
    let mut theirs = creates(&other, &fresh()).await;
    theirs.play("b2 a1").await;
    let mine = creates(&one, &fresh()).await;
    let heard = loop {
        let frame = feed.message().await.unwrap().unwrap();
        if let Some(v1::stream_all_events_response::Frame::Event(entry)) = frame.frame {
            break entry.game_id;
        }
    };
    assert_eq!(heard, mine.id, "the first entry that is heard is one's own");
}

/// Evidence is kept by each for itself: that the other has it already shows nowhere.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_book_is_imported_by_each() {
    let (_local, one, other) = two().await;
    let book = table().play("b2 a1").book().print();
    for wire in [&one, &other] {
        let kept = wire.import(book.clone()).await.unwrap();
        assert!(!kept.repeated);
        assert_eq!(wire.book(&kept.game_id).await, book);
        assert!(wire.import(book.clone()).await.unwrap().repeated);
    }
}

/// A fork stays in its tenant, and a player's token of one is nobody's in the other, though games had the same id.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_seat_s_token_is_its_tenant_s() {
    let (local, one, other) = two().await;
    let book = table().play("b2 a1").book().print();
    let game = one.import(book.clone()).await.unwrap().game_id;
    let holder = Some(v1::mint_seat_token_request::Holder::Seat(0));
    let request = v1::MintSeatTokenRequest { game_id: game.clone(), holder, ttl: None };
    let token = one.games().mint_seat_token(request.clone()).await.unwrap().into_inner().token;
    Refused::by(other.games().mint_seat_token(request).await.map(drop)).with("GAME_NOT_FOUND");
    let player = local.wire().await.bearing(&token);
    assert_eq!(player.book(&game).await, book);
    let forked = v1::ForkGameRequest { request_id: fresh(), game_id: game.clone(), at_seq: Some(2), ..Default::default() };
    Refused::by(other.games().fork_game(forked.clone()).await.map(drop)).with("GAME_NOT_FOUND");
    Refused::by(player.games().fork_game(forked).await.map(drop)).with("ACCESS_DENIED");
}
