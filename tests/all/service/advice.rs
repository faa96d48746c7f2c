//! Advice: what strategies would play, what actions are worth, and who threatens what.

use plybook_bots::Bots;
use plybook_proto::v1::score::Value;
use plybook_proto::v1::{self, AnalyzePositionRequest, ListStrategiesRequest, StrategySpec, SuggestMoveRequest};
use plybook_server::limits::ADVICE_CELLS_MAX;
use plybook_tests::deal::RULESETS;
use plybook_tests::injected::over_sqlite;
use plybook_tests::refused::Refused;
use plybook_tests::table::table;
use plybook_tests::wire::{PlayedGame, Wire};

fn named(id: &str) -> Option<StrategySpec> {
    Some(StrategySpec { id: id.to_owned(), version: 0 })
}

/// A question to a strategy about the head.
fn asks(game: &PlayedGame, strategy: &str, nodes: u64) -> SuggestMoveRequest {
    SuggestMoveRequest { game_id: game.id.clone(), at_seq: None, strategy: named(strategy), nodes }
}

async fn suggest(wire: &Wire, asks: SuggestMoveRequest) -> v1::SuggestMoveResponse {
    wire.games().suggest_move(asks).await.unwrap().into_inner()
}

async fn analyze(game: &PlayedGame, at_seq: Option<u64>, nodes: u64, max_actions: i32) -> v1::AnalyzePositionResponse {
    let asks = AnalyzePositionRequest { game_id: game.id.clone(), at_seq, nodes, max_actions };
    game.wire.games().analyze_position(asks).await.unwrap().into_inner()
}

fn value(scored: &v1::ScoredAction) -> (Value, bool) {
    let score = scored.score.as_ref().unwrap();
    (score.value.unwrap(), score.exact)
}

