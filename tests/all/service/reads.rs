//! Lists, rulesets and legal actions: what a client needs that knows nothing beforehand.

use std::ops::ControlFlow;

use plybook_proto::v1::{self, GameState, UndoBy};
use plybook_rulesets::Registry;
use plybook_server::replies;
use plybook_tests::injected::{Call, Local, over_postgres, over_sqlite};
use plybook_tests::postgres;
use plybook_tests::random::Random;
use plybook_tests::wire::{PlayedGame, Wire, fresh};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn games_are_listed_over_sqlite() {
    games_are_listed(over_sqlite().await.start().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn games_are_listed_over_postgres() {
    let database = postgres::database().await;
    games_are_listed(over_postgres(&database).await.start().await).await;
}

async fn games_are_listed(local: Local) {
    let wire = local.wire().await;
    let mut games = Vec::new();
    for number in 0..7 {
        let players = if number % 2 == 0 { ["ann", "bob"] } else { ["cid", "cid"] };
        let opening = if number == 3 { wire.game().connect_four(6, 7, 4) } else { wire.game() };
        games.push(opening.players(&players).undo(UndoBy::Free).undo_after_end().await);
    }
    games[1].play("a1").await;
    games[2].play("a1 b1 a2 b2 a3").await;
    games[4].play("a1 b1 a2 b2 a3").await;
    games[4].close().await;
    games[5].play("a1 b1 a2 b2 a3").await;
    games[5].undo(0).await;

    let ids = |wanted: &[usize]| wanted.iter().map(|number| games[*number].id.clone()).collect::<Vec<_>>();
    let all = v1::ListGamesRequest::default;
    assert_eq!(listed(&wire, all()).await, ids(&[6, 5, 4, 3, 2, 1, 0]), "newest first");
    let of_ann = v1::ListGamesRequest { player_id: "ann".to_owned(), ..all() };
    assert_eq!(listed(&wire, of_ann.clone()).await, ids(&[6, 4, 2, 0]));
    assert_eq!(listed(&wire, v1::ListGamesRequest { player_id: "cid".to_owned(), ..all() }).await, ids(&[5, 3, 1]));
    assert_eq!(listed(&wire, v1::ListGamesRequest { player_id: "dan".to_owned(), ..all() }).await, ids(&[]));
    assert_eq!(listed(&wire, v1::ListGamesRequest { ruleset_id: "connect_four".to_owned(), ..all() }).await, ids(&[3]));
    let state = |state: GameState| v1::ListGamesRequest { state: state.into(), ..all() };
    assert_eq!(listed(&wire, state(GameState::Active)).await, ids(&[6, 5, 3, 1, 0]));
    assert_eq!(listed(&wire, state(GameState::Finished)).await, ids(&[2]));
    assert_eq!(listed(&wire, state(GameState::Closed)).await, ids(&[4]));
    let both = v1::ListGamesRequest { state: GameState::Closed.into(), ruleset_id: "mnk".to_owned(), ..of_ann };
    assert_eq!(listed(&wire, both).await, ids(&[4]));

    // However many games were closed by an entry of their own.
    games[2].close().await;
    let reads = || [Call::List, Call::Entries, Call::Last, Call::Find, Call::Seed].map(|call| local.store.count(call));
    let [lists, others @ ..] = reads();
    wire.games().list_games(all()).await.unwrap();
    assert_eq!(reads().split_first(), Some((&(lists + 1), &others[..])), "a page is one read");
}

/// The list in pages of two and in one page; each game as GetGame has it, without its position.
async fn listed(wire: &Wire, request: v1::ListGamesRequest) -> Vec<String> {
    let whole = wire.games().list_games(request.clone()).await.unwrap().into_inner();
    assert_eq!(whole.next_page_token, "");
    let (mut paged, mut token) = (Vec::new(), String::new());
    loop {
        let request = v1::ListGamesRequest { page_size: 2, page_token: token, ..request.clone() };
        let page = wire.games().list_games(request).await.unwrap().into_inner();
        assert!(page.games.len() == 2 || page.next_page_token.is_empty());
        paged.extend(page.games);
        token = page.next_page_token;
        if token.is_empty() {
            break;
        }
    }
    assert_eq!(paged, whole.games);
    for game in &paged {
        let whole = wire.get(&game.game_id).await;
        assert_eq!(*game, v1::Game { position: None, undos: 0, ..whole });
    }
    paged.into_iter().map(|game| game.game_id).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_ruleset_publishes_is_enough_to_create_a_game() {
    let local = over_sqlite().await.start().await;
    let wire = local.wire().await;
    let rulesets = wire.games().list_rulesets(v1::ListRulesetsRequest::default()).await.unwrap().into_inner().rulesets;
    assert_eq!(rulesets.len(), Registry::standard().cards().count());
    for ruleset in &rulesets {
        let params = ruleset.params.iter().map(|spec| (spec.name.clone(), spec.default_value.clone().unwrap())).collect();
        for seats in [ruleset.seats_min, ruleset.seats_max] {
            let mut opening = wire.game().seats(seats as usize);
            opening.request.ruleset = Some(v1::RulesetSpec {
                id: ruleset.id.clone(),
                version: ruleset.version,
                params: std::collections::HashMap::clone(&params),
            });
            let explicit = opening.sent().await.unwrap();
            let implied = wire.game().of(&ruleset.id).version(ruleset.version).seats(seats as usize).sent().await.unwrap();
            assert_eq!(explicit.ruleset, implied.ruleset, "defaults are filled in");
            assert_eq!(explicit.ruleset.unwrap().params, params);
        }
        assert!(!ruleset.title.is_empty() && !ruleset.action_shapes.is_empty());
    }
    let mut paged = Vec::new();
    let mut token = String::new();
    for _ in 0..rulesets.len() {
        let request = v1::ListRulesetsRequest { page_size: 1, page_token: token };
        let page = wire.games().list_rulesets(request).await.unwrap().into_inner();
        paged.extend(page.rulesets);
        token = page.next_page_token;
    }
    assert_eq!((paged, token), (rulesets, String::new()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn legal_actions_are_the_cores() {
    let local = over_sqlite().await.start().await;
    let wire = local.wire().await;
    let mut random = Random::new(11);
    for ruleset in ["mnk", "gomoku", "connect_four", "othello", "snakes_and_ladders"] {
        let mut game = wire.game().of(ruleset).await;
        for _ in 0..12 {
            let (legal, seat) = legal(&wire, &game, 7).await;
            assert_eq!((&legal, seat), (&by_the_core(&game).await, game.to_move));
            let Some(action) = legal.get(random.below(legal.len().max(1) as u64) as usize) else { break };
            let request = v1::MakeMoveRequest { action: action.action.clone(), request_id: fresh(), ..game.asks("") };
            let event = game.sends(request).await.unwrap();
            let Some(v1::event::Body::MoveMade(made)) = event.body else { panic!("{event:?}") };
            assert_eq!(made.notation, action.notation, "both names of an action are the same action");
        }
    }
    let mut over = wire.game().await;
    over.play("a1 b1 a2 b2 a3").await;
    assert_eq!(legal(&wire, &over, 500).await, (Vec::new(), None));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_huge_board_is_listed_in_pages() {
    let local = over_sqlite().await.start().await;
    let wire = local.wire().await;
    let mut game = wire.game().mnk(1000, 1000, 5).await;
    let first = v1::MakeMoveRequest { action: Some(place(1_234)), ..game.asks("") };
    game.sends(first).await.unwrap();
    let (legal, _) = legal(&wire, &game, i32::MAX).await;
    assert_eq!(legal.len(), 999_999);
    let cells = legal.iter().map(|legal| legal.action.clone().unwrap());
    assert!(cells.eq((0..1_000_000).filter(|cell| *cell != 1_234).map(place)));
}

const fn place(cell: u32) -> v1::Action {
    v1::Action { shape: Some(v1::action::Shape::Place(v1::Place { cell })) }
}

async fn legal(wire: &Wire, game: &PlayedGame, page_size: i32) -> (Vec<v1::LegalAction>, Option<u32>) {
    let (mut all, mut page_token) = (Vec::new(), String::new());
    let mut client = wire.games();
    loop {
        let request = v1::ListLegalActionsRequest { game_id: game.id.clone(), page_size, page_token };
        let page = client.list_legal_actions(request).await.unwrap().into_inner();
        assert_eq!(page.head_seq, game.head);
        assert!(page.actions.len() <= page_size.min(2_000) as usize);
        all.extend(page.actions);
        page_token = page.next_page_token;
        if page_token.is_empty() {
            return (all, page.seat_to_move);
        }
    }
}

async fn by_the_core(game: &PlayedGame) -> Vec<v1::LegalAction> {
    let book = plybook_core::Book::parse(&game.wire.book(&game.id).await).unwrap();
    let rules = Registry::standard().rules_of(book.header()).unwrap();
    let mut fold = plybook_core::Game::new(book.header().clone(), rules);
    for link in book.lines() {
        fold.apply_line(&link.text, link.digest).unwrap();
    }
    let mut legal = Vec::new();
    fold.play().each_legal(&mut |action| {
        let notation = fold.rules().write_action(action);
        legal.push(v1::LegalAction { action: Some(replies::action(action)), notation });
        ControlFlow::Continue(())
    });
    legal
}
