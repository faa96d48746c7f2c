//! E: replays after rule changes. (What else can be wrong with snapshots: `service/snapshots.rs`.)

use plybook_core::Digest;
use plybook_core::game::SNAPSHOT_FORMAT as FORMAT;
use plybook_proto::v1::{self, BookVerdict, UndoBy};
use plybook_server::games::snapshots::Fate;
use plybook_tests::careless;
use plybook_tests::injected::over_postgres;
use plybook_tests::long_book::LongBook;
use plybook_tests::postgres;
use plybook_tests::refused::Refused;
use plybook_tests::table::SEED;
use plybook_tests::wire::{PlayedGame, Wire};

use super::{Pair, two_nodes, until};

/// A game of three moves, four entries.
async fn played(wire: &Wire) -> String {
    let mut game = wire.game().mnk(3, 3, 3).players(&["old", "new"]).undo(UndoBy::Free).await;
    game.play("a1 b1 a2").await;
    game.id
}

/// Changes the texts of a game behind the server's back, as if another build had written them: every
/// digest is right.
async fn rewrite(pair: &Pair, wire: &Wire, id: &str, from: &str, to: &str) {
    let (mut sql, mut digest): (String, Option<Digest>) = ("ALTER TABLE book_entry DISABLE TRIGGER USER;".to_owned(), None);
    let mut changed = 0;
    for event in wire.history(id).await {
        let text = event.line.replace(from, to);
        changed += usize::from(text != event.line);
        let next = digest.map_or_else(|| Digest::of(text.as_bytes()), |digest| digest.chain(&text));
        let (seq, text) = (event.seq, text.replace('\'', "''"));
        sql += &format!("UPDATE book_entry SET line = '{text}', digest = decode('{next}', 'hex') WHERE game_id = '{id}' AND seq = {seq};");
        digest = Some(next);
    }
    assert_eq!(changed, 1, "{from} stands in one entry");
    pair.database.execute(&(sql + "ALTER TABLE book_entry ENABLE TRIGGER USER;")).await;
}

