//! The goldens through the service: the same bytes over either store, at every entry; what the service does by itself too.

use std::sync::Arc;

use plybook_bots::again::hand;
use plybook_core::entry::{Act, Body, Claim, Entry, Step};
use plybook_core::header::{SeedFrom, UndoBy};
use plybook_core::verify::{DiceClaim, verify};
use plybook_core::{Digest, Game, Header, ParamValue, SeatSet, Seq, Time};
use plybook_proto::v1::{self, AbsenceClaim, OfferAnswer, param_value::Value};
use plybook_server::replies;
use plybook_server::signing::{Keys, SigningKey};
use plybook_store::Outage;
use plybook_tests::golden::{self, Golden, asked_at};
use plybook_tests::injected::{Local, Setup, over_postgres, over_sqlite};
use plybook_tests::patience::until;
use plybook_tests::postgres;
use plybook_tests::refused::Refused;
use plybook_tests::strategies::Pace;
use plybook_tests::wire::{PlayedGame, Wire, fresh, notated};

/// Goldens that come from another game: they are not created and played like the others.
const FROM_OTHERS: [&str; 4] =
    ["mnk-rematch", "snakes_and_ladders-fork", "snakes_and_ladders-fork-joint", "snakes_and_ladders-fork-joint-absent"];

fn played() -> impl Iterator<Item = Golden> {
    golden::all().into_iter().filter(|golden| !FROM_OTHERS.contains(&golden.name.as_str()))
}

#[test]
fn all_that_begin_by_themselves_are_played() {
    let from_another = |header: &Header| header.origin.is_some() || header.rematch_of.is_some();
    let others: Vec<String> =
        golden::all().into_iter().filter(|golden| from_another(golden.book.header())).map(|golden| golden.name).collect();
    assert_eq!(others, FROM_OTHERS);
}

/// A node that does nothing by itself but move for bots, and that when it is told to.
struct Stage {
    local: Local,
    pace: Arc<Pace>,
}

