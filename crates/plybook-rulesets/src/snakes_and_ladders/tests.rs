//! The race against worked examples, a Markov chain, and a plain search for boards without an end.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::collections::{BTreeMap, BTreeSet};

use plybook_core::change::Register;
use plybook_core::dice::Face;
use plybook_core::outcome::{CellRun, Reason};
use plybook_core::rules::{Piece, Topology};
use plybook_core::{Action, Cell, Content, Outcome, ParamValue, Play, Seat, Verdict};

use super::*;
use crate::snakes_and_ladders::course::Turn;

/// Milton Bradley's board of 1979; it has jumps on its first and last square.
const MILTON_BRADLEY: &[i64] = &[
    1, 38, 4, 14, 9, 31, 16, 6, 21, 42, 28, 84, 36, 44, 47, 26, 49, 11, 51, 67, 56, 53, 62, 19, 64, 60, 71, 91, 80, 100, 87, 24, 93, 73,
    95, 75, 98, 78,
];

/// Parameters that a test gives; the others keep their defaults.
#[derive(Clone, Default)]
struct Given(BTreeMap<String, ParamValue>);

impl Given {
    fn int(self, name: &str, value: i64) -> Given {
        self.with(name, ParamValue::Int(value))
    }

    fn word(self, name: &str, value: &str) -> Given {
        self.with(name, ParamValue::Text(value.to_owned()))
    }

    fn flag(self, name: &str) -> Given {
        self.with(name, ParamValue::Bool(true))
    }

    fn jumps(self, flat: &[i64]) -> Given {
        self.with("jumps", ParamValue::IntList(flat.to_vec()))
    }

    fn with(mut self, name: &str, value: ParamValue) -> Given {
        self.0.insert(name.to_owned(), value);
        self
    }

    fn build(self, seats: u8) -> Result<Play, BadParam> {
        let params = Params::complete(&SnakesAndLadders.card().params, self.0)?;
        Ok(Play::new(SnakesAndLadders.build(&params, seats)?, seats))
    }
}

fn given() -> Given {
    Given::default()
}

/// Throws each of `throws` and tells who threw and where that took the token.
fn race(play: &mut Play, throws: &[&[Face]]) -> Vec<(u8, i64)> {
    let one = |faces: &&[Face]| {
        let seat = play.position().to_move().expect("the race goes on");
        play.play(Action::Roll, faces).unwrap();
        (seat.0, squares(play)[seat.index()])
    };
    throws.iter().map(one).collect()
}

fn squares(play: &Play) -> Vec<i64> {
    play.rules().scores(play.position())
}

#[track_caller]
fn refused(given: Given, name: &str, why: &str) {
    let bad = given.build(2).expect_err(why);
    assert_eq!(bad.name, name, "{bad}");
    assert!(bad.why.contains(why), "{bad} tells {why:?}");
}

#[test]
fn tokens_begin_together_and_may_share_a_square() {
    let mut play = given().build(8).unwrap();
    let beginning = play.position().clone();
    let on = |play: &Play, square: u32| play.position().board().get(Cell(square));
    assert_eq!(on(&play, 0), Content(0b1111_1111));
    assert_eq!(race(&mut play, &[&[3], &[5], &[3]]), [(0, 3), (1, 5), (2, 3)]);
    assert_eq!([on(&play, 0), on(&play, 3), on(&play, 5)], [Content(0b1111_1000), Content(0b101), Content(0b10)]);
    let tokens = [0, 2].map(|seat| Piece { seat: Seat(seat), kind: "token" });
    assert_eq!(play.rules().pieces(Content(0b101)), tokens);
    while play.back().is_some() {}
    assert_eq!(*play.position(), beginning);
    assert_eq!(squares(&given().int("start", 1).build(3).unwrap()), [1, 1, 1]);
}

#[test]
fn the_only_action_is_a_roll() {
    let play = given().jumps(&[7, 3]).int("dice", 2).word("finish", "reach").build(2).unwrap();
    let rules = play.rules();
    assert_eq!(play.legal(), [Action::Roll]);
    assert_eq!(rules.throw(Action::Roll), Some(Throw { dice: 2, sides: 6 }));
    assert_eq!((rules.write_action(Action::Roll).as_str(), rules.read_action("roll")), ("roll", Some(Action::Roll)));
    assert_eq!(["Roll", "roll ", "", "r"].map(|text| rules.read_action(text)), [None; 4]);
    assert_eq!(rules.topology(), Topology::Track { last: 100, jumps: vec![(Cell(7), Cell(3))] });
    assert_eq!(rules.cell_name(Cell(42)), "42");
    assert!(play.resolve(Action::Place(Cell(1)), &[]).is_err());
}

