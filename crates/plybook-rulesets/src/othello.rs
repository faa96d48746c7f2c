//! Othello on square boards of even size.
//!
//! Seat 0 is black and moves first. A disc must outflank at least one of the other seat's, and
//! turns over all that it outflanks. A seat that cannot move is skipped; the game ends at once when
//! neither can, and the vacant cells count for nobody.
//!
//! Invariant: registers 0 and 1 hold the discs of seats 0 and 1. Only the question whether a seat
//! can move looks beyond the lines through the cell just taken, and it stops at the first yes.

use std::ops::ControlFlow;
use std::sync::Arc;

use plybook_core::action::Shape;
use plybook_core::change::Register;
use plybook_core::grid::{Grid, RowOne};
use plybook_core::outcome::Reason;
use plybook_core::params::BadParam;
use plybook_core::rules::{Setup, Topology, illegal};
use plybook_core::{
    Action, Board, Card, Cell, Changes, Content, Illegal, Outcome, ParamSpec, Params, Position, Rules, Ruleset, Seat, SeatSet, Verdict,
};

const SIZE_MIN: u16 = 4;
const SIZE_MAX: u16 = 26;
const SHAPES: &[Shape] = &[Shape::Place];
const MOST_DISCS: Reason = Reason::new("most_discs");
const EQUAL_DISCS: Reason = Reason::new("equal_discs");
const DIRECTIONS: [(i32, i32); 8] = [(-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)];

/// `othello@1`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Othello;

impl Ruleset for Othello {
    fn card(&self) -> Card {
        let bounds = (i64::from(SIZE_MIN), i64::from(SIZE_MAX));
        Card {
            name: "othello",
            version: 1,
            title: "Othello",
            seats: (2, 2),
            chance: false,
            shapes: SHAPES,
            params: vec![ParamSpec::int("size", 8, bounds, "Rows and columns of the board; an even number.")],
        }
    }

    fn build(&self, params: &Params, _seats: u8) -> Result<Arc<dyn Rules>, BadParam> {
        let size = params.int("size");
        let known = u16::try_from(size).ok().filter(|size| (SIZE_MIN..=SIZE_MAX).contains(size) && size.is_multiple_of(2));
        let size = known.ok_or_else(|| BadParam::new("size", format!("{size} is not an even number between {SIZE_MIN} and {SIZE_MAX}")))?;
        Ok(Arc::new(OthelloRules { grid: Grid { rows: size, cols: size, row_one: RowOne::Top } }))
    }
}

#[derive(Clone, Copy, Debug)]
struct OthelloRules {
    grid: Grid,
}

impl Rules for OthelloRules {
    fn setup(&self) -> Setup {
        let mut board = Board::new(self.grid.rows, self.grid.cols);
        let low = i32::from(self.grid.rows) / 2 - 1;
        let high = low + 1;
        for (row, col, seat) in [(low, low, WHITE), (low, high, BLACK), (high, low, BLACK), (high, high, WHITE)] {
            if let Some(cell) = board.cell(row, col) {
                board.set(cell, Content::of(seat));
            }
        }
        Setup { board, registers: vec![2, 2], counts_repetition: false }
    }

    fn topology(&self) -> Topology {
        Topology::Grid { rows: self.grid.rows, cols: self.grid.cols }
    }

