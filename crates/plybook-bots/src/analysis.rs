//! What can be said of a position: for hints, heat maps and threats on a board.
//!
//! Invariant: it says nothing that the position does not show to everybody.

use plybook_core::{Action, Seat};

use crate::chance::Chance;
use crate::meter::Meter;
use crate::minimax::{Search, Window};
use crate::score::Score;
use crate::strategy::NoChoice;
use crate::threats::threats;
use crate::trial::Trial;
use crate::view::View;

/// Most actions that are tried for threats.
const TRIED: usize = 1_024;

/// What can be said of a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Analysis {
    /// The legal actions with what they are worth to the seat to move, best first. Those that the budget
    /// did not reach are missing.
    pub actions: Vec<(Action, Score)>,
    /// Whether the best of these scores tells for certain who wins, or that nobody does, under best play by
    /// everybody.
    pub exact: bool,
    /// By seat: the actions with which it would win at once if it were to move.
    pub threats: Vec<Vec<Action>>,
    /// Nodes that were spent.
    pub nodes: u64,
}

/// Looks at a position until the budget is used up or everything is known.
pub fn analyse(view: &View<'_>, meter: &mut Meter<'_>, chance: &mut Chance) -> Result<Analysis, NoChoice> {
    meter.ask()?;
    let mut trial = Trial::new(view);
    let seats = (0..view.position().seats()).map(Seat);
    let threats = seats.map(|seat| threats(&mut trial, seat, TRIED, meter)).collect::<Result<_, _>>()?;
    let choice = Search::new(view, meter, chance)?.deepen(Window::Full)?;
    Ok(Analysis { actions: choice.scores, exact: choice.exact, threats, nodes: meter.spent() })
}
