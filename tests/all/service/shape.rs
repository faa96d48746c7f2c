//! Every field that a request must have, and every value that none may have.

use plybook_proto::v1;
use plybook_tests::injected::over_sqlite;
use plybook_tests::refused::Refused;
use plybook_tests::wire::{Opening, PlayedGame, Wire};

/// The refusal must name this field and say this piece of why.
fn names(refused: &Refused, field: &str, why: &str) {
    refused.with("INVALID_PARAMETER").only(&[]).field(field, why);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_creation_is_checked() {
    let local = over_sqlite().await.start().await;
    let wire = local.wire().await;
    let change = |change: fn(&mut v1::CreateGameRequest)| {
        let mut opening = wire.game();
        change(&mut opening.request);
        opening
    };
    let cases: Vec<(Opening, &str, &str)> = vec![
        (change(|request| request.ruleset = None), "ruleset", "required"),
        (change(|request| request.ruleset.as_mut().unwrap().id.clear()), "ruleset.id", "required"),
        (wire.game().seats(0), "seats", "at least one"),
        (wire.game().seats(1), "seats", "2 to 8"),
        (wire.game().of("othello").seats(3), "seats", "2 to 2"),
        (change(|request| request.seats[1].mark = "m".repeat(17)), "seats[1]", "1 to 16 bytes"),
        (change(|request| request.seats[1].mark = "a b".to_owned()), "seats[1]", "no spaces"),
        (change(|request| request.seats[1].mark = ".".to_owned()), "seats[1]", "full stop"),
        (change(|request| request.seats.iter_mut().for_each(|seat| seat.mark = "X".to_owned())), "seats[1]", "taken"),
        (change(|request| request.seats[0].player_id = "p".repeat(65)), "seats[0]", "at most 64 bytes"),
        (change(|request| request.seats[0].player_id = "a\nb".to_owned()), "seats[0]", "control"),
        (change(|request| request.seats[0].player_id = "a\0b".to_owned()), "seats[0]", "control"),
        (change(|request| request.undo_policy = Some(v1::UndoPolicy { by: 77, ..Default::default() })), "undo_policy.by", "77"),
        (wire.game().undo(v1::UndoBy::None).undo_over_throw(), "undo_policy", "nobody may undo"),
        (wire.game().undo(v1::UndoBy::None).undo_after_end(), "undo_policy", "nobody may undo"),
        (wire.game().seed(&[1; 31]), "seed", "32 bytes"),
        (wire.game().seed(&[1; 33]), "seed", "32 bytes"),
        (
            change(|request| drop(request.ruleset.as_mut().unwrap().params.insert("rows".to_owned(), v1::ParamValue { value: None }))),
            "ruleset.params.rows",
            "no value",
        ),
        (wire.game().with("rows", true), "ruleset.params.rows", "type"),
        (wire.game().with("rows", 1_001), "ruleset.params.rows", "between"),
        (wire.game().with("rows", i64::MIN), "ruleset.params.rows", "between"),
        (wire.game().with("height", 3), "ruleset.params.height", ""),
        (wire.game().with("win", "nonsense"), "ruleset.params.win", "nonsense"),
        (wire.game().of("gomoku").with("rule", "renju"), "ruleset.params.rule", "none of"),
        (wire.game().snakes(100, &[3]), "ruleset.params.jumps", ""),
    ];
    for (opening, field, why) in cases {
        names(&opening.refused().await, field, why);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn moves_undos_and_closings_are_checked() {
    let local = over_sqlite().await.start().await;
    let game = local.wire().await.game().await;
    type Change = fn(&mut v1::MakeMoveRequest);
    let cases: [(Change, &str, &str); 9] = [
        (|request| request.game_id.clear(), "game_id", "required"),
        (|request| request.game_id = "the last one".to_owned(), "game_id", "not a UUID"),
        (|request| request.expected_seq = None, "expected_seq", "required"),
        (|request| request.seat = None, "seat", "required"),
        (|request| request.seat = Some(2), "seat", "no seat 2"),
        (|request| request.seat = Some(256), "seat", "no seat 256"),
        (|request| request.seat = Some(u32::MAX), "seat", "no seat"),
        (|request| request.action = None, "action", "required"),
        (|request| request.action = Some(v1::Action { shape: None }), "action", "required"),
    ];
    for (change, field, why) in cases {
        let mut request = game.asks("a1");
        change(&mut request);
        let refused = game.refuses_move(request).await;
        refused.with("INVALID_PARAMETER").field(field, why);
    }
    undo_and_close(&game).await;
}

async fn undo_and_close(game: &PlayedGame) {
    type Change = fn(&mut v1::UndoRequest);
    let cases: [(Change, &str, &str); 4] = [
        (|request| request.game_id = "x".to_owned(), "game_id", "not a UUID"),
        (|request| request.expected_seq = None, "expected_seq", "required"),
        (|request| request.seat = None, "seat", "required"),
        (|request| request.seat = Some(300), "seat", "no seat 300"),
    ];
    for (change, field, why) in cases {
        let mut request = game.asks_undo(0, None);
        change(&mut request);
        names(&game.refuses_undo(request).await, field, why);
    }
    let close = game.asks_close();
    names(&game.refuses_close(v1::CloseGameRequest { game_id: String::new(), ..close.clone() }).await, "game_id", "required");
    names(&game.refuses_close(v1::CloseGameRequest { expected_seq: None, ..close }).await, "expected_seq", "required");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn readings_are_checked() {
    let local = over_sqlite().await.start().await;
    let wire = local.wire().await;
    let game = wire.game().await;
    for (id, why) in [("", "required"), ("x", "not a UUID")] {
        names(&Refused::by(wire.try_get(id, None).await), "game_id", why);
        names(&Refused::by(wire.try_book(id).await), "game_id", why);
        names(&wire.follow(id).refused().await, "game_id", why);
        names(&legal(&wire, |request| request.game_id = id.to_owned()).await, "game_id", why);
    }
    names(&Refused::by(wire.try_get(&game.id, Some(0)).await), "at_seq", "from 1");
    names(&wire.follow(&game.id).heartbeat(-1).refused().await, "heartbeat_interval", "negative");
    names(&legal(&wire, |request| (request.game_id, request.page_size) = (game.id.clone(), -1)).await, "page_size", "negative");

    names(&list(&wire, |request| request.page_size = i32::MIN).await, "page_size", "negative");
    names(&list(&wire, |request| request.state = 99).await, "state", "99");
    names(&list(&wire, |request| request.player_id = "p".repeat(65)).await, "player_id", "longer");
    names(&list(&wire, |request| request.player_id = "\0".to_owned()).await, "player_id", "NUL");
    names(&list(&wire, |request| request.ruleset_id = "r".repeat(65)).await, "ruleset_id", "longer");
    let request = v1::ListRulesetsRequest { page_size: -1, ..Default::default() };
    names(&Refused::by(wire.games().list_rulesets(request).await), "page_size", "negative");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn page_tokens_belong_to_their_list() {
    let local = over_sqlite().await.start().await;
    let wire = local.wire().await;
    let (first, _second) = (wire.game().await, wire.game().await);
    let games = v1::ListGamesRequest { page_size: 1, ..Default::default() };
    let of_games = wire.games().list_games(games).await.unwrap().into_inner().next_page_token;
    let legals = v1::ListLegalActionsRequest { game_id: first.id.clone(), page_size: 1, ..Default::default() };
    let of_legals = wire.games().list_legal_actions(legals).await.unwrap().into_inner().next_page_token;
    let rulesets = v1::ListRulesetsRequest { page_size: 1, ..Default::default() };
    let of_rulesets = wire.games().list_rulesets(rulesets).await.unwrap().into_inner().next_page_token;

    let garbled = ["x", "zz", "é", "00", &"ab".repeat(200), &of_games[2..], &format!("{of_games}00")].map(str::to_owned);
    let tokens = [&garbled[..], &[of_games.clone(), of_legals.clone(), of_rulesets.clone()]].concat();
    for token in &tokens {
        let of_another = "is not from a page of this list";
        if *token != of_games {
            names(&list(&wire, |request| request.page_token.clone_from(token)).await, "page_token", of_another);
        }
        let filtered = list(&wire, |request| (request.page_token, request.player_id) = (token.clone(), "ann".to_owned())).await;
        names(&filtered, "page_token", of_another);
        if *token != of_legals {
            let change =
                |request: &mut v1::ListLegalActionsRequest| (request.game_id, request.page_token) = (first.id.clone(), token.clone());
            names(&legal(&wire, change).await, "page_token", of_another);
        }
        if *token != of_rulesets {
            let request = v1::ListRulesetsRequest { page_token: token.clone(), ..Default::default() };
            names(&Refused::by(wire.games().list_rulesets(request).await), "page_token", of_another);
        }
    }
    // The head has moved on, so the list is another.
    first.clone().play("a1").await;
    let change = |request: &mut v1::ListLegalActionsRequest| (request.game_id, request.page_token) = (first.id.clone(), of_legals.clone());
    names(&legal(&wire, change).await, "page_token", "is not from a page");
}

async fn list(wire: &Wire, change: impl FnOnce(&mut v1::ListGamesRequest)) -> Refused {
    let mut request = v1::ListGamesRequest::default();
    change(&mut request);
    Refused::by(wire.games().list_games(request).await)
}

async fn legal(wire: &Wire, change: impl FnOnce(&mut v1::ListLegalActionsRequest)) -> Refused {
    let mut request = v1::ListLegalActionsRequest::default();
    change(&mut request);
    Refused::by(wire.games().list_legal_actions(request).await)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn marks_that_nobody_named_are_those_that_are_free() {
    let local = over_sqlite().await.start().await;
    let wire = local.wire().await;
    let seat = |mark: &str| v1::Seat { mark: mark.to_owned(), player_id: String::new(), ..Default::default() };
    let created = |seats: Vec<v1::Seat>| {
        let mut opening = wire.game();
        opening.request.seats = seats;
        opening.sent()
    };
    let marks = |game: v1::Game| game.seats.into_iter().map(|seat| seat.mark).collect::<Vec<_>>().concat();
    assert_eq!(marks(created(vec![seat("O"), seat("")]).await.unwrap()), "OX");
    assert_eq!(marks(created(vec![seat(""), seat("X")]).await.unwrap()), "OX");
    assert_eq!(marks(created(vec![seat(""), seat("")]).await.unwrap()), "XO");
    for hidden in ["\u{200b}", "\u{202e}", "a\u{2066}b", "\u{feff}"] {
        names(&Refused::by(created(vec![seat(hidden), seat("")]).await), "seats[0]", "invisible");
    }
}
