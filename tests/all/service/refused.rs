//! Refused requests are remembered: which, with what, in what order, and for how long.

use std::time::Duration;

use plybook_core::limits::NOTATION_BYTES_MAX;
use plybook_core::{Digest, Seed, Time, Uuid};
use plybook_proto::v1::action::Shape;
use plybook_proto::v1::{self, ErrorReason, UndoBy};
use plybook_store::{GameKey, NewGame, Refused as Told, RequestKey, TenantId};
use plybook_tests::injected::{over_postgres, over_sqlite};
use plybook_tests::postgres;
use plybook_tests::refused::Refused;
use plybook_tests::wire::{PlayedGame, Wire, fresh};

/// A refused request as its caller knows it.
struct Heard {
    asked: String,
    seat: Option<u32>,
    request_id: String,
    expected_seq: Option<u64>,
    head_seq: u64,
    refused: Refused,
}

/// What a game said no to, in order.
#[derive(Default)]
struct Ears(Vec<Heard>);

impl Ears {
    async fn a_move(&mut self, game: &PlayedGame, asked: &str, request: v1::MakeMoveRequest) {
        let (request_id, expected_seq, seat) = (request.request_id.clone(), request.expected_seq, request.seat);
        let refused = game.refuses_move(request).await;
        let head_seq = game.now().await.seq;
        self.0.push(Heard { asked: asked.to_owned(), seat, request_id, expected_seq, head_seq, refused });
    }

    async fn an_undo(&mut self, game: &PlayedGame, asked: &str, request: v1::UndoRequest) {
        let (request_id, expected_seq, seat) = (request.request_id.clone(), request.expected_seq, request.seat);
        let refused = game.refuses_undo(request).await;
        let head_seq = game.now().await.seq;
        self.0.push(Heard { asked: asked.to_owned(), seat, request_id, expected_seq, head_seq, refused });
    }

    async fn a_close(&mut self, game: &PlayedGame) {
        let request = game.asks_close();
        let (request_id, expected_seq) = (request.request_id.clone(), request.expected_seq);
        let refused = game.refuses_close(request).await;
        let head_seq = game.now().await.seq;
        self.0.push(Heard { asked: "close".to_owned(), seat: None, request_id, expected_seq, head_seq, refused });
    }

