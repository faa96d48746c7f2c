//! How the cells of a grid are named on its edges.
//!
//! Invariant: the labels on a drawn board, put together, are the notation that the server reads.

use plybook_core::grid::{Grid, RowOne, column_name};
use plybook_core::{Cell, ParamValue};
use plybook_proto::v1;
use plybook_proto::v1::action::Shape;
use plybook_rulesets::Registry;

/// A way to name cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Notation {
    /// `b2`.
    Cells(RowOne),
    /// Columns by number, as where pieces fall.
    Columns,
    /// Nothing is known: the number of the first cell of each row, and of each column.
    Numbers,
}

impl Notation {
    /// The notation of a game: from the rules where this build has them, else from what the server
    /// lists as legal.
    pub(crate) fn of(game: &v1::Game, legal: &[v1::LegalAction]) -> Notation {
        let is_drop = |action: &v1::LegalAction| matches!(shape(action), Some(Shape::Drop(_)));
        if legal.iter().any(is_drop) {
            return Notation::Columns;
        }
        local(game).or_else(|| from_legal(game, legal)).unwrap_or(Notation::Numbers)
    }

    /// The label under a column.
    pub(crate) fn column(self, col: u32) -> String {
        match self {
            Notation::Cells(_) => column_name(col),
            Notation::Columns => (col + 1).to_string(),
            Notation::Numbers => col.to_string(),
        }
    }

    /// The label beside a row.
    pub(crate) fn row(self, row: u32, height: u32, width: u32) -> String {
        match self {
            Notation::Cells(RowOne::Top) => (row + 1).to_string(),
            Notation::Cells(RowOne::Bottom) => (height - row).to_string(),
            Notation::Columns => String::new(),
            Notation::Numbers => format!("{}+", row * width),
        }
    }
}

fn shape(action: &v1::LegalAction) -> Option<&Shape> {
    action.action.as_ref()?.shape.as_ref()
}

fn grid(game: &v1::Game) -> Option<(u16, u16)> {
    match game.position.as_ref()?.topology.as_ref()?.layout.as_ref()? {
        v1::topology::Layout::Grid(grid) => Some((grid.height.try_into().ok()?, grid.width.try_into().ok()?)),
        v1::topology::Layout::Track(_) => None,
    }
}

fn local(game: &v1::Game) -> Option<Notation> {
    let spec = game.ruleset.as_ref()?;
    let params = spec.params.iter().filter_map(|(name, value)| Some((name.clone(), crate::typed::from_wire(value)?)));
    let params: std::collections::BTreeMap<String, ParamValue> = params.collect();
    let seats = u8::try_from(game.seats.len()).ok()?;
    let (_, _, rules) = Registry::standard().choose(&spec.id, Some(spec.version), params, seats).ok()?;
    let falls = rules.shapes().contains(&plybook_core::action::Shape::Drop);
    if falls {
        return Some(Notation::Columns);
    }
    let (rows, cols) = grid(game)?;
    let fits = |row_one: &RowOne| Grid { rows, cols, row_one: *row_one }.name(Cell(0)) == rules.cell_name(Cell(0));
    [RowOne::Bottom, RowOne::Top].into_iter().find(fits).map(Notation::Cells)
}

fn from_legal(game: &v1::Game, legal: &[v1::LegalAction]) -> Option<Notation> {
    let (rows, cols) = grid(game)?;
    let placed = |action: &v1::LegalAction| match shape(action) {
        Some(Shape::Place(place)) => Some((Cell(place.cell), action.notation.clone())),
        _ => None,
    };
    let placed: Vec<(Cell, String)> = legal.iter().filter_map(placed).collect();
    let fits = |row_one: &RowOne| placed.iter().all(|(cell, name)| Grid { rows, cols, row_one: *row_one }.name(*cell) == *name);
    let fitting = [RowOne::Bottom, RowOne::Top].into_iter().find(fits).filter(|_| !placed.is_empty());
    fitting.map(Notation::Cells)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;

    fn game(id: &str, seats: usize, (height, width): (u32, u32)) -> v1::Game {
        let layout = v1::topology::Layout::Grid(v1::Grid { width, height });
        let topology = v1::Topology { layout: Some(layout), jumps: vec![] };
        v1::Game {
            ruleset: Some(v1::RulesetSpec { id: id.into(), version: 1, ..Default::default() }),
            seats: vec![v1::Seat::default(); seats],
            position: Some(v1::Position { topology: Some(topology), ..Default::default() }),
            ..Default::default()
        }
    }

    #[test]
    fn known_rules_name_their_cells() {
        assert_eq!(Notation::of(&game("mnk", 2, (3, 3)), &[]), Notation::Cells(RowOne::Bottom));
        assert_eq!(Notation::of(&game("othello", 2, (8, 8)), &[]), Notation::Cells(RowOne::Top));
        assert_eq!(Notation::of(&game("connect_four", 2, (6, 7)), &[]), Notation::Columns);
    }

    #[test]
    fn unknown_rules_are_read_off_their_legal_moves() {
        let legal = |cell, notation: &str| v1::LegalAction {
            action: Some(v1::Action { shape: Some(Shape::Place(v1::Place { cell })) }),
            notation: notation.into(),
        };
        let unheard = game("halma", 2, (4, 4));
        assert_eq!(Notation::of(&unheard, &[legal(0, "a1"), legal(5, "b2")]), Notation::Cells(RowOne::Top));
        assert_eq!(Notation::of(&unheard, &[legal(0, "a4"), legal(5, "b3")]), Notation::Cells(RowOne::Bottom));
        assert_eq!(Notation::of(&unheard, &[legal(0, "zero")]), Notation::Numbers);
        assert_eq!(Notation::of(&unheard, &[]), Notation::Numbers);
    }
}
