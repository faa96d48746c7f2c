//! D: dice and determinism.

use plybook_core::dice::Throw;
use plybook_core::{Dice, Seat, Seed, Time, Uuid};
use plybook_proto::v1::action::Shape;
use plybook_proto::v1::{self, UndoBy};
use plybook_tests::deal::Deal;
use plybook_tests::injected::over_sqlite;
use plybook_tests::refused::Refused;
use plybook_tests::wire::{Opening, PlayedGame, Wire, fresh};
use sha2::{Digest as _, Sha256};

use super::{JUMPS, file_node, made, random_moves, two_nodes};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_29_taking_a_throw_back_never_fishes_for_another() {
    let pair = two_nodes().await;
    let [a, b] = pair.wires().await;
    let mut game = a.game().snakes(100, &JUMPS).undo(UndoBy::Free).undo_over_throw().await;
    let first = made(&game.play("roll").await).faces.clone();
    let second = made(&game.play("roll").await).faces.clone();
    for turn in 0..10u64 {
        // The last throw alone, or both at once, through one node or the other.
        game = game.through(if turn % 2 == 0 { &a } else { &b });
        let standing = game.head - 1;
        game.takes_back(turn as u32 % 2, standing).await;
        assert_eq!(made(&game.play("roll").await).faces, first);
        assert_eq!(made(&game.play("roll").await).faces, second);
        game.takes_back(1, game.head).await;
        assert_eq!(made(&game.play("roll").await).faces, second);
        // The pair of throws that stands is the last one: leave it in that order.
        game.takes_back(0, game.head - 3).await;
        assert_eq!(made(&game.play("roll").await).faces, first);
        assert_eq!(made(&game.play("roll").await).faces, second);
    }
    a.proves(&game.id).await;
    // Where nothing else was agreed, a throw that was shown stays.
    let mut strict = a.game().snakes(100, &JUMPS).undo(UndoBy::Free).await;
    strict.play("roll roll").await;
    for seat in 0..2 {
        let refused = strict.refuses_undo(strict.asks_undo(seat, None)).await;
        refused.with("UNDO_NOT_ALLOWED").meta("cause", "CHANCE_REVEALED").meta("head_seq", 3);
    }
}

/// What every RPC answers about a game, with what may differ between two games of other seeds
/// blanked: the commitment, and the digests and texts that carry it.
#[derive(Debug, PartialEq)]
struct ToldBefore {
    games: Vec<v1::Game>,
    events: Vec<v1::Event>,
    legal: v1::ListLegalActionsResponse,
    book: String,
    refused: Vec<Refused>,
}

impl ToldBefore {
    async fn of(game: &PlayedGame) -> ToldBefore {
        let legal = v1::ListLegalActionsRequest { game_id: game.id.clone(), ..Default::default() };
        let legal = game.wire.games().list_legal_actions(legal).await.unwrap().into_inner();
        let mut games = game.wire.games().list_games(v1::ListGamesRequest::default()).await.unwrap().into_inner().games;
        games.push(game.now().await);
        games.push(game.wire.try_get(&game.id, Some(1)).await.unwrap());
        let refused = vec![
            game.refuses_seat(1, "roll").await,
            game.refuses("b2").await,
            game.refuses_undo(game.asks_undo(0, None)).await,
            game.refuses_close(game.asks_close()).await,
            game.refuses_move(v1::MakeMoveRequest { expected_seq: Some(7), ..game.asks("roll") }).await,
            game.wire.follow(&game.id).after(9).refused().await,
        ];
        let (events, book) = (game.wire.history(&game.id).await, game.wire.book(&game.id).await);
        ToldBefore { games, events, legal, book, refused }.blanked()
    }

    fn blanked(mut self) -> ToldBefore {
        let blank =
            |text: &str| text.split_whitespace().map(|word| if word.len() == 64 { "…" } else { word }).collect::<Vec<_>>().join(" ");
        for game in &mut self.games {
            game.seed_commitment.clear();
            game.book_digest.clear();
        }
        for event in &mut self.events {
            event.book_digest.clear();
            event.line = blank(&event.line);
            if let Some(v1::event::Body::GameCreated(created)) = &mut event.body {
                created.seed_commitment.clear();
            }
        }
        self.book = blank(&self.book);
        self
    }
}

