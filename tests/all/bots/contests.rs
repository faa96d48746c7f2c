//! Who beats whom: 200 games each, with fixed seeds, so that what holds once holds for ever.

use plybook_tests::arena::{Bot, Tally, bot, contest};
use plybook_tests::deal::Deal;

const GAMES: u64 = 200;
const RANDOM: Bot = bot("random", 1);
const HEURISTIC: Bot = bot("heuristic", 2_000);
const MINIMAX: Bot = bot("minimax", 1_000);
const MCTS: Bot = bot("mcts", 1_500);

fn tic_tac_toe() -> Deal {
    Deal::of("mnk")
}

fn four_in_a_row() -> Deal {
    Deal::of("connect_four").with("rows", 4).with("cols", 5)
}

fn small_othello() -> Deal {
    Deal::of("othello").with("size", 4)
}

fn five_by_five() -> Deal {
    Deal::of("mnk").with("rows", 5).with("cols", 5).with("k", 4)
}

fn three_seats() -> Deal {
    Deal::of("mnk").with("rows", 4).with("cols", 4).seats(3)
}

#[track_caller]
fn beats(deal: &Deal, one: Bot, others: Bot, least_won: u32, most_lost: u32) {
    let tally = contest(deal, one, others, GAMES);
    assert!(tally.won >= least_won && tally.lost <= most_lost, "{one:?} against {others:?}: {tally:?}");
}

#[test]
fn heuristic_beats_random() {
    beats(&tic_tac_toe(), HEURISTIC, RANDOM, 180, 3);
    beats(&four_in_a_row(), HEURISTIC, RANDOM, 185, 3);
    beats(&small_othello(), HEURISTIC, RANDOM, 170, 25);
    beats(&five_by_five(), HEURISTIC, RANDOM, 198, 0);
    beats(&three_seats(), HEURISTIC, RANDOM, 175, 18);
}

#[test]
fn minimax_beats_random() {
    beats(&tic_tac_toe(), MINIMAX, RANDOM, 180, 0);
    beats(&four_in_a_row(), MINIMAX, RANDOM, 190, 0);
    beats(&small_othello(), MINIMAX, RANDOM, 180, 15);
    beats(&five_by_five(), MINIMAX, RANDOM, 198, 0);
    beats(&three_seats(), MINIMAX, RANDOM, 185, 8);
}

#[test]
fn mcts_beats_random() {
    beats(&tic_tac_toe(), MCTS, RANDOM, 180, 0);
    beats(&four_in_a_row(), MCTS, RANDOM, 185, 0);
    beats(&small_othello(), MCTS, RANDOM, 180, 12);
    beats(&five_by_five(), MCTS, RANDOM, 198, 0);
    beats(&three_seats(), MCTS, RANDOM, 180, 8);
}

#[test]
fn minimax_is_no_worse_than_heuristic() {
    beats(&tic_tac_toe(), MINIMAX, HEURISTIC, 0, 0);
    beats(&four_in_a_row(), MINIMAX, HEURISTIC, 90, 0);
    beats(&small_othello(), MINIMAX, HEURISTIC, 190, 0);
    beats(&five_by_five(), MINIMAX, HEURISTIC, 45, 0);
}

#[test]
fn dice_make_every_strategy_equal() {
    let race = Deal::of("snakes_and_ladders").with("size", 30);
    let tallies: Vec<Tally> = [HEURISTIC, MINIMAX, MCTS].into_iter().map(|bot| contest(&race, bot, RANDOM, GAMES)).collect();
    assert!(tallies.iter().all(|tally| *tally == contest(&race, RANDOM, RANDOM, GAMES)), "{tallies:?}");
}
