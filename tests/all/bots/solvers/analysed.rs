//! Analyses against what other engines found: where a solver reaches the end, every action has its exact score.

use plybook_bots::{Analysis, Budget, Chance, Counted, Meaning, Meter, NoChoice, Score, analyse};
use plybook_core::Action;
use plybook_tests::deal::Deal;
use plybook_tests::vectors::{End, Vector, committed};

use super::Game;
use super::vectors::{reach, read};

/// Nodes a position: what a solver has of it is enough for positions with so many moves behind them.
const NODES: u64 = 400_000;
const LATE: usize = 18;

fn look(game: &Game, nodes: u64) -> Analysis {
    let view = game.arena.view();
    analyse(&view, &mut Meter::unstopped(Budget(nodes)), &mut Chance::for_advice(&view)).unwrap()
}

/// What Connect Four's published scores mean: a win with the last of the seat's own discs but `score - 1`.
fn meaning(score: i64, vacant: u32) -> Meaning {
    let discs = |all: u32, score: i64| all + 1 - score.unsigned_abs() as u32;
    match score {
        1.. => Meaning::WinIn(2 * discs(vacant.div_ceil(2), score) - 1),
        0 => Meaning::Draw,
        _ => Meaning::LossIn(2 * discs(vacant / 2, score)),
    }
}

fn sign(score: Score) -> i64 {
    i64::from(score.is_win()) - i64::from(score.is_loss())
}

/// Holds an analysis against a vector; whether it said anything of single actions.
fn check(vector: &Vector, game: &Game, found: &Analysis) -> bool {
    assert!(found.exact && found.complete, "{}: {found:?}", vector.id);
    assert!(found.actions.is_sorted_by(|one, other| one.1 >= other.1), "{}", vector.id);
    let mut named: Vec<Action> = found.actions.iter().map(|(action, _)| *action).collect();
    let mut legal = game.arena.play.legal();
    named.sort_unstable();
    legal.sort_unstable();
    assert_eq!(named, legal, "{}", vector.id);
    let best = found.actions[0].1;
    if let Some(value) = vector.value {
        assert_eq!(sign(best), value.signum(), "{}", vector.id);
    }
    let score = |text: &str| found.actions.iter().find(|(action, _)| *action == read(text, game)).unwrap().1;
    for (text, value) in &vector.values {
        let (score, vacant) = (score(text), game.vacant() as u32);
        match vector.deal.ruleset.as_str() {
            "connect_four" => assert_eq!(score.meaning(found.counted, true), meaning(*value, vacant), "{} {text}", vector.id),
            _ => assert_eq!(sign(score), value.signum(), "{} {text}", vector.id),
        }
    }
    for text in &vector.best {
        assert_eq!(sign(score(text)), sign(best), "{} {text}", vector.id);
    }
    let by_points = vector.deal.ruleset == "othello";
    assert_eq!(found.counted, if by_points { Counted::Points } else { Counted::Plies }, "{}", vector.id);
    !vector.values.is_empty() || !vector.best.is_empty()
}

#[test]
fn an_analysis_finds_what_other_engines_found() {
    let (mut positions, mut detailed) = (0, 0);
    for vector in committed().iter().flat_map(|source| &source.vectors) {
        let known = matches!(vector.end, End::Open(_)) && (vector.value.is_some() || !vector.values.is_empty());
        let small = vector.deal.ruleset == "mnk" && vector.deal.int("rows").is_none_or(|rows| rows == 3);
        if known && (small || vector.moves.len() >= LATE) {
            let game = reach(vector);
            positions += 1;
            detailed += u32::from(check(vector, &game, &look(&game, NODES)));
        }
    }
    assert!(positions >= 40 && detailed >= 20, "{positions} positions, of {detailed} every action");
}

/// Beyond a solver's reach an analysis looks ahead, and says that it is not certain.
#[test]
fn an_analysis_beyond_its_budget_is_an_estimate() {
    let game = Game::of(&Deal::of("connect_four"));
    let found = look(&game, 5_000);
    assert!(!found.exact && !found.complete && found.actions.len() == 7);
    assert!(found.actions.iter().all(|(_, score)| !found.is_exact(*score)));
    assert!(found.nodes <= 5_300, "{}", found.nodes);
}

#[test]
fn an_analysis_that_is_stopped_says_nothing() {
    let game = Game::of(&Deal::of("connect_four"));
    for times in [1, 2, 30] {
        let asked = std::cell::Cell::new(0);
        let stop = || {
            asked.set(asked.get() + 1);
            asked.get() >= times
        };
        let view = game.arena.view();
        let found = analyse(&view, &mut Meter::new(Budget(100_000_000), &stop), &mut Chance::for_advice(&view));
        assert_eq!(found, Err(NoChoice::Stopped));
    }
}
