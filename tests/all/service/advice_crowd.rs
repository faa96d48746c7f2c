//! Many who want advice at once: bounded, typed, and in nobody's way. How long anything takes is not asked: here a
//! strategy thinks until the test lets it go on, or until it is stopped.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use plybook_bots::strategy::Card;
use plybook_bots::{Bots, Budget, Chance, Choice, Counted, Meter, NoChoice, Score, Strategy, View};
use plybook_proto::v1::{StrategySpec, SuggestMoveRequest, SuggestMoveResponse};
use plybook_server::limits::Limits;
use plybook_tests::injected::{Local, over_sqlite};
use plybook_tests::patience::{NEVER, until};
use plybook_tests::refused::Refused;
use plybook_tests::wire::{PlayedGame, Wire};
use tokio::task::JoinSet;
use tonic::Status;

/// Whether thinkers may go on, and how many think.
#[derive(Default)]
struct Gate {
    open: AtomicBool,
    inside: AtomicUsize,
    most_inside: AtomicUsize,
}

/// Thinks until the gate is open.
struct Ponders(Arc<Gate>);

fn card(name: &'static str) -> Card {
    Card { name, version: 1, title: "Of a test", default_budget: Budget(1_000), most_budget: Budget(1_000), rulesets: &[] }
}

impl Strategy for Ponders {
    fn card(&self) -> Card {
        card("ponders")
    }

    fn choose(&self, view: &View<'_>, meter: &mut Meter<'_>, _: &mut Chance) -> Result<Choice, NoChoice> {
        let inside = self.0.inside.fetch_add(1, Ordering::SeqCst) + 1;
        self.0.most_inside.fetch_max(inside, Ordering::SeqCst);
        let mut asked = Ok(());
        while asked.is_ok() && !self.0.open.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(2));
            asked = meter.ask();
        }
        self.0.inside.fetch_sub(1, Ordering::SeqCst);
        asked?;
        meter.spend(7)?;
        let action = *view.legal().first().ok_or(NoChoice::Nothing)?;
        Ok(Choice { action, score: Score::EVEN, exact: false, counted: Counted::Plies, nodes: meter.spent(), scores: Vec::new() })
    }
}

/// Has a fault.
struct Panics;

impl Strategy for Panics {
    fn card(&self) -> Card {
        card("panics")
    }

    fn choose(&self, _: &View<'_>, meter: &mut Meter<'_>, _: &mut Chance) -> Result<Choice, NoChoice> {
        meter.spend(3)?;
        panic!("a strategy of a test has a fault")
    }
}

/// A server with these strategies too, and a game on it.
struct Scene {
    local: Local,
    wire: Wire,
    gate: Arc<Gate>,
    game: PlayedGame,
}

impl Scene {
    async fn with(limits: impl FnOnce(&mut Limits)) -> Scene {
        let gate = Arc::new(Gate::default());
        let bots = Bots::standard().with(Arc::new(Ponders(Arc::clone(&gate)))).with(Arc::new(Panics));
        let local = over_sqlite().await.bots(bots).limits(limits).start().await;
        let wire = local.wire().await;
        let game = wire.game().mnk(9, 9, 5).await;
        Scene { local, wire, gate, game }
    }

    fn asks(&self, strategy: &str) -> SuggestMoveRequest {
        let strategy = Some(StrategySpec { id: strategy.to_owned(), version: 0 });
        SuggestMoveRequest { game_id: self.game.id.clone(), strategy, ..SuggestMoveRequest::default() }
    }

    /// Asks so many times at once.
    fn crowd(&self, callers: usize) -> JoinSet<Result<SuggestMoveResponse, Status>> {
        let mut crowd = JoinSet::new();
        for _ in 0..callers {
            let (wire, asks) = (self.wire.clone(), self.asks("ponders"));
            crowd.spawn(async move { wire.games().suggest_move(asks).await.map(tonic::Response::into_inner) });
        }
        crowd
    }

    async fn thinks(&self, thinkers: usize) {
        until("so many think", || async { self.gate.inside.load(Ordering::SeqCst) == thinkers }).await;
    }

