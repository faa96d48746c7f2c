//! Snakes and ladders as a Markov chain: mean throws computed from the real rules, not by sampling.

use std::collections::BTreeMap;

use plybook_core::{Action, Play};
use plybook_tests::deal::Deal;

/// The board of Milton Bradley's game.
const MILTON_BRADLEY: [i64; 38] = [
    1, 38, 4, 14, 9, 31, 16, 6, 21, 42, 28, 84, 36, 44, 47, 26, 49, 11, 51, 67, 56, 53, 62, 19, 64, 60, 71, 91, 80, 100, 87, 24, 93, 73,
    95, 75, 98, 78,
];

const SIDES: u8 = 6;

/// From each position that one token can come to, the positions after each face; none at the end.
/// Positions are known by their canonical squares alone, so the chain is found by playing.
fn chain(deal: &Deal) -> Vec<Option<Vec<usize>>> {
    let square = |play: &Play| play.rules().scores(play.position())[0];
    let start = deal.play();
    let mut numbers = BTreeMap::from([(square(&start), 0)]);
    let mut plays = vec![start];
    let mut rows = Vec::new();
    while rows.len() < plays.len() {
        let here = plays[rows.len()].clone();
        let mut after = |face: u8| {
            let mut play = here.clone();
            play.play(Action::Roll, &[face]).unwrap();
            let fresh = numbers.len();
            let number = *numbers.entry(square(&play)).or_insert(fresh);
            if number == plays.len() {
                plays.push(play);
            }
            number
        };
        rows.push(here.position().to_move().is_some().then(|| (1..=SIDES).map(&mut after).collect()));
    }
    rows
}

/// Mean throws from the start: E(end) = 0, E(s) = 1 + the mean of E over the six faces.
fn mean_throws(deal: &Deal) -> f64 {
    let rows = chain(deal);
    let n = rows.len();
    let mut matrix = vec![vec![0.0f64; n + 1]; n];
    for (number, row) in rows.iter().enumerate() {
        matrix[number][number] = 1.0;
        let Some(after) = row else { continue };
        matrix[number][n] = 1.0;
        after.iter().for_each(|to| matrix[number][*to] -= 1.0 / f64::from(SIDES));
    }
    solve(&mut matrix)[0]
}

/// Gaussian elimination with the greatest pivot.
fn solve(matrix: &mut [Vec<f64>]) -> Vec<f64> {
    let n = matrix.len();
    for pivot in 0..n {
        let greatest = (pivot..n).max_by(|a, b| matrix[*a][pivot].abs().total_cmp(&matrix[*b][pivot].abs())).unwrap();
        matrix.swap(pivot, greatest);
        let row = matrix[pivot].clone();
        assert!(row[pivot].abs() > 1e-12, "every square leads to the end");
        for other in (0..n).filter(|other| *other != pivot) {
            let factor = matrix[other][pivot] / row[pivot];
            if factor != 0.0 {
                matrix[other].iter_mut().zip(&row).for_each(|(cell, of)| *cell -= factor * of);
            }
        }
    }
    (0..n).map(|row| matrix[row][n] / matrix[row][row]).collect()
}

#[track_caller]
fn check(finish: &str, mean: &str) {
    let board = Deal::of("snakes_and_ladders").with("jumps", &MILTON_BRADLEY[..]).with("edge_jumps", true).seats(1);
    assert_eq!(format!("{:.6}", mean_throws(&board.with("finish", finish))), mean, "finish={finish}");
}

#[test]
fn mean_throws_of_one_token_on_milton_bradleys_board() {
    check("stay", "39.225122");
    check("reach", "35.834938");
    check("bounce", "43.324597");
}

#[test]
fn its_jumps_from_the_first_and_to_the_last_square_need_a_parameter() {
    let board = Deal::of("snakes_and_ladders").with("jumps", &MILTON_BRADLEY[..]).seats(1);
    board.table().cannot_begin("jumps", "needs edge_jumps");
}
