//! Choices that stay as they are for ever: a released strategy that chooses differently, or counts its
//! nodes differently, is a new version, or a closed book could no longer be checked.
//!
//! `PLYBOOK_WRITE_GOLDENS=1 cargo test -p plybook-tests pinned` writes `tests/vectors/bots.txt` with the
//! lines of new strategies. A line that changes there is a choice that a released version would no
//! longer make.

use plybook_bots::Bots;
use plybook_tests::arena::{Arena, bot};
use plybook_tests::deal::Deal;

const HEAD: &str = "# game strategy budget choice score nodes; every game's seed is its number here, from 0\n";
const BUDGET: u64 = 1_000;

fn games() -> Vec<(&'static str, Arena)> {
    let mnk = || Deal::of("mnk");
    let games = [
        ("tic-tac-toe", mnk(), "a1 b2"),
        ("tic-tac-toe-misere", mnk().with("misere", true), "b2 a1"),
        ("corners", mnk().with("rows", 4).with("cols", 4).with("win", "run+four_corners").with("k", 4), "a1 b2 d4"),
        ("three-seats", mnk().with("rows", 5).with("cols", 5).seats(3), "c3 b2 d4"),
        ("gomoku", Deal::of("gomoku"), "h8 h9 g7 i8"),
        ("gomoku-large", Deal::of("gomoku").with("size", 100), "h8 h9 g7 i8"),
        ("connect-four", Deal::of("connect_four"), "4 4 3 5"),
        ("pop-out", Deal::of("connect_four").version(1).with("pop_out", true), "4 4 3 5 1"),
        ("pop-out-refused", Deal::of("connect_four").version(2).with("pop_out", true), "4 4 3 5 1"),
        ("connect-four-for-three", Deal::of("connect_four").seats(3), "4 4 4"),
        ("othello", Deal::of("othello"), "f5 d6 c3"),
        ("othello-small", Deal::of("othello").with("size", 6), ""),
        ("race", Deal::of("snakes_and_ladders").with("jumps", &[4, 14, 17, 7][..]), "roll roll roll"),
        ("race-of-eight-dice", Deal::of("snakes_and_ladders").with("dice", 8).with("finish", "reach"), "roll"),
        ("connect-four-late", Deal::of("connect_four"), "3 6 3 7 6 7 6 6 5 5 4 2 3 3 5 2 5 3 5 5 7 3 1 7 2 2"),
        ("othello-smallest", Deal::of("othello").with("size", 4), "b1 a1"),
    ];
    let arena = |(number, (name, deal, moves)): (usize, (_, Deal, &str))| (name, Arena::of(&deal, number as u64).moves(moves));
    games.into_iter().enumerate().map(arena).collect()
}

fn choices() -> String {
    let bots = Bots::standard();
    let mut text = HEAD.to_owned();
    for (name, arena) in games() {
        for card in bots.cards() {
            if bots.find(card.name, Some(card.version)).unwrap().plays(&arena.view()) {
                let choice = arena.choose(bot(card.name, BUDGET)).unwrap();
                let (action, score, nodes) = (arena.write(choice.action), choice.score.0, choice.nodes);
                text.push_str(&format!("{name} {} {BUDGET} {action} {score} {nodes}\n", card.id()));
            }
        }
    }
    text
}

#[test]
fn pinned_choices_never_change() {
    let path = plybook_tests::node::root().join("tests").join("vectors/bots.txt");
    let choices = choices();
    if std::env::var_os("PLYBOOK_WRITE_GOLDENS").is_some() {
        std::fs::write(&path, &choices).unwrap();
    }
    let pinned = std::fs::read_to_string(&path).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    assert!(pinned.lines().count() > 50, "every strategy is there");
    for (now, then) in choices.lines().zip(pinned.lines()) {
        assert_eq!(now, then);
    }
    assert_eq!(choices.lines().count(), pinned.lines().count(), "a strategy or a game has no line");
}