/// Two games that differ in their seeds alone, on servers whose time and ids are the same, differ in
/// their commitments alone: nothing that is told before a throw comes from the dice.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_31_nothing_that_is_told_before_a_throw_depends_on_the_dice() {
    let mut all = Vec::new();
    let request_id = fresh();
    for seed in [[1; 32], [2; 32]] {
        let local = over_sqlite().await.start().await;
        local.clock.set(Time::from_unix_ms(1_767_225_600_000));
        local.ids.next_game(Uuid::from_u128(0x0190_0000_0000_7000_8000_0000_0000_0031));
        local.ids.next_seed(Seed::new(seed));
        let mut opening = local.wire().await.game().snakes(100, &[]).undo(UndoBy::Free).undo_over_throw();
        opening.request.request_id.clone_from(&request_id);
        let mut game = opening.await;
        let commitment = game.now().await.seed_commitment;
        let before = ToldBefore::of(&game).await;
        // And the throw itself does come from them: else the comparison would prove nothing.
        let mut faces = Vec::new();
        for _ in 0..20 {
            faces.extend(made(&game.play("roll").await).faces.clone());
        }
        all.push((commitment, before, faces));
    }
    let [(one, told_one, faces_one), (other, told_other, faces_other)] = <[_; 2]>::try_from(all).unwrap();
    assert_ne!(one, other);
    assert_ne!(faces_one, faces_other);
    assert_eq!(told_one, told_other);
}

