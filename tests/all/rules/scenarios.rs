//! What broke in other people's rules, one test a row of the list of scenarios, and its neighbours.

use std::collections::BTreeSet;

use plybook_core::outcome::CellRun;
use plybook_tests::deal::Deal;
use plybook_tests::random::Random;
use plybook_tests::table::table;

#[test]
fn scenario_77_a_win_on_the_last_cell_is_a_win() {
    const LAST: &str = "a1 a3 c3 c1 b3 b1 a2 c2 b2";
    table().mnk(3, 3, 3).play(LAST).ply(9).wins(0).because("line").through("a1 b2 c3");
    table().mnk(3, 3, 3).with("win", "full_line").play(LAST).wins(0).because("full_line");
    table().mnk(3, 3, 3).with("early_draw", true).play(LAST).wins(0);
    table().mnk(3, 3, 3).with("misere", true).play(LAST).wins(1).through("a1 b2 c3");
    table().mnk(3, 3, 3).play("a1 b2 c3 b1 b3 a3 c1 c2 a2").ply(9).draws("board_full");
    table().mnk(1, 2, 1).play("a1").wins(0);
    table().mnk(2, 2, 2).with("win", "four_corners").play("a1 b1 a2 b2").draws("board_full");
}

/// Random games on 7×6 until some fill the board with and without a line on the last cell.
#[test]
fn scenario_77_a_win_on_the_last_cell_of_connect_four_is_a_win() {
    let (deal, mut random) = (Deal::of("connect_four"), Random::new(77));
    let (mut wins, mut draws) = (0, 0);
    while wins < 5 || draws < 5 {
        let mut play = deal.play();
        while let Some((action, _)) = random.action(&play) {
            play.play(action, &[]).unwrap();
        }
        let outcome = play.position().outcome().unwrap();
        if play.position().ply() == 42 {
            let line = !outcome.lines.is_empty();
            assert_eq!(line, !outcome.winning_seats().is_empty());
            assert_eq!(outcome.reason.as_str(), if line { "line" } else { "board_full" });
            if line { wins += 1 } else { draws += 1 }
        }
    }
}

#[test]
fn scenario_79_an_overline_counts_where_the_rule_says_so() {
    // Three, a gap, two: the gap makes six.
    const SIX: &str = "a1 a9 b1 c9 c1 e9 e1 g9 f1 i9 d1";
    table().mnk(9, 9, 5).play(SIX).wins(0).through("a1 b1 c1 d1 e1 f1");
    table().mnk(9, 9, 5).with("win", "exact").play(SIX).goes_on();
    table().gomoku(9).play(SIX).wins(0);
    table().gomoku(9).with("rule", "standard").play(SIX).goes_on();
    // Three, a gap, three: seven.
    const SEVEN: &str = "a1 a9 b1 c9 c1 e9 e1 g9 f1 i9 g1 b9 d1";
    table().mnk(9, 9, 5).play(SEVEN).wins(0).through("a1 b1 c1 d1 e1 f1 g1");
    table().mnk(9, 9, 5).with("win", "exact").play(SEVEN).goes_on();
}

#[test]
fn scenario_79_filling_a_gap_joins_both_halves() {
    const FIVE: &str = "a1 a9 b1 c9 c1 e9 e1 g9 d1";
    for rule in ["freestyle", "standard"] {
        table().gomoku(9).with("rule", rule).play(FIVE).wins(0).through("a1 b1 c1 d1 e1");
    }
    // Six along the row and five along the column: the five wins.
    const BOTH: &str = "a1 a9 b1 c9 c1 e9 e1 g9 f1 i9 d2 b7 d3 d7 d4 f7 d5 h7 d1";
    table().gomoku(9).with("rule", "standard").play(BOTH).wins(0).through("d1 d2 d3 d4 d5");
    table().connect_four(6, 7, 4).play("1 1 2 2 4 4 3").wins(0).through("a1 b1 c1 d1");
    table().connect_four(6, 9, 4).play("1 1 2 2 3 5 5 1 6 6 7 7 4").wins(0).through("a1 b1 c1 d1");
}

/// A row and a column, from the top left.
type Place = (i64, i64);