/// The rows of a game, as the database has them.
async fn rows(pair: &Pair, id: &str) -> Vec<String> {
    pair.database.column(&format!("SELECT e::text FROM book_entry e WHERE game_id = '{id}' ORDER BY seq")).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_40_a_game_under_rules_that_this_build_has_not_is_refused_and_left_alone() {
    let mut pair = two_nodes().await;
    let [a, _] = pair.wires().await;
    let (future, missing) = (played(&a).await, played(&a).await);
    rewrite(&pair, &a, &future, "ruleset mnk@1", "ruleset mnk@7").await;
    rewrite(&pair, &a, &missing, "ruleset mnk@1", "ruleset hex@1").await;
    let healthy = a.game().players(&["old", "new"]).await;
    pair.replace();
    let [a, b] = pair.wires().await;
    for (id, reason, known) in
        [(&future, "RULESET_VERSION_UNSUPPORTED", "1"), (&missing, "UNKNOWN_RULESET", "connect_four,gomoku,mnk,othello,snakes_and_ladders")]
    {
        let before = rows(&pair, id).await;
        assert_eq!(before.len(), 4);
        for wire in [&a, &b] {
            let game = PlayedGame { wire: wire.clone(), id: id.clone(), head: 4, to_move: Some(1) };
            let legal = v1::ListLegalActionsRequest { game_id: id.clone(), ..Default::default() };
            for refused in [
                Refused::by(wire.try_get(id, None).await),
                Refused::by(wire.try_get(id, Some(2)).await),
                Refused::by(wire.games().list_legal_actions(legal).await),
                game.refuses("c1").await,
                game.refuses_undo(game.asks_undo(0, None)).await,
                game.refuses_close(game.asks_close()).await,
                wire.follow(id).refused().await,
            ] {
                refused.with(reason).meta("known", known);
            }
            // What is kept is still handed out, and does not stand in the way of other games.
            assert!(wire.book(id).await.contains("move b1"), "the book itself can be read");
        }
        assert_eq!(rows(&pair, id).await, before, "nothing is rewritten");
    }
    let request = v1::ListGamesRequest { player_id: "old".to_owned(), ..Default::default() };
    let listed = a.games().list_games(request).await.unwrap().into_inner().games;
    assert_eq!(listed.len(), 3, "lists still work");
    healthy.through(&a).play("b2").await;
}

/// A game that a build with a bug made: entry 4 is a move onto the second one's cell.
async fn careless_game(pair: &Pair) -> String {
    let careless = over_postgres(&pair.database).await.registry(careless::registry()).start().await;
    let mut game = careless.wire().await.game().mnk(3, 3, 3).players(&["old", "new"]).undo(UndoBy::Free).await;
    game.play("a1 b1 b1 c2").await;
    game.id
}

async fn verified(wire: &Wire, id: &str) -> v1::VerifyGameResponse {
    wire.audit().verify_game(v1::VerifyGameRequest { game_id: id.to_owned() }).await.unwrap().into_inner()
}

/// Everything that needs the position after the wrong entry is refused for this reason; what is before it is read.
async fn readable_up_to_entry_3(wire: &Wire, id: &str, reason: &str) {
    let game = PlayedGame { wire: wire.clone(), id: id.to_owned(), head: 5, to_move: Some(0) };
    for refused in [
        Refused::by(wire.try_get(id, None).await),
        Refused::by(wire.try_get(id, Some(4)).await),
        game.refuses("c3").await,
        game.refuses_undo(game.asks_undo(1, None)).await,
    ] {
        refused.with(reason).meta("first_bad_seq", 4);
    }
    for seq in 1..=3 {
        let told = wire.try_get(id, Some(seq)).await.unwrap();
        assert_eq!((told.seq, told.position.unwrap().ply), (seq, seq as u32 - 1), "readable up to there");
    }
    assert!(wire.book(id).await.contains("move b1 ply=3"), "evidence is handed out");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_41_an_entry_accepted_under_a_bug_has_two_verdicts_and_the_game_is_readable_up_to_it() {
    let pair = two_nodes().await;
    let (id, twin) = (careless_game(&pair).await, careless_game(&pair).await);
    // Of the twin somebody changed that entry afterwards.
    let sql = format!("UPDATE book_entry SET line = replace(line, '0:anonymous', '0:mallory') WHERE game_id = '{twin}' AND seq = 4");
    pair.database
        .execute(&format!("ALTER TABLE book_entry DISABLE TRIGGER USER; {sql}; ALTER TABLE book_entry ENABLE TRIGGER USER;"))
        .await;
    let before = [rows(&pair, &id).await, rows(&pair, &twin).await];
    for wire in pair.wires().await {
        readable_up_to_entry_3(&wire, &id, "ENTRY_ILLEGAL_NOW").await;
        let found = verified(&wire, &id).await;
        assert_eq!((found.verdict(), found.first_wrong_seq, found.entries), (BookVerdict::IllegalNow, Some(4), 3));
        assert!(found.rule == "CELL_OCCUPIED" && found.why.contains("the move is illegal"), "now: {}", found.why);
        let then = found.accepted.expect("then");
        assert_eq!((then.entries, then.ruleset.as_str()), (5, "mnk@1"));
        assert_eq!(wire.history(&id).await.len(), 5, "what was written is told as it was written");

        readable_up_to_entry_3(&wire, &twin, "BOOK_CORRUPT").await;
        let found = verified(&wire, &twin).await;
        assert_eq!((found.verdict(), found.first_wrong_seq, found.accepted), (BookVerdict::Broken, Some(4), None));
    }
    assert_eq!([rows(&pair, &id).await, rows(&pair, &twin).await], before, "nothing is rewritten, nothing deleted");
    let [a, _] = pair.wires().await;
    a.game().players(&["old", "new"]).await.play("b2").await;
}

/// Snapshots that older and newer builds, a broken disk or a lost future have left: two nodes over Postgres.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_43_snapshots_that_no_longer_load_are_rebuilt_from_the_book() {
    let database = postgres::database().await;
    let maker = over_postgres(&database).await.start().await;
    let wire = maker.wire().await;
    let game = wire.game().mnk(100, 100, 100).seed(&SEED).await;
    let mut book = LongBook::of(&wire.book(&game.id).await, SEED);
    book.write_until(&database, 3_000).await;
    let ours = format!("SELECT seq || ' ' || md5(bytes) FROM snapshot WHERE format = {FORMAT} ORDER BY seq");
    let kept = async || database.column(&ours).await;
    let now = wire.get(&game.id).await;
    until("the snapshots are kept", || async { kept().await.len() == 2 }).await;
    let good = kept().await;
    let newer = format!("DELETE FROM snapshot WHERE format < {FORMAT}; UPDATE snapshot SET format = format + 1");
    for (spoilt, fate) in [
        ("UPDATE snapshot SET bytes = set_byte(bytes, 300, get_byte(bytes, 300) # 1)", Fate::Corrupt),
        ("UPDATE snapshot SET bytes = substr(bytes, 1, 40)", Fate::Corrupt),
        ("UPDATE snapshot SET format = format - 1", Fate::OtherFormat),
        (&newer, Fate::OtherFormat),
        ("UPDATE snapshot SET digest = sha256('a lost future')", Fate::OtherDigest),
        ("DELETE FROM snapshot", Fate::Missing),
    ] {
        database.execute(spoilt).await;
        let node = over_postgres(&database).await.start().await;
        let there = node.wire().await;
        assert_eq!(there.get(&game.id).await, now, "{spoilt}");
        assert!(node.snapshots(fate) >= 1, "{spoilt}: counted");
        until("the snapshots are rebuilt", || async { kept().await == good }).await;
        let next = over_postgres(&database).await.start().await;
        for at in [Some(2_047), Some(2_999), None] {
            let told = next.wire().await.try_get(&game.id, at).await.unwrap();
            assert_eq!(told.book_digest, book.digest_at(told.seq as usize), "{spoilt}");
        }
        assert_eq!(next.snapshots(Fate::Restored), 3, "{spoilt}");
    }
}
