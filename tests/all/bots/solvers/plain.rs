//! Solvers against a search that asks the rules for every move and has no table, no bounds and no
//! order.

use plybook_core::{Action, Play, Position, Seat};
use plybook_tests::deal::{Deal, WIN_RULES};
use plybook_tests::random::{Random, repeat};

use super::Game;

/// What the end of a game is worth to its winners, from the position alone.
type Worth = fn(&Position) -> i32;

fn vacant(position: &Position) -> i32 {
    position.board().len() as i32 - position.board().occupied().count() as i32
}

/// One more than the discs that the winner, who moved last, has left.
fn discs_left(position: &Position) -> i32 {
    1 + vacant(position) / 2
}

fn cells_left(position: &Position) -> i32 {
    1 + vacant(position)
}

fn difference(position: &Position) -> i32 {
    let of = |seat: u8| position.board().occupied().filter(|(_, disc)| disc.owner() == Some(Seat(seat))).count() as i32;
    (of(0) - of(1)).abs()
}

fn worth(play: &mut Play, seat: Seat, worth_of: Worth) -> i32 {
    if let Some(outcome) = play.position().outcome() {
        let winners = outcome.winning_seats();
        let size = worth_of(play.position());
        return if winners.is_empty() {
            0
        } else if winners.contains(seat) {
            size
        } else {
            -size
        };
    }
    let mover = play.position().to_move().unwrap();
    let scores = scores(play, worth_of);
    let best = scores.into_iter().map(|(_, score)| score).max().unwrap();
    if mover == seat { best } else { -best }
}

/// Every legal move with what it is worth to the seat that makes it.
fn scores(play: &mut Play, worth_of: Worth) -> Vec<(Action, i32)> {
    let mover = play.position().to_move().unwrap();
    let mut scores = Vec::new();
    for action in play.legal() {
        play.play(action, &[]).unwrap();
        scores.push((action, worth(play, mover, worth_of)));
        play.back();
    }
    scores.sort_unstable();
    scores
}

#[track_caller]
fn check(game: &mut Game, worth_of: Worth) {
    let mut solved = game.scores(10_000_000).unwrap();
    solved.sort_unstable();
    assert_eq!(solved, scores(&mut game.arena.play, worth_of), "{:?}", game.arena);
}

/// Checks `deal`'s positions with so many vacant cells; whether the random game came so far.
fn check_at(deal: &Deal, vacant: usize, worth_of: Worth, random: &mut Random) -> bool {
    let mut game = Game::of(deal);
    let open = game.play_to(vacant, random);
    if open {
        check(&mut game, worth_of);
    }
    open
}

#[test]
fn connect_four_of_every_size_agrees_with_a_plain_search() {
    let mut checked = 0;
    repeat(600, |random| {
        // The widest and the tallest boards that fit into a word are among them.
        let (rows, cols) =
            *random.pick(&[(4, 4), (4, 5), (5, 4), (6, 7), (7, 8), (5, 9), (3, 16), (1, 32), (31, 2), (63, 1), (2, 21), (15, 4)]);
        let deal = Deal::of("connect_four").with("rows", rows).with("cols", cols);
        let most = if cols > 8 { 6 } else { 9 };
        let vacant = random.from_to(1, most) as usize;
        checked += u32::from(check_at(&deal, vacant, discs_left, random));
    });
    assert!(checked >= 100, "{checked} positions");
}

#[test]
fn whole_games_of_connect_four_on_little_boards_agree_with_a_plain_search() {
    for (rows, cols) in [(1, 4), (1, 7), (2, 4), (2, 5), (3, 4), (4, 3), (4, 1), (5, 2), (7, 1)] {
        check(&mut Game::of(&Deal::of("connect_four").with("rows", rows).with("cols", cols)), discs_left);
    }
}

