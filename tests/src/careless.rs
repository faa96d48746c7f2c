//! A build with a bug: it lets a piece be put where one stands already.
//!
//! Invariant: name, version and all else are those of the real ruleset, so that a book that such a build wrote is
//! told apart from any other by its own pinned rules alone.

use std::ops::ControlFlow;
use std::sync::Arc;

use plybook_core::action::Shape;
use plybook_core::dice::{Face, Throw};
use plybook_core::params::BadParam;
use plybook_core::rules::{Piece, Setup, Topology, illegal};
use plybook_core::{Action, Card, Cell, Changes, Content, Illegal, Params, Position, Rules, Ruleset, Seat, Verdict};
use plybook_rulesets::Registry;
use plybook_rulesets::mnk::Mnk;

/// What the build with the bug knows: `mnk`, as careless as it is.
pub fn registry() -> Registry {
    Registry::default().with(Arc::new(Careless(Mnk)))
}

struct Careless(Mnk);

impl Ruleset for Careless {
    fn card(&self) -> Card {
        self.0.card()
    }

    fn build(&self, params: &Params, seats: u8) -> Result<Arc<dyn Rules>, BadParam> {
        Ok(Arc::new(Buggy(self.0.build(params, seats)?)))
    }
}

#[derive(Debug)]
struct Buggy(Arc<dyn Rules>);

impl Rules for Buggy {
    fn resolve(&self, position: &Position, seat: Seat, action: Action, faces: &[Face]) -> Result<Changes, Illegal> {
        match (self.0.resolve(position, seat, action, faces), action) {
            (Err(Illegal { rule: illegal::CELL_OCCUPIED, .. }), Action::Place(cell)) => {
                let mut changes = Changes::new();
                changes.set(position, cell, Content::of(seat));
                Ok(changes)
            }
            (resolved, _) => resolved,
        }
    }

    fn setup(&self) -> Setup {
        self.0.setup()
    }

    fn topology(&self) -> Topology {
        self.0.topology()
    }

    fn shapes(&self) -> &'static [Shape] {
        self.0.shapes()
    }

    fn throw(&self, action: Action) -> Option<Throw> {
        self.0.throw(action)
    }

    fn judge(&self, position: &Position, mover: Seat, changes: &Changes) -> Verdict {
        self.0.judge(position, mover, changes)
    }

    fn candidates(&self, position: &Position, seat: Seat, offer: &mut dyn FnMut(Action) -> ControlFlow<()>) {
        self.0.candidates(position, seat, offer);
    }

    fn lose_turn(&self, position: &Position, seat: Seat) -> Changes {
        self.0.lose_turn(position, seat)
    }

    fn write_action(&self, action: Action) -> String {
        self.0.write_action(action)
    }

    fn read_action(&self, notation: &str) -> Option<Action> {
        self.0.read_action(notation)
    }

    fn cell_name(&self, cell: Cell) -> String {
        self.0.cell_name(cell)
    }

    fn pieces(&self, content: Content) -> Vec<Piece> {
        self.0.pieces(content)
    }

    fn scores(&self, position: &Position) -> Vec<i64> {
        self.0.scores(position)
    }
}
