//! Turns that passed without a move, in a snapshot and out of it again: under rules of the test's own, which
//! earn a further turn and keep a streak of them.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use super::*;
use crate::action::{Action, Shape};
use crate::board::Board;
use crate::dice::Face;
use crate::rules::{Illegal, Setup, Topology, Verdict, illegal};

const CELLS: u16 = 900;
const STREAK: Register = Register(0);
/// The cell on which the streak began.
const BEGAN: Register = Register(1);

/// A cell is taken; every third one earns a further turn.
#[derive(Debug)]
struct Sprint;

impl Rules for Sprint {
    fn setup(&self) -> Setup {
        Setup { board: Board::new(1, CELLS), registers: vec![0; 2], counts_repetition: true }
    }

    fn topology(&self) -> Topology {
        Topology::Grid { rows: 1, cols: CELLS }
    }

    fn shapes(&self) -> &'static [Shape] {
        &[Shape::Place]
    }

    fn resolve(&self, position: &Position, seat: Seat, action: Action, _: &[Face]) -> Result<Changes, Illegal> {
        let cell = match action {
            Action::Place(cell) if position.board().has(cell) && position.board().get(cell).is_nothing() => cell,
            _ => return Err(Illegal::new(illegal::CELL_OCCUPIED, "taken")),
        };
        let mut changes = Changes::new();
        let (streak, began) = (position.register(STREAK), position.register(BEGAN));
        let earns = cell.0.is_multiple_of(3);
        changes.set(position, cell, Content::of(seat));
        changes.put(position, STREAK, if earns { streak + 1 } else { 0 });
        changes.put(position, BEGAN, if earns { began.max(cell.0) } else { 0 });
        Ok(changes)
    }

    fn judge(&self, position: &Position, mover: Seat, _: &Changes) -> Verdict {
        Verdict::next(if position.register(STREAK) > 0 { mover } else { mover.next(position.seats()) })
    }

    fn candidates(&self, position: &Position, _: Seat, offer: &mut dyn FnMut(Action) -> ControlFlow<()>) {
        let _ = (0..position.board().len()).map(|cell| Action::Place(Cell(cell))).try_for_each(offer);
    }

    fn lose_turn(&self, position: &Position, _: Seat) -> Changes {
        let mut changes = Changes::new();
        changes.put(position, STREAK, 0);
        changes.put(position, BEGAN, 0);
        changes
    }

    fn write_action(&self, action: Action) -> String {
        format!("{action:?}")
    }

    fn read_action(&self, _: &str) -> Option<Action> {
        None
    }

    fn cell_name(&self, cell: Cell) -> String {
        cell.0.to_string()
    }
}

fn header() -> Header {
    let text = "plybook 1\ngame 01900000-0000-7000-8000-000000000012\ncreated 2026-01-01T00:00:00.000Z\nby anonymous\nruleset sprint@1\n\
        seat 0 \"A\" \"a\"\nseat 1 \"B\" \"b\"\nseat 2 \"C\" \"c\"\n\
        commitment 492e58f4b2e8f81f127eaae60e3203803bf49045a67d3e7e64aed348f94623d6\nseed-from caller\n\
        dice hmac-sha256/1\nundo free\nundo-over-throw no\nundo-after-end no";
    Header::parse(text).unwrap()
}

/// Numbers that look random and are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as u32 % end
    }
}

/// A game that grows by moves, passes and steps back, with what it was at each of its entries.
struct Growing {
    game: Game,
    at: BTreeMap<Seq, Game>,
    numbers: Numbers,
}

impl Growing {
    fn new(number: u64) -> Growing {
        let game = Game::new(header(), Arc::new(Sprint));
        Growing { game, at: BTreeMap::new(), numbers: Numbers(number) }
    }

    /// One entry more; some moves are answered by a pass within their own entry, as where the next seat has left.
    fn grow(&mut self) {
        let game = &mut self.game;
        game.head.seq = game.head.seq.next();
        match self.numbers.below(10) {
            0 | 1 => pass(game, &mut self.numbers),
            2 => {
                game.play.back();
                game.standing.pop();
            }
            _ => {
                let cell = Cell(self.numbers.below(u32::from(CELLS)));
                if game.play.play(Action::Place(cell), &[]).is_ok() {
                    game.standing.push(game.head.seq);
                    if self.numbers.below(4) == 0 {
                        pass(game, &mut self.numbers);
                    }
                }
            }
        }
        self.at.insert(game.head.seq, game.clone());
    }
}

fn pass(game: &mut Game, numbers: &mut Numbers) {
    game.play.pass_to(Seat(numbers.below(3) as u8));
}

fn restored(game: &Game) -> Game {
    Game::restore(header(), Arc::new(Sprint), &game.snapshot().unwrap()).unwrap()
}

#[track_caller]
fn same(one: &Play, other: &Play) {
    assert_eq!((one.position(), one.passed()), (other.position(), other.passed()));
}

/// Back as far as `restored` knows, step by step beside the game that it was made of.
#[track_caller]
fn goes_back_alike(restored: &Game, game: &Game) {
    let (mut one, mut other) = (restored.play.clone(), game.play.clone());
    same(&one, &other);
    while let Some(standing) = one.back() {
        assert_eq!(Some(standing), other.back());
        same(&one, &other);
    }
}

#[test]
fn a_snapshot_between_passes_goes_back_like_the_game_that_it_was_made_of() {
    let (mut pending, mut before_moves, mut lengthened) = (0, 0, 0);
    for number in 0..4 {
        let mut growing = Growing::new(number);
        for entry in 0..700 {
            growing.grow();
            if entry % 9 != 0 {
                continue;
            }
            let mut again = restored(&growing.game);
            goes_back_alike(&again, &growing.game);
            assert_eq!(again.snapshot(), growing.game.snapshot());
            assert_eq!(growing.game.shortened().snapshot(), growing.game.snapshot());
            pending += u32::from(again.play.passed() != &Passed::default());
            before_moves += again.play.standing().iter().filter(|standing| standing.passed() != &Passed::default()).count();
            if let Some(below) = again.way_back_needed(usize::MAX) {
                assert!(again.lengthen(&growing.at[&below]));
                assert_eq!(again.play.bytes(), growing.game.play.bytes());
                assert_eq!(again.play.standing(), growing.game.play.standing());
                goes_back_alike(&again, &growing.game);
                lengthened += 1;
            }
        }
    }
    assert!(pending > 10 && before_moves > 1_000 && lengthened > 20, "{pending} {before_moves} {lengthened}");
}

#[test]
fn what_cannot_have_passed_is_refused() {
    let mut growing = Growing::new(7);
    while growing.game.play.passed() == &Passed::default() {
        growing.grow();
    }
    let play = &growing.game.play;
    let restore = |passed: Vec<RegisterChange>| {
        let standing = play.standing().to_vec();
        Play::restored(Arc::new(Sprint), play.position().clone(), standing, Passed::recorded(passed))
    };
    let passed = play.passed().registers();
    assert!(restore(passed.to_vec()).is_some());
    for wrong in [RegisterChange { after: passed[0].after + 1, ..passed[0] }, RegisterChange { register: Register(2), ..passed[0] }] {
        assert!(restore(vec![wrong]).is_none(), "{wrong:?}");
    }
    assert!(restore(Vec::new()).is_none(), "the move before left a streak");
}