    fn opens(&self) {
        self.gate.open.store(true, Ordering::SeqCst);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crowd_that_wants_advice_is_sent_away_and_moves_go_on() {
    let mut scene = Scene::with(|limits| {
        (limits.thinkers, limits.advice_wait) = (3, Duration::from_millis(100));
        limits.call_timeout = NEVER;
    })
    .await;
    let mut crowd = scene.crowd(40);
    // Of three thinkers one is kept for bots that are to move.
    scene.thinks(2).await;
    scene.game.play("a1 b1 a2 b2").await;
    for _ in 0..38 {
        let refused = Refused::by(crowd.join_next().await.unwrap().unwrap());
        refused.with("LIMIT_EXCEEDED").only(&["limit", "most"]).meta("limit", "thinkers").meta("most", 3).later();
        scene.wire.get(&scene.game.id).await;
    }
    assert_eq!(scene.local.thinking().sent_away(), 38);
    scene.game.play("c1 c2").await;
    scene.opens();
    while let Some(answer) = crowd.join_next().await {
        // They thought about the game as it was when they were asked.
        assert_eq!(answer.unwrap().unwrap().head_seq, 1);
    }
    let thinking = scene.local.thinking();
    assert_eq!((thinking.answers(), thinking.nodes(), thinking.stopped(), thinking.panics()), (2, 14, 0, 0));
    assert_eq!(scene.gate.most_inside.load(Ordering::SeqCst), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn so_many_wait_for_advice_and_one_more_is_sent_away_at_once() {
    let mut scene = Scene::with(|limits| {
        (limits.thinkers, limits.advice_wait, limits.advice_queue) = (3, NEVER, 4);
        limits.call_timeout = NEVER;
    })
    .await;
    let mut crowd = scene.crowd(40);
    for _ in 0..34 {
        let refused = Refused::by(crowd.join_next().await.unwrap().unwrap());
        refused.with("LIMIT_EXCEEDED").only(&["limit", "most"]).meta("limit", "advice_queue").meta("most", 4).later();
    }
    scene.game.play("a1 b1").await;
    scene.opens();
    while let Some(answer) = crowd.join_next().await {
        answer.unwrap().unwrap();
    }
    assert_eq!((scene.local.thinking().answers(), scene.local.thinking().sent_away()), (6, 34));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_waits_gets_the_place_of_who_has_done() {
    let scene = Scene::with(|limits| (limits.thinkers, limits.advice_wait, limits.call_timeout) = (1, NEVER, NEVER)).await;
    let mut crowd = scene.crowd(5);
    scene.thinks(1).await;
    scene.opens();
    while let Some(answer) = crowd.join_next().await {
        answer.unwrap().unwrap();
    }
    assert_eq!((scene.local.thinking().answers(), scene.gate.most_inside.load(Ordering::SeqCst)), (5, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn thinking_ends_when_its_caller_goes_away() {
    let scene = Scene::with(|limits| (limits.thinkers, limits.advice_wait, limits.call_timeout) = (1, NEVER, NEVER)).await;
    let mut gone = scene.crowd(1);
    scene.thinks(1).await;
    gone.abort_all();
    while gone.join_next().await.is_some() {}
    until("it is stopped", || async { scene.local.thinking().stopped() == 1 }).await;
    // By the caller's deadline, too.
    let mut time = Duration::from_millis(100);
    until("one that came to think before its deadline is stopped by it", || {
        let mut hasty = tonic::Request::new(scene.asks("ponders"));
        hasty.set_timeout(time);
        time *= 2;
        let scene = &scene;
        async move {
            assert!(scene.wire.games().suggest_move(hasty).await.is_err());
            scene.local.thinking().stopped() > 1
        }
    })
    .await;
    let found = scene.wire.games().suggest_move(scene.asks("heuristic")).await.unwrap().into_inner();
    assert_eq!(found.head_seq, 1, "the place is free again");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_strategy_that_panics_is_an_error_and_no_dead_thinker() {
    let scene = Scene::with(|limits| (limits.thinkers, limits.advice_wait, limits.call_timeout) = (1, NEVER, NEVER)).await;
    for panics in 1..=3 {
        let refused = Refused::by(scene.wire.games().suggest_move(scene.asks("panics")).await);
        refused.with("INTERNAL").only(&["trace_id"]);
        assert_eq!(refused.message, "internal error");
        assert_eq!(scene.local.thinking().panics(), panics);
    }
    scene.wire.games().suggest_move(scene.asks("random")).await.unwrap();
    assert_eq!(scene.local.thinking().nodes(), 3 * 3 + 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_goes_away_stops_thinking() {
    let mut scene = Scene::with(|limits| (limits.thinkers, limits.advice_wait, limits.call_timeout) = (2, NEVER, NEVER)).await;
    let mut crowd = scene.crowd(3);
    scene.thinks(1).await;
    scene.local.drain().await;
    let mut told = 0;
    while let Some(answer) = crowd.join_next().await {
        let status = answer.unwrap().unwrap_err();
        // One that came after the node had stopped listening was never heard.
        told += usize::from(!status.details().is_empty() && Refused::of(&status).reason == "SERVER_DRAINING");
    }
    assert!(told >= 1, "who was being advised is told");
    assert_eq!(scene.gate.inside.load(Ordering::SeqCst), 0);
}