/// Every line of `k` cells.
fn every_line(rows: i64, cols: i64, k: i64) -> Vec<Vec<Place>> {
    let mut lines = Vec::new();
    for (down, right) in [(0, 1), (1, 0), (1, 1), (1, -1)] {
        for (row, col) in (0..rows).flat_map(|row| (0..cols).map(move |col| (row, col))) {
            let line: Vec<Place> = (0..k).map(|step| (row + step * down, col + step * right)).collect();
            if line.iter().all(|(row, col)| (0..rows).contains(row) && (0..cols).contains(col)) {
                lines.push(line);
            }
        }
    }
    lines
}

fn name(rows: i64, (row, col): Place) -> String {
    format!("{}{}", char::from(b'a' + col as u8), rows - row)
}

/// Seat 0 plays `line` with its cell number `last` last; seat 1 answers on cells that never touch.
fn moves_of(rows: i64, cols: i64, line: &[Place], last: usize) -> String {
    let apart = (0..rows).step_by(2).flat_map(|row| (0..cols).step_by(2).map(move |col| (row, col)));
    let mut apart = apart.filter(|place| !line.contains(place));
    let mut order = line.to_vec();
    order.rotate_left(last + 1);
    let answered = order.iter().flat_map(|own| [*own, apart.next().expect("there is room for answers")]);
    let moves: Vec<String> = answered.take(2 * line.len() - 1).map(|place| name(rows, place)).collect();
    moves.join(" ")
}

#[test]
fn scenario_80_every_line_of_the_board_wins() {
    for (rows, cols, k, count) in [(6, 7, 4, 69), (7, 6, 4, 69), (5, 9, 4, 72), (9, 9, 5, 140)] {
        let lines = every_line(rows, cols, k);
        assert_eq!(lines.len(), count, "lines of {k} on {rows}x{cols}");
        for line in lines {
            let through: Vec<String> = line.iter().map(|place| name(rows, *place)).collect();
            for last in 0..line.len() {
                for win in ["run", "exact"] {
                    let moves = moves_of(rows, cols, &line, last);
                    table().mnk(rows, cols, k).with("win", win).play(&moves).wins(0).because("line").through(&through.join(" "));
                }
            }
        }
    }
}

#[test]
fn scenario_80_a_vertical_four_wins_in_every_column() {
    for seats in 2..=4u8 {
        for column in 1..=12 {
            let other = if column == 12 { 1 } else { column + 1 };
            // The others share a column, and no four of theirs come together.
            let round = format!("{column} {}", format!("{other} ").repeat(usize::from(seats) - 1));
            let laid = table().connect_four(20, 12, 4).seats(seats);
            let letter = char::from(b'a' + column as u8 - 1);
            let through: Vec<String> = (1..=4).map(|row| format!("{letter}{row}")).collect();
            laid.play(&round.repeat(3)).play(&column.to_string()).wins(0).through(&through.join(" "));
        }
    }
}

/// Random games until each of the 69 lines of 7×6 has decided one, for either seat.
#[test]
fn scenario_80_every_line_of_connect_four_wins() {
    let mut wanted: BTreeSet<(u8, CellRun)> = BTreeSet::new();
    for line in every_line(6, 7, 4) {
        let mut cells: Vec<u32> = line.iter().map(|(row, col)| (row * 7 + col) as u32).collect();
        cells.sort_unstable();
        let run = CellRun { first: plybook_core::Cell(cells[0]), step: cells[1] - cells[0], count: 4 };
        wanted.extend([(0, run), (1, run)]);
    }
    assert_eq!(wanted.len(), 138);
    let (deal, mut random) = (Deal::of("connect_four"), Random::new(80));
    for _ in 0..100_000 {
        let mut play = deal.play();
        while let Some((action, _)) = random.action(&play) {
            play.play(action, &[]).unwrap();
        }
        let outcome = play.position().outcome().unwrap();
        for (seat, run) in outcome.winning_seats().iter().flat_map(|seat| outcome.lines.iter().map(move |run| (seat, run))) {
            wanted.remove(&(seat.0, *run));
        }
        if wanted.is_empty() {
            return;
        }
    }
    panic!("these lines never won: {wanted:?}");
}

#[test]
fn scenario_26_two_undos_leave_one_disc() {
    let one_disc = "....... / ....... / ....... / ....... / ....... / ...X...";
    table().connect_four(6, 7, 4).play("4 4 5").undo(2).board(one_disc).turn(1).ply(1);
    table().connect_four(6, 7, 4).play("4 4 5").undo(1).undo(1).board(one_disc).turn(1).ply(1);
}

