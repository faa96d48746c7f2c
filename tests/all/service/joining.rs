//! Joint entropy: what seats do before the first move, what is refused, and what everybody reads meanwhile.

use ed25519_dalek::SigningKey;
use plybook_core::dice::Throw;
use plybook_core::{Dice, Seat, Seed, Time};
use plybook_proto::v1::join_game_request::Step;
use plybook_proto::v1::stream_events_response::Frame;
use plybook_proto::v1::{self, DiceClaim, GameState, IfAbsent, JoinStep};
use plybook_tests::injected::{over_postgres, over_sqlite};
use plybook_tests::postgres;
use plybook_tests::table::nonce;
use plybook_tests::wire::{Opening, PlayedGame, Wire, fresh};

const KEY: [u8; 32] = [9; 32];

fn race(wire: &Wire, seats: usize) -> Opening {
    wire.game().snakes(20, &[3, 11, 17, 5]).seats(seats).joint(3600, IfAbsent::Forfeit)
}

/// The faces are those of the revealed seed and the seats' nonces.
async fn holds(game: &PlayedGame, seats: usize) {
    let events = game.wire.history(&game.id).await;
    let seed = Seed::new(events.last().unwrap().revealed_seed.as_slice().try_into().unwrap());
    let nonces: Vec<Vec<u8>> = (0..seats as u8).map(nonce).collect();
    let dice = Dice::new(seed, &nonces.iter().map(Vec::as_slice).collect::<Vec<_>>());
    let made = events.iter().filter_map(|event| match &event.body {
        Some(v1::event::Body::MoveMade(made)) => Some(made),
        _ => None,
    });
    let made: Vec<_> = made.collect();
    assert!(!made.is_empty());
    for (draw, made) in made.iter().enumerate() {
        let faces = dice.throw(draw as u64, Seat(made.seat as u8), Throw { dice: 1, sides: 6 });
        assert_eq!(made.faces, faces.into_iter().map(u32::from).collect::<Vec<_>>(), "throw {draw}");
    }
    game.wire.proves(&game.id).await;
}

async fn a_whole_game(wire: &Wire, seats: usize) {
    let mut game = race(wire, seats).await;
    assert_eq!(game.to_move, None, "nobody moves before all have joined");
    // One of the seats signs with a key of its own; any order will do.
    let signed = game.signed_promise(1, &SigningKey::from_bytes(&KEY)).await;
    game.joins(game.asks_join(1, Step::Commit(signed))).await;
    for seat in (0..seats as u32).filter(|seat| *seat != 1) {
        game.commit(seat).await;
    }
    for seat in (1..seats as u32).rev() {
        assert_eq!(game.reveal(seat).await.body.and_then(next_seat), None);
    }
    assert_eq!(game.reveal(0).await.body.and_then(next_seat), Some(0), "the last reveal says who moves");
    while game.to_move.is_some() {
        game.play("roll").await;
    }
    holds(&game, seats).await;
    let verified = wire.audit().verify_game(v1::VerifyGameRequest { game_id: game.id.clone() }).await.unwrap().into_inner();
    assert_eq!((verified.dice_claim(), verified.signed_seats, verified.why.as_str()), (DiceClaim::Joint, vec![1], ""));
}

