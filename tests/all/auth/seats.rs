//! Tokens that the service mints for seats: a player's own client plays by one, and does nothing else.

use std::time::{Duration, Instant};

use futures::future::join_all;
use plybook_core::Time;
use plybook_proto::v1::mint_seat_token_request::Holder;
use plybook_proto::v1::{self, UndoBy};
use plybook_server::auth::AuthConfig;
use plybook_server::auth::seat_token::SeatTokens;
use plybook_server::clock::Clock as _;
use plybook_server::edge::{Rate, RateLimits};
use plybook_server::limits::STREAMS_PER_TOKEN;
use plybook_server::signing::SigningKey;
use plybook_tests::injected::{Call, Local, over_sqlite};
use plybook_tests::keyring::keys_alone;
use plybook_tests::patience::until;
use plybook_tests::refused::Refused;
use plybook_tests::wire::{PlayedGame, Wire};
use tonic::Status;

async fn mint(wire: &Wire, game: &str, holder: Holder, ttl: Option<i64>) -> Result<v1::MintSeatTokenResponse, Status> {
    let ttl = ttl.map(|seconds| prost_types::Duration { seconds, nanos: 0 });
    let request = v1::MintSeatTokenRequest { game_id: game.to_owned(), holder: Some(holder), ttl };
    wire.games().mint_seat_token(request).await.map(tonic::Response::into_inner)
}