#[test]
fn scenario_10_and_14_a_refused_move_changes_nothing_and_says_why() {
    table().mnk(3, 3, 3).play("b2").refuses("b2", "CELL_OCCUPIED").turn(1).refuses("d4", "INVALID_ACTION").turn(1).play("a1").turn(0);
    table().connect_four(2, 3, 2).play("1 1").refuses("1", "COLUMN_FULL").refuses("4", "INVALID_ACTION").refuses("1^", "INVALID_ACTION");
    table().connect_four(4, 4, 4).with("pop_out", true).play("1 2").refuses("2^", "NOT_YOUR_PIECE").refuses("3^", "NOT_YOUR_PIECE");
    table().othello(8).refuses("a1", "NO_CAPTURE").refuses("d4", "CELL_OCCUPIED").refuses("i9", "INVALID_ACTION").play("f5");
    table().snakes(20, &[]).refuses("b2", "INVALID_ACTION").refuses_seat(1, "roll", "NOT_YOUR_TURN");
}

#[test]
fn seats_of_a_game_for_many_play_in_turn_and_win_together() {
    let misere = || table().mnk(3, 3, 2).with("misere", true).seats(4);
    misere().play("a1 b3 c1 c3 a2").win_together(&[1, 2, 3]).through("a1 a2");
    misere().play("a1 b3 c1 b1 c3 a3").win_together(&[0, 2, 3]);
    table().mnk(3, 3, 3).seats(8).play("a1 a2 a3 b1 b2 b3 c1 c2 c3").ply(9).draws("board_full");
}

#[test]
fn whole_lines_and_corners_win_beside_runs() {
    table().mnk(3, 4, 3).with("win", "four_corners").play("a1 b1 d1 b2 a3 b3 d3").wins(0).because("four_corners").through("a1 a3 d1 d3");
    table().mnk(3, 4, 3).with("win", "run+four_corners").play("a1 b1 d1 b2 a3 b3").wins(1).because("line");
    table().mnk(3, 4, 3).with("win", "full_line").play("a1 b1 a2 b2 a3").wins(0).because("full_line").through("a1 a2 a3");
    table().mnk(2, 4, 2).with("win", "full_line").play("a1 a2 b1 b2 c1 c2 d1").wins(0).through("a1 b1 c1 d1");
}

#[test]
fn a_draw_comes_as_early_as_it_is_certain() {
    let blocked = "b2 a1 c1 a3 a2 c2 b3";
    table().mnk(3, 3, 3).play(blocked).goes_on();
    table().mnk(3, 3, 3).with("early_draw", true).play(blocked).goes_on().play("b1").draws("no_line_left").ply(8);
}

#[test]
fn a_popped_column_may_complete_a_line_for_either_seat() {
    let laid = || table().connect_four(4, 4, 3).with("pop_out", true);
    // Seat 0 takes its disc out below seat 1's, which comes to stand beside its neighbours.
    laid().play("1 1 4 2 4 3").board(".... / .... / O..X / XOOX").play("1^").wins(1).through("a1 b1 c1");
    laid().play("1").undo(1).play("1 2").play("1^").board(".... / .... / .... / .O..").turn(1);
}

#[test]
fn a_position_for_the_third_time_means_what_its_version_says() {
    let laid = |version: u32| table().connect_four(4, 4, 3).version(version).with("pop_out", true).play("1 2 1^ 2^ 1 2 1^");
    laid(1).play("2^").draws("repetition");
    let refused = laid(2).refuses("2^", "REPETITION").goes_on().legal("1 2 3 4");
    // What was taken back has not stood.
    refused.undo(1).play("3").undo(1).play("1^").refuses("2^", "REPETITION").undo(4).play("2^ 1 2 1^").refuses("2^", "REPETITION");
    // Without pops no position comes again, and the versions are the same game.
    for version in [1, 2] {
        table().connect_four(2, 2, 2).version(version).play("1 2 1").wins(0).because("line");
    }
}

#[test]
fn a_seat_that_could_only_repeat_makes_the_game_a_draw() {
    let moves = "1 2 1 1 2 2^ 2^ 2 2 2^ 2^";
    let laid = |version: u32| table().connect_four(3, 2, 3).version(version).with("pop_out", true).undo_after_end().play(moves);
    laid(2).draws("no_move").undo(1).goes_on().play("2^").draws("no_move");
    laid(1).goes_on();
}