#[test]
fn whoever_reaches_the_last_square_wins() {
    let mut play = given().int("size", 6).flag("extra_turn").build(2).unwrap();
    assert_eq!(race(&mut play, &[&[2], &[1]]), [(0, 2), (1, 1)]);
    let outcome = Outcome::win(Seat(0), Reason::new("reached_end")).through(vec![CellRun::one(Cell(6))]);
    assert_eq!(play.play(Action::Roll, &[4]), Ok(Verdict::Finished(outcome)));
    assert!(play.legal().is_empty());
    play.back();
    assert_eq!(play.position().to_move(), Some(Seat(0)));
}

#[test]
fn a_highest_throw_that_finishes_the_game_ends_it() {
    let mut play = given().int("size", 6).flag("extra_turn").build(2).unwrap();
    assert!(matches!(play.play(Action::Roll, &[6]), Ok(Verdict::Finished(_))));
    assert_eq!(play.position().register(Register(2)), 0);
}

#[test]
fn the_finish_decides_what_a_throw_too_great_does() {
    #[track_caller]
    fn check(finish: &str, jumps: &[i64], square: i64) {
        let mut play = given().int("size", 10).jumps(jumps).word("chain", "stop").word("finish", finish).build(1).unwrap();
        assert_eq!(race(&mut play, &[&[4], &[4], &[6]])[2], (0, square), "{finish} {jumps:?}");
    }
    check("stay", &[], 8);
    check("bounce", &[], 6);
    check("reach", &[], 10);
    check("bounce", &[6, 2], 2);
    // The token stands where a jump starts because another one ended there: staying is no arrival.
    check("stay", &[4, 8, 8, 3], 8);
}

#[test]
fn an_overshoot_that_stays_still_earns_the_extra_throw() {
    let mut play = given().int("size", 10).flag("extra_turn").build(2).unwrap();
    let raced = race(&mut play, &[&[5], &[1], &[6], &[6], &[4], &[2]]);
    assert_eq!(raced, [(0, 5), (1, 1), (0, 5), (0, 5), (0, 9), (1, 3)]);
}

#[test]
fn only_highest_faces_on_every_die_earn_a_throw() {
    let mut play = given().int("dice", 2).int("sides", 4).word("finish", "reach").flag("extra_turn").build(2).unwrap();
    let raced = race(&mut play, &[&[4, 4], &[4, 3], &[3, 4], &[4, 4], &[4, 4], &[4, 4], &[1, 1]]);
    assert_eq!(raced, [(0, 8), (0, 15), (1, 7), (0, 23), (0, 31), (0, 39), (0, 41)]);
    let mut plain = given().build(2).unwrap();
    assert_eq!(race(&mut plain, &[&[6], &[6]]), [(0, 6), (1, 6)]);
}

#[test]
fn a_third_highest_throw_is_not_played() {
    #[track_caller]
    fn check(three: &str, size: i64, third: (u8, i64)) {
        let extra = given().int("size", size).flag("extra_turn").word("three_in_a_row", three);
        let mut play = extra.build(2).unwrap();
        race(&mut play, &[&[2], &[1], &[6], &[6]]);
        let before = play.position().clone();
        assert_eq!(race(&mut play, &[&[6]]), [third], "{three}");
        let end = play.position().clone();
        play.back();
        assert_eq!(*play.position(), before);
        race(&mut play, &[&[6]]);
        assert_eq!(*play.position(), end);
        assert_eq!(play.position().to_move(), if third.1 == size { None } else { Some(Seat(u8::from(three != "nothing"))) });
    }
    check("nothing", 100, (0, 20));
    check("end_turn", 100, (0, 14));
    check("void_turn", 100, (0, 2));
    check("nothing", 20, (0, 20));
    check("end_turn", 20, (0, 14));
    check("void_turn", 20, (0, 2));
}

#[test]
fn a_streak_ends_with_the_turn() {
    for three in ["end_turn", "void_turn"] {
        let mut play = given().flag("extra_turn").word("three_in_a_row", three).build(1).unwrap();
        let raced = race(&mut play, &[&[6], &[6], &[1], &[6], &[6], &[2]]);
        assert_eq!(raced.last(), Some(&(0, 27)), "{three}");
        assert_eq!([1, 2].map(|register| play.position().register(Register(register))), [0, 0]);
    }
}

/// Streak and first square of the turn.
fn turn(play: &Play) -> [u32; 2] {
    [2, 3].map(|register| play.position().register(Register(register)))
}