    fn shapes(&self) -> &'static [Shape] {
        SHAPES
    }

    fn resolve(&self, position: &Position, seat: Seat, action: Action, _faces: &[u8]) -> Result<Changes, Illegal> {
        let board = position.board();
        let cell = match action {
            Action::Place(cell) if board.has(cell) => cell,
            Action::Place(cell) => return Err(Illegal::new(illegal::OFF_BOARD, format!("{} is not on the board", self.cell_name(cell)))),
            _ => return Err(Illegal::new(illegal::NO_SUCH_ACTION, "a disc is placed on a cell")),
        };
        if !board.get(cell).is_nothing() {
            return Err(Illegal::new(illegal::CELL_OCCUPIED, format!("there is a disc on {}", self.cell_name(cell))));
        }
        let mut changes = Changes::new();
        let mut turned = 0;
        for direction in DIRECTIONS {
            let outflanked = outflanked(board, cell, direction, seat);
            turned += outflanked;
            for turned in along(board, cell, direction).take(outflanked as usize) {
                changes.set(position, turned, Content::of(seat));
            }
        }
        if turned == 0 {
            return Err(Illegal::new(illegal::NO_CAPTURE, format!("a disc on {} turns none over", self.cell_name(cell))));
        }
        changes.set(position, cell, Content::of(seat));
        let other = other(seat);
        changes.put(position, discs(seat), position.register(discs(seat)) + turned + 1);
        changes.put(position, discs(other), position.register(discs(other)) - turned);
        Ok(changes)
    }

    fn judge(&self, position: &Position, mover: Seat, _changes: &Changes) -> Verdict {
        let (black, white) = (position.register(discs(BLACK)), position.register(discs(WHITE)));
        let board = position.board();
        let other = other(mover);
        let full = black + white == board.len();
        if !full && can_move(board, other) {
            return Verdict::next(other);
        }
        if !full && can_move(board, mover) {
            return Verdict::Next { seat: mover, skipped: SeatSet::only(other) };
        }
        Verdict::Finished(match black.cmp(&white) {
            std::cmp::Ordering::Greater => Outcome::win(BLACK, MOST_DISCS),
            std::cmp::Ordering::Less => Outcome::win(WHITE, MOST_DISCS),
            std::cmp::Ordering::Equal => Outcome::draw(EQUAL_DISCS),
        })
    }

    fn candidates(&self, position: &Position, seat: Seat, offer: &mut dyn FnMut(Action) -> ControlFlow<()>) {
        let board = position.board();
        let theirs = Content::of(other(seat));
        for cell in (0..board.len()).map(Cell) {
            let (row, col) = board.place(cell);
            let touches = || DIRECTIONS.iter().any(|(down, right)| board.at(row + down, col + right) == theirs);
            if board.get(cell).is_nothing() && touches() && offer(Action::Place(cell)).is_break() {
                return;
            }
        }
    }

    fn write_action(&self, action: Action) -> String {
        match action {
            Action::Place(cell) => self.grid.name(cell),
            other => other.shape().name().to_owned(),
        }
    }

    fn read_action(&self, notation: &str) -> Option<Action> {
        self.grid.read(notation).map(Action::Place)
    }

    fn cell_name(&self, cell: Cell) -> String {
        self.grid.name(cell)
    }

    /// Discs of each seat.
    fn scores(&self, position: &Position) -> Vec<i64> {
        [BLACK, WHITE].map(|seat| i64::from(position.register(discs(seat)))).to_vec()
    }
}

const BLACK: Seat = Seat(0);
const WHITE: Seat = Seat(1);

const fn other(seat: Seat) -> Seat {
    seat.next(2)
}

const fn discs(seat: Seat) -> Register {
    Register(seat.0 as u32)
}

/// The cells of the board beyond `cell`, nearest first.
fn along(board: &Board, cell: Cell, (down, right): (i32, i32)) -> impl Iterator<Item = Cell> {
    let (row, col) = board.place(cell);
    (1..).map_while(move |step| board.cell(row + step * down, col + step * right))
}

/// How many discs a disc of `seat` on `cell` would turn over in one direction.
fn outflanked(board: &Board, cell: Cell, direction: (i32, i32), seat: Seat) -> u32 {
    let mut count = 0;
    for beyond in along(board, cell, direction) {
        match board.get(beyond).owner() {
            None => return 0,
            Some(owner) if owner == seat => return count,
            Some(_) => count += 1,
        }
    }
    0
}