    /// The server remembers this and nothing else.
    async fn are_remembered(&self, wire: &Wire, id: &str) {
        let refusals = wire.remembers(id, self.0.len()).await;
        assert_eq!(refusals.len(), self.0.len());
        for (heard, told) in self.0.iter().rev().zip(&refusals) {
            assert_eq!(told.reason().as_str_name(), format!("ERROR_REASON_{}", heard.refused.reason), "{told:?}");
            assert_eq!((&told.asked, &told.request_id, told.seat), (&heard.asked, &heard.request_id, heard.seat), "{told:?}");
            assert_eq!((Some(told.expected_seq), told.head_seq), (heard.expected_seq, heard.head_seq), "{told:?}");
            assert!(
                heard.refused.message.contains(told.detail.split(": ").last().unwrap()) || told.reason() == ErrorReason::RequestIdReused
            );
            assert_eq!(told.actor, "anonymous");
            for code in ["rule", "cause"].iter().filter_map(|key| heard.refused.metadata.get(*key)) {
                assert!(told.detail.starts_with(&format!("{code}: ")), "{told:?}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_reason_of_a_game_is_remembered() {
    let local = over_sqlite().await.start().await;
    let wire = local.wire().await;
    let mut game = wire.game().undo_after_end().await;
    let mut ears = Ears::default();
    ears.an_undo(&game, "undo", game.asks_undo(0, None)).await;
    let first = game.asks("b2");
    game.sends(first.clone()).await.unwrap();
    ears.a_move(&game, "move b2", game.asks("b2")).await;
    ears.a_move(&game, "move a1", v1::MakeMoveRequest { seat: Some(0), ..game.asks("a1") }).await;
    ears.a_move(&game, "move a1", v1::MakeMoveRequest { expected_seq: Some(1), ..game.asks("a1") }).await;
    ears.a_move(&game, "move a1", v1::MakeMoveRequest { expected_seq: Some(u64::from(u32::MAX)), ..game.asks("a1") }).await;
    ears.a_move(&game, "move castles", game.asks("castles")).await;
    ears.a_move(&game, "move a1", v1::MakeMoveRequest { seat: Some(7), ..game.asks("a1") }).await;
    ears.a_move(&game, "move a1", v1::MakeMoveRequest { action: game.asks("a1").action, ..first.clone() }).await;
    ears.an_undo(&game, "undo 2", game.asks_undo(1, Some(2))).await;
    ears.an_undo(&game, "undo 9", game.asks_undo(0, Some(9))).await;
    ears.a_close(&game).await;
    game.play("a1 b1 a3 b3").await;
    ears.a_move(&game, "move c3", game.asks("c3")).await;
    game.close().await;
    ears.a_close(&game).await;
    ears.an_undo(&game, "undo", game.asks_undo(0, None)).await;
    ears.are_remembered(&wire, &game.id).await;
    let reasons: Vec<&str> = ears.0.iter().map(|heard| heard.refused.reason.as_str()).collect();
    for reason in [
        "NOTHING_TO_UNDO",
        "ILLEGAL_MOVE",
        "NOT_YOUR_TURN",
        "STALE_SEQ",
        "INVALID_ACTION",
        "INVALID_PARAMETER",
        "REQUEST_ID_REUSED",
        "UNDO_NOT_ALLOWED",
        "GAME_NOT_FINISHED",
        "GAME_FINISHED",
    ] {
        assert!(reasons.contains(&reason), "{reason}");
    }

    let mut long = wire.game().mnk(20, 20, 20).undo(UndoBy::Free).await;
    for column in ('a'..='t').take(6) {
        for row in 1..=if column == 'f' { 1 } else { 20 } {
            long.play(&format!("{column}{row}")).await;
        }
    }
    let mut ears = Ears::default();
    ears.an_undo(&long, "undo 2", long.asks_undo(0, Some(2))).await;
    ears.are_remembered(&wire, &long.id).await;
    assert_eq!(ears.0[0].refused.reason, "LIMIT_EXCEEDED");
}

/// A nonce is its seat's to show, and to nobody through a refusal.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn refused_steps_of_joining_are_remembered_without_their_nonce() {
    let local = over_sqlite().await.start().await;
    let wire = local.wire().await;
    let game = wire.game().await;
    let nonce = b"a nonce that nobody may see".to_vec();
    let steps = [
        v1::join_game_request::Step::Commit(v1::NonceCommitment { commitment: vec![9; 32], ..Default::default() }),
        v1::join_game_request::Step::Reveal(nonce.clone()),
    ];
    for step in steps {
        let joins =
            v1::JoinGameRequest { request_id: fresh(), game_id: game.id.clone(), seat: Some(1), step: Some(step), with_receipt: false };
        Refused::by(wire.games().join_game(joins).await).with("JOIN_NOT_ALLOWED");
    }
    let told = wire.remembers(&game.id, 2).await;
    let asked: Vec<_> = told.iter().map(|told| (told.asked.as_str(), told.seat, told.reason())).collect();
    let why = ErrorReason::JoinNotAllowed;
    assert_eq!(asked, [("reveal", Some(1), why), ("commit", Some(1), why)]);
    assert!(!format!("{told:?}").contains("nobody may see") && !format!("{told:?}").contains(&format!("{nonce:?}")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_asked_is_told_briefly_and_as_text() {
    let local = over_sqlite().await.start().await;
    let wire = local.wire().await;
    let mut game = wire.game().await;
    game.play("b2").await;
    let shaped = |shape: Shape| v1::MakeMoveRequest { action: Some(v1::Action { shape: Some(shape) }), ..game.asks("") };
    let long = "é\u{1b}".repeat(40_000);
    for (request, asked) in [
        (shaped(Shape::Place(v1::Place { cell: 4 })), "move b2".to_owned()),
        (shaped(Shape::Place(v1::Place { cell: 99 })), "place 99".to_owned()),
        (shaped(Shape::Place(v1::Place { cell: u32::MAX })), format!("place {}", u32::MAX)),
        (shaped(Shape::Drop(v1::Drop { column: 3 })), "drop 3".to_owned()),
        (shaped(Shape::Pop(v1::Pop { column: u32::MAX })), format!("pop {}", u32::MAX)),
        (shaped(Shape::Roll(v1::Roll {})), "roll".to_owned()),
        (game.asks(&"x".repeat(NOTATION_BYTES_MAX + 1)), format!("move {}", "x".repeat(NOTATION_BYTES_MAX + 1))),
        (game.asks("\0\n\u{1b}[31m"), "move \u{fffd}\u{fffd}\u{fffd}[31m".to_owned()),
        (game.asks(&long), format!("move {}…", "é\u{fffd}".repeat(11))),
    ] {
        let id = request.request_id.clone();
        game.refuses_move(request).await;
        let told = wire.refusals_once(&game.id, "the last one", |told| told.first().is_some_and(|told| told.request_id == id)).await;
        assert_eq!(told[0].asked, asked);
        assert!(told[0].asked.len() <= 64 && told[0].detail.len() <= 256, "{told:?}");
        assert!(!told[0].asked.chars().chain(told[0].detail.chars()).any(char::is_control), "{told:?}");
    }
}

/// What no game refused leaves nothing, even where a game is named.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_not_a_games_to_say_is_not_remembered() {
    let local = over_sqlite().await.start().await;
    let wire = local.wire().await;
    let game = wire.game().await;
    let nowhere = PlayedGame { id: fresh(), ..game.clone() };
    nowhere.refuses("a1").await.with("GAME_NOT_FOUND");
    let malformed = v1::MakeMoveRequest { request_id: "no id".to_owned(), ..game.asks("a1") };
    game.refuses_move(malformed).await.with("INVALID_REQUEST_ID");
    game.refuses_move(v1::MakeMoveRequest { expected_seq: None, ..game.asks("a1") }).await.with("INVALID_PARAMETER");
    game.refuses_move(v1::MakeMoveRequest { action: None, ..game.asks("a1") }).await.with("INVALID_PARAMETER");
    game.refuses_move(v1::MakeMoveRequest { with_receipt: true, ..game.asks("a1") }).await.with("RECEIPTS_UNAVAILABLE");
    use plybook_tests::injected::{Call, Fault};
    for fault in [Fault::Away, Fault::Failed, Fault::Panic] {
        local.store.breaks(Call::Append, fault);
        game.refuses("a1").await;
    }
    local.store.mends();
    let mut ears = Ears::default();
    ears.a_move(&game, "move z9", game.asks("z9")).await;
    ears.are_remembered(&wire, &game.id).await;
    Refused::by(wire.try_refusals(&nowhere.id, 0).await).with("GAME_NOT_FOUND");
    assert!(wire.refusals(&wire.game().await.id).await.is_empty(), "a game that refused nothing");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_tenants_game_is_not_there() {
    let local = over_sqlite().await.start().await;
    let wire = local.wire().await;
    let key = GameKey { tenant: TenantId(2), game: Uuid::now_v7() };
    let file = local.file();
    let connection = format!("sqlite://{}", file.display());
    let mut behind = <sqlx::SqliteConnection as sqlx::Connection>::connect(&connection).await.unwrap();
    sqlx::query("INSERT INTO tenant (id, name) VALUES (2, 'other')").execute(&mut behind).await.unwrap();
    let request = RequestKey { id: Uuid::new_v4(), hash: [0; 32] };
    let game = NewGame {
        key,
        request,
        header: "plybook 1".to_owned(),
        digest: Digest::of(b""),
        seed: Seed::new([0; 32]),
        created: Time::from_unix_ms(1),
        ruleset: "mnk".to_owned(),
        ruleset_version: 1,
        players: vec![],
        given: Vec::new(),
        arms: plybook_store::Arms::NONE,
    };
    local.store.inner().create(game).await.unwrap();
    let told = |key| Told {
        key,
        at: Time::from_unix_ms(1),
        principal: "eve".to_owned(),
        seat: None,
        asked: "close".to_owned(),
        request_id: Uuid::new_v4(),
        expected: plybook_core::Seq(1),
        head: plybook_core::Seq(1),
        reason: "GAME_NOT_FINISHED".to_owned(),
        detail: String::new(),
    };
    let mine = GameKey { tenant: TenantId::DEFAULT, ..key };
    local.store.inner().remember(&[told(key), told(mine)], 10).await.unwrap();
    assert_eq!(local.store.inner().refusals(key, None, 10).await.unwrap().len(), 1, "it has its own");
    let id = key.game.to_string();
    PlayedGame { id: id.clone(), ..wire.game().await }.refuses("a1").await.with("GAME_NOT_FOUND");
    Refused::by(wire.try_refusals(&id, 0).await).with("GAME_NOT_FOUND");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_game_has_so_many_refusals_in_pages_newest_first() {
    let local = over_sqlite().await.limits(|limits| limits.refusals_per_game = 7).start().await;
    let wire = local.wire().await;
    let (game, other) = (wire.game().await, wire.game().await);
    other.refuses("z1").await;
    let began = game.now().await.create_time.unwrap();
    for number in 1..=12 {
        game.refuses(&format!("z{number}")).await.with("INVALID_ACTION");
    }
    let is_last = |told: &[v1::RefusedRequest]| told.first().is_some_and(|told| told.asked == "move z12");
    let all = wire.refusals_once(&game.id, "the newest seven", |told| is_last(told) && told.len() == 7).await;
    let asked: Vec<&str> = all.iter().map(|told| told.asked.as_str()).collect();
    assert_eq!(asked, ["move z12", "move z11", "move z10", "move z9", "move z8", "move z7", "move z6"]);
    let times: Vec<_> = all.iter().map(|told| told.refuse_time.map(|time| (time.seconds, time.nanos)).unwrap()).collect();
    assert!(times.is_sorted_by(|a, b| a >= b) && times.last() >= Some(&(began.seconds, began.nanos)), "{times:?}");
    for page_size in [1, 3, 7, 500, i32::MAX] {
        assert_eq!(wire.try_refusals(&game.id, page_size).await.unwrap(), all);
    }
    assert_eq!(wire.remembers(&other.id, 1).await.len(), 1);

    let page = v1::ListRefusalsRequest { game_id: game.id.clone(), page_size: 1, page_token: String::new() };
    let token = wire.audit().list_refusals(page.clone()).await.unwrap().into_inner().next_page_token;
    for (game_id, page_token) in [(other.id.clone(), token.clone()), (game.id.clone(), format!("{token}00")), (game.id.clone(), "x".into())]
    {
        let foreign = v1::ListRefusalsRequest { game_id, page_token, ..page.clone() };
        Refused::by(wire.audit().list_refusals(foreign).await).with("INVALID_PARAMETER").field("page_token", "not from a page");
    }
    let negative = v1::ListRefusalsRequest { page_size: -1, ..page.clone() };
    Refused::by(wire.audit().list_refusals(negative).await).with("INVALID_PARAMETER").field("page_size", "negative");
    let nonsense = v1::ListRefusalsRequest { game_id: "x".to_owned(), ..page };
    Refused::by(wire.audit().list_refusals(nonsense).await).with("INVALID_PARAMETER").field("game_id", "UUID");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_old_is_forgotten() {
    const HOUR_MS: u64 = 3_600_000;
    let start = Time::from_unix_ms(1_795_989_123_456);
    let after = |ms: u64| Time::from_unix_ms(start.unix_ms() + ms);
    let local = over_sqlite().await.limits(|limits| {
        limits.refusals_keep = Duration::from_secs(3_600);
        limits.refusals_ageing = Duration::from_millis(10);
    });
    let local = local.start().await;
    local.clock.set(start);
    let wire = local.wire().await;
    let game = wire.game().await;
    game.refuses("z1").await;
    wire.remembers(&game.id, 1).await;
    local.clock.set(after(HOUR_MS / 2));
    game.refuses("z2").await;
    let told = wire.remembers(&game.id, 2).await;
    assert_eq!(told[0].refuse_time.unwrap().seconds, (after(HOUR_MS / 2).unix_ms() / 1000).cast_signed());
    local.clock.set(after(HOUR_MS + 1));
    let told = wire.refusals_once(&game.id, "the older one is gone", |told| told.len() < 2).await;
    assert_eq!(told[0].asked, "move z2");
    local.clock.set(after(2 * HOUR_MS));
    wire.refusals_once(&game.id, "both are gone", <[_]>::is_empty).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_nodes_remember_together() {
    let database = postgres::database().await;
    let nodes = [over_postgres(&database).await.start().await, over_postgres(&database).await.start().await];
    let wires = [nodes[0].wire().await, nodes[1].wire().await];
    let mut game = wires[0].game().await;
    game.play("b2").await;
    let there = game.through(&wires[1]);
    let first = game.asks("b2");
    game.refuses_move(first.clone()).await.with("ILLEGAL_MOVE");
    wires[1].remembers(&game.id, 1).await;
    there.refuses_move(v1::MakeMoveRequest { expected_seq: Some(1), ..there.asks("a1") }).await.with("STALE_SEQ");
    for wire in &wires {
        let told = wire.remembers(&game.id, 2).await;
        let told: Vec<_> = told.iter().map(|told| (told.reason(), told.asked.as_str(), told.expected_seq, told.head_seq)).collect();
        assert_eq!(told, [(ErrorReason::StaleSeq, "move a1", 1, 2), (ErrorReason::IllegalMove, "move b2", 2, 2)]);
    }
    // The request that was refused may be accepted once its cell is free, and its refusal stays.
    game.undo(0).await;
    game.sends(v1::MakeMoveRequest { expected_seq: Some(game.head), seat: Some(0), ..first.clone() }).await.unwrap();
    assert!(wires[1].refusals(&game.id).await.iter().any(|told| told.request_id == first.request_id));
}
