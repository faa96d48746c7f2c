//! What may take long is done where it holds up nobody: trying candidates, and building rules.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex};

use plybook_core::action::Shape;
use plybook_core::dice::Face;
use plybook_core::params::BadParam;
use plybook_core::rules::{Setup, Topology};
use plybook_core::{Action, Card, Cell, Changes, Illegal, ParamSpec, Params, Position, Rules, Ruleset, Seat, Verdict};
use plybook_proto::v1::{ListLegalActionsRequest, ListRulesetsRequest};
use plybook_rulesets::Registry;
use plybook_tests::injected::{over, over_sqlite};
use plybook_tests::patience::{NEVER, PATIENCE};
use plybook_tests::toy::Hermits;
use plybook_tests::wire::Wire;
use tokio::time::timeout;

/// Hermits under other conditions.
#[derive(Default)]
struct Changed {
    version: u32,
    most_cells: i64,
    tried: Arc<AtomicU64>,
    /// Building waits until it is told to go on.
    gate: Option<Mutex<Receiver<()>>>,
}

impl Ruleset for Changed {
    fn card(&self) -> Card {
        let params = vec![
            ParamSpec::int("cells", 7, (1, self.most_cells), "Length of the strip."),
            ParamSpec::flag("last_loses", false, "Whether who settles last loses."),
        ];
        Card { version: self.version, params, ..Hermits.card() }
    }

    fn build(&self, params: &Params, seats: u8) -> Result<Arc<dyn Rules>, BadParam> {
        if let Some(gate) = &self.gate {
            let told = gate.lock().unwrap().recv_timeout(NEVER);
            told.map_err(|_| BadParam::new("cells", "nobody let it go on"))?;
        }
        Ok(Arc::new(Counted { rules: Hermits.build(params, seats)?, tried: Arc::clone(&self.tried) }))
    }
}

/// Rules that count how often an action is tried.
#[derive(Debug)]
struct Counted {
    rules: Arc<dyn Rules>,
    tried: Arc<AtomicU64>,
}

impl Rules for Counted {
    fn setup(&self) -> Setup {
        self.rules.setup()
    }

    fn topology(&self) -> Topology {
        self.rules.topology()
    }

    fn shapes(&self) -> &'static [Shape] {
        self.rules.shapes()
    }

    fn resolve(&self, position: &Position, seat: Seat, action: Action, faces: &[Face]) -> Result<Changes, Illegal> {
        self.tried.fetch_add(1, Ordering::SeqCst);
        self.rules.resolve(position, seat, action, faces)
    }

    fn judge(&self, position: &Position, mover: Seat, changes: &Changes) -> Verdict {
        self.rules.judge(position, mover, changes)
    }

    fn candidates(&self, position: &Position, seat: Seat, offer: &mut dyn FnMut(Action) -> ControlFlow<()>) {
        self.rules.candidates(position, seat, offer);
    }

    fn write_action(&self, action: Action) -> String {
        self.rules.write_action(action)
    }

    fn read_action(&self, notation: &str) -> Option<Action> {
        self.rules.read_action(notation)
    }

    fn cell_name(&self, cell: Cell) -> String {
        self.rules.cell_name(cell)
    }
}

fn changed(ruleset: Changed) -> Registry {
    Registry::standard().with(Arc::new(ruleset))
}

async fn page(wire: &Wire, game_id: &str, page_token: String) -> (Vec<String>, String) {
    let request = ListLegalActionsRequest { game_id: game_id.to_owned(), page_size: 10, page_token };
    let answer = wire.games().list_legal_actions(request).await.unwrap().into_inner();
    (answer.actions.into_iter().map(|action| action.notation).collect(), answer.next_page_token)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_late_page_tries_no_more_than_the_first() {
    let tried = Arc::new(AtomicU64::new(0));
    let registry = changed(Changed { version: 1, most_cells: 1_000, tried: Arc::clone(&tried), gate: None });
    let local = over_sqlite().await.registry(registry).start().await;
    let wire = local.wire().await;
    let mut game = wire.game().of("hermits").with("cells", 1_000).await;
    game.play("b1 y1").await;
    let (mut all, mut token, mut most) = (Vec::new(), String::new(), 0);
    loop {
        let before = tried.load(Ordering::SeqCst);
        let (actions, next) = page(&wire, &game.id, token).await;
        most = most.max(tried.load(Ordering::SeqCst) - before);
        assert!(!actions.is_empty(), "a token leads to something");
        all.extend(actions);
        token = next;
        if token.is_empty() {
            break;
        }
    }
    let every = ListLegalActionsRequest { game_id: game.id.clone(), page_size: 2_000, ..Default::default() };
    let every = wire.games().list_legal_actions(every).await.unwrap().into_inner().actions;
    assert_eq!(all, every.into_iter().map(|action| action.notation).collect::<Vec<_>>());
    assert_eq!(all.len(), 994, "all but two hermits and who would live next to them");
    // Ten, the next one that shows that there is more, and three that are not legal.
    assert!(most <= 14, "{most} actions were tried for one page");
}

/// One thread serves every call here.
#[tokio::test]
async fn rules_that_take_long_to_build_stand_in_nobodys_way() {
    let (go_on, gate) = sync_channel(1);
    let gate = Some(Mutex::new(gate));
    let local = over_sqlite().await.registry(changed(Changed { version: 1, most_cells: 10, gate, ..Changed::default() })).start().await;
    let wire = local.wire().await;
    let creating = tokio::spawn(wire.game().of("hermits").sent());
    timeout(PATIENCE, wire.games().list_rulesets(ListRulesetsRequest::default())).await.expect("another call is answered").unwrap();
    assert!(!creating.is_finished());
    go_on.send(()).unwrap();
    let game = creating.await.unwrap().unwrap();

    let (go_on, gate) = sync_channel(1);
    let gate = Some(Mutex::new(gate));
    let cold =
        over(local.store.inner()).registry(changed(Changed { version: 1, most_cells: 10, gate, ..Changed::default() })).start().await;
    let wire = cold.wire().await;
    let reading = tokio::spawn({
        let wire = wire.clone();
        async move { wire.try_get(&game.game_id, None).await }
    });
    timeout(PATIENCE, wire.games().list_rulesets(ListRulesetsRequest::default())).await.expect("another call is answered").unwrap();
    assert!(!reading.is_finished());
    go_on.send(()).unwrap();
    assert_eq!(reading.await.unwrap().unwrap().seq, 1);
}

/// A release refuses what the one before accepted: who retries gets what was made then.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_retried_creation_is_answered_before_its_ruleset_is_looked_at() {
    let first = over_sqlite().await.registry(plybook_tests::toy::registry()).start().await;
    let strip = |wire: &Wire, cells: i64| wire.game().of("hermits").with("cells", cells);
    let wire = first.wire().await;
    let asked = strip(&wire, 50);
    let request = asked.request.clone();
    let made = asked.sent().await.unwrap();

    let tightened = plybook_tests::toy::registry().with(Arc::new(Changed { version: 2, most_cells: 10, ..Changed::default() }));
    let second = over(first.store.inner()).registry(tightened).start().await;
    let wire = second.wire().await;
    strip(&wire, 50).refused().await.with("INVALID_PARAMETER").field("ruleset.params.cells", "10");
    let again = wire.games().create_game(request.clone()).await.unwrap().into_inner().game.unwrap();
    assert_eq!(*again, made);
    for cells in [51, 5] {
        let mut asked = strip(&wire, cells);
        asked.request.request_id.clone_from(&request.request_id);
        asked.refused().await.with("REQUEST_ID_REUSED").meta("original_game_id", &made.game_id);
    }
}