/// With a key, for the games whose policy asks for receipts.
async fn start(setup: Setup) -> Stage {
    let key = SigningKey::from_seed(&[1; 32]).unwrap();
    let pace = Arc::new(Pace::default());
    let local = setup.registry(golden::registry()).bots(pace.bots()).keys(Keys::new(Some(key), [])).start().await;
    pace.sets(&local.clock);
    Stage { local, pace }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn goldens_come_out_the_same_over_sqlite() {
    let stage = start(over_sqlite().await).await;
    run_all(&stage).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn goldens_come_out_the_same_over_postgres() {
    let database = postgres::database().await;
    let stage = start(over_postgres(&database).await).await;
    run_all(&stage).await;
    let cold = start(over_postgres(&database).await).await;
    for golden in played() {
        every_entry_reads_as_the_fold(&cold.local.wire().await, &golden).await;
    }
}

async fn run_all(stage: &Stage) {
    let goldens = golden::all();
    let registry = golden::registry();
    for card in registry.cards() {
        assert!(goldens.iter().any(|golden| golden.book.header().ruleset == card.id()), "{} has a golden", card.id());
    }
    for golden in played() {
        run(stage, &golden).await;
        every_entry_reads_as_the_fold(&stage.local.wire().await, &golden).await;
    }
}

/// Plays a golden with its own time, ids and seed.
async fn run(Stage { local, pace }: &Stage, golden: &Golden) {
    let (wire, header, name) = (local.wire().await, golden.book.header(), &golden.name);
    local.clock.set(header.created);
    local.ids.next_game(header.game);
    if header.seed_from == SeedFrom::Service {
        local.ids.next_seed(golden.seed.clone());
    }
    let created = wire.games().create_game(creation(header, golden)).await.unwrap().into_inner().game.unwrap();
    let mut digests = vec![(created.seq, created.position.unwrap().position_digest)];
    pace.answers_at([]);
    let mut game = Game::new(header.clone(), golden::registry().rules_of(header).unwrap());
    let entries = golden.entries();
    for (index, entry) in entries.iter().enumerate() {
        let position = if hand(entry).is_some() {
            moves_by_itself(&wire, golden, &entries[index..], pace).await
        } else if golden::is_settled(entry) {
            local.store.tells_outages(outages(&game, entry));
            local.clock.set(Time::from_unix_ms(entry.time.unix_ms() + 1));
            settles(&wire, golden, entry).await
        } else {
            pace.answers_at([]);
            local.clock.set(asked_at(entry));
            send(&wire, &header.game.to_string(), entry).await
        };
        digests.push((position.seq, position.position_digest));
        game.apply(entry).unwrap();
    }
    let want: Vec<(u64, Vec<u8>)> = golden.positions.iter().map(|(seq, digest)| (u64::from(seq.0), digest.0.to_vec())).collect();
    assert_eq!(digests, want, "positions of {name}");
    claims_what_the_book_does(&wire, golden).await;
    let file = wire.book(&header.game.to_string()).await;
    let signature = file.strip_prefix(&golden.book.print()).unwrap_or_else(|| panic!("the file of {name}"));
    assert!(signature.starts_with("signed ") && signature.lines().count() == 1, "{name}: {signature}");
}

/// The position at an entry that nobody asked for, once it is there.
async fn position_at(wire: &Wire, golden: &Golden, entry: &Entry) -> v1::Position {
    let (id, seq) = (golden.book.header().game.to_string(), u64::from(entry.seq.0));
    until(&format!("{} comes to entry {seq}", golden.name), || async { wire.get(&id).await.seq >= seq }).await;
    wire.try_get(&id, Some(seq)).await.unwrap().position.unwrap()
}

/// The bots move at the times of their entries, as many of them as are in a row.
async fn moves_by_itself(wire: &Wire, golden: &Golden, entries: &[Entry], pace: &Pace) -> v1::Position {
    let by_bots = entries.iter().take_while(|entry| hand(entry).is_some());
    pace.answers_at(by_bots.map(|entry| (position_of(golden, Seq(entry.seq.0 - 1)), entry.time)));
    position_at(wire, golden, &entries[0]).await
}

/// A millisecond after the deadline somebody asks for something, and whatever that is, it is refused.
async fn settles(wire: &Wire, golden: &Golden, entry: &Entry) -> v1::Position {
    let (game_id, expected_seq) = (golden.book.header().game.to_string(), Some(u64::from(entry.seq.0) - 1));
    let request = v1::CloseGameRequest { request_id: fresh(), game_id, expected_seq, with_receipt: false };
    Refused::by(wire.games().close_game(request).await);
    position_at(wire, golden, entry).await
}

/// What the node has to know, so that this entry credits what it does.
fn outages(game: &Game, entry: &Entry) -> Vec<Outage> {
    golden::outages(game, entry).into_iter().map(|(from, to)| Outage { from, to }).collect()
}

/// VerifyGame says what a check of the file says.
async fn claims_what_the_book_does(wire: &Wire, golden: &Golden) {
    let report = verify(&golden.book.print(), &golden::registry()).unwrap();
    let request = v1::VerifyGameRequest { game_id: report.header.game.to_string() };
    let answer = wire.audit().verify_game(request).await.unwrap().into_inner();
    assert_eq!((answer.first_wrong_seq, answer.book_digest.as_slice()), (None, report.digest.0.as_slice()), "{}", golden.name);
    let (claim, signed) = match report.dice {
        DiceClaim::NoThrows => (v1::DiceClaim::NoThrows, SeatSet::EMPTY),
        DiceClaim::NotRevealed => (v1::DiceClaim::NotRevealed, SeatSet::EMPTY),
        DiceClaim::FixedByService => (v1::DiceClaim::FixedByService, SeatSet::EMPTY),
        DiceClaim::FixedByCaller => (v1::DiceClaim::FixedByCaller, SeatSet::EMPTY),
        DiceClaim::FixedJointly { seed_from: SeedFrom::Service, signed } => (v1::DiceClaim::Joint, signed),
        DiceClaim::FixedJointly { seed_from: SeedFrom::Caller, signed } => (v1::DiceClaim::JointWithCallersSeed, signed),
    };
    assert_eq!((answer.dice_claim(), answer.signed_seats), (claim, replies::seats(signed)), "{}", golden.name);
}

/// The request that leads to an entry; answers the position after it.
async fn send(wire: &Wire, game_id: &str, entry: &Entry) -> v1::Position {
    let (game_id, expected_seq) = (game_id.to_owned(), Some(u64::from(entry.seq.0) - 1));
    let (request_id, seat, with_position) = (fresh(), entry.actor.seat.map(replies::seat), true);
    match &entry.body {
        Body::Move(made) => {
            let action = Some(notated(&made.notation));
            let request = v1::MakeMoveRequest { request_id, game_id, expected_seq, seat, action, with_position, with_receipt: false };
            *wire.games().make_move(request).await.unwrap().into_inner().position.unwrap()
        }
        Body::Undo(undo) if undo.agreed => {
            act(wire, &game_id, entry, Act::Undo(Step::Accept, undo.target)).await;
            wire.get(&game_id).await.position.unwrap()
        }
        Body::Undo(undo) => {
            let target_seq = Some(u64::from(undo.target.0));
            let request = v1::UndoRequest { request_id, game_id, expected_seq, seat, target_seq, with_position, with_receipt: false };
            *wire.games().undo(request).await.unwrap().into_inner().position.unwrap()
        }
        Body::Commit(_) | Body::Reveal(_) => {
            join(wire, &game_id, entry).await;
            wire.get(&game_id).await.position.unwrap()
        }
        Body::Incident(incident) => {
            act(wire, &game_id, entry, incident.act).await;
            wire.get(&game_id).await.position.unwrap()
        }
        Body::Given(_) => panic!("a given move is asked for by nobody"),
        Body::Close | Body::Absent(_) => {
            let request = v1::CloseGameRequest { request_id, game_id: game_id.clone(), expected_seq, with_receipt: false };
            wire.games().close_game(request).await.unwrap();
            wire.get(&game_id).await.position.unwrap()
        }
    }
}

/// Asks for what is no move; what happens by itself is asked for by nobody.
async fn act(wire: &Wire, game_id: &str, entry: &Entry, act: Act) {
    let head = u64::from(entry.seq.0) - 1;
    let player = PlayedGame { wire: wire.clone(), id: game_id.to_owned(), head, to_move: None };
    let seat = entry.actor.seat.map(replies::seat);
    let whose = seat.unwrap_or(0);
    let answer = |step: Step| match step {
        Step::Accept => OfferAnswer::Accept,
        Step::Decline => OfferAnswer::Decline,
        Step::Offer | Step::Withdraw => OfferAnswer::Withdraw,
    };
    let live = match act {
        Act::Resign => player.resigning(whose),
        Act::Abort => player.aborting(seat),
        Act::Remove(seat) => player.removing(replies::seat(seat)),
        Act::Away | Act::Back => player.reporting(whose, act == Act::Back),
        Act::Claim(Claim::Win) => player.claiming(whose, AbsenceClaim::Win),
        Act::Claim(Claim::Draw) => player.claiming(whose, AbsenceClaim::Draw),
        Act::Draw(Step::Offer) => player.offering_draw(whose),
        Act::Draw(step) => player.answering_draw(whose, answer(step)),
        Act::Undo(Step::Offer, target) => player.offering_undo(whose, target.0.into()),
        Act::Undo(step, target) => player.answering_undo(whose, target.0.into(), answer(step)),
        Act::Timeout(_) | Act::Forfeit(_) | Act::Credit(_) => panic!("{act} is asked for by nobody"),
    };
    player.clone().acts(live).await;
}

async fn join(wire: &Wire, game_id: &str, entry: &Entry) {
    use v1::join_game_request::Step;
    let step = match &entry.body {
        Body::Commit(commit) => Step::Commit(replies::joining::commitment(commit)),
        Body::Reveal(reveal) => Step::Reveal(reveal.nonce.clone()),
        _ => panic!("not a step of joining"),
    };
    let (request_id, game_id, seat) = (fresh(), game_id.to_owned(), entry.actor.seat.map(replies::seat));
    wire.games().join_game(v1::JoinGameRequest { request_id, game_id, seat, step: Some(step), with_receipt: false }).await.unwrap();
}

fn creation(header: &Header, golden: &Golden) -> v1::CreateGameRequest {
    let by = match header.undo.by {
        UndoBy::None => v1::UndoBy::None,
        UndoBy::OwnLastMove => v1::UndoBy::OwnLastMove,
        UndoBy::Agreement => v1::UndoBy::Agreement,
        UndoBy::Free => v1::UndoBy::Free,
    };
    let params = header.params.values().iter().map(|(name, given)| (name.clone(), v1::ParamValue { value: Some(value(given)) }));
    v1::CreateGameRequest {
        request_id: fresh(),
        ruleset: Some(v1::RulesetSpec { id: header.ruleset.name.clone(), version: header.ruleset.version, params: params.collect() }),
        seats: replies::game::seats(header),
        terms: replies::terms::terms(header),
        undo_policy: Some(v1::UndoPolicy { by: by.into(), over_throw: header.undo.over_throw, after_end: header.undo.after_end }),
        joint_entropy: replies::joining::joint(header),
        receipt_policy: replies::joining::receipts(header.receipts).into(),
        seed: if header.seed_from == SeedFrom::Caller { golden.seed.reveal().to_vec() } else { Vec::new() },
        ..Default::default()
    }
}

fn value(value: &ParamValue) -> Value {
    match value {
        ParamValue::Int(n) => Value::IntValue(*n),
        ParamValue::Bool(flag) => Value::BoolValue(*flag),
        ParamValue::Text(word) => Value::StringValue(word.clone()),
        ParamValue::IntList(list) => Value::IntList(v1::IntList { values: list.clone() }),
    }
}

/// GetGame at every entry is what a pure fold of the file comes to.
async fn every_entry_reads_as_the_fold(wire: &Wire, golden: &Golden) {
    let header = golden.book.header();
    let rules = golden::registry().rules_of(header).unwrap();
    let mut game = Game::new(header.clone(), rules);
    let id = header.game.to_string();
    let last = golden.book.links().len();
    for (index, link) in golden.book.links().iter().enumerate() {
        if index > 0 {
            game.apply_line(&link.text, link.digest).unwrap();
        }
        let seed = (index + 1 == last).then_some(&golden.seed);
        let read = wire.try_get(&id, Some(index as u64 + 1)).await.unwrap();
        assert_eq!(read, replies::game::whole(&game, seed), "entry {} of {}", index + 1, golden.name);
        assert_eq!(read.position.unwrap().position_digest, position_of(golden, game.head().seq).0.to_vec());
    }
    let head = wire.get(&id).await;
    assert_eq!(head, replies::game::whole(&game, Some(&golden.seed)));
    assert_eq!(head.revealed_seed, golden.seed.reveal());
}

fn position_of(golden: &Golden, seq: Seq) -> Digest {
    golden.positions.iter().find(|(at, _)| *at == seq).unwrap().1
}