/// What somebody might take a throw to be made of, from what is public before it.
fn guesses(public: &[(&'static str, Vec<u8>)], draw: u64, seat: u8) -> Vec<(String, u8)> {
    let mut message = b"plybook-dice/1".to_vec();
    message.extend(draw.to_be_bytes());
    let mut guesses = Vec::new();
    for (name, field) in public {
        let mut guess = |how: &str, bytes: &[u8]| {
            let first = bytes[..8].iter().fold(0u64, |n, byte| n << 8 | u64::from(*byte));
            guesses.push((format!("{how} of {name}"), (first % 6 + 1) as u8));
            guesses.push((format!("last byte of {how} of {name}"), bytes[31] % 6 + 1));
        };
        guess("hash", &Sha256::digest(field));
        guess("hash with the message", &Sha256::digest([field.as_slice(), &message].concat()));
        guess("hash after the message", &Sha256::digest([message.as_slice(), field].concat()));
        guess("hash as of a seed", &Sha256::digest([b"plybook-seed/1".as_slice(), field].concat()));
        let mut key = [0; 32];
        key.iter_mut().zip(field).for_each(|(key, byte)| *key = *byte);
        let dice = Dice::without_nonces(Seed::new(key), 2);
        guesses.push((format!("dice keyed with {name}"), dice.throw(draw, Seat(seat), Throw { dice: 1, sides: 6 })[0]));
    }
    guesses
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_32_a_thousand_rolls_are_predicted_from_nothing_public() {
    let local = over_sqlite().await.start().await;
    let wire = local.wire().await;
    let mut hits: std::collections::BTreeMap<String, u32> = std::collections::BTreeMap::new();
    let (mut rolls, mut by_seed) = (0u32, 0u32);
    for game in 0..20u8 {
        let seed = Seed::new(Sha256::digest([b'x', game]).into());
        local.ids.next_seed(seed.clone());
        let mut game = wire.game().snakes(1000, &[]).await;
        let created = game.now().await;
        let dice = Dice::without_nonces(seed, 2);
        let (mut last, mut digest) = (Vec::new(), created.book_digest.clone());
        for draw in 0..50u64 {
            let (seat, asks) = (game.to_move.unwrap() as u8, game.asks("roll"));
            let public = [
                ("the commitment", created.seed_commitment.clone()),
                ("the game's id", Uuid::parse_str(&game.id).unwrap().as_bytes().to_vec()),
                ("the request id", Uuid::parse_str(&asks.request_id).unwrap().as_bytes().to_vec()),
                ("the book digest", digest.clone()),
                ("the creation's digest", created.book_digest.clone()),
                ("the last line", last.clone()),
            ];
            let guessed = guesses(&public, draw, seat);
            let event = game.sends(asks).await.unwrap();
            let face = made(&event).faces[0];
            rolls += 1;
            by_seed += u32::from(u32::from(dice.throw(draw, Seat(seat), Throw { dice: 1, sides: 6 })[0]) == face);
            for (how, guess) in guessed {
                *hits.entry(how).or_default() += u32::from(u32::from(guess) == face);
            }
            (last, digest) = (event.line.into_bytes(), event.book_digest);
        }
    }
    assert_eq!((rolls, by_seed), (1000, 1000), "whoever knows the seed predicts every roll");
    assert!(hits.len() > 50);
    // One in six, and six standard deviations of 11.8 around it.
    for (how, count) in hits {
        assert!((96..=238).contains(&count), "{how} predicts {count} of 1000 rolls");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_34_after_a_refused_move_the_throw_stands() {
    let pair = two_nodes().await;
    let [a, b] = pair.wires().await;
    let mut game = a.game().snakes(100, &JUMPS).await;
    for turn in 0..8 {
        let wire = if turn % 2 == 0 { &a } else { &b };
        game = game.through(wire);
        let seat = game.to_move.unwrap();
        let thrown = game.play("roll").await;
        let book = b.book(&game.id).await;
        let stale = PlayedGame { head: game.head - 1, ..game.clone() };
        let submits = [
            (seat, Shape::Roll(v1::Roll {}), "NOT_YOUR_TURN"),
            (1 - seat, Shape::Place(v1::Place { cell: 3 }), "INVALID_ACTION"),
            (1 - seat, Shape::Notation("roll 6".to_owned()), "INVALID_ACTION"),
            (1 - seat, Shape::Notation("6".to_owned()), "INVALID_ACTION"),
        ];
        for (seat, shape, reason) in submits {
            let asks = v1::MakeMoveRequest { seat: Some(seat), action: Some(v1::Action { shape: Some(shape) }), ..game.asks("roll") };
            for wire in [&a, &b] {
                Refused::by(wire.sends(asks.clone()).await).with(reason);
            }
        }
        stale.refuses("roll").await.with("STALE_SEQ");
        assert_eq!(a.book(&game.id).await, book, "the throw stands");
        assert_eq!(b.history(&game.id).await.pop().unwrap(), thrown);
    }
    a.proves(&game.id).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_35_two_nodes_build_the_same_game_cold() {
    let mut pair = two_nodes().await;
    let [a, _] = pair.wires().await;
    type Opens = fn(&Wire) -> Opening;
    let games: [(Opens, Vec<String>); 5] = [
        (|wire| wire.game().mnk(4, 5, 4).seats(3), random_moves(&Deal::of("mnk").with("rows", 4).with("cols", 5).with("k", 4), 35)),
        (|wire| wire.game().of("gomoku"), random_moves(&Deal::of("gomoku"), 35)),
        (|wire| wire.game().connect_four(6, 7, 4), random_moves(&Deal::of("connect_four"), 35)),
        (|wire| wire.game().of("othello"), random_moves(&Deal::of("othello"), 35)),
        (|wire| wire.game().snakes(100, &JUMPS), vec!["roll".to_owned(); 60]),
    ];
    let mut played = Vec::new();
    for (opening, moves) in games {
        let mut game = opening(&a).undo(UndoBy::Free).undo_over_throw().await;
        for (turn, notation) in moves.iter().take(40).enumerate() {
            if game.to_move.is_none() {
                break;
            }
            game.play(notation).await;
            if turn % 7 == 6 && game.to_move.is_some() {
                game.takes_back(0, game.head).await;
                game.play(notation).await;
            }
        }
        played.push((game.now().await, a.book(&game.id).await));
    }
    pair.replace();
    let [a, b] = pair.wires().await;
    for (live, book) in played {
        for wire in [&a, &b] {
            assert_eq!(wire.get(&live.game_id).await, live, "{}", live.ruleset.as_ref().unwrap().id);
            assert_eq!(wire.book(&live.game_id).await, book);
        }
        // Byte for byte: nothing in a position is a map.
        let bytes =
            [a.get(&live.game_id).await, b.get(&live.game_id).await].map(|game| prost::Message::encode_to_vec(&game.position.unwrap()));
        assert_eq!(bytes[0], bytes[1]);
        a.proves(&live.game_id).await;
    }
}

/// A sole seat is no exception: nor is a node that was killed between two throws.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_35_a_killed_node_goes_on_with_the_same_dice() {
    let (folder, node) = file_node();
    let seed = [35; 32];
    let dice = Dice::without_nonces(Seed::new(seed), 1);
    let mut game = node.wire().await.game().snakes(100, &JUMPS).seats(1).seed(&seed).await;
    let mut node = Some(node);
    for draw in 0..6 {
        let face = made(&game.play("roll").await).faces[0];
        assert_eq!(face, u32::from(dice.throw(draw, Seat(0), Throw { dice: 1, sides: 6 })[0]));
        node.take().unwrap().kill();
        let next = plybook_tests::node::over(folder.path().join("books.db").to_str().unwrap()).start();
        game = game.through(&next.wire().await);
        node = Some(next);
    }
}
