//! Solvers against what other engines found: `PLYBOOK_VECTORS=<folder>` adds all that a folder holds,
//! Pascal Pons' sets of Connect Four among it.

use plybook_bots::solve::{Halt, Solver, othello};
use plybook_bots::{Budget, Meter};
use plybook_core::action::Column;
use plybook_core::{Action, Cell};
use plybook_tests::vectors::{End, Source, Vector, committed, given, given_sets};

use super::Game;

/// Nodes a position, where the test is always run.
const ALWAYS: u64 = 400_000;
/// Nodes a position of a whole folder.
const WHOLE: u64 = 40_000_000;

pub(super) fn read(text: &str, game: &Game) -> Action {
    match text.split_once(',') {
        Some((row, col)) => {
            let cols = u32::from(game.arena.play.position().board().cols());
            Action::Place(Cell(row.parse::<u32>().unwrap() * cols + col.parse::<u32>().unwrap()))
        }
        None => Action::Drop(Column(text.parse().unwrap())),
    }
}

pub(super) fn reach(vector: &Vector) -> Game {
    let mut game = Game::of(&vector.deal);
    for text in vector.moves.iter().filter(|text| *text != "pass") {
        game.arena.play.play(read(text, &game), &[]).unwrap();
    }
    game
}

/// The value and the scores of all moves, as the vector counts, with the nodes that they took.
type Found = (i32, Vec<(Action, i32)>, u64);

fn solve(vector: &Vector, game: &Game, nodes: u64) -> Result<Found, Halt> {
    let mut meter = Meter::unstopped(Budget(nodes));
    let all = !vector.values.is_empty() || !vector.best.is_empty();
    let position = game.arena.play.position();
    let (value, scores) = match vector.deal.ruleset.as_str() {
        // Published end games count vacant cells for the winner.
        "othello" => {
            let mut solver = othello::Solver::of(position, othello::Vacant::Winner, nodes).unwrap();
            (solver.value(&mut meter)?, if all { solver.scores(&mut meter)? } else { Vec::new() })
        }
        _ => match Solver::of(&game.arena.view(), nodes).unwrap() {
            Solver::ConnectFour(mut solver) => (solver.value(&mut meter)?, if all { solver.scores(&mut meter)? } else { Vec::new() }),
            Solver::Mnk(mut solver) => {
                // Those vectors know won, drawn and lost only.
                let scores = solver.scores(&mut meter)?.into_iter().map(|(action, score)| (action, score.signum())).collect();
                (solver.value(&mut meter)?.signum(), scores)
            }
            other => panic!("{other:?} solves {}", vector.id),
        },
    };
    Ok((value, scores, meter.spent()))
}

fn check(vector: &Vector, game: &Game, (value, scores, _): &Found) {
    if let Some(wanted) = vector.value {
        assert_eq!(i64::from(*value), wanted, "{}", vector.id);
    }
    if !scores.is_empty() {
        assert_eq!(scores.iter().map(|(_, score)| score).max(), Some(value), "{}", vector.id);
    }
    if !vector.values.is_empty() {
        let mut wanted: Vec<(Action, i32)> = vector.values.iter().map(|(text, score)| (read(text, game), *score as i32)).collect();
        let mut found = scores.clone();
        wanted.sort_unstable();
        found.sort_unstable();
        assert_eq!(found, wanted, "{}", vector.id);
    }
    if !vector.best.is_empty() {
        let mut wanted: Vec<Action> = vector.best.iter().map(|text| read(text, game)).collect();
        let mut found: Vec<Action> = scores.iter().filter(|(_, score)| score == value).map(|(action, _)| *action).collect();
        wanted.sort_unstable();
        found.sort_unstable();
        assert_eq!(found, wanted, "{}", vector.id);
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Figures {
    positions: u32,
    solved: u32,
    nodes: u64,
}

/// Solves every open position whose value is known. None that is solved may be wrong; only those with
/// fewer than `early` cells taken may be unsolved.
fn check_all(sources: &[Source], nodes: u64, early: usize) -> Figures {
    let mut all = Figures::default();
    for source in sources {
        let mut figures = Figures::default();
        let known = |vector: &&Vector| matches!(vector.end, End::Open(_)) && (vector.value.is_some() || !vector.values.is_empty());
        for vector in source.vectors.iter().filter(known) {
            let game = reach(vector);
            figures.positions += 1;
            match solve(vector, &game, nodes) {
                Ok(found) => {
                    check(vector, &game, &found);
                    figures.solved += 1;
                    figures.nodes += found.2;
                }
                Err(why) => {
                    assert_eq!(why, Halt::OverBudget, "{}", vector.id);
                    assert!(vector.moves.len() < early, "{}: {why}", vector.id);
                    figures.nodes += nodes;
                }
            }
        }
        if figures.positions > 0 {
            println!("{}: {figures:?}", source.name);
        }
        all.positions += figures.positions;
        all.solved += figures.solved;
        all.nodes += figures.nodes;
    }
    all
}

#[test]
fn solvers_find_what_other_engines_found() {
    let figures = check_all(&committed(), ALWAYS, 18);
    println!("committed: {figures:?}");
    assert!(figures.positions >= 70 && figures.solved >= 50, "{figures:?}");
}

#[test]
fn solvers_find_all_that_a_folder_holds() {
    let sources: Vec<Source> = given().into_iter().chain(given_sets()).collect();
    println!("given by PLYBOOK_VECTORS: {:?}", check_all(&sources, WHOLE, 10));
}
