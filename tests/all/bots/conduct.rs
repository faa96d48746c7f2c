//! What every strategy does in every position of every ruleset: it answers with a legal action, the same
//! again, and leaves the game as it was.

use std::cell::Cell;

use plybook_bots::{Analysis, Bots, Budget, Chance, Choice, Meter, NoChoice, analyse};
use plybook_core::{Digest, Play, RulesetId, Seat, SeatSet, Seed};
use plybook_tests::arena::{Arena, Bot, bot};
use plybook_tests::deal::{Deal, RULESETS};
use plybook_tests::random::{Random, repeat};

/// More than a budget that a step of a search may be over it, on boards of 8 × 8.
const OVER: u64 = 300;

fn digest(play: &Play) -> Digest {
    play.position().digest(&RulesetId::new("any", 1))
}

/// Every strategy that plays this game.
fn all(arena: &Arena, budget: u64) -> Vec<Bot> {
    let bots = Bots::standard();
    let plays = |name: &str| bots.find(name, None).unwrap().plays(&arena.view());
    bots.cards().map(|card| card.name).filter(|name| plays(name)).map(|name| bot(name, budget)).collect()
}

/// Plays at random, at most `plies`.
fn play_on(arena: &mut Arena, plies: u64, random: &mut Random) {
    for _ in 0..plies {
        let Some((action, _)) = random.action(&arena.play) else { break };
        arena.act(action);
    }
}

fn random_arena(ruleset: &str, random: &mut Random) -> (Deal, Arena) {
    let deal = Deal::random(ruleset, 8, random);
    let mut arena = Arena::of(&deal, random.bits());
    let plies = random.below(30);
    play_on(&mut arena, plies, random);
    (deal, arena)
}

#[track_caller]
fn check(deal: &Deal, arena: &Arena, bot: Bot) -> Choice {
    let choice = arena.choose(bot).unwrap_or_else(|why| panic!("{bot:?} of {deal:?}: {why}"));
    let legal = arena.play.legal();
    assert!(legal.contains(&choice.action), "{bot:?} of {deal:?} chose {:?}", choice.action);
    assert!(choice.scores.iter().all(|(action, _)| legal.contains(action)), "{bot:?} of {deal:?}: {choice:?}");
    assert!(choice.scores.is_sorted_by(|one, other| one.1 >= other.1) || bot.strategy == "mcts", "{bot:?} of {deal:?}: {choice:?}");
    assert!(choice.nodes <= bot.budget + OVER, "{bot:?} of {deal:?} spent {}", choice.nodes);
    choice
}

#[test]
fn scenario_71_thinking_changes_nothing_in_any_position_of_any_ruleset() {
    for ruleset in RULESETS {
        repeat(60, |random| {
            let (deal, mut arena) = random_arena(ruleset, random);
            for _ in 0..3 {
                if arena.play.position().outcome().is_some() {
                    break;
                }
                let mut action = None;
                for bot in all(&arena, 200 + random.below(400)) {
                    let before = (digest(&arena.play), arena.play.clone());
                    action = Some(check(&deal, &arena, bot).action);
                    assert_eq!(digest(&arena.play), before.0, "{bot:?} of {deal:?}");
                    assert_eq!(arena.play.position(), before.1.position(), "{bot:?} of {deal:?}");
                    assert_eq!(arena.play.standing(), before.1.standing(), "{bot:?} of {deal:?}");
                }
                arena.act(action.unwrap());
            }
        });
    }
}

#[test]
fn the_same_view_budget_and_chance_give_the_same_choice() {
    for ruleset in RULESETS {
        repeat(20, |random| {
            let (deal, arena) = random_arena(ruleset, random);
            let mut forgetful = arena.clone();
            forgetful.play = arena.play.shortened(random.below(3) as usize);
            for bot in all(&arena, 500) {
                let choice = arena.choose(bot);
                assert_eq!(arena.choose(bot), choice, "{bot:?} of {deal:?}");
                assert_eq!(forgetful.choose(bot), choice, "a node that knows less of the way back: {bot:?} of {deal:?}");
            }
        });
    }
}

#[test]
fn there_is_nothing_to_choose_once_the_game_is_over() {
    for ruleset in RULESETS {
        repeat(10, |random| {
            let (_, mut arena) = random_arena(ruleset, random);
            play_on(&mut arena, 20_000, random);
            if arena.play.position().outcome().is_none() {
                // Races and pop-out may go on for ever.
                return;
            }
            assert!(Chance::of_game(&Seed::new([0; 32]), &arena.view()).is_none());
            for bot in all(&arena, 500) {
                let strategy = Bots::standard().find(bot.strategy, None).unwrap().clone();
                let choice = strategy.choose(&arena.view(), &mut Meter::unstopped(Budget(500)), &mut Chance::for_advice(&arena.view()));
                assert_eq!(choice, Err(NoChoice::Nothing), "{bot:?}");
            }
            let analysis = analyse(&arena.view(), &mut Meter::unstopped(Budget(500)), &mut Chance::for_advice(&arena.view()));
            assert_eq!(analysis, Err(NoChoice::Nothing));
        });
    }
}

