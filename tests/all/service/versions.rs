//! Two versions of one ruleset: a game keeps to the one that it began under.

use std::sync::Arc;

use plybook_core::verify::verify;
use plybook_proto::v1::{ListRulesetsRequest, VerifyGameRequest};
use plybook_rulesets::Registry;
use plybook_rulesets::connect_four::ConnectFour;
use plybook_store::{GameKey, Store, StoredEntry, TenantId};
use plybook_tests::injected::{Local, over, over_postgres, over_sqlite};
use plybook_tests::postgres;
use plybook_tests::refused::Refused;
use plybook_tests::wire::{Opening, PlayedGame, Wire};

/// Seat 1's pop brings the position about for the third time.
const TO_THE_BRINK: &str = "1 2 1^ 2^ 1 2 1^";

/// A release that knew version 1 only.
fn earlier() -> Registry {
    Registry::default().with(Arc::new(ConnectFour::V1))
}

/// A release in which version 2 is the default.
fn later() -> Registry {
    earlier().with(Arc::new(ConnectFour::V2))
}

fn popping(wire: &Wire) -> Opening {
    wire.game().connect_four(4, 4, 3).with("pop_out", true)
}

async fn ruleset(game: &PlayedGame) -> String {
    let spec = game.now().await.ruleset.unwrap();
    format!("{}@{}", spec.id, spec.version)
}

async fn rows(store: &dyn Store, game: &str) -> Vec<StoredEntry> {
    let key = GameKey { tenant: TenantId::DEFAULT, game: game.parse().unwrap() };
    store.entries(key, plybook_core::Seq::ZERO, 1000).await.unwrap()
}

/// A game of before the release goes on after it as it began: to the draw that version 1 makes of it.
async fn goes_on_as_it_began(before: &Local, after: &Local) {
    let mut game = popping(&before.wire().await).await;
    assert_eq!(ruleset(&game).await, "connect_four@1");
    game.play("1 2 1^ 2^ 1").await;

    let wire = after.wire().await;
    let mut game = game.through(&wire);
    assert_eq!(ruleset(&game).await, "connect_four@1", "it is not moved to another version");
    let drawn = game.play("2 1^ 2^").await.outcome.unwrap();
    assert_eq!((drawn.reason.as_str(), drawn.winners.len()), ("repetition", 0));
    let found = wire.audit().verify_game(VerifyGameRequest { game_id: game.id.clone() }).await.unwrap().into_inner();
    assert_eq!((found.first_wrong_seq, found.entries), (None, game.head), "{}", found.why);
    let book = wire.book(&game.id).await;
    assert!(book.contains("\nruleset connect_four@1\n"));
    for registry in [earlier(), Registry::standard(), later()] {
        assert_eq!(verify(&book, &registry).unwrap().entries, 9);
    }

    // Whoever names no version has the new one from now on, and the old one is still to be had.
    let mut newer = popping(&wire).await;
    assert_eq!(ruleset(&newer).await, "connect_four@2");
    newer.play(TO_THE_BRINK).await;
    newer.refuses("2^").await.with("ILLEGAL_MOVE").meta("rule", "REPETITION");
    newer.play("3").await;
    let mut named = popping(&wire).version(1).await;
    assert_eq!(named.play(&format!("{TO_THE_BRINK} 2^")).await.outcome.unwrap().reason, "repetition");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_game_goes_on_under_the_version_it_began_with_over_sqlite() {
    let before = over_sqlite().await.registry(earlier()).start().await;
    let after = over(before.store.inner()).registry(later()).start().await;
    goes_on_as_it_began(&before, &after).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_game_goes_on_under_the_version_it_began_with_over_postgres() {
    let database = postgres::database().await;
    let before = over_postgres(&database).await.registry(earlier()).start().await;
    let after = over_postgres(&database).await.registry(later()).start().await;
    goes_on_as_it_began(&before, &after).await;
}

/// A node of before the release says that it cannot, and leaves the game as it is.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_without_the_version_refuses_and_rewrites_nothing() {
    let newer = over_sqlite().await.start().await;
    let mut game = popping(&newer.wire().await).version(2).await;
    game.play("1 2").await;
    let store = newer.store.inner();
    let before = rows(store.as_ref(), &game.id).await;

    let older = over(Arc::clone(&store)).registry(earlier()).start().await;
    let wire = older.wire().await;
    let there = game.through(&wire);
    let audit = wire.audit().verify_game(VerifyGameRequest { game_id: game.id.clone() }).await;
    for refused in [
        Refused::by(wire.try_get(&game.id, None).await),
        there.refuses("3").await,
        there.refuses_undo(there.asks_undo(1, None)).await,
        wire.follow(&game.id).refused().await,
        Refused::by(audit),
    ] {
        refused.with("RULESET_VERSION_UNSUPPORTED").meta("known", "1");
    }
    popping(&wire).version(2).refused().await.with("RULESET_VERSION_UNSUPPORTED");
    assert_eq!(rows(store.as_ref(), &game.id).await, before, "byte for byte");
    assert!(wire.book(&game.id).await.contains("\nruleset connect_four@2\n"), "what is kept is handed out");
    game.play("3").await;
}

/// While nodes of the release before still run, only who names the new version gets it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_version_is_for_those_who_name_it() {
    let local = over_sqlite().await.start().await;
    let wire = local.wire().await;
    assert_eq!(ruleset(&popping(&wire).await).await, "connect_four@1");
    assert_eq!(ruleset(&popping(&wire).version(2).await).await, "connect_four@2");
    let rulesets = wire.games().list_rulesets(ListRulesetsRequest::default()).await.unwrap().into_inner().rulesets;
    let defaults = rulesets.iter().filter(|ruleset| ruleset.id == "connect_four").map(|ruleset| (ruleset.version, ruleset.is_default));
    assert_eq!(defaults.collect::<Vec<_>>(), [(1, true), (2, false)]);
    assert_eq!(rulesets.iter().filter(|ruleset| ruleset.is_default).count(), 5);
}
