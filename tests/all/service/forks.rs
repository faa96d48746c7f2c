//! ForkGame: a new game from an entry of another, on both databases.

use plybook_core::verify::verify;
use plybook_core::{Book, Origin, Seed};
use plybook_proto::v1::{self, OriginClaim, UndoBy};
use plybook_rulesets::Registry;
use plybook_server::limits::FORKS_AT_ONCE;
use plybook_server::signing::{Keys, SigningKey};
use plybook_tests::injected::{Call, Fault, Local, over, over_postgres, over_sqlite};
use plybook_tests::long;
use plybook_tests::patience::until;
use plybook_tests::postgres;
use plybook_tests::refused::Refused;
use plybook_tests::wire::{PlayedGame, Wire, fresh};
use tonic::Status;

fn asks(game: &str, at: u64) -> v1::ForkGameRequest {
    v1::ForkGameRequest { request_id: fresh(), game_id: game.to_owned(), at_seq: Some(at), ..Default::default() }
}

async fn sent(wire: &Wire, request: v1::ForkGameRequest) -> Result<v1::Game, Status> {
    wire.games().fork_game(request).await.map(|answer| *answer.into_inner().game.unwrap())
}

async fn fork(wire: &Wire, game: &str, at: u64) -> PlayedGame {
    let forked = sent(wire, asks(game, at)).await.unwrap();
    PlayedGame { wire: wire.clone(), id: forked.game_id, head: forked.seq, to_move: forked.seat_to_move }
}

async fn verified(wire: &Wire, game: &str) -> v1::VerifyGameResponse {
    wire.audit().verify_game(v1::VerifyGameRequest { game_id: game.to_owned() }).await.unwrap().into_inner()
}