#[test]
fn a_budget_of_nothing_still_buys_a_legal_action() {
    for ruleset in RULESETS {
        repeat(10, |random| {
            let (deal, arena) = random_arena(ruleset, random);
            if arena.play.position().outcome().is_none() {
                for bot in all(&arena, 0) {
                    check(&deal, &arena, bot);
                }
            }
        });
    }
}

#[test]
fn a_search_that_is_stopped_ends_soon_and_without_a_choice() {
    let arena = Arena::of(&Deal::of("connect_four"), 1);
    for bot in all(&arena, 1_000_000) {
        let strategy = Bots::standard().find(bot.strategy, None).unwrap().clone();
        let at_once = strategy.choose(&arena.view(), &mut Meter::new(Budget(bot.budget), &|| true), &mut Chance::for_advice(&arena.view()));
        assert_eq!(at_once, Err(NoChoice::Stopped), "{bot:?}");
    }
    for name in ["minimax", "mcts"] {
        let asked = Cell::new(0);
        let stop = || {
            asked.set(asked.get() + 1);
            asked.get() == 4
        };
        let mut meter = Meter::new(Budget(1_000_000), &stop);
        let strategy = Bots::standard().find(name, None).unwrap().clone();
        assert_eq!(strategy.choose(&arena.view(), &mut meter, &mut Chance::for_advice(&arena.view())), Err(NoChoice::Stopped), "{name}");
        assert_eq!(asked.get(), 4, "{name} asks no more once it is stopped");
        assert!(meter.spent() <= 4 * 256, "{name} had spent {}", meter.spent());
    }
}

#[test]
fn an_analysis_names_legal_actions_and_changes_nothing() {
    for ruleset in RULESETS {
        repeat(30, |random| {
            let (deal, arena) = random_arena(ruleset, random);
            if arena.play.position().outcome().is_some() {
                return;
            }
            let before = digest(&arena.play);
            let look = || analyse(&arena.view(), &mut Meter::unstopped(Budget(2_000)), &mut Chance::for_advice(&arena.view())).unwrap();
            let analysis: Analysis = look();
            assert_eq!(look(), analysis, "{deal:?}");
            assert_eq!(digest(&arena.play), before, "{deal:?}");
            let mut named: Vec<_> = analysis.actions.iter().map(|(action, _)| *action).collect();
            named.sort_unstable();
            let mut legal = arena.play.legal();
            legal.sort_unstable();
            assert_eq!(named, legal, "{deal:?}");
            assert_eq!(analysis.threats.len(), usize::from(deal.seats));
        });
    }
}

#[test]
fn a_board_of_a_million_cells_is_played() {
    let deal = Deal::of("gomoku").with("size", 1_000);
    let arena = Arena::of(&deal, 1).moves("cv500 a1 cw501 a2 cx502 a3 cy503");
    for (bot, block) in [(bot("heuristic", 20_000), true), (bot("minimax", 20_000), true), (bot("mcts", 2_000), false)] {
        let choice = check(&deal, &arena, bot);
        let blocks = ["cu499", "cz504"].contains(&arena.write(choice.action).as_str());
        assert!(blocks || !block, "{bot:?} chose {}", arena.write(choice.action));
    }
}

#[test]
fn a_seat_that_has_left_is_given_no_turn_ahead() {
    // X and O have left two of three marks in two lines; Y moves, and A, who could win at once, is gone.
    let deal = Deal { seats: 3, ..Deal::of("mnk").with("rows", 3).with("cols", 4).with("k", 3) };
    let mut arena = Arena::of(&deal, 1);
    for notation in ["a1", "a3", "d2", "b1", "b3"] {
        let action = arena.play.rules().read_action(notation).unwrap();
        arena.act(action);
    }
    // Seat 2 is to move; seat 1 threatens c3, but was the one that left.
    let all = arena.view();
    let without = all.among(SeatSet::all(3).without(Seat(1)));
    let threats = |view: &plybook_bots::View<'_>| {
        let mut chance = Chance::for_advice(view);
        analyse(view, &mut Meter::unstopped(Budget(20_000)), &mut chance).unwrap().threats
    };
    assert!(!threats(&all)[1].is_empty(), "seat 1 threatens while it is there");
    assert!(threats(&without)[1].is_empty(), "and nothing once it has left");
}

#[test]
fn a_seat_that_has_left_blocks_nothing_ahead() {
    // X makes an open two of three: one seat alone cannot close both of its ends, two can.
    let deal = Deal::of("mnk").with("rows", 2).with("cols", 7).with("k", 3).seats(3);
    let mut arena = Arena::of(&deal, 1);
    for notation in ["c1", "a2", "g2"] {
        let action = arena.play.rules().read_action(notation).unwrap();
        arena.act(action);
    }
    let minimax = Bots::standard().find("minimax", None).unwrap().clone();
    let wins = |view: &plybook_bots::View<'_>| {
        let mut chance = Chance::for_advice(view);
        minimax.choose(view, &mut Meter::unstopped(Budget(200_000)), &mut chance).unwrap().score.is_win()
    };
    assert!(!wins(&arena.view()));
    assert!(wins(&arena.view().among(SeatSet::all(3).without(Seat(1)))));
}
