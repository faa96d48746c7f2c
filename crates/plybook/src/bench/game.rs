//! A game whose moves a caller knows beforehand, so that making one up costs nothing.
//!
//! Invariant: no move completes a line and none is illegal, so a game goes on until [`Board::moves`] are made.

use anyhow::Context as _;
use plybook_proto::v1;
use plybook_proto::v1::action::Shape;
use plybook_proto::v1::param_value::Value;
use uuid::Uuid;

use super::lines::Line;

/// Five in a row win; there are never more than two.
const RUN: i64 = 5;
/// The least board on which the pattern fits.
pub(super) const SIDE_MIN: u32 = 8;
/// The largest that the rules allow.
pub(super) const SIDE_MAX: u32 = 1000;

/// A square board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Board {
    pub(super) side: u32,
}

impl Board {
    /// The smallest from `side` on that has room for so many moves.
    pub(super) fn with_room(side: u32, moves: u32) -> Board {
        let sides = (side.max(SIDE_MIN)..SIDE_MAX).map(|side| Board { side });
        sides.into_iter().find(|board| board.moves() >= moves).unwrap_or(Board { side: SIDE_MAX })
    }

    /// Cells of a row that are used: whole groups of four.
    const fn width(self) -> u32 {
        self.side / 4 * 4
    }

    /// Moves that a game has.
    pub(super) const fn moves(self) -> u32 {
        self.width() * self.side
    }

    /// The cell of move `n`, from 0. Each row is two of one seat, two of the other, and so on, shifted by two from
    /// row to row: along a row and both diagonals at most two of a seat stand together, in a column one.
    pub(super) const fn cell(self, n: u32) -> u32 {
        let (nth, seat) = (n / 2, n % 2);
        let half = self.width() / 2;
        let (row, at) = (nth / half, nth % half);
        let column = at / 2 * 4 + at % 2 + (row + seat) % 2 * 2;
        row * self.side + column
    }

    fn ruleset(self) -> v1::RulesetSpec {
        let param = |name: &str, n: i64| (name.to_owned(), v1::ParamValue { value: Some(Value::IntValue(n)) });
        let side = i64::from(self.side);
        let params = [param("rows", side), param("cols", side), param("k", RUN)].into_iter().collect();
        v1::RulesetSpec { id: "mnk".to_owned(), version: 0, params }
    }
}

/// A game that is under way.
#[derive(Clone, Debug)]
pub(super) struct Game {
    pub(super) id: String,
    board: Board,
    made: u32,
    receipts: bool,
}

impl Game {
    /// Creates one.
    pub(super) async fn create(line: &mut Line, board: Board) -> anyhow::Result<Game> {
        let request = v1::CreateGameRequest {
            request_id: Uuid::now_v7().to_string(),
            ruleset: Some(board.ruleset()),
            seats: vec![v1::Seat::default(), v1::Seat::default()],
            ..Default::default()
        };
        let created = line.games.create_game(request).await.context("a game could not be created")?.into_inner();
        let id = created.game.context("the server created no game")?.game_id;
        Ok(Game { id, board, made: 0, receipts: false })
    }

    /// Creates one and makes so many moves.
    pub(super) async fn with_moves(line: &mut Line, board: Board, moves: u32) -> anyhow::Result<Game> {
        let mut game = Game::create(line, board).await?;
        for _ in 0..moves {
            game.step(line).await?;
        }
        Ok(game)
    }

    /// The same game, whose moves ask for receipts from now on, or do not.
    #[must_use]
    pub(super) fn with_receipts(self, receipts: bool) -> Game {
        Game { receipts, ..self }
    }

    /// Whether there is another move.
    pub(super) const fn goes_on(&self) -> bool {
        self.left() > 0
    }

    /// Moves that it has left.
    pub(super) const fn left(&self) -> u32 {
        self.board.moves().saturating_sub(self.made)
    }

    /// Its last entry.
    pub(super) fn head(&self) -> u64 {
        u64::from(self.made) + 1
    }

    /// What makes the next move.
    pub(super) fn request(&self) -> v1::MakeMoveRequest {
        let place = v1::Place { cell: self.board.cell(self.made) };
        v1::MakeMoveRequest {
            request_id: Uuid::now_v7().to_string(),
            game_id: self.id.clone(),
            expected_seq: Some(self.head()),
            seat: Some(self.made % 2),
            action: Some(v1::Action { shape: Some(Shape::Place(place)) }),
            with_receipt: self.receipts,
            ..Default::default()
        }
    }

    /// Makes the next move.
    pub(super) async fn step(&mut self, line: &mut Line) -> anyhow::Result<()> {
        line.games.make_move(self.request()).await?;
        self.made += 1;
        Ok(())
    }

    /// The same game after so many moves.
    pub(super) fn at(&self, made: u32) -> Game {
        Game { made, ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use std::collections::HashSet;

    use plybook_core::{Action, Cell, ParamValue, Play};
    use plybook_rulesets::Registry;

    use super::*;

    #[test]
    fn every_move_is_legal_and_none_ends_the_game() {
        for side in [8, 9, 15, 18, 40] {
            let board = Board { side };
            let given = [("rows", side.into()), ("cols", side.into()), ("k", RUN)].map(|(name, n)| (name.to_owned(), ParamValue::Int(n)));
            let (_, _, rules) = Registry::standard().choose("mnk", None, given.into_iter().collect(), 2).unwrap();
            let mut play = Play::new(rules, 2);
            let cells: HashSet<u32> = (0..board.moves()).map(|n| board.cell(n)).collect();
            assert_eq!(cells.len(), board.moves() as usize, "{side}");
            // The last move of a board that is full ends its game, and may.
            for n in 0..board.moves() - 1 {
                play.play(Action::Place(Cell(board.cell(n))), &[]).unwrap_or_else(|why| panic!("{side}, move {n}: {why}"));
                assert!(play.position().outcome().is_none(), "{side}, move {n}");
            }
        }
    }

    #[test]
    fn a_board_has_room() {
        assert_eq!(Board::with_room(15, 100).side, 15);
        for moves in [200, 1_000, 20_000] {
            let board = Board::with_room(15, moves);
            assert!(board.moves() >= moves && Board { side: board.side - 1 }.moves() < moves);
        }
        assert_eq!(Board::with_room(0, u32::MAX).side, SIDE_MAX);
    }
}