fn can_move(board: &Board, seat: Seat) -> bool {
    let captures = |cell: Cell| DIRECTIONS.iter().any(|direction| outflanked(board, cell, *direction, seat) > 0);
    (0..board.len()).map(Cell).any(|cell| board.get(cell).is_nothing() && captures(cell))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use std::collections::BTreeMap;

    use plybook_core::perft::perft;
    use plybook_core::{ParamValue, Play, diagram};

    use super::*;

    const MARKS: &[&str] = &["X", "O"];

    fn rules(size: i64) -> Result<Arc<dyn Rules>, BadParam> {
        let given = BTreeMap::from([("size".to_owned(), ParamValue::Int(size))]);
        let params = Params::complete(&Othello.card().params, given)?;
        Othello.build(&params, 2)
    }

    fn table(size: i64) -> Play {
        Play::new(rules(size).unwrap(), 2)
    }

    fn play(play: &mut Play, notation: &str) -> Result<Verdict, Illegal> {
        let action = play.rules().read_action(notation).expect("a notation of this board");
        play.play(action, &[])
    }

    fn play_all(play: &mut Play, transcript: &str) -> Verdict {
        let moves: Vec<&str> = transcript.split(' ').collect();
        let (last, before) = moves.split_last().unwrap();
        for notation in before {
            assert!(matches!(self::play(play, notation), Ok(Verdict::Next { .. })), "{notation}");
        }
        self::play(play, last).unwrap()
    }

    #[test]
    fn white_starts_on_d4_and_e5() {
        assert_eq!(diagram::draw(table(4).position().board(), MARKS), "....\n.OX.\n.XO.\n....");
        let play = table(8);
        let on = |name: &str| match play.rules().read_action(name) {
            Some(Action::Place(cell)) => play.position().board().get(cell).owner(),
            _ => None,
        };
        assert_eq!(["d4", "e5", "d5", "e4"].map(on), [Some(WHITE), Some(WHITE), Some(BLACK), Some(BLACK)]);
        let names: Vec<String> = play.legal().into_iter().map(|action| play.rules().write_action(action)).collect();
        assert_eq!(names, ["d3", "c4", "f5", "e6"]);
    }

    #[test]
    fn every_outflanked_disc_turns_over() {
        let mut game = table(8);
        play_all(&mut game, "f5 d6 c3 d3 c4");
        let board = "........\n........\n..XO....\n..XXX...\n...OXX..\n...O....\n........\n........";
        assert_eq!(diagram::draw(game.position().board(), MARKS), board);
        assert_eq!(game.rules().scores(game.position()), [6, 3]);
        while game.back().is_some() {}
        assert_eq!(game.position(), table(8).position());
    }

    #[test]
    fn illegal_moves_have_codes() {
        let mut game = table(8);
        assert_eq!(play(&mut game, "d4").unwrap_err().rule, illegal::CELL_OCCUPIED);
        assert_eq!(play(&mut game, "a1").unwrap_err().rule, illegal::NO_CAPTURE);
        assert_eq!(game.play(Action::Place(Cell(64)), &[]).unwrap_err().rule, illegal::OFF_BOARD);
        assert_eq!(game.rules().read_action("i1"), None);
    }

    #[test]
    fn sizes_are_even_and_bounded() {
        for size in [2, 3, 5, 27, 28, -8] {
            assert_eq!(rules(size).unwrap_err().name, "size", "{size}");
        }
        for size in (4..=26).step_by(2) {
            assert_eq!(table(size).legal().len(), 4, "{size}");
        }
    }

    #[test]
    fn a_wiped_out_seat_ends_the_game_at_once() {
        let mut game = table(8);
        let verdict = play_all(&mut game, "e6 f4 e3 f6 g5 d6 e7 f5 c5");
        assert_eq!(verdict, Verdict::Finished(Outcome::win(BLACK, MOST_DISCS)));
        assert_eq!(game.rules().scores(game.position()), [13, 0]);
        assert!(game.legal().is_empty());
    }

    #[test]
    fn perft_agrees_with_the_published_counts() {
        let mut game = table(8);
        let counts: Vec<u64> = (1..=8).map(|depth| perft(&mut game, depth)).collect();
        assert_eq!(counts, [4, 12, 56, 244, 1396, 8200, 55092, 390_216]);
    }

    /// Plays on in every way, counts how that goes, and holds the scores against the board.
    fn tally(play: &mut Play, endings: &mut BTreeMap<&'static str, u64>) {
        for action in play.legal() {
            let mover = play.position().to_move().unwrap();
            let verdict = play.play(action, &[]).unwrap();
            let discs = play.rules().scores(play.position());
            let counted =
                [BLACK, WHITE].map(|seat| play.position().board().occupied().filter(|(_, disc)| disc.owner() == Some(seat)).count() as i64);
            assert_eq!(discs, counted);
            match verdict {
                Verdict::Next { seat, skipped } if seat == mover => {
                    assert_eq!(skipped, SeatSet::only(other(mover)));
                    *endings.entry("skipped").or_default() += 1;
                }
                Verdict::Next { skipped, .. } => assert!(skipped.is_empty()),
                Verdict::Finished(outcome) => {
                    let winners = outcome.winning_seats();
                    assert_eq!(winners.contains(BLACK), discs[0] > discs[1]);
                    assert_eq!(winners.contains(WHITE), discs[1] > discs[0]);
                    let kind = if winners.is_empty() {
                        "draw"
                    } else if winners.contains(BLACK) {
                        "black"
                    } else {
                        "white"
                    };
                    *endings.entry(kind).or_default() += 1;
                }
            }
            tally(play, endings);
            play.back();
        }
    }

    #[test]
    fn every_game_of_the_smallest_board_ends_by_its_discs() {
        let mut endings = BTreeMap::new();
        tally(&mut table(4), &mut endings);
        assert_eq!(endings, BTreeMap::from([("black", 24_632), ("white", 30_116), ("draw", 5_312), ("skipped", 33_420)]));
    }
}
