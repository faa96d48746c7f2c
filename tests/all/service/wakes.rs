//! Nodes that wake one another, the same over every bus; and what is lost with every hint: time, and nothing else.

use std::time::Duration;

use plybook_core::{Seq, Uuid};
use plybook_store::{GameKey, News, TenantId, Wake};
use plybook_tests::bus::Site;
use plybook_tests::injected::{Call, Local, over_postgres};
use plybook_tests::patience::{NEVER, PATIENCE, until};
use plybook_tests::wire::{Feed, PlayedGame, Watching};
use tokio::time::timeout;

use crate::store::wakes::over_both_buses;

/// What finds an entry of which nobody spoke.
const FLOOR: Duration = Duration::from_millis(300);

over_both_buses! {
    an_entry_here_wakes_streams_and_feeds_there,
    with_every_hint_lost_it_comes_within_the_poll_floor,
    a_bus_that_ends_and_comes_back_loses_nothing,
    garbage_on_the_bus_is_ignored,
    hints_of_another_tenant_wake_nobody,
}

/// A game, and somebody who follows it through another node, and the feed there.
struct Seen {
    game: PlayedGame,
    watching: Watching,
    feed: Feed,
}

async fn seen_from(here: &Local, there: &Local) -> Seen {
    let wire = there.wire().await;
    let mut feed = wire.feed().open().await;
    feed.history().await;
    let game = here.wire().await.game().mnk(10, 10, 9).await;
    assert_eq!(timeout(PATIENCE, feed.event()).await.expect("a new game is news").game_id, game.id);
    let mut watching = wire.follow(&game.id).open().await;
    watching.history().await;
    Seen { game, watching, feed }
}

impl Seen {
    async fn plays(&mut self, notation: &str) {
        let event = self.game.play(notation).await;
        self.sees(&[event]).await;
    }

    async fn sees(&mut self, events: &[plybook_proto::v1::Event]) {
        for event in events {
            assert_eq!(timeout(PATIENCE, self.watching.event()).await.expect("the stream is woken"), *event);
            assert_eq!(timeout(PATIENCE, self.feed.event()).await.expect("the feed is woken"), *event);
        }
    }
}

/// Nobody ever looks unasked: it is the bus.
async fn an_entry_here_wakes_streams_and_feeds_there(site: &Site) {
    let (here, there) = (site.node(NEVER).await, site.node(NEVER).await);
    let mut seen = seen_from(&here, &there).await;
    for notation in ["a1", "b1", "c1", "d1", "e1", "f1", "g1", "h1"] {
        seen.plays(notation).await;
    }
    // And back.
    let mut back = seen_from(&there, &here).await;
    back.plays("a1").await;
}

async fn with_every_hint_lost_it_comes_within_the_poll_floor(site: &Site) {
    let (here, there) = (site.node(FLOOR).await, site.node(FLOOR).await);
    here.bus.loses_hints();
    let mut seen = seen_from(&here, &there).await;
    for notation in ["a1", "b1", "c1"] {
        seen.plays(notation).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_no_bus_at_all_it_comes_within_the_poll_floor() {
    let database = plybook_tests::postgres::database().await;
    let node = async || {
        let setup = over_postgres(&database).await.woken_by(plybook_tests::bus::none());
        setup.limits(|limits| limits.poll_floor = FLOOR).start().await
    };
    let (here, there) = (node().await, node().await);
    let mut seen = seen_from(&here, &there).await;
    for notation in ["a1", "b1", "c1"] {
        seen.plays(notation).await;
    }
}

/// Nobody looks unasked, so it is the news that the bus is back that makes everybody look.
async fn a_bus_that_ends_and_comes_back_loses_nothing(site: &Site) {
    let (here, there) = (site.node(NEVER).await, site.node(NEVER).await);
    let mut seen = seen_from(&here, &there).await;
    for (round, column) in ["a", "b", "c", "d"].into_iter().enumerate() {
        let mut events = vec![seen.game.play(&format!("{column}1")).await];
        if round % 2 == 0 {
            site.cut().await;
        }
        for row in 2..=6 {
            events.push(seen.game.play(&format!("{column}{row}")).await);
        }
        site.cut().await;
        seen.sees(&events).await;
    }
}

/// Moves are answered as ever while the server is away, however long that is.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_nats_server_that_is_away_harms_no_call() {
    let site = Site::over_nats().await;
    let (here, there) = (site.node(NEVER).await, site.node(NEVER).await);
    let mut seen = seen_from(&here, &there).await;
    site.goes_away();
    let mut events = Vec::new();
    for notation in ["a1", "b1", "c1", "d1", "e1", "f1"] {
        events.push(seen.game.play(notation).await);
    }
    // Who asks is answered from the store, woken or not.
    assert_eq!(there.wire().await.get(&seen.game.id).await.seq, seen.game.head);
    // And a node that begins now serves too.
    let late = site.node(NEVER).await;
    assert_eq!(late.wire().await.get(&seen.game.id).await.seq, seen.game.head);
    site.comes_back();
    seen.sees(&events).await;
    // Once it hears others it is heard: what it says before it has a line is lost to those who have one.
    drop(seen_from(&here, &late).await);
    let mut back = seen_from(&late, &here).await;
    back.plays("a1").await;
}

async fn garbage_on_the_bus_is_ignored(site: &Site) {
    let (here, there) = (site.node(NEVER).await, site.node(NEVER).await);
    let mut seen = seen_from(&here, &there).await;
    let (node, game) = (Uuid::new_v4().simple(), &seen.game.id.clone());
    for garbage in [String::new(), "no hint".to_owned(), format!("{node} 1:{game}:4294967296"), format!("{node} 1:{game}:4294967295")] {
        site.says(&garbage).await;
    }
    for notation in ["a1", "b1", "c1"] {
        seen.plays(notation).await;
    }
}

async fn hints_of_another_tenant_wake_nobody(site: &Site) {
    const HINTS: u32 = 20;
    let (here, there) = (site.node(NEVER).await, site.node(NEVER).await);
    let mut seen = seen_from(&here, &there).await;
    seen.plays("a1").await;
    let (stranger, neighbour) = (site.wakes().await, site.wakes().await);
    let mut ear = neighbour.subscribe();
    let game = Uuid::try_parse(&seen.game.id).unwrap();
    let reads = async || there.store.count(Call::Entries) + there.store.count(Call::Feed);
    let mut hears = async |wake: Wake| {
        let heard = async {
            loop {
                stranger.publish(wake);
                while let Ok(heard) = timeout(Duration::from_millis(50), ear.recv()).await {
                    if heard == Some(News::Entry(wake)) {
                        return;
                    }
                }
            }
        };
        timeout(PATIENCE, heard).await.expect("everybody hears it");
    };
    let before = reads().await;
    for n in 0..HINTS {
        hears(Wake { key: GameKey { tenant: TenantId(2), game }, seq: Seq(1_000 + n) }).await;
    }
    // Its own tenant's, behind all of those: now there is a look.
    hears(Wake { key: GameKey { tenant: TenantId::DEFAULT, game }, seq: Seq(1_000) }).await;
    until("the node looks", async || reads().await > before).await;
    assert!(reads().await - before < u64::from(HINTS), "strangers' hints make nobody look");
    seen.plays("b1").await;
}