#[test]
fn a_lost_turn_takes_its_streak_along_and_going_back_brings_it_back() {
    let mut play = given().flag("extra_turn").word("three_in_a_row", "void_turn").build(2).unwrap();
    race(&mut play, &[&[2], &[1], &[6], &[6]]);
    assert_eq!((play.position().to_move(), turn(&play)), (Some(Seat(0)), [2, 2]));
    let before_pass = play.position().clone();
    assert_eq!(play.pass_to(Seat(0)), Some(Seat(0)));
    assert_eq!(*play.position(), before_pass, "nobody has lost a turn");
    assert_eq!(play.pass_to(Seat(1)), Some(Seat(0)));
    assert_eq!((play.position().to_move(), turn(&play)), (Some(Seat(1)), [0, 0]));
    assert_eq!((squares(&play), play.position().ply(), play.position().throws()), (vec![14, 1], 4, 4), "the throws stay");
    let passed = play.position().clone();
    // The next seat's own streak begins at its own square, and only its own third throw is the third.
    assert_eq!(race(&mut play, &[&[6], &[6], &[6]]), [(1, 7), (1, 13), (1, 1)]);
    assert_eq!(race(&mut play, &[&[6], &[3]]), [(0, 20), (0, 23)]);
    (0..5).for_each(|_| assert!(play.back().is_some()));
    assert_eq!(*play.position(), passed, "what passed before a move stays when it is taken back");
    play.back();
    assert_eq!((play.position().to_move(), turn(&play), squares(&play)), (Some(Seat(0)), [1, 2], vec![8, 1]));
    race(&mut play, &[&[6]]);
    assert_eq!(*play.position(), before_pass, "what passed after it goes");
}

#[test]
fn jumps_are_taken_once_or_followed() {
    let jumps = &[3, 8, 8, 12, 12, 5];
    let mut stop = given().jumps(jumps).word("chain", "stop").build(1).unwrap();
    assert_eq!(race(&mut stop, &[&[3], &[4]]), [(0, 8), (0, 5)]);
    let mut follow = given().jumps(jumps).word("chain", "follow").build(1).unwrap();
    assert_eq!(race(&mut follow, &[&[3]]), [(0, 5)]);
    refused(given().jumps(jumps), "jumps", "chain=forbid");
    let round = &[3, 8, 8, 12, 12, 3];
    refused(given().jumps(round).word("chain", "follow"), "jumps", "circle");
    assert!(given().jumps(round).word("chain", "stop").build(1).is_ok());
}

#[test]
fn a_jump_back_to_its_token_changes_no_cell() {
    let mut play = given().jumps(&[6, 4]).build(2).unwrap();
    race(&mut play, &[&[4], &[4], &[2]]);
    assert_eq!(play.standing()[2].changes.cells(), []);
    assert_eq!(play.position().board().get(Cell(4)), Content(0b11));
}

#[test]
fn bad_parameters_are_refused() {
    for size in [3, 10_001] {
        refused(given().int("size", size), "size", "not between");
    }
    refused(given().int("start", 2), "start", "not between");
    refused(given().int("dice", 9), "dice", "not between");
    refused(given().int("sides", 1), "sides", "not between");
    refused(given().int("sides", 101), "sides", "not between");
    refused(given().word("finish", "fly"), "finish", "none of");
    refused(given().flag("extra_turn").word("three_in_a_row", "twice"), "three_in_a_row", "none of");
    refused(given().word("three_in_a_row", "end_turn"), "three_in_a_row", "extra_turn");
    refused(given().word("chain", "maybe"), "chain", "none of");
    refused(given().int("size", 5).word("finish", "bounce"), "finish", "a throw of 6");
    assert!(given().int("size", 6).word("finish", "bounce").build(1).is_ok());
}

#[test]
fn bad_jumps_are_refused() {
    refused(given().jumps(&[2, 9, 4]), "jumps", "no pairs");
    refused(given().jumps(&[2, 101]), "jumps", "not between 1 and 100");
    refused(given().jumps(&[0, 9]), "jumps", "not between");
    refused(given().jumps(&[2, 9, 2, 11]), "jumps", "two jumps");
    refused(given().jumps(&[9, 9]), "jumps", "nowhere");
    refused(given().flag("edge_jumps").jumps(&[100, 9]), "jumps", "last square");
    for edge in [[1, 9], [9, 1], [9, 100]] {
        refused(given().jumps(&edge), "jumps", "edge_jumps");
        assert!(given().flag("edge_jumps").jumps(&edge).build(1).is_ok());
    }
    let many: Vec<i64> = (0..).flat_map(|i| [1000 + 2 * i, 3 + 2 * i]).take(2 * limits::JUMPS_MAX).collect();
    assert!(given().int("size", 2000).jumps(&many).build(1).is_ok());
    refused(given().int("size", 2000).jumps(&[&many[..], &[900, 901]].concat()), "jumps", "more than");
}

