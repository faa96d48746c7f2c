//! Wins, blocks and threats that are found.

use std::collections::BTreeSet;

use plybook_bots::{Analysis, Budget, Chance, Meter, Score, analyse};
use plybook_core::Seat;
use plybook_tests::arena::{Arena, Bot, bot};
use plybook_tests::deal::Deal;

const THINKING: [Bot; 3] = [bot("heuristic", 20_000), bot("minimax", 20_000), bot("mcts", 20_000)];

#[track_caller]
fn everybody_plays(deal: &Deal, moves: &str, good: &[&str]) {
    for bot in THINKING {
        let arena = Arena::of(deal, 1).moves(moves);
        let choice = arena.choose(bot).unwrap();
        let chosen = arena.write(choice.action);
        assert!(good.contains(&chosen.as_str()), "{bot:?} plays {chosen} after {moves}");
    }
}

#[test]
fn a_win_on_the_spot_is_taken() {
    everybody_plays(&Deal::of("mnk"), "a1 b2 a2 b3", &["a3"]);
    everybody_plays(&Deal::of("connect_four"), "4 1 4 1 4 1", &["4"]);
    everybody_plays(&Deal::of("connect_four").with("pop_out", true), "1 2 2 3 3 4 3 4 4 6", &["4"]);
    everybody_plays(&Deal::of("gomoku"), "h8 a1 h9 a2 h10 a3 h11 a4", &["h7", "h12"]);
    everybody_plays(&Deal::of("gomoku").with("size", 40), "h8 a1 h9 a2 h10 a3 h11 a4", &["h7", "h12"]);
}

#[test]
fn a_threat_is_blocked() {
    everybody_plays(&Deal::of("mnk"), "a1 b2 a2", &["a3"]);
    everybody_plays(&Deal::of("connect_four"), "4 1 4 1 4", &["4"]);
    everybody_plays(&Deal::of("gomoku"), "h8 a1 h9 a2 h10 h7 h11", &["h12"]);
    everybody_plays(&Deal::of("mnk").with("rows", 5).with("cols", 5).seats(3), "c3 a1 a5 c2", &["c1", "c4"]);
}

#[test]
fn who_completes_a_line_of_misere_does_not() {
    // The third of a row would lose; seat 0 stands on a1 and a2, and every other cell is better than a3.
    for bot in THINKING {
        let arena = Arena::of(&Deal::of("mnk").with("misere", true), 1).moves("a1 b2 a2 b1");
        assert_ne!(arena.write(arena.choose(bot).unwrap().action), "a3", "{bot:?}");
    }
}

/// Plays every answer of the other seat and counts the positions.
fn never_loses(arena: &Arena, own: Seat, seen: &mut BTreeSet<String>) {
    if !seen.insert(arena.view().diagram(&["X", "O"]).unwrap()) {
        return;
    }
    if let Some(outcome) = arena.play.position().outcome() {
        assert!(!outcome.winning_seats().contains(own.next(2)), "{}", arena.view().diagram(&["X", "O"]).unwrap());
        return;
    }
    let actions = if arena.play.position().to_move() == Some(own) {
        let choice = arena.choose(bot("minimax", 50_000)).unwrap();
        assert!(choice.exact && choice.score >= Score::EVEN, "{choice:?}");
        vec![choice.action]
    } else {
        arena.play.legal()
    };
    for action in actions {
        let mut next = arena.clone();
        next.act(action);
        never_loses(&next, own, seen);
    }
}

#[test]
fn minimax_never_loses_tic_tac_toe() {
    for own in [Seat(0), Seat(1)] {
        let mut seen = BTreeSet::new();
        never_loses(&Arena::of(&Deal::of("mnk"), 1), own, &mut seen);
        assert!(seen.len() > 50, "{}", seen.len());
    }
}

#[test]
fn minimax_knows_what_is_known() {
    let value = |deal: &Deal, budget: u64| {
        let choice = Arena::of(deal, 1).choose(bot("minimax", budget)).unwrap();
        assert!(choice.exact, "{deal:?}: {choice:?}");
        choice.score
    };
    let grid = |rows: i64, cols: i64, k: i64| Deal::of("mnk").with("rows", rows).with("cols", cols).with("k", k);
    assert_eq!(value(&grid(3, 3, 3), 50_000), Score::EVEN);
    assert!(value(&grid(3, 4, 3), 200_000).is_win(), "three in a row on 3 × 4 is won by the first");
    assert_eq!(value(&grid(2, 2, 2), 1_000), Score::win_in(3));
    assert_eq!(value(&Deal::of("mnk").with("misere", true), 200_000), Score::EVEN);
    // Three seats: two of them together keep the first from winning.
    assert!(!value(&grid(3, 3, 3).seats(3), 200_000).is_win());
    // Othello on 4 × 4 is won by the second seat.
    assert!(value(&Deal::of("othello").with("size", 4), 1_000_000).is_loss());
}

#[test]
fn a_win_that_takes_longer_is_seen() {
    // An open three on row 1: a fork at either end.
    let arena = Arena::of(&Deal::of("connect_four"), 1).moves("3 3 4 4");
    let choice = arena.choose(bot("minimax", 50_000)).unwrap();
    assert!(choice.exact && choice.score == Score::win_in(3), "{choice:?}");
    assert!(["2", "5"].contains(&arena.write(choice.action).as_str()), "{choice:?}");
}

fn analysis(arena: &Arena, budget: u64) -> Analysis {
    analyse(&arena.view(), &mut Meter::unstopped(Budget(budget)), &mut Chance::for_advice(&arena.view())).unwrap()
}

#[test]
fn threats_of_each_seat_are_the_cells_that_win_now() {
    let arena = Arena::of(&Deal::of("connect_four"), 1).moves("4 1 4 1 4 1");
    let threats = |arena: &Arena| -> Vec<Vec<String>> {
        analysis(arena, 5_000).threats.iter().map(|of| of.iter().map(|action| arena.write(*action)).collect()).collect()
    };
    assert_eq!(threats(&arena), [["4"], ["1"]]);
    let arena = Arena::of(&Deal::of("mnk"), 1).moves("a1 b1 a2 b2 c3");
    assert_eq!(threats(&arena), [["a3"], ["b3"]]);
    let race = Arena::of(&Deal::of("snakes_and_ladders").with("size", 8), 1);
    assert_eq!(threats(&race), [vec![], Vec::<String>::new()]);
}

#[test]
fn an_analysis_scores_every_action_for_the_seat_to_move() {
    let arena = Arena::of(&Deal::of("mnk"), 1).moves("a1 b2 a2");
    let analysis = analysis(&arena, 50_000);
    assert!(analysis.exact);
    let (best, rest) = analysis.actions.split_first().unwrap();
    assert_eq!((arena.write(best.0).as_str(), best.1), ("a3", Score::EVEN));
    assert_eq!(rest.len(), 5);
    assert!(rest.iter().all(|(_, score)| *score == Score::loss_in(2)), "{rest:?}");
}