fn threats(found: &v1::AnalyzePositionResponse) -> Vec<Vec<(&str, &[u32])>> {
    let of = |of: &v1::SeatThreats| of.threats.len();
    assert_eq!(found.threats.iter().map(|of| of.seat).collect::<Vec<_>>(), (0..found.threats.len() as u32).collect::<Vec<_>>());
    assert!(found.threats.iter().map(of).sum::<usize>() < 1_000);
    let told = |threat: &'_ v1::Threat| threat.action.is_some();
    assert!(found.threats.iter().flat_map(|of| &of.threats).all(told));
    found.threats.iter().map(|of| of.threats.iter().map(|threat| (threat.notation.as_str(), threat.cells.as_slice())).collect()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn strategies_are_listed_page_by_page() {
    let local = over_sqlite().await.start().await;
    let wire = local.wire().await;
    let (mut listed, mut page_token) = (Vec::new(), String::new());
    loop {
        let page = wire.games().list_strategies(ListStrategiesRequest { page_size: 2, page_token }).await.unwrap().into_inner();
        assert!(page.strategies.len() <= 2);
        listed.extend(page.strategies);
        page_token = page.next_page_token;
        if page_token.is_empty() {
            break;
        }
    }
    let whole = wire.games().list_strategies(ListStrategiesRequest::default()).await.unwrap().into_inner();
    assert_eq!(whole.strategies, listed);
    let cards: Vec<_> = Bots::standard().cards().collect();
    assert_eq!(listed.len(), cards.len());
    for (told, card) in listed.iter().zip(&cards) {
        assert_eq!((told.id.as_str(), told.version, told.title.as_str(), told.is_default), (card.name, card.version, card.title, true));
        assert_eq!((told.default_nodes, told.most_nodes), (card.default_budget.0, card.most_budget.0));
        assert_eq!(told.ruleset_ids, card.rulesets);
    }
    let foreign = ListStrategiesRequest { page_token: "00".repeat(9), ..ListStrategiesRequest::default() };
    Refused::by(wire.games().list_strategies(foreign).await).with("INVALID_PARAMETER").field("page_token", "begin again");
    let negative = ListStrategiesRequest { page_size: -1, ..ListStrategiesRequest::default() };
    Refused::by(wire.games().list_strategies(negative).await).with("INVALID_PARAMETER").field("page_size", "negative");
}

/// Scenario 71: neither the position nor the book is touched, by any strategy, in any ruleset; what is suggested can
/// be played as it is told.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_71_advice_changes_nothing_and_can_be_followed() {
    let local = over_sqlite().await.start().await;
    let wire = local.wire().await;
    for ruleset in RULESETS {
        let mut game = wire.game().of(ruleset).await;
        for _ in 0..3 {
            let (before, book) = (game.now().await, wire.book(&game.id).await);
            let mut last = None;
            for strategy in ["random", "heuristic", "minimax", "mcts"] {
                let nodes = if strategy == "random" { 1 } else { 200 };
                let found = suggest(&wire, asks(&game, strategy, nodes)).await;
                assert_eq!(suggest(&wire, asks(&game, strategy, nodes)).await, found, "the same again");
                assert_eq!((found.head_seq, Some(found.seat_to_move)), (game.head, game.to_move));
                assert_eq!(found.strategy, Some(StrategySpec { id: strategy.to_owned(), version: 1 }));
                last = found.suggestion;
            }
            let found = analyze(&game, None, 500, 0).await;
            assert_eq!((found.head_seq, Some(found.seat_to_move)), (game.head, game.to_move));
            let after = game.now().await;
            assert_eq!(after.position.as_ref().unwrap().position_digest, before.position.as_ref().unwrap().position_digest);
            assert_eq!(after, before);
            assert_eq!(wire.book(&game.id).await, book);
            let suggested = last.unwrap();
            let moved = v1::MakeMoveRequest { action: suggested.action, ..game.asks(&suggested.notation) };
            let event = game.sends(moved).await.unwrap();
            let Some(v1::event::Body::MoveMade(made)) = &event.body else { panic!("{event:?}") };
            assert_eq!(made.notation, suggested.notation);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_win_and_a_block_are_suggested_as_what_they_are() {
    let local = over_sqlite().await.start().await;
    let mut game = local.wire().await.game().await;
    game.play("a1 b2 a2").await;
    let unnamed = SuggestMoveRequest { game_id: game.id.clone(), ..SuggestMoveRequest::default() };
    let block = suggest(&game.wire, unnamed.clone()).await;
    let suggestion = block.suggestion.unwrap();
    assert_eq!((suggestion.notation.as_str(), suggestion.cells.as_slice()), ("a3", &[0][..]));
    assert_eq!(value(&suggestion), (Value::Draw(v1::Draw {}), true));
    assert_eq!((block.strategy.unwrap().id.as_str(), block.head_seq, block.seat_to_move), ("perfect", 4, 1));
    game.play("c3").await;
    let win = suggest(&game.wire, unnamed.clone()).await.suggestion.unwrap();
    assert_eq!((win.notation.as_str(), value(&win)), ("a3", (Value::WinInPlies(1), true)));
    // At any earlier entry, also after the game has ended.
    game.play("a3").await;
    let at = |at_seq| SuggestMoveRequest { at_seq: Some(at_seq), ..unnamed.clone() };
    let earlier = suggest(&game.wire, at(4)).await;
    assert_eq!((earlier.head_seq, earlier.suggestion), (4, Some(suggestion)));
    // A strategy that has no solver for the game is not asked where nobody is named.
    let race = game.wire.game().snakes(30, &[3, 11]).await;
    let found = suggest(&game.wire, SuggestMoveRequest { game_id: race.id, ..SuggestMoveRequest::default() }).await;
    let roll = found.suggestion.unwrap();
    assert_eq!((found.strategy.unwrap().id.as_str(), roll.notation.as_str(), roll.cells.len()), ("minimax", "roll", 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_analysis_tells_every_action_and_every_threat() {
    let local = over_sqlite().await.start().await;
    let wire = local.wire().await;
    let mut game = wire.game().await;
    game.play("a1 b2 a2").await;
    let found = analyze(&game, None, 0, 0).await;
    assert!(found.exact && found.left_out == 0 && found.nodes > 0);
    let told: Vec<_> = found.actions.iter().map(|action| (action.notation.as_str(), value(action))).collect();
    assert_eq!(told[0], ("a3", (Value::Draw(v1::Draw {}), true)));
    assert!(told[1..].iter().all(|(_, value)| *value == (Value::LossInPlies(2), true)), "{told:?}");
    assert_eq!(told.len(), 6);
    assert_eq!(threats(&found), [vec![("a3", &[0u32][..])], vec![]]);

    let few = analyze(&game, None, 0, 2).await;
    assert_eq!((few.actions.as_slice(), few.left_out, few.exact), (&found.actions[..2], 4, true));
    let first = analyze(&game, Some(1), 0, 1_000_000).await;
    assert!(first.exact && first.actions.len() == 9);
    assert!(first.actions.iter().all(|action| value(action) == (Value::Draw(v1::Draw {}), true)), "{first:?}");

    // A disc names the cell that it falls on; both seats threaten the same column, one cell for both.
    let mut four = wire.game().of("connect_four").await;
    four.play("4 1 4 1 4 1").await;
    let found = analyze(&four, None, 2_000, 0).await;
    assert_eq!(threats(&found), [vec![("4", &[2 * 7 + 3][..])], vec![("1", &[2 * 7][..])]]);
    assert_eq!(value(&found.actions[0]), (Value::WinInPlies(1), true));
    assert_eq!((found.actions[0].notation.as_str(), found.actions[0].cells.as_slice()), ("4", &[2 * 7 + 3][..]));
    // A stone of Othello names its own cell and not those that it turns.
    let othello = wire.game().of("othello").await;
    let found = analyze(&othello, None, 2_000, 0).await;
    assert!(!found.exact && found.actions.len() == 4 && found.actions.iter().all(|action| action.cells.len() == 1), "{found:?}");
    assert!(found.actions.iter().all(|action| matches!(value(action), (Value::Estimate(_), false))), "{found:?}");
}

/// Where points are counted, they are told as points.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_end_of_othello_is_told_in_discs() {
    let local = over_sqlite().await.start().await;
    let game = local.wire().await.game().of("othello").with("size", 4).await;
    let found = analyze(&game, None, 5_000_000, 0).await;
    assert!(found.exact, "{found:?}");
    assert!(found.actions.iter().all(|action| value(action) == (Value::LossByPoints(8), true)), "{found:?}");
    let one = suggest(&game.wire, asks(&game, "perfect", 5_000_000)).await.suggestion.unwrap();
    assert_eq!(value(&one), (Value::LossByPoints(8), true));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn evidence_is_analysed_as_any_game() {
    let local = over_sqlite().await.start().await;
    let wire = local.wire().await;
    let kept = wire.import(table().play("a1 b2 a2").book().print()).await.unwrap();
    let game = wire.open(&kept.game_id).await;
    let found = analyze(&game, None, 0, 0).await;
    assert_eq!((found.actions[0].notation.as_str(), found.head_seq), ("a3", 4));
    let found = suggest(&wire, asks(&game, "heuristic", 0)).await;
    assert_eq!(found.suggestion.unwrap().notation, "a3");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_nobody_is_to_move_there_is_nothing_to_advise() {
    let local = over_sqlite().await.start().await;
    let wire = local.wire().await;
    let mut over = wire.game().await;
    over.play("a1 b1 a2 b2 a3").await;
    let analysis =
        |game: &PlayedGame, at_seq| AnalyzePositionRequest { game_id: game.id.clone(), at_seq, ..AnalyzePositionRequest::default() };
    for refused in [
        Refused::by(wire.games().suggest_move(asks(&over, "random", 0)).await),
        Refused::by(wire.games().analyze_position(analysis(&over, None)).await),
        Refused::by(wire.games().analyze_position(analysis(&over, Some(6))).await),
    ] {
        refused.with("GAME_FINISHED").meta("head_seq", 6).meta("winners", 0).meta("closed", true);
    }
    let joint = wire.game().snakes(30, &[]).joint(60, v1::IfAbsent::Abort).await;
    Refused::by(wire.games().suggest_move(asks(&joint, "random", 0)).await).with("NOT_JOINED").meta("step", "COMMIT");
    Refused::by(wire.games().analyze_position(analysis(&joint, None)).await).with("NOT_JOINED").meta("head_seq", 1);
    Refused::by(wire.games().analyze_position(analysis(&over, Some(7))).await).with("CURSOR_BEYOND_HEAD").meta("head_seq", 6);
    Refused::by(wire.games().analyze_position(analysis(&over, Some(0))).await).with("INVALID_PARAMETER").field("at_seq", "from 1");
    let nowhere = PlayedGame { id: plybook_tests::wire::fresh(), ..over };
    Refused::by(wire.games().suggest_move(asks(&nowhere, "random", 0)).await).with("GAME_NOT_FOUND");
    Refused::by(wire.games().analyze_position(analysis(&nowhere, None)).await).with("GAME_NOT_FOUND");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_strategy_is_one_that_plays_the_game() {
    let local = over_sqlite().await.start().await;
    let wire = local.wire().await;
    let gomoku = wire.game().of("gomoku").await;
    let refused = Refused::by(wire.games().suggest_move(asks(&gomoku, "perfect", 0)).await);
    refused.with("INVALID_PARAMETER").field("strategy.id", "perfect@1 does not play this game");
    Refused::by(wire.games().suggest_move(asks(&gomoku, "", 0)).await).with("INVALID_PARAMETER").field("strategy.id", "is required");
    let long = "m".repeat(100_000);
    Refused::by(wire.games().suggest_move(asks(&gomoku, &long, 0)).await).with("UNKNOWN_STRATEGY");
}

/// Of an action so many cells are told: a pop moves a whole column down, and of a higher one the rest is left out.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn so_many_cells_are_told_of_an_action() {
    let local = over_sqlite().await.start().await;
    let opening = local.wire().await.game().of("connect_four").with("rows", ADVICE_CELLS_MAX as i64 + 2).with("pop_out", true);
    let mut game = opening.await;
    let popped = |found: &v1::AnalyzePositionResponse| {
        let pop = found.actions.iter().find(|action| action.notation == "1^").unwrap();
        pop.cells.len()
    };
    for (moves, told) in [
        ("1 ".repeat(ADVICE_CELLS_MAX - 2), ADVICE_CELLS_MAX - 2),
        ("1 1".to_owned(), ADVICE_CELLS_MAX),
        ("1 2".to_owned(), ADVICE_CELLS_MAX),
    ] {
        game.play(&moves).await;
        assert_eq!(popped(&analyze(&game, None, 100, 0).await), told, "{moves}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn advice_has_limits() {
    let local = over_sqlite().await.limits(|limits| limits.advice_nodes_max = 1_000).start().await;
    let wire = local.wire().await;
    let game = wire.game().mnk(9, 9, 5).await;
    let exceeds = |refused: Refused, limit: &str, most: u64| {
        refused.with("LIMIT_EXCEEDED").only(&["limit", "most"]).meta("limit", limit).meta("most", most);
        assert_eq!(refused.retry, None, "another moment is no cure");
    };
    exceeds(Refused::by(wire.games().suggest_move(asks(&game, "minimax", 1_001)).await), "advice_nodes_max", 1_000);
    exceeds(Refused::by(wire.games().suggest_move(asks(&game, "random", 2)).await), "strategy_nodes", 1);
    exceeds(Refused::by(wire.games().suggest_move(asks(&game, "random", u64::MAX)).await), "advice_nodes_max", 1_000);
    let analysis = |nodes, max_actions| AnalyzePositionRequest { game_id: game.id.clone(), at_seq: None, nodes, max_actions };
    exceeds(Refused::by(wire.games().analyze_position(analysis(1_001, 0)).await), "advice_nodes_max", 1_000);
    Refused::by(wire.games().analyze_position(analysis(0, -1)).await).with("INVALID_PARAMETER").field("max_actions", "negative");
    // Up to the limit, and by default no more than that. The last step may go a little beyond.
    for nodes in [0, 1_000] {
        let found = suggest(&wire, asks(&game, "minimax", nodes)).await;
        assert!((900..1_100).contains(&found.nodes), "{found:?}");
        assert!((900..1_100).contains(&analyze(&game, None, nodes, 0).await.nodes));
    }
    // However large the board: as many actions as the limit says, and an answer that clients accept.
    let vast = wire.game().of("connect_four").with("rows", 1_000).with("cols", 1_000).await;
    let found = analyze(&vast, None, 1_000, i32::MAX).await;
    assert!(found.actions.len() <= 1_000, "{}", found.actions.len());
}