/// The same game over the line of whoever has this token.
async fn hands(local: &Local, game: &PlayedGame, token: &str) -> PlayedGame {
    PlayedGame { wire: local.wire().await.bearing(token), ..game.clone() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn players_play_by_their_tokens_and_the_book_says_so() {
    let local = over_sqlite().await.auth(keys_alone()).start().await;
    let service = local.service("shop").await;
    let mut game = service.game().await;
    let mut tokens = Vec::new();
    for seat in [0, 1] {
        tokens.push(mint(&service, &game.id, Holder::Seat(seat), None).await.unwrap().token);
    }
    let before = local.store.count(Call::Credentials);
    let (mut first, mut second) = (hands(&local, &game, &tokens[0]).await, hands(&local, &game, &tokens[1]).await);
    first.play("b2").await;
    (second.head, second.to_move) = (first.head, first.to_move);
    second.play("a1").await;
    assert_eq!(local.store.count(Call::Credentials), before, "a token is checked without the database");
    let refused = Refused::by(second.wire.games().make_move(v1::MakeMoveRequest { seat: Some(0), ..second.asks("c3") }).await);
    refused.with("ACCESS_DENIED").only(&["role"]).meta("role", "seat");
    (game.head, game.to_move) = (second.head, second.to_move);
    game.play("c3").await;
    let book = service.book(&game.id).await;
    let actors: Vec<&str> = ["seat/0", "seat/1", "svc/rooms"].into_iter().filter(|name| book.contains(name)).collect();
    assert_eq!(actors, ["seat/0", "seat/1", "svc/rooms"], "{book}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_ends_at_its_time_and_takes_its_streams_along() {
    let local = over_sqlite().await.auth(keys_alone()).start().await;
    let service = local.service("shop").await;
    let game = service.game().await;
    let now = local.clock.now();
    local.clock.set(now);
    let minted = mint(&service, &game.id, Holder::Spectator(true), Some(1)).await.unwrap();
    let watcher = hands(&local, &game, &minted.token).await;
    let request = v1::StreamEventsRequest { game_id: game.id.clone(), ..Default::default() };
    let status = match watcher.wire.games().stream_events(request).await {
        // On a machine so busy that a second passed before the stream began.
        Err(status) => status,
        Ok(stream) => {
            let mut stream = stream.into_inner();
            loop {
                if let Err(status) = stream.message().await {
                    break status;
                }
            }
        }
    };
    assert_eq!(Refused::of(&status).with("CREDENTIALS_INVALID").message, "the credential does not hold: it has expired");
    // The service's clock stood still, so it is not yet over for a call.
    watcher.wire.get(&game.id).await;
    let end = minted.expire_time.unwrap();
    local.clock.set(Time::from_unix_ms(end.seconds as u64 * 1_000));
    Refused::by(watcher.wire.try_get(&game.id, None).await).with("CREDENTIALS_INVALID");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_is_minted_for_a_seat_that_is_there_and_for_no_longer_than_it_may_be() {
    let local = over_sqlite().await.auth(AuthConfig { seat_token_ttl_max: Duration::from_secs(60), ..keys_alone() }).start().await;
    let service = local.service("shop").await;
    let game = service.game().await;
    let refused = async |holder, ttl| Refused::by(mint(&service, &game.id, holder, ttl).await.map(|minted| minted.expire_time));
    refused(Holder::Seat(2), None).await.with("INVALID_PARAMETER").field("seat", "there is no seat 2");
    refused(Holder::Seat(300), None).await.with("INVALID_PARAMETER").field("seat", "there is no seat 300");
    refused(Holder::Spectator(false), None).await.with("INVALID_PARAMETER").field("spectator", "true");
    refused(Holder::Seat(0), Some(0)).await.with("INVALID_PARAMETER").field("ttl", "less than a second");
    refused(Holder::Seat(0), Some(-1)).await.with("INVALID_PARAMETER").field("ttl", "negative");
    refused(Holder::Seat(0), Some(61)).await.with("LIMIT_EXCEEDED").meta("limit", "seat_token_ttl_seconds").meta("most", 60);
    mint(&service, &game.id, Holder::Seat(0), Some(60)).await.unwrap();
    let request = v1::MintSeatTokenRequest { game_id: game.id.clone(), holder: None, ttl: None };
    Refused::by(service.games().mint_seat_token(request).await.map(drop)).with("INVALID_PARAMETER").field("holder", "is required");
    Refused::by(mint(&service, &plybook_tests::wire::fresh(), Holder::Seat(0), None).await.map(drop)).with("GAME_NOT_FOUND");
}

/// Nodes share the key; whoever has another one mints for itself, unless its public half is known.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_node_with_the_key_takes_the_token_and_no_other_does() {
    let first = over_sqlite().await.auth(keys_alone()).start().await;
    let service = first.service("shop").await;
    let mut game = service.game().await;
    let token = mint(&service, &game.id, Holder::Seat(0), None).await.unwrap().token;
    let later = SigningKey::from_seed(&[0x77; 32]).unwrap();
    let known = *SigningKey::from_seed(&[0x5e; 32]).unwrap().public();
    for (others, takes) in [(&[][..], false), (&[known], true)] {
        let auth = AuthConfig { seat_tokens: Some(SeatTokens::new(&later, others).unwrap()), ..keys_alone() };
        let node = plybook_tests::injected::over(first.store.inner()).auth(auth).start().await;
        let mut player = hands(&node, &game, &token).await;
        if takes {
            player.play("b2").await;
            game.head = player.head;
        } else {
            Refused::by(player.wire.try_get(&game.id, None).await).with("CREDENTIALS_INVALID");
        }
    }
    let none = AuthConfig { seat_tokens: None, ..keys_alone() };
    let node = plybook_tests::injected::over(first.store.inner()).auth(none).start().await;
    Refused::by(hands(&node, &game, &token).await.wire.try_get(&game.id, None).await).with("CREDENTIALS_INVALID");
    let service = node.service("shop").await;
    Refused::by(mint(&service, &game.id, Holder::Seat(0), None).await.map(drop)).with("SEAT_TOKENS_UNAVAILABLE").only(&[]);
}

/// "Any seat any standing move" is for callers that are trusted.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_player_takes_nothing_back_by_the_policy_of_trusted_callers() {
    let local = over_sqlite().await.auth(keys_alone()).start().await;
    let service = local.service("shop").await;
    for (policy, may) in [(UndoBy::Free, false), (UndoBy::OwnLastMove, true)] {
        let mut game = service.game().undo(policy).await;
        game.play("b2").await;
        let token = mint(&service, &game.id, Holder::Seat(0), None).await.unwrap().token;
        let player = hands(&local, &game, &token).await;
        let undone = player.wire.games().undo(player.asks_undo(0, None)).await;
        if may {
            undone.unwrap();
        } else {
            Refused::by(undone).with("ACCESS_DENIED");
            service.games().undo(game.asks_undo(0, None)).await.unwrap();
        }
    }
}

/// Of two things wrong the earlier is named: who calls, then the shape, then the right, then whether the game is there.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rights_are_checked_after_the_shape_and_before_the_game() {
    let local = over_sqlite().await.auth(keys_alone()).start().await;
    let service = local.service("shop").await;
    let game = service.game().await;
    let token = mint(&service, &game.id, Holder::Seat(0), None).await.unwrap().token;
    let player = local.wire().await.bearing(&token);
    let moves = |game_id: &str, seat: Option<u32>| v1::MakeMoveRequest { game_id: game_id.to_owned(), seat, ..game.asks("b2") };
    let nowhere = plybook_tests::wire::fresh();
    for (wire, request, reason) in [
        (&local.wire().await, moves("nonsense", None), "CREDENTIALS_MISSING"),
        (&player, moves("nonsense", None), "INVALID_PARAMETER"),
        (&player, moves(&nowhere, None), "INVALID_PARAMETER"),
        (&player, moves(&nowhere, Some(0)), "ACCESS_DENIED"),
        (&player, moves(&game.id, Some(1)), "ACCESS_DENIED"),
        (&service, moves(&nowhere, Some(0)), "GAME_NOT_FOUND"),
    ] {
        Refused::by(wire.games().make_move(request).await).with(reason);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_token_takes_few_streams_over_however_many_connections_and_leaves_the_others() {
    let local = over_sqlite().await.auth(keys_alone()).start().await;
    let service = local.service("shop").await;
    let game = service.game().await;
    let one = mint(&service, &game.id, Holder::Spectator(true), None).await.unwrap().token;
    let another = mint(&service, &game.id, Holder::Seat(0), None).await.unwrap().token;
    let lines = [hands(&local, &game, &one).await, hands(&local, &game, &one).await];
    let mut open = Vec::new();
    for n in 0..STREAMS_PER_TOKEN {
        open.push(lines[n % 2].wire.follow(&game.id).open().await);
    }
    for line in &lines {
        let refused = line.wire.follow(&game.id).refused().await;
        refused.with("TOO_MANY_STREAMS").meta("limit", "streams_per_token").meta("most", STREAMS_PER_TOKEN).later();
    }
    let _others = [hands(&local, &game, &another).await.wire.follow(&game.id).open().await, service.follow(&game.id).open().await];
    drop(open);
    until("the places are free", || async { lines[0].wire.follow(&game.id).sent().await.is_ok() }).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_token_calls_a_tenth_as_often_as_its_tenant_and_takes_nothing_from_the_others() {
    let rates = RateLimits { tenant: Some(Rate::per_second(10, 100)), strangers: None };
    let local = over_sqlite().await.auth(keys_alone()).config(|config| config.rates = rates).start().await;
    let service = local.service("shop").await;
    let game = service.game().await;
    let token = mint(&service, &game.id, Holder::Seat(0), None).await.unwrap().token;
    let player = hands(&local, &game, &token).await;
    let asks = |wire: Wire| {
        let request = v1::GetGameRequest { game_id: game.id.clone(), ..Default::default() };
        async move { wire.games().get_game(request).await }
    };
    let began = Instant::now();
    let (let_in, sent_away): (Vec<_>, Vec<_>) =
        join_all((0..100).map(|_| asks(player.wire.clone()))).await.into_iter().partition(Result::is_ok);
    let due = began.elapsed().as_secs_f64();
    assert!(let_in.len() >= 10 && let_in.len() as f64 <= 11.0 + due, "{} were let in in {due} s", let_in.len());
    for refused in sent_away.into_iter().map(Refused::by) {
        refused.with("RATE_LIMITED").meta("limit", "rate_per_token").later();
    }
    for answer in join_all((0..40).map(|_| asks(service.clone()))).await {
        answer.expect("the tenant has what its player was refused");
    }
}