#[test]
fn a_board_without_an_end_is_refused() {
    let wall = [50, 2, 51, 2, 52, 2, 53, 2, 54, 2, 55, 2];
    refused(given().jumps(&wall), "jumps", "could never finish");
    assert!(given().jumps(&wall[2..]).build(1).is_ok());
    // A ladder behind the wall helps nobody.
    let behind = [&wall[..], &[60, 90]].concat();
    refused(given().jumps(&behind), "jumps", "could never finish");
    let over = [&wall[..], &[10, 90]].concat();
    assert!(given().jumps(&over).build(1).is_ok());
    // The least throw of two dice passes the last square from the one before it.
    refused(given().int("dice", 2), "finish", "square 99");
    assert!(given().int("dice", 2).jumps(&[99, 50]).build(1).is_ok());
    assert!(given().int("dice", 2).word("finish", "reach").build(1).is_ok());
}

/// Whether a plain search over every state of a turn finds the last square from wherever it comes.
fn finishes_from_everywhere(course: &Course) -> bool {
    let key = |turn: Turn| (turn.square, turn.streak, turn.began);
    let next = |(square, streak, began)| {
        (course.least()..=course.greatest()).map(move |total| key(course.after(Turn { square, streak, began }, total)))
    };
    let mut reached = BTreeSet::from([key(Turn::at(course.start))]);
    let mut waiting: Vec<_> = reached.iter().copied().collect();
    while let Some(state) = waiting.pop() {
        assert!(state.0 <= course.last && state.1 <= 2, "{course:?} keeps {state:?} in bounds");
        if state.0 != course.last {
            waiting.extend(next(state).filter(|state| reached.insert(*state)));
        }
    }
    let mut good = BTreeSet::new();
    loop {
        let more: Vec<_> =
            reached.iter().filter(|state| state.0 == course.last || next(**state).any(|state| good.contains(&state))).collect();
        if more.len() == good.len() {
            return good.len() == reached.len();
        }
        good = more.into_iter().copied().collect();
    }
}

#[test]
fn the_check_agrees_with_a_plain_search_on_every_small_board() {
    const LAST: u16 = 5;
    let (mut fine, mut endless) = (0, 0);
    // Every square before the last starts a jump to any square, or none where it "jumps" to itself.
    for number in 0..i64::from(LAST).pow(4) {
        let ends = (0..4).map(|digit| number / i64::from(LAST).pow(digit) % i64::from(LAST) + 1);
        let flat: Vec<i64> = (1..).zip(ends).filter(|(from, to)| from != to).flat_map(|(from, to)| [from, to]).collect();
        let jumps = Jumps::read(&flat, LAST, Chain::Stop, true).unwrap();
        for (dice, sides) in [(1, 2), (1, 3), (2, 2)] {
            let throw = Throw { dice, sides };
            for finish in [Finish::Stay, Finish::Bounce, Finish::Reach] {
                for extra in [Extra::Never, Extra::Always, Extra::ThirdEndsTurn, Extra::ThirdVoidsTurn] {
                    for start in [0, 1] {
                        let course = Course { last: LAST, start, jumps: jumps.clone(), throw, finish, extra };
                        let finishes = finishes_from_everywhere(&course);
                        assert_eq!(finishable::check(&course).is_ok(), finishes, "{course:?}");
                        *(if finishes { &mut fine } else { &mut endless }) += 1;
                    }
                }
            }
        }
    }
    assert!(fine > 1000 && endless > 1000, "both kinds were seen: {fine} and {endless}");
}

/// Where each face takes the lone token from every square it may come to, by playing.
fn explore(play: &mut Play, chain: &mut BTreeMap<i64, Vec<i64>>) {
    let square = squares(play)[0];
    if play.position().outcome().is_some() || chain.contains_key(&square) {
        return;
    }
    chain.insert(square, Vec::new());
    for face in 1..=6 {
        play.play(Action::Roll, &[face]).unwrap();
        chain.get_mut(&square).unwrap().push(squares(play)[0]);
        explore(play, chain);
        play.back();
    }
}

#[test]
fn a_lone_token_needs_as_many_throws_as_the_literature_says() {
    for (finish, published) in [("stay", 39.225_122), ("reach", 35.834_938), ("bounce", 43.324_597)] {
        let mut play = given().jumps(MILTON_BRADLEY).flag("edge_jumps").word("finish", finish).build(1).unwrap();
        let mut chain = BTreeMap::new();
        explore(&mut play, &mut chain);
        let mut throws: BTreeMap<i64, f64> = BTreeMap::new();
        for _ in 0..5_000 {
            for (square, ends) in &chain {
                let rest: f64 = ends.iter().map(|end| throws.get(end).copied().unwrap_or(0.0)).sum();
                throws.insert(*square, 1.0 + rest / ends.len() as f64);
            }
        }
        assert!((throws[&0] - published).abs() < 1e-6, "{finish}: {}", throws[&0]);
    }
}