fn next_seat(body: v1::event::Body) -> Option<u32> {
    match body {
        v1::event::Body::NonceRevealed(revealed) => revealed.next_seat,
        other => panic!("not a reveal: {other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_whole_game_of_two_and_of_three_over_sqlite() {
    let local = over_sqlite().await.start().await;
    a_whole_game(&local.wire().await, 2).await;
    a_whole_game(&local.wire().await, 3).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_whole_game_of_two_and_of_three_over_postgres() {
    let database = postgres::database().await;
    let local = over_postgres(&database).await.start().await;
    a_whole_game(&local.wire().await, 2).await;
    a_whole_game(&local.wire().await, 3).await;
}

#[tokio::test]
async fn whoever_chose_the_seed_has_not_chosen_the_dice() {
    let local = over_sqlite().await.start().await;
    let wire = local.wire().await;
    let mut game = race(&wire, 2).seed(&[3; 32]).await;
    game.joined().await;
    while game.to_move.is_some() {
        game.play("roll").await;
    }
    holds(&game, 2).await;
    let verified = wire.audit().verify_game(v1::VerifyGameRequest { game_id: game.id }).await.unwrap().into_inner();
    assert_eq!((verified.dice_claim(), verified.signed_seats), (DiceClaim::JointWithCallersSeed, vec![]));
}

#[tokio::test]
async fn each_cause_is_told_and_nothing_is_appended() {
    let local = over_sqlite().await.start().await;
    let wire = local.wire().await;
    let plain = wire.game().of("snakes_and_ladders").await;
    for request in [plain.asks_commit(0).await, plain.asks_reveal(0)] {
        plain.refuses_join(request).await.with("JOIN_NOT_ALLOWED").only(&["cause", "head_seq"]).meta("cause", "NOT_JOINT");
    }
    let key = SigningKey::from_bytes(&KEY);
    let mut game = race(&wire, 2).await;
    let of_another_seat = v1::NonceCommitment { commitment: game.promise(0).await.commitment, ..game.signed_promise(1, &key).await };
    let weak = v1::NonceCommitment { public_key: vec![0; 32], ..of_another_seat.clone() };
    for (promise, cause) in [(of_another_seat, "BAD_SIGNATURE"), (weak, "BAD_KEY")] {
        let refused = game.refuses_join(game.asks_join(0, Step::Commit(promise))).await;
        refused.with("JOIN_NOT_ALLOWED").meta("cause", cause).meta("head_seq", 1);
    }
    game.refuses_join(game.asks_reveal(0)).await.with("JOIN_NOT_ALLOWED").meta("cause", "TOO_EARLY");
    game.commit(0).await;
    game.refuses_join(game.asks_commit(0).await).await.with("JOIN_NOT_ALLOWED").meta("cause", "ALREADY_DONE");
    game.refuses_join(game.asks_reveal(0)).await.with("JOIN_NOT_ALLOWED").meta("cause", "TOO_EARLY").meta("head_seq", 2);
    game.commit(1).await;
    let other = game.asks_join(0, Step::Reveal(nonce(1)));
    game.refuses_join(other).await.with("JOIN_NOT_ALLOWED").meta("cause", "NONCE_MISMATCH").meta("head_seq", 3);
    game.reveal(1).await;
    game.refuses_join(game.asks_reveal(1)).await.with("JOIN_NOT_ALLOWED").meta("cause", "ALREADY_DONE").meta("head_seq", 4);
    game.reveal(0).await;
    game.play("roll").await;
    game.refuses_join(game.asks_reveal(0)).await.with("JOIN_NOT_ALLOWED").meta("cause", "ALREADY_DONE").meta("head_seq", 6);
    assert_eq!(game.now().await.seq, 6);
}

#[tokio::test]
async fn a_step_has_a_shape() {
    let local = over_sqlite().await.start().await;
    let game = race(&local.wire().await, 2).await;
    let promise = game.promise(0).await;
    let signed = game.signed_promise(0, &SigningKey::from_bytes(&KEY)).await;
    let bad = [
        (v1::NonceCommitment { commitment: vec![0; 31], ..promise.clone() }, "commit.commitment"),
        (v1::NonceCommitment { public_key: vec![], ..signed.clone() }, "commit.public_key"),
        (v1::NonceCommitment { public_key: vec![0; 33], ..signed.clone() }, "commit.public_key"),
        (v1::NonceCommitment { signature: vec![], ..signed }, "commit.signature"),
    ];
    for (promise, field) in bad {
        game.refuses_join(game.asks_join(0, Step::Commit(promise))).await.with("INVALID_PARAMETER").field(field, "");
    }
    for size in [0, 15, 65] {
        let short = game.asks_join(0, Step::Reveal(vec![1; size]));
        game.refuses_join(short).await.with("INVALID_PARAMETER").field("reveal", "16 to 64 bytes");
    }
    let asks = game.asks_commit(0).await;
    let no_step = v1::JoinGameRequest { step: None, ..asks.clone() };
    game.refuses_join(no_step).await.with("INVALID_PARAMETER").field("step", "commit or reveal");
    let no_seat = v1::JoinGameRequest { seat: None, ..asks.clone() };
    game.refuses_join(no_seat).await.with("INVALID_PARAMETER").field("seat", "required");
    let far = v1::JoinGameRequest { seat: Some(2), ..asks.clone() };
    game.refuses_join(far).await.with("INVALID_PARAMETER").field("seat", "no seat 2");
    let nameless = v1::JoinGameRequest { request_id: String::new(), ..asks.clone() };
    game.refuses_join(nameless).await.with("INVALID_REQUEST_ID");
    let nowhere = v1::JoinGameRequest { game_id: fresh(), ..asks };
    game.refuses_join(nowhere).await.with("GAME_NOT_FOUND");
    assert_eq!(game.now().await.seq, 1);
}

#[tokio::test]
async fn a_creation_with_a_bad_field_creates_nothing() {
    let local = over_sqlite().await.start().await;
    let wire = local.wire().await;
    let time = |seconds: i64, nanos: i32| Some(prost_types::Duration { seconds, nanos });
    let abort = i32::from(IfAbsent::Abort);
    let bad = [
        (None, abort, "joint_entropy.step_time"),
        (time(0, 0), abort, "joint_entropy.step_time"),
        (time(-1, 0), abort, "joint_entropy.step_time"),
        (time(i64::MAX, 0), abort, "joint_entropy.step_time"),
        (time(2_592_001, 0), abort, "joint_entropy.step_time"),
        (time(60, 1), abort, "joint_entropy.step_time"),
        (time(60, 0), 0, "joint_entropy.if_absent"),
        (time(60, 0), 99, "joint_entropy.if_absent"),
    ];
    for (step_time, if_absent, field) in bad {
        let mut opening = race(&wire, 2);
        opening.request.joint_entropy = Some(v1::JointEntropy { step_time, if_absent });
        opening.refused().await.with("INVALID_PARAMETER").field(field, "");
    }
    for ruleset in ["mnk", "connect_four", "othello"] {
        let opening = wire.game().of(ruleset).joint(60, IfAbsent::Abort);
        opening.refused().await.with("INVALID_PARAMETER").field("joint_entropy", "throws no dice");
    }
    let mut opening = wire.game();
    opening.request.receipt_policy = 99;
    opening.refused().await.with("INVALID_PARAMETER").field("receipt_policy", "99");
    assert!(wire.games().list_games(v1::ListGamesRequest::default()).await.unwrap().into_inner().games.is_empty());
    let longest = race(&wire, 8).joint(2_592_000, IfAbsent::Abort).sent().await.unwrap();
    assert_eq!(longest.joint_entropy.unwrap().step_time, time(2_592_000, 0));
}

/// What is known while the seats join: by GetGame at every entry, lists, legal moves and streams.
#[tokio::test]
async fn everybody_reads_how_far_the_seats_are() {
    let local = over_sqlite().await.start().await;
    local.clock.set(Time::parse("2026-11-30T12:00:00.000Z").unwrap());
    let wire = local.wire().await;
    let mut game = race(&wire, 2).await;
    let asked = game.now().await.joint_entropy.unwrap();
    assert_eq!((asked.if_absent(), asked.step_time.unwrap().seconds), (IfAbsent::Forfeit, 3600));
    let mut watching = wire.follow(&game.id).after(1).open().await;
    let mut told = vec![Some((JoinStep::Commit, vec![0, 1], 3600))];
    reads_as(&game, None).await;
    for (seat, reveals, waiting) in [
        (1, false, Some((JoinStep::Commit, vec![0], 3600))),
        // The time for the second step counts from the last commitment.
        (0, false, Some((JoinStep::Reveal, vec![0, 1], 3607))),
        (0, true, Some((JoinStep::Reveal, vec![1], 3607))),
        (1, true, None),
    ] {
        if !reveals && seat == 0 {
            local.clock.set(Time::parse("2026-11-30T12:00:07.000Z").unwrap());
        }
        let event = if reveals { game.reveal(seat).await } else { game.commit(seat).await };
        assert_eq!(watching.event().await, event, "the stream tells what the caller was told");
        assert_eq!(event.seq, told.len() as u64 + 1);
        told.push(waiting);
        reads_as(&game, told.last().unwrap().is_none().then_some(0)).await;
    }
    for (seq, waiting) in (1..).zip(&told) {
        let then = wire.try_get(&game.id, Some(seq)).await.unwrap();
        let deadline = |joining: &v1::Joining| joining.deadline.unwrap().seconds - then.create_time.unwrap().seconds;
        let read = then.joining.as_ref().map(|joining| (joining.step(), joining.waiting_seats.clone(), deadline(joining)));
        assert_eq!(&read, waiting, "at entry {seq}");
        assert_eq!(then.seat_to_move, waiting.is_none().then_some(0), "at entry {seq}");
    }
    frames_tell_it(&wire, &game).await;
}

/// Whose turn it is, by every call that tells.
async fn reads_as(game: &PlayedGame, to_move: Option<u32>) {
    let (wire, id) = (&game.wire, &game.id);
    let now = game.now().await;
    assert_eq!((now.state(), now.seat_to_move, now.position.unwrap().seat_to_move), (GameState::Active, to_move, to_move));
    let list = wire.games().list_games(v1::ListGamesRequest::default()).await.unwrap().into_inner().games;
    assert_eq!((list[0].seat_to_move, list[0].joint_entropy), (to_move, now.joint_entropy));
    let legal = v1::ListLegalActionsRequest { game_id: id.clone(), ..Default::default() };
    let legal = wire.games().list_legal_actions(legal).await.unwrap().into_inner();
    assert_eq!((legal.seat_to_move, legal.actions.len()), (to_move, usize::from(to_move.is_some())), "{legal:?}");
    assert_eq!(legal.head_seq, game.head);
    if to_move.is_none() {
        let refused = game.refuses("roll").await;
        refused.with("NOT_JOINED").only(&["deadline", "head_seq", "step", "waiting_seats"]).meta("head_seq", game.head);
        game.refuses_undo(game.asks_undo(0, None)).await.with("NOT_JOINED");
        game.refuses_undo(game.asks_undo(1, Some(1))).await.with("NOT_JOINED");
    }
}

async fn frames_tell_it(wire: &Wire, game: &PlayedGame) {
    use v1::event::Body;
    let (frames, refused) = wire.follow(&game.id).until_head().open().await.rest().await;
    assert_eq!(refused, None);
    let bodies = frames.into_iter().filter_map(|frame| match frame {
        Frame::Event(event) => event.body,
        _ => None,
    });
    let bodies: Vec<Body> = bodies.collect();
    let Body::GameCreated(created) = &bodies[0] else { panic!("{bodies:?}") };
    assert_eq!(created.joint_entropy.unwrap().step_time.unwrap().seconds, 3600);
    let committed = async |seat| Body::NonceCommitted(v1::NonceCommitted { seat, nonce: Some(game.promise(seat).await) });
    let revealed = |seat, next_seat| Body::NonceRevealed(v1::NonceRevealed { seat, nonce: nonce(seat as u8), next_seat });
    let expected = [committed(1).await, committed(0).await, revealed(0, None), revealed(1, Some(0))];
    assert_eq!(bodies[1..], expected);
}

#[tokio::test]
async fn a_repeated_step_is_answered_as_the_first_time() {
    let local = over_sqlite().await.start().await;
    let wire = local.wire().await;
    let mut game = race(&wire, 2).await;
    let commit = game.asks_commit(0).await;
    let first = game.joins(commit.clone()).await;
    game.commit(1).await;
    let reveal = game.asks_reveal(0);
    let second = game.joins(reveal.clone()).await;
    game.reveal(1).await;
    game.play("roll roll").await;
    let local = local.restarted().await;
    let mut game = game.through(&local.wire().await);
    for (request, answer) in [(commit, first), (reveal, second)] {
        assert_eq!(game.clone().joins(request.clone()).await, answer);
        let other_seat = v1::JoinGameRequest { seat: Some(1), ..request.clone() };
        let other_step = v1::JoinGameRequest { step: Some(Step::Reveal(vec![7; 16])), ..request.clone() };
        for reused in [other_seat, other_step] {
            game.refuses_join(reused).await.with("REQUEST_ID_REUSED").meta("original_seq", answer.seq);
        }
        let as_a_move = v1::MakeMoveRequest { request_id: request.request_id, ..game.asks("roll") };
        game.refuses_move(as_a_move).await.with("REQUEST_ID_REUSED").meta("original_seq", answer.seq);
    }
    while game.to_move.is_some() {
        game.play("roll").await;
    }
    game.refuses_join(game.asks_commit(0).await).await.with("GAME_FINISHED").meta("closed", true);
    holds(&game, 2).await;
}
