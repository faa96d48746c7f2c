//! The strategy `perfect`: best moves where it says so, and some move everywhere.

use std::cell::Cell as Flag;

use plybook_bots::{Bots, Budget, Chance, Meter, NoChoice, Score};
use plybook_core::Seat;
use plybook_tests::arena::{Bot, bot, contest};
use plybook_tests::deal::Deal;
use plybook_tests::random::repeat;

use super::Game;

const PERFECT: Bot = bot("perfect", 2_000_000);

#[test]
fn nobody_beats_it_at_tic_tac_toe() {
    let deal = Deal::of("mnk");
    let tally = contest(&deal, PERFECT, bot("random", 1), 40);
    assert!(tally.lost == 0 && tally.won >= 25, "{tally:?}");
    for other in [bot("minimax", 50_000), PERFECT] {
        let tally = contest(&deal, PERFECT, other, 2);
        assert_eq!(tally.drawn, 2, "{tally:?}");
    }
}

/// From a position that it has won, it wins as soon as it said, whoever plays against it.
#[test]
fn a_win_comes_when_it_is_foretold() {
    let mut foretold = 0;
    repeat(60, |random| {
        for (ruleset, vacant) in [("connect_four", 20), ("mnk", 6)] {
            let mut game = Game::of(&Deal::of(ruleset));
            if !game.play_to(vacant, random) {
                continue;
            }
            let choice = game.arena.choose(PERFECT).unwrap();
            assert!(choice.exact && choice.scores == [(choice.action, choice.score)]);
            let (seat, begun) = (game.arena.play.position().to_move().unwrap(), game.arena.play.position().ply());
            let mut expected = choice.score;
            while let Some(mover) = game.arena.play.position().to_move() {
                let action = if mover == seat {
                    game.arena.choose(PERFECT).unwrap().action
                } else {
                    game.arena.choose(bot("heuristic", 200)).unwrap().action
                };
                game.arena.act(action);
                if game.arena.play.position().to_move() == Some(seat) {
                    // Better than foretold only by the other's mistakes.
                    let plies = game.arena.play.position().ply() - begun;
                    let now = game.arena.choose(PERFECT).unwrap().score.later(plies);
                    assert!(now >= expected, "{now:?} is less than {expected:?}");
                    expected = now;
                }
            }
            let outcome = game.arena.play.position().outcome().unwrap().clone();
            let end = Score::of(&outcome, seat, game.arena.play.position().ply() - begun);
            assert!(end >= expected, "{end:?} is less than {expected:?}");
            foretold += u32::from(choice.score.is_win());
        }
    });
    assert!(foretold >= 20, "{foretold} wins");
}

#[test]
fn the_end_of_othello_is_exact_and_far_from_it_is_not() {
    repeat(4, |random| {
        let mut game = Game::of(&Deal::of("othello"));
        let far = game.arena.choose(bot("perfect", 2_000)).unwrap();
        assert!(!far.exact);
        if game.play_to(9, random) {
            let near = game.arena.choose(PERFECT).unwrap();
            let (mut solver, mut meter) = game.solver(2_000_000);
            let best = solver.best(&mut meter).unwrap();
            assert!(near.exact);
            assert_eq!((near.action, near.score), (best.action, solver.rated(best.score)));
        }
    });
}

/// What is too hard is left to `minimax`, with what the solver did not use up.
#[test]
fn beyond_its_budget_it_looks_ahead_like_minimax() {
    for budget in [0, 1, 20, 2_000] {
        let game = Game::of(&Deal::of("connect_four"));
        let choice = game.arena.choose(bot("perfect", budget)).unwrap();
        let minimax = game.arena.choose(bot("minimax", budget / 2)).unwrap();
        assert!(!choice.exact);
        assert_eq!((choice.action, choice.score), (minimax.action, minimax.score), "{budget} nodes");
        assert_eq!(game.arena.choose(bot("perfect", budget)), Ok(choice), "it is the same again");
    }
}

#[test]
fn it_plays_what_solvers_know_and_ends_when_it_is_stopped() {
    let perfect = Bots::standard().find("perfect", None).unwrap().clone();
    for deal in
        [Deal::of("gomoku"), Deal::of("mnk").seats(3), Deal::of("connect_four").with("pop_out", true), Deal::of("snakes_and_ladders")]
    {
        assert!(!perfect.plays(&Game::of(&deal).arena.view()), "{deal:?}");
    }
    let game = Game::of(&Deal::of("connect_four"));
    assert!(perfect.plays(&game.arena.view()));
    for times in [1, 2, 5] {
        let asked = Flag::new(0);
        let stop = || {
            asked.set(asked.get() + 1);
            asked.get() >= times
        };
        let before = game.arena.play.clone();
        let found =
            perfect.choose(&game.arena.view(), &mut Meter::new(Budget(100_000_000), &stop), &mut Chance::for_advice(&game.arena.view()));
        assert_eq!(found, Err(NoChoice::Stopped));
        assert_eq!(game.arena.play.position(), before.position());
    }
    assert_eq!(game.arena.play.position().to_move(), Some(Seat(0)));
}
