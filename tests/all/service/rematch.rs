//! Rematch: one new game of one that is over.

use std::collections::BTreeSet;

use plybook_proto::v1::{self, UndoBy, event::Body};
use plybook_server::limits::REMATCH_IDS;
use plybook_tests::both::on_both;
use plybook_tests::injected::{Local, over, over_sqlite};
use plybook_tests::live::{bot, fischer};
use plybook_tests::refused::Refused;
use plybook_tests::table::table;
use plybook_tests::wire::{Wire, fresh};
use uuid::Uuid;

fn at_the_table(game: &v1::Game) -> Vec<(&str, &str, bool)> {
    game.seats.iter().map(|seat| (seat.mark.as_str(), seat.player_id.as_str(), seat.bot.is_some())).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn players_change_seats_and_the_rest_stays() {
    on_both(swapping).await;
}

async fn swapping(local: &Local) {
    let wire = local.wire().await;
    let opening = wire.game().mnk(4, 5, 3).players(&["ann", "ben"]).undo(UndoBy::Free).undo_after_end().clock(fischer(60_000, 500));
    let mut old = opening.terms(|terms| terms.undo_limit = Some(7)).await;
    let before = old.now().await;
    Refused::by(wire.rematch(&old.id).await).with("GAME_NOT_OVER").meta("head_seq", 1);
    old.acts(old.resigning(0)).await;
    let new = wire.rematch(&old.id).await.unwrap();
    assert_eq!(at_the_table(&new), vec![("X", "ben", false), ("O", "ann", false)]);
    assert_eq!((new.rematch_of.as_str(), new.origin.is_none(), new.seq), (old.id.as_str(), true, 1));
    assert_eq!((&new.ruleset, &new.undo_policy, &new.terms), (&before.ruleset, &before.undo_policy, &before.terms));
    assert!(new.seed_commitment != before.seed_commitment && !new.seed_from_caller, "a fresh seed");
    let Some(Body::GameCreated(created)) = wire.history(&new.game_id).await.remove(0).body else { panic!() };
    assert_eq!(created.rematch_of, old.id);
    // Whoever asks second gets the same, as it was, however far it has come.
    let mut played = wire.open(&new.game_id).await;
    played.play("a1").await;
    assert_eq!(wire.rematch(&old.id).await.unwrap(), new);
    // And a rematch has a rematch.
    played.acts(played.resigning(1)).await;
    let third = wire.rematch(&new.game_id).await.unwrap();
    assert_eq!(at_the_table(&third), vec![("X", "ann", false), ("O", "ben", false)]);
    wire.proves(&third.game_id).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn at_a_larger_table_everybody_moves_on_by_a_seat_bots_too() {
    on_both(async |local: &Local| {
        let wire = local.wire().await;
        let opening = wire.game().mnk(5, 5, 4).players(&["ann", "", "cid"]).bot(1, bot("heuristic", 7));
        let mut old = opening.await;
        old.acts(old.aborting(None)).await;
        let new = wire.rematch(&old.id).await.unwrap();
        assert_eq!(at_the_table(&new), vec![("X", "", true), ("O", "cid", false), ("A", "ann", false)]);
        assert_eq!(new.seats[0].bot, old.now().await.seats[1].bot);
    })
    .await;
}

/// Asked for by both at once, often: one game.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_game_has_one_rematch() {
    on_both(async |local: &Local| {
        let wire = local.wire().await;
        let mut old = wire.game().of("snakes_and_ladders").joint(60, v1::IfAbsent::Abort).await;
        old.acts(old.aborting(Some(1))).await;
        let asked = futures::future::join_all((0..16).map(|_| wire.rematch(&old.id))).await;
        let ids: BTreeSet<String> = asked.into_iter().map(|game| game.unwrap().game_id).collect();
        assert_eq!(ids.len(), 1, "{ids:?}");
        let new = wire.get(ids.first().unwrap()).await;
        assert!(new.joint_entropy.is_some() && new.joining.is_some(), "its seats join anew");
        assert_eq!(rematches(&wire, &old.id).await, ids);
    })
    .await;
}

/// Ids of requests that create rematches can be foreseen, and somebody takes them for games of theirs.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_foreseen_request_id_stops_no_rematch() {
    on_both(async |local: &Local| {
        let wire = local.wire().await;
        let other = over(local.store.inner()).start().await;
        let wires = [&wire, &other.wire().await];
        for taken in [&["rematch"][..], &["rematch/1"], &["rematch", "rematch/1", "rematch/3"]] {
            let mut old = wire.game().await;
            let of = Uuid::parse_str(&old.id).unwrap();
            for name in taken {
                let mut opening = wire.game();
                opening.request.request_id = Uuid::new_v5(&of, name.as_bytes()).to_string();
                opening.await;
            }
            old.acts(old.resigning(0)).await;
            let asked = futures::future::join_all((0..16).map(|n| wires[n % 2].rematch(&old.id))).await;
            let ids: BTreeSet<String> = asked.into_iter().map(|game| game.unwrap().game_id).collect();
            assert_eq!(ids.len(), 1, "{ids:?}");
            assert_eq!(rematches(&wire, &old.id).await, ids);
        }
    })
    .await;
}

