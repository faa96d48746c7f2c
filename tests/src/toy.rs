//! A sixth ruleset, defined here alone: a new game is one file, one line in a registry, one golden.
//!
//! *Hermits*: seats in turn settle on a strip of cells, never beside another hermit. Who settles
//! last wins. The number of cells still open is a register, so no move scans the strip.

use std::ops::ControlFlow;
use std::sync::Arc;

use plybook_core::action::Shape;
use plybook_core::change::Register;
use plybook_core::dice::Face;
use plybook_core::grid::{Grid, RowOne};
use plybook_core::outcome::Reason;
use plybook_core::params::BadParam;
use plybook_core::rules::{Setup, Topology, illegal};
use plybook_core::{
    Action, Board, Card, Cell, Changes, Content, Illegal, Outcome, ParamSpec, Params, Position, Rules, Ruleset, Seat, Verdict,
};
use plybook_rulesets::Registry;

/// The rulesets of the release and the toy: the one line.
pub fn registry() -> Registry {
    Registry::standard().with(Arc::new(Hermits))
}

/// The ruleset.
pub struct Hermits;

impl Ruleset for Hermits {
    fn card(&self) -> Card {
        Card {
            name: "hermits",
            version: 1,
            title: "Hermits on a strip",
            seats: (2, 8),
            chance: false,
            shapes: &[Shape::Place],
            params: vec![
                ParamSpec::int("cells", 7, (1, 1000), "Length of the strip."),
                ParamSpec::flag("last_loses", false, "Whether who settles last loses."),
            ],
        }
    }

    fn build(&self, params: &Params, seats: u8) -> Result<Arc<dyn Rules>, BadParam> {
        let cells = params.int("cells");
        if cells < i64::from(seats) {
            return Err(BadParam::new("cells", format!("{cells} are fewer than {seats} seats")));
        }
        Ok(Arc::new(Strip { cells: cells as u16, seats, last_loses: params.flag("last_loses") }))
    }
}

#[derive(Debug)]
struct Strip {
    cells: u16,
    seats: u8,
    last_loses: bool,
}

const OPEN: Register = Register(0);

impl Strip {
    const fn grid(&self) -> Grid {
        Grid { rows: 1, cols: self.cells, row_one: RowOne::Bottom }
    }

    fn is_open(board: &Board, col: i32) -> bool {
        board.cell(0, col).is_some() && (col - 1..=col + 1).all(|near| board.at(0, near).is_nothing())
    }
}

impl Rules for Strip {
    fn setup(&self) -> Setup {
        Setup { board: Board::new(1, self.cells), registers: vec![u32::from(self.cells)], counts_repetition: false }
    }

    fn topology(&self) -> Topology {
        Topology::Grid { rows: 1, cols: self.cells }
    }

    fn shapes(&self) -> &'static [Shape] {
        &[Shape::Place]
    }

    fn resolve(&self, position: &Position, seat: Seat, action: Action, _: &[Face]) -> Result<Changes, Illegal> {
        let board = position.board();
        let cell = match action {
            Action::Place(cell) if board.has(cell) => cell,
            _ => return Err(Illegal::new(illegal::OFF_BOARD, "the strip ends before this cell")),
        };
        let (_, col) = board.place(cell);
        if !board.get(cell).is_nothing() {
            return Err(Illegal::new(illegal::CELL_OCCUPIED, "a hermit lives there"));
        }
        if !Strip::is_open(board, col) {
            return Err(Illegal::new("TOO_CLOSE", "a hermit lives next to it"));
        }
        let closed = (col - 1..=col + 1).filter(|near| Strip::is_open(board, *near)).count() as u32;
        let mut changes = Changes::new();
        changes.set(position, cell, Content::of(seat));
        changes.put(position, OPEN, position.register(OPEN) - closed);
        Ok(changes)
    }

    fn judge(&self, position: &Position, mover: Seat, _: &Changes) -> Verdict {
        if position.register(OPEN) > 0 {
            return Verdict::next(mover.next(self.seats));
        }
        let reason = Reason::new("last_settler");
        Verdict::Finished(if self.last_loses {
            Outcome::wins(plybook_core::SeatSet::all(self.seats).without(mover), reason)
        } else {
            Outcome::win(mover, reason)
        })
    }

    fn candidates(&self, position: &Position, _: Seat, offer: &mut dyn FnMut(Action) -> ControlFlow<()>) {
        for cell in 0..position.board().len() {
            if offer(Action::Place(Cell(cell))).is_break() {
                return;
            }
        }
    }

    fn write_action(&self, action: Action) -> String {
        match action {
            Action::Place(cell) => self.grid().name(cell),
            other => other.shape().name().to_owned(),
        }
    }

    fn read_action(&self, notation: &str) -> Option<Action> {
        self.grid().read(notation).map(Action::Place)
    }

    fn cell_name(&self, cell: Cell) -> String {
        self.grid().name(cell)
    }
}
