//! What a move costs in board reads: the same on the largest board as on a small one.

use std::ops::ControlFlow;

use plybook_core::action::Column;
use plybook_core::board::probe::reads_during;
use plybook_core::{Action, Cell, Play, Seat, SeatSet};
use plybook_tests::deal::{Deal, RULESETS};
use plybook_tests::random::{Random, repeat};

/// Reads that a move may take for each cell of a line's length. Eight arms of a run are at most K
/// long, and with `early_draw` the windows are looked at beforehand, as far; a few reads are spent
/// on the cell itself.
const READS_PER_K: u64 = 8;
const READS_BESIDES: u64 = 8;

fn bound(k: u64, looks: u64) -> u64 {
    looks * READS_PER_K * k + READS_BESIDES
}

/// The most reads of one move among `moves`, which are played as long as the game goes on.
fn most_reads(deal: &Deal, moves: impl Iterator<Item = Action>) -> (u64, u32) {
    let mut play: Play = deal.play();
    let mut most = 0;
    for action in moves {
        if play.position().to_move().is_none() {
            break;
        }
        // Some of the random moves are not legal; only those that are played count.
        let (resolved, resolving) = reads_during(|| play.resolve(action, &[]));
        let Ok(changes) = resolved else { continue };
        let (_, stepping) = reads_during(|| play.step(changes, false));
        most = most.max(resolving + stepping);
    }
    (most, play.position().ply())
}

/// Places on a patch in the board's middle, so that runs get long.
fn places(rows: u32, cols: u32) -> impl Iterator<Item = Action> {
    let mut random = Random::new(6);
    (0..400).map(move |_| {
        let (row, col) = (rows / 2 - 6 + random.below(12) as u32, cols / 2 - 6 + random.below(12) as u32);
        Action::Place(Cell(row * cols + col))
    })
}

#[track_caller]
fn check(deal: impl Fn(i64) -> Deal, k: u64, looks: u64, moves: fn(u32, u32) -> Vec<Action>) {
    let at = |side: i64| {
        let (most, ply) = most_reads(&deal(side), moves(side as u32, side as u32).into_iter());
        assert!(ply >= 5, "{ply} moves of {:?}", deal(side));
        assert!(most <= bound(k, looks), "{most} reads, not {}: {:?}", bound(k, looks), deal(side));
        most
    };
    assert_eq!(at(15), at(1000), "reads a move on 15x15 and on 1000x1000: {:?}", deal(15));
}

#[test]
fn a_move_reads_about_eight_cells_for_each_of_a_lines_cells_whatever_the_board() {
    let mnk = |win: &'static str, early: bool, misere: bool| {
        move |side: i64| {
            let deal = Deal::of("mnk").with("rows", side).with("cols", side).with("k", 5).with("win", win);
            deal.with("early_draw", early).with("misere", misere)
        }
    };
    let some = |rows, cols| places(rows, cols).collect::<Vec<_>>();
    for win in ["run", "exact", "run+full_line", "exact+four_corners"] {
        check(mnk(win, false, false), 5, 1, some);
        check(mnk(win, false, true), 5, 1, some);
        check(mnk(win, true, false), 5, 2, some);
    }
    // Tallies are registers: the board is read only to see that the cell is vacant.
    for win in ["full_line", "four_corners", "full_line+four_corners"] {
        check(mnk(win, false, false), 0, 0, some);
        check(mnk(win, true, false), 0, 0, some);
    }
    for rule in ["freestyle", "standard"] {
        check(|side| Deal::of("gomoku").with("size", side).with("rule", rule), 5, 1, some);
    }
}

#[test]
fn a_disc_falls_without_looking_down_its_column() {
    let drops = |_: u32, cols: u32| {
        let mut random = Random::new(4);
        (0..200).map(|_| Action::Drop(Column(cols / 2 - 3 + random.below(6) as u32))).collect()
    };
    let deal = |k: i64| move |side: i64| Deal::of("connect_four").with("rows", side).with("cols", side).with("k", k);
    for k in [4, 6] {
        check(deal(k), k as u64, 1, drops);
    }
}

/// A popped column moves as many discs as stand in it, so its cost follows the height, not the board.
#[test]
fn a_popped_column_costs_its_height() {
    let reads = |rows: i64, cols: i64| {
        let deal = Deal::of("connect_four").with("rows", rows).with("cols", cols).with("k", 5).with("pop_out", true);
        let heap = [0, 0, 0, 0, 1, 2].map(|column| Action::Drop(Column(column)));
        most_reads(&deal, heap.into_iter().chain([Action::Pop(Column(0))])).0
    };
    assert_eq!(reads(15, 15), reads(128, 1000));
}

/// What the candidates of the seat to move cost, down to the first that is legal.
fn first_legal(play: &Play) -> (bool, u64) {
    reads_during(|| {
        let mut found = false;
        play.each_legal(&mut |_| {
            found = true;
            ControlFlow::Break(())
        });
        found
    })
}

#[test]
fn a_turn_that_passes_reads_no_board_and_who_is_next_only_candidates() {
    for ruleset in RULESETS {
        repeat(30, |random| {
            let deal = Deal::random(ruleset, 8, random);
            let mut play = deal.play();
            for _ in 0..40 {
                let Some((action, faces)) = random.action(&play) else { break };
                play.play(action, &faces).unwrap();
                let Some(first) = play.position().to_move() else { break };
                let (seats, mut asked, mut candidates) = (play.position().seats(), 0, 0);
                let next = (0..seats).map(|i| Seat((first.0 + i) % seats)).find(|seat| {
                    let mut trial = play.clone();
                    assert_eq!(reads_during(|| trial.pass_to(*seat)).1, 0, "{deal:?}");
                    let (found, reads) = first_legal(&trial);
                    (asked, candidates) = (asked + 1, candidates + reads);
                    found
                });
                let (answer, reads) = reads_during(|| play.next_mover(SeatSet::all(seats)));
                assert_eq!((answer.map(|(seat, _)| seat), reads), (next, candidates), "{asked} seats asked: {deal:?}");
            }
        });
    }
}

#[test]
fn who_is_next_costs_the_same_on_the_largest_board() {
    #[track_caller]
    fn check(deal: impl Fn(i64) -> Deal, action: Action) {
        let reads = |side: i64| {
            let mut play = deal(side).play();
            play.play(action, &[]).unwrap();
            let (next, reads) = reads_during(|| play.next_mover(SeatSet::only(Seat(0))));
            assert_eq!(next, Some((Seat(0), SeatSet::EMPTY)));
            reads
        };
        assert!(reads(15) <= READS_BESIDES, "{} reads: {:?}", reads(15), deal(15));
        assert_eq!(reads(15), reads(1000), "reads on 15x15 and on 1000x1000: {:?}", deal(15));
    }
    let grid = |ruleset: &'static str| move |side: i64| Deal::of(ruleset).with("rows", side).with("cols", side);
    check(grid("mnk"), Action::Place(Cell(0)));
    check(grid("connect_four"), Action::Drop(Column(0)));
}
