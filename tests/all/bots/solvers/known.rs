//! Values that the literature knows, and what becomes of positions that no solver knows.

use std::cell::Cell as Flag;

use plybook_bots::solve::{Halt, Solver};
use plybook_bots::{Budget, Meter};
use plybook_tests::deal::Deal;
use plybook_tests::random::{Random, repeat};

use super::Game;

fn grid(rows: i64, cols: i64, k: i64) -> Deal {
    Deal::of("mnk").with("rows", rows).with("cols", cols).with("k", k)
}

/// 1 where who begins wins, 0 for a draw, -1 where the other wins.
fn result(deal: &Deal) -> i32 {
    let (mut solver, mut meter) = Game::of(deal).solver(20_000_000);
    solver.best(&mut meter).unwrap().score.signum()
}

/// J. W. H. M. Uiterwijk and H. J. van den Herik, "The advantage of the initiative" (2000), and
/// "m,n,k-game" in Wikipedia: three in a row win on 3 by 4 and everything larger, never on 3 by 3 or two
/// rows; four in a row do not win up to 5 by 5.
#[test]
fn grids_are_worth_what_the_literature_says() {
    for (rows, cols, k, wanted) in [
        (1, 2, 1, 1),
        (1, 2, 2, 0),
        (2, 2, 2, 1),
        (1, 3, 2, 1),
        (1, 12, 3, 0),
        (2, 8, 3, 0),
        (3, 3, 3, 0),
        (3, 4, 3, 1),
        (4, 3, 3, 1),
        (3, 5, 3, 1),
        (4, 4, 3, 1),
        (3, 4, 4, 0),
        (3, 5, 4, 0),
        (4, 4, 4, 0),
    ] {
        assert_eq!(result(&grid(rows, cols, k)), wanted, "{k} in a row on {rows} by {cols}");
    }
}

/// Whoever begins takes the centre and then answers each move with the one opposite: a line that this
/// completes mirrors one that the other has already.
#[test]
fn misere_tic_tac_toe_is_a_draw() {
    let game = Game::of(&grid(3, 3, 3).with("misere", true));
    let scores = game.scores(1_000_000).unwrap();
    let drawn: Vec<u32> = scores.iter().enumerate().filter(|(_, (_, score))| *score == 0).map(|(cell, _)| cell as u32).collect();
    assert_eq!(drawn, [4], "the centre alone holds the draw");
    assert!(scores.iter().all(|(_, score)| *score <= 0));
}

#[test]
fn other_games_have_no_solver() {
    for deal in [
        Deal::of("connect_four").with("pop_out", true),
        Deal::of("connect_four").with("k", 3),
        Deal::of("connect_four").seats(3),
        Deal::of("connect_four").with("rows", 9),
        Deal::of("connect_four").with("rows", 1000).with("cols", 1000),
        Deal::of("mnk").seats(3),
        grid(3, 11, 3),
        grid(1000, 1000, 5),
        Deal::of("gomoku"),
        Deal::of("othello").with("size", 10),
        Deal::of("snakes_and_ladders"),
    ] {
        let game = Game::of(&deal);
        assert!(!Solver::knows(&game.arena.view()), "{deal:?}");
        assert!(Solver::of(&game.arena.view(), 1_000).is_none(), "{deal:?}");
    }
    let far = Game::of(&Deal::of("othello"));
    assert!(Solver::knows(&far.arena.view()) && Solver::of(&far.arena.view(), 1_000).is_none(), "the end of Othello is too far");
}

#[test]
fn a_game_that_is_over_has_no_solver() {
    for ruleset in ["connect_four", "mnk", "othello"] {
        let mut game = Game::of(&Deal::of(ruleset));
        game.play_to(0, &mut Random::new(7));
        while let Some((action, _)) = Random::new(7).action(&game.arena.play) {
            game.arena.play.play(action, &[]).unwrap();
        }
        assert!(Solver::knows(&game.arena.view()) && Solver::of(&game.arena.view(), 1_000).is_none(), "{ruleset}");
    }
}

/// With every budget: nothing, or what the greatest budget finds.
#[test]
fn a_budget_that_is_too_small_gives_no_answer_rather_than_a_wrong_one() {
    repeat(12, |random| {
        for (ruleset, vacant) in [("connect_four", 16), ("mnk", 9), ("othello", 9)] {
            let mut game = Game::of(&Deal::of(ruleset));
            if !game.play_to(vacant, random) {
                continue;
            }
            let (mut solver, mut meter) = game.solver(10_000_000);
            let best = solver.best(&mut meter).unwrap();
            let needed = meter.spent();
            for nodes in [0, 1, 2, needed / 3, needed.saturating_sub(1), needed, needed + 1] {
                let mut meter = Meter::unstopped(Budget(nodes));
                let found = Solver::of(&game.arena.view(), 10_000_000).unwrap().best(&mut meter);
                assert_eq!(found, if nodes < needed { Err(Halt::OverBudget) } else { Ok(best) }, "{ruleset}: {nodes} of {needed} nodes");
                assert!(meter.spent() <= nodes);
            }
        }
    });
}

#[test]
fn a_search_that_nobody_waits_for_ends() {
    let game = Game::of(&Deal::of("connect_four"));
    let asked = Flag::new(0u32);
    let stop = || {
        asked.set(asked.get() + 1);
        asked.get() == 10
    };
    let mut meter = Meter::new(Budget(u64::MAX), &stop);
    let found = Solver::of(&game.arena.view(), 1_000_000).unwrap().best(&mut meter);
    assert_eq!((found, asked.get()), (Err(Halt::Stopped), 10));
}
