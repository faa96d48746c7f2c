//! An entry that a build with a bug accepted and this build's rules refuse: two verdicts, and a game that can be
//! read up to there.

use plybook_core::Seq;
use plybook_core::verify::{Kind, Signed, verify, verify_signed};
use plybook_proto::v1::stream_events_response::Frame;
use plybook_proto::v1::{self, BookVerdict, GameState};
use plybook_rulesets::Registry;
use plybook_server::signing::{Keys, SigningKey};
use plybook_tests::careless;
use plybook_tests::injected::{Local, over, over_postgres, over_sqlite};
use plybook_tests::postgres;
use plybook_tests::refused::Refused;
use plybook_tests::wire::{PlayedGame, Wire, fresh, seqs};

/// Entry 4 takes a cell where the other seat stands; the game goes on to its end and is closed by the move that wins.
const MOVES: &str = "a1 b1 b1 c2 c1";
const BAD: u64 = 4;

fn key() -> SigningKey {
    SigningKey::from_seed(&[7; 32]).unwrap()
}

async fn verified(wire: &Wire, id: &str) -> v1::VerifyGameResponse {
    wire.audit().verify_game(v1::VerifyGameRequest { game_id: id.to_owned() }).await.unwrap().into_inner()
}

/// What the careless build said at each entry, and the events of its stream.
struct Before {
    game: PlayedGame,
    at: Vec<v1::Game>,
    events: Vec<v1::Event>,
}

async fn played(careless: &Local) -> Before {
    let wire = careless.wire().await;
    let mut game = wire.game().players(&["old", "new"]).await;
    game.play(MOVES).await;
    assert_eq!((game.to_move, game.now().await.state()), (None, GameState::Closed));
    let mut at = Vec::new();
    for seq in 1..=game.head {
        at.push(wire.try_get(&game.id, Some(seq)).await.unwrap());
    }
    assert_eq!(verified(&wire, &game.id).await.verdict(), BookVerdict::Verified, "to the build with the bug nothing is wrong");
    let events = wire.history(&game.id).await;
    Before { game, at, events }
}

#[track_caller]
fn refuses(refused: &Refused) {
    let known = ["first_bad_seq", "rule", "ruleset"];
    refused.with("ENTRY_ILLEGAL_NOW").only(&known).meta("first_bad_seq", BAD).meta("rule", "CELL_OCCUPIED").meta("ruleset", "mnk@1");
    assert!(refused.message.contains("a piece stands on b1 already"), "{refused:?}");
}

/// The build without the bug: reads, refusals, list, stream and book.
async fn goes_as_far_as_it_can(careful: &Local, before: &Before) {
    let wire = careful.wire().await;
    let game = before.game.through(&wire);
    let id = game.id.as_str();
    // Twice: what the first look made the node remember changes nothing.
    for _ in 0..2 {
        for (seq, told) in (1..).zip(&before.at) {
            match wire.try_get(id, Some(seq)).await {
                Ok(game) => assert!(seq < BAD && game == *told, "entry {seq}: {game:?}"),
                Err(status) => {
                    assert!(seq >= BAD, "entry {seq}: {status}");
                    refuses(&Refused::of(&status));
                }
            }
        }
        let legal = v1::ListLegalActionsRequest { game_id: id.to_owned(), ..Default::default() };
        for refused in [
            Refused::by(wire.try_get(id, None).await),
            Refused::by(wire.games().list_legal_actions(legal).await),
            game.refuses("c3").await,
            game.refuses_undo(game.asks_undo(0, None)).await,
            game.refuses_close(game.asks_close()).await,
            wire.follow(id).with_snapshot().refused().await,
            wire.follow(id).after(BAD).with_snapshot().refused().await,
        ] {
            refuses(&refused);
        }
    }
    let fork = |at_seq| v1::ForkGameRequest { request_id: fresh(), game_id: id.to_owned(), at_seq, ..Default::default() };
    refuses(&Refused::by(wire.games().fork_game(fork(Some(BAD))).await));
    let forked = wire.games().fork_game(fork(Some(BAD - 1))).await.unwrap().into_inner().game.unwrap();
    wire.open(&forked.game_id).await.play("b2").await;
    let request = v1::ListGamesRequest { player_id: "old".to_owned(), ..Default::default() };
    let listed = wire.games().list_games(request).await.unwrap().into_inner().games;
    let (last, there) = (before.at.last().unwrap(), listed.iter().find(|listed| listed.game_id == id).unwrap());
    assert_eq!((listed.len(), there.seq, there.state(), &there.outcome), (2, last.seq, GameState::Closed, &last.outcome));
    assert_eq!(wire.history(id).await, before.events, "the stream tells what was written");
    let (frames, refused) = wire.follow(id).after(BAD - 1).until_head().open().await.rest().await;
    assert_eq!((seqs(&frames), refused), ((BAD..=game.head).collect(), None));
    let (frames, _) = wire.follow(id).after(BAD - 1).with_snapshot().until_head().open().await.rest().await;
    assert!(matches!(&frames[0], Frame::Snapshot(position) if position.seq == BAD - 1), "{frames:?}");
}