/// The whole life of a fork, through two nodes of one database.
async fn lives(first: &Local, second: &Local) {
    let (wire, other) = (first.wire().await, second.wire().await);
    let mut game = wire.game().mnk(3, 3, 3).players(&["ann", "bob"]).undo(UndoBy::Free).await;
    game.play("b2 a1 c3").await;
    game.takes_back(0, 4).await;
    game.play("a2").await;

    let asked = asks(&game.id, 6);
    let forked = sent(&wire, asked.clone()).await.unwrap();
    let origin = forked.origin.clone().unwrap();
    assert_eq!((origin.game_id.as_str(), origin.seq, origin.given_moves), (game.id.as_str(), 6, 3));
    assert_eq!(origin.book_digest, game.now().await.book_digest);
    assert_eq!((forked.seq, forked.seat_to_move, forked.state()), (4, Some(1), v1::GameState::Active));
    assert_eq!(forked.seats, game.now().await.seats);
    assert_eq!(forked.undo_policy, game.now().await.undo_policy);
    assert_ne!(forked.seed_commitment, game.now().await.seed_commitment, "it has a seed of its own");
    let position = |game: &v1::Game| game.position.clone().unwrap().position_digest;
    assert_eq!(position(&forked), position(&game.now().await));

    // The same request, the same answer, through whichever node; also once the game went on.
    let mut fork = PlayedGame { wire: other.clone(), id: forked.game_id.clone(), head: forked.seq, to_move: forked.seat_to_move };
    assert_eq!(sent(&other, asked.clone()).await.unwrap(), forked);
    fork.play("c1").await;
    assert_eq!(sent(&wire, asked.clone()).await.unwrap(), forked);
    for reused in [v1::ForkGameRequest { at_seq: Some(5), ..asked.clone() }, v1::ForkGameRequest { receipt_policy: 1, ..asked.clone() }] {
        Refused::by(sent(&wire, reused).await).with("REQUEST_ID_REUSED").meta("original_game_id", &forked.game_id);
    }
    let created = v1::CreateGameRequest { request_id: asked.request_id.clone(), ..wire.game().request };
    Refused::by(wire.games().create_game(created).await).with("REQUEST_ID_REUSED").meta("original_game_id", &forked.game_id);

    // What was given stays; what was played since may be taken back.
    for given in [2, 3, 4] {
        fork.refuses_undo(fork.asks_undo(0, Some(given))).await.with("UNDO_NOT_ALLOWED").meta("cause", "GIVEN");
    }
    fork.takes_back(1, 5).await;
    let events = other.history(&fork.id).await;
    let made = events.iter().filter_map(|event| match event.body.as_ref().unwrap() {
        v1::event::Body::MoveMade(made) => Some(made.given),
        _ => None,
    });
    let given: Vec<bool> = made.collect();
    assert_eq!(given, [true, true, true, false]);

    // Both books hold, alone and together; the other game knows nothing of it.
    let books = [other.book(&fork.id).await, wire.book(&game.id).await];
    books.iter().for_each(|book| drop(verify(book, &Registry::standard()).unwrap()));
    let [forked, of] = books.map(|book| Book::parse(&book).unwrap());
    Origin::check_against(&forked, &of).unwrap();
    let found = verified(&other, &fork.id).await;
    assert_eq!((found.origin_claim(), found.origin_why.as_str(), found.first_wrong_seq), (OriginClaim::Holds, "", None));
    assert_eq!(verified(&other, &game.id).await.origin_claim(), OriginClaim::Unspecified);
    assert_eq!(game.now().await.seq, game.head);

    // A fork of the fork, after an entry of its own; and lists show each.
    fork.play("c1").await;
    let again = self::fork(&wire, &fork.id, fork.head).await;
    assert_eq!(again.now().await.origin.unwrap().game_id, fork.id);
    assert_eq!(verified(&wire, &again.id).await.origin_claim(), OriginClaim::Holds);
    let list = wire.games().list_games(v1::ListGamesRequest { player_id: "ann".to_owned(), ..Default::default() }).await.unwrap();
    let ids: Vec<String> = list.into_inner().games.into_iter().map(|game| game.game_id).collect();
    assert_eq!(ids, [again.id, fork.id, game.id]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fork_lives_over_sqlite() {
    let first = over_sqlite().await.start().await;
    let second = over(first.store.inner()).start().await;
    lives(&first, &second).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fork_lives_over_postgres() {
    let database = postgres::database().await;
    let (first, second) = (over_postgres(&database).await.start().await, over_postgres(&database).await.start().await);
    lives(&first, &second).await;
}

/// Fifty copies at once through two nodes: one game.
async fn races(first: &Local, second: &Local) {
    let wires = [first.wire().await, second.wire().await];
    let mut game = wires[0].game().mnk(9, 9, 5).await;
    game.play("a1 b2 c3 d4 e5 f6").await;
    let asked = asks(&game.id, 7);
    let sending = |copy: usize| {
        let (wire, asked) = (wires[copy % 2].clone(), asked.clone());
        tokio::spawn(async move { sent(&wire, asked).await.unwrap() })
    };
    let copies: Vec<_> = (0..50).map(sending).collect();
    let mut answers = Vec::new();
    for copy in copies {
        answers.push(copy.await.unwrap());
    }
    assert!(answers.iter().all(|answer| *answer == answers[0]), "one answer for all");
    let list = wires[1].games().list_games(v1::ListGamesRequest::default()).await.unwrap().into_inner();
    assert_eq!(list.games.len(), 2);
    wires[1].proves(&answers[0].game_id).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn copies_of_one_fork_make_one_game_over_sqlite() {
    let first = over_sqlite().await.start().await;
    let second = over(first.store.inner()).start().await;
    races(&first, &second).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn copies_of_one_fork_make_one_game_over_postgres() {
    let database = postgres::database().await;
    let (first, second) = (over_postgres(&database).await.start().await, over_postgres(&database).await.start().await);
    races(&first, &second).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_an_entry_where_somebody_is_to_move_is_forked() {
    let local = over_sqlite().await.start().await;
    let wire = local.wire().await;
    let mut game = wire.game().undo_after_end().await;
    game.play("a1 a2 b1 b2 c1").await;
    let refused = |request: v1::ForkGameRequest| async { Refused::by(sent(&wire, request).await) };
    refused(asks(&game.id, 6)).await.with("GAME_FINISHED").meta("closed", false).meta("head_seq", 6);
    game.close().await;
    refused(asks(&game.id, 7)).await.with("GAME_FINISHED").meta("closed", true);
    assert_eq!(fork(&wire, &game.id, 5).await.to_move, Some(0), "also of a closed game");

    refused(asks(&game.id, 8)).await.with("CURSOR_BEYOND_HEAD").meta("head_seq", 7);
    refused(asks(&game.id, u64::MAX)).await.with("CURSOR_BEYOND_HEAD");
    refused(asks(&game.id, 0)).await.with("INVALID_PARAMETER").field("at_seq", "numbered from 1");
    refused(v1::ForkGameRequest { at_seq: None, ..asks(&game.id, 1) }).await.with("INVALID_PARAMETER").field("at_seq", "is required");
    refused(v1::ForkGameRequest { request_id: "x".to_owned(), ..asks(&game.id, 1) }).await.with("INVALID_REQUEST_ID");
    refused(asks("x", 1)).await.with("INVALID_PARAMETER").field("game_id", "UUID");
    refused(asks(&fresh(), 1)).await.with("GAME_NOT_FOUND");
    let joint = v1::JointEntropy { step_time: Some(prost_types::Duration { seconds: 60, nanos: 0 }), if_absent: 1 };
    refused(v1::ForkGameRequest { joint_entropy: Some(joint), ..asks(&game.id, 2) })
        .await
        .with("INVALID_PARAMETER")
        .field("joint_entropy", "throws no dice");
    refused(v1::ForkGameRequest { with_receipt: true, ..asks(&game.id, 2) }).await.with("RECEIPTS_UNAVAILABLE");

    // Of a game that waits for its seats nothing is forked before they have joined.
    let waiting = v1::CreateGameRequest { joint_entropy: Some(joint), ..wire.game().snakes(30, &[]).request };
    let waiting = wire.games().create_game(waiting).await.unwrap().into_inner().game.unwrap();
    refused(asks(&waiting.game_id, 1)).await.with("NOT_JOINED");
    assert_eq!(wire.games().list_games(v1::ListGamesRequest::default()).await.unwrap().into_inner().games.len(), 3);
}

/// Given faces stay, later ones come from the new seed; and a fork may ask its seats for nonces.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fork_has_the_faces_given_and_dice_of_its_own() {
    let local = over_sqlite().await.start().await;
    let wire = local.wire().await;
    let mut game = wire.game().snakes(100, &[]).seed(&[9; 32]).await;
    game.play("roll roll roll roll").await;
    local.ids.next_seed(Seed::new([0x33; 32]));
    let mut fork = fork(&wire, &game.id, 4).await;
    while fork.to_move.is_some() {
        fork.play("roll").await;
    }
    let faces = |book: &str| -> Vec<String> {
        book.lines().filter_map(|line| line.split(" throw=").nth(1)?.split(' ').next().map(str::to_owned)).collect()
    };
    let (was, is) = (wire.book(&game.id).await, wire.book(&fork.id).await);
    assert_eq!(faces(&was)[..3], faces(&is)[..3]);
    let report = verify(&is, &Registry::standard()).unwrap();
    assert_eq!(report.dice, plybook_core::verify::DiceClaim::FixedByService, "the service chose the fork's seed");
    assert_eq!(report.throws, u64::from(report.entries) - 4, "and it is held against the fork's own throws");
    let found = verified(&wire, &fork.id).await;
    assert_eq!((found.origin_claim(), found.dice_claim()), (OriginClaim::Holds, v1::DiceClaim::FixedByService));

    let joint = v1::JointEntropy { step_time: Some(prost_types::Duration { seconds: 60, nanos: 0 }), if_absent: 1 };
    let asking = sent(&wire, v1::ForkGameRequest { joint_entropy: Some(joint), ..asks(&game.id, 3) }).await.unwrap();
    assert_eq!((asking.seq, asking.seat_to_move, asking.joining.unwrap().waiting_seats), (3, None, vec![0, 1]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fork_is_receipted_where_that_is_asked_or_its_policy() {
    let key = SigningKey::from_seed(&[1; 32]).unwrap();
    let local = over_sqlite().await.keys(Keys::new(Some(key), [])).start().await;
    let wire = local.wire().await;
    let mut game = wire.game().await;
    game.play("a1 b2").await;
    let answer = wire.games().fork_game(v1::ForkGameRequest { with_receipt: true, ..asks(&game.id, 3) }).await.unwrap().into_inner();
    let (forked, receipt) = (answer.game.unwrap(), answer.receipt.unwrap());
    assert_eq!((&receipt.game_id, receipt.seq, &receipt.book_digest), (&forked.game_id, 3, &forked.book_digest));
    let policy = v1::ForkGameRequest { receipt_policy: v1::ReceiptPolicy::Always.into(), ..asks(&game.id, 3) };
    assert!(wire.games().fork_game(policy).await.unwrap().into_inner().receipt.is_some());
    assert!(wire.games().fork_game(asks(&game.id, 3)).await.unwrap().into_inner().receipt.is_none());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_without_the_rules_forks_nothing() {
    let newer = over_sqlite().await.start().await;
    let mut game = newer.wire().await.game().connect_four(4, 4, 3).version(2).await;
    game.play("1 2").await;
    let older = Registry::default().with(std::sync::Arc::new(plybook_rulesets::connect_four::ConnectFour::V1));
    let older = over(newer.store.inner()).registry(older).start().await;
    Refused::by(sent(&older.wire().await, asks(&game.id, 2)).await).with("RULESET_VERSION_UNSUPPORTED").meta("known", 1);
}

/// The other game is not in this database; or it is, and is another.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_origin_that_is_not_here_or_is_another_is_told() {
    let local = over_sqlite().await.start().await;
    let wire = local.wire().await;
    let mut game = wire.game().await;
    let before = local.backup().await;
    game.play("a1 b2 c3").await;
    let fork = fork(&wire, &game.id, 4).await;
    let book = wire.book(&fork.id).await;

    let other_server = over_sqlite().await.start().await;
    let elsewhere = other_server.wire().await;
    let pieces = futures::stream::iter([v1::ImportBookRequest { chunk: book.clone().into_bytes(), last: true }]);
    let imported = elsewhere.audit().import_book(pieces).await.unwrap().into_inner().verification.unwrap();
    assert_eq!(imported.origin_claim(), OriginClaim::NotHere);
    let found = verified(&elsewhere, &fork.id).await;
    assert_eq!((found.origin_claim(), found.first_wrong_seq), (OriginClaim::NotHere, None));

    // A fork of evidence is a game of one's own.
    let of_evidence = self::fork(&elsewhere, &fork.id, 3).await;
    assert_eq!(verified(&elsewhere, &of_evidence.id).await.origin_claim(), OriginClaim::Holds);
    assert!(of_evidence.now().await.foreign.is_none());

    // From a backup the other game went another way, too short a way at first.
    let backup = over(before).start().await;
    let restored = backup.wire().await;
    let pieces = futures::stream::iter([v1::ImportBookRequest { chunk: book.into_bytes(), last: true }]);
    restored.audit().import_book(pieces).await.unwrap();
    let found = verified(&restored, &fork.id).await;
    assert_eq!(found.origin_claim(), OriginClaim::Differs);
    assert!(found.origin_why.contains("ends with entry 1, before entry 4"), "{}", found.origin_why);
    restored.open(&game.id).await.play("a1 b2 c2").await;
    let found = verified(&restored, &fork.id).await;
    assert_eq!(found.origin_claim(), OriginClaim::Differs);
    assert!(found.origin_why.contains("has digest"), "{}", found.origin_why);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_game_of_five_thousand_moves_is_forked() {
    let local = over_sqlite().await.start().await;
    let id = long::book(&local.file(), 5_001).await;
    let wire = local.wire().await;
    let mut fork = fork(&wire, &id, 5_001).await;
    assert_eq!(fork.head, 5_001);
    fork.play("a1").await;
    assert_eq!(verified(&wire, &fork.id).await.origin_claim(), OriginClaim::Holds);
    let ply = wire.try_get(&fork.id, Some(4_321)).await.unwrap().position.unwrap().ply;
    assert_eq!(ply, 4_320);
}

/// Nothing of a fork is there before all of it is, and a reply that was lost is found again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fork_that_fails_leaves_nothing_and_a_lost_reply_is_found_again() {
    let local = over_sqlite().await.start().await;
    let wire = local.wire().await;
    let mut game = wire.game().await;
    game.play("a1 b2").await;
    let asked = asks(&game.id, 3);
    local.store.breaks(Call::Create, Fault::Away);
    Refused::by(sent(&wire, asked.clone()).await).with("STORE_UNAVAILABLE");
    let games = || async { wire.games().list_games(v1::ListGamesRequest::default()).await.unwrap().into_inner().games.len() };
    assert_eq!(games().await, 1);
    local.store.breaks(Call::Create, Fault::LosesReply);
    Refused::by(sent(&wire, asked.clone()).await).with("STORE_UNAVAILABLE");
    assert_eq!(games().await, 2);
    local.store.mends();
    let forked = sent(&wire, asked).await.unwrap();
    assert_eq!((games().await, forked.seq), (2, 3));
}

/// However many ask: a long fork is in memory with all its moves.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn so_many_forks_are_at_work_at_once_and_the_others_wait() {
    let local = over_sqlite().await.start().await;
    let wire = local.wire().await;
    let mut game = wire.game().await;
    game.play("a1 b2").await;
    let (created, found) = (local.store.count(Call::Create), local.store.count(Call::Find));
    local.store.breaks(Call::Create, Fault::Held);
    let all = 3 * FORKS_AT_ONCE;
    let asked: Vec<_> = (0..all).map(|_| asks(&game.id, 3)).collect();
    let mut waiting = asked.into_iter().map(|asked| {
        tokio::spawn({
            let wire = wire.clone();
            async move { sent(&wire, asked).await }
        })
    });
    // One whose caller goes away keeps its turn.
    let left = waiting.next().unwrap();
    until("it is at work", || async { local.store.count(Call::Create) == created + 1 }).await;
    left.abort();
    let waiting: Vec<_> = waiting.collect();
    let turns = FORKS_AT_ONCE as u64;
    until("all have come", || async { local.store.count(Call::Find) == found + all as u64 }).await;
    until("as many as may are at work", || async { local.store.count(Call::Create) == created + turns }).await;
    for _ in 0..20 {
        wire.get(&game.id).await;
    }
    assert_eq!(local.store.count(Call::Create), created + turns);
    local.store.mends();
    for fork in waiting {
        fork.await.unwrap().unwrap();
    }
    until("the abandoned one is there too", || async {
        wire.games().list_games(v1::ListGamesRequest::default()).await.unwrap().into_inner().games.len() == all + 1
    })
    .await;
}
