//! Every reason of the contract is provoked and read as a client reads it.

mod callers;
mod living;

use std::sync::Arc;
use std::time::Duration;

use plybook_proto::v1::{self, ErrorReason, UndoBy};
use plybook_server::edge::{Rate, RateLimits};
use plybook_store::Store;
use plybook_tests::injected::{self, Call, DATABASE_SECRET, Fault, Local, over_sqlite};
use plybook_tests::refused::Refused;
use plybook_tests::table::table;
use plybook_tests::wire::{Wire, fresh};
use sqlx::{Connection as _, Executor as _, SqliteConnection};
use tonic::Request;

/// A server for one reason, and a connection to it.
struct Bench {
    local: Local,
    wire: Wire,
}

impl Bench {
    async fn new() -> Bench {
        let local = over_sqlite().await.limits(|limits| limits.streams = 1).start().await;
        let wire = local.wire().await;
        Bench { local, wire }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_reason_is_provoked() {
    let known = (0..1000).filter_map(|number| ErrorReason::try_from(number).ok());
    let mut provoked = Vec::new();
    for reason in known {
        let name = reason.as_str_name().trim_start_matches("ERROR_REASON_");
        if let Some(refused) = provoke(reason, Bench::new().await).await {
            refused.with(name);
            assert!(!format!("{refused:?}").contains(DATABASE_SECRET), "{refused:?}");
            provoked.push(name);
        }
    }
    let contract = include_str!("../../../proto/plybook/v1/error_reason.proto");
    let later = ["UNSPECIFIED"];
    let written = contract.lines().filter_map(|line| line.trim().strip_prefix("ERROR_REASON_")?.split(' ').next());
    let missing: Vec<&str> = written.filter(|name| !provoked.contains(name) && !later.contains(name)).collect();
    assert!(missing.is_empty(), "{missing:?} are not provoked");
}

/// Provokes a reason; nothing where the service has no cause for it yet.
async fn provoke(reason: ErrorReason, bench: Bench) -> Option<Refused> {
    use ErrorReason as R;
    let refused = match reason {
        R::ResumeTokenInvalid => bench.wire.feed().from("00").refused().await.only(&[]).clone(),
        R::ResumeTokenExpired => token_expired(&bench).await,
        R::Unspecified => return None,
        R::CredentialsMissing => callers::missing().await,
        R::CredentialsInvalid => callers::invalid().await,
        R::AccessDenied => callers::denied().await,
        R::SeatTokensUnavailable => callers::no_seat_tokens(&bench).await,
        R::SeatIsBot => living::seat_is_bot(&bench).await,
        R::OfferNotAllowed => living::offer_not_allowed(&bench).await,
        R::AbortNotAllowed => living::abort_not_allowed(&bench).await,
        R::ClaimNotAllowed => living::claim_not_allowed(&bench).await,
        R::SeatLeft => living::seat_left(&bench).await,
        R::PresenceNotKept => living::presence_not_kept(&bench).await,
        R::GameNotOver => living::game_not_over(&bench).await,
        R::GameNotFound => Refused::by(bench.wire.try_get(&fresh(), None).await).only(&[]).clone(),
        R::UnknownRuleset => unknown_ruleset(&bench).await,
        R::UnknownStrategy => unknown_strategy(&bench).await,
        R::RulesetVersionUnsupported => unsupported_version(&bench).await,
        R::InvalidParameter => bench.wire.game().with("rows", 0).refused().await.only(&[]).field("ruleset.params.rows", "between").clone(),
        R::InvalidAction => invalid_action(&bench).await,
        R::IllegalMove => illegal_move(&bench).await,
        R::NotJoined => not_joined(&bench).await,
        R::JoinNotAllowed => join_not_allowed(&bench).await,
        R::NotYourTurn => not_your_turn(&bench).await,
        R::StaleSeq => stale(&bench).await,
        R::GameFinished => finished(&bench).await,
        R::GameNotFinished => not_finished(&bench).await,
        R::NothingToUndo => nothing_to_undo(&bench).await,
        R::UndoNotAllowed => undo_not_allowed(&bench).await,
        R::InvalidRequestId => invalid_request_id(&bench).await,
        R::RequestIdReused => reused(&bench).await,
        R::CursorBeyondHead => beyond_head(&bench).await,
        R::TooManyStreams => too_many_streams(&bench).await,
        R::RateLimited => rate_limited().await,
        R::Deadline => deadline(&bench).await,
        R::StoreUnavailable => store_unavailable(&bench).await,
        R::ServerDraining => draining(bench).await,
        R::BookCorrupt => corrupt(bench).await,
        R::EntryIllegalNow => illegal_now(bench).await,
        R::Internal => internal(&bench).await,
        R::GameReadOnly => read_only(&bench).await,
        R::GameExists => exists(&bench).await,
        R::ReceiptsUnavailable => {
            let mut opening = bench.wire.game();
            opening.request.with_receipt = true;
            opening.refused().await.only(&[]).clone()
        }
        R::LimitExceeded => {
            bench.wire.game().seats(9).refused().await.only(&["limit", "most"]).meta("limit", "seats").meta("most", 8).clone()
        }
    };
    Some(refused)
}

async fn read_only(bench: &Bench) -> Refused {
    let kept = bench.wire.import(table().play("b2 a1").book().print()).await.unwrap();
    let game = bench.wire.open(&kept.game_id).await;
    game.refuses("a2").await.only(&["head_seq"]).meta("head_seq", 3).clone()
}

async fn exists(bench: &Bench) -> Refused {
    let mut game = bench.wire.game().await;
    game.play("b2").await;
    let own = bench.wire.book(&game.id).await;
    Refused::by(bench.wire.import(own).await).only(&["game_id"]).meta("game_id", &game.id).clone()
}

async fn unknown_ruleset(bench: &Bench) -> Refused {
    let refused = bench.wire.game().of("chess").refused().await;
    refused.only(&["known"]).meta("known", "connect_four,gomoku,mnk,othello,snakes_and_ladders").clone()
}

async fn unknown_strategy(bench: &Bench) -> Refused {
    let game = bench.wire.game().await;
    let asks = |id: &str, version| v1::SuggestMoveRequest {
        game_id: game.id.clone(),
        strategy: Some(v1::StrategySpec { id: id.to_owned(), version }),
        ..v1::SuggestMoveRequest::default()
    };
    Refused::by(bench.wire.games().suggest_move(asks("mcts", 9)).await).with("UNKNOWN_STRATEGY");
    let refused = Refused::by(bench.wire.games().suggest_move(asks("stockfish", 0)).await);
    refused.only(&["known"]).meta("known", "heuristic@1,mcts@1,minimax@1,perfect@1,random@1").clone()
}

async fn unsupported_version(bench: &Bench) -> Refused {
    let mut opening = bench.wire.game();
    opening.request.ruleset.as_mut().unwrap().version = 99;
    opening.refused().await.only(&["known"]).meta("known", 1).clone()
}

async fn invalid_action(bench: &Bench) -> Refused {
    let game = bench.wire.game().await;
    let drop = v1::Action { shape: Some(v1::action::Shape::Drop(v1::Drop { column: 0 })) };
    let wrong_shape = game.refuses_move(v1::MakeMoveRequest { action: Some(drop), ..game.asks("a1") }).await;
    wrong_shape.with("INVALID_ACTION").only(&["accepted", "head_seq"]).meta("accepted", "place").meta("head_seq", 1);
    game.refuses(&"é".repeat(17)).await.with("INVALID_ACTION").meta("accepted", "place");
    game.refuses("z9z").await.meta("accepted", "place").clone()
}

async fn illegal_move(bench: &Bench) -> Refused {
    let mut game = bench.wire.game().await;
    game.play("b2").await;
    let off = v1::Action { shape: Some(v1::action::Shape::Place(v1::Place { cell: u32::MAX })) };
    let off = game.refuses_move(v1::MakeMoveRequest { action: Some(off), ..game.asks("a1") }).await;
    off.with("ILLEGAL_MOVE").meta("rule", "OFF_BOARD");
    game.refuses("b2").await.only(&["head_seq", "rule"]).meta("rule", "CELL_OCCUPIED").meta("head_seq", 2).clone()
}

async fn not_joined(bench: &Bench) -> Refused {
    let game = bench.wire.game().of("snakes_and_ladders").joint(60, v1::IfAbsent::Abort).await;
    let refused = game.refuses("roll").await;
    refused.only(&["deadline", "head_seq", "step", "waiting_seats"]).meta("step", "COMMIT").meta("waiting_seats", "0,1").clone()
}

async fn join_not_allowed(bench: &Bench) -> Refused {
    let game = bench.wire.game().of("snakes_and_ladders").joint(60, v1::IfAbsent::Abort).await;
    game.refuses_join(game.asks_reveal(0)).await.only(&["cause", "head_seq"]).meta("cause", "TOO_EARLY").clone()
}

async fn not_your_turn(bench: &Bench) -> Refused {
    let game = bench.wire.game().await;
    game.refuses_seat(1, "b2").await.only(&["head_seq", "seat_to_move"]).meta("seat_to_move", 0).meta("head_seq", 1).clone()
}

/// The refusal brings the lines that the caller has missed, as many as fit.
async fn stale(bench: &Bench) -> Refused {
    let mut game = bench.wire.game().mnk(9, 9, 5).await;
    let late = game.asks("a1");
    game.play("b2").await;
    let refused = game.refuses_move(late.clone()).await;
    let line = game.wire.book(&game.id).await.lines().rev().nth(2).unwrap().to_owned();
    refused.only(&["expected_seq", "head_seq", "missed_2"]).meta("expected_seq", 1).meta("head_seq", 2).meta("missed_2", line);

    game.play("a1 a2 a3 a4 a5 b5 c5 d5 e5 f5 g5").await;
    let bounded = game.refuses_move(late).await;
    assert!(bounded.metadata.contains_key("missed_2") && !bounded.metadata.contains_key("missed_12"), "{bounded:?}");

    let beyond = u64::from(u32::MAX);
    let ahead = game.refuses_move(v1::MakeMoveRequest { expected_seq: Some(beyond), ..game.asks("h1") }).await;
    ahead.with("STALE_SEQ").only(&["expected_seq", "head_seq"]).meta("expected_seq", beyond);
    let no_number = game.refuses_move(v1::MakeMoveRequest { expected_seq: Some(u64::MAX), ..game.asks("h1") }).await;
    no_number.with("INVALID_PARAMETER").field("expected_seq", &format!("no game has an entry {}", u64::MAX));
    refused
}

async fn finished(bench: &Bench) -> Refused {
    let mut open = bench.wire.game().undo(UndoBy::Free).undo_after_end().await;
    open.play("a1 b1 a2 b2 a3").await;
    open.refuses_seat(1, "b3").await.with("GAME_FINISHED").meta("closed", false).meta("winners", 0).meta("outcome_reason", "line");
    open.close().await;
    open.refuses_close(open.asks_close()).await.with("GAME_FINISHED").meta("closed", true);

    let mut drawn = bench.wire.game().await;
    drawn.play("a1 b2 c3 a2 c2 c1 a3 b3 b1").await;
    let refused = drawn.refuses_seat(1, "b3").await;
    drawn.refuses_undo(drawn.asks_undo(0, None)).await.with("GAME_FINISHED").meta("closed", true);
    let keys = ["closed", "head_seq", "outcome_reason", "winners"];
    refused.only(&keys).meta("closed", true).meta("winners", "").meta("outcome_reason", "board_full").meta("head_seq", 10).clone()
}

async fn not_finished(bench: &Bench) -> Refused {
    let game = bench.wire.game().await;
    game.refuses_close(game.asks_close()).await.only(&["head_seq"]).clone()
}

async fn nothing_to_undo(bench: &Bench) -> Refused {
    let mut game = bench.wire.game().undo(UndoBy::Free).await;
    game.refuses_undo(game.asks_undo(0, None)).await.with("NOTHING_TO_UNDO");
    game.play("a1").await;
    for target in [0, 1, 3, u64::MAX] {
        game.refuses_undo(game.asks_undo(0, Some(target))).await.with("NOTHING_TO_UNDO");
    }
    game.refuses_undo(game.asks_undo(1, None)).await.only(&["head_seq"]).clone()
}

async fn undo_not_allowed(bench: &Bench) -> Refused {
    living::undo_causes(bench).await;
    let mut none = bench.wire.game().undo(UndoBy::None).await;
    none.play("a1").await;
    none.refuses_undo(none.asks_undo(0, None)).await.with("UNDO_NOT_ALLOWED").meta("cause", "POLICY");

    let mut own = bench.wire.game().await;
    own.play("a1 b2").await;
    own.refuses_undo(own.asks_undo(0, None)).await.with("UNDO_NOT_ALLOWED").meta("cause", "NOT_YOUR_MOVE");
    own.refuses_undo(own.asks_undo(0, Some(3))).await.with("UNDO_NOT_ALLOWED").meta("cause", "NOT_YOUR_MOVE");

    let mut thrown = bench.wire.game().snakes(100, &[]).undo(UndoBy::Free).await;
    thrown.play("roll").await;
    let refused = thrown.refuses_undo(thrown.asks_undo(0, None)).await;
    refused.only(&["cause", "head_seq"]).meta("cause", "CHANCE_REVEALED").clone()
}

async fn invalid_request_id(bench: &Bench) -> Refused {
    let game = bench.wire.game().await;
    for id in ["", "1", "00000000-0000-0000-0000-000000000000", &"f".repeat(100_000)] {
        let id = id.to_owned();
        game.refuses_move(v1::MakeMoveRequest { request_id: id.clone(), ..game.asks("a1") }).await.with("INVALID_REQUEST_ID");
        game.refuses_undo(v1::UndoRequest { request_id: id.clone(), ..game.asks_undo(0, None) }).await.with("INVALID_REQUEST_ID");
        game.refuses_close(v1::CloseGameRequest { request_id: id.clone(), ..game.asks_close() }).await.with("INVALID_REQUEST_ID");
        let mut opening = bench.wire.game();
        opening.request.request_id = id;
        opening.refused().await.with("INVALID_REQUEST_ID");
    }
    game.refuses_move(v1::MakeMoveRequest { request_id: "x".to_owned(), ..game.asks("a1") }).await.only(&[]).clone()
}

async fn reused(bench: &Bench) -> Refused {
    let opening = bench.wire.game();
    let created_by = opening.request.request_id.clone();
    let mut game = opening.await;
    let mut again = bench.wire.game().mnk(4, 4, 3);
    again.request.request_id.clone_from(&created_by);
    again.refused().await.with("REQUEST_ID_REUSED").only(&["original_game_id"]).meta("original_game_id", &game.id);

    // The creation's id is an id of the game, too.
    let by_creation = v1::MakeMoveRequest { request_id: created_by, ..game.asks("a1") };
    game.refuses_move(by_creation).await.with("REQUEST_ID_REUSED").meta("original_seq", 1);

    let first = game.asks("a1");
    game.sends(first.clone()).await.unwrap();
    let other_cell = v1::MakeMoveRequest { action: game.asks("b1").action, ..first.clone() };
    let other_rpc = v1::UndoRequest { request_id: first.request_id.clone(), ..game.asks_undo(0, None) };
    game.refuses_undo(other_rpc).await.with("REQUEST_ID_REUSED").meta("original_seq", 2);
    game.refuses_move(other_cell).await.only(&["original_seq"]).meta("original_seq", 2).clone()
}

/// Of an entry that a restored backup does not have.
async fn token_expired(bench: &Bench) -> Refused {
    let backup = bench.local.backup().await;
    bench.wire.game().await;
    let mut feed = bench.wire.feed().until_head().open().await;
    while feed.frame().await.unwrap().is_some() {}
    bench.local.store.becomes(backup);
    loop {
        // Until the node sees that the stream has ended.
        let refused = bench.wire.feed().from(&feed.token).refused().await;
        if refused.reason != "TOO_MANY_STREAMS" {
            return refused.only(&[]).clone();
        }
    }
}

async fn beyond_head(bench: &Bench) -> Refused {
    let mut game = bench.wire.game().await;
    game.play("a1").await;
    for at in [3, 5_000, u64::from(u32::MAX), u64::MAX] {
        let read = Refused::by(bench.wire.try_get(&game.id, Some(at)).await);
        read.with("CURSOR_BEYOND_HEAD").only(&["head_seq"]).meta("head_seq", 2);
        bench.wire.follow(&game.id).after(at).refused().await.with("CURSOR_BEYOND_HEAD").meta("head_seq", 2);
        bench.wire.follow(&game.id).after(at).with_snapshot().refused().await.with("CURSOR_BEYOND_HEAD").meta("head_seq", 2);
    }
    bench.wire.follow(&game.id).after(3).refused().await
}

async fn too_many_streams(bench: &Bench) -> Refused {
    let game = bench.wire.game().await;
    let _first = bench.wire.follow(&game.id).open().await;
    let refused = bench.wire.follow(&game.id).refused().await;
    refused.only(&["limit", "most"]).meta("limit", "streams").meta("most", 1).later().clone()
}

/// Told by `edge/rates.rs` in full.
async fn rate_limited() -> Refused {
    let rates = RateLimits { tenant: Some(Rate::per_second(1, 1)), ..RateLimits::default() };
    let local = over_sqlite().await.config(|config| config.rates = rates).start().await;
    let wire = local.wire().await;
    loop {
        if let Err(refused) = wire.games().list_rulesets(v1::ListRulesetsRequest::default()).await {
            return Refused::of(&refused).only(&["limit"]).meta("limit", "rate_per_tenant").later().clone();
        }
    }
}

/// By the node's own time limit, and by the caller's. A client's timer runs beside the server's and
/// is as right, so either may speak; on a stream the server's comes first.
async fn deadline(bench: &Bench) -> Refused {
    bench.local.store.breaks(Call::Append, Fault::Held);
    let mut game = bench.wire.game().await;
    let first = game.asks("a1");
    let mut request = Request::new(first.clone());
    request.set_timeout(Duration::from_millis(200));
    let late = bench.wire.games().make_move(request).await.unwrap_err();
    match late.code() {
        tonic::Code::Cancelled => assert_eq!(late.message(), "Timeout expired", "by the client's timer"),
        _ => drop(Refused::of(&late).with("DEADLINE").clone()),
    }

    let hasty =
        injected::over(Arc::clone(&bench.local.store) as Arc<dyn Store>).limits(|limits| limits.call_timeout = Duration::from_millis(300));
    let hasty = hasty.start().await;
    let other = bench.wire.game().await.through(&hasty.wire().await);
    let asked = other.asks("a1");
    let refused = other.refuses_move(asked.clone()).await.only(&[]).clone();

    // Neither waited for the store, which hangs until now. They may still commit, so the same requests are sent again.
    bench.local.store.mends();
    assert_eq!(game.sends(first).await.unwrap().seq, 2);
    let mut other = other.through(&bench.wire);
    assert_eq!((other.sends(asked).await.unwrap().seq, other.now().await.seq), (2, 2));
    refused
}

async fn store_unavailable(bench: &Bench) -> Refused {
    let mut game = bench.wire.game().await;
    for call in [Call::Append, Call::Create] {
        bench.local.store.breaks(call, Fault::Away);
    }
    bench.wire.game().refused().await.with("STORE_UNAVAILABLE").later();
    let asked = game.asks("a1");
    let refused = game.refuses_move(asked.clone()).await;
    refused.with("STORE_UNAVAILABLE").only(&[]).later();
    bench.local.store.breaks(Call::Append, Fault::LosesReply);
    game.refuses_move(asked.clone()).await.with("STORE_UNAVAILABLE").later();
    bench.local.store.mends();
    let event = game.sends(asked).await.unwrap();
    assert_eq!((event.seq, game.now().await.seq), (2, 2), "the lost reply's move stands once");
    refused
}

async fn draining(mut bench: Bench) -> Refused {
    let game = bench.wire.game().await;
    let mut watching = bench.wire.follow(&game.id).open().await;
    watching.history().await;
    bench.local.drain().await;
    let (_, refused) = watching.rest().await;
    refused.expect("draining is told").only(&[]).later().clone()
}

async fn corrupt(bench: Bench) -> Refused {
    let mut game = bench.wire.game().await;
    game.play("a1 b2 c3").await;
    let file = bench.local.file();
    let mut behind = SqliteConnection::connect(&format!("sqlite://{}", file.display())).await.unwrap();
    behind.execute("DROP TRIGGER book_entry_is_never_updated").await.unwrap();
    behind.execute("UPDATE book_entry SET line = replace(line, 'b2', 'c2') WHERE seq = 3").await.unwrap();
    behind.close().await.unwrap();
    let cold = injected::over(injected::sqlite(file.parent().unwrap()).await).start().await;
    let game = game.through(&cold.wire().await);
    game.refuses("a3").await.with("BOOK_CORRUPT").meta("first_bad_seq", 3);
    let before = game.wire.try_get(&game.id, Some(2)).await.unwrap();
    assert_eq!(before.seq, 2, "what is before the damage can be read");
    let refused = Refused::by(game.wire.try_get(&game.id, None).await);
    refused.only(&["first_bad_seq"]).meta("first_bad_seq", 3).clone()
}

async fn illegal_now(bench: Bench) -> Refused {
    let careless = bench.local.restarted_with(plybook_tests::careless::registry()).await;
    let mut game = careless.wire().await.game().await;
    game.play("a1 b2 b2").await;
    let careful = careless.restarted().await;
    let refused = game.through(&careful.wire().await).refuses("a3").await;
    refused
        .only(&["first_bad_seq", "rule", "ruleset"])
        .meta("first_bad_seq", 4)
        .meta("ruleset", "mnk@1")
        .meta("rule", "CELL_OCCUPIED")
        .clone()
}

async fn internal(bench: &Bench) -> Refused {
    let mut game = bench.wire.game().await;
    let mut last = None;
    for fault in [Fault::Failed, Fault::Corrupt, Fault::Panic] {
        for call in [Call::Append, Call::Create, Call::List, Call::Last, Call::Entries] {
            bench.local.store.breaks(call, fault);
        }
        let refused = [
            game.refuses("a1").await,
            bench.wire.game().refused().await,
            Refused::by(bench.wire.games().list_games(v1::ListGamesRequest::default()).await),
            Refused::by(bench.wire.try_get(&game.id, None).await),
            Refused::by(bench.wire.try_book(&game.id).await),
            bench.wire.follow(&game.id).refused().await,
        ];
        for refused in refused {
            refused.with("INTERNAL").only(&["trace_id"]);
            assert_eq!(refused.message, "internal error");
            assert_eq!((refused.metadata["trace_id"].len(), &refused.field, refused.retry), (32, &None, None));
            last = Some(refused);
        }
        bench.local.store.mends();
    }
    game.play("a1").await;
    last.unwrap()
}