/// Both verdicts: by VerifyGame, and of the exported file, whose signature says who accepted the entry.
async fn both_verdicts_are_told(careful: &Local, before: &Before) {
    let wire = careful.wire().await;
    let id = before.game.id.as_str();
    let found = verified(&wire, id).await;
    assert_eq!((found.verdict(), found.first_wrong_seq, found.entries), (BookVerdict::IllegalNow, Some(BAD), BAD - 1));
    assert_eq!((found.rule.as_str(), &found.book_digest), ("CELL_OCCUPIED", &before.at[BAD as usize - 2].book_digest));
    let (last, then) = (before.at.last().unwrap(), found.accepted.clone().unwrap());
    assert_eq!((then.entries, &then.book_digest, then.ruleset.as_str()), (last.seq, &last.book_digest, "mnk@1"));

    let file = wire.book(id).await;
    let keys = [*key().public()].into_iter().collect();
    for (keys, signed) in [(keys, Signed::By(key().public().id())), (Default::default(), Signed::UnknownKey(key().public().id()))] {
        let wrong = verify_signed(&file, &Registry::standard(), &keys).unwrap_err();
        assert_eq!((wrong.kind(), wrong.seq, &wrong.why), (Kind::IllegalNow, Some(Seq(BAD as u32)), &found.why));
        let accepted = wrong.accepted.unwrap();
        assert_eq!(
            (u64::from(accepted.entries), accepted.digest.0.to_vec(), accepted.signed),
            (last.seq, last.book_digest.clone(), signed)
        );
    }
    assert_eq!(verify(&file, &careless::registry()).unwrap().entries, last.seq as u32);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_bug_accepted_is_told_by_both_verdicts_over_sqlite() {
    let careless = over_sqlite().await.registry(careless::registry()).start().await;
    let before = played(&careless).await;
    let careful = over(careless.store.inner()).keys(Keys::new(Some(key()), [])).start().await;
    goes_as_far_as_it_can(&careful, &before).await;
    both_verdicts_are_told(&careful, &before).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_bug_accepted_is_told_by_both_verdicts_over_postgres() {
    let database = postgres::database().await;
    let careless = over_postgres(&database).await.registry(careless::registry()).start().await;
    let before = played(&careless).await;
    let careful = over_postgres(&database).await.keys(Keys::new(Some(key()), [])).start().await;
    goes_as_far_as_it_can(&careful, &before).await;
    both_verdicts_are_told(&careful, &before).await;
}

/// The same illegal move, and something wrong with the rows: no verdict of then, at whichever entry it is.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tampered_twin_was_never_accepted() {
    let database = postgres::database().await;
    let careless = over_postgres(&database).await.registry(careless::registry()).start().await;
    let careful = over_postgres(&database).await.start().await;
    let wire = careful.wire().await;
    for (change, first_wrong, why, reason) in [
        ("UPDATE book_entry SET line = replace(line, '1:anon', '1:Anon') WHERE GAME AND seq = 3", 3, "its digest is", "BOOK_CORRUPT"),
        ("UPDATE book_entry SET line = replace(line, '0:anon', '0:Anon') WHERE GAME AND seq = 4", 4, "its digest is", "BOOK_CORRUPT"),
        (
            "UPDATE book_entry SET line = replace(line, '1:anon', '1:Anon') WHERE GAME AND seq = 5",
            4,
            "entry 5: its digest is",
            "ENTRY_ILLEGAL_NOW",
        ),
        ("UPDATE book_entry SET line = 'nonsense' WHERE GAME AND seq = 6", 4, "entry 6: the line", "ENTRY_ILLEGAL_NOW"),
        ("UPDATE game_seed SET seed = sha256('x') WHERE GAME", 1, "the stored seed is not", "ENTRY_ILLEGAL_NOW"),
        ("DELETE FROM book_entry WHERE GAME AND seq = 5", 4, "entry 5: it is missing", "BOOK_CORRUPT"),
    ] {
        let mut game = careless.wire().await.game().await;
        game.play(MOVES).await;
        let change = change.replace("GAME", &format!("game_id = '{}'", game.id));
        let tables = ["book_entry", "game_seed"];
        let switch = |how: &str| tables.map(|table| format!("ALTER TABLE {table} {how} TRIGGER USER;")).concat();
        database.execute(&format!("{}{change};{}", switch("DISABLE"), switch("ENABLE"))).await;
        let found = verified(&wire, &game.id).await;
        assert_eq!(
            (found.verdict(), found.first_wrong_seq, found.entries),
            (BookVerdict::Broken, Some(first_wrong), first_wrong - 1),
            "{change}"
        );
        assert!(found.accepted.is_none() && found.why.contains(why), "{change}: {}", found.why);
        Refused::by(wire.try_get(&game.id, None).await).with(reason);
    }
}

/// The warm node that made the entry and one that refuses it share a database: neither takes the other's word.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_warm_node_meets_an_entry_that_its_rules_refuse() {
    let careless = over_sqlite().await.registry(careless::registry()).start().await;
    let careful = over(careless.store.inner()).start().await;
    let mut game = careless.wire().await.game().await;
    game.play("a1 b1").await;
    let mut here = game.through(&careful.wire().await);
    assert_eq!(here.now().await.seq, 3, "it remembers the game");
    here.refuses("b1").await.with("ILLEGAL_MOVE").meta("rule", "CELL_OCCUPIED");
    game.play("b1").await;
    refuses(&here.refuses("c2").await);
    refuses(&Refused::by(here.wire.try_get(&game.id, None).await));
    assert_eq!(here.wire.try_get(&game.id, Some(3)).await.unwrap().seq, 3);
    game.play("c2").await;
    assert_eq!(here.wire.history(&game.id).await.len(), 5);
    refuses(&here.refuses("c3").await);
    here = careless.wire().await.open(&game.id).await;
    here.play("c3").await;
}