/// A foreseen id is passed over, but not for ever: at the limit a rematch is made, and one over nobody can have one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn so_many_ids_are_tried_for_a_rematch() {
    let local = over_sqlite().await.start().await;
    let wire = local.wire().await;
    for (taken, is_made) in [(REMATCH_IDS - 1, true), (REMATCH_IDS, false)] {
        let mut old = wire.game().await;
        let last = take_ids(&wire, &old.id, taken).await;
        old.acts(old.resigning(0)).await;
        if is_made {
            let new = wire.rematch(&old.id).await.unwrap();
            assert_eq!((new.rematch_of.as_str(), wire.rematch(&old.id).await.unwrap()), (old.id.as_str(), new.clone()));
        } else {
            Refused::by(wire.rematch(&old.id).await).with("REQUEST_ID_REUSED").only(&["original_game_id"]).meta("original_game_id", last);
        }
    }
}

/// Creates games by the requests that would create a game's rematch, and answers the id of the last of them.
async fn take_ids(wire: &Wire, of: &str, count: u32) -> String {
    let of = Uuid::parse_str(of).unwrap();
    let mut last = String::new();
    for n in 0..count {
        let name = if n == 0 { "rematch".to_owned() } else { format!("rematch/{n}") };
        let mut opening = wire.game();
        opening.request.request_id = Uuid::new_v5(&of, name.as_bytes()).to_string();
        last = opening.await.id;
    }
    last
}

async fn rematches(wire: &Wire, of: &str) -> BTreeSet<String> {
    let games = wire.games().list_games(v1::ListGamesRequest::default()).await.unwrap().into_inner().games;
    games.into_iter().filter(|game| game.rematch_of == of).map(|game| game.game_id).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn some_games_have_no_rematch() {
    on_both(async |local: &Local| {
        let wire = local.wire().await;
        Refused::by(wire.rematch(&fresh()).await).with("GAME_NOT_FOUND");
        Refused::by(wire.rematch("x").await).with("INVALID_PARAMETER").field("game_id", "UUID");
        let foreign = wire.import(table().play("a1 b1 a2 b2 a3").book().print()).await.unwrap();
        Refused::by(wire.rematch(&foreign.game_id).await).with("GAME_READ_ONLY").only(&["head_seq"]);
        // A finished game is over, also where it could be reopened.
        let mut finished = wire.game().undo(UndoBy::Free).undo_after_end().await;
        finished.play("a1 b1 a2 b2 a3").await;
        wire.rematch(&finished.id).await.unwrap();
    })
    .await;
}

/// A limit that was lowered holds for rematches too, but not for one that was made before.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rematch_has_no_bot_that_a_new_game_could_not_have() {
    let generous = over_sqlite().await.start().await;
    let strict = over(generous.store.inner()).limits(|limits| limits.bot_nodes_max = 2_000).start().await;
    let mut game = generous.wire().await.game().bot(1, bot("minimax", 2_001)).await;
    game.acts(game.resigning(0)).await;
    let wire = strict.wire().await;
    Refused::by(wire.rematch(&game.id).await).with("LIMIT_EXCEEDED").meta("limit", "bot_nodes_max").meta("most", 2_000);
    let made = game.wire.rematch(&game.id).await.unwrap();
    assert_eq!(wire.rematch(&game.id).await.unwrap(), made);
}