#[test]
fn small_grids_of_every_rule_agree_with_a_plain_search() {
    let mut checked = [0; WIN_RULES.len()];
    repeat(900, |random| {
        let rule = random.below(WIN_RULES.len() as u64) as usize;
        let (rows, cols) = *random.pick(&[(3, 3), (3, 4), (4, 3), (4, 4), (2, 5), (1, 9), (9, 1), (4, 8), (5, 5), (2, 16), (1, 32)]);
        let deal = Deal::of("mnk")
            .with("rows", rows)
            .with("cols", cols)
            .with("k", random.from_to(1, 5))
            .with("win", WIN_RULES[rule])
            .with("misere", random.once_in(2))
            // It ends games sooner, so a plain search would find other distances.
            .with("early_draw", false);
        if deal.begin().is_ok() {
            let vacant = random.from_to(1, 7) as usize;
            checked[rule] += u32::from(check_at(&deal, vacant, cells_left, random));
        }
    });
    assert!(checked.iter().all(|checked| *checked >= 5), "{checked:?} positions of {WIN_RULES:?}");
}

#[test]
fn an_early_draw_changes_no_score() {
    let mut checked = 0;
    repeat(100, |random| {
        let deal = Deal::of("mnk").with("cols", random.from_to(3, 5)).with("misere", random.once_in(2)).with("early_draw", true);
        checked += u32::from(check_at(&deal, random.from_to(4, 8) as usize, cells_left, random));
    });
    assert!(checked >= 20, "{checked} positions");
}

#[test]
fn whole_games_on_little_grids_agree_with_a_plain_search() {
    for (rows, cols, k) in [(1, 8, 3), (2, 4, 2), (2, 4, 3), (3, 3, 2), (3, 3, 3)] {
        for misere in [false, true] {
            let deal = Deal::of("mnk").with("rows", rows).with("cols", cols).with("k", k).with("misere", misere);
            check(&mut Game::of(&deal), cells_left);
        }
    }
}

#[test]
fn the_ends_of_othello_agree_with_a_plain_search() {
    let mut checked = [0; 3];
    repeat(150, |random| {
        let size = random.below(3) as usize;
        let deal = Deal::of("othello").with("size", 4 + 2 * size as i64);
        let vacant = random.from_to(1, 8) as usize;
        checked[size] += u32::from(check_at(&deal, vacant, difference, random));
    });
    assert!(checked.iter().all(|checked| *checked >= 20), "{checked:?} positions");
}

/// Sixty thousand games: all of them.
#[test]
fn the_smallest_othello_is_solved_whole() {
    let mut game = Game::of(&Deal::of("othello").with("size", 4));
    check(&mut game, difference);
    let (mut solver, mut meter) = game.solver(1_000_000);
    // Second to move wins by 11 to 3.
    assert_eq!(solver.best(&mut meter).map(|best| best.score), Ok(-8));
}

/// A position is worth what its best move is worth to it: with twelve vacant cells, all the way down.
#[test]
fn ends_of_twelve_vacant_cells_are_worth_what_their_moves_are() {
    let mut checked = 0;
    repeat(12, |random| {
        let mut game = Game::of(&Deal::of("othello"));
        if !game.play_to(12, random) {
            return;
        }
        checked += 1;
        let mut scores = game.scores(50_000_000).unwrap();
        while let Some(seat) = game.arena.play.position().to_move() {
            let (action, score) = scores.iter().max_by_key(|(_, score)| *score).copied().unwrap();
            game.arena.play.play(action, &[]).unwrap();
            let Some(next) = game.arena.play.position().to_move() else {
                let ahead = difference(game.arena.play.position());
                assert_eq!(score.abs(), ahead);
                break;
            };
            scores = game.scores(50_000_000).unwrap();
            let best = scores.iter().map(|(_, score)| *score).max().unwrap();
            assert_eq!(score, if next == seat { best } else { -best }, "{:?}", game.arena.play.position());
        }
    });
    assert!(checked >= 8, "{checked} positions");
}
